"""Benchmarks of one host: requested, started, followed and stopped, and their history.

All of it is done in a thread of its own: what is asked of a disk that is being measured may take its time,
and the arrays are watched on meanwhile. Nothing of the feature is loaded before its pane is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct

from raidtui.host.readers.host_reader import READONLY
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from raidtui.features.bench.demo import PlayedBench
    from raidtui.features.bench.forms.known import HostChoices
    from raidtui.features.bench.offer import Offer
    from raidtui.features.bench.request import Request
    from raidtui.features.bench.results.run_record import RunRecord, RunSample
    from raidtui.features.bench.run.bench_jobs import Restored
    from raidtui.features.bench.run.bench_progress import BenchProgress, ProgressWatcher

T = TypeVar("T")


class BenchHistory(Struct, frozen=True, kw_only=True):
    """All runs that are kept, the oldest first, or why they cannot be read."""

    records: tuple[RunRecord, ...] = ()
    trouble: str = ""


class BenchSession:
    """One host's benchmarks.

    Args:
        session: of the host; its log gets starts and ends.
    """

    def __init__(self, session: Session) -> None:
        self.shell = session.shell
        self.loop = session.loop
        self.root = session.root.thread_safe_copy() or session.root
        self._thread = HostThread()  # never closed: a disk that hangs must not keep raidtui from ending
        self._watcher: ProgressWatcher | None = None

    @property
    def refusal(self) -> str:
        """Why nothing can be measured here; "" where it can."""
        if self.root.readonly:
            return READONLY
        can = self.root.live or self.is_demo
        return "" if can else "a capture is read-only: nothing can be measured there"

    @property
    def is_demo(self) -> bool:
        """Whether benchmarks are played: nothing is measured, and nothing is kept."""
        return self.root.source == "demo"

    @cached_property
    def _played(self) -> PlayedBench:
        from raidtui.demo.demo_host import DemoReader  # noqa: PLC0415
        from raidtui.features.bench.demo import PlayedBench  # noqa: PLC0415

        return PlayedBench(cast("DemoReader", self.root))

    async def look(self) -> BenchProgress | None:
        """Return the newest benchmark, from here or elsewhere."""

        def work() -> BenchProgress | None:
            from raidtui.features.bench.run.bench_progress import ProgressWatcher  # noqa: PLC0415

            if self._watcher is None:
                self._watcher = ProgressWatcher()
            return self._watcher.look()

        if self.is_demo:
            return await self._work(self._played.look)
        return await self._work(work) if self.root.live else None

    async def history(self) -> BenchHistory:
        """Return the history. Reading it does not create the file. The demo host has its own, in memory."""

        def work() -> BenchHistory:
            from raidtui.features.bench.results.run_store import Results, ResultsError, results_path  # noqa: PLC0415

            if not results_path().exists():
                return BenchHistory()
            try:
                with Results() as results:
                    return BenchHistory(records=results.runs())
            except ResultsError as error:
                return BenchHistory(trouble=str(error))

        if self.is_demo:
            return BenchHistory(records=await self._work(self._played.history))
        return await self._work(work) if self.root.live else BenchHistory()

    async def samples(self, runs: Sequence[int]) -> Mapping[int, Sequence[RunSample]]:
        """Return the samples of runs, by their numbers.

        Raises:
            ResultsError: the history cannot be read.
        """

        def work() -> Mapping[int, Sequence[RunSample]]:
            from raidtui.features.bench.results.run_store import Results  # noqa: PLC0415

            with Results() as results:
                return {run: results.samples(run) for run in runs}

        if self.is_demo:
            return await self._work(lambda: self._played.samples(runs))
        return await self._work(work)

    async def known(self, snapshot: Snapshot) -> HostChoices:
        """Return what the forms can offer: folders, devices, knobs."""

        def work() -> HostChoices:
            from raidtui.features.bench.forms.known import read_choices  # noqa: PLC0415

            return read_choices(self.root, snapshot)

        return await self._work(work)

    async def ask(self, request: Request) -> Offer | Refusal:
        """Return the plan of a request, or why it cannot be run."""

        def work() -> Offer | Refusal:
            from raidtui.features.bench.offer import make_offer  # noqa: PLC0415

            return make_offer(self.root, request)

        return await self._work(work)

    async def begin(self, offer: Offer) -> str:
        """Start a benchmark; return why it could not be started, or ""."""

        def work() -> str:
            if self.is_demo:
                return self._played.begin(offer)
            from raidtui.features.bench.run.bench_jobs import begin, interrupted  # noqa: PLC0415
            from raidtui.jobs.lock import JobError  # noqa: PLC0415

            if interrupted():
                return "a benchmark was interrupted in the meantime: R puts back what it changed"
            try:
                begin(self.root, offer.schedule)
            except JobError as error:
                return str(error)
            return ""

        from raidtui.features.bench.results.run_record import SIMULATED  # noqa: PLC0415

        trouble = await self._work(work)
        if not trouble:
            simulated = f"{SIMULATED}: " if self.is_demo else ""
            self.note(f"{simulated}{offer.schedule.title}: started on {offer.schedule.place.words}")
        return trouble

    async def stop(self, job: str) -> str:
        """Stop a benchmark; return why that failed, or ""."""

        def work() -> str:
            if self.is_demo:
                self._played.stop()
                return ""
            from raidtui.features.bench.run.bench_jobs import find_bench  # noqa: PLC0415
            from raidtui.jobs.lock import JobError  # noqa: PLC0415
            from raidtui.jobs.spawn import cancel  # noqa: PLC0415

            try:
                cancel(find_bench(job))
            except JobError as error:
                return str(error)
            return ""

        return await self._work(work)

    async def interrupted(self) -> tuple[str, ...]:
        """Return the titles of the interrupted benchmarks that left changes."""

        def work() -> tuple[str, ...]:
            from raidtui.features.bench.run.bench_jobs import bench_title, interrupted  # noqa: PLC0415

            return tuple(f"{bench_title(job)} ({job.id})" for job in interrupted())

        return await self._work(work) if self.root.live else ()

    async def restore(self) -> tuple[Sequence[Restored], str]:
        """Put back what interrupted benchmarks left; return the outcomes, and why it failed, or ""."""

        def work() -> tuple[Sequence[Restored], str]:
            from raidtui.features.bench.run.bench_jobs import settle_apart  # noqa: PLC0415
            from raidtui.jobs.lock import JobError  # noqa: PLC0415

            try:
                return settle_apart(), ""
            except JobError as error:
                return (), str(error)

        found, trouble = await self._work(work)
        for each in found:
            for text in each.left:
                self.note(f"{each.job}: not put back: {text}", Tone.BAD)
        if found and not any(each.left for each in found):
            self.note("the changes of interrupted benchmarks are put back", Tone.GOOD)
        return found, trouble

    async def change(self, runs: Sequence[int], *, note: str | None = None) -> str:
        """Set the note of runs, or without a note delete them; return what went wrong, or ""."""

        def work() -> str:
            if self.is_demo:
                self._played.change(runs, note)
                return ""
            from raidtui.features.bench.results.run_store import Results, ResultsError  # noqa: PLC0415

            try:
                with Results() as results:
                    if note is None:
                        results.delete(runs)
                    else:
                        results.set_note(runs, note)
            except ResultsError as error:
                return str(error)
            return ""

        return await self._work(work)

    def note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Note something in the log."""
        at_s = self.root.now_s()
        event = Event(at_s=at_s, kind=EventKind.ACTION, subject="bench", text=text, tone=tone)
        self.shell.note_events((event,))

    async def _work(self, work: Callable[[], T]) -> T:
        """Work in a thread of its own; with the demo host in the one that alone reads and writes it."""
        return await (self.loop.on_host_thread(work) if self.is_demo else self._thread.run(work))
