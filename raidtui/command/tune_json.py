"""Knobs as JSON; docs/tune.md describes it. What is not known is null."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from raidtui.model.knob import Setting, Subject, Tuning, Value
from raidtui.model.knob_table import KNOBS
from raidtui.model.plan import NothingToDo
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.findings import judge_tuning, odd_members
from raidtui.plans.tune.profiles import Profile
from raidtui.session.tuning import Result

FORMAT_VERSION = 1
NOTHING = "nothing to change"


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
        "path": value.path or None,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "by": setting.by,
        "where": setting.where or None,
        "value": setting.value,
        "raidtui": setting.ours,
        "sure": setting.sure,
    }


def result_dict(result: Result) -> dict[str, Any]:
    """Return how a plan ended."""
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
            for each in result.told
        ],
        "files": [step.command for step in outcome.done if not step.text],
        "failed": outcome.failed.command if outcome.failed is not None else None,
        "reason": outcome.reason or None,
        "sentences": list(result.sentences),
    }


def nothing_dict(nothing: NothingToDo) -> dict[str, Any]:
    """Return the same form where all is so already."""
    return {
        "format_version": FORMAT_VERSION,
        "title": NOTHING,
        "as_asked": True,
        "changes": [],
        "files": [],
        "failed": None,
        "reason": None,
        "sentences": [f"{NOTHING}: {nothing.sentence}"],
    }


def profile_dict(profile: Profile) -> dict[str, Any]:
    """Return a profile."""
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
