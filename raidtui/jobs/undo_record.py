"""What raidtui changed for now, and how it is undone: in /run, which a reboot empties like the values.

Another run may undo it: a line that drops takes no way back along.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from raidtui.host.roots.root import Root
from raidtui.jobs.runner import undo_of
from raidtui.model.knob import By, ChangedValue
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.plan import Plan, Step

SCHEMA = 1
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_MOST = 200


class WrittenValue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value that was written: the file, what it was before, what it was set to."""

    path: str
    before: str
    value: str


class UndoEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan that was carried out.

    Args:
        id: of the run and the plan.
        at_s: epoch seconds.
        who: the person.
        undo: the plan that puts it back.
    """

    id: str
    at_s: float
    who: str
    undo: Plan
    writes: tuple[WrittenValue, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    raidtui_tune: int
    boot: str
    done: tuple[UndoEntry, ...] = ()


RECORD = "/run/raidtui/tune.json"


def record_path() -> Path:
    """Return where the record is."""
    return Path(RECORD)


class UndoRecord:
    """The plans that were carried out since the boot, the oldest first.

    Args:
        root: the host.
        path: the file; None keeps it in memory alone (a simulated host's values end with it), where it begins
            with what a capture holds.
    """

    def __init__(self, root: Root, path: Path | None) -> None:
        self._path = path
        self._boot = (root.text(BOOT_ID) or "").strip()
        self._here = _done(root.text(RECORD) or "", self._boot) if path is None else ()
        self.trouble = ""
        """Why the record could not be written, if so: what was done is done, but no other run can undo it."""

    def load(self) -> tuple[UndoEntry, ...]:
        """Return what was done; nothing where the record is of another boot, or cannot be read."""
        if self._path is None:
            return self._here
        with contextlib.suppress(OSError):
            if self._path.stat().st_uid in {0, os.geteuid()}:
                return _done(self._path.read_bytes(), self._boot)
        return ()

    def add(self, done: UndoEntry) -> None:
        """Note what was done."""
        self._save((*self.load(), done)[-_MOST:])

    def drop(self, ident: str) -> None:
        """Forget what was undone."""
        self._save(tuple(each for each in self.load() if each.id != ident))

    def _save(self, done: tuple[UndoEntry, ...]) -> None:
        self._here = done
        if self._path is None:
            return
        data = msgspec.json.encode(_File(raidtui_tune=SCHEMA, boot=self._boot, done=done))
        new = self._path.with_suffix(f".{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            new.write_bytes(data)
            new.chmod(0o644)
            new.replace(self._path)
        except OSError as error:
            self.trouble = f"{self._path}: {error.strerror}"


def keeps_values(plan: Plan) -> bool:
    """Whether a plan writes, or takes away, one of the files in which raidtui keeps values."""
    ours = frozenset(OUR_FILES.values())
    return any(step.path in ours or (step.argv and step.argv[-1] in ours) for step in plan.steps)


def done_by_job(ident: str, at_s: float, who: str, plan: Plan) -> UndoEntry | None:
    """Return what a job did, as ``raidtui tune undo`` wants it; None where nothing undoes it."""
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


def captured_record(root: Root) -> bytes | None:
    """Return the record as a capture holds it: what was set to what, not by whom, and no way back."""
    done = UndoRecord(root, record_path() if root.live else None).load()
    if not done:
        return None
    nothing = Plan(title="", subject="", steps=())
    boot = (root.text(BOOT_ID) or "").strip()
    writes = tuple(replace(each, who="", undo=nothing) for each in done)
    return msgspec.json.encode(_File(raidtui_tune=SCHEMA, boot=boot, done=writes))


def _done(data: bytes | str, boot: str) -> tuple[UndoEntry, ...]:
    with contextlib.suppress(msgspec.DecodeError):
        file = msgspec.json.decode(data, type=_File)
        if file.raidtui_tune == SCHEMA and file.boot == boot:
            return file.done
    return ()


def changed_by(done: Sequence[UndoEntry], own: Collection[str] = ()) -> Mapping[str, ChangedValue]:
    """Return what stands changed, by path: as it was before the first write, and after the last.

    Args:
        done: what was done, the oldest first.
        own: the ids of what this run did.
    """
    found: dict[str, ChangedValue] = {}
    for each in done:
        by = By.RUN if each.id in own else By.NOW
        for write in each.writes:
            before = found[write.path].before if write.path in found else write.before
            found[write.path] = ChangedValue(path=write.path, before=before, value=write.value, by=by)
    return found
