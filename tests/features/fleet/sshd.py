"""An sshd of OpenSSH on this machine that answers as many hosts: own keys, port and configuration."""

from __future__ import annotations

import contextlib
import getpass
import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tests.lab.guests.deadline import wait_until
from tests.servers import libraries, server

_USER = "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"
_SEPARATION = Path("/run/sshd")
_BARE = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

_SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
AcceptEnv FLEET_HOST
SetEnv PATH={folder}/bin:{path} XDG_CACHE_HOME={folder}/cache ANSWERS={folder}/answers
MaxStartups 500
LogLevel ERROR
"""
_CLIENT = """\
Host {name}
  HostName {address}
  Port {port}
  SetEnv FLEET_HOST={name}
"""
_EVERY = """\
Host *
  User {user}
  IdentityFile {folder}/client
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
"""
_STAND_IN = """\
#!/bin/sh
# Answers as raidtui on the host that was meant: what the test has put there.
if [ -x "$ANSWERS/$FLEET_HOST" ]; then exec "$ANSWERS/$FLEET_HOST" "$@"; fi
exec cat "$ANSWERS/$FLEET_HOST"
"""


class Sshd(Struct, kw_only=True):
    """A running sshd.

    Args:
        folder: its keys, its configuration and the client's, answers and cache.
        port: where it listens.
        silent: a port that takes connections and says nothing.
    """

    folder: Path
    port: int
    silent: int

    @property
    def config(self) -> str:
        """The path of the client's ssh_config."""
        return str(self.folder / "config")

    @property
    def cache(self) -> Path:
        """Where raidtui ssh keeps the one file "there"."""
        return self.folder / "cache"

    def hosts(self, *names: str, refused: tuple[str, ...] = (), silent: tuple[str, ...] = ()) -> None:
        """Write an ssh_config with these hosts: answered by the sshd, refused, or never answered."""
        entries = [_CLIENT.format(name=name, address="127.0.0.1", port=self.port) for name in names]
        entries += [_CLIENT.format(name=name, address="127.0.0.1", port=1) for name in refused]
        entries += [_CLIENT.format(name=name, address="127.0.0.1", port=self.silent) for name in silent]
        every = _EVERY.format(user=getpass.getuser(), folder=self.folder)
        (self.folder / "config").write_text("".join(entries) + every)

    def answers(self, name: str, text: str, *, runs: bool = False) -> None:
        """Let a host answer with a text, or run it as its raidtui."""
        path = self.folder / "answers" / name
        path.write_text(text)
        path.chmod(0o755 if runs else 0o644)


def _with_its_user(folder: Path) -> tuple[str, ...]:
    """Return what starts a program that finds the user sshd, which its package would have made.

    Only the program sees that user: in its own mount namespace, a passwd with it lies over the machine's.
    """
    try:
        pwd.getpwnam("sshd")
    except KeyError:
        if os.geteuid() != 0:
            return ()  # no user is looked for
        users = folder / "passwd"
        users.write_text(f"{Path('/etc/passwd').read_text().rstrip()}\n{_USER}\n")
        lay = 'mount --bind "$0" /etc/passwd && exec "$@"'
        return ("unshare", "--mount", "--propagation", "private", "sh", "-c", lay, str(users))
    return ()


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Sshd]:
    """Start an sshd whose files are in a folder, and end it.

    Raises:
        AssertionError: it did not start.
    """
    program, keygen = server("sshd"), server("ssh-keygen")
    for name in ("bin", "answers", "cache"):
        (folder / name).mkdir()
    (folder / "bin/raidtui").write_text(_STAND_IN)
    (folder / "bin/raidtui").chmod(0o755)
    for name in ("host", "client"):
        subprocess.run((keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / name), check=True)
    (folder / "authorized").write_text((folder / "client.pub").read_text())
    with contextlib.ExitStack() as ending:
        if os.geteuid() == 0 and not _SEPARATION.exists():  # as its unit does
            _SEPARATION.mkdir(0o755)
            ending.callback(_SEPARATION.rmdir)
        silent = ending.enter_context(socket.create_server(("127.0.0.1", 0)))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        found = Sshd(folder=folder, port=port, silent=silent.getsockname()[1])
        (folder / "server").write_text(_SERVER.format(port=port, folder=folder, path=_BARE))
        log = ending.enter_context((folder / "log").open("wb"))
        process = subprocess.Popen(
            (*_with_its_user(folder), program, "-D", "-e", "-f", folder / "server"),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **libraries()},
        )
        ending.callback(process.wait)
        ending.callback(process.terminate)
        wait_until(lambda: _listens(process, port, folder), what="sshd listens")
        yield found


def _listens(process: subprocess.Popen[bytes], port: int, folder: Path) -> bool:
    assert process.poll() is None, (folder / "log").read_text()
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
