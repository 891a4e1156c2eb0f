"""raidtui on a host that has none: the one file is brought there, verified, and run on the terminal.

The file is kept in ``~/.cache/raidtui/ssh`` of the login there, under its SHA-256, in a folder that no one
else may enter; it is verified before every run. A new one takes the place of those of other versions.
What the host's shell is given is a constant and a hash; further arguments are quoted one by one.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

import raidtui
from raidtui.features.fleet.asking import ssh_words
from raidtui.features.fleet.hosts import FleetError, FleetHost
from raidtui.jobs.user_process import on_terminal, private_folder, run_for_user
from raidtui.view.text import visible

_SMALLEST, _LARGEST = 64, 512 << 20
_PLACE = 'd="${XDG_CACHE_HOME:-$HOME/.cache}/raidtui/ssh"; f="$d/'
_SAFE = '[ -d "$d" ] && [ -O "$d" ] && [ "$(stat -c %a "$d")" = 700 ]'
_HASH = '[ -f "$f" ] && [ "$(sha256sum <"$f")" = "'
_NOT_VERIFIED, _NO_PLACE = 81, 82
_WORDS = {
    _NOT_VERIFIED: "what arrived there is not the file that was sent: nothing was run",
    _NO_PLACE: "its cache folder cannot be made, or belongs to another user: nothing was run",
    126: "the file may not be executed there: is its home mounted noexec?",
    127: "a program is missing there: sh, sha256sum and stat are needed",
    255: "ssh does not reach it",
}


class BroughtFile(Struct, frozen=True, kw_only=True):
    """The one file.

    Args:
        path: where it is here.
        sha256: its digest, hexadecimal.
    """

    path: str
    sha256: str


def file_name() -> str:
    """Return the name of the one file of this version."""
    return f"raidtui-{raidtui.__version__}-x86_64.run"


def find_file(path: str = "") -> BroughtFile:
    """Return the one file: the named one, or that beside this installation.

    Raises:
        FleetError: there is none, or it is not one.
    """
    places = [Path(path)] if path else _places()
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        where = visible(path) if path else f"{file_name()} beside this installation"
        raise FleetError(
            f"there is no {where}: name it by --file, or --installed runs the raidtui that is there"
        )
    digest = hashlib.sha256()
    try:
        with found.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(4)
            if not _SMALLEST <= size <= _LARGEST or (start[:2] != b"#!" and start != b"\x7fELF"):
                raise FleetError(f"{visible(str(found))} is not a program that can run there")
            file.seek(0)
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise FleetError(f"{visible(str(found))}: {error.strerror}") from error
    return BroughtFile(path=str(found), sha256=digest.hexdigest())


def _places() -> list[Path]:
    """Return where the one file is looked for: what runs now, beside the command, in the installation."""
    own = os.environ.get("RAIDTUI_FILE", "")  # the one file says so, when it is what runs
    command = shutil.which("raidtui")
    beside = [Path(command).resolve().parent] if command else []
    home = Path(raidtui.__file__).resolve().parent
    folders = (*beside, home.parent, home.parent / "dist", Path("/usr/lib/raidtui"))
    return [*([Path(own)] if own else ()), *(folder / file_name() for folder in folders)]


def probe_script(sha256: str) -> str:
    """Return what prints ``have`` where the file is there and whole, else ``want``."""
    return f'{_PLACE}{sha256}"; if {_SAFE} && {_HASH}{sha256}  -" ]; then echo have; else echo want; fi'


def upload_script(sha256: str) -> str:
    """Return what keeps standard input as the file, once it is verified."""
    return (
        f'{_PLACE}{sha256}"; umask 077; mkdir -p "$d" && chmod 700 "$d"; {_SAFE} || exit {_NO_PLACE};'
        ' rm -f "$d"/*; cat >"$f.part" || exit 74;'
        f' if [ "$(sha256sum <"$f.part")" = "{sha256}  -" ]; then chmod 700 "$f.part" && mv "$f.part" "$f";'
        f' else rm -f "$f.part"; exit {_NOT_VERIFIED}; fi'
    )


def run_script(sha256: str, arguments: Sequence[str], *, sudo: bool) -> str:
    """Return what verifies the file and becomes it, as root where sudo may be asked."""
    words = "".join(f" {shlex.quote(word)}" for word in arguments)
    root = (
        f'if [ "$(id -u)" -gt 0 ] && command -v sudo >/dev/null; then exec sudo -- "$f"{words}; fi; '
        if sudo
        else ""
    )
    return (
        f'{_PLACE}{sha256}"; {_SAFE} || exit {_NO_PLACE}; {_HASH}{sha256}  -" ] || exit {_NOT_VERIFIED};'
        f' {root}exec "$f"{words}'
    )


def installed_script(arguments: Sequence[str], *, sudo: bool) -> str:
    """Return what becomes the raidtui that is installed there."""
    words = "".join(f" {shlex.quote(word)}" for word in arguments)
    root = f'if [ "$(id -u)" -gt 0 ] && command -v sudo >/dev/null; then exec sudo -- raidtui{words}; fi; '
    return f"{root if sudo else ''}exec raidtui{words}"


class RemoteRun(Struct, frozen=True, kw_only=True):
    """What is run on a host.

    Args:
        file: the one file; None: the raidtui that is installed there.
        arguments: of raidtui there.
        sudo: whether sudo is used where the login is not root.
        config: the ssh_config that is read instead of the user's and the system's.
        terminal: whether there is a terminal to run it on.
    """

    file: BroughtFile | None
    arguments: tuple[str, ...] = ()
    sudo: bool = True
    config: str = ""
    terminal: bool = True


def run_on(host: FleetHost, run: RemoteRun) -> int:
    """Bring the file where it is needed, run it on this terminal, and return its exit status.

    Raises:
        FleetError: it could not be brought or run; the message says why.
    """
    with _connection(host, run.config) as words:
        if run.file is None:
            script = installed_script(run.arguments, sudo=run.sudo)
        else:
            _bring(words, host, run.file)
            script = run_script(run.file.sha256, run.arguments, sudo=run.sudo)
        status = on_terminal((*words, "-t" if run.terminal else "-T", *host.words, _in_sh(script)))
    if run.file is not None and status in {_NOT_VERIFIED, _NO_PLACE, 126}:
        raise FleetError(f"{visible(host.name)}: {_WORDS[status]}")
    return status


def _bring(words: Sequence[str], host: FleetHost, file: BroughtFile) -> None:
    """Have the file there, whole."""
    probe = (*words, "-T", *host.words, _in_sh(probe_script(file.sha256)))
    asked = run_for_user(probe, stderr=None)
    if asked.returncode == 0 and asked.stdout.split()[-1:] == [b"have"]:
        return
    if asked.returncode:
        raise _failed(host, asked.returncode)
    with Path(file.path).open("rb") as data:
        sent = _send(words, host, file, data)
    if sent:
        raise _failed(host, sent)


def _send(words: Sequence[str], host: FleetHost, file: BroughtFile, data: IO[bytes]) -> int:
    argv = (*words, "-T", *host.words, _in_sh(upload_script(file.sha256)))
    return run_for_user(argv, stdin=data, stdout=subprocess.DEVNULL, stderr=None).returncode


def _failed(host: FleetHost, status: int) -> FleetError:
    why = _WORDS.get(status, f"the file could not be brought there ({status})")
    return FleetError(f"{visible(host.name)}: {why}")


def _in_sh(script: str) -> str:
    """Return the command for a login shell of any kind: its words are those of a plain quotation."""
    return f"exec /bin/sh -c {shlex.quote(script)}"


@contextmanager
def _connection(host: FleetHost, config: str) -> Iterator[tuple[str, ...]]:
    """Open one connection for all calls, so that a password is asked once; it is closed at the end."""
    with private_folder() as folder:
        words = (*ssh_words(config, folder), "-o", "ControlMaster=auto", "-o", "ControlPersist=60")
        try:
            yield words
        finally:
            leave = (*words, "-O", "exit", *host.words)
            with suppress(OSError, subprocess.TimeoutExpired):
                run_for_user(leave, timeout_s=10)
