"""Reads what a plan is made from. Devices are opened for reading only."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from threading import Lock
from typing import Any, Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import DiskReader, read_appearance
from raidtui.host.crew import Crew
from raidtui.host.devices import candidate_names
from raidtui.host.mdadm import MdadmTimeoutError
from raidtui.host.openers import open_words
from raidtui.host.referring import read_referring
from raidtui.host.root import Root
from raidtui.host.smart_names import has_smart
from raidtui.host.stack import (
    read_groups,
    read_issue_discards,
    read_raid456_discards,
    read_trim_timer,
    runs_systemd,
)
from raidtui.host.superblock import read_superblock
from raidtui.host.tables import read_named
from raidtui.host.tools import tool_path
from raidtui.host.udev import read_udev_entry
from raidtui.host.usage import BLOCK
from raidtui.model.disk import Disk
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import PACKAGES, Device, Named, Survey

EDGE_BYTES = 1 << 20
LOOKED_AT_BYTES = 192 << 10
_WEAR_S = 1.0
"""How much longer SMART is waited for when all else has been read."""
_MAGICS = (
    *(b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"),  # md's own, 0xa92b4efc, in either order of bytes
    *(b"\xde\x11\xde\x11", b"\x11\xde\x11\xde"),  # DDF
    b"Intel Raid ISM Cfg Sig",
)
CONF_PATHS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
WATCHED_FILES = (*CONF_PATHS, "/etc/fstab", "/etc/crypttab")
_claims: dict[str, Lock] = {}
"""By disk: while a partition is opened for oneself alone, its disk cannot be, nor another partition."""
_INITRAMFS = (
    ("update-initramfs", "-u", "-k", "all"),
    ("dracut", "--force", "--regenerate-all"),
    ("mkinitcpio", "-P"),
)


class Scope(Struct, frozen=True, kw_only=True):
    """What a survey reads: no more than is concerned.

    Args:
        closely: devices that are opened: superblock, first and last MiB, whether something uses them.
        lightly: devices of which udev and sysfs are enough.
        everything: whether all that could hold a member are looked at closely, besides.
        parts: whether the partitions of all these are looked at closely, too.
        digests: whether the first and the last MiB of all of them are read; else of what is read again.
        mdadm: whether mdadm is asked for its version.
        on_top: whether something is to be put on a new array: LVM and systemd are asked then.
        wear: whether SMART is asked for the disks' wear and health.
    """

    closely: tuple[str, ...] = ()
    lightly: tuple[str, ...] = ()
    everything: bool = False
    parts: bool = False
    digests: bool = True
    mdadm: bool = True
    on_top: bool = False
    wear: bool = False


def read_survey(
    root: Root, snapshot: Snapshot, names: Collection[str] = (), *, on_top: bool = False
) -> Survey:
    """Return the survey of a host, of a live one by several threads; one that hangs is not waited for.

    Args:
        root: the host.
        snapshot: its arrays.
        names: kernel names of the devices to look at closely.
        on_top: whether something is to be put on a new array: LVM and systemd are asked then.
    """
    return Reading(root, snapshot, Scope(closely=tuple(names), on_top=on_top)).start().wait()


def _read_host(root: Root, snapshot: Snapshot, *, mdadm: bool = True) -> Survey:
    """Return what is asked for of every survey: files, tools, and what is stacked on the arrays."""
    texts = _watched_texts(root)
    return Survey(
        snapshot=snapshot,
        texts={**texts, **read_referring(root)},
        conf_path=_conf_path(root, texts),
        initramfs=next((argv for argv in _INITRAMFS if root.live and tool_path(argv[0])), ()),
        mdadm=_mdadm_version(root) if mdadm else None,
        above=read_above(root, [array.name for array in snapshot.arrays]),
        homehost=_homehost(texts.get(_conf_path(root, texts), "")) or root.hostname or "",
        missing=tuple(tool for tool in PACKAGES if root.live and tool_path(tool) is None),
        systemd=runs_systemd(root),
        raid456_discards=read_raid456_discards(root),
    )


def read_above(root: Root, names: Collection[str]) -> dict[str, Disk]:
    """Return these devices, their partitions and holders, and all that is stacked on those."""
    reader, found = DiskReader(root), dict[str, Disk]()
    wanted = set(names)
    while wanted:
        now = {name: disk for name, disk in reader.read(wanted).items() if name in wanted}
        found |= now
        uses = [use for disk in now.values() for use in disk.uses if use.kind in {"partition", "holder"}]
        wanted = {use.what for use in uses} - found.keys()
    return found


def read_device(
    root: Root, name: str, disks: Mapping[str, Disk] | None = None, *, digest: bool = True
) -> Device:
    """Return one device with what is on it.

    Args:
        root: the host.
        name: the kernel's name.
        disks: what is known of it and its disk, if that has been read.
        digest: whether its first and last MiB are read, too.
    """
    found = (disks or DiskReader(root).read({name}))[name]
    node = f"{BLOCK}/{name.replace('/', '!')}"
    whole = f"{BLOCK}/{found.disk.replace('/', '!')}"
    edges = read_edges(root, name, EDGE_BYTES if digest else LOOKED_AT_BYTES)
    with _claims.setdefault(found.disk, Lock()):
        busy = why_busy(root, name)
    return Device(
        disk=found,
        superblock=read_superblock(root, name) if may_have_superblock(edges) else None,
        digest=hashlib.sha256(b"".join(edges)).hexdigest() if digest and edges is not None else None,
        busy=busy,
        read_only=(root.text(f"{node}/ro") or "0").strip() == "1",
        sector_bytes=_number(root.text(f"{whole}/queue/logical_block_size")) or 512,
        start_bytes=_number(root.text(f"{node}/start")) * 512,
        optimal_bytes=_number(root.text(f"{whole}/queue/optimal_io_size")),
        discards=_number(root.text(f"{whole}/queue/discard_max_bytes")) > 0,
        links=read_udev_entry(root, found.dev).links,
        appearance=read_appearance(root, found.disk),
    )


def why_busy(root: Root, name: str) -> str:
    """Return why a device cannot be opened for oneself alone, or "" where it can."""
    if not root.live:
        return ""
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "something uses it" if error.errno == errno.EBUSY else str(error.strerror)
    return ""


def digest_of(root: Root, name: str) -> str | None:
    """Return the SHA-256 of a device's first and last MiB: what tells whether somebody wrote to it."""
    edges = read_edges(root, name)
    return hashlib.sha256(b"".join(edges)).hexdigest() if edges is not None else None


def read_edges(root: Root, name: str, edge_bytes: int = EDGE_BYTES) -> tuple[bytes, bytes] | None:
    """Return so much of a device's beginning and of its end; None where it cannot be read."""
    if not root.live:
        return None
    with contextlib.suppress(OSError):
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            first = os.pread(descriptor, edge_bytes, 0)
            last = os.pread(descriptor, edge_bytes, max(0, size - edge_bytes))
        finally:
            os.close(descriptor)
        return first, last
    return None


def _watched_texts(root: Root) -> dict[str, str]:
    return {path: text for path in WATCHED_FILES if (text := _whole_text(root, path)) is not None}


def may_have_superblock(edges: tuple[bytes, bytes] | None) -> bool:
    """Whether mdadm has to be asked: it finds nothing where none of the magic numbers that it knows is.

    It looks in the first 8 KiB and the last 128 (mdadm's super0.c, super1.c, super-ddf.c, super-intel.c).

    Args:
        edges: the device's beginning and its end, ``LOOKED_AT_BYTES`` each or more; None where they cannot be
            read.
    """
    if edges is None:
        return True
    first, last = edges[0][:LOOKED_AT_BYTES], edges[1][-LOOKED_AT_BYTES:]
    return any(magic in first or magic in last for magic in _MAGICS)


def _whole_text(root: Root, path: str) -> str | None:
    try:
        return root.read(path).decode("latin-1")
    except OSError:
        return None


def _conf_path(root: Root, texts: dict[str, str]) -> str:
    """Debian's mdadm 4.2 reads /etc/mdadm/mdadm.conf alone; the others' reads /etc/mdadm.conf first."""
    for path in CONF_PATHS:
        if path in texts:
            return path
    return CONF_PATHS[0] if root.names("/etc/mdadm") or root.exists("/etc/debian_version") else CONF_PATHS[1]


def _homehost(conf: str) -> str:
    """Return the host that mdadm.conf names, "" where that is the host's own name (mdadm.conf(5))."""
    words = [line.split() for line in conf.split("\n")]
    named = [word[1] for word in words if len(word) > 1 and word[0].upper() == "HOMEHOST"]
    return next((name for name in named if name.lower() not in {"<system>", "<ignore>"}), "")


def _mdadm_version(root: Root) -> tuple[int, ...] | None:
    output = root.run("mdadm", "--version", timeout_s=5.0)
    found = re.search(r"\bv([0-9]{1,3})\.([0-9]{1,3})", output.stdout + output.stderr)  # also v4.3-rc1
    return (int(found[1]), int(found[2])) if found else None


def _number(text: str | None) -> int:
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0


# -- a survey in the making

_UNTOLD = "has not answered smartctl yet: its wear and its health are not known"
_NAMES, _HOST, _ON_TOP, _USES, _WEAR, _JUDGE = "names", "host", "on top", "uses", "wear", "judge"
_WORDS = {
    _NAMES: "devices",
    _HOST: "files and tools",
    _ON_TOP: "LVM and systemd",
    _USES: "who has devices open",
    _WEAR: "SMART",
}
_NEEDED = frozenset({_HOST, _ON_TOP, _USES})
"""No plan is made before these have been read."""


class Asker(Protocol):
    """Knows what SMART says: see ``raidtui.wear_desk``."""

    def measure(self, root: Root, disks: Collection[str]) -> None:
        """Ask whole disks; one that hangs is waited for up to a limit."""

    def judge(self, root: Root, survey: Survey) -> Survey:
        """Return the survey with what is known of its devices' wear."""


class Progress(Struct, frozen=True, kw_only=True):
    """How far a reading is.

    Args:
        read: how many devices have been read.
        of: of how many; None while it is not known which there are.
        ready: whether plans can be made of what has been read, but for devices that are pending.
        enough: whether there is nothing left that is worth waiting for.
        rest: what else is waited for.
    """

    read: int = 0
    of: int | None = None
    ready: bool = False
    enough: bool = False
    rest: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is waited for, in a few words; "" for nothing."""
        if self.enough:
            return ""
        if self.of is None:
            return "reading which devices there are …"
        if self.read < self.of:
            return f"{self.read} of {self.of} devices read …"
        return f"reading {', '.join(self.rest)} …" if self.rest else ""


class Reading:
    """Reads what a plan is made from, several devices at a time, in threads of its own.

    Of a root that one thread alone may read, ``step`` does one thing after the other, in whichever thread
    calls it.

    Args:
        root: the host.
        snapshot: its arrays.
        scope: what is read.
        told: called when something new has been read, in the thread that read it.
        asker: asks SMART, where the scope wants that.
    """

    def __init__(
        self,
        root: Root,
        snapshot: Snapshot,
        scope: Scope,
        *,
        told: Callable[[], None] = lambda: None,
        asker: Asker | None = None,
    ) -> None:
        apart = root.apart()
        self._root = apart or root
        self.serial = apart is None
        """Whether nothing is read but by ``step``."""
        self._snapshot = snapshot
        self._scope = scope
        self._asker = asker if scope.wear else None
        self._crew = Crew(told, threads=not self.serial)
        self._light: dict[str, Device] = {}
        self._known = False
        self._close: frozenset[str] = frozenset()
        self._devices: dict[str, Device | None] = {}
        self._silent: set[str] = set()
        self._host: Survey | None = None
        self._on_top: dict[str, Any] = {}
        self._named: tuple[Named, ...] = ()
        self._opened: Mapping[str, str] = {}
        self._judged: dict[str, Device] = {}
        self._measured = self._asker is None
        self._read_s: float | None = None

    def start(self) -> Self:
        """Begin to read."""
        self._crew.put(_NAMES, self._read_names)
        self._crew.put(_HOST, self._read_host)
        if self._scope.on_top:
            self._crew.put(_ON_TOP, self._read_on_top)
        return self

    # -- from any thread

    def step(self) -> bool:
        """Read one thing here and now; return whether there was one left."""
        return self._crew.step()

    def cancel(self) -> None:
        """Read nothing more; a tool that runs is not ended, but nobody waits for it."""
        self._crew.cancel()

    def again(self, snapshot: Snapshot, names: Collection[str] = ()) -> None:
        """Read afresh what uses the arrays, and these devices with their partitions."""
        self._snapshot = snapshot
        self._crew.put(_HOST, self._read_host)
        self._crew.put(_USES, self._read_uses)
        for name in self._with_parts(names):
            self._crew.put((_NAMES, name), partial(self._read_again, name))

    def survey(self) -> Survey:
        """Return what has been read so far; the devices that have not been are pending, or silent."""
        return self._survey(told=self._measured or self._read_s is None)

    def _survey(self, *, told: bool) -> Survey:
        left, late = self._names(self._crew.open), self._names(self._crew.late) | frozenset(self._silent)
        devices = {name: self._device(name, told=told) for name in self._light}
        host = self._host or Survey(snapshot=self._snapshot)
        return replace(
            host,
            **self._on_top,
            snapshot=self._snapshot,
            named=self._named,
            devices={name: device for name, device in devices.items() if device is not None},
            pending=left,
            silent=late,
        )

    @property
    def open(self) -> bool:
        """Whether there is anything that is read, or waits to be."""
        return bool(self._crew.open)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        open_ = self._crew.open
        left = self._names(open_)
        rest = tuple(words for key, words in _WORDS.items() if key in open_)
        ready = self._known and self._host is not None and not _NEEDED & open_
        return Progress(
            read=len(self._close) - len(left & self._close),
            of=len(self._close) if self._known else None,
            ready=ready,
            enough=self.enough(None),
            rest=rest,
        )

    def enough(self, names: Collection[str] | None) -> bool:
        """Whether nothing is left that is worth waiting for.

        Args:
            names: the devices that count, with their partitions; None: all do.
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
        """Return the survey when all has been read, or is not worth waiting for."""
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

    def _device(self, name: str, *, told: bool) -> Device | None:
        device = self._devices.get(name, self._light[name])
        if device is None:  # it is gone
            return None
        if (words := self._opened.get(name)) and not device.busy and not device.disk.users:
            device = replace(device, busy=words)
        worn = self._judged.get(name)
        if worn is not None and worn.disk.identity == device.disk.identity:
            return replace(
                device, wear_percent=worn.wear_percent, life_bytes=worn.life_bytes, trouble=worn.trouble
            )
        return device if told else replace(device, trouble=_UNTOLD)

    # -- in the threads

    def _read_names(self) -> None:
        scope = self._scope
        closely = (*scope.closely, *(candidate_names(self._root) if scope.everything else ()))
        wanted = tuple(dict.fromkeys((*closely, *scope.lightly)))
        disks = DiskReader(self._root).read(set(wanted))
        if scope.parts:
            parts = tuple(part for name in closely if name in disks for part in _parts(disks[name]))
            closely, wanted = (*closely, *parts), tuple(dict.fromkeys((*wanted, *parts)))
            disks |= DiskReader(self._root).read(set(parts))
        there = [name for name in wanted if name in disks]
        self._light = {name: _light(self._root, disks[name]) for name in there}
        self._close = frozenset(closely) & self._light.keys()
        for name in there:
            if name in self._close:
                self._crew.put((_NAMES, name), partial(self._read_closely, name, disks, digest=scope.digests))
        self._crew.put(_USES, self._read_uses)
        if self._asker is not None:
            whole = sorted({disk for name in there if has_smart(disk := disks[name].disk)})
            self._crew.put(_WEAR, partial(self._measure, whole))
        self._known = True

    def _read_host(self) -> None:
        self._host = _read_host(self._root, self._snapshot, mdadm=self._scope.mdadm)

    def _read_uses(self) -> None:
        names = (*self._light, *(array.name for array in self._snapshot.arrays))
        self._named = read_named(self._root, _watched_texts(self._root), names)
        self._opened = open_words(self._root, self._close)

    def _read_on_top(self) -> None:
        self._on_top = {
            "groups": read_groups(self._root),
            "nodes": self._root.names("/dev"),
            "issue_discards": read_issue_discards(self._root),
            "trim_timer": read_trim_timer(self._root),
        }

    def _read_closely(self, name: str, disks: Mapping[str, Disk], *, digest: bool) -> None:
        try:
            self._devices[name] = read_device(self._root, name, disks, digest=digest)
            self._silent.discard(name)
        except MdadmTimeoutError:
            self._silent.add(name)
        if self._measured and self._asker is not None and self._names(self._crew.open) == {name}:
            self._crew.put(_JUDGE, self._judge)  # it knows now which disks had been away

    def _read_again(self, name: str) -> None:
        disks = DiskReader(self._root).read({name})
        if name not in disks:
            self._devices[name] = None
        elif name in self._close:
            self._read_closely(name, disks, digest=True)
        else:
            self._devices[name] = _light(self._root, disks[name])

    def _measure(self, disks: Collection[str]) -> None:
        assert self._asker is not None  # noqa: S101  (who called this knows)
        self._asker.measure(self._root, disks)
        self._crew.put(_JUDGE, self._judge)

    def _judge(self) -> None:
        assert self._asker is not None  # noqa: S101  (as above)
        self._judged = dict(self._asker.judge(self._root, self._survey(told=True)).devices)
        self._measured = True


def _parts(disk: Disk) -> tuple[str, ...]:
    return tuple(use.what for use in disk.uses if use.kind == "partition")


def _light(root: Root, disk: Disk) -> Device:
    """Return a device as udev and sysfs know it; it is not opened."""
    return Device(disk=disk, links=read_udev_entry(root, disk.dev).links)
