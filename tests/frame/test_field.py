"""A line that is typed: keys, what is pasted, and how it is shown."""

from __future__ import annotations

from raidtui.frame.text_field import field_lines, field_of


def test_typing() -> None:
    line = field_of("/srv/a.html", 14)
    for key, character in (("left", None), ("home", None), ("delete", None), ("x", "x"), ("end", None)):
        line = line.pressed(key, character) or line
    assert (line.text, line.at) == ("xsrv/a.html", 11)
    line = line.pasted("1\x1b234\nnot this")
    assert (line.text, line.at) == ("xsrv/a.html123", 14)
    assert line.pressed("y", "y") == line
    assert line.pressed("f5", None) is None
    for key in ("backspace", "left", "left", "backspace", "right"):
        line = line.pressed(key, None) or line
    assert (line.text, line.at) == ("xsrv/a.htm12", 11)
    emptied = line.pressed("ctrl+u", None)
    assert emptied is not None
    assert (emptied.text, emptied.at) == ("2", 0)


def test_a_long_line_takes_several() -> None:
    lines = field_lines(field_of("/srv/bench/写真/results.html", 99), 20)
    assert ["".join(part for part, _ in line) for line in lines] == [
        "   /srv/bench/写真/r",
        "   esults.html▏",
    ]
