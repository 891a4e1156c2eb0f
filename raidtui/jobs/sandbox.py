"""A tool that reads foreign data is started without root's powers: the order for ``sandbox_launcher``.

The parts are namespaces (mount, net, ipc, uts, pid), limits, caps (no capabilities), uid (a user that no one
else is), nnp (no new privileges), and, where the kernel has them, landlock and seccomp.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

import raidtui
from raidtui.host.tools import end, tool_path
from raidtui.jobs.sandbox_launcher import OPTIONAL

PARTS = ("mount", "net", "ipc", "uts", "pid", "limits", "caps", "uid", "nnp")
"""The parts without which nothing is started, unless the order does without them."""
NOT_KNOWN = "all"
"""In the place of a part, where nothing was learned of them."""
WITHOUT_ROOT: tuple[str, ...] = ("mount", "net", "ipc", "uts", "pid", "caps", "uid")
"""The parts that only root can give up, or make."""
_UIDS = range(61184, 65520)  # systemd's for DynamicUser=: no account has one
_PROBE_S, _END_S = 20.0, 5.0


class Sandbox(Struct, frozen=True, kw_only=True):
    """What a tool may do.

    Args:
        folder: the only folder that it may write to, which is its current one; "" for none.
        device: the path of the only block device there is; "" for none.
        writes: whether it may write to the device.
        uid: the user and group that it runs as.
        file_bytes: how large a file may get; 0 for any size.
        calls: whether system calls are filtered, which costs some 50 ns each.
        without: the parts that are done without.
    """

    folder: str = ""
    device: str = ""
    writes: bool = False
    uid: int = 65534
    file_bytes: int = 0
    calls: bool = True
    without: tuple[str, ...] = ()


class Kept(Struct, frozen=True, kw_only=True):
    """Which parts hold.

    Args:
        held: their names.
        missing: the others, with the kernel's reason.
    """

    held: tuple[str, ...] = ()
    missing: dict[str, str] = {}


BARE = Sandbox(uid=0, calls=False, without=PARTS)
"""No sandbox: a tool that needs root's powers, and ends with whoever has started it all the same."""


@contextlib.contextmanager
def started(
    sandbox: Sandbox,
    argv: Sequence[str],
    *,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], Kept]]]:
    """Start a tool, in a session of its own; it also ends with this process, and with the context.

    Args:
        sandbox: what it may do.
        argv: the tool, its path first.
        stdin: what it reads.
        stdout: where its output goes.
        stderr: where its errors go.

    Yields:
        the process that starts it, whose exit status is the tool's, or 128 + N after signal N; and what
        returns, once it has ended, which parts held.

    Raises:
        OSError: it cannot be started.
    """
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb") as said:
        try:
            process = subprocess.Popen(
                _command(sandbox, argv, writes),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd="/",
                env={**os.environ, "LC_ALL": "C", "PYTHONPATH": str(Path(raidtui.__file__).parents[1])},
                pass_fds=(writes,),
                start_new_session=True,
            )
        finally:
            os.close(writes)
        try:
            yield process, lambda: _read_kept(said.fileno())
        finally:
            kill_tree(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
            end(process)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a tool and its children; the process that has started it ends with it, and not before."""
    if process.poll() is not None:
        return
    import psutil  # noqa: PLC0415  (a worker alone needs it, and rarely)

    try:
        first = psutil.Process(process.pid)
        tree = first.children(recursive=True) or [first]
    except psutil.Error:
        return
    for each in tree:
        with contextlib.suppress(psutil.Error):
            each.kill()


def _command(sandbox: Sandbox, argv: Sequence[str], say: int) -> tuple[str, ...]:
    given = sandbox
    if os.geteuid():
        given = msgspec.structs.replace(sandbox, without=(*sandbox.without, *WITHOUT_ROOT))
    order = msgspec.json.encode(given).decode()
    # -P: the current folder is not a place to import from.
    own = (sys.executable, "-S", "-P", "-m", "raidtui.jobs.sandbox_launcher")
    return (*own, order, str(say), "--", *argv)


def _read_kept(number: int) -> Kept:
    """Return what was said on a descriptor whose other end has been closed; nothing where nothing was."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError):
        return msgspec.json.decode(os.read(number, 1 << 16), type=Kept)
    return Kept()


def missing_parts() -> dict[str, str]:
    """Return the needed parts that this kernel or container does not allow, with the reasons.

    Where they are not known, the only one is ``NOT_KNOWN``, and they are tried again next time. Without root
    there are none: the tool has the powers of its user, and no others.
    """
    if os.geteuid():
        return {}
    try:
        return _refused_parts()
    except _SilenceError as silence:
        return {NOT_KNOWN: str(silence)}


class _SilenceError(Exception):
    """Nothing was learned of the parts."""


@functools.lru_cache(maxsize=1)
def _refused_parts() -> dict[str, str]:
    path = tool_path("true")
    if path is None:
        raise _SilenceError("they could not be tried: true is not installed")
    with started(Sandbox(uid=_UIDS[0]), (path,)) as (process, kept_by):
        try:
            process.communicate(timeout=_PROBE_S)
        except subprocess.TimeoutExpired as error:
            raise _SilenceError(f"they could not be set up within {_PROBE_S:.0f} s") from error
        kept = kept_by()
    if not (kept.held or kept.missing):
        raise _SilenceError("what sets them up ended without a message")
    return {name: why for name, why in kept.missing.items() if name not in OPTIONAL}


def free_uid(seed: str) -> int:
    """Return a user id that no account and no process has; the same for the same seed, if it is free.

    Args:
        seed: any text.
    """
    used = set()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                used.add(Path("/proc", name).stat().st_uid)
    start = zlib.crc32(seed.encode())
    for offset in range(len(_UIDS)):
        uid = _UIDS[(start + offset) % len(_UIDS)]
        if uid in used:
            continue
        try:
            pwd.getpwuid(uid)
        except KeyError:
            return uid
    return _UIDS[start % len(_UIDS)]
