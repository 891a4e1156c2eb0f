"""What a rescue reads of a host: all devices that could hold a superblock, several at a time."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from raidtui.host.reading import Reading, ReadingScope
from raidtui.host.roots.root import Root
from raidtui.monitor.sampler import Sampler
from raidtui.rescue.diagnosis import diagnose
from raidtui.rescue.records import RescueArray, RescueFacts


class RescueReport(Struct, frozen=True, kw_only=True):
    """What was found.

    Args:
        silent: kernel names of the devices that have not answered in time.
        unknown: names that no device has.
        read: how many devices were read.
        why: why nothing can be known, if so.
    """

    arrays: tuple[RescueArray, ...]
    silent: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    read: int = 0
    why: str = ""


def read_rescue(root: Root, names: Collection[str] = ()) -> RescueReport:
    """Read superblocks and return what they say. Nothing is written, and no array is opened.

    Args:
        root: the host.
        names: kernel names of the devices to read; all where none is given.
    """
    if root.live and not root.writable:
        return RescueReport(arrays=(), why="superblocks can be read by root alone")
    scope = ReadingScope(closely=tuple(names), everything=not names, digests=False)
    survey = Reading(root, Sampler(root).sample(), scope).start().wait()
    return RescueReport(
        arrays=diagnose(RescueFacts(survey=survey, named=tuple(names))),
        silent=tuple(sorted(survey.silent)),
        unknown=tuple(name for name in names if name not in survey.devices),
        read=len(survey.devices) - len(survey.silent),
    )
