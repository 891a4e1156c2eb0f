"""Read what a plan is made from: the devices concerned, several at a time, with progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import BLOCK, DiskReader, candidate_names, map_candidates
from raidtui.host.examine import (
    read_device,
    read_host,
    watched_texts,
)
from raidtui.host.md.mdadm import MdadmSilentError
from raidtui.host.md.superblock import MemberScan
from raidtui.host.on_top import (
    read_groups,
    read_issue_discards,
    read_trim_timer,
)
from raidtui.host.openers import open_words
from raidtui.host.probe import TogetherProbe
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.references import read_named
from raidtui.host.smart.smart_names import has_smart
from raidtui.host.thread_pool import ThreadPool
from raidtui.host.udev import read_udev_entry, unsettled_devices
from raidtui.model.disk import Disk
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Reference, Survey

_TOGETHER = 64
"""So many devices are looked at by one run of a tool."""
_WEAR_S = 1.0
"""How long to wait for SMART after everything else has been read."""
_UNKNOWN_WEAR = "has not answered smartctl yet: its wear and its health are not known"
_LATE = "smartctl has not answered yet"
_UNSETTLED = "udev has not finished with it: what it holds is not known yet"
_NAMES, _HOST, _ON_TOP, _USES, _WEAR, _JUDGE = "names", "host", "on top", "uses", "wear", "judge"
_WORDS = {
    _NAMES: "devices",
    _HOST: "files and tools",
    _ON_TOP: "LVM and systemd",
    _USES: "who has devices open",
    _WEAR: "SMART",
}
_JUDGED = ("wear_percent", "life_bytes", "trouble", "unjudged", "retries")
"""Fields of a device that are known when SMART has answered."""
_NEEDED = frozenset({_HOST, _ON_TOP, _USES})
"""Plans need these."""


class ReadingScope(Struct, frozen=True, kw_only=True):
    """What a survey reads.

    Args:
        closely: devices to open: superblock, first and last MiB, users.
        lightly: devices for which udev and sysfs are enough.
        everything: whether to open all devices that could hold a member, besides ``closely``.
        members: whether to open all that udev knows as members, of whatever kind, and maps of the device
            mapper, which are left out of the survey where they have no superblock.
        parts: whether to open the partitions of all these, too.
        digests: whether to read the first and last MiB at the first reading, not only when reading again.
        mdadm: whether to read mdadm's version.
        on_top: whether a file system or volume is to be put on a new array: then LVM and systemd are asked.
        wear: whether to ask SMART for the disks' wear and health.
    """

    closely: tuple[str, ...] = ()
    lightly: tuple[str, ...] = ()
    everything: bool = False
    members: bool = False
    parts: bool = False
    digests: bool = True
    mdadm: bool = True
    on_top: bool = False
    wear: bool = False


class Asker(Protocol):
    """Reads and judges the wear of disks: see ``raidtui.monitor.wear.survey_wear``."""

    def measure(self, reader: HostReader, disks: Collection[str]) -> None:
        """Read SMART of whole disks; waiting for one that hangs is limited."""

    def judge(self, reader: HostReader, survey: Survey) -> Survey:
        """Return the survey with the known wear of its devices."""


class ReadingProgress(Struct, frozen=True, kw_only=True):
    """The progress of a reading.

    Args:
        read: how many devices have been read.
        of: how many there are; None while that is not known.
        ready: whether plans can be made now, except with devices that are pending.
        enough: whether nothing is left that is worth waiting for.
        rest: what else is being read, in words.
    """

    read: int = 0
    of: int | None = None
    ready: bool = False
    enough: bool = False
    rest: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is being read, in a few words; "" for nothing."""
        if self.enough:
            return ""
        if self.of is None:
            return "reading which devices there are …"
        if self.read < self.of:
            return f"{self.read} of {self.of} devices read …"
        return f"reading {', '.join(self.rest)} …" if self.rest else ""


class Reading:
    """Reads what a plan is made from, several devices at a time, in its own threads.

    A root that only one thread may read is read by ``step``, one piece at a time, in the calling thread.

    Args:
        reader: the host.
        snapshot: its arrays.
        scope: what to read.
        notify: called when something new has been read, in the thread that read it.
        asker: asks SMART, if the scope includes wear.
    """

    def __init__(
        self,
        reader: HostReader,
        snapshot: Snapshot,
        scope: ReadingScope,
        *,
        notify: Callable[[], None] = lambda: None,
        asker: Asker | None = None,
    ) -> None:
        apart = reader.thread_safe_copy()
        self._reader = apart or reader
        self.serial = apart is None
        """Whether only ``step`` reads."""
        self._snapshot = snapshot
        self._scope = scope
        self._asker = asker if scope.wear else None
        self._crew = ThreadPool(notify, threads=not self.serial)
        self._light: dict[str, Device] = {}
        self._maps: frozenset[str] = frozenset()
        self._known = False
        self._close: frozenset[str] = frozenset()
        self._devices: dict[str, Device | None] = {}
        self._silent: dict[str, str] = {}
        self._host: Survey | None = None
        self._on_top: dict[str, Any] = {}
        self._named: tuple[Reference, ...] = ()
        self._opened: Mapping[str, str] = {}
        self._judged: dict[str, Device] = {}
        self._measured = self._asker is None
        self._read_s: float | None = None

    def start(self) -> Self:
        """Start to read, in threads of the crew."""
        self._crew.put(_NAMES, self._read_names)
        self._crew.put(_HOST, self._read_host)
        if self._scope.on_top:
            self._crew.put(_ON_TOP, self._read_on_top)
        return self

    # -- for any thread

    def step(self) -> bool:
        """Read one piece in this thread; return whether there was one left."""
        return self._crew.step()

    def cancel(self) -> None:
        """Read nothing more. A running tool is not ended, but no longer waited for."""
        self._crew.cancel()

    def again(self, snapshot: Snapshot, names: Collection[str] = ()) -> None:
        """Read again what uses the arrays, and these devices with their partitions."""
        self._snapshot = snapshot
        self._crew.put(_HOST, self._read_host)
        self._crew.put(_USES, self._read_uses)
        for name in self._with_parts(names):
            self._crew.put((_NAMES, name), partial(self._read_again, name))

    def survey(self) -> Survey:
        """Return the survey so far; other devices are ``pending`` or ``silent``."""
        return self._survey(wear_known=self._measured or self._read_s is None)

    def _survey(self, *, wear_known: bool) -> Survey:
        left = self._names(self._crew.open)
        late = dict.fromkeys(self._names(self._crew.late), "it does not answer, see the kernel log")
        devices = {name: self._device(name, wear_known=wear_known) for name in self._light}
        host = self._host or Survey(snapshot=self._snapshot)
        return replace(
            host,
            **self._on_top,
            snapshot=self._snapshot,
            named=self._named,
            devices={name: device for name, device in devices.items() if device is not None},
            pending=left,
            silent={**late, **self._silent},
        )

    @property
    def open(self) -> bool:
        """Whether anything is still being read or queued."""
        return bool(self._crew.open)

    @property
    def progress(self) -> ReadingProgress:
        """How far the reading is."""
        open_ = self._crew.open
        left = self._names(open_)
        rest = tuple(words for key, words in _WORDS.items() if key in open_)
        ready = self._known and self._host is not None and not _NEEDED & open_
        return ReadingProgress(
            read=len(self._close) - len(left & self._close),
            of=len(self._close) if self._known else None,
            ready=ready,
            enough=self.enough(None),
            rest=rest,
        )

    def enough(self, names: Collection[str] | None) -> bool:
        """Whether nothing is left that is worth waiting for.

        Args:
            names: the devices that count, with their partitions; None for all.
        """
        open_ = self._crew.open
        left = self._names(open_) if names is None else self._names(open_) & set(self._with_parts(names))
        if not self._known or self._host is None or _NEEDED & open_ or left:
            self._read_s = None
            return False
        now_s = time.monotonic()
        self._read_s = self._read_s or now_s
        return not {_WEAR, _JUDGE} & open_ or now_s - self._read_s >= _WEAR_S

    def wait(self) -> Survey:
        """Wait until nothing is left that is worth waiting for, and return the survey."""
        self._crew.wait(lambda: self.enough(None))
        return self.survey()

    @staticmethod
    def _names(keys: Collection[Any]) -> frozenset[str]:
        return frozenset(key[1] for key in keys if isinstance(key, tuple))

    def _with_parts(self, names: Collection[str]) -> tuple[str, ...]:
        found = dict.fromkeys(names)
        for name in names:
            if (device := self._light.get(name)) is not None:
                found |= dict.fromkeys(_parts(device.disk))
        return tuple(found)

    def _device(self, name: str, *, wear_known: bool) -> Device | None:
        device = self._devices.get(name, self._light[name])
        if device is None:  # it has disappeared
            return None
        if (words := self._opened.get(name)) and not device.busy and not device.disk.users:
            device = replace(device, busy=words)
        worn = self._judged.get(name)
        if worn is not None and worn.disk.identity == device.disk.identity:
            return replace(device, **{name: getattr(worn, name) for name in _JUDGED})
        return device if wear_known else replace(device, trouble=_UNKNOWN_WEAR, unjudged=_LATE)

    # -- called by the threads

    def _read_names(self) -> None:
        scope = self._scope
        closely = (*scope.closely, *(candidate_names(self._reader) if scope.everything else ()))
        if scope.members:
            known = tuple(found.name for found in MemberScan(self._reader).read())
            maps = map_candidates(self._reader)
            self._maps = frozenset(maps).difference(closely, known)
            closely = (*closely, *known, *maps)
        wanted = tuple(dict.fromkeys((*closely, *scope.lightly)))
        disks = DiskReader(self._reader).read(set(wanted))
        if scope.parts:
            parts = tuple(part for name in closely if name in disks for part in _parts(disks[name]))
            closely, wanted = (*closely, *parts), tuple(dict.fromkeys((*wanted, *parts)))
            disks |= DiskReader(self._reader).read(set(parts))
        there = [name for name in wanted if name in disks]
        self._light = {name: _light(self._reader, disks[name]) for name in there}
        self._close = frozenset(closely) & self._light.keys()
        close = [name for name in there if name in self._close]
        for some in (close[first : first + _TOGETHER] for first in range(0, len(close), _TOGETHER)):
            together = TogetherProbe(self._reader, [name for name in some if not self._is_suspended(name)])
            for name in some:
                work = partial(self._read_closely, name, disks, digest=scope.digests, together=together)
                self._crew.put((_NAMES, name), work)
        self._crew.put(_USES, self._read_uses)
        if self._asker is not None:
            whole = sorted({disk for name in there if has_smart(disk := disks[name].disk)})
            self._crew.put(_WEAR, partial(self._measure, whole))
        self._known = True

    def _read_host(self) -> None:
        self._host = read_host(self._reader, self._snapshot, mdadm=self._scope.mdadm)

    def _read_uses(self) -> None:
        names = (*self._light, *(array.name for array in self._snapshot.arrays))
        self._named = read_named(self._reader, watched_texts(self._reader), names)
        opened = open_words(self._reader, self._close)
        unsettled = unsettled_devices(self._reader) if self._scope.everything else ()
        self._opened = {**dict.fromkeys(unsettled, _UNSETTLED), **opened}

    def _read_on_top(self) -> None:
        self._on_top = {
            "groups": read_groups(self._reader),
            "nodes": self._reader.names("/dev"),
            "issue_discards": read_issue_discards(self._reader),
            "trim_timer": read_trim_timer(self._reader),
        }

    def _read_closely(
        self,
        name: str,
        disks: Mapping[str, Disk],
        *,
        digest: bool,
        together: TogetherProbe | None = None,
    ) -> None:
        if self._is_suspended(name):
            self._silent[name] = "it is suspended"
            return
        try:
            device = read_device(self._reader, name, disks, digest=digest, together=together)
            self._devices[name] = None if name in self._maps and device.superblock is None else device
            self._silent.pop(name, None)
        except MdadmSilentError as error:
            self._silent[name] = str(error)
        if self._measured and self._asker is not None and self._names(self._crew.open) == {name}:
            self._crew.put(_JUDGE, self._judge)  # now it is known which disks had been away

    def _is_suspended(self, name: str) -> bool:
        """Whoever reads such a map waits until it is resumed, and cannot be ended."""
        return (self._reader.text(f"{BLOCK}/{name}/dm/suspended") or "0").strip() == "1"

    def _read_again(self, name: str) -> None:
        disks = DiskReader(self._reader).read({name})
        if name not in disks:
            self._devices[name] = None
        elif name in self._close:
            self._read_closely(name, disks, digest=True)
        else:
            self._devices[name] = _light(self._reader, disks[name])

    def _measure(self, disks: Collection[str]) -> None:
        assert self._asker is not None  # noqa: S101  (only put in where there is one)
        self._asker.measure(self._reader, disks)
        self._crew.put(_JUDGE, self._judge)

    def _judge(self) -> None:
        assert self._asker is not None  # noqa: S101  (as above)
        self._judged = dict(self._asker.judge(self._reader, self._survey(wear_known=True)).devices)
        self._measured = True


def _parts(disk: Disk) -> tuple[str, ...]:
    return tuple(use.what for use in disk.uses if use.kind == "partition")


def _light(reader: HostReader, disk: Disk) -> Device:
    """Return a device by udev and sysfs, without opening it."""
    return Device(disk=disk, links=read_udev_entry(reader, disk.dev).links)


def read_survey(
    reader: HostReader, snapshot: Snapshot, names: Collection[str] = (), *, on_top: bool = False
) -> Survey:
    """Return the survey of a host; devices that do not answer in time are ``silent``.

    Args:
        reader: the host.
        snapshot: its arrays.
        names: kernel names of the devices to open.
        on_top: as in ``ReadingScope``.
    """
    return Reading(reader, snapshot, ReadingScope(closely=tuple(names), on_top=on_top)).start().wait()
