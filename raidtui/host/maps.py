"""Maps of the device mapper and loop devices, by name, and whether facts about them hold."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.trial_traces import rules_mark
from raidtui.host.udev import DATA, parse_udev_entry
from raidtui.model.plan import FactKind

_NULL = "c1:3"
"""udev's name of /dev/null (Documentation/admin-guide/devices.txt)."""


def read_maps(root: HostReader) -> Mapping[str, str]:
    """Return the kernel's name (dm-3) of each map of the device mapper, by the map's name."""
    found = {}
    for name in root.names(BLOCK):
        if name.startswith("dm-") and (text := root.text(f"{BLOCK}/{name}/dm/name")):
            found[text] = name
    return found


def read_loops(root: HostReader) -> Mapping[str, str]:
    """Return the file that each loop device is set up on, by kernel name; "" where it is on none."""
    return {
        name: _backing(root, name)
        for name in root.names(BLOCK)
        if name.startswith("loop") and name.removeprefix("loop").isdigit()
    }


def stands_on(root: HostReader, array: str) -> tuple[str, ...]:
    """Return what an array stands on: names of devices, and of those that are maps also the map's name."""
    found = []
    for name in root.names(f"{BLOCK}/{array}/slaves"):
        found += [each for each in (root.text(f"{BLOCK}/{name}/dm/name"), name.replace("!", "/")) if each]
    return tuple(each.strip() for each in found)


def holders(root: HostReader, name: str) -> tuple[str, ...]:
    """Return what stands on a device, by kernel name; for those that are maps, the map's name."""
    there = root.names(f"{BLOCK}/{name.replace('/', '!')}/holders")
    return tuple((root.text(f"{BLOCK}/{each}/dm/name") or each).strip() for each in sorted(there))


def _backing(root: HostReader, name: str) -> str:
    return (root.text(f"{BLOCK}/{name}/loop/backing_file") or "").removesuffix(" (deleted)")


def _absent(root: HostReader, path: str, value: str) -> str:
    del value
    return f"{path} is there" if root.is_there(path) else ""


def _read_only(root: HostReader, name: str, value: str) -> str:
    text = root.text(f"{BLOCK}/{name.replace('/', '!')}/ro")
    if text is None:  # one that comes back is writable
        return "" if value == "no" else f"{name} is gone"
    found = "no" if text.strip() == "0" else "yes"
    return "" if found == value else f"{name} is {'read-only' if found == 'yes' else 'writable'}"


def _backed(root: HostReader, name: str, value: str) -> str:
    found = _backing(root, name)
    return "" if found == value else f"{name} is set up on {found or 'no file'}"


def _unbacked(root: HostReader, name: str, value: str) -> str:
    return f"{name} is set up on {value}" if _backing(root, name) == value else ""


def _mapped(root: HostReader, name: str, value: str) -> str:
    found = "yes" if name in read_maps(root) else "no"
    return "" if found == value else f"there is {'a' if found == 'yes' else 'no'} map {name}"


def _stands_on(root: HostReader, array: str, value: str) -> str:
    found = set(stands_on(root, array)) & set(value.split("|"))
    return "" if found else f"{array} is another array, or not there"


def _stands_off(root: HostReader, array: str, value: str) -> str:
    return f"{array} is there" if not _stands_on(root, array, value) else ""


def _ruled(root: HostReader, ident: str, value: str) -> str:
    del value
    known = parse_udev_entry(root.text(f"{DATA}/{_NULL}") or "").properties
    return "" if rules_mark(ident) in known else "udev does not follow the rules that hold it off"


FACT_READERS = {
    FactKind.ABSENT: _absent,
    FactKind.READ_ONLY: _read_only,
    FactKind.BACKED: _backed,
    FactKind.UNBACKED: _unbacked,
    FactKind.MAPPED: _mapped,
    FactKind.STANDS_ON: _stands_on,
    FactKind.STANDS_OFF: _stands_off,
    FactKind.RULED: _ruled,
}
"""For each kind a function of (root, subject, value) that returns why the fact does not hold, or ""."""
