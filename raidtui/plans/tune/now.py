"""Values for now: writes to the kernel's files, each with the write that undoes it.

One plan may change all members of an array. What the kernel would refuse, or would silently change (a
read-ahead that is not a multiple of a page), is refused here, with the range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.answer import known
from raidtui.model.knob import KnobScope, Subject, Tuning, Value, same_value
from raidtui.model.knob_table import ALIASES, KNOBS, PLACES
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, Step, Write
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.sync_speed import plan_give_back, plan_limits
from raidtui.plans.target import needs_root
from raidtui.plans.tune.cache_steps import danger_of, lvm_step
from raidtui.plans.tune.check import refuse_together, refuse_value, tune_notes

LIMITS = frozenset({"sync_speed_min", "sync_speed_max", "speed_limit_min", "speed_limit_max"})
"""The knobs that ``raidtui.plans.sync_speed`` plans."""

_SCOPES = {
    scope: place
    for place, scope in enumerate(
        (KnobScope.CPU, KnobScope.POLICY, KnobScope.DISK, KnobScope.ARRAY, KnobScope.CACHE)
    )
}


class AskedValue(Struct, frozen=True, kw_only=True):
    """A value that is requested: "sda", "scheduler", "none"."""

    subject: str
    knob: str
    value: str


class KnobChange(Struct, frozen=True, kw_only=True):
    """A value that is about to change."""

    subject: Subject
    knob: str
    before: str
    after: str

    @property
    def value(self) -> Value:
        """The present value."""
        return self.subject.values[self.knob]


def plan_set(snapshot: Snapshot, tuning: Tuning, asked: Sequence[AskedValue]) -> Plan | Refusal:
    """Return the plan that sets knobs for now.

    Args:
        snapshot: the present state.
        tuning: the present values.
        asked: what to set. Values that are already so are left out.
    """
    if refusal := needs_root(snapshot):
        return refusal
    changes = changes_of(tuning, asked)
    if isinstance(changes, Refusal):
        return changes
    if not changes:
        return _so_already(tuning, asked)
    if any(each.knob == "bitmap" for each in changes):
        return _bitmap(snapshot, changes)
    plans = _limit_plans(snapshot, changes)
    if isinstance(plans, Refusal):
        return plans
    plain = [each for each in changes if each.knob not in LIMITS]
    steps = (*_steps(tuning, plain), *(step for plan in plans for step in plan.steps))
    undo = (*(step for plan in plans for step in plan.undo), *_undo(tuning, plain))
    return Plan(
        title=title_of(changes),
        subject=subject_of(tuning, [each.subject for each in changes]),
        steps=steps,
        undo=undo,
        harm=Harm.REDUCES
        if (danger := danger_of((each.subject, each.knob, each.after) for each in changes))
        else Harm.HARMLESS,
        warning=danger,
        notes=tune_notes([(each.subject, each.knob, each.after) for each in changes]),
    )


def plan_same(snapshot: Snapshot, tuning: Tuning, name: str, knob: str) -> Plan | Refusal:
    """Return the plan that gives all members of a disk's arrays the value of this disk.

    Args:
        snapshot: the present state.
        tuning: the present values.
        name: the disk whose value the others get.
        knob: the knob's name.
    """
    disk = tuning.subject(name)
    if disk is None or knob not in disk.values:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{name} has no {knob}")
    others = {
        each.name: each
        for key in disk.arrays
        for each in tuning.members(key)
        if each.name != name and knob in each.values
    }
    if not others:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{name} is not a member of an array with other disks")
    text = disk.values[knob].text
    return plan_set(snapshot, tuning, [AskedValue(subject=each, knob=knob, value=text) for each in others])


def changes_of(tuning: Tuning, asked: Sequence[AskedValue]) -> list[KnobChange] | Refusal:
    """Return what would change, in the order in which it is written, or why it cannot be."""
    wanted: dict[tuple[str, str], str] = {}
    for each in asked:
        wanted[each.subject, ALIASES.get(each.knob, each.knob)] = each.value.strip()
    changes = []
    for (name, knob), value in wanted.items():
        subject = tuning.subject(name)
        if subject is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no {name} here")
        if refusal := refuse_value(subject, knob, value, wanted):
            return refusal
        before = subject.values[knob].text
        if not same_value(before, value):
            changes.append(KnobChange(subject=subject, knob=knob, before=before, after=value))
    if refusal := refuse_together(tuning, wanted):
        return refusal
    return ordered(tuning, changes)


def ordered(tuning: Tuning, changes: Iterable[KnobChange]) -> list[KnobChange]:
    """Return changes in the order of writing: the processors' driver first, then each disk's scheduler."""
    places = {subject.name: place for place, subject in enumerate(tuning.subjects)}
    found = sorted(
        changes,
        key=lambda each: (
            _SCOPES.get(each.subject.scope, len(_SCOPES)),
            places.get(each.subject.name, 0),
            PLACES[each.knob],
        ),
    )
    for place, (low, high) in enumerate(pairwise(tuple(found))):
        pair = (low.knob, high.knob) == ("min_freq_khz", "max_freq_khz") and low.subject == high.subject
        # Min must not be above max in between.
        if pair and high.before.isdigit() and int(low.after) > int(high.before):
            found[place], found[place + 1] = high, low
    return found


def write_step(subject: Subject, knob: str, text: str, why: str = "") -> Step:
    """Return a write to a knob, bound to the identity of its disk or array: names may change before it."""
    value = subject.values[knob]
    if subject.map:
        return lvm_step(subject, knob, text, why)
    return Write(
        path=value.path,
        text=text,
        why=why or f"{knob} {value.text} → {text}",
        needs=subject.needs,
        identity=subject.guard,
    )


def value_steps(tuning: Tuning, changes: Sequence[KnobChange]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the writes and their undo, for changes of knobs that are neither limits nor the bitmap."""
    return _steps(tuning, changes), _undo(tuning, changes)


def _steps(tuning: Tuning, changes: Iterable[KnobChange]) -> tuple[Step, ...]:
    """Each step has its own undo too: a job rolls back step by step."""
    return tuple(
        replace(write_step(each.subject, each.knob, each.after), undo=_undo(tuning, (each,)))
        for each in changes
    )


def _undo(tuning: Tuning, changes: Sequence[KnobChange]) -> tuple[Step, ...]:
    """In reverse, but a scheduler before nr_requests, which it resets, and a driver before governors."""
    back: list[tuple[Subject, str]] = [(each.subject, each.knob) for each in changes]
    back += [
        (each.subject, "nr_requests")
        for each in changes
        if each.knob == "scheduler" and "nr_requests" in each.subject.values
    ]
    if any(each.knob == "driver_mode" for each in changes):
        back += [(each, "governor") for each in tuning.of(KnobScope.POLICY) if "governor" in each.values]
    unique = {(subject.name, knob): (subject, knob) for subject, knob in back}
    reverse = [
        KnobChange(
            subject=subject, knob=knob, before=_after(changes, subject, knob), after=subject.values[knob].text
        )
        for subject, knob in unique.values()
    ]
    return tuple(
        write_step(each.subject, each.knob, each.after, f"{each.knob} back to {each.after}")
        for each in ordered(tuning, reverse)
    )


def _after(changes: Sequence[KnobChange], subject: Subject, knob: str) -> str:
    asked = (each.after for each in changes if (each.subject.name, each.knob) == (subject.name, knob))
    return next(asked, subject.values[knob].text)


def _limit_plans(snapshot: Snapshot, changes: Sequence[KnobChange]) -> list[Plan] | Refusal:
    """The limits have a planner of their own, which keeps min below max at every step."""
    plans: list[Plan] = []
    for subject in {each.subject.name: each.subject for each in changes if each.knob in LIMITS}.values():
        wanted = {each.knob: each.after for each in changes if each.subject.name == subject.name}
        given_back = [knob for knob, text in wanted.items() if text == "system"]
        if given_back:
            plan = plan_give_back(snapshot, subject.key)
            if isinstance(plan, Refusal):
                return plan
            plans.append(_only(plan, given_back))
        numbers = {knob: int(text) for knob, text in wanted.items() if knob in LIMITS and text != "system"}
        if numbers:
            plan = _set_limits(snapshot, subject, numbers)
            if isinstance(plan, Refusal):
                return plan
            plans.append(plan)
    return plans


def _set_limits(snapshot: Snapshot, subject: Subject, numbers: dict[str, int]) -> Plan | Refusal:
    array = snapshot.array(subject.key) if subject.key else None
    limits = array.speed_limit if array is not None else snapshot.limits
    low = numbers.get("sync_speed_min", numbers.get("speed_limit_min", limits.min_kib_s if limits else None))
    high = numbers.get("sync_speed_max", numbers.get("speed_limit_max", limits.max_kib_s if limits else None))
    if low is None or high is None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"the kernel shows no limits for {subject.title}")
    return plan_limits(snapshot, subject.key or None, low, high)


def _only(plan: Plan, knobs: Sequence[str]) -> Plan:
    """Return the part of a plan that writes these files."""

    def kept(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(step for step in steps if step.path.rpartition("/")[2] in knobs)

    return Plan(title=plan.title, subject=plan.subject, steps=kept(plan.steps), undo=kept(plan.undo))


def _bitmap(snapshot: Snapshot, changes: Sequence[KnobChange]) -> Plan | Refusal:
    """Mdadm changes the bitmap, by a plan of its own."""
    if len(changes) > 1:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="mdadm changes the bitmap, not a write",
            remedy="change the bitmap alone",
        )
    change = changes[0]
    array = snapshot.array(change.subject.key)
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why="the array is gone")
    survey = Survey(
        snapshot=snapshot, mdadm=known(())
    )  # where there is an array with a bitmap, there is mdadm
    plan = plan_bitmap(survey, array, change.after)
    if isinstance(plan, Plan) and plan.harm is not Harm.HARMLESS:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{plan.title} on {array.title} makes the resync after a crash longer",
            remedy=f"raidtui plan bitmap {array.title} {change.after} --json | raidtui apply -",
        )
    return plan


def _so_already(tuning: Tuning, asked: Sequence[AskedValue]) -> NothingToDo:
    if len(asked) == 1:
        one = asked[0]
        known = tuning.subject(one.subject)
        title = known.title if known is not None else one.subject
        return NothingToDo(why=f"{one.knob} of {title} is already {one.value}")
    return NothingToDo(why="all values are already so")


def title_of(changes: Sequence[KnobChange]) -> str:
    """Return "scheduler mq-deadline → none (sda, sdb)", several of them with commas."""
    groups: dict[tuple[str, str], list[KnobChange]] = {}
    for each in changes:
        groups.setdefault((each.knob, each.after), []).append(each)
    parts = []
    for (knob, after), group in groups.items():
        befores = {each.before for each in group}
        before = f" {befores.pop()}" if len(befores) == 1 else ""
        parts.append(f"{knob}{before} → {after} ({names_of([each.subject for each in group])})")
    return ", ".join(parts)


def titled_back(undo: Plan, tuning: Tuning) -> Plan:
    """Return an undo plan whose title has the direction of its own writes: from the present values back.

    Args:
        undo: as it was recorded; its title may be in the words of what it undoes.
        tuning: the present values.
    """
    changes: dict[str, KnobChange] = {}
    for step in undo.steps:
        known = tuning.at(step.path) if step.text else None
        if known is not None and not same_value(known[2].text, step.text):
            subject, knob, value = known
            changes[step.path] = KnobChange(subject=subject, knob=knob, before=value.text, after=step.text)
    return replace(undo, title=f"undone: {title_of(list(changes.values()))}") if changes else undo


def names_of(subjects: Sequence[Subject]) -> str:
    """Return the names of subjects; of many policies "policy0 to policy7"."""
    names = [subject.title for subject in subjects]
    if len(names) > 4 and all(subject.scope is KnobScope.POLICY for subject in subjects):
        return f"{names[0]} to {names[-1]}"
    return ", ".join(names)


def subject_of(tuning: Tuning, about: Sequence[Subject]) -> str:
    """Return what a plan is about: its one subject, the array that its disks share, cpu, or tuning."""
    subjects = {subject.name: subject for subject in about}
    if len(subjects) == 1:
        return next(iter(subjects.values())).title
    scopes = {subject.scope for subject in subjects.values()}
    if scopes <= {KnobScope.POLICY, KnobScope.CPU}:
        return "cpu"
    shared = set.intersection(*(set(subject.arrays) for subject in subjects.values()))
    array = tuning.array(min(shared)) if shared else None
    return array.title if array is not None else "tuning"


def knob_exists(name: str) -> bool:
    """Whether there is a knob of this name, or alias."""
    return ALIASES.get(name, name) in KNOBS
