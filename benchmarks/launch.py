"""Start one program in a private pseudo terminal, as a login shell does.

A small leader process owns the session and the terminal, as a shell would, and outlives the program: the
kernel resets a terminal's modes when the session leader exits, which would hide a program that breaks them.
"""

import contextlib
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOT_STARTED = 127
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
FOREIGN_VARIABLES = ("TMUX", "STY", "COLUMNS", "LINES", "NO_COLOR", "TERM_PROGRAM", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """A program that waits for its start: both ends of its terminal, its id, its control pipes."""

    master_fd: int
    slave_fd: int
    program_pid: int
    leader_pid: int
    start_fd: int
    leave_fd: int
    report_fd: int

    def start(self) -> None:
        """Let the program exec now."""
        os.write(self.start_fd, b"x")
        os.close(self.start_fd)

    def wait_status(self) -> int:
        """The exit code (negative: the signal) of a program that has ended."""
        return os.waitstatus_to_exitcode(int.from_bytes(os.read(self.report_fd, 4), "little"))

    def end(self, *, kill: bool) -> None:
        """Kill the program's process group if asked to, then end the leader and free the terminal."""
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.program_pid, signal.SIGKILL)
        os.close(self.leave_fd)
        os.waitpid(self.leader_pid, 0)
        for fd in (self.master_fd, self.slave_fd, self.report_fd):
            os.close(fd)


def launch(argv: tuple[str, ...], *, columns: int, lines: int, env: Mapping[str, str], cwd: Path) -> Launched:
    """Prepare `argv` up to its exec; `Launched.start` lets it run.  fork's cost is not measured."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.set_blocking(master, False)
    start_read, start_write = os.pipe()
    leave_read, leave_write = os.pipe()
    report_read, report_write = os.pipe()
    leader = os.fork()
    if leader == 0:
        for fd in (master, start_write, leave_write, report_read):
            os.close(fd)
        try:
            _lead(
                _Gates(slave=slave, start=start_read, leave=leave_read, report=report_write),
                argv,
                env={**_environment(), **env},
                cwd=cwd,
            )
        finally:
            os._exit(NOT_STARTED)
    for fd in (start_read, leave_read, report_write):
        os.close(fd)
    program = int.from_bytes(os.read(report_read, 4), "little")
    return Launched(
        master_fd=master,
        slave_fd=slave,
        program_pid=program,
        leader_pid=leader,
        start_fd=start_write,
        leave_fd=leave_write,
        report_fd=report_read,
    )


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}
    return {**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gates:
    """The leader's descriptors: its terminal, and its ends of the pipes."""

    slave: int
    start: int
    leave: int
    report: int


def _lead(gates: _Gates, argv: tuple[str, ...], *, env: Mapping[str, str], cwd: Path) -> None:
    """Run the leader: take the terminal, put the program in its foreground, wait for both to end."""
    os.setsid()
    fcntl.ioctl(gates.slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        _become(gates, argv, env=env, cwd=cwd)
    os.setpgid(program, program)
    os.tcsetpgrp(gates.slave, program)
    os.write(gates.report, program.to_bytes(4, "little"))
    _, status = os.waitpid(program, 0)
    os.write(gates.report, status.to_bytes(4, "little"))
    os.read(gates.leave, 1)


def _become(gates: _Gates, argv: tuple[str, ...], *, env: Mapping[str, str], cwd: Path) -> None:
    """Turn this process into the program, once the start has been given."""
    try:
        os.setpgid(0, 0)
        for number in (*IGNORED_BY_PYTHON, signal.SIGTTOU):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(cwd)
        for fd in (0, 1, 2):
            os.dup2(gates.slave, fd)
        os.read(gates.start, 1)
        os.execvpe(argv[0], argv, env)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(2, f"{argv[0]}: {error}\n".encode())
    finally:
        os._exit(NOT_STARTED)
