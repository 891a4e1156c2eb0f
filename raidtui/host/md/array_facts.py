"""Whether facts about an array hold that runs, by md's files in sysfs."""

from __future__ import annotations

from raidtui.host.block import BLOCK
from raidtui.host.md.mdadm_waits import waiting_mdadm
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.fact import FactKind
from raidtui.view.units import KIB


def attribute(reader: HostReader, name: str, file: str) -> str:
    """Return a file of md's of an array (kernel name); "" where it cannot be read."""
    return (reader.text(f"{BLOCK}/{name}/md/{file}") or "").strip()


def _state(reader: HostReader, name: str, value: str) -> str:
    found = attribute(reader, name, "array_state")
    return "" if found in value.split("|") else f"{name} is {found or 'not there'}"


def _chunk(reader: HostReader, name: str, value: str) -> str:
    """During a reshape, the new chunk size comes first: "65536 (131072)"."""
    found = attribute(reader, name, "chunk_size").partition(" ")[0]
    if found.isascii() and found.isdigit() and int(found) == int(value) * KIB:
        return ""
    return f"{name} has chunks of {found} bytes" if found else f"{name} is not there"


def _slots(reader: HostReader, name: str, value: str) -> str:
    """During a reshape, the new number comes first: "4 (3)"."""
    found = attribute(reader, name, "raid_disks").partition(" ")[0]
    if found == value:
        return ""
    return f"{name} has {found} slots" if found else f"{name} is not there"


def _shape(reader: HostReader, name: str, value: str) -> str:
    """During a reshape, the new number comes first: "4 (3)"; of a level there is only one."""
    words = (attribute(reader, name, word).partition(" ")[0] for word in ("level", "raid_disks", "layout"))
    level, slots, layout = words
    if {f"{level}/{slots}", f"{level}/{slots}/{layout}"} & set(value.split("|")):
        return ""
    return f"{name} is a {level} of {slots}" if level else f"{name} is not there"


def _unattended(reader: HostReader, name: str, value: str) -> str:
    del value
    found = waiting_mdadm(reader, name)
    return f"mdadm (pid {found[0]}) waits for the reshape of {name}" if found else ""


def _policy(reader: HostReader, name: str, value: str) -> str:
    found = attribute(reader, name, "consistency_policy")
    if found == value:
        return ""
    return f"{name} has consistency policy {found}" if found else f"{name} is not there"


def _stands_still(reader: HostReader, name: str) -> str:
    """An array that does not run says nothing of what md has left to do."""
    state = attribute(reader, name, "array_state")
    return f"{name} is {state or 'not there'}" if state in {"", "clear", "inactive"} else ""


def _synced(reader: HostReader, name: str, value: str) -> str:
    del value
    action, start = attribute(reader, name, "sync_action"), attribute(reader, name, "resync_start")
    if why := _stands_still(reader, name):
        return why
    return "" if action in {"", "idle"} and start in {"", "none"} else f"{name} is being synced"


def _reshaped(reader: HostReader, name: str, value: str) -> str:
    """reshape_position is a sector while a reshape runs, is frozen or interrupted (md.rst)."""
    del value
    if why := _stands_still(reader, name):
        return why
    position = attribute(reader, name, "reshape_position")
    return "" if position in {"", "none"} else f"{name} is being reshaped"


def _bitmap(reader: HostReader, name: str, value: str) -> str:
    found = attribute(reader, name, "bitmap/location")
    if not found:
        return f"{name} is not there, or has no place for a bitmap"
    has = "none" if found == "none" else "internal"
    return "" if has == value else f"{name} has {'no bitmap' if has == 'none' else 'a bitmap'}"


def _serves(reader: HostReader, subject: str, value: str) -> str:
    """When a copy is complete, md fails the old member at once (raid10.c, raid10_spare_active)."""
    array, _, old = subject.partition("/")
    was, new = (
        attribute(reader, array, f"dev-{name.replace('/', '!')}/state").split(",") for name in (old, value)
    )
    if "in_sync" in new:
        return f"the copy is complete: {value} has replaced {old}"
    return "" if "in_sync" in was else f"{old} is not in sync: it is {','.join(was) or 'not a member'}"


def _loose(reader: HostReader, subject: str, value: str) -> str:
    """The kernel removes a failed member from its slot once its I/O has ended, unless the array is frozen."""
    del value
    array, _, name = subject.partition("/")
    if attribute(reader, array, "sync_action") == "frozen":
        return f"{array} is frozen"
    slot = attribute(reader, array, f"dev-{name.replace('/', '!')}/slot")
    return "" if slot in {"", "none"} else f"{name} still has slot {slot}"


FACT_READERS = {
    FactKind.STATE: _state,
    FactKind.CHUNK: _chunk,
    FactKind.SLOTS: _slots,
    FactKind.RESHAPED: _reshaped,
    FactKind.SHAPE: _shape,
    FactKind.UNATTENDED: _unattended,
    FactKind.POLICY: _policy,
    FactKind.SYNCED: _synced,
    FactKind.BITMAP: _bitmap,
    FactKind.SERVES: _serves,
    FactKind.LOOSE: _loose,
}
"""For each kind a function of (root, subject, value) that returns why the fact does not hold, or ""."""
