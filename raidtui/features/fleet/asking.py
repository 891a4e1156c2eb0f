"""Asking many hosts at once: one ssh each, as OpenSSH does it, with its configuration, keys and jump hosts.

A host that does not answer keeps its place among those that are asked at once for a moment only, so that dead
ones do not hold up the others; it is given up after ``timeout_s``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import time
from asyncio import StreamReader
from collections.abc import Callable, Iterator, Sequence
from subprocess import TimeoutExpired

from msgspec import Struct

from raidtui.features.fleet.answers import FleetRow, NoAnswer, NoAnswerCode, row_of, row_without
from raidtui.features.fleet.hosts import FleetError, FleetHost
from raidtui.jobs.user_process import kill_session, private_folder, run_for_user, start_for_user
from raidtui.view.text import visible

ASKED = "raidtui status --json --wear"
"""What is run there; also what a key that may do nothing else is bound to (docs/fleet.md)."""
_HOLD_S = 3.0
_LARGEST = 16 << 20
_LARGEST_ERROR = 64 << 10
_AFTER_S, _KILLED_S = 0.5, 5.0
_SSH_FAILED = 255
_NOT_FOUND = frozenset({126, 127})
_ANSWERS = range(4)
_SUDO = re.compile(r"^sudo: .*(password is required|terminal is required)")
_UNKNOWN_KEY = re.compile(r"^No \S+ host key is known for |^Host key verification failed")
_TOO_LONG = NoAnswer(
    code=NoAnswerCode.NOT_UNDERSTOOD, why=f"it answered more than {_LARGEST >> 20} MiB, which was not read"
)
# A master whose host has gone ends by itself, so that the next call connects again.
_KEPT = (
    *("-o", "ControlMaster=auto", "-o", "ControlPersist=300"),
    *("-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=2"),
)


class AskSettings(Struct, frozen=True, kw_only=True):
    """How hosts are asked.

    Args:
        at_once: how many at a time.
        timeout_s: when one is given up.
        connect_s: how long ssh may take to connect.
        config: the ssh_config that is read instead of the user's and the system's; "": theirs.
        masters: a folder for connections that stay open for the next time; "": none is kept.
        command: what is run there.
    """

    at_once: int = 32
    timeout_s: float = 30.0
    connect_s: int = 10
    config: str = ""
    masters: str = ""
    command: str = ASKED


def ssh_words(config: str = "", masters: str = "") -> tuple[str, ...]:
    """Return ssh and the options that all of its calls share.

    Args:
        config: the ssh_config that is read instead of the user's and the system's.
        masters: the folder of the connections that are kept, by OpenSSH's own multiplexing.

    Raises:
        FleetError: ssh is not installed.
    """
    ssh = shutil.which("ssh")
    if ssh is None:
        raise FleetError("ssh is not installed: apt install openssh-client")
    return (
        ssh,
        *(("-F", config) if config else ()),
        *(("-o", f"ControlPath={masters}/%C") if masters else ()),
    )


def ask_argv(host: FleetHost, settings: AskSettings) -> tuple[str, ...]:
    """Return the command that asks a host. Nothing is ever asked on the terminal."""
    kept = _KEPT if settings.masters else ()
    return (
        *ssh_words(settings.config, settings.masters),
        *kept,
        "-o",
        "BatchMode=yes",
        "-o",
        f"ConnectTimeout={settings.connect_s}",
        "-T",
        *host.words,
        settings.command,
    )


@contextlib.contextmanager
def kept_connections() -> Iterator[str]:
    """Give a folder for ``AskSettings.masters``; at the end all connections that were kept are closed."""
    with private_folder() as folder:
        try:
            yield folder
        finally:
            for name in os.listdir(folder):
                argv = (*ssh_words(), "-o", f"ControlPath={folder}/{name}", "-O", "exit", "--", "fleet")
                with contextlib.suppress(OSError, TimeoutExpired):
                    run_for_user(argv, timeout_s=5)


class _Slot:
    """A place among the hosts that are asked at once; it is given back once."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._held = True

    def give_back(self) -> None:
        """Let the next host begin."""
        if self._held:
            self._held = False
            self._slots.release()


async def ask_all(
    hosts: Sequence[FleetHost], settings: AskSettings, on_row: Callable[[FleetRow], object]
) -> None:
    """Ask all hosts; each row is handed over as soon as it is known.

    Args:
        hosts: which.
        settings: how.
        on_row: called in the event loop, once for each host.
    """
    slots = asyncio.Semaphore(settings.at_once)

    async def one(host: FleetHost) -> None:
        await slots.acquire()
        slot = _Slot(slots)
        held = asyncio.get_running_loop().call_later(_HOLD_S, slot.give_back)
        try:
            on_row(await ask_one(host, settings))
        finally:
            held.cancel()
            slot.give_back()

    async with asyncio.TaskGroup() as group:
        for host in hosts:
            group.create_task(one(host))


async def ask_one(host: FleetHost, settings: AskSettings) -> FleetRow:
    """Ask one host, and return what is known of it afterwards."""
    since = time.monotonic()
    process = await start_for_user(ask_argv(host, settings))
    assert process.stdout is not None  # noqa: S101  (it is a pipe)
    assert process.stderr is not None  # noqa: S101
    errors = asyncio.ensure_future(_limited(process.stderr, _LARGEST_ERROR, drops=True))
    try:
        async with asyncio.timeout(settings.timeout_s):
            raw = await _limited(process.stdout, _LARGEST)
            if len(raw) > _LARGEST:
                return row_without(host, _TOO_LONG, at_s=time.time(), took_s=time.monotonic() - since)
            status = await process.wait()
    except TimeoutError:
        return row_without(host, _timed_out(settings), at_s=time.time(), took_s=time.monotonic() - since)
    finally:
        if process.returncode is None:
            kill_session(process)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_KILLED_S):
                    await _limited(process.stdout, 0, drops=True)  # asyncio waits for the end of a full pipe
                    await process.wait()
        said = await _soon(errors)
    took_s = time.monotonic() - since
    if status in _ANSWERS and raw.strip():
        return row_of(host, raw, at_s=time.time(), took_s=took_s)
    return row_without(host, _no_answer(status, said), at_s=time.time(), took_s=took_s)


async def _limited(stream: StreamReader, most: int, *, drops: bool = False) -> bytes:
    """Read a stream until it has said more than the limit, or, where the rest is dropped, to its end."""
    parts: list[bytes] = []
    size = 0
    while (drops or size <= most) and (part := await stream.read(1 << 16)):
        if size <= most:
            parts.append(part)
        size += len(part)
        await asyncio.sleep(0)  # what is there at once is read without a turn for the other hosts
    return b"".join(parts)


async def _soon(reading: asyncio.Future[bytes]) -> str:
    """Return what came on standard error: an ssh that stays as a master may hold it open."""
    with contextlib.suppress(TimeoutError):
        return (await asyncio.wait_for(reading, _AFTER_S)).decode("utf-8", "replace")
    return ""


def _timed_out(settings: AskSettings) -> NoAnswer:
    return NoAnswer(code=NoAnswerCode.TIMEOUT, why=f"no answer within {settings.timeout_s:.0f} s")


def _no_answer(status: int, said: str) -> NoAnswer:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = f": {visible(lines[-1])}" if lines else ""
    if status == _SSH_FAILED:
        return _ssh_failed(lines, last)
    if any(_SUDO.search(line) for line in lines):
        remedy = "let sudo run raidtui there without one, for this login, or ask as a user who needs none"
        return NoAnswer(
            code=NoAnswerCode.SUDO_PASSWORD, why=f"sudo there wants a password{last}", remedy=remedy
        )
    if status in _NOT_FOUND:
        return NoAnswer(code=NoAnswerCode.NOT_INSTALLED, why=f"raidtui is not installed there{last}")
    why = f"the command there ended with {status}{last}" if status >= 0 else "ssh was killed"
    return NoAnswer(code=NoAnswerCode.NOT_UNDERSTOOD, why=why)


def _ssh_failed(lines: Sequence[str], last: str) -> NoAnswer:
    """Return why ssh has ended: it says so in words alone, in English where the locale is C (ssh(1))."""
    if any("REMOTE HOST IDENTIFICATION HAS CHANGED" in line for line in lines):
        said = " ".join(line for line in lines if line.startswith(("SHA256:", "Offending ")))
        return NoAnswer(
            code=NoAnswerCode.HOST_KEY_CHANGED,
            why=f"its host key differs from the known one, so it may be another machine: {visible(said)}",
            remedy="if it was reinstalled, compare the fingerprint; then ssh-keygen -R HOST, ssh HOST",
        )
    if any(_UNKNOWN_KEY.search(line) for line in lines):
        return NoAnswer(
            code=NoAnswerCode.HOST_KEY_UNKNOWN,
            why=f"its host key is not known{last}",
            remedy="ssh HOST shows its fingerprint: compare it there, and accept it",
        )
    if any("Permission denied" in line or "Too many authentication failures" in line for line in lines):
        return NoAnswer(
            code=NoAnswerCode.DENIED,
            why=f"it does not let this login in{last}",
            remedy="ssh-add the key that it knows, or ssh-copy-id HOST",
        )
    return NoAnswer(
        code=NoAnswerCode.UNREACHABLE,
        why=f"ssh does not reach it{last}",
        remedy="check that it runs, and that ssh HOST reaches it",
    )
