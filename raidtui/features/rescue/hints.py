"""What is written down of former arrays: black boxes of raidtui's jobs, mdadm.conf and its backups.

Hints order what fits alike, and are shown. They prove nothing: disks change places, and arrays are remade.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from raidtui.features.rescue.search.results import ArrayHint
from raidtui.host.facts import kernel_name
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.configured import configured_in
from raidtui.host.md.mdadm import parse_words
from raidtui.host.md.superblock_words import parse_superblock
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.store import Job, all_jobs
from raidtui.model.disk import Disk
from raidtui.model.fact import FactKind
from raidtui.model.survey import Device, Superblock

_CONFS = ("/etc/mdadm", "/etc")
_CONF = "mdadm.conf"
_MOST_BYTES = 1 << 20


class _Seen(Struct, frozen=True, kw_only=True):
    """A superblock that a black box has kept."""

    job: Job
    serial: str
    block: Superblock


def read_hints(reader: HostReader, disks: Iterable[Disk]) -> tuple[ArrayHint, ...]:
    """Return what is written down: of these disks, the newest first, then of arrays that do not run.

    Args:
        reader: the host.
        disks: the devices; their serial numbers say which they were then.
    """
    names = {disk.identity: disk.name for disk in disks if disk.identity}
    return (*_from_black_boxes(names), *_from_files(reader))


def _from_black_boxes(names: Mapping[str, str]) -> Iterator[ArrayHint]:
    found: dict[str, dict[str, _Seen]] = {}
    for job in reversed(all_jobs()):
        for seen in _kept(job):
            if seen.serial in names and seen.block.uuid:
                found.setdefault(seen.block.uuid, {}).setdefault(seen.serial, seen)
    for uuid, members in found.items():
        newest = next(iter(members.values()))
        block, made_s = newest.block, newest.job.line.made_s
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(made_s))
        slots = {names[serial]: seen.block.slot for serial, seen in members.items()}
        yield _hint_of(f"black box of {at} (job {newest.job.id})", uuid, block, slots)


def find_captured_hints(
    source: str, devices: Iterable[Device], disks: Iterable[Disk]
) -> tuple[ArrayHint, ...]:
    """Return what a capture records of arrays.

    Args:
        source: the capture, for people.
        devices: of the capture, with their superblocks.
        disks: as of ``read_hints``; a capture whose serial numbers are hashed does not say which they were.
    """
    names = {disk.identity: disk.name for disk in disks if disk.identity}
    found: dict[str, list[tuple[str, Superblock]]] = {}
    for device in devices:
        block = device.superblock
        if block is not None and block.uuid and not block.volumes:
            found.setdefault(block.uuid, []).append((device.disk.identity, block))
    hints = []
    for uuid, members in found.items():
        newest = max((block for _, block in members), key=lambda block: block.events or 0)
        slots = {names[serial]: block.slot for serial, block in members if serial in names}
        hints.append(_hint_of(source, uuid, newest, slots))
    return tuple(hints)


def _hint_of(source: str, uuid: str, block: Superblock, slots: Mapping[str, int | None]) -> ArrayHint:
    return ArrayHint(
        source=source,
        uuid=uuid,
        name=(block.name or "").rpartition(":")[2],
        slots={name: slot for name, slot in slots.items() if slot is not None},
        raid_disks=block.raid_disks,
        level=block.level or "",
        layout=block.layout_name,
        chunk_bytes=block.chunk_bytes,
        data_offset_sectors=block.offset_sectors,
        metadata=block.metadata or "",
    )


def _kept(job: Job) -> Iterator[_Seen]:
    """Yield the superblocks in the black box of a job whose disks are known by their serial numbers."""
    box = job.folder / "blackbox"
    files = sorted(box.glob("examine-*.txt"))
    serials = _serials(job) if files else {}
    for file in files:
        name = file.name.removeprefix("examine-").removesuffix(".txt").replace("!", "/")
        block = superblock_of(_text(file))
        if block is not None and name in serials:
            yield _Seen(job=job, serial=serials[name], block=block)


def superblock_of(text: str) -> Superblock | None:
    """Return the superblock that ``mdadm --examine`` has printed for people; None for anything else."""
    words = parse_words(text)
    uuid = words.get("Array UUID") or words.get("UUID", "").partition(" ")[0]
    if canonical_uuid(uuid) is None:
        return None
    values = {
        "MD_UUID": uuid,
        "MD_LEVEL": words.get("Raid Level", ""),
        "MD_DEVICES": words.get("Raid Devices", "").partition(" ")[0],
        "MD_NAME": words.get("Name", "").partition("  (")[0],
    }
    return parse_superblock({key: value for key, value in values.items() if value}, text)


def _serials(job: Job) -> dict[str, str]:
    """Return the serial numbers that devices had, by their kernel names then."""
    found: dict[str, str] = {}
    try:
        facts = [fact for step in job.plan.steps for fact in step.needs]
    except JobError:
        facts = []
    found |= {fact.subject: fact.value for fact in facts if fact.kind is FactKind.SERIAL}
    try:
        disks = json.loads(_text(job.folder / "blackbox" / "lsblk.json"))["blockdevices"]
        found |= {str(disk["name"]): str(disk["serial"]) for disk in disks if disk.get("serial")} | found
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return found


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _from_files(reader: HostReader) -> Iterator[ArrayHint]:
    """Yield the ARRAY lines of mdadm.conf and of its backups."""
    seen = set[tuple[str, str]]()
    for where, text in _conf_texts(reader):
        for line in configured_in(where, text):
            if not line.uuid or line.ignored or (line.uuid, line.label) in seen:
                continue
            if kernel_name(reader, line.uuid) is not None:
                continue
            seen.add((line.uuid, line.label))
            yield ArrayHint(
                source=line.where,
                uuid=line.uuid,
                name=line.label,
                raid_disks=line.raid_disks,
                level=line.level,
            )


def _conf_texts(reader: HostReader) -> Iterator[tuple[str, str]]:
    """Yield mdadm.conf, and what lies beside it under its name: backups."""
    for folder in _CONFS:
        for name in sorted(reader.names(folder), key=lambda each: (each != _CONF, each)):
            if name.lstrip(".").startswith(_CONF) and not reader.names(f"{folder}/{name}"):
                yield f"{folder}/{name}", reader.text(f"{folder}/{name}") or ""
