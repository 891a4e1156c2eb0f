"""From the key to a self-test: ask the disk, choose which test, see the plan, confirm it."""

from __future__ import annotations

from raidtui.features.wear.plan_self_test import STARTABLE
from raidtui.features.wear.self_tests import ABORT, SelfTestDisk
from raidtui.features.wear.session import WearSession
from raidtui.frame.choose import Choice, Option
from raidtui.frame.plan_flow import PlanFlow
from raidtui.model.plan import Plan, Refusal
from raidtui.model.self_test import SelfTestKind
from raidtui.model.smart import SmartReading
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.self_test_words import last_words, running_words
from raidtui.view.units import duration


class SelfTestFlow(PlanFlow):
    """Starts a self-test on a disk, or aborts the one that runs."""

    async def run(self, name: str, snapshot: Snapshot) -> None:
        """Let one choose a self-test for a disk, while the disk is asked; carry out what is confirmed.

        Args:
            name: the kernel's name of the disk.
            snapshot: the arrays.
        """
        choice = Choice(f"Self-test of {name}")
        choice.show_options((), f"reading {name} …")
        disk: SelfTestDisk | None = None

        async def fill() -> None:
            nonlocal disk
            disk = await self._shell.session.of(WearSession).self_test_disk(name)
            choice.show_options(_options(disk, snapshot), _words(disk))

        chosen = await self.ask_while(choice, fill())
        made = disk.plan(snapshot, chosen) if chosen and disk is not None else None
        if isinstance(made, Plan):
            what = "abort of the self-test" if chosen == ABORT else f"{chosen} self-test"
            await self.offer(made, title=f"{name}: {what}")
        else:
            await self.end(made, {}, of=f"{name}: ")

    async def carry_out(self, plan: Plan) -> None:
        """Make a job of the plan; the demo's disks are asked at once, as it has no jobs."""
        session = self._shell.session
        if session.reader.live:
            await super().carry_out(plan)
            return
        with self._shell.writing():
            outcome, _ = await session.loop.execute(plan)
        self._shell.say(outcome.sentence, "ok" if outcome.failed is None else "bad")


def _options(disk: SelfTestDisk, snapshot: Snapshot) -> tuple[Option, ...]:
    kinds = [kind for kind in STARTABLE if kind is not SelfTestKind.CONVEYANCE or _has_conveyance(disk)]
    return (*(_option(disk, snapshot, kind.value) for kind in kinds), _option(disk, snapshot, ABORT))


def _has_conveyance(disk: SelfTestDisk) -> bool:
    tests = disk.reading.self_tests if isinstance(disk.reading, SmartReading) else None
    return tests is not None and SelfTestKind.CONVEYANCE in (tests.kinds or ())


def _option(disk: SelfTestDisk, snapshot: Snapshot, what: str) -> Option:
    made = disk.plan(snapshot, what)
    refusal = made.sentence if isinstance(made, Refusal) else ""
    if what == ABORT:
        return Option(key=what, words="abort the self-test that runs", refusal=refusal)
    tests = disk.reading.self_tests if isinstance(disk.reading, SmartReading) else None
    minutes = tests.minutes_of(SelfTestKind(what)) if tests is not None else None
    takes = "" if minutes is None else f"{duration(minutes * 60)}, says the disk"
    words = f"{what:<12} {takes}".rstrip()
    return Option(key=what, words=words, refusal=refusal, note=disk.verdict or disk.trouble)


def _words(disk: SelfTestDisk) -> str:
    """Return the self-test that runs, else how the last one ended, for the line above the rows."""
    tests = disk.reading.self_tests if isinstance(disk.reading, SmartReading) else None
    if not isinstance(disk.reading, SmartReading) or tests is None:
        return ""
    return running_words(tests.running) if tests.running is not None else last_words(disk.reading)
