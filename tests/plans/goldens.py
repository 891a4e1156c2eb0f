"""Accepted plans: what is answered to a request, as a section of ``snapshots/plans/MODULE.txt``.

A module of tests has a table of requests by name: ``test_plans = accepted({name: lambda: plan_x(...)})``.
The section of a name is the whole answer, each field that is not as by default, so that a new one shows by
itself. Where many requests differ in little, ``brief`` leaves out guards and undo, ``commands`` all but the
commands.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields, replace

from raidtui.model.fact import Fact
from raidtui.model.plan import Loss, Plan, PutFile, Refusal, RunTool, Step, WaitUntil, Write
from tests.goldens import Goldens

_STEPS = (Write, PutFile, RunTool, WaitUntil)
_SHOWN: dict[type[Struct], set[str]] = {
    Write: {"path", "text"},
    PutFile: {"path"},
    RunTool: {"argv", "stdin"},
    Plan: {"loss_sentences"},
    Refusal: {"code"},
}
"""Fields that the line above them, or another field, shows whole."""


def _itself(case: object) -> object:
    return case


def accepted(cases: Mapping[str, Any], shown: Callable[[Any], object] = _itself) -> Callable[..., None]:
    """Return a test that compares the answer to each case with the section of its name.

    Args:
        cases: by their names what answers when it is called, or what ``shown`` is given.
        shown: what is compared: a plan, a refusal, steps, or text, ``commands`` for example.
    """

    @pytest.mark.parametrize("case", cases)
    def answers(case: str, request: pytest.FixtureRequest) -> None:
        asked = cases[case]
        answer = shown(asked() if callable(asked) else asked)
        Goldens(request, "plans").compare(case, "\n".join(_lines(answer)) + "\n")

    return answers


def commands(found: Plan | Refusal | Iterable[Step]) -> list[str]:
    """Return what a plan does, as a shell user would type it."""
    assert not isinstance(found, Refusal), found
    return [step.command for step in (found.steps if isinstance(found, Plan) else found)]


def brief(found: Plan | Refusal) -> Plan | Refusal:
    """Return a plan without what its steps are guarded by, and what takes them back."""
    if isinstance(found, Refusal):
        return found
    steps = (replace(step, needs=(), awaits=(), proves=(), undo=()) for step in found.steps)
    return replace(found, steps=tuple(steps), undo=())


def _lines(value: object) -> Iterator[str]:
    """Yield the lines of whatever is shown."""
    if isinstance(value, Loss):
        yield value.sentence
    elif isinstance(value, _STEPS):
        yield value.command
        yield from (f"  {line}" for line in _fields(value))
    elif isinstance(value, Refusal):
        words = re.sub(r"\B([A-Z])", r" \1", type(value).__name__).lower()
        yield words if words == value.code.replace("-", " ") else f"{words}: {value.code}"
        yield from _fields(value)
    elif isinstance(value, Struct):
        yield from _fields(value)
    elif isinstance(value, (tuple, list)):
        facts = all(isinstance(each, Fact) for each in value)
        yield from _facts(value) if facts else itertools.chain.from_iterable(map(_lines, value))
    else:
        yield from _text(str(value))


def _text(text: str) -> Iterator[str]:
    """Yield the lines of a text; those of several have a mark, as blanks and the last newline count."""
    *lines, last = text.split("\n")
    yield from (f"| {line}" if line else "|" for line in lines)
    if last:
        yield f"| {last}" if lines else last
    if last and lines:
        yield "(no newline at the end)"


def _fields(value: Struct) -> Iterator[str]:
    if isinstance(value, Plan) and value.undo:
        for words, steps in (("last to first", value.steps[::-1]), ("first to last", value.steps)):
            if value.undo == tuple(back for step in steps for back in step.undo):
                yield from _fields(replace(value, undo=()))
                yield f"undo: that of the steps, {words}"
                return
    hidden = {name for kind, names in _SHOWN.items() if isinstance(value, kind) for name in names}
    given = [(field, getattr(value, field.name)) for field in fields(value)]
    for field, now in sorted(given, key=lambda each: _has_steps(each[1])):
        if field.name not in hidden and now != field.default:
            yield from _field(field.name.replace("_", " "), now)


def _has_steps(value: object) -> bool:
    """Whether it is shown last."""
    return isinstance(value, tuple) and any(isinstance(each, _STEPS) for each in value)


def _field(name: str, value: Any) -> Iterator[str]:
    if value is True:
        yield name
    elif isinstance(value, Enum):
        yield f"{name}: {value.name.lower().replace('_', '-')}"
    elif isinstance(value, str) and "\n" in value:
        yield f"{name}:"
        yield from (f"  {line}" for line in _text(value))
    elif (
        isinstance(value, tuple)
        and value
        and all(isinstance(each, str) and " " not in each for each in value)
    ):
        yield f"{name}: {' '.join(value)}"
    elif isinstance(value, tuple):
        lines = list(_lines(value))
        inline = len(lines) == 1 and isinstance(value[0], Fact)
        yield f"{name}: {lines[0]}" if inline else f"{name}:"
        yield from () if inline else (f"  {line}" for line in lines)
    else:
        yield f"{name}: {value}" if value or value == 0 else f"{name}:"


def _facts(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield a line of the facts about each thing, in their order."""
    for subject, about in itertools.groupby(facts, lambda fact: fact.subject):
        yield f"{subject} {', '.join(_fact(each) for each in about)}"


def _fact(fact: Fact) -> str:
    if not fact.value:
        return fact.kind.value
    plain = "\n" not in fact.value and ", " not in fact.value and fact.value == fact.value.strip()
    return f"{fact.kind.value} {fact.value if plain else repr(fact.value)}"
