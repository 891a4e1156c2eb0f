"""Maps of the device mapper and loop devices, by name, and whether facts about them hold."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.trial_traces import rules_mark
from raidtui.host.udev import DATA, parse_udev_entry
from raidtui.model.fact import FactKind

_NULL = "c1:3"
"""udev's name of /dev/null (Documentation/admin-guide/devices.txt)."""


def read_maps(reader: HostReader) -> Mapping[str, str]:
    """Return the kernel's name (dm-3) of each map of the device mapper, by the map's name."""
    found = {}
    for name in reader.names(BLOCK):
        if name.startswith("dm-") and (text := reader.text(f"{BLOCK}/{name}/dm/name")):
            found[text] = name
    return found


def read_loops(reader: HostReader) -> Mapping[str, str]:
    """Return the file that each loop device is set up on, by kernel name; "" where it is on none."""
    return {
        name: _backing(reader, name)
        for name in reader.names(BLOCK)
        if name.startswith("loop") and name.removeprefix("loop").isdigit()
    }


def stands_on(reader: HostReader, array: str) -> tuple[str, ...]:
    """Return what an array stands on: names of devices, and of those that are maps also the map's name."""
    found = []
    for name in reader.names(f"{BLOCK}/{array}/slaves"):
        found += [each for each in (reader.text(f"{BLOCK}/{name}/dm/name"), name.replace("!", "/")) if each]
    return tuple(each.strip() for each in found)


def holders(reader: HostReader, name: str) -> tuple[str, ...]:
    """Return what stands on a device, by kernel name; for those that are maps, the map's name."""
    there = reader.names(f"{BLOCK}/{name.replace('/', '!')}/holders")
    return tuple((reader.text(f"{BLOCK}/{each}/dm/name") or each).strip() for each in sorted(there))


def _backing(reader: HostReader, name: str) -> str:
    return (reader.text(f"{BLOCK}/{name}/loop/backing_file") or "").removesuffix(" (deleted)")


def _absent(reader: HostReader, path: str, value: str) -> str:
    del value
    return f"{path} is there" if reader.is_there(path) else ""


def _read_only(reader: HostReader, name: str, value: str) -> str:
    text = reader.text(f"{BLOCK}/{name.replace('/', '!')}/ro")
    if text is None:  # one that comes back is writable
        return "" if value == "no" else f"{name} is gone"
    found = "no" if text.strip() == "0" else "yes"
    return "" if found == value else f"{name} is {'read-only' if found == 'yes' else 'writable'}"


def _backed(reader: HostReader, name: str, value: str) -> str:
    found = _backing(reader, name)
    return "" if found == value else f"{name} is set up on {found or 'no file'}"


def _unbacked(reader: HostReader, name: str, value: str) -> str:
    return f"{name} is set up on {value}" if _backing(reader, name) == value else ""


def _mapped(reader: HostReader, name: str, value: str) -> str:
    found = "yes" if name in read_maps(reader) else "no"
    return "" if found == value else f"there is {'a' if found == 'yes' else 'no'} map {name}"


def _stands_on(reader: HostReader, array: str, value: str) -> str:
    found = set(stands_on(reader, array)) & set(value.split("|"))
    return "" if found else f"{array} is another array, or not there"


def _stands_off(reader: HostReader, array: str, value: str) -> str:
    return f"{array} is there" if not _stands_on(reader, array, value) else ""


def _ruled(reader: HostReader, ident: str, value: str) -> str:
    del value
    known = parse_udev_entry(reader.text(f"{DATA}/{_NULL}") or "").properties
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
