"""All knobs of a host: of its disks, its processors, its arrays, md itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidtui.host.block import BLOCK, STACKED, DiskReader, candidate_names
from raidtui.host.knobs.cache_knobs import FoundCache, read_cache
from raidtui.host.knobs.cpufreq import NO_CPUFREQ, read_policies
from raidtui.host.knobs.disk_knobs import DiskKnobs, default_read_ahead
from raidtui.host.knobs.setters import Setters, dead_words
from raidtui.host.knobs.udev_rules import UdevDevice
from raidtui.host.md.array_attributes import RAID_SYSCTL
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.on_top import runs_systemd
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.udev import read_udev_entry
from raidtui.model.array import Array
from raidtui.model.attribution import attributed
from raidtui.model.knob import ChangedValue, KnobScope, Subject, Tuning, Value, chosen
from raidtui.model.knob_table import OUR_FILES, Knob, knobs_of
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.smart import ErrorRecovery
from raidtui.model.snapshot import Snapshot

NO_DISKS = "The kernel shows no knobs of disks."
_DEFAULTS = {"stripe_cache_size": "256", "group_thread_cnt": "0", "preread_bypass_threshold": "1"}
_SYSTEM = {"speed_limit_min": "1000", "speed_limit_max": "200000"}
_PAGE_KIB = 4


class KnobReader:
    """Reads knobs, and caches what sets them until ``forget``.

    Args:
        reader: the host.
    """

    def __init__(self, reader: HostReader) -> None:
        self._reader = reader
        self._setters: tuple[frozenset[str], Setters] | None = None

    def forget(self) -> None:
        """Drop the cache: rules, services and configuration files are read again next time."""
        self._setters = None

    def read(
        self,
        snapshot: Snapshot,
        changed: Mapping[str, ChangedValue] | None = None,
        erc: Mapping[str, ErrorRecovery | None] | None = None,
        caches: Sequence[FoundCache] = (),
    ) -> Tuning:
        """Return all knobs.

        Args:
            snapshot: the present state.
            changed: what raidtui has written for now, by path.
            erc: by the disk's name, the timeouts (SCT ERC) of the disks that were asked; None: it has none.
            caches: the caches.
        """
        reader, since = self._reader, dict(changed or {})
        setters = self._known(snapshot)
        disks = self._disks(snapshot, setters, since, erc or {})
        policies = read_policies(reader, setters, since)
        arrays = tuple(_array(reader, array, setters, since) for array in snapshot.arrays if array.active)
        cached = tuple(read_cache(reader, each, setters, since) for each in caches)
        no_cpufreq = "" if policies else NO_CPUFREQ
        lacks = (() if disks else (NO_DISKS,), sentence(no_cpufreq), dead_words(reader))
        texts = {path: text for path in OUR_FILES.values() if (text := reader.byte_text(path)) is not None}
        folders = {path.rpartition("/")[0] for path in OUR_FILES.values()}
        return Tuning(
            subjects=(*disks, *policies, *arrays, *cached, _system(reader, setters, since)),
            lacks=tuple(each for part in lacks for each in part),
            no_cpufreq=no_cpufreq,
            texts=texts,
            folders=frozenset(folder for folder in folders if reader.is_there(folder)),
            systemd=runs_systemd(reader),
        )

    def _known(self, snapshot: Snapshot) -> Setters:
        keys = frozenset(f"{array.name} {array.key}" for array in snapshot.arrays)
        if self._setters is None or self._setters[0] != keys:
            self._setters = (keys, Setters(self._reader, snapshot.arrays))
        return self._setters[1]

    def _disks(
        self,
        snapshot: Snapshot,
        setters: Setters,
        changed: dict[str, ChangedValue],
        erc: Mapping[str, ErrorRecovery | None],
    ) -> tuple[Subject, ...]:
        members: dict[str, list[str]] = {}
        for array in snapshot.arrays:
            for member in array.members:
                disk = snapshot.disks.get(member.name)
                keys = members.setdefault(disk.disk if disk is not None else member.name, [])
                if array.key not in keys:
                    keys.append(array.key)
        found = DiskReader(self._reader).read({*candidate_names(self._reader), *members})
        # A member may be an array itself, a map or a bcache.
        whole = [name for name, disk in found.items() if disk.disk == name and not name.startswith(STACKED)]
        whole.sort(
            key=lambda name: (name not in members, list(members).index(name) if name in members else 0, name)
        )
        reader = DiskKnobs(self._reader, setters, changed, whole)
        read = (reader.read(found[name], tuple(members.get(name, ())), erc) for name in whole)
        return tuple(subject for subject in read if subject.values)


def sentence(phrase: str) -> tuple[str, ...]:
    """Return a phrase as a sentence; nothing for none."""
    return (f"{phrase[0].upper()}{phrase[1:]}.",) if phrase else ()


def _array(reader: HostReader, array: Array, setters: Setters, changed: dict[str, ChangedValue]) -> Subject:
    folder = f"{BLOCK}/{array.name}"
    entry = read_udev_entry(reader, reader.text(f"{folder}/dev"))
    device = UdevDevice(
        reader=reader,
        name=array.name,
        folder=folder,
        properties={"DEVTYPE": "disk", "DEVNAME": f"/dev/{array.name}", **entry.properties},
        action="change",  # md sends "add" before a new array runs, and "change" when it does
    )
    assigned = setters.settings_of_rules(device)
    values: dict[str, Value] = {}
    absent: dict[str, str] = {}
    for knob in knobs_of(KnobScope.ARRAY):
        path = f"{folder}/{knob.file}" if knob.file else ""
        value = _bitmap(array) if knob.name == "bitmap" else _read_array(reader, folder, knob, array)
        if value is None:
            absent[knob.name] = _why_absent(array, knob)
        elif path:
            values[knob.name] = attributed(value, setters.of((path,), assigned), changed.get(path))
        else:
            values[knob.name] = value
    uuid = reader.text(
        f"{folder}/md/uuid"
    )  # as udev's rule compares it, of 0.90 with its bytes in md's order
    uuid = (
        uuid if canonical_uuid(uuid) else None
    )  # the zeros of external metadata would match all such arrays
    return Subject(
        scope=KnobScope.ARRAY,
        name=array.name,
        title=array.title,
        kind=array.level or "",
        key=array.key,
        guard=(f"{folder}/md/uuid", array.uuid) if array.uuid else None,
        match=("ATTR{md/uuid}", uuid) if uuid and not array.twin else None,
        no_match="" if uuid else f"the kernel shows no UUID of {array.title}",
        members=array.raid_disks or 0,
        values=values,
        absent=absent,
    )


def _read_array(reader: HostReader, folder: str, knob: Knob, array: Array) -> Value | None:
    text = reader.text(f"{folder}/{knob.file}")
    if text is None or not text.strip():
        return None
    default, high, step = _DEFAULTS.get(knob.name), knob.high, 1
    if knob.name == "preread_bypass_threshold":
        high = whole_number(reader.text(f"{folder}/md/stripe_cache_size"))
    elif knob.name == "read_ahead_kb":
        step = _PAGE_KIB
        if array.level not in PARITY_LEVELS:  # md raises that of RAID 4, 5 and 6, and never lowers it
            default = default_read_ahead(whole_number(reader.text(f"{folder}/queue/optimal_io_size")))
    elif knob.name.startswith("sync_speed_"):
        # An array that follows the system shows its value: "200000 (system)".
        system = "(system)" in text
        return Value(
            text="system" if system else chosen(text),
            path=f"{folder}/{knob.file}",
            low=knob.low,
            high=high,
            default="system",
        )
    return Value(
        text=chosen(text),
        path=f"{folder}/{knob.file}",
        low=knob.low,
        high=high,
        multiple=step,
        default=default,
    )


def _bitmap(array: Array) -> Value | None:
    if not array.redundant:
        return None
    text = "none" if array.bitmap is None else "internal"
    return Value(text=text, choices=("none", "internal"), at_boot=text)


def _why_absent(array: Array, knob: Knob) -> str:
    level = array.level or "this array"
    if knob.name.startswith(("sync_speed_", "bitmap")):
        return f"{array.why_not_redundant or level}, so nothing is synced"
    if knob.name == "read_ahead_kb":
        return "the kernel shows no read_ahead_kb for this array"
    return f"{level} has no {knob.name}: only RAID 4, 5 and 6 have a stripe cache"


def _system(reader: HostReader, setters: Setters, changed: dict[str, ChangedValue]) -> Subject:
    values: dict[str, Value] = {}
    absent: dict[str, str] = {}
    for knob in knobs_of(KnobScope.SYSTEM):
        path = f"{RAID_SYSCTL}/{knob.file}"
        text = reader.text(path)
        if text is None:
            absent[knob.name] = "md is not loaded; modprobe md_mod loads it"
            continue
        value = Value(text=text.strip(), path=path, low=knob.low, high=knob.high, default=_SYSTEM[knob.name])
        values[knob.name] = attributed(value, setters.of((path,)), changed.get(path))
    return Subject(scope=KnobScope.SYSTEM, name="system", title="system", values=values, absent=absent)
