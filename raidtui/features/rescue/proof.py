"""A geometry that may be an array's, and what was found to stand on it when it was tried. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from raidtui.plans.create.create_request import MISSING


class RescueGeometry(Struct, frozen=True, kw_only=True):
    """How an array may have been laid out over its members.

    Args:
        level: 0, 1, 4, 5, 6 or 10.
        layout: mdadm's word: left-symmetric, n2; "" where the level has none.
        chunk_bytes: 0 for RAID 1.
        data_offset_sectors: where the data begin on each member, 512-byte sectors.
        order: kernel names of the devices by slot, or "missing".
        metadata: the version that is written where superblocks are made again: 1.2, 1.1, 1.0, 0.90.
        size_sectors: how much of each member holds data; None: all that fits.
    """

    level: int
    order: tuple[str, ...]
    layout: str = ""
    chunk_bytes: int = 0
    data_offset_sectors: int = 0
    metadata: str = "1.2"
    size_sectors: int | None = None

    @property
    def present(self) -> tuple[str, ...]:
        """The devices, without the slots that are empty."""
        return tuple(name for name in self.order if name != MISSING)


class CheckResult(StrEnum):
    """How a check of what stands on an array ended, for programs. None changes."""

    CLEAN = "clean"  # the check found nothing wrong
    ERRORS = "errors"  # it found errors
    NO_FILE_SYSTEM = "no-file-system"  # nothing is there that could be checked
    NOT_POSSIBLE = "not-possible"  # mdadm or the kernel refuses these members, or this geometry
    NOT_TRIED = "not-tried"  # not tried, or the trial was cut short: says nothing


class Proof(Struct, frozen=True, kw_only=True):
    """What a trial says.

    Args:
        contents: what stands on it: ext4, xfs, btrfs, LVM2_member, crypto_LUKS, gpt, dos; "" for nothing.
        sure: how sure that is, and why: a sentence.
    """

    check: CheckResult
    contents: str = ""
    sure: str = ""
