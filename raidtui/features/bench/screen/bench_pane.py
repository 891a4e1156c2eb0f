"""Pane 5: the running benchmark, the history, comparisons, and their dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from raidtui.features.bench.forms.form_draft import KNOB, BenchDraft, FormKind
from raidtui.features.bench.results.compare import series_of
from raidtui.features.bench.results.run_store import ResultsError
from raidtui.features.bench.screen.bench_view import BenchView
from raidtui.features.bench.screen.keys import BENCH
from raidtui.frame.choose import Ask
from raidtui.frame.dialog import WIDTH, Question
from raidtui.frame.surveying import awaited
from raidtui.view.text import visible
from raidtui.view.units import counted
from raidtui.view.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from textual.binding import BindingType

    from raidtui.features.bench.results.run_record import RunRecord
    from raidtui.features.bench.run.bench_progress import BenchProgress
    from raidtui.features.bench.screen.history_lines import HistoryEntry
    from raidtui.features.bench.session import BenchSession
    from raidtui.frame.command import Command
    from raidtui.frame.pane import KnobPair
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.model.snapshot import Snapshot

_BUSY = "another dialog is being opened: press the key again"
_BEGINS = frozenset({"bench.new", "bench.sweep", "bench.ab"})
_WRITES = frozenset({"bench.stop", "bench.restore", "bench.note", "bench.delete"})
_OF_ENTRY = frozenset(f"bench.{verb}" for verb in ("compare", "heat", "export", "mark", "note", "delete"))


class BenchPane(BenchView):
    """See the module and ``BenchView``."""

    BINDINGS: ClassVar[list[BindingType]] = [each for command in BENCH for each in command.bindings]
    _drafts: dict[str, BenchDraft]

    def on_mount(self) -> None:
        """Start with empty forms; Textual calls the base's, which draws, afterwards."""
        self._drafts = {}

    def why_not(self, command_id: str) -> str:
        """Return why a command cannot be used now; "" where it can."""
        session, works = self.session(), self.progress is not None and self.progress.works
        if command_id in _WRITES and session.reader.readonly:
            return session.refusal
        if command_id in _BEGINS:
            if session.refusal:
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
        why = self.why_not(command_id) or (_BUSY if self.shell.in_flow else "")
        if why:
            self.shell.drop_held_keys()
            self.say(why, "warn")
        if why or self.report is None:
            return None
        return BenchFlow(self.shell, self.session(), self.report.snapshot)

    def _run(self, flow: Callable[[], Coroutine[Any, Any, object]], *, afresh: bool = False) -> None:
        async def run() -> None:
            await flow()
            if afresh:
                await self.look(afresh=True)

        self.shell.open_flow(run, nothing="nothing was started")

    def action_new(self, kind: str) -> None:
        """Fill in a form: one measurement, a sweep, or two settings against each other."""
        self._open_form(self._drafts.get(kind) or BenchDraft(kind=FormKind(kind)))

    def measure(self, pair: KnobPair) -> None:
        """See ``Pane.measure``."""
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


_NOTE_CELLS = 200
_WIDTH = WIDTH - 4


class BenchFlow:
    """The dialogs of pane 5, from a key to its end.

    Args:
        shell: the app.
        session: the benchmarks of the host in view.
        snapshot: the present state.
    """

    def __init__(self, shell: ScreenShell, session: BenchSession, snapshot: Snapshot) -> None:
        self._session = session
        self._shell = shell
        self._snapshot = snapshot

    async def begin(self, draft: BenchDraft, array: str = "") -> tuple[BenchDraft, bool]:
        """Fill in a form, review the benchmark, and start it.

        Args:
            draft: its contents at first.
            array: the title of an array; a folder on it is the default.

        Returns:
            The contents of the form when it was left, and whether a benchmark was started.
        """
        from raidtui.features.bench.screen.form_lines import TITLES  # noqa: PLC0415

        if not await self.restore(first=True):
            return draft, False
        read = self._session.known(self._snapshot)
        known = await awaited(self._shell, TITLES[draft.kind], "reading what can be measured …", read)
        if known is None:
            self._shell.say("nothing was started", "plain")
            return draft, False
        from raidtui.features.bench.screen.form_page import BenchForm  # noqa: PLC0415

        upon = next((each.path for each in known.folders if array in each.arrays), "")
        form = BenchForm(replace(draft, folder=draft.folder or upon), self._session.ask, known)
        offer = await self._shell.ask(form)
        if offer is None:
            self._shell.say("nothing was started", "plain")
            return form.draft, False
        with self._shell.writing():
            trouble = await self._session.begin(offer)
        if trouble:
            self._shell.say(trouble, "bad")
        return form.draft, not trouble

    async def restore(self, *, first: bool = False) -> bool:
        """Put back what interrupted benchmarks changed; return whether nothing is left.

        Args:
            first: whether a new benchmark follows: then nothing is said where none was interrupted.
        """
        read = self._session.interrupted()
        titles = await awaited(self._shell, "Benchmarks", "reading the journals of benchmarks …", read)
        if titles is None:
            self._shell.say("nothing was changed", "plain")
            return False
        if not titles:
            if not first:
                self._shell.say("no benchmark was interrupted", "plain")
            return True
        lines = [[(f"Interrupted: {counted(len(titles), 'benchmark')}", "strong")], []]
        for title in titles:
            lines += wrapped(title, _WIDTH, "plain")
        words = (
            "What it changed on this host (knobs, arrays made for it) is put back from its journal, its"
            " files are removed, and its results so far are kept as partial."
        )
        lines += [[], *wrapped(words, _WIDTH, "plain")]
        if first:
            lines += wrapped("This has to be done before another one can start.", _WIDTH, "plain")
        if await self._shell.ask(Question(lines, (("y", "put it back"),))) != "y":
            self._shell.say("nothing was changed", "plain")
            return False
        with self._shell.writing():
            found, trouble = await self._session.restore()
        if trouble:
            self._shell.say(trouble, "bad")
            return False
        left = [text for each in found for text in each.left]
        if not left:
            self._shell.say(f"{counted(len(found), 'benchmark')} put back", "ok")
            return True
        lines = [[("Not put back:", "bad")], []]
        for text in left:
            lines += wrapped(text, _WIDTH, "plain")
        words = "It stays until you change it; the log lists it, too. Later benchmarks can run."
        lines += [[], *wrapped(words, _WIDTH, "plain")]
        return bool(await self._shell.ask(Question(lines, (("y", "continue"),))) == "y")

    async def stop(self, progress: BenchProgress) -> None:
        """Ask whether a benchmark shall end now, and end it."""
        lines = [[(visible(f"Stop {progress.title}?"), "strong")], []]
        has = "has ended and is" if progress.done == 1 else "have ended and are"
        ended = f"{counted(progress.done, 'run')} of {progress.of} {has} kept. " if progress.done else ""
        words = (
            f"{ended}The current run ends now and is kept as partial. What the benchmark changed is put"
            " back, and its files are removed."
        )
        lines += wrapped(words, _WIDTH, "plain")
        if await self._shell.ask(Question(lines, (("y", "stop it"),), "")) != "y":
            return
        with self._shell.writing():
            trouble = await self._session.stop(progress.job)
        self._shell.say(trouble or "stopping: waiting for fio's last figures …", "bad" if trouble else "dim")

    async def compare(self, records: tuple[RunRecord, ...], title: str, *, heat: bool = False) -> None:
        """Show runs side by side."""
        from raidtui.features.bench.screen.compare_page import Comparison  # noqa: PLC0415

        try:
            read = self._session.files(_needed(records))
            files = await awaited(self._shell, "Compare", "reading the samples …", read)
        except ResultsError as error:
            self._shell.say(str(error), "bad")
            return
        if files is None:
            return
        await self._shell.ask(Comparison(records, files, title, start="heat" if heat else "table"))

    async def export(self, records: tuple[RunRecord, ...]) -> None:
        """Write runs to a file."""
        from raidtui.features.bench.screen.compare_page import Export  # noqa: PLC0415

        try:
            read = self._session.files([record.id for record in records])
            files = await awaited(self._shell, "Export", "reading the samples …", read)
        except ResultsError as error:
            self._shell.say(str(error), "bad")
            return
        if files is None:
            return
        path = await self._shell.ask(Export(records, files))
        if path is None:
            self._shell.say("nothing was written", "plain")
        else:
            self._shell.say(f"{counted(len(records), 'run')} written to {path}", "ok")

    async def note(self, entry: HistoryEntry) -> bool:
        """Edit the note of a benchmark's runs; return whether it changed."""
        text = await self._shell.ask(
            Ask(
                f"A note for {visible(entry.title)}",
                "It is kept with the results; the filter finds it.",
                text=entry.note,
                most=_NOTE_CELLS,
            )
        )
        if text is None or text == entry.note:
            return False
        return await self._change(entry, "the note is kept", note=text)

    async def delete(self, entry: HistoryEntry) -> bool:
        """Delete a benchmark's runs, after a question; return whether they were deleted."""
        count = counted(len(entry.records), "run")
        lines = [[(visible(f"Delete {count} of {entry.title}?"), "strong")], []]
        words = "Their figures, samples and fio's own JSON are deleted for good. e exports them first."
        lines += wrapped(words, _WIDTH, "warn")
        if await self._shell.ask(Question(lines, (("y", "delete"),))) != "y":
            self._shell.say("nothing was deleted", "plain")
            return False
        return await self._change(entry, f"{count} deleted")

    async def _change(self, entry: HistoryEntry, done: str, *, note: str | None = None) -> bool:
        with self._shell.writing():
            trouble = await self._session.change([record.id for record in entry.records], note=note)
        self._shell.say(trouble or done, "bad" if trouble else "ok")
        return not trouble


def _needed(records: Sequence[RunRecord]) -> list[int]:
    """Return the runs whose curves are drawn: all of a few, the first of each series of many."""
    if len(records) <= 60:
        return [record.id for record in records]
    return [run.id for series in series_of(records) for run in series.runs[:3]]
