"""A host as ssh is given it. No name reaches a shell, and none can be taken for an option."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

_NAME = re.compile(r"[A-Za-z0-9_.:@%+\[\]/-]+", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9_.@+\\-]*", re.ASCII)
_MOST = 255


class FleetError(Exception):
    """Hosts cannot be known or reached as asked for; the message says why, and what to do."""


class FleetHost(Struct, frozen=True, kw_only=True):
    """One host.

    Args:
        name: what it is called, and where it is not said otherwise, ssh's destination.
        address: ssh's destination, where it is another one.
        user: the login name; "": as ssh_config has it.
        port: 0: as ssh_config has it.
        key: the path of a private key; "": as ssh_config has it.
    """

    name: str
    address: str = ""
    user: str = ""
    port: int = 0
    key: str = ""

    @property
    def destination(self) -> str:
        """What ssh connects to."""
        return self.address or self.name

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of ssh that name this host, the last of them its destination."""
        return (
            *(("-l", self.user) if self.user else ()),
            *(("-p", str(self.port)) if self.port else ()),
            *(("-i", self.key) if self.key else ()),
            "--",
            self.destination,
        )


def host_of(name: str, values: Mapping[str, object] | None = None) -> FleetHost:
    """Return a host.

    Args:
        name: its name.
        values: the variables that an inventory of Ansible gives it.

    Raises:
        FleetError: ssh would take a value for something else.
    """
    values = values or {}

    def text(key: str) -> str:
        return str(values.get(f"ansible_{key}") or values.get(f"ansible_ssh_{key}") or "")

    port = text("port")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
        raise FleetError(f"{name!r} has the port {port!r}: give a number from 1 to 65535")
    host = FleetHost(
        name=name,
        address="" if text("host") == name else text("host"),
        user=text("user"),
        port=int(port or 0),
        key=text("private_key_file"),
    )
    for word in (host.name, host.destination):
        check_name(word)
    if host.user.startswith("-") or not _USER.fullmatch(host.user):
        raise FleetError(f"{name!r} has the user {host.user!r}, which is not a login name")
    if host.key.startswith("-"):
        raise FleetError(f"{name!r} has the key {host.key!r}: give a path that does not begin with -")
    return host


def check_name(name: str) -> None:
    """Check that ssh takes a word for a host.

    Raises:
        FleetError: it begins with "-", or has signs that no host, address, user@host or ssh:// has.
    """
    parts = (name, name.removeprefix("ssh://"), name.rpartition("@")[2])
    if any(part.startswith("-") for part in parts):
        raise FleetError(f"{name!r} is refused: ssh would take a host that begins with - for an option")
    if not _NAME.fullmatch(name) or len(name) > _MOST:
        raise FleetError(
            f"{name!r} is not a host: give a name, an address, user@host or ssh://user@host:port"
        )
