"""Pane 7's rows, and the card of the chosen one."""

from __future__ import annotations

import shlex
import time

from raidtui.features.advice.advice import Advice
from raidtui.features.advice.ignored import Ignored
from raidtui.features.advice.session import AdviceLook
from raidtui.frame.pages import stamp
from raidtui.frame.pane import SEVERITY_ROLES
from raidtui.view.line import GLYPHS, Line, Span
from raidtui.view.text import fit, fit_words, visible
from raidtui.view.wrapping import labelled, wrapped

Row = tuple[Advice, Ignored | None]
"""A piece of advice, and by what it is ignored."""
_LABEL = 9


def row_line(row: Row, width: int) -> Line:
    """Return a row in ``width`` cells; its card has all of it."""
    (glyph, role), words = _sign(row)
    return [(glyph, role), (fit(fit_words(visible(row[0].text), width - 4), width - 3), words)]


def row_lines(row: Row, width: int) -> list[Line]:
    """Return all of a row in as many lines of ``width`` cells as it takes."""
    sign, words = _sign(row)
    return labelled(sign[0], row[0].text, width - 4, (sign[1], words))


def _sign(row: Row) -> tuple[Span, str]:
    """Return a row's sign, and the role of its words."""
    each, ignored = row
    role = "dim" if ignored is not None else SEVERITY_ROLES[each.severity]
    return (f" {GLYPHS.get(role, '·')} ", role), "dim" if ignored is not None else "plain"


def read_words(look: AdviceLook | None, *, everything: bool, busy: bool) -> tuple[str, ...]:
    """Return what the rule says: the time of the reading.

    Args:
        look: None before the first reading.
        everything: whether what is ignored is shown, too.
        busy: whether the host is being read.
    """
    if busy or look is None:
        return ("reading the host",) if busy else ()
    read = f"read {time.strftime('%H:%M', time.localtime(look.at_s))}"
    hidden = f"{len(look.ignored)} ignored{'' if everything else ': a shows all'}"
    return (read, hidden) if look.ignored else (read,)


def card_lines(row: Row, look: AdviceLook, width: int) -> list[Line]:
    """Return all of a piece of advice in at most ``width`` cells.

    Args:
        row: the chosen one.
        look: for the time.
        width: of the window.
    """
    each, ignored = row
    lines = wrapped(f" {each.text}.", width - 1, "strong", hang=1)
    lines.append([])
    lines += _labelled("Why", each.why, width)
    if each.remedy:
        lines += _labelled("To do", f"{each.remedy}.", width)
    if each.order:
        lines += _labelled("Plan", f"Enter shows it, as does {shlex.join(('raidtui', *each.order))}", width)
    if ignored is not None:
        since = stamp(ignored.at_s, look.at_s)
        end = "for good" if ignored.until_s is None else f"until {_day(ignored.until_s)}"
        reason = f": {ignored.why}" if ignored.why else ""
        words = f"by {ignored.who} since {since}, {end}{reason}. It returns when it gets worse."
        lines += _labelled("Ignored", words, width)
    return lines


def unread_lines(look: AdviceLook, width: int) -> list[Line]:
    """Return what could not be read: about that, nothing is said."""
    return [line for each in look.unread for line in _labelled("Unknown", each, width)]


def _labelled(label: str, text: str, width: int) -> list[Line]:
    return labelled(f" {label:<{_LABEL}}", text, width - _LABEL - 2)


def _day(at_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_s))
