"""Benchmarks of one host: requested, started, followed and stopped, and their history.

All of it is done in a thread of its own: what is asked of a disk that is being measured may take its time,
and the arrays are watched on meanwhile. Nothing of the feature is loaded before its pane is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from raidtui.host.readers.host_reader import READONLY
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from raidtui.features.bench.demo import PlayedBench
    from raidtui.features.bench.forms.known import HostChoices
    from raidtui.features.bench.offer import Offer
    from raidtui.features.bench.request import Request
    from raidtui.features.bench.results.run_store import BenchHistory, RunFiles
    from raidtui.features.bench.run.bench_jobs import LiveBench
    from raidtui.features.bench.run.bench_progress import BenchProgress
    from raidtui.features.bench.run.changes import Restored

T = TypeVar("T")


class BenchSession:
    """One host's benchmarks.

    Args:
        session: of the host; its log gets starts and ends.
    """

    def __init__(self, session: Session) -> None:
        self.shell = session.shell
        self.loop = session.loop
        self.reader = session.reader.thread_safe_copy() or session.reader
        self._thread = HostThread()  # never closed: a disk that hangs must not keep raidtui from ending

    @property
    def refusal(self) -> str:
        """Why nothing can be measured here; "" where it can."""
        if self.reader.readonly:
            return READONLY
        return "" if self._can else "a capture is read-only: nothing can be measured there"

    @property
    def _is_demo(self) -> bool:
        return self.reader.source == "demo"

    @property
    def _can(self) -> bool:
        """Whether there are benchmarks of this host: of a captured one there are none."""
        return self.reader.live or self._is_demo

    @cached_property
    def _bench(self) -> LiveBench | PlayedBench:
        """What carries them out: the demo host's are played, and kept in memory."""
        if self._is_demo:
            from raidtui.demo.demo_host import DemoReader  # noqa: PLC0415
            from raidtui.features.bench.demo import PlayedBench  # noqa: PLC0415

            return PlayedBench(cast("DemoReader", self.reader))
        from raidtui.features.bench.run.bench_jobs import LiveBench  # noqa: PLC0415

        return LiveBench(self.reader)

    @property
    def ends(self) -> str:
        """When a benchmark that was started ends, in words."""
        return self._bench.ENDS

    async def look(self) -> BenchProgress | None:
        """Return the newest benchmark, from here or elsewhere."""
        return await self._work(lambda bench: bench.look()) if self._can else None

    async def history(self) -> BenchHistory:
        """Return the history. Reading it does not create the file."""
        from raidtui.features.bench.results.run_store import BenchHistory  # noqa: PLC0415

        return await self._work(lambda bench: bench.history()) if self._can else BenchHistory()

    async def files(self, runs: Sequence[int]) -> RunFiles:
        """Return what is kept beside the records of runs.

        Raises:
            ResultsError: the history cannot be read.
        """
        return await self._work(lambda bench: bench.files(runs))

    async def known(self, snapshot: Snapshot) -> HostChoices:
        """Return what the forms can offer: folders, devices, knobs."""
        from raidtui.features.bench.forms.known import read_choices  # noqa: PLC0415

        return await self._work(lambda _: read_choices(self.reader, snapshot))

    async def ask(self, request: Request) -> Offer | Refusal:
        """Return the plan of a request, or why it cannot be run."""
        from raidtui.features.bench.offer import make_offer  # noqa: PLC0415

        return await self._work(lambda _: make_offer(self.reader, request))

    async def begin(self, offer: Offer) -> str:
        """Start a benchmark; return why it could not be started, or ""."""
        schedule = offer.schedule
        trouble = await self._work(lambda bench: bench.begin(schedule))
        if not trouble:
            self.note(f"{self._bench.PREFIX}{schedule.title}: started on {schedule.place.words}")
        return trouble

    async def stop(self, job: str) -> str:
        """Stop a benchmark; return why that failed, or ""."""
        return await self._work(lambda bench: bench.stop(job))

    async def interrupted(self) -> tuple[str, ...]:
        """Return the titles of the interrupted benchmarks that left changes."""
        return await self._work(lambda bench: bench.interrupted()) if self._can else ()

    async def restore(self) -> tuple[Sequence[Restored], str]:
        """Put back what interrupted benchmarks left; return the outcomes, and why it failed, or ""."""
        found, trouble = await self._work(lambda bench: bench.restore())
        for each in found:
            for text in each.left:
                self.note(f"{each.job}: not put back: {text}", Tone.BAD)
        if found and not any(each.left for each in found):
            self.note("the changes of interrupted benchmarks are put back", Tone.GOOD)
        return found, trouble

    async def change(self, runs: Sequence[int], *, note: str | None = None) -> str:
        """Set the note of runs, or without a note delete them; return what went wrong, or ""."""
        return await self._work(lambda bench: bench.change(runs, note))

    def note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Note something in the log."""
        at_s = self.reader.now_s()
        event = Event(at_s=at_s, kind=EventKind.ACTION, subject="bench", text=text, tone=tone)
        self.shell.note_events((event,))

    async def _work(self, work: Callable[[LiveBench | PlayedBench], T]) -> T:
        """Work in a thread of its own; with the demo host in the one that alone reads and writes it."""
        run = self.loop.on_host_thread if self._is_demo else self._thread.run
        return await run(lambda: work(self._bench))
