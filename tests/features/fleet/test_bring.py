"""``raidtui ssh`` through a real sshd: the file is brought once, verified each time, and stays alone."""

from __future__ import annotations

import hashlib
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.app.cli import run
from raidtui.features.fleet.bring import file_name, find_file, run_script
from raidtui.features.fleet.hosts import FleetError
from tests.features.fleet.sshd import Sshd

STAND_IN = """\
#!/bin/sh
# The one file's stand-in: it says how it was called, and whether there is a terminal.
for word in "$@"; do printf '[%s]' "$word"; done
if [ -t 0 ] && [ -t 1 ]; then printf ' on a terminal'; fi
printf '\\n'
exit 3
"""
HARD = ("a b", "it's", '"$(id)"', "`id`", "; touch never", "*", "\\", "!x", "")


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    path = tmp_path / "raid tui's.run"
    path.write_text(STAND_IN)
    return path


def ssh(sshd: Sshd, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``raidtui ssh`` as a person does."""
    argv = (sys.executable, "-m", "raidtui", "ssh", "-F", sshd.config, *words)
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120
    )


def kept(sshd: Sshd) -> list[Path]:
    """All files and folders that are left "there"."""
    return sorted(path.relative_to(sshd.cache) for path in sshd.cache.rglob("*"))


def test_it_is_brought_once(sshd: Sshd, stand_in: Path) -> None:
    sshd.hosts("far")
    digest = hashlib.sha256(stand_in.read_bytes()).hexdigest()
    place = sshd.cache / "raidtui/ssh" / digest
    done = ssh(sshd, "--file", str(stand_in), "far", "--", *HARD)
    assert (done.returncode, done.stdout, done.stderr) == (
        3,
        "".join(f"[{word}]" for word in HARD) + "\n",
        "",
    )
    assert kept(sshd) == [Path("raidtui"), Path("raidtui/ssh"), Path("raidtui/ssh") / digest]
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o700, 0o700)
    before = place.stat().st_ino
    assert ssh(sshd, "--file", str(stand_in), "far").stdout == "\n"
    assert place.stat().st_ino == before
    stand_in.write_text(STAND_IN + "# a newer one\n")
    assert ssh(sshd, "--file", str(stand_in), "far").returncode == 3
    newer = hashlib.sha256(stand_in.read_bytes()).hexdigest()
    assert kept(sshd)[-1].name == newer
    assert len(kept(sshd)) == 3


def test_what_is_not_the_file_is_never_run(sshd: Sshd, stand_in: Path) -> None:
    sshd.hosts("far")
    assert ssh(sshd, "--file", str(stand_in), "far").returncode == 3
    digest = hashlib.sha256(stand_in.read_bytes()).hexdigest()
    place = sshd.cache / "raidtui/ssh" / digest
    place.write_text("#!/bin/sh\necho spoiled\n")
    done = ssh(sshd, "--file", str(stand_in), "far")  # it is brought again
    assert (done.returncode, done.stdout) == (3, "\n")
    place.write_text("#!/bin/sh\necho spoiled\n")
    alone = subprocess.run(
        ("/bin/sh", "-c", run_script(digest, (), sudo=False)),
        env={**os.environ, "XDG_CACHE_HOME": str(sshd.cache)},
        capture_output=True,
        check=False,
    )
    assert (alone.returncode, alone.stdout) == (81, b"")
    place.parent.chmod(0o777)  # anybody might have put it there
    alone = subprocess.run(alone.args, env={**os.environ, "XDG_CACHE_HOME": str(sshd.cache)}, check=False)
    assert alone.returncode == 82


def test_on_a_terminal(sshd: Sshd, stand_in: Path) -> None:
    """``ssh -t``: sudo and the screen have a terminal there."""
    sshd.hosts("far")
    near, far = pty.openpty()
    argv = (
        sys.executable,
        "-m",
        "raidtui",
        "ssh",
        "-F",
        sshd.config,
        "--file",
        str(stand_in),
        "far",
        "status",
    )
    process = subprocess.Popen(argv, stdin=far, stdout=far, stderr=far, start_new_session=True)
    os.close(far)
    shown = b""
    try:
        while part := os.read(near, 4096):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(near)
    assert process.wait(timeout=60) == 3
    assert b"[status] on a terminal" in shown


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can read, too."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_sudo_is_asked_where_the_login_is_not_root(open_folder: Path) -> None:
    """It gets the file that was verified, and the words as they are; --no-sudo leaves it out."""
    digest, nobody = hashlib.sha256(STAND_IN.encode()).hexdigest(), 65534
    cache, tools = open_folder / "raidtui" / "ssh", open_folder / "tools"
    for folder in (cache, tools):
        folder.mkdir(parents=True)
    for path, text in (
        (cache / digest, STAND_IN),
        (tools / "sudo", '#!/bin/sh\nprintf "<%s>" "$@"\n'),
    ):
        path.write_text(text)
        path.chmod(0o755)
    cache.chmod(0o700)
    user = nobody if os.geteuid() == 0 else os.geteuid()
    for path in (cache, cache / digest):
        os.chown(path, user, -1)

    def ran(*, sudo: bool) -> str:
        done = subprocess.run(
            ("/bin/sh", "-c", run_script(digest, ("wear", "it's"), sudo=sudo)),
            env={**os.environ, "XDG_CACHE_HOME": str(open_folder), "PATH": f"{tools}:{os.environ['PATH']}"},
            user=user,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout or done.stderr

    assert ran(sudo=True) == f"<--><{cache / digest}><wear><it's>"
    assert ran(sudo=False) == "[wear][it's]\n"


def test_what_is_installed_there(sshd: Sshd) -> None:
    sshd.hosts("far")
    sshd.answers("far", STAND_IN, runs=True)
    done = ssh(sshd, "--installed", "far", "wear", "it's")
    assert (done.returncode, done.stdout) == (3, "[wear][it's]\n")
    assert kept(sshd) == []


def test_what_is_refused(
    sshd: Sshd, stand_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sshd.hosts("far", refused=("closed",))
    assert run(["ssh", "--file", str(stand_in), "--", "-oProxyCommand=touch never"]) == 2
    assert capsys.readouterr().err == (
        "raidtui: '-oProxyCommand=touch never' is refused:"
        " ssh would take a host that begins with - for an option\n"
    )
    assert run(["ssh", "--file", str(tmp_path / "none"), "far"]) == 2
    assert "there is no" in capsys.readouterr().err
    (tmp_path / "text").write_text("just a text, that nobody can run anywhere. " * 4)
    assert run(["ssh", "--file", str(tmp_path / "text"), "far"]) == 2
    assert "is not a program that can run there" in capsys.readouterr().err
    done = ssh(sshd, "--file", str(stand_in), "closed")
    assert done.returncode == 2
    assert done.stderr.endswith("raidtui: closed: ssh does not reach it\n")


def test_the_file_beside_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FleetError, match="beside this installation"):
        find_file()
    for name in ("raidtui", file_name()):
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o755)
    assert find_file().path == str(tmp_path / file_name())
