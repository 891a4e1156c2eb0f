"""The black box: what a rescuer would want to know of the devices, saved before anything is destroyed."""

from __future__ import annotations

import os
from pathlib import Path

from raidtui.host.block import DiskReader
from raidtui.host.root import Root
from raidtui.model.plan import Plan

# md's superblocks lie at 0, at 4 KiB, or in the last 128 KiB; GPT in the first and last 33 sectors.
EDGE_BYTES = 1 << 20


def save_black_box(root: Root, plan: Plan, folder: Path) -> str:
    """Write the black box beside the journal; return why that failed, or "".

    Raises nothing: the caller does not go on without it.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "mdstat.txt").write_text(root.text("/proc/mdstat") or "", encoding="utf-8")
        disks = DiskReader(root).read(set(plan.devices))
        commands: list[tuple[str, tuple[str, ...]]] = [
            ("lsblk.json", ("lsblk", "--json", "--bytes", "--output-all")),
            *((f"detail-{name}.txt", ("mdadm", "--detail", f"/dev/{name}")) for name in plan.arrays),
            *((f"examine-{name}.txt", ("mdadm", "--examine", f"/dev/{name}")) for name in plan.devices),
            *(
                (f"table-{name}.txt", ("sfdisk", "--dump", f"/dev/{name}"))
                for name in sorted({disk.disk for disk in disks.values()})
            ),
        ]
        for name, argv in commands:
            output = root.run(*argv)
            text = output.stdout + output.stderr + output.why_not
            (folder / name.replace("/", "!")).write_text(text, encoding="utf-8", errors="replace")
        for name in plan.devices:
            _save_edges(name, folder / f"edges-{name.replace('/', '!')}.bin")
    except OSError as error:
        device = f"{error.filename}: " if str(error.filename).startswith("/dev/") else ""
        return f"the black box cannot be saved in {folder}: {device}{error.strerror}"
    return ""


def _save_edges(name: str, target: Path) -> None:
    """The first MiB and the last, one after the other."""
    path = f"/dev/{name}"
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        places = (0, max(0, size - EDGE_BYTES))
        data = b"".join(os.pread(descriptor, EDGE_BYTES, place) for place in places)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(descriptor)
    with target.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
