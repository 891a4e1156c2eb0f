"""The app's side of pane 4: one host's knobs, read and written in a thread of their own.

Of a host in memory the thread that has it alone may read.

Nothing of ``raidtui.session.tuning`` is loaded before the pane is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.knob import Tuning
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.session.host_thread import HostThread
from raidtui.session.shell import Shell
from raidtui.session.watch_loop import WatchLoop

if TYPE_CHECKING:
    from raidtui.jobs.changed import DonePlan
    from raidtui.model.smart import ErrorRecovery
    from raidtui.plans.tune.profiles import Profile
    from raidtui.session.tuning import Result, Tuner

T = TypeVar("T")


class Knobs:
    """One host's knobs.

    Args:
        shell: its log gets what was changed.
        loop: what watches the host.
    """

    def __init__(self, shell: Shell, loop: WatchLoop) -> None:
        self.shell = shell
        self.loop = loop
        self._root = loop.root.apart() or loop.root
        self._tuner: Tuner | None = None
        self._erc: dict[str, ErrorRecovery | None] = {}
        self._thread: HostThread | None = None
        self._asking: HostThread | None = None
        self.measuring = False
        """Whether a benchmark ran when the values were read last."""

    async def read(self, snapshot: Snapshot, *, afresh: bool = False) -> Tuning:
        """Return all knobs.

        Args:
            snapshot: the present state.
            afresh: whether rules and configuration files are read again, too.
        """

        def work() -> Tuning:
            tuner = self._at()
            if afresh:
                tuner.forget()
            self.measuring = tuner.measuring
            return tuner.read(snapshot, self._erc)

        return await self._work(work)

    async def carry_out(self, plan: Plan, snapshot: Snapshot, before: Tuning) -> Result | Refusal:
        """Write a plan's values, and read all of them again."""
        result = await self._work(lambda: self._at().carry_out(plan, snapshot, before))
        if not isinstance(result, Refusal):
            self._note(plan, result)
        return result

    async def last(self) -> tuple[DonePlan | Refusal, bool]:
        """Return what was done last since the boot, and whether this run did it."""

        def work() -> tuple[DonePlan | Refusal, bool]:
            done = self._at().last()
            return done, not isinstance(done, Refusal) and self._at().is_own(done)

        return await self._work(work)

    async def undo(self, done: DonePlan, snapshot: Snapshot, before: Tuning) -> Result:
        """Put back what was done."""
        result = await self._work(lambda: self._at().undo(done, snapshot, before))
        self._note(done.undo, result)
        return result

    async def profiles(self) -> tuple[tuple[Profile, ...], tuple[str, ...]]:
        """Return raidtui's profiles and the user's own, and what could not be taken of those."""

        def work() -> tuple[tuple[Profile, ...], tuple[str, ...]]:
            from raidtui.config import config_folder  # noqa: PLC0415
            from raidtui.plans.tune.profiles import BUILT_IN  # noqa: PLC0415
            from raidtui.session.tuning import read_profiles  # noqa: PLC0415

            own, troubles = read_profiles(config_folder())
            return (*BUILT_IN, *own), troubles

        return await self._work(work)

    async def ask_disks(self, tuning: Tuning) -> int:
        """Ask all disks with a timeout how long they try for a bad sector; return how many have told.

        A live host's disks are asked in a thread of their own: one that hangs would hold up the sampling.
        """
        names = [subject.name for subject in tuning.subjects if "timeout" in subject.values]

        def work() -> Mapping[str, ErrorRecovery | None]:
            from raidtui.host.smart.smart_reader import SmartReader  # noqa: PLC0415
            from raidtui.model.smart import SmartReading  # noqa: PLC0415

            return {
                name: measured.result.erc
                for name, measured in SmartReader(self._root).read(names).items()
                if isinstance(measured.result, SmartReading)
            }

        found = await self._apart(work)
        self._erc.update(found)
        return len(found)

    async def left(self) -> Plan | None:
        """Return the plan that puts back what this run has changed for now, or None."""
        report = self.shell.report
        if self._tuner is None or report is None:
            return None
        snapshot = report.snapshot
        return await self._work(lambda: self._at().left(self._at().read(snapshot)))

    async def put_back(self) -> None:
        """What ``left`` plans was carried out: no other run shall undo it again."""
        if self._tuner is not None:
            await self._work(self._tuner.drop_own)

    @property
    def trouble(self) -> str:
        """Why another run could not undo what this one did, if so."""
        trouble = self._tuner.record.trouble if self._tuner is not None else ""
        return f"{trouble}; another run cannot undo it" if trouble else ""

    def _at(self) -> Tuner:
        if self._tuner is None:
            from raidtui.session.tuning import Tuner  # noqa: PLC0415

            self._tuner = Tuner(self._root)
        return self._tuner

    def _note(self, plan: Plan, result: Result) -> None:
        tone = Tone.PLAIN if result.as_asked else Tone.BAD
        event = partial(Event, at_s=self._root.now_s(), kind=EventKind.ACTION, subject="you", tone=tone)
        texts = (plan.title,) if result.as_asked else result.sentences
        self.shell.note_events([event(text=text) for text in texts])
        self.loop.look()

    async def _work(self, work: Callable[[], T]) -> T:
        """Files of udev and systemd, tools that hang: nothing that the watching may wait for."""
        if not self._root.live:
            return await self.loop.work(work)
        if self._thread is None:
            self._thread = HostThread()  # never closed, as that of the wear pane
        return await self._thread.run(work)

    async def _apart(self, work: Callable[[], T]) -> T:
        if not self._root.live:
            return await self.loop.work(work)
        if self._asking is None:
            self._asking = HostThread()  # never closed, as that of the wear pane
        return await self._asking.run(work)


def still(tuning: Tuning) -> Tuning:
    """Return values without how fast processors run: that moves all the time, and is no change."""
    return replace(tuning, subjects=tuple(replace(each, now_khz=None) for each in tuning.subjects))
