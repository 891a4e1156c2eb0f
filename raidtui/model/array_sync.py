"""What md does to an array: a sync, a reshape, their limits, and what was concluded earlier."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Phase(StrEnum):
    """Whether a sync runs, or why it does not."""

    RUNNING = "running"
    DELAYED = "delayed"
    PENDING = "pending"
    REMOTE = "remote"
    FROZEN = "frozen"


class Stale(Struct, frozen=True, kw_only=True):
    """Why a part shows its last value: it could not be read again.

    Args:
        since_s: epoch seconds of the last good reading.
        reason: why it cannot be read now.
    """

    since_s: float
    reason: str


class Sync(Struct, frozen=True, kw_only=True):
    """A resync, recover, check, repair or reshape.

    Args:
        action: the word of ``md/sync_action``: resync, recover, check, repair or reshape; "sync" where only
            mdstat is known, which does not tell a resync from a check or repair that waits.
        phase: whether it runs.
        done_kib, total_kib: progress. RAID-10's resync, check and repair count the array's KiB, all else a
            member's KiB.
        kernel_permille: the percentage that /proc/mdstat printed, times ten.
        kernel_speed_kib_s: the kernel's own speed, a mean of about 30 s.
    """

    action: str
    phase: Phase
    done_kib: int | None = None
    total_kib: int | None = None
    kernel_permille: int | None = None
    kernel_speed_kib_s: int | None = None

    @property
    def fraction(self) -> float | None:
        """The part that is done, 0 to 1; None where no progress is known."""
        if self.done_kib is None or not self.total_kib:
            return None
        return min(1.0, self.done_kib / self.total_kib)

    @property
    def percent(self) -> str | None:
        """The kernel's percentage, ``54.2 %``."""
        if self.kernel_permille is None:
            return None
        return f"{self.kernel_permille // 10}.{self.kernel_permille % 10} %"


class Reshape(Struct, frozen=True, kw_only=True):
    """A reshape that is not finished, by sysfs: whether it runs, is in ``Array.sync``.

    Args:
        position_sectors: how far it is, in sectors of the array; None where the kernel's word is no number.
        layout, chunk_bytes: those afterwards, where they change; else None.
        backwards: whether it goes from the end of the array to its start.
        shift_sectors: by how much the data of each member move towards its end, negative towards its start;
            0: in place; None where the kernel does not say.
        backup: the path of the backup file that mdadm has noted in /run since the boot; "" for none.
        attended: whether a process of mdadm waits for its end; None where that is not known, or no matter.
    """

    position_sectors: int | None = None
    layout: int | None = None
    chunk_bytes: int | None = None
    backwards: bool = False
    shift_sectors: int | None = None
    backup: str = ""
    attended: bool | None = None


class SpeedLimit(Struct, frozen=True, kw_only=True):
    """The limits in force for an array, KiB/s, and their scope: ``local`` or ``system``."""

    min_kib_s: int | None
    max_kib_s: int | None
    min_scope: str | None
    max_scope: str | None

    @property
    def ceiling_kib_s(self) -> int | None:
        """The limit that a sync keeps to: max, or min where it is higher (md_do_sync tests min first)."""
        known = [limit for limit in (self.min_kib_s, self.max_kib_s) if limit is not None]
        return max(known) if self.max_kib_s is not None else None
