"""Run tools, by absolute path and never through a shell; and where a capture keeps their output."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import subprocess
import time
from collections.abc import Iterator
from io import BufferedRandom
from typing import IO, Any, TypeVar

from msgspec import Struct

from raidtui.model.answer import Answer, AnswerKind

_TOOL_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/local/bin")
_END_S = 5.0
_UNDER_WAY: set[subprocess.Popen[bytes]] = set()
T = TypeVar("T")


def _end_all() -> None:
    """A thread that waits for a tool may be left alone; its tool is not, where it can be killed."""
    for process in tuple(_UNDER_WAY):
        process.kill()


atexit.register(_end_all)


@contextlib.contextmanager
def piped_tool(argv: tuple[str, ...], stdin: int) -> Iterator[IO[bytes] | None]:
    """Run a tool that reads an open file and writes bytes, and yield those; None where it is not installed.

    It is ended with the context: what nobody reads is not written.
    """
    path = tool_path(argv[0])
    if path is None:
        yield None
        return
    process = subprocess.Popen(
        (path, *argv[1:]),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=tool_environment(),
        start_new_session=True,
    )
    try:
        yield process.stdout
    finally:
        process.kill()
        if process.stdout is not None:
            process.stdout.close()
        process.wait()


class ToolOutput(Struct, frozen=True, kw_only=True):
    """The output of a tool.

    Args:
        status: the exit status; None where the tool could not be run or did not end in time.
        why_not: why there is no status.
        silence: of what kind the answer is where there is no status.
    """

    argv: tuple[str, ...]
    status: int | None
    stdout: str
    stderr: str
    why_not: str = ""
    silence: AnswerKind = AnswerKind.FAILED

    @property
    def kind(self) -> AnswerKind:
        """What kind of answer it is, as far as every tool's exit status says it: 0 is an answer."""
        if self.status is None:
            return self.silence
        return AnswerKind.FAILED if self.status else AnswerKind.ANSWER

    @property
    def why(self) -> str:
        """Why it is no answer, a clause that names the tool: its last words, or its exit status."""
        if self.why_not:
            return self.why_not
        said = (self.stderr.strip() or self.stdout.strip()).rpartition("\n")[2].strip()
        said = said.removeprefix(f"{self.argv[0]}: ") if self.argv else said
        tool = self.argv[0] if self.argv else "the tool"
        return f"{tool} failed ({self.status})" + (f": {said}" if said else "")

    def silent(self, kind: AnswerKind | None = None, why: str = "") -> Answer[Any]:
        """Return the answer that nothing is known, with the reason.

        Args:
            kind: what a reader knows better: it does not understand the output, or the status is a refusal.
            why: why, a clause, with that.
        """
        return Answer(
            kind=kind or self.kind, source=" ".join(self.argv), taken_s=time.time(), why=why or self.why
        )

    def answer(self, value: T | None) -> Answer[T]:
        """Return what was learned; None is that there is none."""
        kind = AnswerKind.NOTHING_THERE if value is None else AnswerKind.ANSWER
        return Answer(kind=kind, value=value, source=" ".join(self.argv), taken_s=time.time())


def run_tool(argv: tuple[str, ...], timeout_s: float, stdin: str = "") -> ToolOutput:
    """Run a tool by absolute path: no shell, no terminal, C locale, own session, with a timeout.

    A process that the tool leaves behind (mdadm does, which watches a reshape) is not waited for.
    """
    path = tool_path(argv[0])
    if path is None:
        why = f"{argv[0]} is not installed"
        return ToolOutput(
            argv=argv, status=None, stdout="", stderr="", why_not=why, silence=AnswerKind.NO_TOOL
        )
    try:
        with _memory() as stdout, _memory() as stderr:
            process = subprocess.Popen(
                (path, *argv[1:]),
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env=tool_environment(),
                start_new_session=True,
            )
            _UNDER_WAY.add(process)
            try:
                process.communicate(stdin.encode(), timeout=timeout_s)
            finally:
                _UNDER_WAY.discard(process)
                if process.returncode is None:  # it did not answer, or this thread is being ended
                    end(process)
            return ToolOutput(
                argv=argv, status=process.returncode, stdout=_text_of(stdout), stderr=_text_of(stderr)
            )
    except subprocess.TimeoutExpired:
        why = f"{argv[0]} did not answer within {timeout_s:.0f} s"
        return ToolOutput(
            argv=argv, status=None, stdout="", stderr="", why_not=why, silence=AnswerKind.TIMED_OUT
        )
    except OSError as error:
        why = f"{path}: {error.strerror}"
        kind = AnswerKind.REFUSED if error.errno in {errno.EPERM, errno.EACCES} else AnswerKind.FAILED
        return ToolOutput(argv=argv, status=None, stdout="", stderr="", why_not=why, silence=kind)


def tool_environment() -> dict[str, str]:
    """Return the environment of every tool: the C locale, and the system's folders alone."""
    return {"LC_ALL": "C", "LANG": "C", "PATH": ":".join(_TOOL_FOLDERS)}


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a tool. One that waits for a device that does not answer is left alone: it ends when that does."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)


def _memory() -> BufferedRandom:
    """A file in memory: unlike a pipe, it is at its end when the tool is, whoever else still has it open."""
    return open(os.memfd_create("raidtui", os.MFD_CLOEXEC), "w+b")  # noqa: PTH123  (a descriptor)


def _text_of(file: BufferedRandom) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def tool_path(name: str) -> str | None:
    """Return a tool's absolute path; only the system's folders are searched, never $PATH.

    None means that it is not installed. A file that may not be executed is returned where no other is there:
    to run it says so.
    """
    paths = [f"{folder}/{name}" for folder in _TOOL_FOLDERS]
    runs = (path for path in paths if os.access(path, os.X_OK))
    return next(runs, None) or next((path for path in paths if os.path.lexists(path)), None)


def output_path(argv: tuple[str, ...]) -> str:
    """Return the path of a tool's output in a capture."""
    return "/.raidtui/run/" + "_".join(argv).replace("/", "-") + ".txt"
