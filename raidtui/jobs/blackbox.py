"""The black box: what a rescue needs to know of the devices, saved before anything is destroyed.

It is for the worst hour, which may begin with a power cut a second later: each file is on disk and was read
back before the first step begins, and a list of them with sizes and digests lies beside them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from raidtui.host.block import DiskReader
from raidtui.host.mdstat_apart import MDSTAT
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.state_files import PRIVATE_MODE, own_folder, write_synced
from raidtui.model.plan import Plan

# md's superblocks lie at 0, at 4 KiB, or in the last 128 KiB; GPT in the first and last 33 sectors.
EDGE_BYTES = 1 << 20
MANIFEST = "manifest.json"
"""Name, size and SHA-256 of each file. It is written last: a black box that has one is complete."""


def save_black_box(reader: HostReader, plan: Plan, folder: Path) -> str:
    """Write the black box beside the journal; return why that failed, or "".

    Raises nothing: the caller does not continue without it.
    """
    try:
        own_folder(folder, PRIVATE_MODE)
        for part in folder.glob(".*.part"):  # a crash left it
            part.unlink()
        found = {}
        for name, data in _texts(reader, plan).items():
            write_synced(folder / name, data)
            found[name] = _entry(data)
        for name in plan.devices:  # one at a time: they are large
            data = _edges(name)
            file = f"edges-{name.replace('/', '!')}.bin"
            write_synced(folder / file, data)
            found[file] = _entry(data)
        write_synced(folder / MANIFEST, json.dumps(found, indent=1).encode() + b"\n")
    except OSError as error:
        device = f"{error.filename}: " if str(error.filename).startswith("/dev/") else ""
        return f"the black box cannot be saved in {folder}: {device}{error.strerror}"
    wrong = damage(folder)
    return f"the black box in {folder} differs from what was written: {wrong}" if wrong else ""


def damage(folder: Path) -> str:
    """Return which file of a black box differs from its manifest, or "". The files are read from the disk."""
    try:
        found = json.loads(_read_back(folder / MANIFEST))
        for name, entry in found.items():
            if _entry(_read_back(folder / name)) != entry:
                return f"{name} differs"
    except OSError as error:
        return f"{Path(str(error.filename)).name}: {error.strerror}"
    except (ValueError, AttributeError):
        return f"{MANIFEST} cannot be read"
    return ""


def _entry(data: bytes) -> dict[str, object]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _read_back(path: Path) -> bytes:
    """Read a file from the disk, not from the page cache."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return file.read()


def _texts(reader: HostReader, plan: Plan) -> Mapping[str, bytes]:
    """Return the output of the kernel and of tools about the host and the plan's devices, by file name."""
    disks = DiskReader(reader).read(set(plan.devices))
    commands: list[tuple[str, tuple[str, ...]]] = [
        ("lsblk.json", ("lsblk", "--json", "--bytes", "--output-all")),
        *((f"detail-{name}.txt", ("mdadm", "--detail", f"/dev/{name}")) for name in plan.arrays),
        *((f"examine-{name}.txt", ("mdadm", "--examine", f"/dev/{name}")) for name in plan.devices),
        *(
            (f"table-{name}.txt", ("sfdisk", "--dump", f"/dev/{name}"))
            for name in sorted({disk.disk for disk in disks.values()})
        ),
    ]
    found = {"mdstat.txt": _mdstat(reader)}
    for name, argv in commands:
        output = reader.ask(*argv)
        text = output.stdout + output.stderr + output.why_not
        found[name.replace("/", "!")] = text.encode("utf-8", "replace")
    return found


def _mdstat(reader: HostReader) -> bytes:
    try:
        return reader.read(MDSTAT)
    except OSError as error:
        return f"{MDSTAT} could not be read: {error.strerror}\n".encode()


def _edges(name: str) -> bytes:
    """Return the first and the last MiB of a device."""
    path = f"/dev/{name}"
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        places = (0, max(0, size - EDGE_BYTES))
        return b"".join(os.pread(descriptor, EDGE_BYTES, place) for place in places)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(descriptor)
