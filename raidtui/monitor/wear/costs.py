"""The cost of a sync or job in bytes and in per cent of a disk's life: estimated before, measured after.

A disk's whole life is the manufacturer's rating if the user gave one, else the writes at which the disk's own
percentage reaches 100 at its rate so far. If neither is known, only bytes are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.levels import PARITY_LEVELS
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.view.units import amount, three_digits

_SLACK, _SLACK_BYTES = 1.02, 256 << 20
"""Superblocks, bitmaps and bad block logs are written beside what is synced."""
_LEAST_BYTES, _LEAST_PART = 10**6, 0.01
_ALIKE = 1.1
_LEAST_PERCENT = 0.01


class Share(Struct, frozen=True, kw_only=True):
    """A part of a disk's rated life.

    Args:
        percent: of all of it.
        at_most: whether ``percent`` is an upper bound, since the disk's own percentage is still 0.
    """

    percent: float
    at_most: bool = False


class Spent(Struct, frozen=True, kw_only=True):
    """What was written to one disk.

    Args:
        name: the kernel's name of the disk.
        share: None where its life is not known.
    """

    name: str
    size_bytes: int
    share: Share | None = None


def life_share(disk: DiskWear | None, size_bytes: int) -> Share | None:
    """Return what part of a disk's life so many bytes are; None where its life is not known."""
    if disk is None:
        return None
    if disk.rated_bytes:
        return Share(percent=100 * size_bytes / disk.rated_bytes)
    used, total = disk.percent.known, disk.written.known_bytes
    if used is None or not total:
        return None
    if used == 0:  # at most one per cent is used by all writes so far
        return Share(percent=size_bytes / total, at_most=True)
    return Share(percent=size_bytes * (used + 0.5) / total)


def share_words(shares: Sequence[Share | None], whose: str = "its life") -> str:
    """Return ``0.4 % of its life``, for several ``0.1 to 0.4 %``; "" where one of them is not known."""
    figure = share_figure(shares)
    return f"{figure} of {whose}" if figure else ""


def share_figure(shares: Sequence[Share | None], *, less: str = "less than ", about: str = "") -> str:
    """Return the figure alone: ``0.4 %``, ``0.1 to 0.4 %``, ``less than 0.01 %``; "" as above.

    Args:
        shares: one for each disk.
        less: prefix of an upper bound.
        about: prefix of any other figure.
    """
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(shares):
        return ""
    low, high = min(each.percent for each in known), max(each.percent for each in known)
    if high < _LEAST_PERCENT or any(each.at_most for each in known):
        return f"{less}{_percent(max(high, _LEAST_PERCENT))} %"
    least, most = _percent(low), _percent(high)
    return f"{about}{most} %" if least == most else f"{about}{least} to {most} %"


def _percent(value: float) -> str:
    return three_digits(float(f"{value:.2g}"))


def most_bytes(array: Array, action: str) -> int | None:
    """Return the most that a sync itself writes to one member; None where that is not known."""
    if action == "check":
        return 0
    if action not in {"resync", "recover", "repair"} or array.component_kib is None:
        return None
    return array.component_kib * 1024


def sync_words(action: str, spent: Sequence[Spent], most: int | None, *, partly: bool = False) -> str:
    """Return the cost of a sync that has ended: ``recover wrote 1.62 TB to sdd (0.4 % of its life)``.

    The kernel counts all writes to a disk; if they exceed what the sync can write, the sentence says so.

    Args:
        action: resync, recover, check, repair, reshape.
        spent: what was written to the members' disks while it ran.
        most: see ``most_bytes``.
        partly: whether it began before raidtui was opened.
    """
    since = " since raidtui was opened" if partly else ""
    largest = max((each.size_bytes for each in spent), default=0)
    listed = [each for each in spent if each.size_bytes >= max(_LEAST_BYTES, _LEAST_PART * largest)]
    if not listed:
        return f"{action} wrote almost nothing{since}"
    if most is None or largest <= most * _SLACK + _SLACK_BYTES * bool(most):
        return f"{action} wrote {amounts(listed)}{since}"
    if not most:
        return f"{action} itself wrote nothing; other writes meanwhile: {amounts(listed)}"
    own = f"at most {amount(most)} of it by {action}"
    return f"{amounts(listed)} were written while {action} ran{since}, {own}"


def amounts(listed: Sequence[Spent]) -> str:
    """Return ``1.62 TB to sdd (0.4 % of its life)``; equal amounts are grouped, the largest first."""
    ordered = sorted(listed, key=lambda each: -each.size_bytes)
    if len(ordered) > 1 and ordered[0].size_bytes < _ALIKE * ordered[-1].size_bytes:
        mean = sum(each.size_bytes for each in ordered) // len(ordered)
        names = [each.name for each in listed]
        shares = share_words([each.share for each in ordered], "each disk's life")
        return f"{amount(mean)} to each of {', '.join(names[:-1])} and {names[-1]}{_in_brackets(shares)}"
    return ", ".join(
        f"{amount(each.size_bytes)} to {each.name}{_in_brackets(share_words([each.share]))}"
        for each in ordered
    )


def _in_brackets(words: str) -> str:
    return f" ({words})" if words else ""


def rebuild_cost(array: Array, disks: Mapping[str, DiskWear], action: str = "recover") -> str:
    """Return what a sync of an array would write; "" if that is not known.

    A resync or repair compares first and writes what differs (raid5.c, raid10.c), but for RAID-1, where the
    first member is copied over the others (raid1.c).

    Args:
        array: the array.
        disks: the wear of the disks that may be written to, by any name: members, or candidates.
        action: recover (as for a replacement), resync, check, repair or reshape.
    """
    if not array.redundant:
        return f"{array.why_not_redundant}: nothing is synced"
    if action == "check":
        return "check reads everything and writes nothing"
    if array.component_kib is None:
        return ""
    size = array.component_kib * 1024
    figure = share_figure([life_share(disk, size) for disk in disks.values()], about="about ")
    share = f", {figure} of its life" if figure else ""
    if action == "recover":
        return f"recover writes {amount(size)} to one disk{share}"
    if action == "resync" and array.level == "raid1":
        return f"resync writes {amount(size)} to each member but the first{share}"
    if action == "reshape":
        return f"reshape rewrites all data: about {amount(size)} to each member{share}"
    copies = "where parity does not match" if array.level in PARITY_LEVELS else "where copies differ"
    return f"{action} writes only {copies}: at most {amount(size)} to a member{share}"
