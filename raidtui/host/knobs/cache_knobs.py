"""The knobs of caches: of bcache in sysfs, of LVM's dm-cache by what ``dmsetup status`` said.

Sources: drivers/md/bcache/sysfs.c, drivers/md/dm-cache-target.c, lvmcache(7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.knobs.setters import Setters
from raidtui.host.knobs.udev_rules import UdevDevice
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.stack.bcache_files import bcache_bytes, bcache_text
from raidtui.host.stack.cache_facts import policy_of
from raidtui.host.udev import read_udev_entry
from raidtui.model.attribution import attributed
from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import By, ChangedValue, KnobScope, Setting, Subject, Value, chosen
from raidtui.model.knob_table import KNOBS, Knob, knobs_of
from raidtui.model.stack import CacheState, StackKind, StackNode
from raidtui.view.units import SECTOR_BYTES

_OF_BCACHE = ("cache_mode", "writeback_percent", "sequential_cutoff")
_OF_LVM = ("cache_mode", "cache_policy", "migration_threshold")
_LVM_MODES = ("writethrough", "writeback", "passthrough")
_DEFAULTS = {"writeback_percent": "10", "sequential_cutoff": str(4 << 20)}
_PAGE_BYTES, _PERCENT_STEP = 4096, 5
_FEWEST_BLOCKS = 8
"""LVM sets no lower threshold than so many blocks of the cache (lib/cache_segtype/cache.c)."""
_LEAST_SECTORS = 2048
_METADATA = Setting(by=By.METADATA)
_SUFFIX = re.compile("_(?:cvol(?:-cdata)?|cpool_cdata|cdata)$")
NO_WRITECACHE = "raidtui sets nothing on a dm-writecache; lvmcache(7) lists its settings"


class FoundCache(Struct, frozen=True, kw_only=True):
    """A cache.

    Args:
        node: the layer, with what the cache says of itself.
        volume: of LVM, the label of the volume that the cache is on: vc/fast_cvol-cdata.
        alone: why writeback endangers data, a clause; "" where it does not.
    """

    node: StackNode
    volume: str = ""
    alone: str = ""


def read_cache(
    reader: HostReader, found: FoundCache, setters: Setters, changed: Mapping[str, ChangedValue]
) -> Subject:
    """Return a cache with its knobs; no tool runs.

    Args:
        reader: the host.
        found: the cache.
        setters: what sets knobs on this host.
        changed: what raidtui has written for now, by path.
    """
    node = found.node
    state = node.cache or CacheState()
    if node.kind is StackKind.BCACHE:
        return _bcache(reader, found, state, setters, changed)
    folder = f"{BLOCK}/{node.name}/dm"
    name, uuid = ((reader.text(f"{folder}/{file}") or "").strip() for file in ("name", "uuid"))
    is_cache = node.kind is StackKind.CACHE
    values = _read_lvm(name, state, changed) if is_cache else {}
    why = "the kernel does not say" if is_cache else NO_WRITECACHE
    return Subject(
        scope=KnobScope.CACHE,
        name=node.name,
        title=node.title,
        kind=node.kind,
        needs=(Fact(kind=FactKind.TEXT, subject=f"{folder}/uuid", value=uuid),),
        no_match="LVM keeps the settings of its caches by itself",
        values=values,
        absent={
            knob.name: _why_absent(knob, why) for knob in knobs_of(KnobScope.CACHE) if knob.name not in values
        },
        map=name,
        volume=_SUFFIX.sub("", found.volume),
        pooled=not found.volume.endswith(("_cvol-cdata", "_cvol")),
        cache=state,
        alone=found.alone,
    )


def _why_absent(knob: Knob, why: str) -> str:
    return why if knob.name in _OF_LVM else f"only bcache has {knob.name}"


def _read_lvm(name: str, state: CacheState, changed: Mapping[str, ChangedValue]) -> dict[str, Value]:
    least = _FEWEST_BLOCKS * (state.block_bytes or 0) // SECTOR_BYTES
    default = str(max(_LEAST_SECTORS, least))
    threshold = state.migration_threshold
    known = {
        "cache_mode": Value(text=state.mode or "", choices=_LVM_MODES),
        "cache_policy": Value(text=policy_of(state), choices=KNOBS["cache_policy"].choices, default="smq"),
        "migration_threshold": Value(
            text="" if threshold is None else str(threshold), low=least, default=default
        ),
    }
    found = {}
    for knob, value in known.items():
        if value.text:
            path = f"/dev/mapper/{name}/{knob}"
            found[knob] = _lasting(value, path, changed)
    return found


def _lasting(value: Value, path: str, changed: Mapping[str, ChangedValue]) -> Value:
    """Return a value that the cache itself keeps."""
    known = Value(
        text=value.text,
        path=path,
        choices=value.choices,
        low=value.low,
        high=value.high,
        default=value.default,
    )
    setting = Setting(by=_METADATA.by, value=value.text, path=path)
    return replace(attributed(known, (setting,), changed.get(path)), others=())  # nothing else sets it


def _bcache(
    reader: HostReader,
    found: FoundCache,
    state: CacheState,
    setters: Setters,
    changed: Mapping[str, ChangedValue],
) -> Subject:
    name = found.node.name
    folder = f"{BLOCK}/{name}"
    entry = read_udev_entry(reader, reader.text(f"{folder}/dev"))
    device = UdevDevice(
        reader=reader,
        name=name,
        folder=folder,
        properties={"DEVTYPE": "disk", "DEVNAME": f"/dev/{name}", **entry.properties},
        action="change",  # its files come after the "add"
    )
    assigned = setters.settings_of_rules(device)
    values: dict[str, Value] = {}
    for key in _OF_BCACHE:
        knob = KNOBS[key]
        path = f"{folder}/{knob.file}"
        text = reader.text(path)
        if text is None or not text.strip():
            continue
        if key == "cache_mode":
            words = text.replace("[", "").replace("]", "").split()
            values[key] = _lasting(Value(text=chosen(text), choices=tuple(words)), path, changed)
            continue
        settings = setters.of((path,), assigned)
        number = text.strip()
        if key == "sequential_cutoff":
            asked = [changed[path].value] if path in changed else []
            number = _exact(number, [*asked, *(each.value for each in settings if each.value is not None)])
        value = Value(
            text=number,
            path=path,
            low=knob.low,
            high=knob.high,
            multiple=_PAGE_BYTES if knob.unit == "bytes" else 1,
            step=0 if knob.unit == "bytes" else _PERCENT_STEP,
            default=_DEFAULTS[key],
        )
        values[key] = attributed(value, settings, changed.get(path))
    identity = f"{folder}/bcache/backing_dev_uuid"
    uuid = (reader.text(identity) or "").strip()
    absent = {
        knob.name: f"only LVM's caches have {knob.name}"
        if knob.name in _OF_LVM
        else f"the kernel shows no {knob.name}"
        for knob in knobs_of(KnobScope.CACHE)
        if knob.name not in values
    }
    return Subject(
        scope=KnobScope.CACHE,
        name=name,
        title=found.node.title,
        kind=found.node.kind,
        needs=(Fact(kind=FactKind.TEXT, subject=identity, value=uuid),) if uuid else (),
        match=("ATTR{bcache/backing_dev_uuid}", uuid) if uuid else None,
        no_match="" if uuid else f"the kernel shows no UUID of {name}",
        values=values,
        absent=absent,
        cache=state,
        alone=found.alone,
    )


def _exact(text: str, known: list[str]) -> str:
    """Return a size in bytes: of three digits that bcache prints, the known value that it prints so."""
    for each in reversed(known):
        number = whole_number(each)
        if number is not None and bcache_text(number) == text:
            return each
    number = bcache_bytes(text)
    return text if number is None else str(number)
