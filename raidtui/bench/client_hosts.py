"""Hosts that measure together, each an ``fio --server``: how they are named and reached, what they are asked.

fio sends the job to each of them, and sums their figures up at the end; meanwhile it reports nothing that is
meant for programs. Sources: fio(1), CLIENT / SERVER MODE; fio's client.c and server.c.
"""

from __future__ import annotations

import posixpath
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from raidtui.bench.place import Place
from raidtui.bench.workload import NAME, Workload, workload_options
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import counted, joined

PORT = 8765
"""fio's own."""
_CONNECT_S = 5.0
_MOST_HOSTS, _MOST_PORT = 64, 65535
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.%\w]+)\](?::([0-9]{1,5}))?")
_PLAIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)(?::([0-9]{1,5}))?")
_FOLDER = re.compile(r"/[A-Za-z0-9._/+@ -]*")
"""What fio takes in a job file as it is: no colon, which separates folders, and no variable."""


class ClientHost(Struct, frozen=True, kw_only=True):
    """A host with an ``fio --server``.

    Args:
        name: a host name or an address.
        port: of TCP.
    """

    name: str
    port: int = PORT

    @property
    def words(self) -> str:
        """As it is typed; without the port where that is fio's own."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port == PORT else f"{name}:{self.port}"

    @property
    def option(self) -> str:
        """As fio takes it."""
        return f"--client={'ip6' if ':' in self.name else 'ip'}:{self.name},{self.port}"


def read_host(word: str) -> ClientHost | None:
    """Return the host of HOST, HOST:PORT or [ADDRESS]:PORT; None where it is none of them."""
    found = _BRACKETED.fullmatch(word) or _PLAIN.fullmatch(word)
    if found is None or not 0 < int(found[2] or PORT) <= _MOST_PORT:
        return None
    return ClientHost(name=found[1], port=int(found[2] or PORT))


def answers(host: ClientHost) -> str:
    """Return why a host cannot be connected to, or ""."""
    try:
        with socket.create_connection((host.name, host.port), timeout=_CONNECT_S):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def find_clients(
    words: Sequence[str], folder: str, reach: Callable[[ClientHost], str] = answers
) -> Place | Refusal:
    """Return hosts that measure in a folder of theirs as a place, or why they cannot.

    Args:
        words: the hosts, as they were typed.
        folder: an absolute path on each of them.
        reach: returns why a host cannot be reached, or "".
    """
    hosts: list[ClientHost] = []
    for word in words:
        host = read_host(word)
        if host is None:
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{word} is not a host",
                remedy="give HOST, HOST:PORT, or [ADDRESS]:PORT",
            )
        if host in hosts:
            return Refusal(code=RefusalCode.INVALID, why=f"{word} is given twice", remedy="give it once")
        hosts.append(host)
    if len(hosts) > _MOST_HOSTS:
        return Refusal(
            code=RefusalCode.INVALID, why=f"{counted(len(hosts), 'host')} are given", remedy="give at most 64"
        )
    if not _FOLDER.fullmatch(folder) or ".." in folder.split("/"):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{folder or 'no folder'} is not the path of a folder on each of the hosts",
            remedy="give one with --directory: an absolute path of letters, digits and ._+@-",
        )
    for host in hosts:
        if why := reach(host):
            return Refusal(
                code=RefusalCode.NOT_FOUND,
                why=f"{host.words} does not answer on port {host.port}: {why}",
                remedy="start fio --server there, of the same version, and let this host reach it",
            )
    return Place(hosts=tuple(host.words for host in hosts), folder=posixpath.normpath(folder))


def _hosts_of(place: Place) -> list[ClientHost]:
    """Return the hosts of a place, which keeps their words."""
    return [host for word in place.hosts if (host := read_host(word)) is not None]


def client_options(place: Place, work: Workload, token: str, folder: Path) -> tuple[str, ...]:
    """Write a job file for each host, and return fio's arguments that name them.

    The files that fio makes have names of their own, for each host others, as several hosts may share a
    storage; fio removes them at its end.

    Args:
        place: the hosts.
        work: what is measured.
        token: what the names of the files have in common.
        folder: where the job files are put.

    Raises:
        OSError: one cannot be written.
    """
    found: list[str] = []
    for number, host in enumerate(_hosts_of(place)):
        options = [option.removeprefix("--") for option in workload_options(work)]
        names = f"{token}-{number}.$jobnum.$filenum"
        lines = [
            *("[global]", "thread=1", f"directory={place.folder}", "unique_filename=0", "unlink=1"),
            *(f"filename_format={names}", f"[{NAME}]"),
            *(option for option in options if not option.startswith("name=")),
        ]
        file = f"host-{number}.fio"
        (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        found += [host.option, file]
    return tuple(found)


def silent_hosts(place: Place, reported: Sequence[tuple[str, int]]) -> str:
    """Return which hosts have reported no figures, a clause; "" where all have.

    Args:
        place: the hosts.
        reported: names and ports, as fio has them.
    """
    silent = [host.words for host in _hosts_of(place) if (host.name, host.port) not in set(reported)]
    return f"{joined(silent)} reported no figures" if silent else ""
