"""Findings about knobs: members that differ, values that drifted, timeouts that cost an array a disk.

What several disks have in common is one finding. Arrays on the same disks are judged together, so that a disk
gets one piece of advice whatever it is a member of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from raidtui.model.finding import Finding, Severity
from raidtui.model.knob import By, KnobScope, Setting, Subject, Tuning, same_value
from raidtui.model.knob_table import risk_of
from raidtui.model.smart import PATIENT_S, retry_words
from raidtui.plans.tune.check import comes_later
from raidtui.plans.tune.now import names_of

_COMPARED = ("scheduler", "queue_depth", "nr_requests", "read_ahead_kb", "rq_affinity", "wbt_lat_usec",
             "rotational", "timeout")  # fmt: skip
_FOR_NOW = frozenset({By.RUN, By.NOW})
_COST = "the array then drops the disk"
_PICKS_ITSELF = "amd-pstate-epp"
"""Under its powersave the processor chooses the frequency; no published figure says what that costs."""
_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")
_Words = tuple[str, str]  # sentence and remedy


class TuneCode(StrEnum):
    """What a finding is about; docs/tune.md has the list."""

    DRIFT = "tune-drift"
    OVERRULED = "tune-overruled"
    TIMEOUT = "tune-timeout"
    UNEVEN = "tune-uneven"
    NO_NCQ = "tune-no-ncq"
    POWERSAVE = "tune-powersave"
    CACHE_ALONE = "tune-cache-alone"


class TuneFinding(Finding, frozen=True, kw_only=True):
    """A finding about knobs; its ``code`` is a ``TuneCode``.

    Args:
        about: (name of a subject, knob) of everything it is about.
        with_risk: whether its sentence includes what the knob risks.
    """

    about: tuple[tuple[str, str], ...] = ()
    with_risk: bool = False


class UnevenMembers(Struct, frozen=True, kw_only=True):
    """Members of an array that differ from the others in a knob.

    Args:
        array: the array's key.
        usual: what most members have; "" where there is no such value.
        values: disk -> value of those that differ; of all where there is no usual one.
    """

    array: str
    knob: str
    usual: str
    values: dict[str, str]


def odd_members(tuning: Tuning) -> tuple[UnevenMembers, ...]:
    """Return where members of one array differ. Disks of different kinds are not compared."""
    found: list[UnevenMembers] = []
    for array in tuning.of(KnobScope.ARRAY):
        found += _odds(array.key, tuning.members(array.key))
    return tuple(found)


def _odds(key: str, disks: Sequence[Subject]) -> Iterator[UnevenMembers]:
    for alike in _grouped((disk.kind, disk) for disk in disks).values():
        for knob in _COMPARED:
            if (odd := _odd(key, alike, knob)) is not None:
                yield odd


def _odd(key: str, disks: Sequence[Subject], knob: str) -> UnevenMembers | None:
    values = {disk.name: disk.values[knob].text for disk in disks if knob in disk.values}
    counts = Counter(values.values()).most_common()
    if len(counts) < 2:
        return None
    usual = counts[0][0] if counts[0][1] > counts[1][1] else ""
    others = {name: text for name, text in values.items() if text != usual}
    return UnevenMembers(array=key, knob=knob, usual=usual, values=others)


def judge_tuning(tuning: Tuning) -> tuple[TuneFinding, ...]:
    """Return the findings, the worst first."""
    found = [
        *_drifted(tuning),
        *_overruled(tuning),
        *_timeouts(tuning),
        *_uneven(tuning),
        *_without_ncq(tuning),
        *_powersave(tuning),
        *_alone(tuning),
    ]
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def _grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    groups: dict[_Key, list[_Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def _finding(
    severity: Severity,
    code: TuneCode,
    about: Sequence[tuple[Subject, str]],
    name: tuple[str, str],
    words: _Words,
    *,
    with_risk: bool = False,
) -> TuneFinding:
    return TuneFinding(
        severity=severity,
        code=code,
        subject=name[0],
        name=name[1],
        sentence=words[0],
        remedy=words[1],
        about=tuple((subject.name, knob) for subject, knob in about),
        with_risk=with_risk,
    )


def _name(tuning: Tuning, subjects: Sequence[Subject]) -> tuple[str, str]:
    """Return the key and the name of what a finding is about: of several disks, those of their array."""
    first = subjects[0]
    if len(subjects) == 1:
        return first.key or (first.arrays[0] if first.arrays else ""), first.title
    if first.scope in {KnobScope.POLICY, KnobScope.CPU}:
        return "", "cpu"
    home = _home(tuning, subjects)
    return (home.key, home.title) if home is not None else ("", names_of(subjects))


def _place(subject: Subject) -> tuple[str, ...]:
    """Return what the subjects of one finding have in common: the scope, and of disks the first array."""
    return (subject.scope, *subject.arrays[:1])


def _source(setting: Setting) -> tuple[By, str, bool]:
    """Return what distinguishes one source of values from another."""
    return setting.by, setting.where, setting.ours


def _home(tuning: Tuning, disks: Sequence[Subject]) -> Subject | None:
    """Return an array that all these disks are members of: the one with the most members."""
    shared = set.intersection(*(set(disk.arrays) for disk in disks))
    arrays = [array for array in tuning.of(KnobScope.ARRAY) if array.key in shared]
    return max(arrays, key=lambda array: len(tuning.members(array.key)), default=None)


def _whose(tuning: Tuning, subjects: Sequence[Subject]) -> str:
    """Return these subjects as the command line names them: ``@ARRAY`` where they are all of its members."""
    home = _home(tuning, subjects)
    if home is not None and len(subjects) > 1 and len(tuning.members(home.key)) == len(subjects):
        return f"@{home.title}"
    return " ".join(subject.name for subject in subjects)


def _drifted(tuning: Tuning) -> Iterator[TuneFinding]:
    """Values that differ from what raidtui keeps."""
    groups = _grouped(
        ((knob, value.text, value.kept, *_source(value.set_by), _place(subject)), (subject, value))
        for subject in tuning.subjects
        for knob, value in subject.values.items()
        if value.kept is not None and not same_value(value.kept, value.text)
    )
    for (knob, text, kept, *_), group in groups.items():
        subjects, by = [subject for subject, _ in group], group[0][1].set_by
        words = "" if by.by in {By.KERNEL, By.UNKNOWN} else f", set by {by.sentence}"
        whose = _whose(tuning, subjects)
        yield _finding(
            Severity.INFO if by.by in _FOR_NOW else Severity.ATTENTION,
            TuneCode.DRIFT,
            [(subject, knob) for subject in subjects],
            _name(tuning, subjects),
            (
                f"{knob} of {names_of(subjects)} is {text}{words}; raidtui keeps it at {kept}.",
                f"raidtui tune set {whose} {knob}={kept}, or: raidtui tune keep {whose} {knob}",
            ),
        )


def _overruled(tuning: Tuning) -> Iterator[TuneFinding]:
    """Values that raidtui keeps and that something else sets later at boot."""
    groups = _grouped(
        ((knob, value.kept, other.value, *_source(other), _place(subject)), (subject, other))
        for subject in tuning.subjects
        for knob, value in subject.values.items()
        for other in value.others
        if value.kept is not None
        and not other.ours
        and (other.value is None or not same_value(other.value, value.kept))
        and comes_later(other, knob)
    )
    for (knob, kept, to, *_), group in groups.items():
        subjects, who = [subject for subject, _ in group], group[0][1].sentence
        value_words = f" to {to}" if to is not None else ""
        yield _finding(
            Severity.ATTENTION,
            TuneCode.OVERRULED,
            [(subject, knob) for subject in subjects],
            _name(tuning, subjects),
            (
                (
                    f"raidtui keeps {knob} of {names_of(subjects)} at {kept},"
                    f" but {who} sets it{value_words} later at boot."
                ),
                f"change it there, or: raidtui tune forget {_whose(tuning, subjects)} {knob}",
            ),
        )


def _timeouts(tuning: Tuning) -> Iterator[TuneFinding]:
    """A disk that retries for longer than the kernel waits is reset, and its array drops it."""
    judged = ((_timeout_too_short(tuning, disk), disk) for disk in tuning.of(KnobScope.DISK))
    groups = _grouped(((*key, _place(disk)), disk) for key, disk in judged if key is not None)
    for (severity, one, many, waits_s, _), disks in groups.items():
        retries = one if len(disks) == 1 else many
        commands = " ".join(f"/dev/{disk.name}" for disk in disks)
        first = f"smartctl -l scterc,70,70 {commands}"
        if len(disks) > 1:
            first = f"for d in {commands}; do smartctl -l scterc,70,70 $d; done"
        yield _finding(
            severity,
            TuneCode.TIMEOUT,
            [(disk, "timeout") for disk in disks],
            _name(tuning, disks),
            (
                f"{names_of(disks)} {retries}, and the kernel waits {waits_s} s: {_COST}.",
                f"{first}, or: raidtui tune keep {_whose(tuning, disks)} timeout={PATIENT_S}",
            ),
        )


def _timeout_too_short(tuning: Tuning, disk: Subject) -> tuple[Severity, str, str, int] | None:
    """Return severity, how long the disk retries (in words for one disk and for several) and the timeout, s.

    None where the disk gives up first, or was not asked.
    """
    timeout = disk.values.get("timeout")
    arrays = [array for key in disk.arrays if (array := tuning.array(key)) is not None]
    redundant = any("sync_speed_max" in array.values for array in arrays)
    if timeout is None or not redundant or not disk.erc_asked or not timeout.text.isdigit():
        return None
    waits_s = int(timeout.text)
    words = retry_words(disk.erc, waits_s)
    spins = disk.values.get("rotational")
    spins_or_off = disk.erc is not None or (spins is not None and spins.text == "1")
    severity = Severity.ATTENTION if spins_or_off else Severity.INFO
    return (severity, words, retry_words(disk.erc, waits_s, several=True), waits_s) if words else None


def _uneven(tuning: Tuning) -> Iterator[TuneFinding]:
    """Members that differ, once for arrays that share disks: a disk has one queue for all of them."""
    disks = {disk.name: disk for disk in tuning.of(KnobScope.DISK)}
    for arrays, members in _on_the_same_disks(tuning):
        odds = list(_odds("", members))
        if not odds:
            continue
        about = [(disks[name], odd.knob) for odd in odds for name in odd.values]
        yield _finding(
            Severity.INFO,
            TuneCode.UNEVEN,
            about,
            (arrays[0].key, names_of(arrays)),
            (_differ(names_of(arrays), odds), _evened(tuning, members, odds)),
        )


def _differ(titles: str, odds: Sequence[UnevenMembers]) -> str:
    if len(odds) > 1:
        return f"members of {titles} differ: {'; '.join(_odd_words(odd) for odd in odds)}."
    odd = odds[0]
    parts = ", ".join(f"{name} {text}" for name, text in odd.values.items())
    rest = f"; the others of {titles} have {odd.usual}" if odd.usual else f" in {titles}"
    return f"{odd.knob} differs: {parts}{rest}."


def _odd_words(odd: UnevenMembers) -> str:
    by_value = _grouped((text, name) for name, text in odd.values.items())
    parts = ", ".join(f"{', '.join(names)} {text}" for text, names in by_value.items())
    return f"{odd.knob} ({parts}{f', the others {odd.usual}' if odd.usual else ''})"


def _evened(tuning: Tuning, members: Sequence[Subject], odds: Sequence[UnevenMembers]) -> str:
    """Return the command that makes members equal; without a usual value the user chooses one."""
    usual = [f"{odd.knob}={odd.usual}" for odd in odds if odd.usual]
    if usual:
        return f"raidtui tune set {_whose(tuning, members)} {' '.join(usual)}"
    values = " or ".join(dict.fromkeys(odds[0].values.values()))
    return f"choose one: raidtui tune set {_whose(tuning, members)} {odds[0].knob}=VALUE ({values})"


def _on_the_same_disks(tuning: Tuning) -> Iterator[tuple[list[Subject], list[Subject]]]:
    """Yield arrays that share disks, the first with the most, and their members."""
    groups: list[tuple[list[Subject], dict[str, Subject]]] = []
    for array in tuning.of(KnobScope.ARRAY):
        own = {disk.name: disk for disk in tuning.members(array.key)}
        near = [group for group in groups if group[1].keys() & own.keys()]
        groups = [group for group in groups if group not in near]
        arrays = [each for group in near for each in group[0]]
        groups.append(([*arrays, array], {**{n: d for group in near for n, d in group[1].items()}, **own}))
    for arrays, members in groups:
        yield arrays, list(members.values())


def _without_ncq(tuning: Tuning) -> Iterator[TuneFinding]:
    off = [
        disk
        for disk in tuning.of(KnobScope.DISK)
        if disk.kind == "sata"
        and (value := disk.values.get("queue_depth")) is not None
        and value.text == "1"
        and value.default != "1"
    ]
    groups = _grouped(((disk.values["queue_depth"].high or 32, _place(disk)), disk) for disk in off)
    for (high, _), disks in groups.items():
        yield _finding(
            Severity.INFO,
            TuneCode.NO_NCQ,
            [(disk, "queue_depth") for disk in disks],
            _name(tuning, disks),
            (
                f"queue_depth of {names_of(disks)} is 1: NCQ is off. {risk_of('queue_depth', disks[0])}",
                f"raidtui tune set {_whose(tuning, disks)} queue_depth={high}",
            ),
            with_risk=True,
        )


def _powersave(tuning: Tuning) -> Iterator[TuneFinding]:
    """The governor powersave where not all members are hard disks: one finding per cpufreq driver."""
    members = [disk for disk in tuning.of(KnobScope.DISK) if disk.arrays]
    spins = [disk for disk in members if (value := disk.values.get("rotational")) and value.text == "1"]
    slow = _grouped(
        (policy.kind, policy)
        for policy in tuning.of(KnobScope.POLICY)
        if "governor" in policy.values
        and policy.values["governor"].text == "powersave"
        and policy.kind != _PICKS_ITSELF
    )
    for policies in slow.values() if len(spins) < len(members) else ():
        yield TuneFinding(
            severity=Severity.INFO,
            code=TuneCode.POWERSAVE,
            subject="",
            name="cpu",
            sentence=f"governor of {names_of(policies)} is powersave. {risk_of('governor', policies[0])}",
            remedy="raidtui tune set governor=performance",
            about=tuple((policy.name, "governor") for policy in policies),
            with_risk=True,
        )


def _alone(tuning: Tuning) -> Iterator[TuneFinding]:
    """Data are on a cache alone that survives fewer lost disks than what it caches."""
    for cache in tuning.of(KnobScope.CACHE):
        mode = cache.values.get("cache_mode")
        if cache.alone and mode is not None and mode.text == "writeback":
            yield _finding(
                Severity.FAILED,
                TuneCode.CACHE_ALONE,
                [(cache, "cache_mode")],
                ("", cache.title),
                (
                    f"cache_mode is writeback, and {cache.alone}: losing the cache loses data.",
                    f"raidtui tune set {cache.title} cache_mode=writethrough",
                ),
            )
