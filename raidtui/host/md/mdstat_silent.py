"""Arrays by sysfs, while /proc/mdstat does not answer: what md's lines said before is kept where it lasts."""

from __future__ import annotations

from copy import copy

from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import raid_disks_of
from raidtui.host.md.mdstat import Mdstat, MdstatArray
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.levels import NO_REDUNDANCY

_READ_ONLY = {"readonly": "read-only", "read-auto": "auto-read-only"}


def silent_entries(reader: HostReader, before: Mdstat | None) -> Mdstat:
    """Return an entry for each array that sysfs has: what runs and who serves is left to sysfs.

    Args:
        reader: the host.
        before: the last answer of mdstat.
    """
    known = {entry.name: entry for entry in before.arrays} if before is not None else {}
    found = Mdstat()
    for name in reader.names(BLOCK):
        base = f"{BLOCK}/{name}/md"
        state = reader.text(f"{base}/array_state") if name.startswith("md") else None
        if state in {None, "clear"}:
            continue
        entry = copy(known[name]) if name in known else MdstatArray(name, "")
        entry.silent, entry.text = True, ""
        entry.state = "inactive" if state == "inactive" else "active"
        entry.read_only = _READ_ONLY.get(state or "", "")
        entry.working = entry.sync = None
        folders = tuple(each for each in reader.names(base) if each.startswith("dev-"))
        entry.up = _up(reader, base, folders)
        entry.members = [each for each in entry.members if f"dev-{each.name.replace('/', '!')}" in folders]
        found.arrays.append(entry)
    return found


def _up(reader: HostReader, base: str, folders: tuple[str, ...]) -> str | None:
    """Return what mdstat prints, ``UU_U``: the slots with a member in sync; None where it prints none."""
    disks = raid_disks_of(reader.text(f"{base}/raid_disks"))[1]
    if (reader.text(f"{base}/level") or "none") in {"none", "container", *NO_REDUNDANCY} or disks is None:
        return None
    serve = {
        reader.text(f"{base}/{folder}/slot")
        for folder in folders
        if "in_sync" in (reader.text(f"{base}/{folder}/state") or "").split(",")
    }
    return "".join("U" if str(slot) in serve else "_" for slot in range(disks))
