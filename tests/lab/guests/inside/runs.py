"""Runs in the guest: one interpreter makes plans, and children of it carry them out, are killed, or fail.

Each worker is a process of its own, as in earnest; what is saved is the start of an interpreter for each.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import raidtui.host.readers.folder_reader
import raidtui.jobs.host_writer
import raidtui.jobs.worker
from raidtui.app.cli import run
from raidtui.host.readers.opening import open_root
from raidtui.host.tools import ToolOutput, run_tool, tool_path
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import PlanFile, load_plan, save_plan
from raidtui.jobs.store import Job, all_jobs, jobs_folder
from raidtui.jobs.worker import work_on

FAULT = Path("/tmp/fault")
PLAN = Path("/tmp/plan.json")
FILLER = Path("/var/lib/raidtui/filler")
_PATIENCE_S = 60.0

Fault = Callable[[int], None]
"""Arms itself in a worker: the Nth time something happens, something else does."""
Row = tuple[object, ...]
"""What came of one job."""


class Case(Protocol):
    """A change of storage that can be repeated."""

    def prepare(self) -> None:
        """Prepare the host for it."""

    def plan(self) -> PlanFile:
        """Return the plan; equal states give equal plans."""

    def settle(self) -> None:
        """Wait until what the last plan began has ended; the plan was carried out."""

    def wrong(self, *, done: bool) -> str:
        """Return what is wrong after the plan was carried out, or was not; or ""."""


def sh(script: str) -> str:
    """Run a script; return what it wrote.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run(("/bin/bash", "-c", script), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def until(predicate: Callable[[], object], what: str, patience_s: float = _PATIENCE_S) -> None:
    """Wait for a state.

    Raises:
        TimeoutError: it did not come.
    """
    end_s = time.monotonic() + patience_s
    while not predicate():
        if time.monotonic() > end_s:
            raise TimeoutError(f"{what} did not come: {sh('cat /proc/mdstat')}")
        time.sleep(0.02)


def planned(*words: str) -> PlanFile:
    """Make a plan as the command line does.

    Raises:
        RuntimeError: it was refused.
    """
    return load_plan(printed("plan", *words, "--json"))


def printed(*words: str) -> bytes:
    """Run raidtui's command line in this process; return what it prints.

    Raises:
        RuntimeError: it ended with another status than 0.
    """
    data, why = io.BytesIO(), io.StringIO()
    said = io.TextIOWrapper(data)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(why):
        status = run(list(words))
        said.flush()
    if status != 0:
        raise RuntimeError(f"{shlex.join(words)}: {why.getvalue()}{data.getvalue().decode()}")
    return data.getvalue()


def job_of(file: PlanFile) -> Job:
    """Make a job of a plan."""
    return Job.create(file.plan, host=file.host)


def work(job: Job, fault: Callable[[], None] | None = None, *, back: bool = False) -> int:
    """Have a child work on a job; return its exit status, negative where a signal ended it.

    One that follows what continues in the kernel is left to that: 0.
    """
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            raidtui.jobs.worker._END_S = 0.0  # what continues here takes long
            if fault is not None:
                fault()
            status = work_on(open_root("/"), job.folder, back=back)
        finally:
            os._exit(status)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if not back and job.state == "goes on":
            return 0
        time.sleep(0.02)


def settle(case: Case, job: Job) -> None:
    """Wait for the end of what a job has begun; one whose follower was killed is resumed."""
    case.settle()
    until(lambda: job.state != "goes on", "the job's end")
    if job.state == "interrupted":
        work(job)


def killed_at_entry(number: int) -> None:
    """SIGKILL right before the Nth journal entry: between any two actions of a worker."""
    before_entry(number, lambda _: os.kill(os.getpid(), signal.SIGKILL))


def full_at_entry(number: int) -> None:
    """The disk of the journal runs full right before its Nth entry."""
    before_entry(number, fill)


def fuller_at_entry(number: int) -> None:
    """The same, and the reserved room is used up, too."""

    def happening(job: Job) -> None:
        job.give_room_up()
        fill(job)

    before_entry(number, happening)


def before_entry(number: int, happening: Callable[[Job], object]) -> None:
    """Do something right before the Nth entry of the journal."""
    real, count = Job.note, 0

    def note(self: Any, **entry: object) -> None:
        nonlocal count
        count += 1
        if count == number:
            happening(self)
        real(self, **entry)

    Job.note = note  # type: ignore[method-assign]


def at_each_event(happens: Callable[[], None]) -> None:
    """Call something before and after each sync of a file and each tool, here and in children."""
    real_sync, real_tool = os.fsync, run_tool

    def fsync(descriptor: int) -> None:
        happens()
        real_sync(descriptor)
        happens()

    def tool(argv: tuple[str, ...], timeout_s: float, stdin: str = "") -> ToolOutput:
        happens()
        output = real_tool(argv, timeout_s, stdin)
        happens()
        return output

    vars(os)["fsync"] = fsync
    for module in (raidtui.jobs.host_writer, raidtui.host.readers.folder_reader):
        vars(module)["run_tool"] = tool


def killed_in_tool(number: int) -> None:
    """SIGKILL while the Nth tool that changes something has just begun; it continues."""
    real, count = run_tool, 0

    def dying(argv: tuple[str, ...], timeout_s: float, stdin: str = "") -> ToolOutput:
        nonlocal count
        count += 1
        if count < number:
            return real(argv, timeout_s, stdin)
        away = subprocess.DEVNULL
        path = str(tool_path(argv[0]))
        subprocess.Popen((path, *argv[1:]), stdin=away, stdout=away, stderr=away, start_new_session=True)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    names = vars(raidtui.jobs.host_writer)
    assert names["run_tool"] is real
    names["run_tool"] = dying


def fill(job: Job) -> None:
    """Fill the file system of the jobs, and the last page of the journal."""
    with (job.folder / "journal.jsonl").open("ab", buffering=0) as journal:
        journal.write(b"\n" * (-journal.tell() % 4096))
    with contextlib.suppress(OSError), FILLER.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


BROKEN = """\
#!/bin/sh
# What udev runs has no LC_ALL, and is left alone.
changes() { case "$1" in --detail | --examine | --version) return 1 ;; *) return 0 ;; esac; }
counts() { [ "$LC_ALL" = C ] && [ -e left ] && { [ -e reads ] || changes "$@"; }; }
here=$(pwd)
cd %(folder)s
if counts "$@"; then
    left=$(($(cat left) - 1))
    if [ $left = 0 ]; then
        rm left
        echo "$*" >hit
        [ -e after ] && (cd "$here" && %(folder)s/mdadm "$@") >/dev/null 2>&1
        echo "mdadm: out of order" >&2
        exit 1
    fi
    echo $left >left
fi
cd "$here"
exec %(folder)s/mdadm "$@"
"""
"""mdadm, which fails at the call whose number is in a file: before it did anything, or after it."""


def break_mdadm() -> None:
    """Put a script in mdadm's place that fails where the case asks for it."""
    FAULT.mkdir()
    (FAULT / "script").write_text(BROKEN % {"folder": FAULT})
    path = Path(str(tool_path("mdadm"))).resolve()
    sh(f"cp {path} {FAULT}/mdadm; chmod 755 {FAULT}/script; mount --bind {FAULT}/script {path}")


def small_var() -> None:
    """Put the jobs on a file system of their own, which can be filled."""
    sh("mkdir -p /var/lib/raidtui && mount -t tmpfs -o size=16m tmpfs /var/lib/raidtui")


def last_reason(job: Job) -> str:
    """Return why a job ended."""
    return str(job.entries()[-1].get("reason", ""))


def everywhere(case: Case, fault: Fault, order: str, step: int = 1) -> list[Row]:
    """Kill a worker at every place, or each `step`th; resume each job, or roll it back.

    Returns:
        a row each: (place, state, exit status, state, what is wrong).
    """
    rows: list[Row] = []
    for number in range(1, 100, step):
        case.prepare()
        job = job_of(case.plan())
        status = work(job, lambda number=number: fault(number))  # type: ignore[misc]
        until(lambda: sh("pgrep mdadm || true") == "", "the end of the tool that went on")
        if status != -signal.SIGKILL:  # all places were tried
            settle(case, job)
            return [*rows, ("at the end", job.state, status, case.wrong(done=True))]
        rows.append((number, job.state, *_again(case, job, back=order == "rollback")))
    return rows


def _again(case: Case, job: Job, *, back: bool) -> Row:
    """Bring a job that was stopped to an end; return (exit status, state, what is wrong)."""
    if back:
        try:
            job.refuse_back()
        except JobError:
            return 0, "nothing done", case.wrong(done=False)
    status, ended = work(job, back=back), job.state
    if ended not in ({"rolled back"} if back else {"done", "goes on"}):
        return status, ended, last_reason(job)
    if not back:
        settle(case, job)
    return status, job.state, case.wrong(done=not back)


def failing(case: Case, *, after: bool, back: bool = False, reads: bool = False) -> list[Row]:
    """Let each call of mdadm fail once: (call, state, said so, exit status, state, what is wrong).

    Args:
        case: what is tried.
        after: whether it fails when it has done its work.
        back: whether a job that has failed is rolled back, else it is resumed.
        reads: whether calls fail, too, that only read.
    """
    rows: list[Row] = []
    for number in range(1, 100):
        case.prepare()
        job = job_of(case.plan())
        for name, wanted in (("hit", False), ("after", after), ("reads", reads)):
            (FAULT / name).unlink(missing_ok=True)
            if wanted:
                (FAULT / name).touch()
        (FAULT / "left").write_text(str(number))
        work(job)
        if not (FAULT / "hit").exists():
            (FAULT / "left").unlink()
            settle(case, job)
            return [*rows, ("at the end", job.state, case.wrong(done=True))]
        call = shlex.split((FAULT / "hit").read_text())[0]
        state, reason = job.state, last_reason(job)
        said = "mdadm failed (1): mdadm: out of order" in reason
        if state == "failed":
            rows.append((call, state, said, *_again(case, job, back=back)))
        else:
            if state in {"done", "goes on"}:
                settle(case, job)
                state = job.state
            rows.append((call, state, said, reason if state == "stuck" else case.wrong(done=state == "done")))
    return rows


def full_everywhere(case: Case, fault: Fault, numbers: Iterable[int] = range(1, 100)) -> list[Row]:
    """Let the jobs' disk run full before these entries; then there is room again: (N, state, why, ...)."""
    rows: list[Row] = []
    for number in numbers:
        case.prepare()
        sh(f"rm -rf {jobs_folder()}/2*")
        job = job_of(case.plan())
        work(job, lambda number=number: fault(number))  # type: ignore[misc]
        hit, state, reason = FILLER.exists(), job.state, last_reason(job)
        FILLER.unlink(missing_ok=True)
        if state in {"made", "failed", "interrupted"}:
            rows.append((number, state, reason, *_again(case, job, back=number % 2 == 0)))
            continue
        if state in {"done", "goes on"}:
            settle(case, job)
            state, reason = job.state, last_reason(job)
        rows.append((number, state, reason, case.wrong(done=state == "done")))
        if not hit:
            return rows
    return rows


def outlived(case: Case, signal_number: int, numbers: Iterable[int] = range(1, 100)) -> list[Row]:
    """Have the worker end ``raidtui apply`` as it begins its Nth step: (N, exit, state, what is wrong)."""
    rows: list[Row] = []
    for number in numbers:
        case.prepare()
        count = len(all_jobs())
        file = case.plan()
        if number > sum(not step.waits for step in file.plan.steps):
            return rows
        PLAN.write_bytes(save_plan(file.plan, host=file.host, made_s=file.made_s))
        status = _front_end(number, signal_number, file.plan.confirm)
        until(lambda count=count: len(all_jobs()) > count, "the job")  # type: ignore[misc]
        job = all_jobs()[-1]
        until(lambda job=job: job.state not in {"made", "running"}, "the job's end")  # type: ignore[misc]
        settle(case, job)
        rows.append((number, status, job.state, case.wrong(done=True)))
    return rows


def _front_end(number: int, signal_number: int, confirm: str) -> int:
    pid = os.fork()
    if pid == 0:
        end_me(number, signal_number)
        quiet = os.open("/tmp/front-end", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            run(["apply", str(PLAN), *([f"--confirm={confirm}"] if confirm else [])])
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def end_me(number: int, signal_number: int) -> None:
    """Have the workers that this process starts end it as they begin their Nth step."""
    os.environ["LAB_END"] = f"{os.getpid()} {number} {signal_number}"
    start_workers_by("from tests.lab.guests.inside.runs import ending_worker\nending_worker()\n")


def start_workers_by(program: str) -> None:
    """Have the workers that this process starts run another program; its words are ``-m raidtui ...``."""
    starter = Path("/tmp/starter")
    starter.write_text(f"#!{sys.executable}\n{program}")
    starter.chmod(0o755)
    sys.executable = str(starter)


def ending_worker() -> None:
    """Run as such a worker: ``-m raidtui jobs work FOLDER``."""
    pid, wanted, signal_number = map(int, os.environ["LAB_END"].split())
    real, begun = Job.note, 0

    def note(self: Any, **entry: object) -> None:
        nonlocal begun
        begun += entry.get("event") == "begin"
        if begun == wanted and entry.get("event") == "begin":
            os.kill(pid, signal_number)
            until(lambda: not Path(f"/proc/{pid}").exists(), "its end")
        real(self, **entry)

    Job.note = note  # type: ignore[method-assign]
    raise SystemExit(run(sys.argv[3:]))
