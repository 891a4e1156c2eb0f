"""The words of ``raidtui tune``, read: ``sda scheduler=none``, ``@data queue_depth=8``, ``cpu epp=power``.

Words without ``=`` name what the knobs after them belong to: disks, ``@ARRAY`` for all of its members, an
array, ``cpu``, ``policy0``, ``system``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from raidtui.model.knob import KnobScope, Subject, Tuning
from raidtui.model.knob_table import ALIASES, KNOBS, Knob
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.plans.target import find_array
from raidtui.plans.tune.now import knob_exists

_WHOSE = {
    KnobScope.DISK: "a disk",
    KnobScope.POLICY: "the processors (cpu)",
    KnobScope.CPU: "the processors (cpu)",
    KnobScope.ARRAY: "an array",
    KnobScope.CACHE: "a cache (bcache, or a volume of LVM)",
    KnobScope.SYSTEM: "the system",
}


class TuneTarget(Struct, frozen=True, kw_only=True):
    """What a word names. ``members`` are the disks that "@" adds to an array."""

    word: str
    subjects: tuple[Subject, ...]
    members: tuple[Subject, ...] = ()


class NamedKnob(Struct, frozen=True, kw_only=True):
    """A knob of a subject, and the value that was typed with it, if one was.

    Args:
        named: whether the knob itself was typed; else it follows from its subject.
    """

    subject: str
    knob: str
    value: str | None = None
    named: bool = True


class TargetReader:
    """Reads the words of the command line.

    Args:
        snapshot: the present state.
        tuning: the present values.
        resolve: turns a device's path (/dev/disk/by-id/...) into the kernel's name.
    """

    def __init__(self, snapshot: Snapshot, tuning: Tuning, resolve: Callable[[str], str]) -> None:
        self._snapshot = snapshot
        self._tuning = tuning
        self._resolve = resolve

    def read(self, words: Sequence[str], *, bare: bool = False) -> tuple[NamedKnob, ...] | Refusal:
        """Return the knobs that the words name, in their order.

        Args:
            words: as they were typed.
            bare: whether knobs may come without values; a target without knobs then means all of its knobs.
        """
        found: list[NamedKnob] = []
        targets: list[TuneTarget] = []
        named = fresh = False
        for word in words:
            knob, sign, value = word.partition("=")
            if sign or (bare and knob_exists(knob)):
                read = self._knob(targets, knob, value if sign else None)
                named = True
            else:
                target = self.target(word)
                if isinstance(target, Refusal):
                    return target
                targets = [*targets, target] if fresh else [target]
                fresh, named = True, False
                continue
            if isinstance(read, Refusal):
                return read
            found += read
            fresh = False
        if targets and not named:
            if not bare:
                return Refusal(
                    code=RefusalCode.NOT_FOUND,
                    why="no knob is named",
                    remedy="give KNOB=VALUE: scheduler=none",
                )
            found += [
                NamedKnob(subject=subject.name, knob=knob, named=False)
                for target in targets
                for subject in (*target.subjects, *target.members)
                for knob in subject.values
            ]
        return tuple(found)

    def names(self, words: Sequence[str]) -> tuple[str, ...] | Refusal:
        """Return the names of the subjects that the words name: of "@data" the array and its members."""
        found: list[str] = []
        for word in words:
            target = self.target(word)
            if isinstance(target, Refusal):
                return target
            found += [subject.name for subject in (*target.subjects, *target.members)]
        return tuple(dict.fromkeys(found))

    def target(self, word: str) -> TuneTarget | Refusal:
        """Return what a word names."""
        tuning = self._tuning
        if word == "cpu":
            subjects = (*tuning.of(KnobScope.CPU), *tuning.of(KnobScope.POLICY))
            if not subjects:
                return Refusal(code=RefusalCode.UNSUPPORTED, why=tuning.no_cpufreq)
            return TuneTarget(word=word, subjects=subjects)
        if word.startswith("@"):
            array = find_array(self._snapshot, word[1:])
            if isinstance(array, Refusal):
                return array
            own = tuning.array(array.key)
            return TuneTarget(word=word, subjects=(own,) if own else (), members=tuning.members(array.key))
        kernel = self._resolve(word)
        disk = self._snapshot.disks.get(kernel)
        for name in (word, kernel, disk.disk if disk is not None else ""):
            if name and (subject := tuning.subject(name)) is not None:
                return TuneTarget(word=word, subjects=(subject,))
        cache = next((each for each in tuning.of(KnobScope.CACHE) if each.title == word), None)
        if cache is not None:
            return TuneTarget(word=word, subjects=(cache,))
        array = find_array(self._snapshot, word)
        own = None if isinstance(array, Refusal) else tuning.array(array.key)
        if own is not None:
            return TuneTarget(word=word, subjects=(own,))
        known = ", ".join(subject.name for subject in tuning.of(KnobScope.DISK)) or "none"
        arrays = ", ".join(f"@{subject.title}" for subject in tuning.of(KnobScope.ARRAY))
        more = f"; arrays: {arrays}" if arrays else ""
        caches = ", ".join(subject.title for subject in tuning.of(KnobScope.CACHE))
        more += f"; caches: {caches}" if caches else ""
        return Refusal(
            code=RefusalCode.NOT_FOUND,
            why=f"there is no disk or array {word!r}",
            remedy=f"disks: {known}{more}",
        )

    def _knob(self, targets: Sequence[TuneTarget], name: str, value: str | None) -> list[NamedKnob] | Refusal:
        knob = KNOBS.get(ALIASES.get(name, name))
        if knob is None:
            return Refusal(
                code=RefusalCode.NOT_FOUND,
                why=f"there is no knob {name!r}",
                remedy=f"there are: {', '.join(KNOBS)}",
            )
        if not targets:
            subjects = self._everywhere(knob)
            if isinstance(subjects, Refusal):
                return subjects
        else:
            subjects = []
            for target in targets:
                meant = _meant(target, knob)
                if isinstance(meant, Refusal):
                    return meant
                subjects += meant
        return [NamedKnob(subject=subject.name, knob=knob.name, value=value) for subject in subjects]

    def _everywhere(self, knob: Knob) -> list[Subject] | Refusal:
        """A knob of the processors or of the system needs no target."""
        if not set(knob.scopes) & {KnobScope.POLICY, KnobScope.CPU, KnobScope.SYSTEM}:
            whose = " or ".join(_WHOSE[scope] for scope in knob.scopes)
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{knob.name} belongs to {whose}",
                remedy="name one before it, or @ARRAY for all members of an array",
            )
        subjects = [subject for scope in knob.scopes for subject in self._tuning.of(scope)]
        return subjects or Refusal(code=RefusalCode.UNSUPPORTED, why=self._tuning.no_cpufreq)


def _meant(target: TuneTarget, knob: Knob) -> list[Subject] | Refusal:
    """Return whose knob is meant: for "@ARRAY" the members' if disks have it, else the array's own."""
    if target.members and KnobScope.DISK in knob.scopes:
        having = [disk for disk in target.members if knob.name in disk.values]
        return having or list(target.members[:1])  # whose refusal says why
    fitting = [subject for subject in target.subjects if subject.scope in knob.scopes]
    if fitting:
        return fitting
    if KnobScope.DISK in knob.scopes and any(subject.scope is KnobScope.ARRAY for subject in target.subjects):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{knob.name} belongs to disks, not to the array {target.word}",
            remedy=f"give @{target.word.lstrip('@')} for all of its members",
        )
    whose = " or ".join(dict.fromkeys(_WHOSE[scope] for scope in knob.scopes))
    return Refusal(
        code=RefusalCode.NOT_FOUND, why=f"{target.word} has no {knob.name}", remedy=f"it belongs to {whose}"
    )
