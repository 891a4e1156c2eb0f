"""Check whether the facts of a plan hold now."""

from __future__ import annotations

import hashlib
import time

from raidtui.host import maps, on_top
from raidtui.host.block import BLOCK, DiskReader, read_appearance
from raidtui.host.examine import digest_of, why_busy
from raidtui.host.md import array_facts
from raidtui.host.md.array_names import canonical_uuid, read_uuid
from raidtui.host.md.mdadm import MdadmError, read_detail
from raidtui.host.md.superblock import read_examined
from raidtui.host.mounts import read_mounts
from raidtui.host.openers import open_words
from raidtui.host.probe import probe_signatures, wiped_types
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.stack import cache_facts
from raidtui.model.disk import Disk, contents_value, identity_number
from raidtui.model.fact import Fact, FactKind
from raidtui.view.units import SECTOR_BYTES, binary_size, counted

_PATIENCE_S, _PACE_S = 5.0, 0.1
"""How long a device may be open after a step: udev's handling of events ends within that."""

_WRITTEN_AT = 6
"""Where /sys/block/NAME/stat has the sectors that were written (Documentation/block/stat.rst)."""


def why_not(reader: HostReader, fact: Fact) -> str:
    """Return why a fact does not hold, a sentence, or "" where it does."""
    return _READERS[fact.kind](reader, fact.subject, fact.value)


def _disk(reader: HostReader, name: str) -> Disk | None:
    return DiskReader(reader).read({name}).get(name)


def _serial(reader: HostReader, name: str, value: str) -> str:
    disk = _disk(reader, name)
    if disk is None:
        return f"{name}, {identity_number(value)}, is gone"
    found = disk.identity
    if found == value:
        return ""
    return f"{name} is another disk now: {found or 'without serial number'}" + (value and f", not {value}")


def _appearance(reader: HostReader, name: str, value: str) -> str:
    """After a reboot, ``diskseq`` starts again: then only the serial number counts."""
    disk = _disk(reader, name)
    if disk is None:
        return f"{name} is gone"
    found = read_appearance(reader, disk.disk)
    if found == value or found.partition("/")[0] != value.partition("/")[0]:
        return ""
    return f"{name} has been away since the plan was made: it may be another disk now"


def _size(reader: HostReader, name: str, value: str) -> str:
    disk = _disk(reader, name)
    if disk is None:
        return f"{name} is gone"
    return "" if str(disk.size_bytes) == value else f"{name} has another size now: {disk.size_bytes} bytes"


def _free(reader: HostReader, name: str, value: str) -> str:
    del value
    disk = _disk(reader, name)
    if disk is None:
        return f"{name} is gone"
    if users := disk.users:
        return f"{name} is in use: {users}"
    end_s = time.monotonic() + _PATIENCE_S
    while (busy := why_busy(reader, name)) and time.monotonic() < end_s:  # such as mdadm, which looks at it
        time.sleep(_PACE_S)
    busy = busy or open_words(reader, (name,), patience_s=_PATIENCE_S).get(name, "")
    return f"{name}: {busy}" if busy else ""


def _untouched(reader: HostReader, name: str, value: str) -> str:
    found = digest_of(reader, name)
    if found is None:
        return f"{name} cannot be read"
    return "" if found == value else f"{name} was written to since the plan was made"


def _contents(reader: HostReader, name: str, value: str) -> str:
    """Look at the device itself, right before it is written to: udev may not know what it holds."""
    found = probe_signatures(reader, name)
    if found.value is None:
        return f"{name} cannot be examined: {found.why}"
    words = contents_value(found.value)
    if words == value:
        return ""
    return f"{name} holds {words or 'nothing'} now, and {value or 'nothing'} when the plan was made"


def _superblock(reader: HostReader, name: str, value: str) -> str:
    try:
        found = read_examined(reader, name)
    except MdadmError as error:
        return f"{name} cannot be examined: {error}"
    uuid = (found.uuid or "?") if found else ""
    if uuid == value:
        return ""
    if not uuid:
        return f"{name} has no md superblock"
    return f"{name} has the superblock of {found.label if found else uuid} ({uuid})"


def _clean(reader: HostReader, name: str, value: str) -> str:
    del value
    output = reader.ask("wipefs", "--no-act", "--noheadings", f"/dev/{name}")
    if output.status != 0:
        return f"{name} cannot be examined: {output.why}"
    found = wiped_types(output)
    types = f" ({', '.join(sorted(found))})" if found else ""
    return f"{name} still has signatures{types}" if output.stdout.strip() else ""


def _array(reader: HostReader, name: str, value: str) -> str:
    found, wanted = read_uuid(reader, f"{BLOCK}/{name}/md"), canonical_uuid(value)
    if found and found == wanted:
        return ""
    words = f"{name} is another array now" if found else f"{name} is not there"
    other = kernel_name(reader, wanted) if wanted else None
    return (
        f"{words}; the array of the plan is {other}: assemble it as {name}, or make a new plan"
        if other
        else words
    )


def kernel_name(reader: HostReader, uuid: str) -> str | None:
    """Return the kernel's name of the array with this UUID, or None."""
    for name in reader.names(BLOCK):
        if name.startswith("md") and read_uuid(reader, f"{BLOCK}/{name}/md") == uuid:
            return name
    return None


def _gone(reader: HostReader, subject: str, value: str) -> str:
    del value
    name = kernel_name(reader, subject) if ":" in subject else subject
    state = reader.text(f"{BLOCK}/{name}/md/array_state") if name else None
    return "" if state is None or state.strip() == "clear" else f"{name} is there"


def _running(reader: HostReader, uuid: str, value: str) -> str:
    del value
    name = kernel_name(reader, uuid)
    state = (reader.text(f"{BLOCK}/{name}/md/array_state") or "").strip() if name else ""
    return "" if state not in {"", "clear", "inactive"} else f"the array {uuid} is {state or 'not there'}"


def _unused(reader: HostReader, name: str, value: str) -> str:
    del value
    disk = _disk(reader, name)
    if disk is None:
        return f"{name} is not there"
    parts = [use.what for use in disk.uses if use.kind == "partition"]
    for each in (name, *parts):
        found = _disk(reader, each)
        if found is not None and (users := found.users):
            return f"{each} is in use: {users}"
    return ""


def _name(reader: HostReader, uuid: str, value: str) -> str:
    name = kernel_name(reader, uuid)
    if name is None:
        return f"the array {uuid} is not there"
    try:
        found = read_detail(reader, f"/dev/{name}").get("MD_NAME", "")
    except MdadmError as error:
        return str(error)
    label = found.rpartition(":")[2]
    return "" if label == value else f"{name} is called {label or 'nothing'}"


def _level(reader: HostReader, name: str, value: str) -> str:
    found = (reader.text(f"{BLOCK}/{name}/md/level") or "").strip()
    return "" if found == value else f"{name} is {found or 'not there'}"


def _member(reader: HostReader, subject: str, value: str) -> str:
    array, _, device = subject.partition("/")
    states = reader.text(f"{BLOCK}/{array}/md/dev-{device.replace('/', '!')}/state")
    words = set((states or "").split(",")) | ({"absent"} if states is None else {"present"})
    there = reader.is_there(f"{BLOCK}/{device.replace('/', '!')}")
    words |= set() if there or states is None else {"detached"}
    return (
        ""
        if words & set(value.split("|"))
        else f"{device} is {'not a member of ' + array if states is None else states}"
    )


def _file_system(reader: HostReader, path: str, value: str) -> str:
    output = reader.ask("blkid", "--probe", "--output", "value", "--match-tag", "TYPE", path)
    if output.status not in {0, 2}:  # 2: nothing was found
        return f"{path} cannot be examined: {output.why}"
    found = output.stdout.strip()
    return "" if found == value else f"{path} has {found or 'no file system'}"


def _mounted(reader: HostReader, place: str, value: str) -> str:
    found = any(mount.where == place for mount in read_mounts(reader))
    if found == (value != "no"):
        return ""
    return f"something is mounted at {place}" if found else f"nothing is mounted at {place}"


def _node(reader: HostReader, path: str, value: str) -> str:
    del value
    folder, _, name = path.rpartition("/")
    return "" if name in reader.names(folder) else f"{path} is not there"


def _text(reader: HostReader, path: str, value: str) -> str:
    found = reader.text(path)
    return "" if found is not None and found.strip() == value.strip() else f"{path} reads {found!r}"


def _digest(reader: HostReader, path: str, value: str) -> str:
    try:
        found = hashlib.sha256(reader.read(path)).hexdigest()
    except OSError:
        found = ""
    return "" if found == value else f"{path} was changed since the plan was made"


def _line(reader: HostReader, path: str, value: str) -> str:
    try:
        lines = reader.read(path).decode("latin-1").split("\n")  # as in Survey.texts
    except OSError:
        lines = []
    return "" if value in lines else f"{path} has no line {value!r}"


def _larger(reader: HostReader, name: str, value: str) -> str:
    disk = _disk(reader, name)
    if disk is None or disk.size_bytes is None:
        return f"{name} is gone"
    return "" if disk.size_bytes > int(value) else f"{name} has {disk.size_bytes} bytes"


def _unwritten(reader: HostReader, uuid: str, value: str) -> str:
    """A stopped array has no counter; then the superblocks of its members say it, but for RAID 0."""
    runs, _, seen = value.partition(" ")
    name = kernel_name(reader, uuid)
    if name is None:
        known = f"the array {uuid} does not run: it is not known whether it was written to"
        return known if runs else ""
    state = array_facts.attribute(reader, name, "array_state")
    if runs and state != "readonly":
        return f"{name} is {state}: it is not known whether it was written to"
    if runs and (
        not seen or read_appearance(reader, name) != seen
    ):  # the counter begins again with each start
        return f"{name} may have been stopped and started since: it is not known whether it was written to"
    words = (reader.text(f"{BLOCK}/{name}/stat") or "").split()
    if len(words) <= _WRITTEN_AT or not words[_WRITTEN_AT].isdigit():
        return f"it is not known whether {name} was written to"
    written = int(words[_WRITTEN_AT]) * SECTOR_BYTES
    return f"{binary_size(written)} were written to {name} since it was started" if written else ""


def _events(reader: HostReader, name: str, value: str) -> str:
    """Md counts an event before an array that was clean is first written to, but for RAID 0."""
    uuid, _, most = value.partition("/")
    try:
        found = read_examined(reader, name)
    except MdadmError as error:
        return f"{name} cannot be examined: {error}"
    if (
        found is None
        or canonical_uuid(found.uuid or "") != canonical_uuid(uuid)
        or found.events is None
        or found.events <= int(most)
    ):
        return ""
    more = counted(found.events - int(most), "event")
    return f"the superblock of {name} counts {more} more: the array was writable since"


_READERS = {
    FactKind.SERIAL: _serial,
    FactKind.APPEARANCE: _appearance,
    FactKind.SIZE: _size,
    FactKind.FREE: _free,
    FactKind.UNTOUCHED: _untouched,
    FactKind.CONTENTS: _contents,
    FactKind.SUPERBLOCK: _superblock,
    FactKind.CLEAN: _clean,
    FactKind.ARRAY: _array,
    FactKind.GONE: _gone,
    FactKind.RUNNING: _running,
    FactKind.UNUSED: _unused,
    FactKind.NAME: _name,
    FactKind.LEVEL: _level,
    FactKind.MEMBER: _member,
    FactKind.FILE_SYSTEM: _file_system,
    FactKind.MOUNTED: _mounted,
    FactKind.NODE: _node,
    FactKind.TEXT: _text,
    FactKind.DIGEST: _digest,
    FactKind.LINE: _line,
    FactKind.LARGER: _larger,
    **array_facts.FACT_READERS,
    **on_top.FACT_READERS,
    **maps.FACT_READERS,
    **cache_facts.FACT_READERS,
    FactKind.UNWRITTEN: _unwritten,
    FactKind.EVENTS: _events,
}
