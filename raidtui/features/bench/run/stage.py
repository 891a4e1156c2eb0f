"""Prepares the host for each run: creates arrays, sets knobs, and puts everything back."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.bench.overwrite import plan_scratch, scratch_words, survey_of, wait_for_sync
from raidtui.features.bench.place import Place, find_device
from raidtui.features.bench.run.changes import Changes
from raidtui.features.bench.run.fio_process import fio_argv, fio_trouble, run_fio
from raidtui.features.bench.schedule import Run, Schedule, Scratch
from raidtui.features.bench.sweep_knobs import find_knob, plan_value
from raidtui.features.bench.workload import Workload, workload_options
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.blackbox import save_black_box
from raidtui.jobs.runner import do_step, first_trouble
from raidtui.jobs.sandbox import Sandbox, free_uid
from raidtui.jobs.scratch_folder import give_scratch, make_scratch, remove_scratch
from raidtui.jobs.store import Job
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal, RunTool
from raidtui.view.units import binary_size

_LAYOUT_BLOCK, _PRECONDITION_BLOCK = 1 << 20, 128 << 10
_TRIM_S = 1800.0
_PAUSE_S = 0.1
_MOST_TRIED = 8
"""With more values than that, only the first and the last one are tried."""
_SETTLE = RunTool(
    argv=("udevadm", "settle", "--timeout=10"),
    why="udev processes new devices",
    timeout_s=15.0,
    may_fail=True,
)


class StageError(Exception):
    """The host cannot be prepared; the message says why."""


class Stage:
    """Prepares the host for the runs of a benchmark.

    Args:
        reader: the host.
        job: the benchmark's job.
        schedule: its schedule.
        stopped: returns whether a stop was requested.
    """

    def __init__(self, reader: HostReader, job: Job, schedule: Schedule, stopped: Callable[[], bool]) -> None:
        self._reader = reader
        self._job = job
        self._schedule = schedule
        self._stopped = stopped
        self._changes = Changes(reader, job.folder)
        self._holder = Holder()
        self._place = schedule.place
        self._laid_out = False
        self.folder = _folder_of(schedule, job)
        self._apart = not os.geteuid() and "uid" not in schedule.conditions.without
        self._uid = free_uid(job.id) if self._apart else os.geteuid()

    def sandbox(self, *, writes: bool, file_bytes: int, calls: bool = False) -> Sandbox:
        """Return what a fio may do that runs now.

        Args:
            writes: whether it may write to the device.
            file_bytes: how large its files are.
            calls: whether its system calls are filtered: a job file's are.
        """
        files = bool(self._place.directory)
        return Sandbox(
            folder=str(self.folder) if files else "",
            device=self._path,
            writes=writes,
            uid=self._uid,
            file_bytes=file_bytes + _LAYOUT_BLOCK if files else 0,
            calls=calls,
            without=self._schedule.conditions.without,
        )

    def open(self) -> None:
        """Undo what an earlier worker left, check that the devices are the same, create the folder.

        Raises:
            StageError: something does not hold, or the folder cannot be made.
            ChangeError: the changes of an earlier worker cannot be undone.
        """
        self.take_back_rest()
        needs = (
            *self._schedule.place.needs,
            *(self._schedule.scratch.needs if self._schedule.scratch else ()),
        )
        begun = any(entry.get("event") == "run" for entry in self._job.entries())
        trouble = first_trouble(self._reader, needs) or self._save_black_box() if needs and not begun else ""
        if trouble:
            raise StageError(trouble)
        if not begun:
            self._try_knobs()
        if self._schedule.place.writes:
            self._refuse_other(self._schedule.place.needs, self._schedule.place.device)
            self._hold(self._schedule.place.device)
        if self._schedule.place.directory:
            self._make_folder()

    def _try_knobs(self) -> None:
        """Check before the first run that the kernel accepts the values of each knob."""
        for axis in self._schedule.axes:
            plans = axis.plans if len(axis.plans) <= _MOST_TRIED else (axis.plans[0], axis.plans[-1])
            if not any(plan.steps for plan in plans):
                continue
            self._job.note(event="doing", title=f"checking that {axis.name} can be set and put back")
            if trouble := self._changes.try_out(plans):
                raise StageError(f"{axis.name} cannot be swept: {trouble}; nothing was measured")

    def _hold(self, name: str) -> None:
        if trouble := self._holder.take(name):
            raise StageError(trouble)

    def _make_folder(self) -> None:
        made = str(self.folder) in self._made_folders()
        if self.folder.is_symlink():
            raise StageError(f"{self.folder} is a symbolic link, not the folder that was created")
        try:
            self._job.note(event="folder", path=str(self.folder))
            make_scratch(self.folder, again=made)
        except OSError as error:
            raise StageError(f"{self.folder} cannot be made: {error.strerror}") from error
        try:
            if self._apart:
                give_scratch(self.folder, self._uid)
        except OSError as error:
            why = f"{self.folder} cannot be given to a user of its own, as fio is: {error.strerror}"
            raise StageError(f"{why}; choose another file system, or --fio-without=uid") from error

    def _made_folders(self) -> set[str]:
        return {str(entry.get("path")) for entry in self._job.entries() if entry.get("event") == "folder"}

    def _save_black_box(self) -> str:
        """Save what is on the devices now; later arrays find only our own data there."""
        place, scratch = self._schedule.place, self._schedule.scratch
        devices = scratch.devices if scratch is not None else (place.device,)
        return save_black_box(self._reader, _no_change(devices), self._job.folder / "blackbox")

    def take_back_rest(self, *, settle: bool = False) -> tuple[str, ...]:
        """Undo what an earlier worker of this job left; return what remains for good.

        Raises:
            ChangeError: something cannot be, and ``settle`` is not set.
        """
        rest = self._changes.take_back_rest(settle=settle)
        for title in rest.back:
            self._job.note(event="put back", title=title)
        return rest.left

    def close(self) -> None:
        """Put everything back, and remove the folder with its files.

        Raises:
            ChangeError: a change cannot be undone.
        """
        self._holder.let_go()
        try:
            self._changes.take_back()
        finally:
            self.remove_folder()

    def leave(self) -> None:
        """Undo what an earlier worker left, and remove the folder.

        Raises:
            ChangeError: a change cannot be undone.
        """
        self.take_back_rest()
        self.remove_folder()

    def remove_folder(self) -> str:
        """Remove the folder if this job created it; return why it still exists, or ""."""
        ours = str(self.folder) in self._made_folders() and not self.folder.is_symlink()
        if not self._schedule.place.directory or not ours or remove_scratch(self.folder):
            return ""
        why = f"{self.folder} cannot be removed: remove it yourself"  # it has become read-only, say
        self._job.note(event="output", text=why)
        return why

    def set_for(self, run: Run) -> Place:
        """Prepare the host for a run; return where it runs.

        Raises:
            StageError: it cannot be.
            ChangeError: a change failed, and was undone.
        """
        scratch, knobs = self._schedule.scratch_at(run.point), self._schedule.knobs_at(run.point)
        if self._schedule.place.writes:
            self._refuse_other(self._schedule.place.needs, self._schedule.place.device)
        # A new visit gets a new array, too: what the last one did to the devices does not affect it.
        turn = run.visit if run.visit >= 0 else 0 if self._schedule.grouped else run.repeat
        wanted = [f"scratch {turn} {scratch_words(scratch)}"] if scratch is not None else []
        wanted += [f"{name} {value}" for name, value, _ in knobs]
        kept = _common(self._changes.keys, wanted)
        self._changes.take_back(down_to=kept)
        if scratch is not None and kept == 0:
            self._build(wanted[0], scratch)
            kept = 1
        first = 1 if scratch is not None else 0
        for key, (name, value, plan) in list(zip(wanted[first:], knobs, strict=True))[kept - first :]:
            self._turn(key, plan or self._plan_now(name, value), of_ours=plan is None)
        self._prepare(run)
        return self._place

    def _turn(self, key: str, plan: Plan, *, of_ours: bool) -> None:
        """Set a knob. One of a scratch array disappears with the array and is not restored."""
        if plan.steps:
            self._job.note(event="change", title=plan.title)
        if not (of_ours and self._place.arrays):
            self._changes.make(key, plan)
            return
        for step in plan.steps:
            if trouble := do_step(self._reader, step, lambda _: None):
                raise StageError(f"{plan.title}: {trouble}")
        self._changes.make(key, _no_change((self._place.device,)))

    def _plan_now(self, name: str, value: str) -> Plan:
        """Return the plan of a knob of an array that exists now."""
        knob = find_knob(name, self._reader, self._place)
        plan = knob if isinstance(knob, Refusal) else plan_value(knob, value)
        if isinstance(plan, Refusal):
            raise StageError(plan.sentence)
        return plan

    def _build(self, key: str, scratch: Scratch) -> None:
        self._laid_out = False
        self._holder.let_go()
        self._settle()
        if not scratch.level:  # a device by itself
            self._refuse_other(scratch.needs, scratch.devices[0])
            self._hold(scratch.devices[0])
            self._changes.make(key, _no_change(scratch.devices))
            self._place = self._device(scratch.devices[0])
            return
        made = plan_scratch(scratch, survey_of(self._reader, scratch.devices))
        if isinstance(made, Refusal):
            raise StageError(made.sentence)
        name, plan = made
        self._job.note(event="change", title=plan.title)
        self._changes.make(key, plan)
        self._settle()
        if trouble := wait_for_sync(self._reader, name, self._stopped):
            raise StageError(trouble)
        self._place = self._device(name)

    def _refuse_other(self, needs: tuple[Fact, ...], name: str) -> None:
        """Check that the device is the same and free; data written since is our own.

        While it is held, nothing else can use it.
        """
        ours = {
            FactKind.UNTOUCHED,
            FactKind.CONTENTS,
            *({FactKind.FREE} if self._holder.name == name else ()),
        }
        facts = tuple(fact for fact in needs if fact.subject == name and fact.kind not in ours)
        if trouble := first_trouble(self._reader, facts):
            raise StageError(trouble)

    def _device(self, name: str) -> Place:
        found = find_device(self._reader, name)
        if isinstance(found, Refusal):
            raise StageError(found.sentence)
        return replace(found, writes=True)

    def _settle(self) -> None:
        do_step(self._reader, _SETTLE, lambda _: None)

    def _prepare(self, run: Run) -> None:
        """Trim, write the data, wait: in this order, since trimmed blocks read as zeros."""
        work, conditions = self._schedule.work_at(run.point), self._schedule.conditions
        lays_out = self._schedule.lays_out and not self._laid_out and not self._stopped()
        if conditions.trim and (self._schedule.place.directory or lays_out or not self._schedule.lays_out):
            self._trim()
        if lays_out and work is not None and (self._place.device or conditions.precondition):
            self._lay_out(work, conditions.precondition)
        self._laid_out = True
        if conditions.cool_s:
            self._job.note(event="doing", title=f"waiting {conditions.cool_s} s")
        until_s = time.monotonic() + conditions.cool_s
        while time.monotonic() < until_s and not self._stopped():
            time.sleep(_PAUSE_S)

    def _trim(self) -> None:
        argv = ("fstrim", "--verbose", self._schedule.place.mount)
        if self._place.device:
            if not self._place.writes:
                return
            argv = ("blkdiscard", "--verbose", f"/dev/{self._place.device}")
        step = RunTool(
            argv=argv,
            why="free blocks are reported to the SSDs",
            timeout_s=_TRIM_S,
            counts=self._place.members,
            may_fail=True,
        )
        self._job.note(event="doing", title=step.command)
        held = self._holder.name
        self._holder.let_go()  # blkdiscard wants it for itself
        do_step(self._reader, step, lambda text: self._job.note(event="output", text=text))
        if held:
            self._hold(held)

    def _lay_out(self, work: Workload, times: int) -> None:
        """Write the data that is measured, so that reads find it."""
        size = self._schedule.region_bytes(work)
        how = f"{times} times" if times > 1 else "once"
        self._job.note(event="doing", title=f"writing {binary_size(size)} {how} before measuring")
        writing = replace(
            work,
            rw="write",
            block_bytes=min(_PRECONDITION_BLOCK if times else _LAYOUT_BLOCK, size),
            depth=1,
            engine="psync",
            runtime_s=0,
            ramp_s=0,
            distribution="",
            jobs=1 if self._place.device else work.jobs,
        )
        options = [each for each in workload_options(writing, device=self._path) if each != "--overwrite=1"]
        argv = fio_argv([*options, f"--loops={max(1, times)}", "--end_fsync=1"], read_only=False)
        sandbox = self.sandbox(writes=True, file_bytes=work.size_bytes)
        end = run_fio(argv, sandbox, lambda _: None, self._stopped)
        errors = [job.error for job in end.dump.jobs] if end.dump else []
        why = fio_trouble(end.status, end.said, errors, where=self._place.words, stopped=end.stopped)
        if why and not end.stopped:
            raise StageError(f"the data to be measured cannot be written: {why}")

    @property
    def _path(self) -> str:
        return f"/dev/{self._place.device}" if self._place.device else ""


def _folder_of(schedule: Schedule, job: Job) -> Path:
    """Return the folder of fio's files, one for each job; for devices it has none."""
    return Path(schedule.place.directory) / f"raidtui-{job.id}" if schedule.place.directory else job.folder


def _no_change(devices: tuple[str, ...]) -> Plan:
    return Plan(title="nothing is changed", subject=", ".join(devices), steps=(), devices=devices)


def _common(have: tuple[str, ...], wanted: list[str]) -> int:
    same = 0
    while same < min(len(have), len(wanted)) and have[same] == wanted[same]:
        same += 1
    return same


class Holder:
    """Holds one device at a time, as mount, md, LVM and mkfs do (O_EXCL, open(2)).

    Attributes:
        name: the kernel's name of the device that is held; "" for none.
    """

    def __init__(self) -> None:
        self.name = ""
        self._number = -1

    def take(self, name: str) -> str:
        """Hold a device instead of the one held before; return why that fails, or ""."""
        if name == self.name:
            return ""
        self.let_go()
        try:
            self._number = os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.EBUSY:
                return f"{name} is in use now; nothing more is written to it"
            return f"{name} cannot be opened exclusively: {error.strerror}"
        self.name = name
        return ""

    def let_go(self) -> None:
        """Release the device that is held."""
        if self.name:
            os.close(self._number)
        self.name = ""
