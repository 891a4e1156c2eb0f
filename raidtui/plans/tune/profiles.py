"""Profiles: values for disks, processors and arrays that are set together.

A value may be a list: the first is set, and a disk that has one of the others keeps it. ``max`` is the
highest value that the kernel accepts, ``default`` its initial one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from raidtui.model.knob import KnobScope, Subject, Tuning, Value
from raidtui.model.knob_table import ALIASES, KNOBS
from raidtui.model.plan import NothingToDo, Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.keep import KeepItem, plan_keep
from raidtui.plans.tune.now import AskedValue, plan_set

TABLES = {
    "disk": (KnobScope.DISK,),
    "cpu": (KnobScope.POLICY, KnobScope.CPU),
    "array": (KnobScope.ARRAY,),
    "system": (KnobScope.SYSTEM,),
}
"""The tables of a profile, and what their knobs belong to."""


class Profile(Struct, frozen=True, kw_only=True):
    """Values to set together.

    Args:
        values: table -> knob -> values; the first of them is set, the others are as good.
        evidence: published results, a sentence each.
        of_drivers: results for one cpufreq driver, by driver.
        only_ssd: whether hard disks are left as they are.
        where: its file; "" for a built-in profile.
    """

    name: str
    description: str
    values: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    of_drivers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_ssd: bool = False
    where: str = ""


_OF_INTEL = (
    "governor: on a RAID-10 of SSDs, powersave of intel_pstate cost 14 to 19 % of random throughput"
    " (Linux 4.4, blocks of 512 KiB and 1 MiB)."
)
SSD_ARRAY = Profile(
    name="ssd-array",
    description="An array of SSDs under many small requests, as published tests advise.",
    values={
        "disk": {
            "scheduler": ("none", "mq-deadline"),
            "queue_depth": ("max", "31", "32"),  # of SATA disks
        },
        "cpu": {"governor": ("performance",)},
    },
    of_drivers={"intel_pstate": (_OF_INTEL,)},
    evidence=(
        (
            "queue_depth: on a RAID-10 of two SSDs, 1 had a quarter of the IOPS of 8, and less than 8 was"
            " far worse than more."
        ),
        "scheduler: none and mq-deadline are both advised; which is faster depends on disk and load.",
        "Read-ahead and all other knobs stay: no published test holds for every load. Measure yours.",
    ),
    only_ssd=True,
)
DEFAULTS = Profile(
    name="kernel-defaults",
    description="The kernel's initial values, as far as they are known.",
    values={
        "disk": {
            knob.name: ("default",)
            for knob in KNOBS.values()
            if KnobScope.DISK in knob.scopes and knob.name not in {"rotational", "discard_max_bytes"}
        },
        "array": dict.fromkeys(
            ("stripe_cache_size", "group_thread_cnt", "preread_bypass_threshold"), ("default",)
        ),
    },
)
BUILT_IN = (SSD_ARRAY, DEFAULTS)


def parse_profiles(tables: Mapping[str, Any], where: str) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
    """Return the profiles of a TOML file, and a sentence on each entry that cannot be used.

    Args:
        tables: the file as ``tomllib`` reads it.
        where: its path.
    """
    found, troubles = [], []
    for name, table in tables.items():
        if not isinstance(table, dict):
            troubles.append(f"{where}: {name!r} must be a table: [{name}]")
            continue
        values: dict[str, dict[str, tuple[str, ...]]] = {}
        for key, part in table.items():
            if key in {"description", "only_ssd"}:
                continue
            if key not in TABLES or not isinstance(part, dict):
                tables_named = ", ".join(f"[{name}.{each}]" for each in TABLES)
                troubles.append(f"{where}: [{name}] has an unknown entry {key!r}; there are: {tables_named}")
                continue
            for knob, value in part.items():
                if trouble := _trouble(key, knob, value):
                    troubles.append(f"{where}: [{name}.{key}] {trouble}")
                else:
                    values.setdefault(str(key), {})[ALIASES.get(str(knob), str(knob))] = _words(value)
        description = table.get("description", "")
        found.append(
            Profile(
                name=name,
                description=description if isinstance(description, str) else "",
                values=values,
                only_ssd=table.get("only_ssd") is True,
                where=where,
            )
        )
    return tuple(found), tuple(troubles)


def _trouble(table: str, knob: str, value: object) -> str:
    known = KNOBS.get(ALIASES.get(knob, knob))
    if known is None or not set(known.scopes) & set(TABLES[table]):
        return f"has no knob {knob!r}"
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(each, str | int) and not isinstance(each, bool) for each in items):
        return ""
    return f"{knob} must be a number, a word in quotes, or a list of them"


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in (value if isinstance(value, list) else [value]))


def plan_profile(
    snapshot: Snapshot,
    tuning: Tuning,
    profile: Profile,
    only: Sequence[str] | None = None,
    *,
    keep: bool = False,
) -> Plan | Refusal:
    """Return the plan that sets what differs from a profile.

    Args:
        snapshot: the present state.
        tuning: the present values.
        profile: the profile.
        only: the names of the subjects to set; None: members of arrays, arrays, processors, system.
        keep: whether to keep the values over reboots.
    """
    asked: list[AskedValue] = []
    left: list[str] = []
    for subject in _meant(tuning, profile, only):
        anew = False
        if profile.only_ssd and subject.scope is KnobScope.DISK and _is_hard_disk(subject):
            left.append(f"{subject.name} is a hard disk and stays unchanged.")
            continue
        for knob, words in _knobs(profile, subject.scope).items():
            value = subject.values.get(knob)
            if (knob == "queue_depth" and subject.kind == "scsi") or (knob == "nr_requests" and anew):
                continue  # an adapter chooses its own depth; a new scheduler resets nr_requests
            if value is None:
                if subject.absent.get(knob):
                    left.append(f"{subject.title}: {subject.absent[knob]}.")
                continue
            meant = [text for word in words if (text := _meaning(word, value)) is not None]
            if not meant:
                left.append(f"The default {knob} of {subject.title} is not known: it stays.")
            elif value.text not in meant:
                asked.append(AskedValue(subject=subject.name, knob=knob, value=meant[0]))
                anew = anew or (knob == "scheduler" and words == ("default",))
    if not asked:
        return NothingToDo(why=f"everything is already as {profile.name} sets it")
    items = [KeepItem(subject=each.subject, knob=each.knob, value=each.value) for each in asked]
    plan = plan_keep(snapshot, tuning, items) if keep else plan_set(snapshot, tuning, asked)
    if isinstance(plan, Refusal):
        return plan
    drivers = dict.fromkeys(policy.kind for policy in tuning.of(KnobScope.POLICY))
    measured = [text for driver in drivers for text in profile.of_drivers.get(driver, ())]
    lacks = tuning.lacks if only is None else ()
    notes = (*dict.fromkeys(left), *lacks, *measured, *profile.evidence, *plan.notes)
    return replace(plan, title=f"profile {profile.name}: {plan.title}", notes=notes)


def _meant(tuning: Tuning, profile: Profile, only: Sequence[str] | None) -> list[Subject]:
    scopes = {scope for table in profile.values for scope in TABLES[table]}
    return [
        subject
        for subject in tuning.subjects
        if subject.scope in scopes
        and (
            subject.name in only
            if only is not None
            else subject.scope is not KnobScope.DISK or subject.arrays
        )
    ]


def _knobs(profile: Profile, scope: KnobScope) -> dict[str, tuple[str, ...]]:
    return {
        knob: words
        for table, knobs in profile.values.items()
        if scope in TABLES[table]
        for knob, words in knobs.items()
        if scope in KNOBS[knob].scopes
    }


def _is_hard_disk(subject: Subject) -> bool:
    """Whether the kernel treats it as one; where nothing sets ``rotational``, the disk itself says so."""
    value = subject.values.get("rotational")
    return value is not None and value.text == "1"


def _meaning(word: str, value: Value) -> str | None:
    if word == "max":
        if value.high is not None:
            return str(value.high)
        return value.choices[-1] if value.choices else None
    return value.default if word == "default" else word
