"""A machine with md: a guest that runs jobs, and full-screen programs on its consoles.

What all guests have in common; `uml` and `qemu` say how each kind is started.
"""

import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from tests.lab.guests.boot import SHARE
from tests.lab.guests.link import Answer, Console, LabError, Link, Request
from tests.lab.guests.terminal import Terminal

Interpreter = Literal["bash", "python"]
GRACE_S = 20.0  # on top of a job's own time, before the guest counts as dead
LOADED_S = 120.0  # until the zygote has imported raidtui, on a busy machine


class JobTimeoutError(LabError):
    """A job did not end in its time and was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a job ended. `status` is negative when a signal ended it; `seconds` is the guest's measure."""

    stdout: str
    stderr: str
    status: int
    seconds: float

    @property
    def output(self) -> str:
        """Both outputs, stdout first."""
        return self.stdout + self.stderr


class Program:
    """A program that runs in the guest."""

    def __init__(self, link: Link, request: Request, pid: int) -> None:
        self.pid = pid
        self._link = link
        self._request = request
        self._result: Result | None = None

    def wait(self, timeout: float) -> Result:
        """Wait until it ends.

        Raises:
            JobTimeoutError: its own time limit killed it.
            GuestDiedError: `timeout` seconds passed, or the guest ended.
        """
        if self._result is None:
            self._result = to_result(self._link.receive(self._request, timeout))
        return self._result

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        if self._result is None and self._request.answers.empty():
            return None
        return self.wait(1.0).status

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal it and everything that it started."""
        self._link.call("kill", job=self._request.ident, signal=int(number))


class ConsoleProgram(Program):
    """A program with one of the guest's consoles as its terminal."""

    def __init__(self, link: Link, request: Request, pid: int, console: str) -> None:
        super().__init__(link, request, pid)
        self.console = console

    def end(self) -> None:
        """Make sure that it has ended."""
        if self.status is None:
            self.kill()
            self.wait(GRACE_S)

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the guest's terminal."""
        self._link.call("size", tty=self.console, rows=rows, cols=cols)


class Guest:
    """A running guest, of whichever kind; serves any number of jobs, several at a time, until `shutdown`."""

    kernel_line: ClassVar[str] = "con0"  # what the kernel, and the program that runs it, have to say
    agent_line: ClassVar[str]
    consoles: ClassVar[Mapping[str, str]]  # the guest's terminals, each with its line
    other_lines: ClassVar[Sequence[str]] = ()

    def __init__(self, folder: Path, size_mib: int) -> None:
        self.folder = folder
        self.terminals: list[Terminal] = []
        self.disks: tuple[str, ...] = ()  # below /dev
        self._size_bytes = size_mib << 20
        self._files: tuple[Path, ...] = ()
        self._ours: dict[str, socket.socket] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._console: Console
        self._link: Link

    def _launch(self, argv_for: Callable[[Mapping[str, int]], Sequence[str]]) -> int:
        """Start the program whose argv is made of the open file of each line; returns its process id."""
        names = (self.kernel_line, self.agent_line, *self.consoles.values(), *self.other_lines)
        pairs = {line: socket.socketpair() for line in names}
        self._ours = {line: pair[0] for line, pair in pairs.items()}
        theirs = {line: pair[1] for line, pair in pairs.items()}
        try:
            self._process = subprocess.Popen(
                argv_for({line: end.fileno() for line, end in theirs.items()}),
                stdin=subprocess.DEVNULL,
                stdout=theirs[self.kernel_line].fileno(),
                stderr=theirs[self.kernel_line].fileno(),
                pass_fds=[end.fileno() for end in theirs.values()],
                start_new_session=True,
            )
        finally:
            for end in theirs.values():
                end.close()
        self._console = Console(self._ours[self.kernel_line])
        self._link = Link(self._ours[self.agent_line], self.folder / "share", self._why_dead)
        return self._process.pid

    @property
    def disk_files(self) -> tuple[Path, ...]:
        """The files on this machine that are the guest's disks, in their order."""
        return self._files

    @property
    def alive(self) -> bool:
        """Whether the kernel runs."""
        return self._process is not None and self._process.poll() is None

    def run(
        self,
        script: str,
        *,
        timeout: float = 60.0,
        interpreter: Interpreter = "bash",
        env: Mapping[str, str] | None = None,
    ) -> Result:
        """Run a script of up to 100 kB and wait for its end; after `timeout` seconds its tree is killed.

        Raises:
            JobTimeoutError: it did not end in time; the text has what it wrote.
            GuestDiedError: the guest ended; the text has the console's last lines.
        """
        return self.spawn(script, timeout=timeout, interpreter=interpreter, env=env).wait(timeout + GRACE_S)

    def spawn(
        self,
        script: str,
        *,
        timeout: float | None = None,
        interpreter: Interpreter = "bash",
        env: Mapping[str, str] | None = None,
    ) -> Program:
        """Start a script and let it run; the test's end ends it."""
        argv = ("bash", "-c", script) if interpreter == "bash" else (sys.executable, "-c", script)
        request, pid = self._start(argv, env=env, timeout=timeout, tty=None)
        return Program(self._link, request, pid)

    def command(self, argv: Sequence[str], *, timeout: float = 60.0, into: str = "") -> Result:
        """Run raidtui's command line without its start, and wait for its end, as `run` does.

        Raises:
            JobTimeoutError: it did not end in time; the text has what it wrote.
            GuestDiedError: the guest ended; the text has the console's last lines.
            LabError: the zygote ended.
        """
        return self.begin_command(argv, timeout=timeout, into=into).wait(timeout + GRACE_S)

    def begin_command(self, argv: Sequence[str], *, timeout: float = 60.0, into: str = "") -> Program:
        """Begin a command of raidtui as a fork of ``inside.zygote``, where all of it is imported.

        All but the start is as `spawn` does it: a process and a session of its own, the environment of every
        job, /dev/null as its input, its outputs in files, and its tree is killed after `timeout` seconds.

        Args:
            argv: raidtui's arguments.
            timeout: in seconds, the start of the zygote included.
            into: the file in the guest that is its standard output, which stays; "" for one that does not.
        """
        words = {"argv": list(argv), "timeout": timeout, "out": into or None}
        request = self._link.send("fork", python=sys.executable, **words)
        pid = int(self._link.receive(request, max(timeout, LOADED_S) + GRACE_S)["pid"])
        return Program(self._link, request, pid)

    def terminal(
        self, argv: Sequence[str], *, cols: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
    ) -> Terminal:
        """Start a full-screen program on a free console; use as a context manager, or `close` it."""
        fd, program = self.start_on_console(argv, cols=cols, rows=rows, env=env)
        terminal = Terminal(fd, program, cols=cols, rows=rows, name=program.console)
        self.terminals.append(terminal)
        return terminal

    def start_on_console(
        self, argv: Sequence[str], *, cols: int, rows: int, env: Mapping[str, str] | None
    ) -> tuple[int, ConsoleProgram]:
        """Start a program on a free console; returns a file number, the caller's, for its input and output.

        Raises:
            LabError: no console is free.
        """
        self.terminals = [terminal for terminal in self.terminals if not terminal.closed]
        taken = {terminal.name for terminal in self.terminals}
        console = next((name for name in self.consoles if name not in taken), None)
        if console is None:
            raise LabError(f"all {len(self.consoles)} consoles are in use")
        line = self._ours[self.consoles[console]]
        drain(line)
        colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        request, pid = self._start(argv, env={**colours, **(env or {})}, tty=console, rows=rows, cols=cols)
        return os.dup(line.fileno()), ConsoleProgram(self._link, request, pid, console)

    def _start(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None, **fields: object
    ) -> tuple[Request, int]:
        everything = {"timeout": None, "argv": list(argv), "env": dict(env or {}), **fields}
        request = self._link.send("start", **everything)
        return request, int(self._link.receive(request, GRACE_S)["pid"])

    def put(self, name: str, data: bytes) -> str:
        """Write a file into the shared folder; returns its path in the guest."""
        (self.folder / "share" / name).write_bytes(data)
        return str(SHARE / name)

    def get(self, name: str) -> bytes:
        """Read a file that the guest wrote into its `/run/lab`."""
        self._link.call("sync", path=str(SHARE / name))
        return (self.folder / "share" / name).read_bytes()

    def flush(self) -> None:
        """Write all that the guest has cached of its disks, so that `disk_files` have it, and forget it."""
        self._link.call("flush", disks=list(self.disks))

    def reset(self) -> None:
        """The state as after booting: no jobs, no terminals, no arrays, empty disks, default speed limits.

        Raises:
            LabError: an array could not be stopped.
        """
        for terminal in self.terminals:
            terminal.close()
        self.terminals.clear()
        left: list[str] = []
        for _ in range(5):
            # Twice at least: udev may have assembled an array again before its disks were wiped.
            left = self._link.call("release")["left"]
            written = [index for index, file in enumerate(self._files) if file.stat().st_blocks]
            for index in written:
                os.truncate(self._files[index], 0)
                os.truncate(self._files[index], self._size_bytes)
            left = left or self._link.call("refresh", disks=[self.disks[index] for index in written])["left"]
            if not written and not left:
                break
        else:
            raise LabError(f"the guest could not be cleaned, arrays left: {', '.join(left) or 'none'}")
        for file in (self.folder / "share").iterdir():
            if file.name != "start":
                shutil.rmtree(file) if file.is_dir() else file.unlink()

    def shutdown(self) -> None:
        """End the guest and remove everything that it left on the host."""
        for terminal in self.terminals:
            terminal.abandon()
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for line in self._ours.values():
            line.shutdown(socket.SHUT_RDWR)
        if hasattr(self, "_link"):
            self._link.join()
            self._console.join()
        for line in self._ours.values():
            line.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _why_dead(self) -> str | None:
        give_up = time.monotonic() + 1.0
        while self.alive and time.monotonic() < give_up:
            time.sleep(0.02)
        assert self._process is not None
        what = "does not answer" if self.alive else f"ended with status {self._process.returncode}"
        return f"the guest {what}; its console's last lines:\n{self._console.tail()}"


def to_result(answer: Answer) -> Result:
    """A job's last answer as a result.

    Raises:
        JobTimeoutError: the job was killed at its time limit.
    """
    stdout, stderr = (base64.b64decode(answer[name]).decode(errors="replace") for name in ("out", "err"))
    if answer["timed_out"]:
        raise JobTimeoutError(
            f"the job was killed after {answer['seconds']:.1f} s, with these processes (number, state, what "
            f"it waits in, words):\n{answer['hung']}it wrote:\n{stdout}{stderr}"
        )
    return Result(stdout=stdout, stderr=stderr, status=answer["status"], seconds=answer["seconds"])


def drain(line: socket.socket) -> None:
    """Discard what the last program left unread."""
    line.setblocking(False)
    try:
        while line.recv(65536):
            pass
    except BlockingIOError:
        pass
    finally:
        line.setblocking(True)
