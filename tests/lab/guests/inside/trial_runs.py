"""Runs in the guest: trials whose worker is killed, and what is left after ``raidtui rescue clean``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raidtui.app.cli import run
from raidtui.features.rescue.mdadm_words import FOLDER, Assembly, Recreation
from raidtui.features.rescue.search.results import RescueGeometry
from raidtui.features.rescue.trial import kernel_waits, trial_checks, trial_opening
from raidtui.features.rescue.trial.kernel_waits import read_place
from raidtui.features.rescue.trial.trial_plan import plan_trial
from raidtui.features.rescue.trial.trial_record import (
    TrialLooks,
    TrialMethod,
    TrialOutcome,
    TrialRequest,
    read_outcome,
    read_record,
)
from raidtui.features.rescue.trial.trial_worker import TrialWorker
from raidtui.features.rescue.trial.trials import clean, make_trial_job, new_ident, read_trial_host
from raidtui.host.readers.opening import open_root
from raidtui.host.reading import read_survey
from raidtui.jobs import undoing
from raidtui.jobs.lock import JobError
from raidtui.jobs.patient_tool import PatientEnd, run_patiently
from raidtui.jobs.plan_file import load_plan
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, jobs_folder
from raidtui.model.plan import Plan, Refusal
from raidtui.monitor.sampler import Sampler
from tests.lab.guests.inside.cases import digest
from tests.lab.guests.inside.runs import (
    FILLER,
    PLAN,
    Fault,
    Row,
    before_entry,
    job_of,
    killed_at_entry,
    last_reason,
    sh,
    start_workers_by,
    until,
    work,
)

LEFT = (
    "dmsetup ls | grep raidtui; losetup --all | grep raidtui; grep ^md /proc/mdstat;"
    " ls -d /run/udev/rules.d/*raidtui* /run/raidtui-rescue* /var/tmp/raidtui-rescue* 2>/dev/null;"
    " grep raidtui-rescue /proc/mounts; true"
)
_TOOLS = "(mdadm|dmsetup|losetup|blockdev|udevadm|truncate|mkdir|rmdir|rm|e2fsck|modprobe)"


class _Standing(TrialWorker):
    """A worker that reads the stripe which a reshape stands within."""

    def _halt(self) -> str:
        return ""

    def _outcome(self, plan: Plan, state: JobState, reason: str, typed: str) -> TrialOutcome:
        place = read_place(self._reader, self._trial.names.array)
        assert place is not None
        assert place.waiting is not None
        with Path(self._trial.target).open("rb") as file:
            file.seek(place.waiting[0] * 512)
            file.read(4096)
        return super()._outcome(plan, state, reason, typed)


class _Stuck(_Standing):
    """One that cannot let it go on."""

    def _free(self) -> bool:
        return False


def killed_trials(names: list[str], fault: Fault, step: int = 1) -> list[Row]:
    """Kill the worker of a trial on overlays at every place, and clean.

    Returns:
        a row each: (place, exit status, what clean says is left, what is left, the members are as before).
    """
    before = _state(names)
    rows: list[Row] = []
    for number in range(1, 400, step):
        job = _trial(names)
        status = _work(job, fault, number)
        until(lambda: sh(f"pgrep -x '{_TOOLS}' || true") == "", "the end of the tool that went on")
        left = clean(open_root("/"), lambda _: None)
        rows.append((number, status, list(left), sh(LEFT), _state(names) == before))
        if status != -signal.SIGKILL:
            sys.stderr.write((job.folder / "journal.jsonl").read_text())  # for a test that fails
            return rows
    return rows


def killed_openings(names: list[str], key: str) -> list[Row]:
    """Kill the worker of a trial as it runs a tool that checks, or opens what is encrypted; rows as above."""
    before = _state(names)
    rows: list[Row] = []
    for number in range(1, 20):
        job = _trial(names, looks=TrialLooks(files=True, key_file=key))
        status = _work(job, _killed_in_patience, number)
        left = clean(open_root("/"), lambda _: None)
        rows.append((number, status, list(left), sh(LEFT), _state(names) == before))
        if status != -signal.SIGKILL:
            return [*rows, _outcome(job)]
    return rows


def _killed_in_patience(number: int) -> None:
    """SIGKILL before a tool that may take long, while it runs, or after it: three places each."""
    real, count = run_patiently, 0

    def dying(argv: tuple[str, ...], output: Path, cancelled: Callable[[], bool], **more: Any) -> PatientEnd:
        nonlocal count
        count += 1
        call, place = divmod(number - 1, 3)
        if count - 1 != call:
            return real(argv, output, cancelled, **more)
        if place == 1:
            threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        if place:
            real(argv, output, cancelled, **more)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    for module in (trial_opening, trial_checks):
        vars(module)["run_patiently"] = dying


def killed_real(names: list[str], pace: int) -> list[Row]:
    """Kill the worker of the saved plan at places, and roll back; the last one is carried out first.

    Returns:
        a row each: (place, exit status, state, what is left, the members are as before).
    """
    return disturbed_real(names, killed_at_entry, pace)


def disturbed_real(names: list[str], fault: Fault, pace: int) -> list[Row]:
    """Disturb the worker of the saved plan at places, and roll back; rows as killed_real has them."""
    before = _state(names)
    rows: list[Row] = []
    for number in range(1, 400, pace):
        sh(f"rm -rf {jobs_folder()}/2* {FOLDER}")  # each finds the same room
        job = job_of(load_plan(PLAN.read_bytes()))
        status = work(job, lambda number=number: fault(number))  # type: ignore[misc]
        until(lambda: sh(f"pgrep -x '{_TOOLS}' || true") == "", "the end of the tool that went on")
        hit = status == -signal.SIGKILL or FILLER.exists()
        FILLER.unlink(missing_ok=True)
        with contextlib.suppress(JobError):
            job.refuse_back()
            work(job, back=True)
        left = [*clean(open_root("/"), lambda _: None), sh(LEFT)]
        rows.append((number, status, job.state, "".join(left), _state(names) == before))
        if not hit:
            return rows
    return rows


def vanished_real(names: list[str], goner: str, entry: int) -> Row:
    """Take a disk away within the saved plan, and roll back.

    Returns:
        (exit status, why, state after the rollback, why, what is left, the others are as before).
    """
    others = [name for name in names if name != goner]
    before = _state(others)
    job = job_of(load_plan(PLAN.read_bytes()))
    undoing._BACK_S = 1.0  # nobody has it open: what cannot be undone stays so

    def gone(_: Job) -> None:
        Path(f"/sys/block/{goner}/device/delete").write_text("1")

    status = work(job, lambda: before_entry(entry, gone))
    why = last_reason(job)
    with contextlib.suppress(JobError):
        job.refuse_back()
        work(job, back=True)
    left = clean(open_root("/"), lambda _: None)
    return (status, why, job.state, last_reason(job), [*left, sh(LEFT)], _state(others) == before)


def impatient(words: list[str], patience_s: float) -> int:
    """Run the command line, whose workers try to undo for so long; return its exit status."""
    start_workers_by(
        "import sys\nfrom raidtui.app.cli import run\nfrom raidtui.jobs import undoing\n"
        f"undoing._BACK_S = {patience_s}\nraise SystemExit(run(sys.argv[3:]))\n"
    )
    return run(words)


def full_stores(names: list[str]) -> Row:
    """Try with stores that hold less than what is written: (exit status, check, void, left, as before)."""
    before = _state(names)
    geometry = RescueGeometry(level=1, order=tuple(names), data_offset_sectors=2048)
    again = Recreation(
        geometry=geometry, uuid="01234567:89abcdef:01234567:89abcdef", name="data", homehost="lab"
    )
    job = _trial(names, again, store_bytes=8 << 10)
    status = _work(job, lambda _: None, 0)
    return (status, *_outcome(job), sh(LEFT), _state(names) == before)


def vanished(names: list[str], goner: str, steps: int) -> Row:
    """Take a disk away before a step's end: (exit status, check, void, state, left, the others as before)."""
    others = [name for name in names if name != goner]
    before = _state(others)
    job = _trial(names)

    def gone(number: int) -> None:
        before_entry(number, lambda _: Path(f"/sys/block/{goner}/device/delete").write_text("1"))

    status = _work(job, gone, steps)
    return (status, *_outcome(job), job.state, sh(LEFT), _state(others) == before)


def taken(names: list[str]) -> Row:
    """Assemble an overlay right before the trial does: (check, void, state, left, the members as before)."""
    before = _state(names)
    job = _trial(names)
    trial = read_record(job)

    def beside() -> None:
        real = Job.note

        def note(self: Any, **entry: object) -> None:
            real(self, **entry)
            if entry["event"] == "begin" and entry["step"] == trial.start:
                sh(f"mdadm --incremental /dev/mapper/{trial.names.map(names[0])}")

        Job.note = note  # type: ignore[method-assign]

    _work(job, lambda _: beside(), 0)
    return (*_outcome(job), job.state, sh(LEFT), _state(names) == before)


def standing(names: list[str], *, freed: bool) -> Row:
    """Try an array whose reshape stands within a stripe that is read, and which nobody has moved on before.

    Args:
        names: the members.
        freed: whether the worker can let the reshape go on; else only ``clean`` does.

    Returns:
        check, void, state, what the worker has said of it, what is left after ``clean``, whether the members
        are as before.
    """
    before = _state(names)
    job = _trial(names, store_bytes=64 << 20, force=False)
    pid = os.fork()
    if pid == 0:
        kernel_waits._IDLE_S, undoing._BACK_S = 2.0, 2.0
        try:
            (_Standing if freed else _Stuck)(open_root("/"), job).work()
        finally:
            os._exit(0)
    until(lambda: job.state in {JobState.DONE, JobState.STUCK, JobState.FAILED}, "the end of the trial")
    state = job.state
    said = [str(entry["text"]) for entry in job.entries() if entry["event"] == "output"]
    left = clean(open_root("/"), lambda _: None)
    os.waitpid(pid, 0)
    moved = [words for words in said if words.startswith("the reshape")]
    return (*_outcome(job), state, moved, [*left, sh(LEFT)], _state(names) == before)


def _outcome(job: Job) -> tuple[str, str]:
    found = read_outcome(job)
    return (str(found.proof.check), found.void) if found is not None else ("", "")


def _trial(
    names: list[str],
    made: Recreation | None = None,
    store_bytes: int = 16 << 20,
    looks: TrialLooks | None = None,
    *,
    force: bool = True,
) -> Job:
    root = open_root("/")
    survey = read_survey(root, Sampler(root).sample(), tuple(names))
    blocks = [device.superblock for device in survey.devices.values()]
    uuid = next(str(block.uuid) for block in blocks if block is not None)
    request = TrialRequest(
        ident=new_ident(),
        method=TrialMethod.OVERLAYS,
        made=made or Assembly(devices=tuple(names), uuid=uuid, force=force, run=force),
        label="a mirror",
        store_bytes=store_bytes,
    )
    planned = plan_trial(survey, read_trial_host(root), request)
    if isinstance(planned, Refusal):
        raise RuntimeError(planned.sentence)  # noqa: TRY004  (it was refused)
    return make_trial_job(root, planned, looks or TrialLooks(files=True))


def _work(job: Job, fault: Fault, number: int) -> int:
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            fault(number)
            status = 0 if TrialWorker(open_root("/"), job).work() == "done" else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _state(names: list[str]) -> list[tuple[str, str]]:
    """The digest of each member, and whether it is read-only."""
    return [(digest(f"/dev/{name}"), Path(f"/sys/block/{name}/ro").read_text()) for name in names]
