"""Names from outside never move the cursor, and columns stay columns."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from raidtui.view.text import cell_width, fit, fit_figure, fit_words, tail, visible

TRIES = settings(max_examples=200, deadline=None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("data", "data"),
        ("Daten Büro", "Daten Büro"),
        ("数据", "数据"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\tb\nc\r", "a\\x09b\\x0ac\\x0d"),
        ("\x7f\x80\x9b", "\\x7f\\u0080\\u009b"),
        ("x\u202egpj.exe", "x\\u202egpj.exe"),
        ("\u2066a\u2069", "\\u2066a\\u2069"),
        ("נתונים", "\\u05e0\\u05ea\\u05d5\\u05e0\\u05d9\\u05dd"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("e\u0301", "e\\u0301"),
        ("☺\ufe0f", "☺\\ufe0f"),
        ("\u0e01\u0e31", "\u0e01\\u0e31"),
        ("\u115f\u1160", "\\u115f\\u1160"),
        ("\U0001f1e9\U0001f1ea", "\\U0001f1e9\\U0001f1ea"),
        ("\u00a0", " "),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("", ""),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_character_that_stays_is_of_one_width_for_all() -> None:
    """Over all of Unicode: what is left as it is moves nothing, and rich counts the cells that we count."""
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        shown = visible(char)
        if shown != char:
            assert shown.isascii()
            assert shown.isprintable()
            continue
        assert cell_width(char) == cell_len(char) > 0, hex(code)
        assert unicodedata.bidirectional(char) not in {"R", "AL", "AN"}, hex(code)
        assert unicodedata.category(char)[0] not in "CM", hex(code)


@TRIES
@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert shown.isprintable()
    assert cell_width(shown) == cell_len(shown) >= len(text)


@TRIES
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_ascii_is_left_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert cell_width(text) == len(text)


@TRIES
@given(st.text(), st.integers(-3, 40))
def test_fit_gives_exactly_the_width(text: str, width: int) -> None:
    shown = visible(text)
    fitted = fit(shown, width)
    assert cell_width(fitted) == cell_len(fitted) == max(0, width)
    if cell_width(shown) <= width:
        assert fitted.rstrip(" ") == shown.rstrip(" ")
    elif width > 0:
        kept, ellipsis, fill = fitted.partition("…") if "…" not in shown else (shown[:0], "…", "")
        assert (shown.startswith(kept), ellipsis, fill.strip(" ")) == (True, "…", "")


@TRIES
@given(st.text(), st.integers(-3, 40))
def test_tail_gives_at_most_the_width(text: str, width: int) -> None:
    shown = visible(text)
    last = tail(shown, width)
    if cell_width(shown) <= width:
        assert last == shown
    elif width <= 0:
        assert last == ""
    else:
        assert last[0] == "…"
        assert shown.endswith(last[1:])
        assert width - 1 <= cell_width(last) <= width


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        ("media", 8, "media   "),
        ("media", 5, "media"),
        ("media", 4, "med…"),
        ("media", 1, "…"),
        ("media", 0, ""),
        ("数据库", 6, "数据库"),
        ("数据库", 5, "数据…"),
        ("数据库", 4, "数… "),
    ],
)
def test_fit(text: str, width: int, fitted: str) -> None:
    assert fit(text, width) == fitted


@pytest.mark.parametrize(
    ("text", "width", "last"),
    [("PHWL518400AB240D", 6, "…B240D"), ("abc", 3, "abc"), ("abc", 1, "…"), ("数据库", 4, "…库")],
)
def test_tail(text: str, width: int, last: str) -> None:
    assert tail(text, width) == last


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("held back by: max limit", 23, "held back by: max limit"),
        ("held back by: max limit", 25, "held back by: max limit  "),
        ("held back by: max limit", 22, "held back by: max …   "),
        ("about 501 MB/s", 9, "about …  "),
        ("about 501 MB/s", 12, "about 501 … "),
        ("a 501 MB/s", 2, "a…"),
        ("nvme0n1p12", 8, "nvme0n1…"),
        ("   1234567", 8, "        "),
        ("1234567 IOPS", 4, "    "),
        ("x", 0, ""),
    ],
)
def test_fit_words(text: str, width: int, shown: str) -> None:
    assert fit_words(text, width) == shown


@pytest.mark.parametrize(("width", "shown"), [(8, "501 MB/s"), (10, "501 MB/s  "), (7, "       "), (0, "")])
def test_fit_figure(width: int, shown: str) -> None:
    assert fit_figure("501 MB/s", width) == shown


@given(text=st.text(alphabet="ab 123.,", max_size=30), width=st.integers(0, 30))
def test_no_half_a_figure(text: str, width: int) -> None:
    shown = fit_words(text, width)
    assert cell_width(shown) == width
    words = set(text.split())
    assert all(word in words for word in shown.replace("…", " ").split() if word[0].isdigit())
