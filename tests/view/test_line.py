"""The line of tabs, and what stands behind a title."""

from __future__ import annotations

import pytest

from raidtui.view.line import tab_line

TABS = (("1", "Arrays"), ("7", "Advice"))
MARKS = {"Advice": ("▲2", "warn")}


def test_a_mark_follows_its_title() -> None:
    assert tab_line(TABS, "Arrays", 30, MARKS) == [
        (" 1 Arrays ", "tab"),
        (" 7 Advice ", "dim"),
        ("▲2 ", "warn"),
        (" " * 7, "plain"),
    ]


@pytest.mark.parametrize(("width", "shown"), [(23, True), (22, False), (20, False)])
def test_a_mark_needs_its_room(width: int, shown: bool) -> None:  # noqa: FBT001
    line = tab_line(TABS, "Advice", width, MARKS)
    assert any(role == "warn" for _, role in line) == shown
    assert sum(len(text) for text, _ in line) == width


def test_without_marks() -> None:
    assert tab_line(TABS, "Advice", 25) == tab_line(TABS, "Advice", 25, {})
