"""The desk of whoever tunes: knobs read, plans of values carried out, read back, remembered and undone.

The screen and the command line hold one ``Tuner``. Not thread-safe.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.regular_files import read_regular
from raidtui.host.roots.root import Root
from raidtui.jobs.changed import DonePlan, UndoRecord, Write, changed_by, record_path
from raidtui.jobs.journal import Journal, journal_path, who
from raidtui.jobs.runner import PlanOutcome, run_plan, undo_of
from raidtui.jobs.store import Job, jobs_folder, worker_of
from raidtui.model.knob import Tuning, same_value
from raidtui.model.plan import Plan, Refusal, RefusalCode, Step
from raidtui.model.smart import ErrorRecovery
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.profiles import BUILT_IN, Profile, parse_profiles
from raidtui.plans.tune.told import Told, told


class Result(Struct, frozen=True, kw_only=True):
    """How a plan ended.

    Args:
        outcome: of the plan.
        told: each value as it was asked for, and as the kernel has it now.
        tuning: all values afterwards.
    """

    outcome: PlanOutcome
    told: tuple[Told, ...]
    tuning: Tuning

    @property
    def as_asked(self) -> bool:
        """Whether all was done, and the kernel says so."""
        return self.outcome.failed is None and all(each.stands for each in self.told)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What became of each value, and why the plan ended early, if it did."""
        lines = [each.sentence(self._reason(each)) for each in self.told]
        failed = self.outcome.failed
        if failed is not None and not any(each.path == failed.path for each in self.told):
            lines.append(f"not done: {failed.command}: {self.outcome.reason}")
        return tuple(lines)

    def _reason(self, each: Told) -> str:
        failed = self.outcome.failed
        if failed is None:
            return ""
        if each.path == failed.path:
            return self.outcome.reason
        done = {step.path for step in self.outcome.done}
        return "" if each.path in done else "it was not tried"


class Tuner:
    """One host's knobs.

    Args:
        root: the host.
        record: where the way back is kept; for a live host the default is /run/raidtui/tune.json.
        journal: where writes are noted.
    """

    def __init__(self, root: Root, *, record: Path | None = None, journal: Journal | None = None) -> None:
        self._root = root
        self._reader = KnobReader(root)
        self._own: set[str] = set()
        self.record = UndoRecord(root, record or (record_path() if root.live else None))
        self.journal = journal or Journal(journal_path() if root.live else None)

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs on this host, whoever began it."""
        if not self._root.live:
            return False
        job = worker_of(jobs_folder())
        return job is not None and Job(jobs_folder() / job).order == "bench"

    def forget(self) -> None:
        """Read rules, profiles and configuration files afresh next time."""
        self._reader.forget()

    def read(self, snapshot: Snapshot, erc: Mapping[str, ErrorRecovery | None] | None = None) -> Tuning:
        """Return all knobs, with who has set them.

        Args:
            snapshot: the present state.
            erc: by the disk's name, the patience of those that were asked; None: it has none.
        """
        return self._reader.read(snapshot, changed_by(self.record.load(), self._own), erc)

    def carry_out(self, plan: Plan, snapshot: Snapshot, before: Tuning) -> Result | Refusal:
        """Carry a plan out, remember the way back, and read the values again.

        Args:
            plan: of ``raidtui.plans``: tune, keep or profiles.
            snapshot: the state that it was made from.
            before: the values that it was made from.
        """
        if not self._root.live and any(step.argv or step.content is not None for step in plan.steps):
            return Refusal(
                code=RefusalCode.NOT_HERE,
                why="this needs a real host: a simulated one has neither files nor tools",
            )
        outcome = run_plan(self._root, plan, self.journal)
        return self.take(outcome, snapshot, before)

    def take(self, outcome: PlanOutcome, snapshot: Snapshot, before: Tuning) -> Result:
        """Remember a plan that was carried out elsewhere (``Console.execute``), and read the values again."""
        undo = partly_undone(outcome)
        if undo is not None:
            ident = f"{os.getpid()}-{time.monotonic_ns()}"
            self._own.add(ident)
            self.record.add(
                DonePlan(id=ident, at_s=time.time(), who=who(), undo=undo, writes=_writes(outcome, before))
            )
        self.forget()
        after = self.read(snapshot, {disk.name: disk.erc for disk in before.subjects if disk.erc_asked})
        return Result(outcome=outcome, told=told(outcome.plan, before, after), tuning=after)

    def last(self) -> DonePlan | Refusal:
        """Return what was done last, of this run or another since the boot."""
        done = self.record.load()
        return (
            done[-1]
            if done
            else Refusal(
                code=RefusalCode.NOTHING_TO_DO, why="nothing was changed since the boot that could be undone"
            )
        )

    def left(self, tuning: Tuning) -> Plan | None:
        """Return the plan that puts back what this run changed for now and stands, or None.

        What raidtui keeps stays: it was meant to.
        """
        originals: dict[str, Step] = {}
        for done in self.record.load():
            if self.is_own(done):
                for step in done.undo.steps:
                    if step.text:
                        originals.setdefault(step.path, step)
        steps = []
        for path, step in originals.items():
            known = tuning.at(path)
            if known is None or same_value(known[2].text, step.text):
                continue
            if known[2].kept is None or not same_value(known[2].kept, known[2].text):
                steps.append(step)
        if not steps:
            return None
        return Plan(title="restored what this session tuned", subject="you", steps=tuple(steps))

    def is_own(self, done: DonePlan) -> bool:
        """Whether this run did it."""
        return done.id in self._own

    def drop_own(self) -> None:
        """Forget the ways back of what this run did: ``left`` was carried out."""
        for done in self.record.load():
            if self.is_own(done):
                self.record.drop(done.id)

    def undo(self, done: DonePlan, snapshot: Snapshot, before: Tuning) -> Result:
        """Put back what was done."""
        outcome = run_plan(self._root, done.undo, self.journal)
        if outcome.failed is None:
            self.record.drop(done.id)
        self.forget()
        after = self.read(snapshot)
        return Result(outcome=outcome, told=told(done.undo, before, after), tuning=after)


def partly_undone(outcome: PlanOutcome) -> Plan | None:
    """Return the plan that undoes what was done of a plan, or None where that is nothing."""
    undo = undo_of(outcome.plan)
    if undo is None or not outcome.done:
        return None
    if outcome.failed is None:
        return undo
    own = [each for step in reversed(outcome.done) for each in step.undo]
    others = {step.path for step in outcome.done if not step.undo}
    steps = (*own, *(step for step in undo.steps if step.text and step.path in others))
    return replace(undo, steps=steps, undo=outcome.done) if steps else None


def _writes(outcome: PlanOutcome, before: Tuning) -> tuple[Write, ...]:
    found = []
    for step in outcome.done:
        known = before.at(step.path) if step.text else None
        if known is not None:
            found.append(Write(path=step.path, before=known[2].text, value=step.text))
    return tuple(found)


def read_profiles(folder: Path) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
    """Return the user's own profiles, and sentences on what could not be taken.

    Args:
        folder: of the settings; profiles.toml is read in it.
    """
    import tomllib  # noqa: PLC0415  (8 ms that most starts do without)

    path = folder / "profiles.toml"
    try:
        tables = tomllib.loads(read_regular(str(path)).decode())
    except FileNotFoundError:
        return (), ()
    except RecursionError:
        return (), (f"{path}: nested too deeply",)
    except (OSError, ValueError) as error:  # no TOML, no UTF-8, a number of too many digits
        return (), (f"{path}: {error}",)
    found, troubles = parse_profiles(tables, str(path))
    names = {profile.name for profile in BUILT_IN}
    taken = tuple(
        f"{path}: {each.name} is a profile of raidtui's own" for each in found if each.name in names
    )
    return tuple(each for each in found if each.name not in names), (*troubles, *taken)
