"""The beginning of the one file: where it unpacks, what it trusts, and what it says where it cannot."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from release.onefile import pack

PROGRAM = """\
#!/bin/sh
[ "$1 $2 $3" = "-I -c from raidtui.__main__ import main; main()" ] || exit 9
shift 3
printf '%s|' "$0" "$RAIDTUI_FILE" "$@"
exit 7
"""
Starts = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a one file whose interpreter is a script that prints its arguments."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin/python3.99").write_text(PROGRAM)
    (tree / "bin/python3.99").chmod(0o755)
    (tree / "lib").mkdir()
    (tree / "lib/module.py").write_text("one = 1\n")
    (tmp_path / "with blank").mkdir()
    pack(tree, tmp_path / "with blank" / "raidtui.run")
    return tmp_path / "with blank" / "raidtui.run"


@pytest.fixture
def starts(file: Path, tmp_path: Path) -> Starts:
    def start(*words: str, **environment: str) -> tuple[int, list[str], str]:
        env = {"PATH": os.environ["PATH"], "RAIDTUI_CACHE": str(tmp_path / "cache"), **environment}
        done = subprocess.run((str(file), *words), env=env, capture_output=True, check=False, text=True)
        return done.returncode, done.stdout.split("|")[:-1], done.stderr

    return start


def unpacked(folder: Path) -> Path:
    """Return the one version that is in a cache."""
    (only,) = folder.iterdir()
    return only


def test_arguments_and_status_go_through(starts: Starts, file: Path, tmp_path: Path) -> None:
    status, words, error = starts("plan", "a b", "", "*")
    assert (status, error) == (7, "")
    assert words == [f"{unpacked(tmp_path / 'cache')}/bin/python3.99", str(file), "plan", "a b", "", "*"]
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_it_unpacks_once(starts: Starts, tmp_path: Path) -> None:
    starts()
    module = unpacked(tmp_path / "cache") / "lib/module.py"
    module.write_text("changed\n")
    assert starts()[0] == 7
    assert module.read_text() == "changed\n"


def test_what_was_changed_is_found_and_replaced(starts: Starts, tmp_path: Path) -> None:
    starts()
    assert starts(RAIDTUI_VERIFY="yes") == starts()
    module = unpacked(tmp_path / "cache") / "lib/module.py"
    module.write_text("changed\n")
    status, _, error = starts(RAIDTUI_VERIFY="yes")
    assert (status, "differs from what it should be" in error) == (7, True)
    assert module.read_text() == "one = 1\n"


def test_what_was_half_unpacked_is_not_used(starts: Starts, tmp_path: Path) -> None:
    starts()
    (unpacked(tmp_path / "cache") / ".unpacked").unlink()
    status, _, error = starts()
    assert status == 73
    assert "is there, but cannot be used; remove it" in error


def test_a_damaged_file_is_refused(starts: Starts, file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    status, words, error = starts()
    assert (status, words) == (73, [])
    why = "its content does not have the SHA-256 that it should have; download it again"
    assert error == f"raidtui: {file} is damaged: {why}\n"
    assert list((tmp_path / "cache").iterdir()) == []


def test_without_a_place_it_says_what_to_do(starts: Starts, file: Path, tmp_path: Path) -> None:
    (tmp_path / "occupied").touch()
    status, _, error = starts(RAIDTUI_CACHE=str(tmp_path / "occupied"))
    assert status == 73
    assert error == (
        f"raidtui: {tmp_path}/occupied cannot be written to;"
        f" name a folder that can be written to and executed from: RAIDTUI_CACHE=FOLDER {file}\n"
    )


def test_a_link_in_place_of_the_cache_is_refused(starts: Starts, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "elsewhere")
    status, _, error = starts()
    assert status == 73
    assert "belongs to another user, or is a symbolic link" in error
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.fixture
def noexec(tmp_path: Path) -> Path:
    """Return a folder below which nothing may be executed, where a test may mount."""
    folder = tmp_path / "noexec"
    folder.mkdir()
    return folder


def in_namespace(script: str, file: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a mount namespace of its own, as the root of it; $1 is the one file."""
    rootless = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    argv = ("unshare", *rootless, "--mount", "sh", "-ec", script, "sh", str(file))
    env = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(argv, capture_output=True, check=False, text=True, env=env)


def test_noexec_is_seen(file: Path, noexec: Path) -> None:
    script = f'mount -t tmpfs -o noexec tmpfs {noexec}; RAIDTUI_CACHE={noexec}/cache "$1"'
    done = in_namespace(script, file)
    assert (done.returncode, done.stdout) == (73, "")
    assert f"{noexec}/cache is on a file system that is mounted noexec; name a folder" in done.stderr


def test_where_the_cache_is_noexec_another_folder_is_taken(file: Path, noexec: Path) -> None:
    script = """\
mount -t tmpfs -o noexec tmpfs /var/cache
mount -t tmpfs tmpfs /var/tmp
"$1" || echo "status $?"
"""
    done = in_namespace(script, file, HOME=str(noexec))
    assert done.stderr == ""
    assert done.stdout.startswith("/var/tmp/raidtui-0/")
    assert done.stdout.endswith("status 7\n")


def test_what_was_unpacked_before_noexec_is_not_used(file: Path, noexec: Path) -> None:
    script = f"""\
mount -t tmpfs tmpfs {noexec}
export RAIDTUI_CACHE={noexec}/cache
"$1" >/dev/null || [ $? = 7 ]
mount -o remount,noexec {noexec}
"$1"
"""
    done = in_namespace(script, file)
    assert done.returncode == 73
    assert "mounted noexec" in done.stderr


def test_two_at_once(file: Path, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "RAIDTUI_CACHE": str(tmp_path / "cache")}
    both = [subprocess.Popen((str(file),), env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {each.communicate()[0] for each in both}
    assert {each.returncode for each in both} == {7}
    assert len(said) == 1
    assert [path.name[0] for path in (tmp_path / "cache").iterdir()] == ["0"]


def test_the_same_tree_gives_the_same_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "tree/lib/module.py").touch()
    pack(tmp_path / "tree", tmp_path / "again.run")
    assert (tmp_path / "again.run").read_bytes() == file.read_bytes()
