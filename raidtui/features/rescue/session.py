"""What a rescue reads of a host: superblocks, disks and their SMART, several devices at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from raidtui.command.captured_files import device_files, said_file
from raidtui.features.rescue.copies import find_known_copies
from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.hints import find_captured_hints
from raidtui.features.rescue.records import MediumState, RescueArray, RescueFacts
from raidtui.features.rescue.search.results import ArrayHint
from raidtui.frame.feature import CapturedPart
from raidtui.host.backup_files import BACKUPS, read_backups
from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.noting_reader import NotingReader
from raidtui.host.readers.opening import open_root
from raidtui.host.reading import Reading, ReadingScope
from raidtui.host.smart.smart_names import has_smart
from raidtui.host.surface import SURFACES, Surface, read_surface
from raidtui.host.thread_pool import ThreadPool
from raidtui.jobs.lock import JobError
from raidtui.jobs.store import all_jobs
from raidtui.model.disk import Disk
from raidtui.model.reshape_place import needs_backup
from raidtui.model.smart import retry_words
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.faults import TroubleKind
from raidtui.monitor.wear.readings import WearReader
from raidtui.view.units import SECTOR_BYTES
from raidtui.watch.origin_watch import is_filled

_SMART_S = 5.0
_LOOK_S = 5.0
_BACKUP = "--backup-file="


class RescueReport(Struct, frozen=True, kw_only=True):
    """What was found.

    Args:
        silent: by the device, of which it is not known what they hold: why, a clause.
        unknown: names that no device has.
        read: how many devices were read.
        why: why nothing can be known, if so.
    """

    arrays: tuple[RescueArray, ...]
    silent: Mapping[str, str] = msgspec.field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    read: int = 0
    why: str = ""


def read_rescue(reader: HostReader, names: Collection[str] = ()) -> RescueReport:
    """Read superblocks and disks, and return what they say. Nothing is written, and no array is opened.

    Args:
        reader: the host.
        names: kernel names of the devices to read; all where none is given.
    """
    facts = read_facts(reader, names)
    if facts is None:
        return RescueReport(arrays=(), why="only root can read superblocks")
    survey = facts.survey
    why = "superblocks are needed, but there is no block device: /proc/mdstat does not have them"
    return RescueReport(
        why="" if reader.names(BLOCK) or names else why,
        arrays=diagnose(facts),
        silent=survey.silent,
        unknown=tuple(name for name in names if name not in survey.devices),
        read=len(survey.devices) - len(survey.silent),
    )


def read_facts(reader: HostReader, names: Collection[str] = ()) -> RescueFacts | None:
    """Return what a diagnosis is made from, or None where superblocks cannot be read.

    Args:
        reader: the host.
        names: as of ``read_rescue``.
    """
    if reader.live and not reader.writable:
        return None
    snapshot = Sampler(reader).sample()
    every = not names
    scope = ReadingScope(closely=tuple(names), everything=every, members=every, digests=False)
    survey = Reading(reader, snapshot, scope).start().wait()
    return look_closer(reader, survey, snapshot, names)


def read_captured_hints(path: str, disks: Iterable[Disk]) -> tuple[ArrayHint, ...]:
    """Return what a capture records of arrays.

    Args:
        path: the capture.
        disks: those of this host; their serial numbers say which of the capture they are.

    Raises:
        ReaderError: it cannot be read.
    """
    facts = read_facts(open_root(path))
    return find_captured_hints(f"capture {path}", facts.survey.devices.values() if facts else (), disks)


def look_closer(
    reader: HostReader, survey: Survey, snapshot: Snapshot, names: Collection[str] = ()
) -> RescueFacts:
    """Look at the devices of a survey, and ask SMART; return what a diagnosis is made from.

    Args:
        reader: the host.
        survey: its devices.
        snapshot: its arrays.
        names: as of ``read_rescue``.
    """
    surfaces = {each.device: each for each in read_surfaces(reader, survey, snapshot)}
    late = {name: "it does not answer, see the kernel log" for name, each in surfaces.items() if each.silent}
    disks = sorted({device.disk.disk for device in survey.devices.values()} - late.keys())
    wears = WearReader(reader, timeout_s=_SMART_S).read([disk for disk in disks if has_smart(disk)])
    media = {
        name: _make_medium(reader, surfaces.get(name, Surface(device=name)), device.disk.disk, wears)
        for name, device in survey.devices.items()
    }
    survey = msgspec.structs.replace(survey, silent={**late, **survey.silent})
    blocks = [device.superblock for device in survey.devices.values() if device.superblock is not None]
    moved = any(needs_backup(block) for block in blocks)
    return RescueFacts(
        backups=read_backups(reader, find_planned_backups()) if moved else (),
        survey=survey,
        media=media,
        surfaces=tuple(surfaces.values()),
        named=tuple(names),
        copies=find_known_copies(reader, survey) if reader.live else {},
    )


def find_planned_backups(folder: Path | None = None) -> tuple[str, ...]:
    """Return where the plans of jobs have mdadm keep the backup file of a reshape.

    Args:
        folder: of the jobs; None for this host's.
    """
    found: list[str] = []
    for job in reversed(all_jobs(folder)):
        with contextlib.suppress(JobError):
            words = (word for step in job.plan.steps if step.argv[:1] == ("mdadm",) for word in step.argv)
            found += (word.removeprefix(_BACKUP) for word in words if word.startswith(_BACKUP))
    return tuple(dict.fromkeys(found))


def read_surfaces(reader: HostReader, survey: Survey, snapshot: Snapshot) -> tuple[Surface, ...]:
    """Look at all devices that no array and no mount uses; one that hangs is ``silent``."""
    if not reader.live:
        known = msgspec.json.decode(reader.text(SURFACES) or "[]", type=list[Surface])
        return tuple(each for each in known if each.device in survey.devices)
    running = {member.name for array in snapshot.arrays if array.active for member in array.members}
    filled = {
        member.name
        for array in snapshot.arrays
        if is_filled(array)
        for member in array.members
        if (block := survey.devices[member.name].superblock if member.name in survey.devices else None)
        is not None
        and block.young
    }
    found = {name: Surface(device=name, silent=True) for name in survey.silent}
    crew = ThreadPool()

    def look(name: str) -> None:
        block = survey.devices[name].superblock
        offset = block.offset_sectors or 0 if block is not None and block.slot is not None else None
        data_bytes = None if offset is None else offset * SECTOR_BYTES
        if (surface := read_surface(reader, name, _LOOK_S, data_bytes)) is not None:
            found[name] = surface

    for name, device in survey.devices.items():
        if name in filled or not (name in running or name in found or device.disk.users or device.busy):
            crew.put(name, partial(look, name))
    crew.wait(lambda: not crew.open)
    late = {str(name): Surface(device=str(name), silent=True) for name in crew.late}
    return tuple((found | late).values())


def impatience(reader: HostReader, disk: str, wear: DiskWear | None) -> str:
    """Return that the kernel waits for less time than a disk may retry; "" where that is not known.

    Args:
        reader: the host.
        disk: the kernel's name.
        wear: what SMART says of it; None where it was not read.
    """
    waits = reader.text(f"{BLOCK}/{disk}/device/timeout") or ""
    spins = (reader.text(f"{BLOCK}/{disk}/queue/rotational") or "").strip() == "1"
    if wear is None or wear.reading is None or not waits.strip().isdigit():
        return ""
    words = retry_words(wear.reading.erc, int(waits))
    likely = spins or wear.reading.erc is not None
    return f"{words}, and the kernel waits {int(waits)} s" if words and likely else ""


def _make_medium(
    reader: HostReader, surface: Surface, disk: str, wears: Mapping[str, DiskWear]
) -> MediumState:
    wear = wears.get(disk)
    trouble = wear.trouble if wear is not None else None
    return MediumState(
        **msgspec.structs.asdict(surface),
        dying=trouble.reason if trouble is not None and trouble.kind is TroubleKind.DYING else "",
        link=trouble.reason if trouble is not None and trouble.kind is TroubleKind.CABLE else "",
        smart=wear is not None and wear.reading is not None and wear.reading.health_known,
        impatience=impatience(reader, disk, wear),
    )


def capture_members(reader: HostReader) -> CapturedPart:
    """Return what ``raidtui rescue`` reads of the devices: superblocks, and whether they can be read."""
    return CapturedPart(files=dict(_members(reader)))


def _members(reader: HostReader) -> Iterator[tuple[str, bytes]]:
    noting = NotingReader(reader)
    facts = read_facts(noting)
    if facts is None:
        return
    for output in noting.outputs:
        if output.argv[:1] == ("mdadm",) and any(word.startswith("--examine") for word in output.argv):
            yield from said_file(output)
    for name in facts.survey.devices:
        if name.startswith(("loop", "ram")):
            yield from device_files(reader, name)
    yield BACKUPS, msgspec.json.encode(facts.backups)
    yield SURFACES, msgspec.json.encode(facts.surfaces)
