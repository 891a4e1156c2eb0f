"""The first frame shows what the screen will show, harms no terminal, and leaves none behind."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui import first_frame
from raidtui.features.arrays.screen.array_rows import brief_of, ordered, state_of
from raidtui.first_frame import SMALLEST, TERMINAL, frame, paint, read_colours, show
from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.opening import open_root
from raidtui.view.array_row import brief_line, list_width
from raidtui.view.line import Line
from raidtui.view.text import cell_width
from raidtui.watch.watch import HostWatch
from tests.frame.states import ARRAYS, STATES
from tests.hosts.captures import ALL_CAPTURES, capture_text
from tests.hosts.trees import host_tree
from tests.lab.guests.terminal import Terminal, host_terminal
from tests.monitor.test_health import LOUD, QUIET

SIZES = ((80, 24), (120, 40), (60, 15))
TREES = sorted(set(STATES) - {"no-md", "many"})
ALTERNATE_SCREEN, CURSOR, MOUSE = 1049, 25, 1000
NARROW = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def cells(line: Line) -> list[tuple[str, str]]:
    """(character, role) by cell; blanks have no role."""
    found: list[tuple[str, str]] = []
    for text, role in line:
        for char in text:
            found += [(char, role if char != " " else "")] + [("", role)] * (cell_width(char) - 1)
    return found


def app_rows(folder: Path, width: int) -> list[Line]:
    """The rows that the screen has after its first sample."""
    report = HostWatch(open_root(str(folder))).refresh()
    return [brief_line(brief_of(report, array), width) for array in ordered(report)]


def compare(folder: Path) -> None:
    """Each cell of the first frame is the screen's; what is not known yet is blank."""
    for width, height in SIZES:
        room = list_width(width)
        beside = room < width  # then a rule stands above the list
        first = [cells(line) for line in frame(str(folder), width, height)[2 + beside :]]
        later = [cells(line) for line in app_rows(folder, room)[: max(3, height // 3)]]
        assert len(first) == len(later)
        for early, late in zip(first, later, strict=True):
            assert len(early) == len(late) == room
            wrong = [
                pair for pair in zip(early, late, strict=True) if pair[0][0] != " " and pair[0] != pair[1]
            ]
            text, app_text = ("".join(char for char, _ in row) for row in (early, late))
            assert not wrong, f"\n{text}\n{app_text}\n{wrong}"
            shape = 0 if beside else 10 if width == 60 else 26  # there is no room for chunk and size
            title = room - 35 if beside else min(30, max(8, width - 71))
            known = 3 + title + 1 + shape + 10  # up to the word of the state
            # mdstat says little of these
            unread = any(word in text for word in ("inactive", "container", "unknown"))
            assert unread or early[:known] == late[:known], f"\n{text}\n{app_text}"


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_captures(tmp_path: Path, name: str) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "mdstat").write_text(capture_text(name))
    compare(tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_trees(tmp_path: Path, name: str) -> None:
    STATES[name].write_to(tmp_path)
    compare(tmp_path)


FAR_SETS = """\
Personalities : [raid10]
md127 : active raid10 sdd[3] sda[0]
      16384 blocks super 1.2 512K chunks 2 far-copies 2 devices per set [4/2] [U__U]

unused devices: <none>
"""


def compare_verdicts(folder: Path) -> None:
    """Role and word of every array are the screen's, also of those that are not in view."""
    report = HostWatch(open_root(str(folder))).refresh()
    screen = {array.name: state_of(report, array) for array in report.snapshot.arrays}
    mdstat = parse_mdstat((folder / "proc" / "mdstat").read_text())
    entries = (*mdstat.arrays, *mdstat.unread)
    there = first_frame._devices(str(folder))
    first = {entry.name: first_frame._brief(str(folder), entry, look=True, there=there) for entry in entries}
    assert {name: (brief.role, brief.word) for name, brief in first.items()} == screen


@pytest.mark.parametrize("name", [*ALL_CAPTURES, "far sets"])
def test_verdicts_of_captures(tmp_path: Path, name: str) -> None:
    (tmp_path / "proc").mkdir()
    text = FAR_SETS if name == "far sets" else capture_text(name)
    (tmp_path / "proc" / "mdstat").write_text(text)
    compare_verdicts(tmp_path)


@pytest.mark.parametrize("name", sorted(set(STATES) - {"no-md"}))
def test_verdicts_of_trees(tmp_path: Path, name: str) -> None:
    STATES[name].write_to(tmp_path)
    compare_verdicts(tmp_path)


RULES = QUIET | {case: spec for case, (spec, _, _) in LOUD.items()}
LATER = {"write errors, blocked", "bad blocks where another one is bad, too"}
"""These are in the files of all members: too many for the first frame, which shows a milder state."""


@pytest.mark.parametrize("case", sorted(RULES))
def test_verdicts_by_all_rules(tmp_path: Path, case: str) -> None:
    host_tree(RULES[case]).write_to(tmp_path)
    if case not in LATER:
        compare_verdicts(tmp_path)
        return
    [brief] = first_frame.read_briefs(str(tmp_path), 8)
    assert brief.role in {"ok", "warn"}


def test_far_copies_in_sets_of_two_survive_a_loss_in_each(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "mdstat").write_text(FAR_SETS)
    [brief] = first_frame.read_briefs(str(tmp_path), 8)
    assert (brief.role, brief.word) == ("bad", "degraded")


def test_what_is_broken_stands_first_even_where_there_are_many(tmp_path: Path) -> None:
    STATES["many"].write_to(tmp_path)
    rows = frame(str(tmp_path), 80, 24)[2:]
    assert len(rows) == 8
    assert "".join(text for text, _ in rows[0]).startswith(" ✖ vol300")


def test_no_mdstat(tmp_path: Path) -> None:
    lines = frame(str(tmp_path), 80, 24)
    assert len(lines) == 2
    assert "".join(text for text, _ in lines[0]).startswith(" raidtui  captured tree")


def test_names_are_harmless(tmp_path: Path) -> None:
    STATES["odd-names"].write_to(tmp_path)
    (tmp_path / "proc/sys/kernel/hostname").write_text("\x1b[2J\x1b]0;owned\x07nas\n")
    painted = paint(frame(str(tmp_path), 119, 24), read_colours("dark"), 119, 24)
    plain = NARROW.sub("", painted)
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert "\\x1b[31mred" in plain


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    line: Line = [("bad", "bad"), ("plain", "plain")]
    colours = {"foreground": "#010203", "background": "#040506", "bad": "#070809"}
    assert "\x1b[38;2" not in paint([line], colours, 80, 24)
    monkeypatch.setenv("COLORTERM", "truecolor")
    painted = paint([line], colours, 80, 24)
    base = "\x1b[38;2;1;2;3m\x1b[48;2;4;5;6m"
    assert f"\x1b[1;1H\x1b[38;2;7;8;9mbad\x1b[0m{base}plain" in painted
    assert "\x1b[38;2" not in paint([line], {"foreground": "ansi_default", "bad": "#zzzzzz"}, 80, 24)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[38;2" not in paint([line], colours, 80, 24)


def test_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    show()
    assert capfd.readouterr().out == ""
    assert not TERMINAL.shown


# -- on a real terminal


@pytest.fixture
def fake_textual(tmp_path: Path) -> dict[str, str]:
    """An installation that is broken: textual cannot be imported."""
    package = tmp_path / "broken" / "textual"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise ImportError("libfoo.so.1: cannot open shared object file")\n')
    return {"PYTHONPATH": str(package.parent)}


@pytest.fixture
def degraded(tmp_path: Path) -> str:
    host_tree(*ARRAYS["degraded"]).write_to(tmp_path / "host")
    return str(tmp_path / "host")


@pytest.fixture
def closing() -> Iterator[list[Terminal]]:
    """Terminals to be closed, whatever happens."""
    opened: list[Terminal] = []
    yield opened
    for each in opened:
        each.close()


def shell(closing: list[Terminal], command: str, **more: object) -> Terminal:
    """A shell's command, then a line that reports its status and how the terminal is."""
    after = (
        'echo "status $?"; stty -a | tr ";" "\\n" | grep -o -E "[-]?(icanon|echo) " | tr "\\n" ","; echo .'
    )
    terminal = host_terminal(("/bin/sh", "-c", f"{command}; {after}; read x"), **more)  # type: ignore[arg-type]
    closing.append(terminal)
    return terminal


def test_a_broken_installation(closing: list[Terminal], fake_textual: dict[str, str], degraded: str) -> None:
    command = f"{sys.executable} -m raidtui --root {degraded}"
    terminal = shell(closing, command, env=fake_textual)
    terminal.wait_for(re.compile(r"status 1\n.*\n?.*icanon ,echo ,|status 1\nicanon"))
    assert "libfoo.so.1" in terminal.screen()
    assert not terminal.has_mode(ALTERNATE_SCREEN)
    assert terminal.has_mode(CURSOR)
    assert not terminal.has_mode(MOUSE)


def test_it_is_there_before_textual(closing: list[Terminal], tmp_path: Path, degraded: str) -> None:
    """The import hangs, and the first frame stands."""
    package = tmp_path / "slow" / "textual"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import sys; sys.stdin.read(1); raise ImportError('late')\n")
    command = f"{sys.executable} -m raidtui --root {degraded}"
    terminal = shell(closing, command, env={"PYTHONPATH": str(package.parent)})
    terminal.wait_for(re.compile(r"✖ media .* degraded"))
    assert terminal.has_mode(ALTERNATE_SCREEN)
    assert not terminal.has_mode(CURSOR)
    row = next(line for line in terminal.cells if line[1].text == "✖")
    assert row[1].fg == read_colours("dark")["bad"][1:]
    assert row[3].bold
    terminal.press("x")
    terminal.wait_for("status 1")
    assert not terminal.has_mode(ALTERNATE_SCREEN)


@pytest.mark.parametrize("size", [(SMALLEST[0] - 1, 24), (80, SMALLEST[1] - 1)])
def test_too_small(
    closing: list[Terminal], fake_textual: dict[str, str], degraded: str, size: tuple[int, int]
) -> None:
    command = f"{sys.executable} -m raidtui --root {degraded}"
    terminal = shell(closing, command, env=fake_textual, cols=size[0], rows=size[1])
    terminal.wait_for("status 1")
    assert "degraded" not in terminal.screen()


def test_restoring_twice_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda _, data: written.append(data))
    terminal = first_frame.Terminal()
    terminal.shown = True
    terminal.restore()
    terminal.restore()
    assert written == [b"\x1b[?1049l\x1b[?25h\x1b[0m"]
