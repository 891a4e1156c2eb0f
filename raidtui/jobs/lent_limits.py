"""Speed limits that are lent: changed again and again while a sync runs, and given back when it ends.

The one record of what raidtui set until the next reboot (``raidtui.jobs.undo_record``) has what was there
before, synced before the first change, and the process that gives it back. Whoever comes after a process that
was killed gives back in its place. A file beside it has what was written last, so that a limit that someone
else has set meanwhile is left alone. A reboot resets the limits and drops both.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from raidtui.host.md.array_names import read_uuid
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.journal import who
from raidtui.jobs.lock import process_of, started_s
from raidtui.jobs.runner import do_step, is_same_subject
from raidtui.jobs.state_files import own_folder, write_synced
from raidtui.jobs.undo_record import RECORD, UndoEntry, UndoPlace, UndoRecord, limit_word
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Step, Write

_MIN, _MAX = "sync_speed_min", "sync_speed_max"
_HIGHEST = 1 << 31
LEAST_QUEUE = 4
"""The shortest queue that the kernel takes (BLKDEV_MIN_RQ)."""


class LimitsTakenError(Exception):
    """Someone else has set a limit meanwhile, or the array is gone; the message says which."""


class _Last(msgspec.Struct, frozen=True, kw_only=True):
    """What was written last, and what may have been written since, by path."""

    boot: str
    values: dict[str, tuple[str, ...]]


class LentLimits:
    """The limits of one array, as long as they are lent: its speed, and the queues of its members' disks.

    Args:
        reader: the live host.
        record: of the host.
        name: the array's kernel name.
        title: what the array is called.
        disks: the whole disks, and the serial number or WWN of each; "" where it has none.

    Raises:
        LimitsTakenError: another process has them, they cannot be read, or what was there before cannot be
            kept.
    """

    def __init__(
        self, reader: HostReader, record: UndoRecord, name: str, title: str, disks: Mapping[str, str]
    ) -> None:
        self._reader, self._record = reader, record
        self._base = f"/sys/class/block/{name}/md"
        self.uuid = read_uuid(reader, self._base) or ""
        self.id = lease_id(self.uuid or name)
        if (left := restore_lent(reader, record, self.id)) and left[0].held:
            raise LimitsTakenError(f"{left[0].text}")
        self._speeds = tuple(f"{self._base}/{word}" for word in (_MIN, _MAX))
        self._queues = _queues(reader, record, disks)
        """Who each queue belongs to, by path."""
        texts = {path: reader.text(path) or "" for path in (*self._speeds, *self._queues)}
        if not all(_digits(texts[path]) for path in self._speeds):
            raise LimitsTakenError(f"the kernel shows no limits for {name}")
        self._before = {path: limit_word(text) for path, text in texts.items()}
        self.full_kib_s = _number(texts[self._speeds[1]])
        self._last: dict[str, tuple[str, ...]] = {path: (_digits(text),) for path, text in texts.items()}
        self._keep()
        record.add(self._entry(title))
        if record.trouble:
            raise LimitsTakenError(f"{record.trouble}, so nothing would give the limits back")

    @property
    def queue(self) -> int | None:
        """The shortest queue that a disk had before; None where none can be lent."""
        return min((_number(self._before[path]) for path in self._queues), default=None)

    def set(self, min_kib_s: int, max_kib_s: int, queue: int | None) -> None:
        """Set the limits of the speed, and the queues.

        Raises:
            LimitsTakenError: someone else has set one, or the array or a disk is gone; theirs stays.
        """
        low, high = self._speeds
        wanted = {low: str(min_kib_s), high: str(max_kib_s)}
        if queue is not None:
            wanted |= {path: str(min(queue, _number(self._before[path]))) for path in self._queues}
        now = self._now()
        changed = [path for path in wanted if path in now and now[path] != wanted[path]]
        if not changed:
            return
        self._last = {path: (now[path], wanted.get(path, now[path])) for path in now}
        self._keep()
        first = high if max_kib_s > _number(now[high]) else low  # min is never above max in between
        for path in sorted(changed, key=lambda each: each != first):
            if reason := do_step(self._reader, self._step(path, wanted[path]), lambda _: None):
                raise LimitsTakenError(reason)

    def _now(self) -> dict[str, str]:
        if read_uuid(self._reader, self._base) != (self.uuid or None):
            raise LimitsTakenError("the array was stopped")
        now = {}
        for path in (*self._speeds, *self._queues):
            text = self._reader.text(path)
            if text is None and path in self._queues:
                continue  # a disk was pulled, and the recovery that follows is paced, too
            now[path] = _digits(text)
            if now[path] not in self._last[path]:
                what = path.removeprefix("/sys/class/block/")
                raise LimitsTakenError(f"{what} was changed meanwhile, to {now[path] or 'nothing'}")
        return now

    def _step(self, path: str, text: str) -> Step:
        """Return a write, bound to the array's UUID or to the disk's serial number."""
        identity = (f"{self._base}/uuid", self.uuid) if self.uuid and path in self._speeds else None
        needs = (self._queues[path],) if path in self._queues else ()
        return Write(
            path=path, text=text, why="as it was before", identity=identity, needs=tuple(filter(None, needs))
        )

    def _entry(self, title: str) -> UndoEntry:
        # max before min: min is never above max in between.
        paths = (*self._queues, *reversed(self._speeds))
        steps = tuple(self._step(path, self._before[path]) for path in paths)
        return UndoEntry(
            id=self.id,
            at_s=time.time(),
            who=who(),
            undo=Plan(title="the limits as before", subject=title, steps=steps),
            place=UndoPlace.PACE,
            pid=os.getpid(),
            started_s=started_s() or 0.0,
        )

    def give_back(self) -> str:
        """Give the limits back; return what was done, a sentence."""
        done = restore_lent(self._reader, self._record, self.id, own=True)
        return done[0].text if done else "the limits have already been given back"

    def _keep(self) -> None:
        last = _Last(boot=self._record.boot, values=self._last)
        try:
            path = last_path(self.id)
            own_folder(path.parent)
            write_synced(path, msgspec.json.encode(last))
        except OSError as error:
            raise LimitsTakenError(f"what is written cannot be kept: {error.strerror}") from error


class GivenBack(msgspec.Struct, frozen=True, kw_only=True):
    """What came of limits that were lent.

    Args:
        text: a sentence.
        held: whether they are still lent: by a process that lives, or because the kernel refuses them.
    """

    text: str
    held: bool = False


def lease_id(subject: str) -> str:
    """Return the id of an array's entry in the record, by its UUID, or its name where it has none."""
    return f"pace {subject}"


def last_path(ident: str) -> Path:
    """Return the file that has what was written last."""
    return Path(RECORD).parent / "pace" / f"{ident.removeprefix('pace ').replace(':', '')}.last"


def restore_lent(
    reader: HostReader, record: UndoRecord, ident: str | None = None, *, own: bool = False
) -> tuple[GivenBack, ...]:
    """Give back limits whose process has ended.

    Args:
        reader: the live host.
        record: of the host.
        ident: of one entry; None for all.
        own: whether this process gives back what it has lent itself.
    """
    found = []
    for entry in record.load():
        if entry.place is not UndoPlace.PACE or ident not in {None, entry.id}:
            continue
        if process_of(entry.pid, entry.started_s, record.boot) is not None and not (
            own and entry.pid == os.getpid()
        ):
            text = f"{entry.undo.subject}: process {entry.pid} has its limits and is at work"
            found.append(GivenBack(text=text, held=True))
            continue
        restored = _restored(reader, record, entry)
        found.append(GivenBack(text=f"{entry.undo.subject}: {restored.text}", held=restored.held))
        if restored.held:
            continue
        record.drop(entry.id)
        with contextlib.suppress(OSError):
            last_path(entry.id).unlink()
    return tuple(found)


def _restored(reader: HostReader, record: UndoRecord, entry: UndoEntry) -> GivenBack:
    """Restore what still is as it was written last; return what was done, its text a clause."""
    last = _last_of(record, entry)
    left, failed = [], []
    for step in entry.undo.steps:
        if not is_same_subject(reader, step):
            continue  # the array was stopped, or the disk is gone, and its limits with it
        if _digits(reader.text(step.path)) not in last.get(step.path, ()):
            left.append(step.path.removeprefix("/sys/class/block/"))
        elif reason := do_step(reader, step, lambda _: None):
            failed.append(reason)
    if failed:
        return GivenBack(text=f"the limits could not be given back: {failed[0]}", held=True)
    kept = f"; {' and '.join(left)} stay as they were set meanwhile" if left else ""
    return GivenBack(text=f"the limits are as before{kept}")


def _last_of(record: UndoRecord, entry: UndoEntry) -> Mapping[str, tuple[str, ...]]:
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        last = msgspec.json.decode(last_path(entry.id).read_bytes(), type=_Last)
        if last.boot == record.boot:
            return last.values
    return {}


def _queues(reader: HostReader, record: UndoRecord, disks: Mapping[str, str]) -> dict[str, Fact | None]:
    """Return the queues that can be lent, by path, each with what says whose it is; none that is lent."""
    leases = (entry for entry in record.load() if entry.place is UndoPlace.PACE)
    lent = {step.path for entry in leases for step in entry.undo.steps}
    found: dict[str, Fact | None] = {}
    for disk, serial in disks.items():
        path = f"/sys/class/block/{disk}/queue/nr_requests"
        fact = Fact(kind=FactKind.SERIAL, subject=disk, value=serial) if serial else None
        if path not in lent and _number(reader.text(path)) > LEAST_QUEUE and _is_queue(reader, disk):
            found[path] = fact
    return found


def _is_queue(reader: HostReader, disk: str) -> bool:
    """Whether requests queue at a device (blk-mq): those of a map or a RAM disk go through at once."""
    return bool(reader.names(f"/sys/class/block/{disk}/mq"))


def _digits(text: str | None) -> str:
    """Return the number of ``200000 (local)``, or "" where there is none."""
    word = (text or "").partition(" ")[0]
    return word if word.isascii() and word.isdigit() else ""


def _number(text: str | None) -> int:
    digits = _digits(text)
    return min(int(digits), _HIGHEST) if digits else 0
