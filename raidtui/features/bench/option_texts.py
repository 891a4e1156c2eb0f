"""The texts of options, as forms and the command line read them; limits, and refusals. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

MOST_RUNS = 5000
"""The maximum for one benchmark."""
ONE = "one"
"""Instead of a chunk: the first of the devices by itself, for comparison."""
_SIZE = re.compile(r"([0-9]{1,15})([kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_MOST_DIGITS = 9
_LIMITS = {
    "repeats": ("the number of repeats", 1, MOST_RUNS),
    "cool": ("the pause before each run in seconds", 0, 86400),
    "precondition": ("the number of times the size is written", 0, 100),
    "member_size": ("the size of each member in KiB", 0, 1 << 40),
}
V = TypeVar("V")


class FieldRefusal(Refusal, frozen=True, kw_only=True):
    """A refusal, maybe about one part of a request.

    Args:
        part: a field of ``Request``, or of a workload; a knob's name; "" for none.
        form_remedy: the remedy in a form, where it differs from that on the command line.
    """

    part: str = ""
    form_remedy: str = ""


def refuse(
    why: str,
    remedy: str = "",
    *,
    code: RefusalCode = RefusalCode.INVALID,
    part: str = "",
    form_remedy: str = "",
) -> FieldRefusal:
    """Return a refusal; see ``FieldRefusal``."""
    return FieldRefusal(code=code, why=why, remedy=remedy, part=part, form_remedy=form_remedy)


def refuse_number(name: str, number: int) -> FieldRefusal | None:
    """Return why a number is out of its range, or None.

    Args:
        name: repeats, cool, precondition or member_size.
        number: repeats, seconds, times or KiB.
    """
    words, least, most = _LIMITS[name]
    if least <= number <= most:
        return None
    why = f"{words} must be between {least} and {most}, not {number}"
    return refuse(why, part=name)


class RequestError(Exception):
    """The text of an option cannot be read.

    Attributes:
        option: which one, as the command line names it, with underscores.
        why: what is wrong, with the word concerned.
        remedy: what to give instead; "" where that is obvious.
    """

    def __init__(self, option: str, why: str, remedy: str = "") -> None:
        super().__init__(f"{why}; {remedy}" if remedy else why)
        self.option, self.why, self.remedy = option, why, remedy


def read_size(option: str, text: str) -> int:
    """Return the bytes of "4k", "500m" or "2g".

    Raises:
        RequestError: it is not a size.
    """
    size = parse_size(text)
    if size is None:
        raise RequestError(option, f"{text} is not a size", "give it as 4k, 500m or 2g")
    return size


def read_number(option: str, text: str) -> int:
    """Return a whole number.

    Raises:
        RequestError: it is not one.
    """
    if not _NUMBER.fullmatch(text.strip()):
        raise RequestError(option, f"{text} is not a number")
    return int(text)


def read_values(option: str, text: str, read: Callable[[str, str], V]) -> tuple[V, ...]:
    """Return the values of "1,8,32", each read by ``read``.

    Raises:
        RequestError: one cannot be read.
    """
    return tuple(read(option, word) for word in sweep_values(text))


def read_chunk(option: str, word: str) -> str:
    """Return a chunk as it was typed.

    Raises:
        RequestError: it is neither a number of KiB nor "one".
    """
    number = word.isdecimal() and len(word) <= _MOST_DIGITS and int(word) > 0
    if word != ONE and not number:
        raise RequestError(option, f"{word} is not a size in KiB", "give numbers, or one")
    return word


def sweep_values(text: str) -> tuple[str, ...]:
    """Return the values of "1,8,32"; "1..31" is a range."""
    return tuple(value for word in text.split(",") if word.strip() for value in _span(word.strip()))


def _span(word: str) -> Sequence[str]:
    first, dots, last = word.partition("..")
    numbers = all(each.isdecimal() and len(each) < 8 for each in (first, last))
    if not dots or not numbers or not 0 < int(last) - int(first) < MOST_RUNS:
        return (word,)
    return [str(number) for number in range(int(first), int(last) + 1)]


def parse_size(text: str) -> int | None:
    """Return the bytes of "4k", "500M", "2g" or "4096" (K is 1024), or None where it is no size above 0."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(found[1]) * KIB ** _POWERS[found[2].lower()] or None
