"""Pane 5: fio, live; what was measured before; and what of it is faster."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from raidtui.features.bench.results.run_record import RunRecord
from raidtui.features.bench.screen.bench_view import BenchView
from raidtui.features.bench.screen.keys import BENCH
from raidtui.frame.command import Command
from raidtui.frame.pane import KnobPair
from raidtui.view.units import counted

if TYPE_CHECKING:
    from raidtui.features.bench.forms.form_draft import BenchDraft
    from raidtui.features.bench.screen.bench_flow import BenchFlow

_BUSY = "another dialog is being opened: press the key again"
_BEGINS = frozenset({"bench.new", "bench.sweep", "bench.ab"})
_WRITES = frozenset({"bench.stop", "bench.restore", "bench.note", "bench.delete"})
_OF_ENTRY = frozenset(f"bench.{verb}" for verb in ("compare", "heat", "export", "mark", "note", "delete"))


class BenchPane(BenchView):
    """See the module and ``BenchView``."""

    BINDINGS: ClassVar[list[BindingType]] = [each for command in BENCH for each in command.bindings]
    _drafts: dict[str, BenchDraft]

    def on_mount(self) -> None:
        """Start with empty forms."""
        self._drafts = {}
        super().on_mount()

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        session, works = self.session(), self.progress is not None and self.progress.works
        if command_id in _WRITES and session is not None and session.root.readonly:
            return session.refusal
        if command_id in _BEGINS:
            if session is not None and session.refusal:
                return session.refusal
            return "a benchmark is running: x stops it" if works else ""
        if command_id == "bench.stop":
            return "" if works else "no benchmark is running"
        if command_id == "bench.restore":
            return "" if self.interrupted else "no benchmark was interrupted"
        if command_id in _OF_ENTRY and self.entry is None:
            return "nothing has been measured yet" if not self.wanted_text else "no benchmark is chosen"
        return ""

    def foot(self) -> list[tuple[Command, str, bool]]:
        """Return (command, label now, whether it can be done) for the footer and the help."""
        labels = {"bench.compare": f"Compare {len(self.marked)}"} if len(self.marked) > 1 else {}
        return [(each, labels.get(each.id, each.label), not self.why_not(each.id)) for each in BENCH]

    def _flow(self, command_id: str) -> BenchFlow | None:
        """Return the dialogs for a command, or show why it cannot be used."""
        session = self.session()
        why = self.why_not(command_id) or (_BUSY if self.shell.in_flow else "")
        if why:
            self.shell.drop_held_keys()
            self.say(why, "warn")
        if why or session is None or self.report is None:
            return None
        from raidtui.features.bench.screen.bench_flow import BenchFlow  # noqa: PLC0415

        return BenchFlow(self.shell, session, self.report.snapshot)

    def _run(self, flow: Callable[[], Coroutine[Any, Any, object]], *, afresh: bool = False) -> None:
        async def run() -> None:
            await flow()
            if afresh:
                await self.look(afresh=True)

        self.shell.open_flow(run, nothing="nothing was started")

    def action_new(self, kind: str) -> None:
        """Fill in a form: one measurement, a sweep, or two settings against each other."""
        from raidtui.features.bench.forms.form_draft import BenchDraft, FormKind  # noqa: PLC0415

        self._open_form(self._drafts.get(kind) or BenchDraft(kind=FormKind(kind)))

    def measure(self, pair: KnobPair) -> None:
        """See ``Pane.measure``."""
        from raidtui.features.bench.forms.form_draft import KNOB, BenchDraft, FormKind  # noqa: PLC0415

        draft = BenchDraft(kind=FormKind.AB, first=KNOB, knob=pair.knob)
        for side, value in zip("AB", pair.values, strict=True):
            draft = draft.with_text(f"{side} {pair.knob}", value)
        self._open_form(draft, pair.array)

    def _open_form(self, draft: BenchDraft, array: str = "") -> None:
        flow = self._flow(f"bench.{'new' if draft.kind == 'run' else draft.kind}")
        if flow is not None:
            self._run(lambda: self._begin(flow, draft, array))

    async def _begin(self, flow: BenchFlow, draft: BenchDraft, array: str) -> None:
        self._drafts[draft.kind], started = await flow.begin(draft, array)
        if started:
            self.say(f"started; {self.session().ends}", "ok")
        await self.look(afresh=True)
        if self.progress is not None and self.progress.works:
            self.chosen = self.progress.job
            self.redraw()

    def action_stop(self) -> None:
        """End the benchmark that runs."""
        flow, progress = self._flow("bench.stop"), self.progress
        if flow is not None and progress is not None:
            self._run(lambda: flow.stop(progress))

    def action_restore(self) -> None:
        """Put back what interrupted benchmarks have changed."""
        flow = self._flow("bench.restore")
        if flow is not None:
            self._run(flow.restore, afresh=True)

    def action_mark(self) -> None:
        """Mark the chosen benchmark, or take the mark off, for the comparison."""
        if why := self.why_not("bench.mark"):
            self.say(why, "warn")
            return
        self.marked ^= {self.chosen}
        self.say(f"{counted(len(self.marked), 'benchmark')} marked; c compares them", "plain")
        self.redraw()

    def action_compare(self, heat: bool = False) -> None:  # noqa: FBT001, FBT002  (a binding gives it)
        """Show the marked benchmarks side by side; without marks, the series of the chosen one."""
        flow = self._flow("bench.compare")
        if flow is not None:
            records, title = self._meant()
            self._run(lambda: flow.compare(records, title, heat=heat))

    def action_export(self) -> None:
        """Write the marked benchmarks, or the chosen one, to a file."""
        flow = self._flow("bench.export")
        if flow is not None:
            records, _ = self._meant()
            self._run(lambda: flow.export(records))

    def action_note(self) -> None:
        """Give the chosen benchmark a note."""
        flow, entry = self._flow("bench.note"), self.entry
        if flow is not None and entry is not None:
            self._run(lambda: flow.note(entry), afresh=True)

    def action_delete(self) -> None:
        """Forget the chosen benchmark."""
        flow, entry = self._flow("bench.delete"), self.entry
        if flow is not None and entry is not None:
            self._run(lambda: flow.delete(entry), afresh=True)

    def _meant(self) -> tuple[tuple[RunRecord, ...], str]:
        """Return the marked runs, or those of the chosen benchmark, oldest first, and their title."""
        marked = [each for each in reversed(self._entries) if each.key in self.marked]
        entries = marked or [each for each in (self.entry,) if each is not None]
        records = tuple(record for each in entries for record in each.records)
        title = entries[0].title if len(entries) == 1 else f"{len(entries)} benchmarks"
        return records, title
