"""The knobs of disks: scheduler, queue, read-ahead, timeout, and their defaults in the kernel.

Sources: Documentation/ABI/stable/sysfs-block, block/elevator.c, block/blk-mq.c, block/blk-settings.c,
drivers/ata/libata-{scsi,sata,transport}.c.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from raidtui.host.block import BLOCK, kind_of
from raidtui.host.knobs.setters import Setters
from raidtui.host.knobs.udev_rules import UdevDevice
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.udev import UdevEntry, read_udev_entry
from raidtui.model.attribution import attributed
from raidtui.model.disk import Disk
from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import ChangedValue, KnobScope, Subject, Value, chosen
from raidtui.model.knob_table import MOST_REQUESTS, SCHEDULERS, Knob, knobs_of
from raidtui.model.smart import ErrorRecovery

_FEWEST_REQUESTS = 4
_PAGE_KIB = 4
_SATA_TAGS = 32
_SCHEDULED = 128  # BLKDEV_DEFAULT_RQ
MODULES = {"mq-deadline": "mq-deadline.ko", "kyber": "kyber-iosched.ko", "bfq": "bfq.ko"}
"""By scheduler, its kernel module."""
IDENTITY_WORDS = (75, 76)
"""The words of IDENTIFY DEVICE that are read: queue depth, and NCQ support."""
_ATA = re.compile(r"/ata([0-9]+)/")
_HOST = re.compile(r"/host([0-9]+)/")
_PARENTS = {"sata": ("scsi", "pci"), "scsi": ("scsi",), "usb": ("usb", "scsi"), "nvme": ("nvme", "pci"),
            "virtio": ("virtio", "pci")}  # fmt: skip
_NO_QUEUE = {
    "nvme": "an NVMe disk has no queue_depth: it has its own queues, of nr_requests each"
    " (nvme.io_queue_depth on the kernel command line)",
    "virtio": "a virtio disk has no NCQ: the hypervisor has its queue",
}
_NO_TIMEOUT = {
    "nvme": "an NVMe disk has no timeout of its own: nvme_core.io_timeout applies to all of them",
}
_SERIALS = ("ID_SERIAL", "ID_WWN_WITH_EXTENSION", "ID_WWN")


class DiskKnobs:
    """Reads the knobs of disks.

    Args:
        reader: the host.
        setters: what sets knobs on this host.
        changed: what raidtui has written for now, by path.
        disks: all whole disks, to find those that udev cannot distinguish.
    """

    def __init__(
        self, reader: HostReader, setters: Setters, changed: Mapping[str, ChangedValue], disks: Iterable[str]
    ) -> None:
        self._reader = reader
        self._setters = setters
        self._changed = changed
        self._loadable = _loadable(reader)
        self._entries = {name: read_udev_entry(reader, reader.text(f"{_node(name)}/dev")) for name in disks}
        self._matches = {name: self._possible_matches(name) for name in self._entries}
        self._counts = Counter(match for matches in self._matches.values() for match in matches)

    def read(self, disk: Disk, arrays: tuple[str, ...], erc: Mapping[str, ErrorRecovery | None]) -> Subject:
        """Return a disk with its knobs.

        Args:
            disk: a whole disk.
            arrays: the keys of the arrays that it is a member of.
            erc: by the disk's name, the timeouts (SCT ERC) of the disks that were asked.
        """
        name = disk.name
        kind = kind_of(name, self._reader.link(_node(name)) or "")
        tags = self._number(name, "mq/0/nr_tags")
        assigned = self._setters.settings_of_rules(self._device(name, kind))
        values: dict[str, Value] = {}
        absent: dict[str, str] = {}
        for knob in knobs_of(KnobScope.DISK):
            path = f"{_node(name)}/{knob.file}"
            text = self._reader.text(path)
            if text is None or not text.strip():
                absent[knob.name] = _why_absent(knob.name, kind)
                continue
            value = self._bounds(name, kind, knob, Value(text=chosen(text), path=path), tags)
            settings = self._setters.of(self._aliases(name, knob), assigned, kind)
            values[knob.name] = attributed(value, settings, self._changed.get(path))
        matches = self._matches.get(name, ())
        match = next((each for each in matches if self._counts[each] == 1), None)
        twins = [other for other, own in self._matches.items() if other != name and {*own} & {*matches}]
        return Subject(
            scope=KnobScope.DISK,
            name=name,
            title=name,
            kind=kind,
            arrays=arrays,
            identity=disk.identity,
            model=disk.model or "",
            needs=self._needs(disk),
            match=match,
            no_match="" if match is not None else _no_match(name, twins),
            tags=tags,
            erc=erc.get(name),
            erc_asked=name in erc,
            values=values,
            absent=absent,
        )

    def _bounds(self, name: str, kind: str, knob: Knob, value: Value, tags: int | None) -> Value:
        """Return the range, and the kernel's default as far as it is known."""
        text, path = value.text, value.path
        if knob.name == "scheduler":
            listed = (self._reader.text(path) or "").replace("[", "").replace("]", "").split()
            known = [word for word in SCHEDULERS if word in listed or word in self._loadable]
            choices = (*known, *(word for word in listed if word not in known))
            return Value(text=text, path=path, choices=choices, default=self._default_scheduler(name, listed))
        if knob.name == "queue_depth":
            most, default = self._queue_bounds(name, kind)
            return Value(text=text, path=path, low=knob.low, high=most, default=default)
        if knob.name == "nr_requests":
            scheduler = chosen(self._reader.text(f"{_node(name)}/queue/scheduler") or "")
            return Value(
                text=text,
                path=path,
                low=_FEWEST_REQUESTS,
                high=most_requests(scheduler, tags),
                default=default_requests(scheduler, tags),
            )
        if knob.name == "read_ahead_kb":
            default = default_read_ahead(self._number(name, "queue/optimal_io_size"))
            return Value(text=text, path=path, low=0, multiple=_PAGE_KIB, default=default)
        if knob.name == "discard_max_bytes":
            most = self._number(name, "queue/discard_max_hw_bytes")
            step = self._number(name, "queue/discard_granularity") or 1
            return Value(text=text, path=path, low=0, high=most, multiple=step, default=_text(most))
        if knob.name == "wbt_lat_usec":  # block/blk-wbt.c; the first for SSDs
            default = text if text in {"2000", "75000"} else None
            return Value(text=text, path=path, low=0, default=default)
        default = {"rq_affinity": "1", "timeout": "30"}.get(knob.name)
        return Value(
            text=text, path=path, choices=knob.choices, low=knob.low, high=knob.high, default=default
        )

    def _default_scheduler(self, name: str, listed: list[str]) -> str | None:
        """mq-deadline where there is one hardware queue, else none (elevator_init_mq)."""
        queues = f"{_node(name)}/mq"
        if not self._reader.is_there(f"{queues}/0"):
            return None
        only_one = not self._reader.is_there(f"{queues}/1")
        return "mq-deadline" if only_one and "mq-deadline" in listed else "none"

    def _queue_bounds(self, name: str, kind: str) -> tuple[int | None, str | None]:
        """Return the highest queue depth, which adapter and disk limit, and the default."""
        link = self._reader.link(_node(name)) or ""
        host = _HOST.search(link)
        most = (
            whole_number(self._reader.text(f"/sys/class/scsi_host/host{host[1]}/can_queue")) if host else None
        )
        if kind != "sata":
            return most, None
        most = min(most or _SATA_TAGS, _SATA_TAGS)
        own = ncq_depth(self._reader, link)
        return (most, None) if own is None else (min(own, most), str(min(own, most)))

    def _aliases(self, name: str, knob: Knob) -> tuple[str, ...]:
        node, file = _node(name), knob.file
        found = [f"{node}/{file}"]
        if link := self._reader.link(node):
            found.append(f"/sys/{link.lstrip('./')}/{file}")
        if knob.name == "read_ahead_kb":
            found += [
                f"{node}/bdi/{knob.name}",
                f"/sys/class/bdi/{self._reader.text(f'{node}/dev')}/{knob.name}",
            ]
        return tuple(found)

    def _device(self, name: str, kind: str) -> UdevDevice:
        entry = self._entries.get(name) or UdevEntry()
        return UdevDevice(
            reader=self._reader,
            name=name,
            folder=_node(name),
            properties={"DEVTYPE": "disk", "DEVNAME": f"/dev/{name}", **entry.properties},
            parents=frozenset({"block", *_PARENTS.get(kind, ())}),
        )

    def _needs(self, disk: Disk) -> tuple[Fact, ...]:
        """Return the facts to check right before a write: the name may belong to another disk by then."""
        if disk.identity:
            return (Fact(kind=FactKind.SERIAL, subject=disk.name, value=disk.identity),)
        path = f"{_node(disk.name)}/diskseq"
        sequence = self._reader.text(path)
        return (Fact(kind=FactKind.TEXT, subject=path, value=sequence),) if sequence else ()

    def _possible_matches(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return how a udev rule can identify a disk: by serial number or WWN, as udev has them."""
        known = self._entries[name].properties
        texts = {f"ENV{{{key}}}": known.get(key, "") for key in _SERIALS}
        for file in ("serial", "wwid", "device/wwid"):
            texts[f"ATTR{{{file}}}"] = (self._reader.text(f"{_node(name)}/{file}") or "").strip()
        return tuple((key, text) for key, text in texts.items() if text)

    def _number(self, name: str, file: str) -> int | None:
        return whole_number(self._reader.text(f"{_node(name)}/{file}"))


def ncq_depth(reader: HostReader, link: str) -> int | None:
    """Return how many commands a SATA disk says it can queue (IDENTIFY DEVICE, words 75 and 76)."""
    port = _ATA.search(link)
    text = reader.text(f"/sys/class/ata_device/dev{port[1]}.0/id") if port else None
    words = (text or "").split()
    if len(words) <= IDENTITY_WORDS[-1]:
        return None
    try:
        depth, abilities = (int(words[place], 16) for place in IDENTITY_WORDS)
    except ValueError:
        return None
    return (depth & 0x1F) + 1 if abilities & 0x100 and abilities != 0xFFFF else 1


def most_requests(scheduler: str, tags: int | None) -> int | None:
    """Return the highest nr_requests: without a scheduler the driver's limit, else 2048 (MAX_SCHED_RQ)."""
    return tags if scheduler == "none" else MOST_REQUESTS


def default_requests(scheduler: str, tags: int | None) -> str | None:
    """Return the nr_requests that the kernel sets with a scheduler (blk_mq_init_sched)."""
    if tags is None:
        return None
    return str(tags if scheduler == "none" else 2 * min(tags, _SCHEDULED))


def default_read_ahead(optimal_bytes: int | None) -> str:
    """Return the kernel's default read-ahead, KiB: twice the optimal I/O size, but at least 128."""
    return str(max(128, 2 * (optimal_bytes or 0) // 1024))


def _loadable(reader: HostReader) -> frozenset[str]:
    """Return the schedulers that this kernel has as modules: writing the name loads one."""
    release = reader.kernel or ""
    texts = [
        reader.text(f"/lib/modules/{release}/{name}") or "" for name in ("modules.dep", "modules.builtin")
    ]
    return frozenset(word for word, file in MODULES.items() if any(f"/{file}" in text for text in texts))


def _why_absent(knob: str, kind: str) -> str:
    known = {"queue_depth": _NO_QUEUE, "timeout": _NO_TIMEOUT}.get(knob, {})
    if knob == "wbt_lat_usec":
        return "writeback throttling is not available: the kernel was built without it, or bfq is in use"
    return known.get(kind, f"the kernel shows no {knob} for this disk")


def _no_match(name: str, twins: list[str]) -> str:
    if twins:
        return f"{name} and {', '.join(twins)} have the same serial number: a rule would match all of them"
    return f"{name} has neither a serial number nor a WWN that a udev rule could match"


def _node(name: str) -> str:
    return f"{BLOCK}/{name.replace('/', '!')}"


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
