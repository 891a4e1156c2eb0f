"""Completions: bash is asked as it asks at a Tab; the other two scripts name every command and option."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from release.commands import read_commands
from release.completion import completions

ASK = """\
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_raidtui && printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bash") / "raidtui"
    path.write_text(completions(read_commands())["bash"])
    return path


def completed(script: Path, *words: str, cwd: Path | None = None) -> list[str]:
    """Return what bash offers for the last word."""
    argv = ("bash", "-eu", "-c", ASK, "ask", str(script), *words)
    done = subprocess.run(argv, capture_output=True, check=False, text=True, cwd=cwd)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("raidtui boot", ["boot-check"]),
        ("raidtui --demo his", ["history"]),
        ("raidtui --root /some/where his", ["history"]),
        ("raidtui plan re", ["read-only", "read-write", "repair", "remove", "re-add", "replace", "rename"]),
        ("raidtui plan create --consist", ["--consistency-policy"]),
        ("raidtui plan create --bitmap ?", ["none", "internal"]),
        ("raidtui plan create --bitmap = i", ["internal"]),
        ("raidtui plan bitmap md0 lock", ["lockless"]),
        ("raidtui plan bitmap --json md0 lock", ["lockless"]),
        ("raidtui jobs ro", ["rollback"]),
        ("raidtui jobs wo", []),
        ("raidtui plan create --name plan", []),
        ("raidtui status --prom", ["--prometheus"]),
    ],
)
def test_what_bash_offers(script: Path, words: str, offered: list[str]) -> None:
    assert completed(script, *("" if word == "?" else word for word in words.split())) == offered


def test_each_command_of_each_place_is_offered(script: Path) -> None:
    for command in read_commands().walk():
        if command.commands:
            assert completed(script, *command.path, "") == [each.path[-1] for each in command.commands]
        flags = [flag for option in command.options for flag in option.flags]
        assert completed(script, *command.path, "-") == flags


def test_files_and_devices(script: Path, tmp_path: Path) -> None:
    (tmp_path / "report.tar.gz").touch()
    assert completed(script, "raidtui", "capture", "rep", cwd=tmp_path) == ["report.tar.gz"]
    assert completed(script, "raidtui", "--root", "rep", cwd=tmp_path) == ["report.tar.gz"]
    disks = {path.name for path in Path("/sys/class/block").iterdir()}
    offered = completed(script, "raidtui", "plan", "add", "md0", "")
    assert offered
    assert set(offered) <= disks
    assert not [name for name in offered if name.startswith(("loop", "ram"))]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_others_name_all(shell: str) -> None:
    text = completions(read_commands())[shell]
    for command in read_commands().walk():
        for option in command.options:
            for flag in option.flags:
                assert (
                    flag if shell == "zsh" else f" -{'l' if flag[1] == '-' else 's'} {flag.lstrip('-')}"
                ) in text
        assert (
            f"_{'_'.join(command.path)}() {{".replace("-", "_")
            if shell == "zsh"
            else f"'{' '.join(command.path)}'"
        ) in text
