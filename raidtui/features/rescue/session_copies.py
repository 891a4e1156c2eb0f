"""Copies from a front end: what a copy is made from, and starting it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from raidtui.features.rescue.copying.copies import begin_copy, other_source
from raidtui.features.rescue.copying.copy_plan import CopyRequest, ImageFile
from raidtui.features.rescue.trial.trials import free_bytes
from raidtui.host.block import DiskReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import tool_path
from raidtui.jobs.lock import JobError
from raidtui.model.disk import Disk
from raidtui.model.plan import Plan

_MAPS = "/var/lib/raidtui/rescue"


def copy_request(
    root: HostReader, source: str, target: str, path: str = "", map_path: str = ""
) -> CopyRequest:
    """Return a copy, as the host has it now.

    Args:
        root: the host.
        source: a kernel name.
        target: the kernel name of the target; one that no device has stands for the file ``path``.
        path: a file to copy to.
        map_path: ddrescue's map file; "" for the usual one.
    """
    disks = DiskReader(root).read({source, target})
    found: str | ImageFile = target
    if target not in disks:
        real = os.path.realpath(path)
        found = ImageFile(path=real, room_bytes=free_bytes(str(Path(real).parent)), there=Path(real).exists())
    known = [_known(disks, name) for name in (source, target)]
    usual = f"{_MAPS}/{known[0]}-to-{known[1]}.map" if all(known) else ""
    usual = usual if isinstance(found, str) else f"{found.path}.map"
    map_path = os.path.realpath(map_path) if map_path else usual
    return CopyRequest(
        source=source,
        target=found,
        map_path=map_path,
        map_there=bool(map_path) and Path(map_path).exists(),
        other=other_source(map_path, disks[source].identity if source in disks else ""),
        installed=tool_path("ddrescue") is not None,
    )


def start_copy(root: HostReader, plan: Plan) -> str:
    """Make a job of a copy, start it, and return the job's id.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if not root.live:
        raise JobError("a simulated or captured host cannot be copied")
    return begin_copy(root, plan).id


def _known(disks: Mapping[str, Disk], name: str) -> str:
    """Return what a device is known by at the next boot, too; "" where its disk has no serial number."""
    disk = disks.get(name)
    words = f"{disk.identity} {name.removeprefix(disk.disk)}" if disk is not None and disk.identity else ""
    return "".join(char if char.isalnum() else "-" for char in words.strip())
