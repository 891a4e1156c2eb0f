"""Values that are kept over reboots: written now, and into a file that sets them at every boot.

The kernel gets a value first: one that it refuses is not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import By, KnobScope, Subject, Tuning
from raidtui.model.knob_table import ALIASES, KNOBS
from raidtui.model.plan import NothingToDo, Plan, PutFile, Refusal, RefusalCode, RunTool, Step
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.plans.persist import file_steps
from raidtui.plans.target import needs_root
from raidtui.plans.tune.check import refuse_knob, tune_notes
from raidtui.plans.tune.keep_files import UDEV, KeptValue, new_texts, only_others
from raidtui.plans.tune.now import LIMITS, AskedValue, changes_of, names_of, plan_set, subject_of, value_steps

_RELOAD = RunTool(argv=("udevadm", "control", "--reload"), why="udev reads its rules again", may_fail=True)


ALL_KEPT = "everything is already kept"
_ONCE = frozenset({KnobScope.ARRAY, KnobScope.CACHE})
"""What udev sets values of once, when it notes that."""


class KeepItem(Struct, frozen=True, kw_only=True):
    """A value to keep or to forget: ("sda", "scheduler"). "" is the present value."""

    subject: str
    knob: str
    value: str = ""


def plan_keep(snapshot: Snapshot, tuning: Tuning, items: Sequence[KeepItem]) -> Plan | Refusal:
    """Return the plan that keeps values over reboots: those that can be kept; its notes say which cannot.

    Args:
        snapshot: the present state.
        tuning: the present values, and raidtui's files.
        items: what to keep. A value that the kernel does not have yet is also written now.
    """
    if refusal := needs_root(snapshot):
        return refusal
    if not items:
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO,
            why="nothing was set for now",
            remedy="name what to keep: sda scheduler",
        )
    kept, unkept = _kept(tuning, items)
    if isinstance(kept, Refusal):
        return kept
    now = _now(snapshot, tuning, kept)
    if isinstance(now, Refusal):
        return now
    files = _file_steps(snapshot, tuning, new_texts(tuning, kept, frozenset()))
    if any(step.argv == _RELOAD.argv for step in files):
        files = (*files, *(_looked_at(name) for name in _arrays(kept)))
    if not files and now is None:
        return NothingToDo(
            why="; ".join(("everything that can be kept already is" if unkept else ALL_KEPT, *unkept))
        )
    values, back = (now.steps, now.undo) if now is not None else ((), ())
    return Plan(
        title=f"kept: {_words(kept)}",
        subject=_subject(tuning, [each.subject for each in kept]),
        steps=(*values, *files),
        undo=(*_undone(files), *back),
        notes=(*tune_notes([(each.subject, each.knob, each.value) for each in kept], kept=True), *unkept),
    )


def plan_forget(snapshot: Snapshot, tuning: Tuning, items: Sequence[KeepItem] | None) -> Plan | Refusal:
    """Return the plan that stops keeping values. The present values stay until a reboot.

    Args:
        snapshot: the present state.
        tuning: the present values, and raidtui's files.
        items: what to forget; None for everything, including values of disks that are not present.
    """
    if refusal := needs_root(snapshot):
        return refusal
    if items is None:
        found: dict[str, str] = dict.fromkeys(tuning.texts, "")
        if not found:
            return Refusal(code=RefusalCode.NOTHING_TO_DO, why="raidtui keeps nothing here")
        texts = {path: only_others(path, tuning.texts[path]) for path in found}
        title, subjects = "forgotten: everything that raidtui kept", []
    else:
        gone = _known(tuning, items)
        if isinstance(gone, Refusal):
            return gone
        names = frozenset((each.subject.name, each.knob) for each in gone)
        texts = new_texts(tuning, [], names)
        if texts == new_texts(tuning, [], frozenset(("", knob) for _, knob in names)):
            where = " and ".join(texts)
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{where} sets it in lines that raidtui did not write",
                remedy="remove those lines",
            )
        title = f"forgotten: {_words(gone)}"
        subjects = [each.subject for each in gone]
    steps = _file_steps(snapshot, tuning, texts)
    if not steps:
        return Refusal(code=RefusalCode.NOTHING_TO_DO, why="raidtui keeps nothing here")
    return Plan(
        title=title,
        subject=_subject(tuning, subjects),
        steps=steps,
        undo=_undone(steps),
        notes=("The present values stay until a reboot.",),
    )


def items_for_now(tuning: Tuning) -> tuple[KeepItem, ...]:
    """Return what raidtui set for now and still holds: what ``keep`` without words keeps where it can.

    What lasts by itself, as a cache's mode does, was not set for now.
    """
    return tuple(
        KeepItem(subject=subject.name, knob=knob)
        for subject in tuning.subjects
        for knob, value in subject.values.items()
        if value.set_by.by in {By.RUN, By.NOW} and value.text != "system"
        if KNOBS[knob].keep or not value.survives
    )


def kept_items(tuning: Tuning) -> tuple[KeepItem, ...]:
    """Return the values that raidtui keeps for present subjects."""
    return tuple(
        KeepItem(subject=subject.name, knob=knob, value=value.kept)
        for subject in tuning.subjects
        for knob, value in subject.values.items()
        if value.kept is not None
    )


def _kept(tuning: Tuning, items: Sequence[KeepItem]) -> tuple[list[KeptValue] | Refusal, tuple[str, ...]]:
    """Return what can be kept, and sentences on what cannot; a refusal where nothing can be."""
    found: dict[tuple[str, str], KeptValue] = {}
    refused: dict[tuple[str, str], Refusal] = {}
    for item in items:
        subject, knob = tuning.subject(item.subject), ALIASES.get(item.knob, item.knob)
        if subject is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no {item.subject} here"), ()
        if refusal := refuse_knob(subject, knob):
            return refusal, ()
        value = item.value or subject.values[knob].text
        if refusal := _refuse_keeping(tuning, subject, knob, value):
            refused[subject.title, knob] = refusal
        else:
            found[subject.name, knob] = KeptValue(subject=subject, knob=knob, value=value)
    if refused and not found:
        return next(iter(refused.values())), ()
    whys: dict[str, list[str]] = {}
    for (title, knob), refusal in refused.items():
        whys.setdefault(refusal.why, []).append(f"{knob} of {title}")
    return list(found.values()), tuple(f"Not kept: {', '.join(each)}: {why}." for why, each in whys.items())


def _refuse_keeping(tuning: Tuning, subject: Subject, knob: str, value: str) -> Refusal | None:
    by = KNOBS[knob].keep
    if value == "system":
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{subject.title} follows the system's limits, so there is nothing to keep",
        )
    if not by:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=KNOBS[knob].no_keep)
    if by == "udev" and subject.match is None:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=subject.no_match or f"no udev rule can identify {subject.title}",
        )
    if by == "tmpfiles" and not tuning.systemd:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{knob} is kept by systemd's tmpfiles.d, and this host does not run systemd",
            remedy="set it in a script that runs at boot",
        )
    return None


def _now(snapshot: Snapshot, tuning: Tuning, kept: Sequence[KeptValue]) -> Plan | Refusal | None:
    """Return the plan that writes values that the kernel does not have yet; None where it has all."""
    asked = [AskedValue(subject=each.subject.name, knob=each.knob, value=each.value) for each in kept]
    changes = changes_of(tuning, asked)
    if isinstance(changes, Refusal):
        return changes
    if not changes:
        return None
    if any(each.knob in LIMITS for each in changes):
        return plan_set(snapshot, tuning, asked)
    steps, undo = value_steps(tuning, changes)
    return Plan(title="", subject="", steps=steps, undo=undo)


def _file_steps(snapshot: Snapshot, tuning: Tuning, texts: Mapping[str, str]) -> tuple[Step, ...]:
    steps: list[Step] = []
    survey = Survey(snapshot=snapshot, texts=tuning.texts)
    for path, new in texts.items():
        old = tuning.texts.get(path)
        if new == (old or ""):
            continue
        folder = path.rpartition("/")[0]
        if new and folder not in tuning.folders:
            steps.append(RunTool(argv=("mkdir", "--parents", folder), why=f"{folder} does not exist yet"))
        if new:
            steps += file_steps(survey, path, new, why="sets the values at every boot", initramfs=False)
        elif old is not None:
            steps.append(_removal(path, old))
        if path == UDEV:
            steps.append(replace(_RELOAD, undo=(_RELOAD,)))
    return tuple(steps)


def _arrays(kept: Sequence[KeptValue]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.subject.name for each in kept if each.subject.scope in _ONCE))


def _looked_at(name: str) -> Step:
    """Udev sets these values once: it notes that now, or its next event would set them again."""
    return RunTool(
        argv=("udevadm", "trigger", "--action=change", "--settle", f"/sys/class/block/{name}"),
        why=f"udev notes that the values of {name} are set, and sets them again only when it starts",
        may_fail=True,
    )


def _removal(path: str, old: str) -> Step:
    digest = hashlib.sha256(old.encode("latin-1")).hexdigest()
    there = Fact(kind=FactKind.DIGEST, subject=path, value=digest)
    gone = Fact(kind=FactKind.DIGEST, subject=path, value="")
    back = PutFile(path=path, content=old, why=f"{path} as it was before", needs=(gone,), proves=(there,))
    return RunTool(
        argv=("rm", "--force", "--", path),
        why="it no longer keeps anything",
        needs=(there,),
        proves=(gone,),
        undo=(back,),
    )


def _undone(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the undo of file steps: the files first, then udev reads its rules again."""
    undo = [each for step in steps for each in step.undo]
    return (*(each for each in undo if each != _RELOAD), *((_RELOAD,) if _RELOAD in undo else ()))


def _known(tuning: Tuning, items: Sequence[KeepItem]) -> list[KeptValue] | Refusal:
    found = []
    for item in items:
        subject, knob = tuning.subject(item.subject), ALIASES.get(item.knob, item.knob)
        if subject is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no {item.subject} here")
        value = subject.values.get(knob)
        if value is None or value.kept is None:
            return Refusal(
                code=RefusalCode.UNSUPPORTED, why=f"raidtui does not keep {knob} of {subject.title}"
            )
        found.append(KeptValue(subject=subject, knob=knob, value=value.kept))
    return found


def _words(kept: Sequence[KeptValue]) -> str:
    """Return "scheduler none (sda, sdb), queue_depth 8 (sda)"."""
    groups: dict[tuple[str, str], list[Subject]] = {}
    for each in kept:
        groups.setdefault((each.knob, each.value), []).append(each.subject)
    return ", ".join(f"{knob} {value} ({names_of(group)})" for (knob, value), group in groups.items())


def _subject(tuning: Tuning, subjects: Sequence[Subject]) -> str:
    return subject_of(tuning, subjects) if subjects else "tuning"
