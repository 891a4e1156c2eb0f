"""The choices that a host offers for a benchmark: folders, devices, knobs. Read only."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from raidtui.features.bench.overwrite import confirm_word
from raidtui.features.bench.place import find_directory, free_bytes, is_simulated, most_of
from raidtui.host.block import BLOCK, candidate_names
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.mounts import read_mounts
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import read_survey
from raidtui.model.knob import Tuning
from raidtui.model.knob_table import KNOBS
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import contents_of
from raidtui.plans.target import needs_root

_FIRST = (
    *("queue_depth", "scheduler", "governor", "read_ahead_kb", "bitmap", "nr_requests"),
    *("energy_performance_preference", "stripe_cache_size", "group_thread_cnt"),
)


class Folder(Struct, frozen=True, kw_only=True):
    """A folder at which something is mounted, and that can be written to.

    Args:
        arrays: labels of the arrays below, the uppermost first.
    """

    path: str
    file_system: str = ""
    arrays: tuple[str, ...] = ()
    free_bytes: int = 0


class Candidate(Struct, frozen=True, kw_only=True):
    """A device.

    Args:
        name: the kernel's.
        kind: disk, partition, array or volume.
        title: an array's label, a volume's name.
        on: its contents; "" if not known.
        word: the word to type before it is overwritten.
        refusal: why it is not overwritten, whatever is typed; "" where it can be.
    """

    name: str
    kind: str = "disk"
    title: str = ""
    size_bytes: int = 0
    model: str = ""
    serial: str = ""
    on: str = ""
    word: str = ""
    refusal: str = ""


class KnobChoice(Struct, frozen=True, kw_only=True):
    """A knob that something on this host has.

    Args:
        now: the present values, each once.
        choices: the possible words; empty for numbers.
        low, high: the range, where it is a number.
    """

    name: str
    what: str = ""
    unit: str = ""
    now: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None


class HostChoices(Struct, frozen=True, kw_only=True):
    """All of it; those on arrays, and those that are free, come first."""

    folders: tuple[Folder, ...] = ()
    devices: tuple[Candidate, ...] = ()
    knobs: tuple[KnobChoice, ...] = ()

    @property
    def scratch(self) -> tuple[Candidate, ...]:
        """The devices that arrays may be made of."""
        return tuple(each for each in self.devices if not each.refusal and each.kind in {"disk", "partition"})

    def folder(self, path: str) -> Folder | None:
        """Return the folder with this path."""
        return next((each for each in self.folders if each.path == path), None)

    def device(self, name: str) -> Candidate | None:
        """Return the device with this name."""
        return next((each for each in self.devices if each.name == name), None)

    def room(self, folder: str, device: str) -> int | None:
        """Return the bytes that can be used of a device, or else in a folder; None: not known."""
        if device:
            found = self.device(device)
            return found.size_bytes or None if found is not None else None
        there = self.folder(folder)
        return most_of(there.free_bytes) if there is not None else None

    def knob(self, name: str) -> KnobChoice | None:
        """Return the knob with this name."""
        return next((each for each in self.knobs if each.name == name), None)


def read_choices(reader: HostReader, snapshot: Snapshot) -> HostChoices:
    """Return the choices.

    Args:
        reader: the host; folders are looked at on the live one, and on the demo host.
        snapshot: its arrays.
    """
    return HostChoices(
        folders=tuple(sorted(_folders(reader, snapshot), key=_by_arrays))
        if reader.live or is_simulated(reader)
        else (),
        devices=_devices(reader, snapshot),
        knobs=_knobs(KnobReader(reader).read(snapshot)),
    )


def _by_arrays(folder: Folder) -> tuple[bool, int, str]:
    return not folder.arrays, -folder.free_bytes, folder.path


def _folders(reader: HostReader, snapshot: Snapshot) -> Iterator[Folder]:
    titles = {array.name: array.title for array in snapshot.arrays}
    seen: set[str] = set()
    for mount in read_mounts(reader):
        # What a network serves may hang, and what is mounted twice is one file system.
        if not mount.source.startswith("/dev/") or mount.source in seen:
            continue
        place = find_directory(reader, mount.where)
        if isinstance(place, Refusal):
            continue
        seen.add(mount.source)
        yield Folder(
            path=mount.where,
            file_system=mount.kind,
            arrays=tuple(titles.get(name, name) for name in place.arrays),
            free_bytes=free_bytes(mount.where) if place.free_bytes is None else place.free_bytes,
        )


def _devices(reader: HostReader, snapshot: Snapshot) -> tuple[Candidate, ...]:
    arrays = [array.name for array in snapshot.arrays if array.active]
    volumes = [name for name in reader.names(BLOCK) if name.startswith("dm-")]
    disks = candidate_names(reader)
    survey = read_survey(reader, snapshot, tuple(dict.fromkeys((*arrays, *volumes, *disks))))
    found = [_candidate(reader, device, survey) for device in survey.devices.values()]
    order = {"disk": 0, "partition": 0, "array": 1, "volume": 2}
    return tuple(sorted(found, key=lambda each: (bool(each.refusal), order[each.kind])))


def _candidate(reader: HostReader, device: Device, survey: Survey) -> Candidate:
    name, disk = device.disk.name, device.disk
    array = next((each for each in survey.snapshot.arrays if each.name == name), None)
    title = array.title if array is not None else ""
    kind = "array" if array is not None else "disk" if disk.disk == name else "partition"
    if name.startswith("dm-"):
        kind, title = "volume", (reader.text(f"{BLOCK}/{name}/dm/name") or "").strip()
    refusal = (
        needs_root(survey.snapshot) or refuse_device(device, survey) or refuse_old_arrays((device,), survey)
    )
    return Candidate(
        name=name,
        kind=kind,
        title=title,
        size_bytes=disk.size_bytes or 0,
        model=disk.model or "",
        serial=disk.identity,
        on=contents_of(device, survey),
        word=confirm_word(device),
        refusal=refusal.why if refusal is not None else "",
    )


def _knobs(tuning: Tuning) -> tuple[KnobChoice, ...]:
    names = dict.fromkeys((*_FIRST, *KNOBS))
    return tuple(knob for name in names if (knob := _knob(tuning, name)) is not None)


def _knob(tuning: Tuning, name: str) -> KnobChoice | None:
    """Return a knob over all subjects that have it: every choice of any, the widest range."""
    values = [subject.values[name] for subject in tuning.subjects if name in subject.values]
    if not values:
        return None
    lows = [each.low for each in values if each.low is not None]
    highs = [each.high for each in values if each.high is not None]
    return KnobChoice(
        name=name,
        what=KNOBS[name].what,
        unit=KNOBS[name].unit,
        now=tuple(dict.fromkeys(each.text for each in values)),
        choices=tuple(dict.fromkeys(word for each in values for word in each.choices)),
        low=min(lows) if lows else None,
        high=max(highs) if highs else None,
    )
