"""Device types for smartctl (``-d``) that a person has given, kept by the identity of the disk, never by sdX.

A disk behind a RAID controller or an odd USB bridge answers only to its type: ``sat``, ``megaraid,3``,
``cciss,0``, ``areca,2``, ``3ware,1`` (smartctl(8), -d). The node of a controller's volume stands for several
disks then, which are named ``sdb megaraid,3`` (``raidtui.model.smart.smart_node``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import msgspec

from raidtui.host.block import read_identity
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.smart import smart_node, smart_type

PATH = "/var/lib/raidtui/device-types.json"
_TYPE = re.compile(r"[a-z0-9][a-z0-9+]{0,19}([,/][a-z0-9]{1,12}){0,4}")
_WRITES = re.compile(r"(^|\+)(jmb39x|jms56x)")  # smartctl(8): they write a sector to wake the bridge up
_CONTROLLERS = re.compile(r"(^|\+)(3ware|aacraid|areca|cciss|hpt|megaraid|sssraid)(,|$)")
_GENERIC = "/sys/class/scsi_generic"

Types = Mapping[str, tuple[str, ...]]
"""Types by the disk's identity (``Disk.identity``)."""


def read_types(reader: HostReader) -> Answer[Types]:
    """Return the kept types; none where there is no file, or this user may not read it."""
    text = reader.text(PATH)
    if text is None:
        return known({}, PATH)
    try:
        found = msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
    except msgspec.MsgspecError as error:
        return Answer(kind=AnswerKind.NOT_UNDERSTOOD, source=PATH, why=f"{PATH}: {error}; types are not used")
    wrong = [kind for kinds in found.values() for kind in kinds if why_not_type(kind)]
    if wrong:
        why = f"{PATH}: {wrong[0]!r} is not a device type; types are not used"
        return Answer(kind=AnswerKind.NOT_UNDERSTOOD, source=PATH, why=why)
    return known(found, PATH)


def types_text(types: Types) -> bytes:
    """Return the file that keeps types."""
    return msgspec.json.format(msgspec.json.encode({key: types[key] for key in sorted(types)})) + b"\n"


def why_not_type(kind: str) -> str:
    """Return why a word is no type that raidtui lets smartctl use; "" where it is one."""
    if _WRITES.search(kind):
        return f"with {kind} smartctl writes to the disk"
    return "" if _TYPE.fullmatch(kind) else f"{kind!r} is not a device type; smartctl(8), -d, lists them"


def asked_names(reader: HostReader, names: Collection[str]) -> tuple[str, ...]:
    """Return what smartctl is asked for: of a node with several types, each of its disks."""
    types = read_types(reader).value or {}
    if not types:
        return tuple(names)
    found: list[str] = []
    for name in names:
        kinds = () if smart_type(name) else types.get(read_identity(reader, name).identity, ())
        volume = len(kinds) > 1 or any(map(_CONTROLLERS.search, kinds))
        found += [f"{name} {kind}" for kind in kinds] if volume else [name]
    return tuple(dict.fromkeys(found))


def device_words(reader: HostReader, name: str) -> tuple[str, ...]:
    """Return the words of smartctl's command line that name a disk: ``-d megaraid,3 /dev/sdb``."""
    node, kind = smart_node(name), smart_type(name)
    if not kind and (types := read_types(reader).value):
        kind = next(iter(types.get(read_identity(reader, node).identity, ())), "")
    path = _areca(reader) if kind.startswith("areca") else ""
    return (*(("-d", kind) if kind else ()), path or f"/dev/{node}")


def is_behind_controller(name: str) -> bool:
    """Whether a disk's node is a controller's: what the kernel counts is then of the volume, not of it."""
    return bool(_CONTROLLERS.search(smart_type(name)))


def _areca(reader: HostReader) -> str:
    """An Areca controller is asked at its own SCSI generic device; "" where it is not the only one."""
    nodes = [
        name
        for name in reader.names(_GENERIC)
        if (reader.text(f"{_GENERIC}/{name}/device/type") or "").strip() == "3"
        and (reader.text(f"{_GENERIC}/{name}/device/vendor") or "").startswith("Areca")
    ]
    return f"/dev/{nodes[0]}" if len(nodes) == 1 else ""
