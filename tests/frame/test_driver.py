"""The screen on a real terminal: from the first key to what is left behind."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import raidtui
from raidtui.frame.driver import QuietDriver
from tests.frame.states import ARRAYS
from tests.hosts.trees import host_tree
from tests.lab.guests.terminal import Terminal, host_terminal

ALTERNATE_SCREEN, CURSOR, MOUSE, PASTE, WRAP = 1049, 25, 1000, 2004, 7
WHOLE, SURVIVES = "the next failure loses the array", "survives one failure"
QUIT_S = 20.0
_AS_IT_WAS = ((ALTERNATE_SCREEN, False), (CURSOR, True), (MOUSE, False), (PASTE, False), (WRAP, True))
Opens = Callable[..., Terminal]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    """Start raidtui upon a tree, in a shell that afterwards reports its status and how the terminal is."""
    host_tree(*ARRAYS["degraded"]).write_to(tmp_path / "host")
    opened: list[Terminal] = []

    def start(*words: str, program: tuple[str, ...] = (), **more: object) -> Terminal:
        raidtui = (sys.executable, "-m", "raidtui", *(words or ("--root", str(tmp_path / "host"))))
        argv = " ".join(program or raidtui)
        after = "stty -a | tr ' ;' '\\n\\n' | grep -E '^-?(icanon|echo|isig|icrnl|opost)$' | tr '\\n' ' '"
        script = (
            f'before=$({after}); {argv}; echo "status $?"; test "$before" = "$({after})" && echo same; read x'
        )
        terminal = host_terminal(("/bin/sh", "-c", script), **more)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield start
    for each in opened:
        each.close()


def left_as_it_was(terminal: Terminal, status: int = 0) -> None:
    """The program has ended, and the terminal is as before."""
    terminal.wait_for(re.compile(rf"status {status}(?!\d)[^\n]*\nsame"), timeout=QUIT_S)
    for mode, wanted in _AS_IT_WAS:
        assert terminal.has_mode(mode) is wanted, mode


def test_it_ends_and_leaves_nothing(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    assert terminal.has_mode(ALTERNATE_SCREEN)
    assert not terminal.has_mode(CURSOR)
    assert terminal.has_mode(MOUSE)
    terminal.press("q")
    left_as_it_was(terminal)


def test_without_the_mouse(opens: Opens, tmp_path: Path) -> None:
    terminal = opens("--no-mouse", "--root", str(tmp_path / "host"))
    terminal.wait_for(WHOLE)
    assert not terminal.has_mode(MOUSE)
    terminal.press("ctrl+q")
    left_as_it_was(terminal)


def test_on_a_slow_line_all_signs_are_ascii(opens: Opens, tmp_path: Path) -> None:
    program = (sys.executable, "-m", "raidtui", "--root", str(tmp_path / "host"))
    terminal = opens(program=("stty ospeed 9600;", *program))
    terminal.wait_for(WHOLE)
    terminal.press("?")
    terminal.wait_for(re.compile(r"\+-+\+\n"))  # the frame of the help
    assert terminal.screen().isascii()
    terminal.press("escape")
    terminal.wait_for(WHOLE)
    assert terminal.screen().isascii()
    terminal.press("q")
    left_as_it_was(terminal)


def test_keys_typed_before_it_is_there_are_kept(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for("1 Arrays")  # the first frame; nothing is imported yet
    terminal.press("down", "6")
    terminal.wait_for(lambda _: "Troubles" in terminal.lines()[-1])
    terminal.press("1")
    terminal.wait_for("/dev/md127")  # the second row
    terminal.press("q")
    left_as_it_was(terminal)


def test_q_typed_before_it_is_there_ends_it(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for("1 Arrays")
    terminal.press("q")
    terminal.wait_for("status 0", timeout=20)
    left_as_it_was(terminal)


def test_keys_of_all_kinds(opens: Opens) -> None:
    terminal = opens(cols=120, rows=40)
    terminal.wait_for(WHOLE)
    terminal.press("end")
    terminal.wait_for("/dev/md126")
    terminal.press("pageup")
    terminal.wait_for("/dev/md125")
    x, y = terminal.find("data")
    terminal.click(x, y)
    terminal.wait_for("/dev/md127")
    terminal.press("f1")
    terminal.wait_for("Switch the sliders between this")
    terminal.press("escape")
    terminal.wait_for(lambda text: "Switch the sliders between this" not in text)
    terminal.press("/")
    terminal.wait_for("Enter keeps")
    terminal.type("ünï")
    terminal.wait_for("/ ünï")
    terminal.press("escape")
    terminal.wait_for(lambda text: "ünï" not in text)
    terminal.press("q")
    left_as_it_was(terminal)


def test_a_burst_after_the_filters_key_is_text(opens: Opens) -> None:
    """Over a slow line keys come in bursts: the c of /scratch must not start a check."""
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.type("/sdc")
    terminal.wait_for("Enter keeps")
    terminal.wait_for("/ sdc")


_TIME = re.compile(r" \d\d:\d\d:\d\d ")
"""Before a line of pane 6: the two programs do not start in the same second."""


def seen(terminal: Terminal) -> list[list[tuple[object, ...]]]:
    """What is seen of all cells but the clock's line, and the times of pane 6; of a blank, its ink is not."""
    rows = [(row, _TIME.match("".join(c.text for c in row))) for row in terminal.cells[1:]]
    return [
        [
            (c.text, "" if c.text == " " else (c.fg, c.bold), c.bg, c.underline, c.reverse)
            for c in row[time.end() if time else 0 :]
        ]
        for row, time in rows
    ]


def test_cells_that_differ_show_what_whole_pages_do(opens: Opens) -> None:
    ours, stock = opens(), opens(env={"RAIDTUI_STOCK": "1"})
    for pressed, shown in (
        ((), WHOLE), (("down",), "/dev/md127"), (("?",), "Esc back"), (("escape",), SURVIVES),
        (("6",), "Troubles"), (("3",), "Mark now"), (("1",), SURVIVES), (("/",), "Enter keeps"),
    ):  # fmt: skip
        for each in (ours, stock):
            each.press(*pressed)
            each.wait_for(shown)
        ours.wait_for(lambda _: seen(ours) == seen(stock))
    assert ours.bytes_seen < stock.bytes_seen / 2


def test_ctrl_l_draws_again_what_something_else_has_overwritten(opens: Opens, tmp_path: Path) -> None:
    host = ("--root", str(tmp_path / "host"))
    terminal = opens(program=("tty", f">{tmp_path / 'tty'};", sys.executable, "-m", "raidtui", *host))
    for last in ("→ A adds a disk", "^p More"):  # of the page, whatever is drawn first
        terminal.wait_for(last)
    before = terminal.lines()[1:]
    Path((tmp_path / "tty").read_text().strip()).write_text(
        "\x1b[4;1H\x1b[31mata1: hard resetting link\x1b[0m"
    )
    terminal.wait_for("hard resetting link")
    terminal.press("ctrl+l")
    terminal.wait_for(lambda _: terminal.lines()[1:] == before)
    terminal.press("q")
    left_as_it_was(terminal)


def test_another_size(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.resize(50, 12)
    terminal.wait_for("make the window at least 60 x 15")
    terminal.resize(120, 40)
    terminal.wait_for("── members ──")
    terminal.press("q")
    left_as_it_was(terminal)


def test_the_title_says_what_is_wrong_and_comes_back(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.wait_for(lambda _: terminal.title == "✖ nas: media degraded")
    terminal.press("q")
    left_as_it_was(terminal)
    assert b"\x1b[23;2t" in terminal.last


def test_an_exported_size_is_not_the_terminals(opens: Opens) -> None:
    terminal = opens(cols=120, rows=40, env={"COLUMNS": "80", "LINES": "24"})
    terminal.wait_for(lambda _: "More" in terminal.lines()[39])
    terminal.resize(50, 12)
    terminal.wait_for("make the window at least 60 x 15")
    terminal.press("q")
    left_as_it_was(terminal)


def test_ctrl_c_does_not_end_it(opens: Opens) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.press("ctrl+c", "6")
    terminal.wait_for("Troubles")
    terminal.press("q")
    left_as_it_was(terminal)


@pytest.mark.parametrize("run", range(20))
def test_quitting_never_hangs(opens: Opens, run: int) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.press("q")
    left_as_it_was(terminal)


def test_terminated(opens: Opens, tmp_path: Path) -> None:
    terminal = opens()
    terminal.wait_for(WHOLE)
    os.kill(_child(terminal), signal.SIGTERM)
    left_as_it_was(terminal, 143)


UNREADY = """
import sys
from raidtui.__main__ import main
from raidtui.app.app import RaidApp
RaidApp.on_ready = lambda self: None
sys.argv = ["raidtui", "--root", sys.argv[1]]
main()
"""


def test_terminated_before_it_is_ready(opens: Opens, tmp_path: Path) -> None:
    """The driver has set its modes by then, but the loop does not yet listen to signals."""
    (tmp_path / "unready.py").write_text(UNREADY)
    terminal = opens(program=(sys.executable, str(tmp_path / "unready.py"), str(tmp_path / "host")))
    terminal.wait_for(WHOLE)
    assert terminal.has_mode(MOUSE)
    os.kill(_child(terminal), signal.SIGTERM)
    left_as_it_was(terminal, 143)


def _child(terminal: Terminal) -> int:
    """The process below the shell."""
    shell = terminal._program.process.pid  # type: ignore[attr-defined]
    return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])


def test_a_cut_line_ends_it(tmp_path: Path) -> None:
    """Ssh drops: the kernel sends SIGHUP and SIGCONT. Nothing may stay behind, least of all a busy loop."""
    tree = tmp_path / "tree"
    host_tree(*ARRAYS["degraded"]).write_to(tree)
    pid, line = pty.fork()
    if pid == 0:
        os.execv(sys.executable, (sys.executable, "-m", "raidtui", "--root", str(tree)))
    seen = b""
    with contextlib.suppress(OSError):
        termios.tcsetwinsize(line, (24, 80))
        while b"More" not in seen:
            seen += os.read(line, 65536)
    os.close(line)
    until = time.monotonic() + 10
    while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
        os.sched_yield()
    if ended == (0, 0):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert ended[0] == pid, "it is still there ten seconds after the line was cut"


def test_a_character_in_two_halves(opens: Opens) -> None:
    """Over a slow line the bytes of one character come one by one."""
    terminal = opens()
    terminal.wait_for(WHOLE)
    terminal.press("/")
    terminal.wait_for("Enter keeps")
    for byte in "é漢":
        for half in byte.encode():
            os.write(terminal._fd, bytes((half,)))
            terminal.wait_for("/")
    terminal.type("x")
    terminal.wait_for("/ é漢x")
    terminal.press("escape")
    terminal.wait_for(lambda text: "Enter keeps" not in text)
    terminal.press("q")
    left_as_it_was(terminal)


def test_it_draws_on_the_terminal_wherever_errors_go(opens: Opens, tmp_path: Path) -> None:
    raidtui = (sys.executable, "-m", "raidtui", "--root", str(tmp_path / "host"))
    for away in ("2>/dev/full", "2>&-", f"2>{tmp_path}/errors"):
        terminal = opens(program=(*raidtui, away))
        terminal.wait_for(WHOLE)
        terminal.press("q")
        left_as_it_was(terminal)
    assert (tmp_path / "errors").read_bytes() == b""


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_a_terminal_with_ascii_alone(opens: Opens, env: dict[str, str]) -> None:
    terminal = opens(env=env)
    terminal.wait_for(WHOLE)
    text = terminal.screen()
    assert text.isascii()
    assert re.search(r"^ raidtui  nas \| Linux .*\* 2 optimal X 1 degraded", text)
    terminal.press("ctrl+p")
    terminal.wait_for("Search")
    assert terminal.screen().isascii()
    terminal.press("escape")
    terminal.wait_for(lambda text: "Search" not in text)
    terminal.press("q")
    left_as_it_was(terminal)


@pytest.mark.parametrize("words", [("--root", "HOST"), ("--demo",)])
def test_a_dumb_terminal(opens: Opens, tmp_path: Path, words: tuple[str, ...]) -> None:
    named = (str(tmp_path / "host") if word == "HOST" else word for word in words)
    terminal = opens(*named, env={"TERM": "dumb"})
    terminal.wait_for("status 64")
    assert "for scripts there is: raidtui status" in terminal.screen().replace("\n", "")
    left_as_it_was(terminal, 64)


DEFECT = """
import pathlib, sys
import raidtui.app.crash as crash
from raidtui.__main__ import main
from raidtui.{module} import {owner}
state = pathlib.Path(sys.argv[2])
crash.journal_path = lambda: state / "journal.jsonl"
def defect(*_, **__):
    raise ValueError("SSDB0001 is what this fails at")
{owner}.{method} = defect
sys.argv[1:] = ["--root", sys.argv[1]]
main()
"""
DEFECTS = {
    "a key": ("features.arrays.screen.arrays_pane", "ArraysPane", "action_limits"),
    "the start": ("frame.themes", "Themes", "choose"),
    "the input": ("frame.driver", "QuietDriver", "process_message"),
}


@pytest.mark.parametrize("where", DEFECTS)
def test_a_defect_leaves_the_terminal_whole_and_a_report(opens: Opens, tmp_path: Path, where: str) -> None:
    module, owner, method = DEFECTS[where]
    (tmp_path / "defect.py").write_text(DEFECT.format(module=module, owner=owner, method=method))
    state = tmp_path / "state"
    terminal = opens(
        program=(sys.executable, str(tmp_path / "defect.py"), str(tmp_path / "host"), str(state)), cols=200
    )
    if where == "a key":
        terminal.wait_for(WHOLE)
        terminal.type("l")
    left_as_it_was(terminal, 70)
    (report,) = state.glob("crash-*.txt")
    assert f"\n{report}" in terminal.screen()
    assert "Arrays and jobs are not affected" in terminal.screen()
    assert report.stat().st_mode & 0o777 == 0o600
    text = report.read_text()
    assert "ValueError: " in text
    assert f"raidtui {raidtui.__version__}, Python" in text
    assert "TERM=xterm-256color" in text
    assert "Traceback (most recent call last)" in text
    assert "SSDB0001" not in text
    assert "(serial) is what this fails at" in text
    if where == "a key":
        assert "screen MainScreen, pane arrays, 200 x 24" in text
        assert re.search(r"last events:\n +\d\d:\d\d:\d\d \w+: ", text)


@pytest.mark.parametrize(
    ("term", "sequence"),
    [
        ("xterm-kitty", "\x1b]9;vm degraded, now\x1b\\"),
        ("foot-extra", "\x1b]777;notify;raidtui;vm degraded, now\x1b\\"),
        ("xterm-256color", None),
    ],
)
def test_a_notification_only_where_the_terminal_is_known_for_it(
    monkeypatch: pytest.MonkeyPatch, term: str, sequence: str | None
) -> None:
    written: list[str] = []
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(QuietDriver, "_write_apart", lambda _, data: written.append(data))
    QuietDriver.notify(object.__new__(QuietDriver), "vm degraded; now")
    assert written == ([sequence] if sequence else [])
