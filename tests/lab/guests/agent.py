"""The guest's side of the line: takes jobs, starts them, reports how they ended, cleans up after a test.

Runs inside the guest as its own program on the bare standard library (`python -I -S agent.py LINE`; a serial
line or a virtio port), imports nothing of the project. One JSON object a line in both directions; each
request has an `id`, each answer repeats it. One thread: the line and a pidfd per job are polled together, so
that a job's end is reported at once.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHARE = Path("/run/lab")
JOBS = Path("/run/jobs")
MARK = "LAB_JOB"  # in the environment of every process that a job started
BLKFLSBUF = 0x1261
SPEED_LIMITS = {"min": "1000", "max": "200000"}


@dataclass(slots=True, kw_only=True)
class Job:
    """A program that runs for the host."""

    ident: int
    process: subprocess.Popen[bytes]
    pidfd: int
    started: float
    deadline: float | None
    timed_out: bool = False


class Agent:
    """Serves one line until the host hangs up."""

    def __init__(self, line: str) -> None:
        self.line = os.open(line, os.O_RDWR | os.O_NOCTTY)
        if os.isatty(self.line):  # a virtio port is none
            tty.setraw(self.line)
        self.jobs: dict[int, Job] = {}
        self.fresh: dict[str, list[Any]] = {}  # the consoles' settings as the kernel made them
        self.settings = {file: file.read_bytes() for file in list_settings()}

    def serve(self) -> None:
        """Take requests and watch jobs; returns when the line is closed."""
        self.report(0, event="ready")
        poll = select.poll()
        poll.register(self.line, select.POLLIN)
        rest = b""
        while True:
            for job in self.jobs.values():
                poll.register(job.pidfd, select.POLLIN)
            ready = poll.poll(self.patience_ms())
            for job in [job for job in self.jobs.values() if any(fd == job.pidfd for fd, _ in ready)]:
                poll.unregister(job.pidfd)
                self.ended(job)
            self.enforce_deadlines()
            if any(fd == self.line for fd, _ in ready):
                data = os.read(self.line, 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for text in lines:
                    self.answer(json.loads(text))

    def report(self, ident: int, **fields: object) -> None:
        """Write one answer."""
        data = memoryview(json.dumps({"id": ident, **fields}).encode() + b"\n")
        while data:
            data = data[os.write(self.line, data) :]

    def answer(self, request: dict[str, Any]) -> None:
        """Do what one request asks; what goes wrong is reported, never fatal."""
        ident = request["id"]
        try:
            match request["op"]:
                case "file":
                    file = SHARE / request["name"]
                    text = file.read_bytes()
                    file.unlink()
                    self.answer(json.loads(text))
                case "start":
                    self.start(ident, request)
                case "kill":
                    self.kill(request["job"], request["signal"])
                    self.report(ident, event="done")
                case "size":
                    set_size(request["tty"], request["rows"], request["cols"])
                    self.report(ident, event="done")
                case "sync":
                    with contextlib.suppress(FileNotFoundError), Path(request["path"]).open("rb") as file:
                        os.fsync(file)
                    self.report(ident, event="done")
                case "release":
                    self.report(ident, event="done", left=self.release())
                case "refresh":
                    self.report(ident, event="done", left=self.refresh(request["disks"]))
        except (OSError, subprocess.SubprocessError, KeyError) as error:
            self.report(ident, event="error", text=f"{type(error).__name__}: {error}")

    def start(self, ident: int, request: dict[str, Any]) -> None:
        """Start a program in a session of its own, on a console or with its outputs in files."""
        argv: list[str] = request["argv"]
        environment = {**os.environ, **request["env"], MARK: str(ident)}
        console: str | None = request["tty"]
        started = time.monotonic()
        if console is not None:
            with open_console(console) as file:
                termios.tcsetattr(
                    file, termios.TCSANOW, self.fresh.setdefault(console, termios.tcgetattr(file))
                )
                set_size(console, request["rows"], request["cols"])
                process = subprocess.Popen(
                    ["/usr/bin/setsid", "--ctty", *argv],
                    stdin=file,
                    stdout=file,
                    stderr=file,
                    env=environment,
                )
        else:
            with (JOBS / f"{ident}.out").open("wb") as out, (JOBS / f"{ident}.err").open("wb") as err:
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=environment,
                    start_new_session=True,
                )
        timeout: float | None = request["timeout"]
        self.jobs[ident] = Job(
            ident=ident,
            process=process,
            pidfd=os.pidfd_open(process.pid),
            started=started,
            deadline=None if timeout is None else started + timeout,
        )
        self.report(ident, event="started", pid=process.pid)

    def ended(self, job: Job) -> None:
        """Report how a job ended, and its output."""
        status = job.process.wait()
        seconds = time.monotonic() - job.started
        os.close(job.pidfd)
        del self.jobs[job.ident]
        texts = {}
        for name in ("out", "err"):
            file = JOBS / f"{job.ident}.{name}"
            texts[name] = base64.b64encode(file.read_bytes() if file.exists() else b"").decode()
            file.unlink(missing_ok=True)
        self.report(
            job.ident, event="ended", status=status, seconds=seconds, timed_out=job.timed_out, **texts
        )

    def patience_ms(self) -> float | None:
        """Return the time until the next deadline of a job."""
        deadlines = [job.deadline for job in self.jobs.values() if job.deadline is not None]
        return max(0.0, min(deadlines) - time.monotonic()) * 1000 + 1 if deadlines else None

    def enforce_deadlines(self) -> None:
        """Kill the jobs whose time limit has passed."""
        for job in self.jobs.values():
            if job.deadline is not None and time.monotonic() >= job.deadline:
                job.timed_out = True
                job.deadline = None
                self.kill(job.ident, signal.SIGKILL)

    def kill(self, ident: int, number: int) -> None:
        """Signal a job's program and everything that it started.

        A program that is just becoming another one has no environment for a moment: its mark is not found.
        """
        job = self.jobs.get(ident)
        for pid in {*marked(str(ident)), *([job.process.pid] if job is not None else [])}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def release(self) -> list[str]:
        """End every job's processes, take down mounts and arrays; return arrays that still run."""
        for ident in list(self.jobs):
            self.jobs[ident].deadline = None
        give_up = time.monotonic() + 5
        while (pids := marked()) and time.monotonic() < give_up:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for job in list(self.jobs.values()):
                if select.select([job.pidfd], [], [], 0.005)[0]:
                    self.ended(job)
        for name, value in SPEED_LIMITS.items():
            Path(f"/proc/sys/dev/raid/speed_limit_{name}").write_text(value)
        unmount_all()
        while (arrays := list_arrays()) and time.monotonic() < give_up:
            for array in arrays:
                stop_array(array)
        return arrays

    def refresh(self, disks: list[str]) -> list[str]:
        """Forget what was cached of disks that the host wiped; returns the arrays that are left.

        Closing a disk that was open for writing makes udev look at it again.
        """
        for disk in disks:
            with opened(f"/dev/{disk}", os.O_RDWR) as number:
                fcntl.ioctl(number, BLKFLSBUF)
        Path("/run/mdadm/map").unlink(missing_ok=True)
        for file in list_settings() - self.settings.keys():
            file.unlink()
        for file, data in self.settings.items():
            if not file.exists() or file.read_bytes() != data:
                file.write_bytes(data)
        run("udevadm", "settle", "--timeout=10")
        return list_arrays()


@contextlib.contextmanager
def opened(path: str, flags: int) -> Iterator[int]:
    """An open file number, closed at the end."""
    number = os.open(path, flags)
    try:
        yield number
    finally:
        os.close(number)


def open_console(path: str) -> contextlib.AbstractContextManager[int]:
    """Open a console without making it the controlling terminal."""
    return opened(path, os.O_RDWR | os.O_NOCTTY)


def list_settings() -> set[Path]:
    """The files under /etc/mdadm."""
    return {file for file in Path("/etc/mdadm").rglob("*") if file.is_file()}


def set_size(console: str, rows: int, cols: int) -> None:
    """Set a console's size; its foreground program gets SIGWINCH."""
    with open_console(console) as file:
        fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def run(*argv: str) -> None:
    """Run a tool; the caller checks the result."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=15)


def marked(ident: str | None = None) -> list[int]:
    """The living processes that jobs (or one job) started, whatever session they moved to."""
    wanted = f"{MARK}={'' if ident is None else ident}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            entries = (folder / "environ").read_bytes().split(b"\0")
            if any(entry.startswith(wanted) if ident is None else entry == wanted for entry in entries):
                found.append(int(folder.name))
    return found


def list_arrays() -> list[str]:
    """The kernel names of all arrays, active or not."""
    return sorted(folder.name for folder in Path("/sys/block").iterdir() if (folder / "md").is_dir())


def stop_array(name: str) -> None:
    """As `mdadm --stop` does, by sysfs; refused while someone holds the array open."""
    folder = Path("/sys/block") / name / "md"
    for file, value in (("sync_action", "idle"), ("array_state", "clear")):
        with contextlib.suppress(OSError):
            (folder / file).write_text(value)
    run("udevadm", "settle", "--timeout=2")


def unmount_all() -> None:
    """Undo every mount, mapping, swap and loop device of a test."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for source, place, *_ in reversed(mounts):
        if source.startswith("/dev/"):
            run("umount", "-l", place)
    if Path("/proc/swaps").read_text().count("\n") > 1:
        run("swapoff", "-a")
    if any(Path("/sys/block").glob("dm-*")):
        run("dmsetup", "remove_all", "--force")
    if any(Path("/sys/block").glob("loop*/loop/backing_file")):
        run("losetup", "-D")
    if any(Path("/sys/block").glob("ram*")):
        run("modprobe", "-r", "brd")


if __name__ == "__main__":
    Agent(sys.argv[1]).serve()
