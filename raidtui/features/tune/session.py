"""Tuning one host: reads knobs, carries plans out, reads the values back, and undoes.

The command line and the screen both use a ``Tuner``, which is not thread-safe. Pane 4 holds a
``TuneSession``: a Tuner in a thread of its own. Modules that only reading or writing needs are imported
there, not when the pane opens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.regular_files import read_regular
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.knob import Tuning, same_value
from raidtui.model.plan import Plan, Refusal, RefusalCode, Step
from raidtui.model.smart import ErrorRecovery
from raidtui.model.snapshot import Snapshot
from raidtui.plans.tune.now import titled_back
from raidtui.plans.tune.readback import Readback, read_back
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session

if TYPE_CHECKING:
    from raidtui.jobs.journal import Journal
    from raidtui.jobs.runner import PlanOutcome
    from raidtui.jobs.undo_record import UndoEntry, UndoRecord, WrittenValue
    from raidtui.plans.tune.profiles import Profile

T = TypeVar("T")


class TuneResult(Struct, frozen=True, kw_only=True):
    """How a plan ended.

    Args:
        outcome: of the plan.
        readbacks: each value as it was requested, and as the kernel has it now.
        tuning: all values after it.
    """

    outcome: PlanOutcome
    readbacks: tuple[Readback, ...]
    tuning: Tuning

    @property
    def as_asked(self) -> bool:
        """Whether everything was done and the kernel has every value."""
        return self.outcome.failed is None and all(each.as_asked for each in self.readbacks)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What became of each value, and why the plan ended early if it did; a sentence each."""
        lines = [each.sentence(self._reason(each)) for each in self.readbacks]
        failed = self.outcome.failed
        if failed is not None and not any(each.path == failed.path for each in self.readbacks):
            lines.append(f"not done: {failed.command}: {self.outcome.reason}")
        return tuple(lines)

    def _reason(self, each: Readback) -> str:
        failed = self.outcome.failed
        if failed is None:
            return ""
        if each.path == failed.path:
            return self.outcome.reason
        done = {step.path for step in self.outcome.done}
        return "" if each.path in done else "it was not tried"


class Tuner:
    """Reads and sets one host's knobs.

    Args:
        reader: the host.
        record: the values set until reboot; by default the host's.
        journal: where writes are noted.
    """

    def __init__(
        self, reader: HostReader, *, record: UndoRecord | None = None, journal: Journal | None = None
    ) -> None:
        from raidtui.jobs.journal import Journal, journal_path  # noqa: PLC0415
        from raidtui.monitor.tuning_reader import TuningReader  # noqa: PLC0415

        self._reader = reader
        self._tuning_reader = TuningReader(reader, record)
        self.record = self._tuning_reader.record
        self.journal = journal or Journal(journal_path() if reader.live else None)

    @property
    def measuring(self) -> bool:
        """Whether a benchmark runs on this host, from here or elsewhere."""
        if not self._reader.live:
            return False
        from raidtui.jobs.lock import worker_of  # noqa: PLC0415
        from raidtui.jobs.store import Job, jobs_folder  # noqa: PLC0415

        job = worker_of(jobs_folder())
        return job is not None and Job(jobs_folder() / job).command == "bench"

    def forget(self) -> None:
        """Read rules, profiles and configuration files afresh next time."""
        self._tuning_reader.forget()

    def read(self, snapshot: Snapshot, erc: Mapping[str, ErrorRecovery | None] | None = None) -> Tuning:
        """Return all knobs, with who has set them.

        Args:
            snapshot: the present state.
            erc: by the disk's name, the timeouts (SCT ERC) of the disks that were asked; None: it has none.
        """
        return self._tuning_reader.read(snapshot, erc)

    def carry_out(self, plan: Plan, snapshot: Snapshot, before: Tuning) -> TuneResult | Refusal:
        """Carry a plan out, record how it is undone, and read the values again.

        Args:
            plan: of ``raidtui.plans``: tune, keep or profiles.
            snapshot: the state that it was made from.
            before: the values that it was made from.
        """
        if not self._reader.live and any(_is_beyond(step) for step in plan.steps):
            return Refusal(
                code=RefusalCode.NOT_HERE,
                why="this needs a real host: a simulated one has neither files nor tools",
            )
        from raidtui.jobs.runner import run_plan  # noqa: PLC0415
        from raidtui.jobs.undo_record import UndoPlace  # noqa: PLC0415

        outcome = run_plan(self._reader, plan, self.journal)
        if outcome.failed is not None:
            self._take_back(outcome.failed)
        undo = partly_undone(outcome)
        if undo is not None:
            originals = [step for step in undo.steps if step.text]
            self.record.note(undo, _writes(outcome, before), UndoPlace.TUNE, originals)
        self.forget()
        after = self.read(snapshot, {disk.name: disk.erc for disk in before.subjects if disk.erc_asked})
        return TuneResult(outcome=outcome, readbacks=read_back(outcome.plan, before, after), tuning=after)

    def _take_back(self, failed: Step) -> None:
        """Undo a tool's setting that the kernel did not take: LVM has noted it nevertheless."""
        from raidtui.jobs.runner import do_step  # noqa: PLC0415

        if failed.argv and failed.text:
            for step in failed.undo:
                do_step(self._reader, step, lambda _: None)

    def last(self) -> UndoEntry | Refusal:
        """Return what any run has set last since the boot, in pane 4 or by ``raidtui tune``."""
        from raidtui.jobs.undo_record import UndoPlace  # noqa: PLC0415

        return self.record.last(UndoPlace.TUNE) or Refusal(
            code=RefusalCode.NOTHING_TO_DO, why="nothing was changed since the boot that could be undone"
        )

    def undo(self, done: UndoEntry, snapshot: Snapshot, before: Tuning) -> TuneResult:
        """Undo an entry of the record."""
        from raidtui.jobs.runner import run_plan  # noqa: PLC0415

        outcome = run_plan(self._reader, titled_back(done.undo, before), self.journal)
        if outcome.failed is None:
            self.record.drop(done.id)
        self.forget()
        after = self.read(snapshot)
        return TuneResult(outcome=outcome, readbacks=read_back(done.undo, before, after), tuning=after)

    def without_kept(self, plan: Plan, snapshot: Snapshot) -> Plan | None:
        """Return a plan that restores values without those that raidtui keeps; None where nothing is left.

        A value that was set for now and then kept is meant to stay.
        """
        tuning = self.read(snapshot)
        steps = tuple(step for step in plan.steps if not _is_kept(tuning, step.path))
        return replace(plan, steps=steps) if steps else None


class TuneSession:
    """The knobs of one host, for pane 4.

    Args:
        session: of the host; its log gets the changes.
    """

    def __init__(self, session: Session) -> None:
        self.shell = session.shell
        self.loop = session.loop
        self._reader = session.reader.thread_safe_copy() or session.reader
        self._tuner: Tuner | None = None
        self._erc: dict[str, ErrorRecovery | None] = {}
        self._thread, self._asking = HostThread(), HostThread()  # never closed, as that of the wear pane
        self.measuring = False
        """Whether a benchmark ran when the values were read last."""

    async def read(self, snapshot: Snapshot, *, afresh: bool = False) -> Tuning:
        """Return all knobs.

        Args:
            snapshot: the present state.
            afresh: whether rules, configuration files and processes are read again too.
        """

        def work() -> Tuning:
            tuner = self._at()
            if afresh:
                tuner.forget()
            self.measuring = tuner.measuring
            return tuner.read(snapshot, self._erc)

        return await self._work(work)

    async def carry_out(self, plan: Plan, snapshot: Snapshot, before: Tuning) -> TuneResult | Refusal:
        """Write a plan's values, and read all of them again."""
        result = await self._work(lambda: self._at().carry_out(plan, snapshot, before))
        if not isinstance(result, Refusal):
            self._note(plan, result)
        return result

    async def last(self) -> tuple[UndoEntry | Refusal, bool]:
        """Return the last change since the boot, and whether this run made it."""

        def work() -> tuple[UndoEntry | Refusal, bool]:
            done = self._at().last()
            return done, not isinstance(done, Refusal) and self._at().record.is_own(done)

        return await self._work(work)

    async def undo(self, done: UndoEntry, snapshot: Snapshot, before: Tuning) -> TuneResult:
        """Undo an entry of the record."""
        result = await self._work(lambda: self._at().undo(done, snapshot, before))
        self._note(result.outcome.plan, result)
        return result

    async def profiles(self) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
        """Return raidtui's profiles and the user's, and a sentence on each entry that cannot be used."""

        def work() -> tuple[tuple[Profile, ...], tuple[str, ...]]:
            from raidtui.config import config_folder  # noqa: PLC0415
            from raidtui.plans.tune.profiles import BUILT_IN  # noqa: PLC0415

            own, troubles = read_profiles(config_folder())
            return (*BUILT_IN, *own), troubles

        return await self._work(work)

    async def ask_disks(self, tuning: Tuning) -> int:
        """Ask all disks that have a timeout for SCT ERC; return how many answered.

        A live host's disks are asked in another thread: one that hangs would delay the reading of knobs.
        """
        names = [subject.name for subject in tuning.subjects if "timeout" in subject.values]

        found = await self._apart(lambda: ask_erc(self._reader, names))
        self._erc.update(found)
        return len(found)

    async def without_kept(self, plan: Plan) -> Plan | None:
        """See ``Tuner.without_kept``."""
        report = self.shell.report
        if report is None:
            return plan
        snapshot = report.snapshot
        return await self._work(lambda: self._at().without_kept(plan, snapshot))

    @property
    def trouble(self) -> str:
        """What could not be kept of a change: how another run undoes it, or that it was made; "": all was."""
        if self._tuner is None:
            return ""
        record, journal = self._tuner.record.trouble, self._tuner.journal.trouble
        return "; ".join(filter(None, (record and f"{record}; another run cannot undo it", journal)))

    def _at(self) -> Tuner:
        if self._tuner is None:
            self._tuner = Tuner(self._reader, record=self.loop.watch.record)
        return self._tuner

    def _note(self, plan: Plan, result: TuneResult) -> None:
        tone = Tone.PLAIN if result.as_asked else Tone.BAD
        event = partial(Event, at_s=self._reader.now_s(), kind=EventKind.ACTION, subject="you", tone=tone)
        texts = (plan.title,) if result.as_asked else result.sentences
        self.shell.note_events([event(text=text) for text in texts])
        self.loop.sample_soon()

    async def _work(self, work: Callable[[], T]) -> T:
        """Run in the thread for knobs: the watching must not wait for slow files and tools."""
        return await (self._thread.run(work) if self._reader.live else self.loop.on_host_thread(work))

    async def _apart(self, work: Callable[[], T]) -> T:
        """Run in another thread: a disk that is asked may take seconds."""
        return await (self._asking.run(work) if self._reader.live else self.loop.on_host_thread(work))


def ask_erc(reader: HostReader, names: Sequence[str]) -> dict[str, ErrorRecovery | None]:
    """Ask disks for SCT ERC; return the answers by name, without the disks that did not answer."""
    from raidtui.host.smart.smart_reader import SmartReader  # noqa: PLC0415
    from raidtui.model.smart import SmartReading  # noqa: PLC0415

    return {
        name: measured.result.erc
        for name, measured in SmartReader(reader).read(names).items()
        if isinstance(measured.result, SmartReading)
    }


def partly_undone(outcome: PlanOutcome) -> Plan | None:
    """Return the plan that undoes the finished steps of a plan; None if there are none."""
    from raidtui.jobs.runner import undo_of  # noqa: PLC0415

    undo = undo_of(outcome.plan)
    if undo is None or not outcome.done:
        return None
    if outcome.failed is None:
        return undo
    own = [each for step in reversed(outcome.done) for each in step.undo]
    others = {step.path for step in outcome.done if not step.undo}
    steps = (*own, *(step for step in undo.steps if step.text and step.path in others))
    return replace(undo, steps=steps, undo=outcome.done) if steps else None


def _is_beyond(step: Step) -> bool:
    """Whether a simulated host cannot do a step: it has no files, and of tools only what sets a knob."""
    return step.content is not None or (bool(step.argv) and not step.text)


def _writes(outcome: PlanOutcome, before: Tuning) -> tuple[WrittenValue, ...]:
    from raidtui.jobs.undo_record import WrittenValue  # noqa: PLC0415

    found = []
    for step in outcome.done:
        known = before.at(step.path) if step.text else None
        if known is not None:
            found.append(WrittenValue(path=step.path, before=known[2].text, value=step.text))
    return tuple(found)


def read_profiles(folder: Path) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
    """Return the user's own profiles, and a sentence on each entry that cannot be used.

    Args:
        folder: the folder of the settings, in which profiles.toml is read.
    """
    import tomllib  # noqa: PLC0415  (8 ms that most starts do without)

    from raidtui.plans.tune.profiles import BUILT_IN, parse_profiles  # noqa: PLC0415

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
        f"{path}: {each.name} is the name of a built-in profile" for each in found if each.name in names
    )
    return tuple(each for each in found if each.name not in names), (*troubles, *taken)


def _is_kept(tuning: Tuning, path: str) -> bool:
    """Whether raidtui keeps the value that a file has now."""
    known = tuning.at(path)
    if known is None or known[2].kept is None:
        return False
    return same_value(known[2].kept, known[2].text)


def still(tuning: Tuning) -> Tuning:
    """Return values without the processors' present frequency, which changes all the time."""
    return replace(tuning, subjects=tuple(replace(each, now_khz=None) for each in tuning.subjects))
