"""Man pages: each command and option is in them, and groff has nothing to say."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from raidtui.app.cli import COMMANDS
from release.commands import Command, exit_status, read_commands
from release.manual import pages
from tests.lab.conftest import REQUIRE
from tests.lab.guests.boot import which

DAY = 1_800_000_000


@pytest.fixture(scope="module")
def top() -> Command:
    return read_commands()


@pytest.fixture(scope="module")
def texts(top: Command) -> dict[str, str]:
    return pages(top, version="1.2.3", epoch=DAY)


def rendered(path: Path) -> str:
    """Return a page as it is read, without blanks; each warning of groff is an error."""
    groff = which("groff")
    if groff is None:
        (pytest.fail if REQUIRE else pytest.skip)("groff is not installed (Debian: apt install groff-base)")
    words = (groff, "-man", "-Tutf8", "-ww", "-P-cbou", str(path))
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return "".join(done.stdout.split())


def close(words: str) -> str:
    """Return words without blanks."""
    return "".join(words.split())


def test_there_is_one_for_each_command(texts: dict[str, str]) -> None:
    assert set(texts) == {"raidtui.1", *(f"raidtui-{name}.1" for name in COMMANDS)}


def test_each_command_and_option_is_in_it(top: Command, texts: dict[str, str], tmp_path: Path) -> None:
    for page, text in texts.items():
        (tmp_path / page).write_text(text)
    read = {page: rendered(tmp_path / page) for page in texts}
    count = 0
    for command in top.walk():
        page = read[f"{'-'.join(command.path[:2])}.1"]
        assert "".join(command.path) in page
        for option in command.options:
            assert ",".join(option.flags) in page, (command.path, option.flags)
            assert close(option.words) in page, (command.path, option.words)
            count += 1
        for argument in command.positional:
            assert close(argument.words) in page, (command.path, argument.words)
    assert count > 200


def test_each_has_a_name_for_whatis_a_date_and_its_exit_status(texts: dict[str, str]) -> None:
    day = time.strftime("%Y-%m-%d", time.gmtime(DAY))
    for page, text in texts.items():
        name = page.removesuffix(".1")
        assert f'.TH {name.upper()} 1 {day} "raidtui 1.2.3" "raidtui"\n' in text
        assert re.search(rf"\n\.SH NAME\n{name} \\- \S", text)
    status = texts["raidtui-status.1"].partition(".SH EXIT STATUS")[2]
    assert ".TP\n\\fB1\\fR\ndegraded or needs attention\n" in status
    assert ".TP\n\\fB64\\fR\nwrong usage\n" in status


def test_each_command_has_an_exit_status(top: Command) -> None:
    # capture has but 73, which docs/command-line.md says
    assert set(COMMANDS) - set(exit_status(top)) == {"capture"}


def test_what_raidtui_calls_itself_is_not_in_them(top: Command) -> None:
    assert not [command.path for command in top.walk() if command.path[-1] == "work"]
