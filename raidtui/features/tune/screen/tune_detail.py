"""Below pane 4's table: the chosen knob's value, who has set it, its value after a reboot, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.features.tune.screen.tune_rows import KnobRow
from raidtui.model.finding import Severity
from raidtui.model.knob import By, KnobScope, Subject, Tuning, Value
from raidtui.model.knob_table import KNOBS, risk_of
from raidtui.plans.tune.findings import TuneFinding, judge_tuning
from raidtui.plans.tune.now import names_of
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.wrapping import wrap, wrapped

_LABEL = 11
_VALUE, _BY = 22, 20
ONCE = {"none": "was noop", "mq-deadline": "was deadline", "bfq": "closest to cfq, which is gone"}
"""By scheduler, the name up to Linux 4.20 of it or of what it replaced."""
_WIDEST = 124
"""Longer lines are hard to read."""


def body_lines(
    tuning: Tuning, row: KnobRow | None, knob: str, width: int, news: Sequence[tuple[str, str]] = ()
) -> list[Line]:
    """Return everything below the rule.

    Args:
        tuning: all values.
        row: the chosen row, if any.
        knob: the chosen knob.
        width: of the window.
        news: sentences about the last change, with their roles.
    """
    width = min(width, _WIDEST)
    lines = [line for sentence, role in news for line in _wrapped(sentence, width, role)]
    findings = judge_tuning(tuning)
    near: list[TuneFinding] = []
    if row is not None:
        near = [each for each in findings if _is_about(each, row.of(knob), knob)]
        lines += _head(row, knob, width)
        lines += [line for each in near for line in _found(each, width)]
        lines += _facts_of(row, knob, width, risk=not any(each.with_risk for each in near))
    rest = [each for each in findings if each not in near]
    if rest and lines:
        lines.append([])
    lines += [line for each in rest for line in _found(each, width)]
    return lines + [line for lack in tuning.lacks for line in _wrapped(lack, width, "dim")]


def title_of(row: KnobRow, knob: str) -> str:
    """Return ``queue_depth of sda``, ``governor of policy0 to policy7``."""
    return f"{knob} of {names_of(row.of(knob))}"


def range_words(knob: str, value: Value, *, explained: bool = False) -> str:
    """Return the possible values: ``none, mq-deadline``, ``1 to 32``, ``4 or more``.

    Args:
        knob: its name.
        value: the present value.
        explained: whether schedulers have their old names beside them.
    """
    unit = f" {KNOBS[knob].unit}" if KNOBS[knob].unit else ""
    if value.choices:
        old = ONCE if explained and knob == "scheduler" else {}
        words = ", ".join(f"{word} ({old[word]})" if word in old else word for word in value.choices)
        return f"{words}{unit}"
    low = value.low if value.low is not None else 0
    words = f"{low} or more{unit}" if value.high is None else f"{low} to {value.high}{unit}"
    return f"{words}, or system" if knob.startswith("sync_speed_") else words


def knob_lines(row: KnobRow | None, width: int, height: int) -> list[Line]:
    """Return all knobs of a row in at most ``height`` lines: value, possible values, who has set it."""
    if row is None:
        return []
    values = [(knob, value) for knob in row.knobs if (value := row.value(knob)) is not None]
    named = max((len(knob) for knob, _ in values), default=0)
    lines: list[Line] = []
    for knob, value in values:
        unit = f" {KNOBS[knob].unit}" if KNOBS[knob].unit and value.text.isdigit() else ""
        figure = fit(visible(f"{value.text}{unit}"), _VALUE)
        by = fit(visible(value.set_by.words), _BY)
        room = max(0, width - named - _VALUE - _BY - 6)
        first, *rest = wrap(range_words(knob, value), max(20, room))
        lines.append([(f" {knob:<{named}}  ", "dim"), (f"{figure}  ", "plain"), (f"{by} {first}", "dim")])
        lines += [[(" " * (width - room - 1) + part, "dim")] for part in rest]
    return lines[:height]


def _head(row: KnobRow, knob: str, width: int) -> Iterator[Line]:
    value = row.value(knob)
    text = "none"
    if value is not None:
        unit = f" {KNOBS[knob].unit}" if KNOBS[knob].unit and value.text.isdigit() else ""
        text = f"{value.text}{unit}"
    head = visible(f" {title_of(row, knob)}: {text}")
    what = visible(_identity(row.of(knob)[0]))
    room = width - cell_width(head) - cell_width(what) - 1
    end = [(" " * room + what, "dim")] if what and room > 1 else []
    yield [(fit(head, min(width, cell_width(head))), "strong"), *end]
    if what and not end:
        yield [(fit(f" {what}", width), "dim")]


def _identity(subject: Subject) -> str:
    if subject.scope is KnobScope.DISK:
        return " · ".join(word for word in (subject.model.strip(), subject.identity) if word)
    return subject.kind


def _is_about(finding: TuneFinding, subjects: Sequence[Subject], knob: str) -> bool:
    return any((subject.name, knob) in finding.about for subject in subjects)


def _facts_of(row: KnobRow, knob: str, width: int, *, risk: bool) -> Iterator[Line]:
    value = row.value(knob)
    if value is None:
        why = row.why_not(knob)
        yield from _wrapped(f"{why[0].upper()}{why[1:]}.", width)
        return
    default = f"; the kernel's default is {value.default}" if value.default is not None else ""
    yield from _wrapped(f"{range_words(knob, value, explained=True)}{default}.", width, "dim")
    yield from _wrapped(f"{_by(value)} {_boot(value)}{_kept_elsewhere(knob)}", width)
    for each in (other for other in value.others if not other.ours):
        yield from _wrapped(each.boot_sentence, width, "dim")
    risks = f" {risk_of(knob, row.subject)}" if risk else ""
    yield from _wrapped(f"{KNOBS[knob].what}{risks}", width)


def _by(value: Value) -> str:
    if value.set_by.by is By.UNKNOWN:
        found = ": nothing that sets it was found" if value.unexplained else ""
        return f"It is not known who has set it{found}."
    if value.set_by.by is By.KERNEL:
        return "Nothing that sets it was found."
    return f"Set by {value.set_by.sentence}."


def _boot(value: Value) -> str:
    kept = f"raidtui keeps it at {value.kept}. " if value.kept is not None else ""
    if value.unexplained:
        return f"{kept}A value set by hand does not survive a reboot."
    if value.survives is None:
        return f"{kept}Its value after a reboot is not known."
    return kept + (
        "A reboot does not change it." if value.survives else f"After a reboot it is {value.at_boot}."
    )


def _kept_elsewhere(knob: str) -> str:
    """Return how a value is kept that raidtui does not keep, a sentence; "" for others."""
    phrase = KNOBS[knob].no_keep
    return f" {phrase[0].upper()}{phrase[1:]}." if phrase else ""


def _found(finding: TuneFinding, width: int) -> Iterator[Line]:
    grave = finding.severity > Severity.INFO
    role = "warn" if grave else "accent"
    label = f" {GLYPHS['warn']} {visible(finding.name)}"
    room = max(20, width - _LABEL - 1)
    for number, part in enumerate(wrap(finding.sentence, room)):
        head = fit(label if number == 0 else "", _LABEL - 1)
        yield [(f"{head} ", role), (part, "warn" if grave else "plain")]
    for number, part in enumerate(wrap(finding.remedy, max(20, width - _LABEL - 3))):
        yield [(" " * _LABEL + ("→ " if number == 0 else "  "), "dim"), (part, "plain")]


def _wrapped(text: str, width: int, role: str = "plain") -> list[Line]:
    return wrapped(text, max(20, width - 2) + 1, role, indent=1)
