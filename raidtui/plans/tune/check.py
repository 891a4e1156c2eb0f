"""Values that are about to be set: which are refused, and notes on the others.

A refusal names the range or the choices. Notes say what a value costs and what may set the knob again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidtui.model.knob import By, KnobScope, Setting, Subject, Tuning, Value, same_value
from raidtui.model.knob_table import KNOBS, MOST_REQUESTS, OLD_SCHEDULERS, OUR_FILES
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB, binary_size

Wanted = Mapping[tuple[str, str], str]
"""Values that are requested, by (subject, knob)."""
Wish = tuple[Subject, str, str]
"""A subject, a knob's name, and the new value."""
_PAGE_KIB = 4
_WATCHING = frozenset({By.TUNED, By.TLP, By.AUTO_CPUFREQ, By.POWER_PROFILES})
"""Services that may set values again at any time."""


def refuse_knob(subject: Subject, knob: str) -> Refusal | None:
    """Return why a subject does not have a knob, or None."""
    if knob not in KNOBS:
        return Refusal(
            code=RefusalCode.NOT_FOUND,
            why=f"there is no knob {knob!r}",
            remedy=f"there are: {', '.join(KNOBS)}",
        )
    if knob not in subject.values:
        why = subject.absent.get(knob) or f"{subject.title} has no {knob}"
        return Refusal(code=RefusalCode.NOT_FOUND, why=why)
    return None


def refuse_value(subject: Subject, knob: str, value: str, wanted: Wanted) -> Refusal | None:
    """Return why a knob of a subject cannot have a value, or None.

    Args:
        subject: the disk, policy, array or system.
        knob: the knob's name.
        value: the requested value.
        wanted: everything that is requested along with it.
    """
    if refusal := refuse_knob(subject, knob):
        return refusal
    known = subject.values[knob]
    if knob == "scheduler" and value in OLD_SCHEDULERS and value not in known.choices:
        return _old_scheduler(value)
    if value == "system" and knob.startswith("sync_speed_"):
        return None
    if known.choices and not (known.high is not None and value.isdigit()):
        if value in known.choices:
            return None
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{knob} of {subject.title} cannot be {value!r}",
            remedy=f"choose one of: {', '.join(known.choices)}",
        )
    return _refuse_number(subject, knob, value, _high(subject, knob, known, wanted))


def _old_scheduler(value: str) -> Refusal:
    new = OLD_SCHEDULERS[value]
    if value == "cfq":
        return Refusal(
            code=RefusalCode.INVALID,
            why="Linux 5.0 removed cfq; bfq is the closest to it",
            remedy="give scheduler=bfq",
        )
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"{value} is the old name of {new}, gone since Linux 5.0",
        remedy=f"give scheduler={new}",
    )


def _high(subject: Subject, knob: str, known: Value, wanted: Wanted) -> int | None:
    """Return the upper bound; of nr_requests it depends on the scheduler, which may be set along with it."""
    scheduler = wanted.get((subject.name, "scheduler"))
    if knob == "nr_requests" and scheduler is not None:
        return subject.tags if scheduler == "none" else MOST_REQUESTS
    if knob == "preread_bypass_threshold" and (cache := wanted.get((subject.name, "stripe_cache_size"))):
        return int(cache) if cache.isdigit() else known.high
    return known.high


def _refuse_number(subject: Subject, knob: str, value: str, high: int | None) -> Refusal | None:
    known, unit = subject.values[knob], KNOBS[knob].unit
    low = known.low if known.low is not None else 0
    span = f"from {low} to {high}" if high is not None else f"{low} or more"
    words = f"{span} {unit}".rstrip()
    if not (value.isascii() and value.isdigit() and len(value) < 20):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{knob} of {subject.title} must be a whole number, {words}, not {value!r}",
        )
    number = int(value)
    if number < low or (high is not None and number > high):
        return Refusal(
            code=RefusalCode.INVALID, why=f"{knob} of {subject.title} must be {words}, not {number}"
        )
    if number % known.multiple:
        below = number // known.multiple * known.multiple
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{knob} of {subject.title} must be a multiple of {known.multiple}, not {number}",
            remedy=f"give {max(low, below)} or {below + known.multiple}",
        )
    return None


def refuse_together(tuning: Tuning, wanted: Wanted) -> Refusal | None:
    """Return why values contradict each other or present values; None where they do not."""
    for policy in tuning.of(KnobScope.POLICY):
        if refusal := _refuse_preference(tuning, policy, wanted) or _refuse_frequencies(policy, wanted):
            return refusal
    return None


def _refuse_preference(tuning: Tuning, policy: Subject, wanted: Wanted) -> Refusal | None:
    """Under the governor performance, drivers accept no other preference (EBUSY)."""
    preference = wanted.get((policy.name, "energy_performance_preference"))
    if preference in {None, "performance", "0"} or "governor" not in policy.values:
        return None
    governor = wanted.get((policy.name, "governor"), policy.values["governor"].text)
    cpu = tuning.subject("cpu")
    known = cpu.values["driver_mode"].text if cpu is not None and "driver_mode" in cpu.values else ""
    mode = wanted.get(("cpu", "driver_mode"), known)
    if governor != "performance" or mode != "active":
        return None
    return Refusal(
        code=RefusalCode.UNSUPPORTED,
        why=f"under the governor performance {policy.kind} accepts no other preference than performance",
        remedy="add governor=powersave",
    )


def _refuse_frequencies(policy: Subject, wanted: Wanted) -> Refusal | None:
    named = ("min_freq_khz", "max_freq_khz")
    if not any((policy.name, knob) in wanted for knob in named) or not all(k in policy.values for k in named):
        return None
    texts = [wanted.get((policy.name, knob), policy.values[knob].text) for knob in named]
    if not all(text.isdigit() for text in texts):
        return None  # the kernel may say "<unknown>"
    low, high = map(int, texts)
    if low <= high:
        return None
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"min_freq_khz {low} of {policy.title} would be above max_freq_khz {high}",
        remedy="lower min_freq_khz or raise max_freq_khz",
    )


def tune_notes(wishes: Sequence[Wish], *, kept: bool = False) -> tuple[str, ...]:
    """Return notes, a sentence each.

    Args:
        wishes: the values to set.
        kept: whether it is also kept over reboots.
    """
    found: list[str] = []
    deep = {subject.name for subject, knob, _ in wishes if knob == "nr_requests"}
    if any(
        knob == "scheduler" and subject.name not in deep and not same_value(subject.values[knob].text, after)
        for subject, knob, after in wishes
    ):
        found.append("With a new scheduler the kernel resets nr_requests.")
    if any(knob == "queue_depth" and after == "1" for _, knob, after in wishes):
        found.append("A queue depth of 1 turns NCQ off.")
    for subject, knob, after in wishes:
        if knob == "stripe_cache_size" and subject.members:
            memory = binary_size(int(after) * _PAGE_KIB * subject.members * KIB)
            found.append(f"The stripe cache of {subject.title} takes {memory} of memory.")
        if knob == "driver_mode":
            found.append("Another mode resets the processors' governors and limits.")
        found += _others(subject, knob, after, subject.values[knob], kept=kept)
    return tuple(dict.fromkeys(found))


def _others(subject: Subject, knob: str, after: str, value: Value, *, kept: bool) -> list[str]:
    found = []
    if not kept and value.kept is not None and not same_value(value.kept, after):
        found.append(
            f"raidtui keeps {knob} of {subject.title} at {value.kept}, and a reboot restores that:"
            " keep the new value too if it is to stay."
        )
    for other in value.others:
        if other.ours:
            continue
        if other.running is False:
            found.append(f"{other.sentence} sets {knob} too when it starts; it is not running.")
        elif other.by in _WATCHING:
            found.append(f"{other.sentence} sets {knob} too, and may set it again at any time.")
        elif kept and comes_later(other, knob):
            found.append(f"{other.sentence} sets {knob} too, later at boot, so that its value wins.")
    return found


def comes_later(other: Setting, knob: str) -> bool:
    """Whether a setting is applied at boot after the file in which raidtui keeps a knob."""
    keep = KNOBS[knob].keep
    if keep not in OUR_FILES:
        return False
    ours = Setting(by=By(keep), where=OUR_FILES[keep])
    if other.rank != ours.rank:
        return other.rank > ours.rank
    return other.where.rpartition("/")[2] > ours.where.rpartition("/")[2]
