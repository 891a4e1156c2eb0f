"""Facts that an array's folder in sysfs tells: state, chunk, bitmap (Documentation/admin-guide/md.rst)."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.host.usage import BLOCK
from raidtui.model.plan import FactKind
from raidtui.view.units import KIB


def _attribute(root: Root, name: str, attribute: str) -> str:
    return (root.text(f"{BLOCK}/{name}/md/{attribute}") or "").strip()


def _state(root: Root, name: str, value: str) -> str:
    found = _attribute(root, name, "array_state")
    return "" if found in value.split("|") else f"{name} is {found or 'not there'}"


def _chunk(root: Root, name: str, value: str) -> str:
    """While an array is reshaped, the new chunk comes first: "65536 (131072)"."""
    found = _attribute(root, name, "chunk_size").partition(" ")[0]
    if found.isascii() and found.isdigit() and int(found) == int(value) * KIB:
        return ""
    return f"{name} has chunks of {found} bytes" if found else f"{name} is not there"


def _reshaped(root: Root, name: str, value: str) -> str:
    """reshape_position is a sector while a reshape is under way, frozen or interrupted (md.rst)."""
    del value
    if not _attribute(root, name, "array_state"):
        return f"{name} is not there"
    position = _attribute(root, name, "reshape_position")
    return "" if position in {"", "none"} else f"{name} is being reshaped"


def _bitmap(root: Root, name: str, value: str) -> str:
    found = _attribute(root, name, "bitmap/location")
    if not found:
        return f"{name} is not there, or has no place for a bitmap"
    has = "none" if found == "none" else "internal"
    return "" if has == value else f"{name} has {'no bitmap' if has == 'none' else 'a bitmap'}"


def _serves(root: Root, subject: str, value: str) -> str:
    """When a copy is whole, the old member is faulty at once (raid10.c, raid10_spare_active)."""
    array, _, old = subject.partition("/")
    was, new = (
        _attribute(root, array, f"dev-{name.replace('/', '!')}/state").split(",") for name in (old, value)
    )
    if "in_sync" in new:
        return f"the copy is whole: {value} serves in place of {old}"
    return "" if "in_sync" in was else f"{old} does not serve: it is {','.join(was) or 'no member'}"


def _loose(root: Root, subject: str, value: str) -> str:
    """The kernel takes a failed member out of its slot when nothing is under way to it, unless frozen."""
    del value
    array, _, name = subject.partition("/")
    if _attribute(root, array, "sync_action") == "frozen":
        return f"{array} is frozen"
    slot = _attribute(root, array, f"dev-{name.replace('/', '!')}/slot")
    return "" if slot in {"", "none"} else f"{name} has slot {slot} still"


READERS = {
    FactKind.STATE: _state,
    FactKind.CHUNK: _chunk,
    FactKind.RESHAPED: _reshaped,
    FactKind.BITMAP: _bitmap,
    FactKind.SERVES: _serves,
    FactKind.LOOSE: _loose,
}
