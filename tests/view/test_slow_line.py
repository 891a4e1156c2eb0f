"""Which terminals are at the end of a slow line."""

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from raidtui.view import palette
from raidtui.view.slow_line import SlowLine, slow_baud, unsent_bytes


@pytest.fixture
def terminal() -> Iterator[int]:
    """A pseudo terminal's own end."""
    controller, descriptor = pty.openpty()
    yield descriptor
    os.close(descriptor)
    os.close(controller)


def set_speed(descriptor: int, speed: int) -> None:
    modes = termios.tcgetattr(descriptor)
    modes[4] = modes[5] = speed
    termios.tcsetattr(descriptor, termios.TCSANOW, modes)


@pytest.mark.parametrize(
    ("speed", "baud"),
    [
        (termios.B1200, 1200),
        (termios.B9600, 9600),
        (termios.B19200, 19_200),
        (termios.B38400, None),
        (termios.B115200, None),
        (termios.B0, None),
    ],
)
def test_up_to_19200_baud_a_line_is_slow(terminal: int, speed: int, baud: int | None) -> None:
    set_speed(terminal, speed)
    assert slow_baud(terminal) == baud


def test_a_pseudo_terminal_is_not_slow_unless_it_says_so(terminal: int) -> None:
    assert slow_baud(terminal) is None


def test_what_is_no_terminal_is_not_slow() -> None:
    read, write = os.pipe()
    try:
        assert slow_baud(write) is None
        assert unsent_bytes(read) == 0
    finally:
        os.close(read)
        os.close(write)
    assert slow_baud(read) is None


def test_the_theme_of_a_slow_line_has_the_terminals_own_colours(
    terminal: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLORFGBG", raising=False)
    monkeypatch.setattr(
        palette, "slow_baud", lambda descriptor: slow_baud(terminal) if descriptor == 1 else None
    )
    assert palette.choose_theme(None) == "dark"
    set_speed(terminal, termios.B9600)
    assert palette.choose_theme(None) == "ansi"
    assert palette.choose_theme("light") == "light"


def test_a_line_is_free_when_all_that_was_written_has_left() -> None:
    now, unsent = [0.0], [0]
    line = SlowLine(9600, unsent=lambda: unsent[0], clock=lambda: now[0])
    assert line.wait_s() == 0
    line.note(960)
    assert line.wait_s() == pytest.approx(1.0)
    line.note(480)
    now[0] = 0.5
    assert line.wait_s() == pytest.approx(1.0)
    now[0] = 1.49
    assert line.wait_s() == 0  # nearly
    now[0] = 10.0
    line.note(960)
    assert line.wait_s() == pytest.approx(1.0)  # a line that was idle has saved up nothing


def test_what_the_kernel_holds_counts_where_it_is_more() -> None:
    unsent = [1920]
    line = SlowLine(9600, unsent=lambda: unsent[0], clock=lambda: 5.0)
    assert line.wait_s() == pytest.approx(2.0)  # stopped by XOFF, for one
    unsent[0] = 0
    assert line.wait_s() == 0
