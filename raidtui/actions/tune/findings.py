"""What is out of line among the knobs: members that differ, values that drifted, timeouts that lose disks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from raidtui.actions.tune.notes import comes_later
from raidtui.actions.tune.now import names_of
from raidtui.model.finding import Finding, Severity
from raidtui.model.knob import By, Scope, Subject, Tuning, Value, same_value
from raidtui.model.knob_table import KNOBS

PATIENT_S = 180
"""What a disk without SCT ERC may take for one bad sector (mdadm's and smartmontools' advice)."""

_COMPARED = ("scheduler", "queue_depth", "nr_requests", "read_ahead_kb", "rq_affinity", "wbt_lat_usec",
             "rotational", "timeout")  # fmt: skip
_FOR_NOW = frozenset({By.RUN, By.NOW})


class Odd(Struct, frozen=True, kw_only=True):
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


def odd_members(tuning: Tuning) -> tuple[Odd, ...]:
    """Return where members of one array differ. Disks of different kinds are not compared."""
    found = []
    for array in tuning.of(Scope.ARRAY):
        members = tuning.members(array.key)
        for kind in dict.fromkeys(disk.kind for disk in members):
            alike = [disk for disk in members if disk.kind == kind]
            found += [odd for knob in _COMPARED if (odd := _odd(array.key, alike, knob)) is not None]
    return tuple(found)


def _odd(key: str, disks: Sequence[Subject], knob: str) -> Odd | None:
    values = {disk.name: disk.values[knob].text for disk in disks if knob in disk.values}
    counts = Counter(values.values()).most_common()
    if len(counts) < 2:
        return None
    usual = counts[0][0] if counts[0][1] > counts[1][1] else ""
    others = {name: text for name, text in values.items() if text != usual}
    return Odd(array=key, knob=knob, usual=usual, values=others)


def judge_tuning(tuning: Tuning) -> tuple[Finding, ...]:
    """Return the findings, the worst first."""
    found = [
        *_drifted(tuning),
        *_timeouts(tuning),
        *_uneven(tuning),
        *_without_ncq(tuning),
        *_powersave(tuning),
    ]
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def _finding(severity: Severity, code: str, subject: Subject, sentence: str, remedy: str = "") -> Finding:
    key = subject.key or (subject.arrays[0] if subject.arrays else "")
    return Finding(
        severity=severity, code=code, subject=key, name=subject.title, sentence=sentence, remedy=remedy
    )


def _drifted(tuning: Tuning) -> Iterator[Finding]:
    """What is kept, and what the kernel says, or what will be put over it at boot."""
    for subject in tuning.subjects:
        for knob, value in subject.values.items():
            if value.kept is None:
                continue
            if not same_value(value.kept, value.text):
                yield _drift(subject, knob, value)
            for other in value.others:
                differs = other.value is None or not same_value(other.value, value.kept)
                if not other.ours and differs and comes_later(other, knob):
                    says = f" to {other.value}" if other.value is not None else ""
                    yield _finding(
                        Severity.ATTENTION,
                        "tune-overruled",
                        subject,
                        f"raidtui keeps {knob} of {subject.title} at {value.kept}, but {other.sentence} sets"
                        f" it{says} later at boot.",
                        f"change it there, or: raidtui tune forget {subject.name} {knob}",
                    )


def _drift(subject: Subject, knob: str, value: Value) -> Finding:
    for_now = value.set_by.by in _FOR_NOW
    by = "" if value.set_by.by in {By.KERNEL, By.UNKNOWN} else f", set by {value.set_by.sentence}"
    return _finding(
        Severity.INFO if for_now else Severity.ATTENTION,
        "tune-drift",
        subject,
        f"{knob} of {subject.title} is {value.text}{by}; raidtui keeps it at {value.kept}.",
        f"raidtui tune set {subject.name} {knob}={value.kept}, or: raidtui tune keep {subject.name} {knob}",
    )


def _timeouts(tuning: Tuning) -> Iterator[Finding]:
    """A disk that tries longer than the kernel waits is reset, and thrown out of its array."""
    for disk in tuning.of(Scope.DISK):
        timeout = disk.values.get("timeout")
        arrays = [array for key in disk.arrays if (array := tuning.array(key)) is not None]
        redundant = any("sync_speed_max" in array.values for array in arrays)
        if timeout is None or not redundant or not disk.erc_asked or not timeout.text.isdigit():
            continue
        tries_ds = disk.erc.read_ds if disk.erc is not None else None
        waits_s = int(timeout.text)
        if tries_ds:
            if tries_ds < waits_s * 10:
                continue
            tries = f"tries {tries_ds / 10:g} s for a bad sector (SCT ERC)"
        elif waits_s >= PATIENT_S:
            continue
        else:
            off = disk.erc is not None and disk.erc.read_ds == 0
            tries = f"may try for minutes to read a bad sector (SCT ERC {'is off' if off else 'is missing'})"
        spins = disk.values.get("rotational")
        spins_or_off = disk.erc is not None or (spins is not None and spins.text == "1")
        yield _finding(
            Severity.ATTENTION if spins_or_off else Severity.INFO,
            "tune-timeout",
            disk,
            f"{disk.name} {tries}, and the kernel waits {waits_s} s: that costs the array a member.",
            f"smartctl -l scterc,70,70 /dev/{disk.name}, or:"
            f" raidtui tune keep {disk.name} timeout={PATIENT_S}",
        )


def _uneven(tuning: Tuning) -> Iterator[Finding]:
    for odd in odd_members(tuning):
        array = tuning.array(odd.array)
        if array is None:
            continue
        parts = ", ".join(f"{name} {text}" for name, text in odd.values.items())
        rest = f"; the others of {array.title} have {odd.usual}" if odd.usual else f" in {array.title}"
        to = odd.usual or next(iter(odd.values.values()))
        yield _finding(
            Severity.INFO,
            "tune-uneven",
            array,
            f"{odd.knob} differs: {parts}{rest}.",
            f"raidtui tune set @{array.title} {odd.knob}={to}",
        )


def _without_ncq(tuning: Tuning) -> Iterator[Finding]:
    for disk in tuning.of(Scope.DISK):
        value = disk.values.get("queue_depth")
        if disk.kind == "sata" and value is not None and value.text == "1" and value.default != "1":
            yield _finding(
                Severity.INFO,
                "tune-no-ncq",
                disk,
                f"queue_depth of {disk.name} is 1: NCQ is off. {KNOBS['queue_depth'].risk}",
                f"raidtui tune set {disk.name} queue_depth={value.high or 32}",
            )


def _powersave(tuning: Tuning) -> Iterator[Finding]:
    """The governor powersave, where members are no hard disks: one finding for all processors."""
    members = [disk for disk in tuning.of(Scope.DISK) if disk.arrays]
    spins = [disk for disk in members if (value := disk.values.get("rotational")) and value.text == "1"]
    slow = [
        policy
        for policy in tuning.of(Scope.POLICY)
        if "governor" in policy.values and policy.values["governor"].text == "powersave"
    ]
    if slow and len(spins) < len(members):
        yield Finding(
            severity=Severity.INFO,
            code="tune-powersave",
            subject="",
            name="cpu",
            sentence=f"governor of {names_of(slow)} is powersave. {KNOBS['governor'].risk}",
            remedy="raidtui tune set governor=performance",
        )
