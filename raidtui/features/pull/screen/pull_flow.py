"""An exchange from its key to its end: choose the disk, take it out, watch which leaves, put a new one in."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.features.pull.pull_plans import (
    PullDraft,
    disk_scope,
    make_draft,
    next_scope,
    plan_next,
    plan_put_back,
)
from raidtui.features.pull.record import PullError
from raidtui.features.pull.screen.pull_screen import ACT, END, LIGHT, PUT_BACK, REPLACE, PullScreen
from raidtui.features.pull.session import PullLook, PullSession, note_job, refuse_ending
from raidtui.features.pull.standing import PullStage
from raidtui.frame.dialog import Question
from raidtui.frame.plan_flow import Offered, PlanFlow, labels_on, offered_members
from raidtui.frame.screen_shell import ScreenShell
from raidtui.frame.surveying import surveying
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.plans.locate import plan_locate
from raidtui.view.text import visible
from raidtui.watch import storage


class PullFlow(PlanFlow):
    """The exchange of a disk, from pane 1.

    Args:
        shell: the app.
    """

    def __init__(self, shell: ScreenShell) -> None:
        super().__init__(shell)
        self._pull = shell.session.of(PullSession)
        self._draft: PullDraft | None = None
        self._look: PullLook | None = None
        self._chosen = ""
        self._notes = False
        """Whether the job that is started next belongs to the exchange."""
        self._ends = False
        """Whether the exchange ends with it."""

    async def run(self, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
        """Show the exchange that has begun; else choose a disk of the array, and show what there is of it."""
        said = ""
        try:
            self._look = await self._pull.look(snapshot.arrays)
            if self._look is None and not (isinstance(array, Array) and await self._choose(array, snapshot)):
                self._shell.say("nothing was changed", "plain")
                return
        except PullError as error:
            self._shell.say(str(error), "bad")
            return
        while True:
            screen = PullScreen(self._shell, self._pull, draft=self._draft, look=self._look, said=said)
            command = await self._shell.ask(screen)
            if screen.look is not None:
                self._look = screen.look
            self._chosen = screen.chosen.identity if screen.chosen is not None else ""
            try:
                if command is None or not await self._act(command):
                    return
                said = await self._again()
            except PullError as error:
                said = str(error)

    async def _again(self) -> str:
        """Read where it stands now; return what is wrong with that, or ""."""
        report = self._shell.report
        self._look = await self._pull.look(report.snapshot.arrays if report is not None else ())
        if self._look is not None:
            self._draft = None
        return ""

    async def _choose(self, array: Array, snapshot: Snapshot) -> bool:
        """Choose a disk of an array; return False where that was left."""
        with surveying(self._shell, snapshot, storage.form_scope("locate", array, snapshot)) as found:

            def judge(survey: Survey) -> list[Offered]:
                return offered_members(survey, array, lambda *_: None)

            title = f"Which disk of {array.title}?"
            name = await self.row(found, title, judge)
        return bool(name) and await self._read_draft(str(name), snapshot)

    async def _read_draft(self, name: str, snapshot: Snapshot) -> bool:
        with surveying(self._shell, snapshot, disk_scope(snapshot, name)) as found:
            survey = await found.read(name)
        if survey is None:
            return False
        reader = self._pull.reader
        made = await self._shell.session.loop.on_host_thread(lambda: make_draft(reader, survey, name))
        if isinstance(made, Refusal):
            self._shell.say(made.sentence)
            return False
        self._draft = made
        return True

    async def _act(self, command: str) -> bool:
        """Do what the page was closed with; return whether the page comes back."""
        self._notes = self._ends = False
        if command == END or (command == ACT and self._is_done()):
            return not await self._end()
        if command == LIGHT:
            await self._light()
        elif command == REPLACE and self._draft is not None and self._draft.first is not None:
            await self.offer(self._draft.first)
            return False
        elif command == PUT_BACK and self._look is not None:
            self._ends = True
            await self._next(self._look)
        elif self._look is not None and self._look.standing.interrupted:
            await self.resume(self._look.standing.job, self._look.words.head)
        elif self._look is not None:
            self._notes = True
            await self._next(self._look)
        elif self._draft is not None:
            await self._begin(self._draft)
        return True

    def _is_done(self) -> bool:
        return self._look is not None and self._look.standing.stage is PullStage.DONE

    async def _begin(self, draft: PullDraft) -> None:
        made = draft.made
        if isinstance(made, Refusal):
            return
        self._notes = True
        if made.steps:
            await self.end(made, {})
        else:
            await self._shell.session.loop.on_disk_thread(lambda: self._pull.pulls.begin(draft.record))

    async def carry_out(self, plan: Plan) -> None:
        """Keep the record before anything is done; then as any plan."""
        draft = self._draft
        if self._notes and draft is not None and self._look is None:
            try:
                await self._shell.session.loop.on_disk_thread(lambda: self._pull.pulls.begin(draft.record))
            except PullError as error:
                self._shell.say(str(error), "bad")
                return
        await super().carry_out(plan)

    async def began(self, job_id: str) -> None:
        """Note the job in the record."""
        look, pulls, chosen = self._look, self._pull.pulls, self._chosen
        if self._ends:
            await self._shell.session.loop.on_disk_thread(pulls.end)
        elif self._notes:
            await self._shell.session.loop.on_disk_thread(
                lambda: note_job(pulls, look, job_id, chosen=chosen)
            )

    async def _next(self, look: PullLook) -> None:
        """Make the next plan, and offer it."""
        report = self._shell.report
        if report is None:
            return
        destroys: tuple[str, ...] = ()
        devices: Mapping[str, Device] = {}
        made: Plan | Refusal | None = None
        with surveying(
            self._shell, report.snapshot, next_scope(report.snapshot, look, self._chosen)
        ) as found:
            survey = await found.read(look.words.head)
            while survey is not None:
                made, devices = await self._plan(survey, look, destroys), survey.devices
                labels = self._labels(survey, look) if isinstance(made, Refusal) and not destroys else ()
                if not labels:
                    break
                assert isinstance(made, Refusal)  # noqa: S101  (as above)
                if not await self.typed(labels, made.why):
                    made = None
                    break
                destroys = labels
        await self.end(made, devices)

    async def _plan(self, survey: Survey, look: PullLook, destroys: tuple[str, ...]) -> Plan | Refusal:
        reader, chosen, back = self._pull.reader, self._chosen, self._ends
        if back:
            return plan_put_back(survey, look)
        work = self._shell.session.loop.on_host_thread
        return await work(lambda: plan_next(reader, survey, look, chosen=chosen, destroys=destroys))

    def _labels(self, survey: Survey, look: PullLook) -> tuple[str, ...]:
        """Return the names of stopped arrays that a new disk holds members of."""
        fresh = next((disk for disk in look.standing.fresh if disk.identity == self._chosen), None)
        return (
            labels_on(survey, fresh.name)
            if fresh is not None and look.standing.stage is PullStage.FRESH
            else ()
        )

    async def _light(self) -> None:
        record = self._look.record if self._look is not None else self._draft.record if self._draft else None
        report = self._shell.report
        if record is None or report is None:
            return
        with surveying(
            self._shell, report.snapshot, disk_scope(report.snapshot, record.target.name)
        ) as found:
            survey = await found.read(record.target.name)
        made = None if survey is None else plan_locate(survey, record.target.name)
        await self.end(made, {})

    async def _end(self) -> bool:
        """Forget the exchange, after a question where it is not done; return whether it was."""
        look = self._look
        if look is None:
            return True
        if refusal := refuse_ending(look):
            self._shell.say(refusal.sentence)
            return False
        if not self._is_done():
            target = look.record.target
            lines = [
                [(visible(f"End the exchange of {target.name}, {target.number}?"), "strong")],
                [],
                [("Nothing on the host is changed: what is out of an array stays out of it.", "plain")],
            ]
            if await self._shell.ask(Question(lines, (("y", "end it"),))) != "y":
                return False
        await self._shell.session.loop.on_disk_thread(self._pull.pulls.end)
        lit = look.record.light and look.standing.target is not None and not self._is_done()
        light = "; the light of its bay may still be on: i, then l" if lit else ""
        self._shell.say(f"the exchange has ended{light}", "plain")
        return True
