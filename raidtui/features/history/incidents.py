"""Incidents: entries that belong together, by what they are about and how soon one follows the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from raidtui.features.history.entries import Entry, disk_of, with_unit, words_of
from raidtui.features.history.incident_causes import Hint, hint_of
from raidtui.features.history.patterns import Weight, groups_of, patterns
from raidtui.features.history.wiring import Wiring

GAP_S = 60.0
"""What follows later on the same disk or array is another incident, unless a sync of the array runs."""
_BOOTING_S = 180.0
_RESULT = "check-result"
_RANK = {
    code: place
    for place, code in enumerate(
        (
            "array-lost", "raid0-failed", "raid0-missing", "read-lost", "fs-error", "fs-read-only",
            "member-failed", "too-few", "raid0-layout", "raid0-too-few", "reshape-early",
            "reshape-unsupported", "reshape-in-place", "bitmap-failed", "start-reason", "dirty-degraded",
            "no-personality", "non-fresh", "nvme-gone",
            "disk-offlined", "scsi-offline", "smart-failing", "ata-disabled", "usb-gone", "job-ended",
            "job-started", "change", "bench", "unclean-end", "boot",
            _RESULT, "sync-interrupted", "sync-done", "sync-started",
        )
    )
}  # fmt: skip
"""Of entries that weigh the same, the one that is shown for all of them."""
_USUAL_EARLY = frozenset({"ata-down"})
"""Of a port without a disk, while the host boots."""
_GOES_ON = frozenset({"sync-started", "sync-resumed", "sync-done"})
"""What shows that a sync that was interrupted continued."""
_ADAPTERS = {"usb-gone": 1.0, "usb-reset": 1.0, "usb-changed": 1.0, "hba-reset": 30.0}
"""Lines of what disks are attached to, which do not name the disk, and for how long its lines may follow."""
_OF_ATTACHED = frozenset({
    "disk-leaving", "disk-flush-failed", "scsi-result", "scsi-offline", "scsi-reset", "scsi-abort",
    "io-error", "disk-offlined",
})  # fmt: skip
_BEGINS, _ENDS = "sync-started", frozenset({"sync-done", "sync-interrupted"})


class Incident(Struct, frozen=True, kw_only=True):
    """Entries that belong together, oldest first; there is at least one.

    Args:
        head: the entry that is shown for all: the heaviest.
        weight: its weight.
        title: what happened, in our words.
        arrays: as they were called in that boot.
        disks: as they were called in that boot.
        ports: those whose disk is not known.
        hint: what may have caused it; None where nothing points to a cause.
        serials: of the disks and of the arrays' members, by their names in that boot, where its lines say so.
        members: devices of the arrays, by the arrays' names in that boot.
    """

    entries: tuple[Entry, ...]
    boot: str
    head: Entry
    weight: Weight
    title: str
    arrays: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    hint: Hint | None = None
    serials: Mapping[str, str] = {}
    members: Mapping[str, tuple[str, ...]] = {}

    @property
    def first_s(self) -> float:
        """When it began, epoch seconds."""
        return self.entries[0].at_s

    @property
    def last_s(self) -> float:
        """When it ended."""
        return self.entries[-1].at_s

    @property
    def subject(self) -> str:
        """The array, the disk or the port that it is about; "" for the host."""
        if self.head.array:
            return self.head.array
        return next(iter((*self.arrays, *self.disks, *self.ports)), "")

    def search_text(self) -> str:
        """Return all that can be searched for."""
        hint = self.hint.sentence if self.hint is not None else ""
        names = (*self.arrays, *self.disks, *self.ports, *self.serials.values())
        return "\n".join((self.title, hint, *names, *(entry.text for entry in self.entries)))


class _Open:
    """An incident that is being collected."""

    def __init__(self, boot: str) -> None:
        self.boot = boot
        self.entries: list[Entry] = []
        self.subjects: set[str] = set()
        self.syncing: set[str] = set()
        self.adapter_s = -1.0
        """Until when lines of a disk that is attached to the adapter of this incident follow."""

    @property
    def last_s(self) -> float:
        return self.entries[-1].at_s

    def takes(self, entry: Entry) -> bool:
        """Whether an entry about one of its subjects belongs to it."""
        if entry.at_s - self.entries[-1].at_s <= GAP_S:
            return True
        return bool(self.syncing) and f"array {entry.array}" in self.syncing

    def add(self, entry: Entry, subjects: Iterable[str]) -> None:
        self.entries.append(entry)
        self.subjects.update(subjects)
        if entry.code in _ADAPTERS:
            self.adapter_s = entry.at_s + _ADAPTERS[entry.code]
        if entry.code == _BEGINS:
            self.syncing.add(f"array {entry.array}")
        elif entry.code in _ENDS:
            self.syncing.discard(f"array {entry.array}")

    def swallow(self, other: _Open) -> None:
        self.entries = sorted((*self.entries, *other.entries), key=lambda entry: entry.at_s)
        self.subjects |= other.subjects
        self.syncing |= other.syncing
        self.adapter_s = max(self.adapter_s, other.adapter_s)


def incidents_of(
    entries: Sequence[Entry], *, current_boot: str = "", ports: Mapping[str, str] | None = None
) -> tuple[Incident, ...]:
    """Return the incidents, by the time at which they begin.

    Args:
        entries: oldest first; those of a boot are together.
        current_boot: the id of the boot that the host is in.
        ports: its ports with their disks, as the host says.
    """
    found: list[Incident] = []
    boots = [(boot, list(rows)) for boot, rows in groupby(entries, key=lambda entry: entry.boot)]
    for boot, rows in boots:
        found += _find_in_boot(boot, rows, ports if boot and boot == current_boot else None)
    return tuple(sorted(found, key=lambda each: each.first_s))


def _find_in_boot(boot: str, entries: list[Entry], ports: Mapping[str, str] | None) -> list[Incident]:
    wiring = Wiring(ports)
    done: list[_Open] = []
    by_subject: dict[str, _Open] = {}
    booting: _Open | None = None
    adapter: _Open | None = None
    kernel = ""
    for entry in entries:
        if entry.code == "boot":
            kernel = groups_of(patterns()["boot"], entry.text).get("n", "")
        elif entry.code == "size-changed":
            entry = with_unit(entry, kernel)  # noqa: PLW2901
        wiring.take(entry)
        subjects = wiring.subjects(entry)
        near = _near(entry, subjects, by_subject)
        follows = entry.code in _OF_ATTACHED or entry.code in _ADAPTERS
        if adapter in done and adapter is not None and follows and entry.at_s <= adapter.adapter_s:
            near = list(dict.fromkeys((*near, adapter)))
        if not near and not subjects and entry.code not in _ADAPTERS:
            near = _latest(done, entry)
        if not near and _is_of_boot(entry):
            if booting is None:
                booting = _Open(boot)
                done.append(booting)
            booting.add(entry, ())
            continue
        if not near:
            if entry.weight is Weight.DETAIL or (entry.code in _USUAL_EARLY and _early(entry)):
                continue  # nothing happened
            near = [_Open(boot)]
            done.append(near[0])
        chosen, *others = near
        for other in others:
            chosen.swallow(other)
            done.remove(other)
            by_subject.update(dict.fromkeys(other.subjects, chosen))
        chosen.add(entry, subjects)
        if entry.code in _ADAPTERS or adapter in others:
            adapter = chosen
        for each in subjects:
            by_subject[each] = chosen
    return [_closed(each, wiring) for each in done if any(_counts(entry) for entry in each.entries)]


def _counts(entry: Entry) -> bool:
    """Whether an entry makes an incident: a USB device is no matter before a disk's lines follow."""
    return entry.weight > Weight.DETAIL and not entry.code.startswith("usb-")


def _near(entry: Entry, subjects: tuple[str, ...], by_subject: Mapping[str, _Open]) -> list[_Open]:
    """Return the incidents that an entry belongs to, each once."""
    found: list[_Open] = []
    for subject in subjects:
        each = by_subject.get(subject)
        if each is not None and each not in found and each.takes(entry):
            found.append(each)
    return found


def _is_of_boot(entry: Entry) -> bool:
    if entry.code == "shutdown":
        return False
    return entry.code in {"boot", "unclean-end"} or (_early(entry) and entry.weight <= Weight.NOTE)


def _early(entry: Entry) -> bool:
    return entry.since_boot_s is not None and entry.since_boot_s < _BOOTING_S


def _latest(done: list[_Open], entry: Entry) -> list[_Open]:
    """Return the incident that an entry about nothing in particular belongs to: a gap, a waiting task."""
    if entry.code in {"boot", "unclean-end", "shutdown"} or not done:
        return []
    last = max(done[-4:], key=lambda each: each.last_s)
    return [last] if entry.at_s - last.last_s <= GAP_S / 2 and last.subjects else []


def _closed(each: _Open, wiring: Wiring) -> Incident:
    def names(kind: str) -> tuple[str, ...]:
        found = (subject.partition(" ") for subject in each.subjects)
        return tuple(sorted(word for head, _, word in found if head == kind))

    disks, arrays = names("disk"), names("array")
    own = wiring.within(each.entries)
    members = {array: tuple(sorted(wiring.members.get(array, ()))) for array in arrays}
    advise_on_members = (disk_of(device) for devices in members.values() for device in devices)
    resumed = {entry.array: entry.at_s for entry in each.entries if entry.code in _GOES_ON}

    def rank(entry: Entry) -> tuple[int, int, float]:
        back = entry.code == "sync-interrupted" and resumed.get(entry.array, 0.0) >= entry.at_s
        if back:
            return -Weight.NOTE, len(_RANK), entry.at_s
        at_s = -entry.at_s if entry.code == _RESULT else entry.at_s  # the last one has the sum over pauses
        return -entry.weight, _RANK.get(entry.code, len(_RANK) + 1), at_s

    head = min(each.entries, key=rank)
    return Incident(
        entries=tuple(each.entries),
        boot=each.boot,
        head=head,
        weight=Weight(-rank(head)[0]),
        title=words_of(head),
        arrays=arrays,
        disks=disks,
        ports=tuple(port for port in names("port") if own.disk(port) not in disks),
        hint=hint_of(each.entries, own),
        serials={
            disk: wiring.serials[disk] for disk in (*disks, *advise_on_members) if disk in wiring.serials
        },
        members=members,
    )
