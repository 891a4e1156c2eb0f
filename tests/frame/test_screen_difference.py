"""What is sent instead of whole pages shows the same: pyte gets both, and its cells are compared."""

import random
from collections.abc import Callable

import pyte
import pytest

from raidtui.frame.screen_difference import ScreenDifference, knows_more

COLUMNS, ROWS = 40, 8
SIGNS = "abc   ──█▲●  %"
PENS = (
    "\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[38;5;123m", "\x1b[38;2;1;2;3;48;2;9;8;7m", "\x1b[1;4;94;104m",
    "\x1b[7m", "\x1b[48;5;17m", "\x1b[9;35m", "\x1b[1;7m", "\x1b[1;4;38;5;123;48;5;17m",
    "\x1b[38;5;123;48;5;17m",
)  # fmt: skip
BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"


class OwnPaper(pyte.Screen):
    """A terminal that erases with its own paper, whatever colours are set: one without bce."""

    def erase_characters(self, count: int | None = None) -> None:
        self._erase(super().erase_characters, count)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: FBT001, FBT002  (pyte's)
        self._erase(super().erase_in_line, how, private)

    def _erase(self, erase: Callable[..., None], *how: object) -> None:
        attrs, self.cursor.attrs = self.cursor.attrs, self.default_char
        erase(*how)
        self.cursor.attrs = attrs


class Both:
    """Two terminals: one gets what Textual writes, the other one what is sent instead."""

    def __init__(self, columns: int = COLUMNS, rows: int = ROWS, *, knows_more: bool = False) -> None:
        self.whole = pyte.Screen(columns, rows)
        self.short = pyte.Screen(columns, rows) if knows_more else OwnPaper(columns, rows)
        self.difference = ScreenDifference(columns, rows, knows_more=knows_more)
        self.sent = ""

    def write(self, data: str) -> str:
        pyte.Stream(self.whole).feed(data)
        self.sent = self.difference.difference(data)
        pyte.Stream(self.short).feed(self.sent)
        assert cells(self.short) == cells(self.whole)
        return self.sent


def cells(screen: pyte.Screen) -> list[list[tuple[object, ...]]]:
    """What is seen of each cell."""
    return [
        [
            (each.data, each.bg, each.underscore, each.reverse, each.strikethrough)
            if each.data == " "
            else (each.data, each.fg, each.bg, each.bold, each.underscore, each.reverse, each.strikethrough)
            for each in (screen.buffer[y][x] for x in range(screen.columns))
        ]
        for y in range(screen.lines)
    ]


def at(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


def piece(chance: random.Random, x: int, *, wide: bool) -> str:
    """A run of signs as rich writes it, within the line."""
    signs, left = "", COLUMNS if wide else chance.randint(1, COLUMNS - x)
    while left:
        sign = chance.choice(SIGNS + ("日e\u0301" if wide else ""))
        if sign == "日" and left < 2:
            continue
        if sign != "\u0301":
            left -= 2 if sign == "日" else 1
        elif not signs:
            continue
        signs += sign
    return f"{chance.choice(PENS)}{signs}\x1b[0m"


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_random_updates_show_the_same(seed: int, *, more: bool) -> None:
    chance = random.Random(seed)  # noqa: S311  (no secret)
    both = Both(knows_more=more)
    for _ in range(60):
        parts = []
        for _ in range(chance.randint(1, 6)):
            wide = seed % 4 == 0  # terminals differ in what is left of half a wide sign
            x, y = 0 if wide else chance.randrange(COLUMNS), chance.randrange(ROWS)
            parts.append(at(x, y) + piece(chance, x, wide=wide))
            if y + 1 < ROWS and chance.random() < 0.2:
                parts.append("\n")
        if chance.random() < 0.1:
            both.difference.forget()
        both.write(BEGIN + "".join(parts) + END)


@pytest.mark.parametrize("seed", range(20))
def test_of_pages_that_are_held_back_the_last_is_shown(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  (no secret)
    whole, short = pyte.Screen(COLUMNS, ROWS), OwnPaper(COLUMNS, ROWS)
    difference = ScreenDifference(COLUMNS, ROWS)
    for _ in range(40):
        for _ in range(chance.randint(1, 4)):
            x, y = chance.randrange(COLUMNS), chance.randrange(ROWS)
            page = f"{BEGIN}{at(x, y)}{piece(chance, x, wide=False)}{END}"
            pyte.Stream(whole).feed(page)
            assert difference.difference(page, hold=True) == ""
        if chance.random() < 0.1:
            pyte.Stream(short).feed(difference.whole())
        pyte.Stream(short).feed(difference.held())
        assert cells(short) == cells(whole)
        assert difference.held() == ""


def test_a_page_that_another_one_follows_at_once_is_not_sent() -> None:
    difference = ScreenDifference(COLUMNS, ROWS)
    difference.difference(f"{at(0, 0)}\x1b[0mdata  resync")
    difference.difference(f"{at(0, 0)}Reading.    ", hold=True)
    difference.difference(f"{at(0, 0)}root  resync{at(3, 1)}", hold=True)
    assert difference.held() == "\x1b[1Hroot\x1b[2;4H"


def test_modes_pass_what_is_held_back() -> None:
    difference = ScreenDifference(COLUMNS, ROWS)
    sent = difference.difference(f"{BEGIN}\x1b[?25l{at(0, 0)}data{END}", hold=True)
    assert sent == "\x1b[?25l"
    assert difference.held() == "\x1b[1H\x1b[mdata\x1b[1;5H"


def test_what_is_held_back_comes_before_what_is_not_understood() -> None:
    difference = ScreenDifference(COLUMNS, ROWS)
    difference.difference(f"{at(0, 0)}data", hold=True)
    sent = difference.difference("\x1b[5n", hold=True)
    assert sent.index("data") < sent.index("\x1b[5n")
    assert difference.held() == ""


def test_nothing_is_sent_for_what_is_there() -> None:
    both = Both()
    page = f"{BEGIN}{at(0, 0)}\x1b[1;31mRAID\x1b[0m 10   {at(0, 1)}\x1b[44m  ok  \x1b[0m{END}"
    assert both.write(page)
    assert both.write(page) == ""


def test_only_what_differs_is_sent() -> None:
    both = Both()
    both.write(f"{at(0, 2)}\x1b[32mdata   54.2 % of the resync\x1b[0m")
    sent = both.write(f"{at(0, 2)}\x1b[32mdata   54.3 % of the resync\x1b[0m")
    assert sent == f"{at(10, 2)}3"  # the pen is still green
    assert both.write(f"{at(0, 2)}\x1b[31mdata\x1b[0m") == "\x1b[3H\x1b[31mdata"


def test_the_end_of_a_line_is_erased() -> None:
    both = Both()
    both.write(f"{at(0, 0)}{'x' * COLUMNS}")
    assert both.write(f"{at(0, 0)}ab{' ' * (COLUMNS - 2)}") == "\x1b[1Hab\x1b[K"


def test_a_coloured_end_is_not_erased() -> None:
    """Not every terminal erases with the present colour; what others need is shorter."""
    page = f"{at(0, 0)}\x1b[44m{' ' * COLUMNS}\x1b[0m"
    both, tinting = Both(), Both(knows_more=True)
    for each in (both, tinting):
        each.write(f"{at(0, 0)}{'x' * COLUMNS}")
    assert "\x1b[K" not in both.write(page)
    assert tinting.write(page) == "\x1b[1H\x1b[44m\x1b[K"


def test_blanks_between_are_erased_where_that_is_shorter() -> None:
    both = Both()
    both.write(f"{at(0, 0)}{'x' * COLUMNS}")
    assert both.write(f"{at(0, 0)}a{' ' * 20}b") == "\x1b[1Ha\x1b[20X\x1b[20Cb"
    assert both.write(f"{at(0, 0)}a{' ' * 20}bc{' ' * 8}d") == f"\x1b[1;23Hc{' ' * 8}d"


def test_blanks_that_are_there_cost_nothing_within_what_is_erased() -> None:
    both = Both()
    both.write(f"{at(0, 0)}a{' ' * 10}xxxxx{' ' * 10}xxxx{' ' * 10}")
    assert both.write(f"{at(0, 0)}a{' ' * (COLUMNS - 1)}") == "\x1b[1;12H\x1b[K"
    both.write(f"{at(1, 1)}ab{' ' * 8}xxxxxxx{' ' * 9}xxxxxxxxxxb")
    assert both.write(f"{at(1, 1)}ac{' ' * 34}b") == f"\x1b[2;3Hc\x1b[34X{at(38, 1)}"


@pytest.mark.parametrize(
    ("term", "known"),
    [
        ("xterm-256color", True),
        ("linux", True),
        ("screen", False),
        ("tmux-256color", False),
        ("vt220", False),
        ("", False),
    ],
)
def test_which_terminals_know_more(term: str, *, known: bool) -> None:
    assert knows_more(term) is known


@pytest.mark.parametrize(
    "foreign", ["\x1b[2J", "\x1b[?1049h", "\x1bc", "\x1b]0;title\x07", "\a", "\x1b[22m", "no place"]
)
def test_what_is_not_understood_goes_through_and_nothing_is_known_then(foreign: str) -> None:
    both = Both()
    page = f"{at(0, 0)}\x1b[1;31mRAID\x1b[0m 10{' ' * 20}"
    both.write(page)
    pyte.Stream(both.short).feed("\x1b[m")
    assert both.difference.difference(foreign) == f"\x1b[m{foreign}"
    pyte.Stream(both.whole).feed(foreign)
    pyte.Stream(both.short).feed(f"\x1b[m{foreign}")
    sent = both.write(page)
    assert "RAID" in sent
    assert "10" in sent


def test_modes_that_change_no_cell_are_passed_on_in_their_place() -> None:
    both = Both()
    both.write(f"{at(0, 0)}a")
    assert both.write(f"\x1b[?25l{at(0, 0)}b\x1b[?25h") == "\x1b[?25l\x1b[1Hb\x1b[?25h"
    assert both.write(f"{at(0, 0)}b") == ""


def test_the_pointer_s_shape_is_sent_where_it_changes() -> None:
    """Textual sets it with each page. Sequences of OSC show on terminals that do not know them."""
    both = Both()
    page = f"{at(0, 0)}RAID 10"
    both.write(page)
    link, back = "\x1b]22;pointer\x07", "\x1b]22;default\x07"
    assert both.difference.difference(f"{back}{page}") == ""
    assert both.difference.difference(f"{link}{page}") == link
    assert both.difference.difference(link) == ""
    assert both.difference.difference(back) == back


def test_the_cursor_is_where_it_was_put() -> None:
    both = Both()
    both.write(f"{at(0, 0)}name{at(4, 0)}")
    assert (both.short.cursor.x, both.short.cursor.y) == (4, 0)


def test_a_line_beyond_the_screen_is_not_understood() -> None:
    both = Both()
    data = f"{at(0, ROWS)}beyond"
    assert both.difference.difference(data) == f"\x1b[m{data}"


def test_half_a_wide_sign_is_blanked() -> None:
    difference = ScreenDifference(COLUMNS, ROWS)
    difference.difference(f"{at(0, 0)}ab日日c")
    assert difference.difference(f"{at(3, 0)}x") == "\x1b[1Hab x日c"
    assert difference.difference(f"{at(4, 0)}y") == "\x1b[1Hab xy c"
