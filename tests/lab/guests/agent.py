"""The guest's side of the line: takes jobs, starts them, reports how they ended, cleans up after a test.

Runs inside the guest as its own program on the bare standard library (`python -I -S agent.py LINE`; a serial
line or a virtio port), imports nothing of the project. One JSON object a line in both directions; each
request has an `id`, each answer repeats it. One thread: the line and a file per job, which is readable when
the job has ended, are polled together, so that its end is reported at once.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
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
BLKROSET = 0x125D
DISKS = ("ubd", "vd", "sd", "nvme")
STATE = Path("/var/lib/raidtui")
CHANGES = "/run/raidtui"  # what raidtui may undo until the next boot
KEPT = ("/etc/udev/rules.d", "/etc/sysctl.d", "/etc/tmpfiles.d")  # what it keeps over boots
SPEED_LIMITS = {"min": "1000", "max": "200000"}
ZYGOTE = "tests.lab.guests.inside.zygote"
ROOM = "LAB_ROOM"  # see there
WORDS_ROOM, MARK_ROOM = "." * 1000, "." * 20


@dataclass(slots=True, kw_only=True)
class Job:
    """A program that runs for the host.

    `end` is readable when it has ended: a pidfd, or where it is a fork of the zygote (`process` is that), a
    socket on which two messages come, its process id and its status.
    """

    ident: int
    end: int
    process: subprocess.Popen[bytes]
    forked: bool
    pid: int | None
    started: float
    deadline: float | None
    out: Path
    timed_out: bool = False
    hung: str = ""


class Agent:
    """Serves one line until the host hangs up."""

    def __init__(self, line: str) -> None:
        self.line = os.open(line, os.O_RDWR | os.O_NOCTTY)
        if os.isatty(self.line):  # a virtio port is none
            tty.setraw(self.line)
        self.jobs: dict[int, Job] = {}
        self.zygote: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self.fresh: dict[str, list[Any]] = {}  # the consoles' settings as the kernel made them
        self.settings = {file: file.read_bytes() for file in list_settings()}

    def serve(self) -> None:
        """Take requests and watch jobs; returns when the line is closed."""
        self.report(0, event="ready")
        rest = b""
        while True:
            poll = select.poll()
            poll.register(self.line, select.POLLIN)
            for job in self.jobs.values():
                poll.register(job.end, select.POLLIN)
            ready = {fd for fd, _ in poll.poll(self.patience_ms())}
            for job in [job for job in self.jobs.values() if job.end in ready]:
                self.heard(job)
            self.enforce_deadlines()
            if self.line in ready:
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
                case "fork":
                    self.fork(ident, request)
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
                case "flush":
                    os.sync()
                    self.forget(request["disks"])
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
            end=os.pidfd_open(process.pid),
            process=process,
            forked=False,
            pid=process.pid,
            started=started,
            deadline=None if timeout is None else started + timeout,
            out=JOBS / f"{ident}.out",
        )
        self.report(ident, event="started", pid=process.pid)

    def fork(self, ident: int, request: dict[str, Any]) -> None:
        """Have the zygote run a command of raidtui: as `start` does it without a console."""
        started, out = time.monotonic(), Path(request["out"] or JOBS / f"{ident}.out")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, out.open("wb") as written, (JOBS / f"{ident}.err").open("wb") as errors:
            files = [written.fileno(), errors.fileno(), theirs.fileno()]
            message = json.dumps({"ident": ident, "argv": request["argv"]}).encode()
            zygote, line = self.living_zygote(request["python"])
            socket.send_fds(line, [message], files)
        self.jobs[ident] = Job(
            ident=ident,
            end=ours.detach(),
            process=zygote,
            forked=True,
            pid=None,
            started=started,
            deadline=started + request["timeout"],
            out=out,
        )

    def living_zygote(self, python: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """The zygote and its line; it is started where none runs."""
        if self.zygote is not None and self.zygote[0].poll() is None:
            return self.zygote
        self.end_zygote()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, (JOBS / "zygote.err").open("wb") as errors:
            process = subprocess.Popen(
                [python, "-m", ZYGOTE, str(theirs.fileno()), WORDS_ROOM],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=[theirs.fileno()],
                env={**os.environ, ROOM: MARK_ROOM},
                start_new_session=True,
            )
        self.zygote = process, ours
        return self.zygote

    def end_zygote(self) -> None:
        """End it, so that what has not begun yet never does."""
        if self.zygote is not None:
            process, line = self.zygote
            process.kill()
            process.wait()
            line.close()
            self.zygote = None

    def heard(self, job: Job) -> None:
        """Report that a job has begun or ended."""
        if job.pid is None and (number := os.read(job.end, 32)):
            job.pid = int(number)
            self.report(job.ident, event="started", pid=job.pid)
            if job.timed_out:
                self.end_late(job)
            return
        self.ended(job)

    def ended(self, job: Job) -> None:
        """Report how a job ended, and its output."""
        seconds = time.monotonic() - job.started
        if not job.forked:
            status: int | None = job.process.wait()
        else:
            number = b"" if job.pid is None else os.read(job.end, 32)
            status = int(number) if number else None
            if status is None:
                job.process.wait()  # its files are closed before it has ended: the next job would go to it
        os.close(job.end)
        del self.jobs[job.ident]
        texts = {}
        for name, file in (("out", job.out), ("err", JOBS / f"{job.ident}.err")):
            texts[name] = base64.b64encode(file.read_bytes() if file.exists() else b"").decode()
            if file.parent == JOBS:
                file.unlink(missing_ok=True)
        if status is None:
            words = (JOBS / "zygote.err").read_text(errors="replace")
            self.report(job.ident, event="error", text=f"the zygote has ended: {words}")
            return
        self.report(
            job.ident,
            event="ended",
            status=status,
            seconds=seconds,
            timed_out=job.timed_out,
            hung=job.hung,
            **texts,
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
                if job.pid is not None:  # else as soon as it has begun
                    self.end_late(job)

    def end_late(self, job: Job) -> None:
        """Kill a job whose time limit has passed, and keep what it was at."""
        job.hung = waiting(marked(str(job.ident)))
        self.kill(job.ident, signal.SIGKILL)

    def kill(self, ident: int, number: int) -> None:
        """Signal a job's program and everything that it started.

        A program that is just becoming another one has no environment for a moment: its mark is not found.
        """
        job = self.jobs.get(ident)
        for pid in {*marked(str(ident)), *([job.pid] if job is not None and job.pid is not None else [])}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def release(self) -> list[str]:
        """End every job's processes, take down mounts and arrays; return arrays that still run.

        A trial that is killed leaves its members read-only, and its job: the next test finds neither. Nor
        does it find what raidtui has noted to undo, or kept over boots.
        """
        for ident in list(self.jobs):
            self.jobs[ident].deadline = None
        if any(job.pid is None for job in self.jobs.values()):
            self.end_zygote()
        give_up = time.monotonic() + 5
        while ((pids := marked()) or self.jobs) and time.monotonic() < give_up:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for job in list(self.jobs.values()):
                if select.select([job.end], [], [], 0.005)[0]:
                    self.heard(job)
        for name, value in SPEED_LIMITS.items():
            Path(f"/proc/sys/dev/raid/speed_limit_{name}").write_text(value)
        unmount_all()
        while (arrays := list_arrays()) and time.monotonic() < give_up:
            for array in arrays:
                stop_array(array)
        while any(Path("/sys/block").glob("ram*")) and time.monotonic() < give_up:
            run("udevadm", "settle", "--timeout=2")
            run("modprobe", "-r", "brd")  # with all that is on them
        for file in Path("/sys/block").glob("*/ro"):
            if file.parent.name.startswith(DISKS) and file.read_text() == "1\n":
                with opened(f"/dev/{file.parent.name}", os.O_RDONLY) as number:
                    fcntl.ioctl(number, BLKROSET, struct.pack("i", 0))
        for folder in (STATE, CHANGES):
            shutil.rmtree(folder, ignore_errors=True)
        for place in KEPT:
            for file in Path(place).glob("*raidtui*"):
                file.unlink()
        return arrays

    def forget(self, disks: list[str], flags: int = os.O_RDONLY) -> None:
        """Write what is cached of disks, and forget it."""
        for disk in disks:
            with opened(f"/dev/{disk}", flags) as number:
                fcntl.ioctl(number, BLKFLSBUF)

    def refresh(self, disks: list[str]) -> list[str]:
        """Forget what was cached of disks that the host wiped; returns the arrays that are left.

        Closing a disk that was open for writing makes udev look at it again.
        """
        self.forget(disks, os.O_RDWR)
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


def waiting(pids: list[int]) -> str:
    """What processes wait for, where the kernel says it: their words, state, place and stack."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            folder = Path("/proc") / str(pid)
            words = (
                (folder / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
            )
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            found.append(f"{pid} {state} {(folder / 'wchan').read_text()} {words}\n")
            with contextlib.suppress(OSError):
                found.append((folder / "stack").read_text())
    return "".join(found)


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


if __name__ == "__main__":
    Agent(sys.argv[1]).serve()
