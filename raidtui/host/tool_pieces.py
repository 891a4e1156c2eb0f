"""The output of a tool in pieces, as it comes: for what prints more than belongs in memory."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

from raidtui.host.tools import end, tool_environment, tool_path
from raidtui.model.answer import AnswerKind

_PIECE = 1 << 18
_LOOK_S = 0.2
_SPARE_PIPE = 1 << 20
_MOST_ERRORS = 4096


class PiecesError(Exception):
    """A tool gave no more, or nothing at all; the message says why, a clause.

    Args:
        message: why.
        kind: of what kind the silence is; ``TIMED_OUT``: it printed nothing for too long, and was killed.
    """

    def __init__(self, message: str, *, kind: AnswerKind = AnswerKind.FAILED) -> None:
        super().__init__(message)
        self.kind = kind


def tool_pieces(argv: tuple[str, ...], *, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
    """Yield what a tool prints, in pieces; it is killed where the caller stops early.

    Args:
        argv: the tool and its arguments; it is run by absolute path, in the C locale, without a terminal.
        stall_s: how long it may print nothing.
        ended: whether no more is wanted; asked several times a second.

    Raises:
        PiecesError: it is not installed, cannot be run, hangs, or failed.
    """
    path = tool_path(argv[0])
    if path is None:
        raise PiecesError(f"{argv[0]} is not installed", kind=AnswerKind.NO_TOOL)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                (path, *argv[1:]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=tool_environment(),
                start_new_session=True,
                pipesize=_SPARE_PIPE,
            )
        except OSError as error:
            refused = error.errno in {errno.EPERM, errno.EACCES}
            kind = AnswerKind.REFUSED if refused else AnswerKind.FAILED
            raise PiecesError(f"{path}: {error.strerror}", kind=kind) from error
        try:
            assert process.stdout is not None  # noqa: S101  (a pipe)
            yield from _pieces(argv[0], process.stdout.fileno(), stall_s, ended)
            if ended():
                return
            status = _status(process, argv[0], stall_s)
        finally:
            if process.returncode is None:
                end(process)
            if process.stdout is not None:
                process.stdout.close()
        if status:
            raise PiecesError(_why(argv[0], status, errors))


def _pieces(name: str, descriptor: int, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    last_s = time.monotonic()
    while not ended():
        if not waiting.poll(_LOOK_S * 1000):
            if time.monotonic() - last_s >= stall_s:
                raise PiecesError(
                    f"{name} printed nothing for {stall_s:.0f} s and was ended", kind=AnswerKind.TIMED_OUT
                )
            continue
        piece = os.read(descriptor, _PIECE)
        if not piece:
            return
        yield piece
        last_s = time.monotonic()  # the caller's time is not the tool's


def _status(process: subprocess.Popen[bytes], name: str, stall_s: float) -> int:
    try:
        return process.wait(stall_s)
    except subprocess.TimeoutExpired:
        raise PiecesError(
            f"{name} did not end within {stall_s:.0f} s and was killed", kind=AnswerKind.TIMED_OUT
        ) from None


def _why(name: str, status: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    said = ""
    with suppress(OSError):
        said = errors.read(_MOST_ERRORS).decode("utf-8", "replace").strip()
    last = said.rsplit("\n", 1)[-1]
    return f"{name} exited with status {status}" + (f": {last}" if last else "")
