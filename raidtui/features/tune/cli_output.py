"""What ``raidtui tune`` prints: knobs as a table or in detail, and everything as JSON (docs/tune.md)."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Sequence
from typing import Any

from raidtui.features.tune.session import TuneResult
from raidtui.model.attribution import who_set, who_set_words
from raidtui.model.knob import By, KnobScope, Setting, Subject, Tuning, Value
from raidtui.model.knob_table import KNOBS, risk_of
from raidtui.model.plan import NothingToDo
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.findings import TuneCode, TuneFinding, judge_tuning, odd_members
from raidtui.plans.tune.profiles import Profile
from raidtui.view.text import fit

FORMAT_VERSION = 1
NOTHING = "nothing to change"
_MARK = "▲"
_COLUMNS = ("disk", "scheduler", "NCQ", "requests", "ahead", "timeout/ERC", "set by")
_WIDTHS = (10, 15, 7, 10, 9, 14)
_SHOWN = ("scheduler", "queue_depth", "nr_requests", "read_ahead_kb", "timeout")
_LEAST_CPUS = 3
_LEAST_WIDTH, _MOST_WIDTH = 60, 100


def table_lines(tuning: Tuning) -> list[str]:
    """Return all knobs as a table, with the findings below it."""
    lines: list[str] = []
    findings = judge_tuning(tuning)
    odd = {pair for each in findings if each.code == TuneCode.UNEVEN for pair in each.about}
    disks = tuning.of(KnobScope.DISK)
    if disks:
        lines.append(_row(_COLUMNS))
        lines += [_row(_disk_cells(disk, odd)) for disk in disks]
    lines += _cpu_lines(tuning)
    for subject in (*tuning.of(KnobScope.ARRAY), *tuning.of(KnobScope.CACHE), *tuning.of(KnobScope.SYSTEM)):
        words = [_with_unit(name, value) for name, value in subject.values.items()]
        by = f"   set by: {set_by_words([subject], subject.values)}" if words else ""
        if words or subject.scope is not KnobScope.SYSTEM:
            lines.append(f"{fit(subject.title, 9)} {', '.join(words) or 'no knobs'}{by}")
    lines += [f"  {lack}" for lack in tuning.lacks]
    return [*lines, *_finding_lines(findings)]


def _with_unit(name: str, value: Value) -> str:
    unit = KNOBS[name].unit if value.text.isdigit() and KNOBS[name].scopes != (KnobScope.ARRAY,) else ""
    return f"{name} {value.text}{f' {unit}' if unit else ''}"


def _finding_lines(findings: Sequence[TuneFinding]) -> list[str]:
    lines: list[str] = []
    if findings:
        lines.append("")
    for finding in findings:
        lines.append(f"{finding.severity.word}: {finding.sentence}")
        if finding.remedy:
            lines.append(f"  {finding.remedy}")
    return lines


def _row(cells: Sequence[str]) -> str:
    return "".join(fit(cell, width) for cell, width in zip(cells, _WIDTHS, strict=False)) + cells[-1]


def _disk_cells(disk: Subject, odd: set[tuple[str, str]]) -> tuple[str, ...]:
    def cell(knob: str, unit: str = "") -> str:
        value = disk.values.get(knob)
        mark = f" {_MARK}" if (disk.name, knob) in odd else ""
        return "–" if value is None else f"{value.text}{unit}{mark}"

    erc = "?" if not disk.erc_asked else "–"
    if disk.erc is not None and disk.erc.read_ds is not None:
        erc = f"{disk.erc.read_ds / 10:g}" if disk.erc.read_ds else "off"
    timeout = f"{cell('timeout')} / {erc} s" if "timeout" in disk.values else "–"
    return (
        disk.name,
        cell("scheduler"),
        cell("queue_depth"),
        cell("nr_requests"),
        cell("read_ahead_kb", "K"),
        timeout,
        set_by_words([disk], _SHOWN),
    )


def set_by_words(subjects: Sequence[Subject], shown: Collection[str]) -> str:
    """Return who has set the values of a line."""
    values = [pair for subject in subjects for pair in subject.values.items()]
    return who_set_words(who_set(values, shown))


def _cpu_lines(tuning: Tuning) -> list[str]:
    """Return a line for each group of policies with equal values."""
    groups: dict[tuple[str, ...], list[Subject]] = {}
    for policy in tuning.of(KnobScope.POLICY):
        texts = tuple(f"{name} {value.text}" for name, value in policy.values.items())
        groups.setdefault((policy.kind, *texts), []).append(policy)
    lines = []
    for (kind, *words), policies in groups.items():
        names = [policy.name for policy in policies]
        who = ", ".join(names) if len(names) < _LEAST_CPUS else f"{names[0]} to {names[-1]}"
        by = set_by_words(policies, policies[0].values)
        lines.append(f"{fit('cpu', 9)} {who}: {kind}, {', '.join(words)}   set by: {by}")
    cpu = tuning.subject("cpu")
    if cpu is not None and cpu.values:
        shown = ", ".join(f"{name} {value.text}" for name, value in cpu.values.items())
        lines.append(f"{fit('', 9)} {shown}   set by: {set_by_words([cpu], cpu.values)}")
    return lines


def detail_lines(tuning: Tuning, names: Collection[str]) -> list[str]:
    """Return everything about some subjects: each knob with what it does and what it risks."""
    lines: list[str] = []
    for subject in tuning.subjects:
        if subject.name in names:
            lines += ["", *_subject_lines(subject)] if lines else _subject_lines(subject)
    return lines


def _subject_lines(subject: Subject) -> list[str]:
    about = ", ".join(word for word in (subject.kind, subject.model.strip(), subject.identity) if word)
    lines = [f"{subject.title}{f' ({about})' if about else ''}"]
    for name, value in subject.values.items():
        knob = KNOBS[name]
        unit = f" {knob.unit}" if knob.unit and value.text.isdigit() else ""
        lines.append(f"  {name} {value.text}{unit}")
        lines += _wrapped(f"{_facts(value)}. {knob.what} {risk_of(name, subject)}")
        for each in value.others:
            lines += _wrapped(each.boot_sentence)
    for name, why in subject.absent.items():
        lines.append(f"  {name}")
        lines += _wrapped(f"{why[0].upper()}{why[1:]}.")
    return lines


def _wrapped(text: str) -> list[str]:
    width = max(_LEAST_WIDTH, min(_MOST_WIDTH, shutil.get_terminal_size().columns))
    return textwrap.wrap(
        text, width, initial_indent="      ", subsequent_indent="      ", break_on_hyphens=False
    )


def _facts(value: Value) -> str:
    """Return range, default, who has set it, and the value after a reboot, in one line."""
    if value.choices:
        span = f"One of {', '.join(value.choices)}"
    elif value.high is not None:
        span = f"From {value.low} to {value.high}"
    else:
        span = f"{value.low} or more"
    default = f"the kernel's default is {value.default}" if value.default is not None else "default unknown"
    if value.unexplained:
        boot = "nothing that sets it was found; a value set by hand does not survive a reboot"
    elif value.survives is None:
        boot = "its value after a reboot is not known"
    elif value.survives:
        boot = "a reboot does not change it"
    else:
        boot = f"after a reboot it is {value.at_boot}"
    unknown = value.set_by.by is By.UNKNOWN
    by = "not known who has set it" if unknown else f"set by {value.set_by.sentence}"
    return f"{span}; {default}; {by}; {boot}"


def tuning_dict(tuning: Tuning, snapshot: Snapshot, names: Collection[str] | None = None) -> dict[str, Any]:
    """Return all knobs, or those of the named subjects, as a dict that ``json`` takes."""
    return {
        "format_version": FORMAT_VERSION,
        "host": snapshot.host.name,
        "subjects": [_subject(each) for each in tuning.subjects if names is None or each.name in names],
        "uneven": [
            {"array": odd.array, "knob": odd.knob, "usual": odd.usual or None, "values": odd.values}
            for odd in odd_members(tuning)
        ],
        "findings": [
            {
                "severity": each.severity.word,
                "code": each.code,
                "subject": each.subject or None,
                "name": each.name,
                "sentence": each.sentence,
                "remedy": each.remedy or None,
                "about": [{"subject": subject, "knob": knob} for subject, knob in each.about],
            }
            for each in judge_tuning(tuning)
        ],
        "lacks": list(tuning.lacks),
    }


def _subject(subject: Subject) -> dict[str, Any]:
    erc = subject.erc
    return {
        "scope": subject.scope,
        "name": subject.name,
        "title": subject.title,
        "kind": subject.kind or None,
        "model": subject.model or None,
        "serial": subject.identity or None,
        "uuid": subject.key or None,
        "arrays": list(subject.arrays),
        "cpus": subject.cpus or None,
        "now_khz": subject.now_khz,
        "top_khz": subject.top_khz,
        "erc_asked": subject.erc_asked,
        "erc_read_s": erc.read_ds / 10 if erc is not None and erc.read_ds is not None else None,
        "erc_write_s": erc.write_ds / 10 if erc is not None and erc.write_ds is not None else None,
        "knobs": {name: _value(name, value) for name, value in subject.values.items()},
        "absent": dict(subject.absent),
        "alone": subject.alone or None,
    }


def _value(name: str, value: Value) -> dict[str, Any]:
    return {
        "value": value.text,
        "unit": KNOBS[name].unit or None,
        "default": value.default,
        "choices": list(value.choices),
        "low": value.low,
        "high": value.high,
        "set_by": _setting(value.set_by),
        "setters": [_setting(each) for each in value.others],
        "at_boot": value.at_boot,
        "survives": value.survives,
        "kept": value.kept,
        "path": value.path if value.path and not value.path.startswith("/dev/") else None,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "by": setting.by,
        "where": setting.where or None,
        "value": setting.value,
        "raidtui": setting.ours,
        "sure": setting.sure,
        "running": setting.running,
    }


def result_dict(result: TuneResult) -> dict[str, Any]:
    """Return how a plan ended, as a dict that ``json`` takes."""
    outcome = result.outcome
    return {
        "format_version": FORMAT_VERSION,
        "title": outcome.plan.title,
        "as_asked": result.as_asked,
        "changes": [
            {
                "subject": each.subject,
                "knob": each.knob,
                "before": each.before,
                "asked": each.asked,
                "now": each.now,
            }
            for each in result.readbacks
        ],
        "files": [step.command for step in outcome.done if not step.text],
        "failed": outcome.failed.command if outcome.failed is not None else None,
        "reason": outcome.reason or None,
        "sentences": list(result.sentences),
        "notes": list(outcome.plan.notes),
    }


def nothing_dict(nothing: NothingToDo) -> dict[str, Any]:
    """Return the same form where there was nothing to change."""
    return {
        "format_version": FORMAT_VERSION,
        "title": NOTHING,
        "as_asked": True,
        "changes": [],
        "files": [],
        "failed": None,
        "reason": None,
        "sentences": [f"{NOTHING}: {nothing.sentence}"],
        "notes": [],
    }


def profile_dict(profile: Profile) -> dict[str, Any]:
    """Return a profile, as a dict that ``json`` takes."""
    return {
        "name": profile.name,
        "description": profile.description,
        "where": profile.where or None,
        "only_ssd": profile.only_ssd,
        "values": {
            table: {knob: list(words) for knob, words in knobs.items()}
            for table, knobs in profile.values.items()
        },
        "evidence": [*(text for each in profile.of_drivers.values() for text in each), *profile.evidence],
    }
