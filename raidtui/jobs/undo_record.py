"""The one record of what raidtui set until the next reboot: old value, person, time, and undo.

Pane 1, pane 4 and ``raidtui tune undo`` undo from it, and leaving the console offers to restore it.
It is a file below /run, which a reboot empties as it resets the values. Other runs read it, so that a dropped
connection loses nothing. Actions of pane 1 that set no value, such as a check, stay in memory: they end by
themselves, and no other run undoes them.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from raidtui.host.md.array_attributes import RAID_SYSCTL
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.journal import who
from raidtui.jobs.old_steps import FIRST_FORM, is_as_written, with_types
from raidtui.jobs.runner import is_same_subject, undo_of
from raidtui.jobs.state_files import alone, checksum, read_own, write_synced
from raidtui.model.knob import By, ChangedValue, chosen, same_value
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.plan import Plan, Step, Write
from raidtui.model.step_rules import is_tune_undo

SCHEMA = 2
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_MOST = 200
_LIMITS = frozenset({"sync_speed_min", "sync_speed_max", "speed_limit_min", "speed_limit_max"})
_ACTION = "sync_action"
_FROZEN, _SYSTEM = "frozen", "system"


class UndoPlace(StrEnum):
    """Where something was done. Each place undoes its own; see ``UndoRecord.last``."""

    ARRAYS = "arrays"
    """Pane 1: limits, checks, pauses."""
    TUNE = "tune"
    """Pane 4, ``raidtui tune``, and jobs that keep values."""
    PACE = "pace"
    """``raidtui pace``: lent limits. Who lent them gives them back (``raidtui.jobs.lent_limits``)."""


class WrittenValue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value that was written: the file, the old and the new value."""

    path: str
    before: str
    value: str


class UndoEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A plan that was carried out.

    Args:
        id: of the run and the plan.
        at_s: epoch seconds.
        who: the person.
        undo: the plan that undoes it; without steps where nothing can, or where a capture has left it out.
        writes: the values it wrote, those of knobs and limits alone.
        place: where it was done.
        pid: the process that undoes it when it ends; 0 for what stays.
        started_s: when that process was started, seconds after the boot.
    """

    id: str
    at_s: float
    who: str
    undo: Plan
    writes: tuple[WrittenValue, ...] = ()
    place: UndoPlace = UndoPlace.TUNE
    pid: int = 0
    started_s: float = 0.0


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    raidtui_tune: int
    boot: str
    done: tuple[UndoEntry, ...] = ()
    checksum: str = ""

    @property
    def sum(self) -> str:
        """The checksum that it should have: of all the rest."""
        return checksum(msgspec.json.encode(replace(self, checksum="")))


RECORD = "/run/raidtui/tune.json"


def record_path() -> Path:
    """Return the path of a live host's record."""
    return Path(RECORD)


class UndoRecord:
    """What was set since the boot, the oldest first. Threads may share it.

    Args:
        reader: the host.
        path: the file; None keeps it in memory alone (a simulated host's values end with it), where it begins
            with what a capture holds.
    """

    def __init__(self, reader: HostReader, path: Path | None) -> None:
        self._reader = reader
        self._path = path
        self._lock = threading.Lock()
        self.boot = (reader.text(BOOT_ID) or "").strip()
        """The id of this boot."""
        self._here = _done(reader.text(RECORD) or "", self.boot) if path is None else ()
        """Entries that are not in the file."""
        self._before: dict[str, frozenset[str]] = {}
        """By the id of such an entry, those of all that were there before it."""
        self._own: set[str] = set()
        self._originals: dict[str, Step] = {}
        """By path, the write that restores what was there before this run set it for the first time."""
        self.trouble = ""
        """Why the record could not be written, so that other runs cannot undo; "" where it could."""

    def load(self) -> tuple[UndoEntry, ...]:
        """Return all entries. A file of another boot, or one that cannot be read, holds none."""
        found = list(self._in_file())
        for entry in self._here:  # no clock says where: it may have been set
            known = self._before.get(entry.id, frozenset(each.id for each in found))
            found.insert(max((n for n, each in enumerate(found, 1) if each.id in known), default=0), entry)
        return tuple(found)

    def _in_file(self) -> tuple[UndoEntry, ...]:
        if self._path is not None:
            with contextlib.suppress(OSError):
                done = _done(read_own(self._path), self.boot)
                if left := [entry.id for entry in done if not is_tune_undo(entry.undo)]:
                    self.trouble = (
                        f"{self._path}: {', '.join(left)} is not one that raidtui makes, and is left out"
                    )
                return tuple(entry for entry in done if entry.id not in left)
        return ()

    def note(
        self,
        undo: Plan | None,
        writes: Sequence[WrittenValue],
        place: UndoPlace,
        originals: Iterable[Step] = (),
    ) -> None:
        """Note what this run did, right after it.

        Args:
            undo: the plan that undoes it; None where nothing does.
            writes: the values it wrote.
            place: where it was done.
            originals: the writes that restore what lasts until a reboot; those of a path that this run has
                set before are ignored.
        """
        for step in originals:
            self._originals.setdefault(step.path, step)
        if undo is not None or writes:
            self.add(
                UndoEntry(
                    id=f"{os.getpid()}-{time.monotonic_ns()}",
                    at_s=time.time(),
                    who=who(),
                    undo=undo or Plan(title="", subject="", steps=()),
                    writes=tuple(writes),
                    place=place,
                )
            )

    def add(self, entry: UndoEntry) -> None:
        """Add an entry of this run."""
        with self._lock:
            self._own.add(entry.id)
            shared = entry.writes or entry.place is not UndoPlace.ARRAYS
            if not (shared and self._saved(lambda found: (*found, entry)[-_MOST:])):
                self._before[entry.id] = frozenset(each.id for each in self.load())
                self._here = (*self._here, entry)[-_MOST:]

    def drop(self, *idents: str) -> None:
        """Remove entries: they are undone."""

        def left(found: tuple[UndoEntry, ...]) -> tuple[UndoEntry, ...]:
            return tuple(entry for entry in found if entry.id not in idents)

        with self._lock:
            self._saved(left)
            self._here = left(self._here)

    def drop_own(self) -> None:
        """Remove the entries of this run: everything it changed is restored."""
        self.drop(*self._own)

    def is_own(self, entry: UndoEntry) -> bool:
        """Whether this run did it."""
        return entry.id in self._own

    def last(self, place: UndoPlace) -> UndoEntry | None:
        """Return the last change that can be undone: in pane 1 of this run, else of any run."""
        for entry in reversed(self.load()):
            anybodys = place is UndoPlace.TUNE or self.is_own(entry)
            if entry.place is place and entry.undo.steps and anybodys:
                return entry
        return None

    def changed(self) -> Mapping[str, ChangedValue]:
        """Return the values that were set and not undone, by path."""
        return changed_by(self.load(), self._own)

    def left(self) -> Plan | None:
        """Return the plan that restores what this run set and was not restored since, or None.

        Whatever it was set by, each file gets the value that it had before this run set it first. Limits come
        before other values, min and max in an order in which min is never above max.
        """
        steps = [step for step in self._originals.values() if self._is_changed(step)]
        limits = [step for step in steps if _name(step) in {*_LIMITS, _ACTION}]
        others = tuple(step for step in steps if step not in limits)
        if not steps:
            return None
        ordered = (*_limits_ordered(self._reader, limits), *others)
        return Plan(title="restored what this session changed", subject="you", steps=ordered)

    def _is_changed(self, original: Step) -> bool:
        now = self._reader.text(original.path)
        if now is None or not is_same_subject(self._reader, original):
            return False
        if _name(original) == _ACTION:
            return now.partition(" ")[0] == _FROZEN
        if _name(original) in _LIMITS:
            return not same_value(limit_word(now), original.text)
        return not same_value(chosen(now), original.text)

    def _saved(self, change: Callable[[tuple[UndoEntry, ...]], tuple[UndoEntry, ...]]) -> bool:
        """Change the file, while no other process does; return whether it holds the result."""
        if self._path is None:
            return False
        if change(found := self._in_file()) == found:
            return True
        try:
            with alone(self._path.parent / "private"):
                found = self._in_file()
                if (done := change(found)) != found:
                    write_synced(self._path, _encoded(self.boot, done), 0o644)
        except OSError as error:
            self.trouble = f"{self._path}: {error.strerror}"
            return False
        return True


def open_record(reader: HostReader) -> UndoRecord:
    """Return the record of a host: the file of a live one, else one in memory."""
    return UndoRecord(reader, record_path() if reader.live else None)


def limits_before(reader: HostReader, plan: Plan) -> tuple[Step, ...]:
    """Return the writes that restore the limits and the frozen arrays that a plan is about to change.

    A limit that follows the system's is given back to it. A check or a repair needs no restoring: it ends.
    """
    found: dict[str, Step] = {}
    for step in plan.steps:
        name, now = _name(step), reader.text(step.path) if _name(step) in {*_LIMITS, _ACTION} else None
        if now is None or step.path in found or (name == _ACTION and step.text != _FROZEN):
            continue
        text = "idle" if name == _ACTION else limit_word(now)
        identity = step.identity if isinstance(step, Write) else None
        found[step.path] = Write(path=step.path, text=text, why="as it was before", identity=identity)
    return tuple(found.values())


def limits_written(done: Iterable[Step], before: Iterable[Step]) -> tuple[WrittenValue, ...]:
    """Return the limits among the steps that were done.

    Args:
        done: the steps.
        before: of ``limits_before``, for the same plan.
    """
    texts = {step.path: step.text for step in before if _name(step) in _LIMITS}
    last = {step.path: step.text for step in done if step.path in texts}
    return tuple(WrittenValue(path=path, before=texts[path], value=value) for path, value in last.items())


def _name(step: Step) -> str:
    return step.path.rpartition("/")[2]


def limit_word(text: str) -> str:
    """Return a limit as it would be written: the number of ``200000 (local)``, else ``system``."""
    number, _, scope = text.partition(" ")
    return _SYSTEM if _SYSTEM in scope else number


def _limits_ordered(reader: HostReader, steps: list[Step]) -> tuple[Step, ...]:
    """The system's limits first; min before max, but where min would stand above max in between."""
    ordered: list[Step] = []
    for step in sorted(
        steps,
        key=lambda each: (not each.path.startswith(RAID_SYSCTL), each.path[:-3], each.path[-3:] == "max"),
    ):
        low = ordered[-1] if ordered else None
        if (
            low is not None
            and low.path == step.path[:-3] + "min"
            and step.path.endswith("max")
            and _limit_after(reader, low, steps) > _number(reader.text(step.path))
        ):
            ordered.insert(-1, step)
        else:
            ordered.append(step)
    return tuple(ordered)


def _limit_after(reader: HostReader, step: Step, steps: list[Step]) -> int:
    """Return the limit in effect after a step, KiB/s: of ``system`` what the system's will be."""
    if step.text != _SYSTEM:
        return _number(step.text)
    path = f"{RAID_SYSCTL}/speed_limit_{step.path[-3:]}"
    return _number(next((each.text for each in steps if each.path == path), reader.text(path)))


def _number(text: str | None) -> int:
    digits = (text or "").partition(" ")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def keeps_values(plan: Plan) -> bool:
    """Whether a plan writes or removes one of the files in which raidtui keeps values."""
    ours = frozenset(OUR_FILES.values())
    return any(step.path in ours or (step.argv and step.argv[-1] in ours) for step in plan.steps)


def done_by_job(ident: str, at_s: float, who: str, plan: Plan) -> UndoEntry | None:
    """Return the entry for what a job did; None where nothing undoes it."""
    undo = undo_of(plan)
    return (
        None
        if undo is None
        else UndoEntry(id=ident, at_s=at_s, who=who, undo=undo, writes=_writes(plan.steps))
    )


def _writes(steps: Sequence[Step]) -> tuple[WrittenValue, ...]:
    return tuple(
        WrittenValue(path=step.path, before=back.text, value=step.text)
        for step in steps
        if step.text
        for back in step.undo
        if back.path == step.path
    )


def captured_record(reader: HostReader) -> bytes | None:
    """Return the record as a capture holds it: values, without who set them and without undo plans."""
    done = UndoRecord(reader, record_path() if reader.live else None).load()
    if not done:
        return None
    nothing = Plan(title="", subject="", steps=())
    boot = (reader.text(BOOT_ID) or "").strip()
    writes = tuple(replace(each, who="", undo=nothing) for each in done)
    return _encoded(boot, writes)


def _encoded(boot: str, done: tuple[UndoEntry, ...]) -> bytes:
    file = _File(raidtui_tune=SCHEMA, boot=boot, done=done)
    return msgspec.json.encode(replace(file, checksum=file.sum))


def _done(data: bytes | str, boot: str) -> tuple[UndoEntry, ...]:
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        head = msgspec.json.decode(data)
        if isinstance(head, dict) and head.get("raidtui_tune") == FIRST_FORM and is_as_written(head):
            head = {**with_types(head), "raidtui_tune": SCHEMA, "checksum": ""}
        file = msgspec.convert(head, type=_File)
        if file.raidtui_tune == SCHEMA and file.boot == boot and file.checksum in {"", file.sum}:
            return file.done
    return ()


def changed_by(done: Sequence[UndoEntry], own: Collection[str] = ()) -> Mapping[str, ChangedValue]:
    """Return the values that were set and not undone, by path: before the first write, and after the last.

    Args:
        done: the entries, the oldest first.
        own: the ids of what this run did.
    """
    found: dict[str, ChangedValue] = {}
    for each in done:
        by = By.RUN if each.id in own else By.NOW
        for write in each.writes:
            before = found[write.path].before if write.path in found else write.before
            found[write.path] = ChangedValue(path=write.path, before=before, value=write.value, by=by)
    return found
