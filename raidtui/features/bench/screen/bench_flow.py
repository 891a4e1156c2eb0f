"""The dialogs of pane 5: forms, comparison, export, notes, and questions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from raidtui.features.bench.forms.form_draft import BenchDraft
from raidtui.features.bench.results.compare import series_of
from raidtui.features.bench.results.run_record import RunRecord
from raidtui.features.bench.results.run_store import ResultsError
from raidtui.features.bench.screen.history_lines import HistoryEntry
from raidtui.features.bench.session import BenchSession
from raidtui.frame.choose import Ask
from raidtui.frame.dialog import WIDTH, Question
from raidtui.frame.screen_shell import ScreenShell
from raidtui.frame.surveying import awaited
from raidtui.model.snapshot import Snapshot
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.units import counted

if TYPE_CHECKING:
    from raidtui.features.bench.run.bench_progress import BenchProgress

_NOTE_CELLS = 200


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
            lines += _prose(visible(title))
        words = (
            "What it changed on this host (knobs, arrays made for it) is put back from its journal, its"
            " files are removed, and its results so far are kept as partial."
        )
        lines += [[], *_prose(words)]
        if first:
            lines += _prose("This has to be done before another one can start.")
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
            lines += _prose(visible(text))
        words = "It stays as it is until you change it; the log lists it, too. Later benchmarks can run."
        lines += [[], *_prose(words)]
        return bool(await self._shell.ask(Question(lines, (("y", "go on"),))) == "y")

    async def stop(self, progress: BenchProgress) -> None:
        """Ask whether a benchmark shall end now, and end it."""
        lines = [[(visible(f"Stop {progress.title}?"), "strong")], []]
        has = "has ended and is" if progress.done == 1 else "have ended and are"
        ended = f"{counted(progress.done, 'run')} of {progress.of} {has} kept. " if progress.done else ""
        words = (
            f"{ended}The current run ends now and is kept as partial. What the benchmark changed is put"
            " back, and its files are removed."
        )
        lines += _prose(words)
        if await self._shell.ask(Question(lines, (("y", "stop it"),), "")) != "y":
            return
        with self._shell.writing():
            trouble = await self._session.stop(progress.job)
        self._shell.say(trouble or "stopping: waiting for fio's last figures …", "bad" if trouble else "dim")

    async def compare(self, records: tuple[RunRecord, ...], title: str, *, heat: bool = False) -> None:
        """Show runs side by side."""
        from raidtui.features.bench.screen.compare_page import Comparison  # noqa: PLC0415

        try:
            read = self._session.samples(_needed(records))
            samples = await awaited(self._shell, "Compare", "reading the samples …", read)
        except ResultsError as error:
            self._shell.say(str(error), "bad")
            return
        if samples is None:
            return
        await self._shell.ask(Comparison(records, samples, title, start="heat" if heat else "table"))

    async def export(self, records: tuple[RunRecord, ...]) -> None:
        """Write runs to a file."""
        from raidtui.features.bench.screen.compare_page import Export  # noqa: PLC0415

        try:
            read = self._session.samples([record.id for record in records])
            samples = await awaited(self._shell, "Export", "reading the samples …", read)
        except ResultsError as error:
            self._shell.say(str(error), "bad")
            return
        if samples is None:
            return
        path = await self._shell.ask(Export(records, samples))
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
        lines += _prose(words, "warn")
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


def _prose(text: str, role: str = "plain") -> list[Line]:
    return [[(part, role)] for part in textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False)]
