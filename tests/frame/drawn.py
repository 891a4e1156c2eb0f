"""Lines as text, for tests that compare what is drawn without a screen."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.view.line import Line


def texts(lines: Sequence[Line]) -> list[str]:
    """Return lines without roles, and without blanks at their ends."""
    return ["".join(part for part, _ in line).rstrip() for line in lines]


def text(lines: Sequence[Line]) -> str:
    """Return the same as one text."""
    return "\n".join(texts(lines))
