"""Pane 5 upon benchmarks that are made up: opened, waited for, read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.request import Request
from raidtui.features.bench.results.run_record import Flow, RunRecord, RunSample
from raidtui.features.bench.results.run_store import BenchHistory, RunFiles
from raidtui.features.bench.run.bench_progress import BenchProgress
from raidtui.features.bench.run.changes import Restored
from raidtui.features.bench.screen.bench_pane import BenchPane
from raidtui.features.bench.session import BenchSession
from raidtui.features.bench.telemetry import ArrayNow, Telemetry
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from tests.features.bench.records import READ, record
from tests.frame.staging import Paces, StagedApp, app_of, main_of, staged, until
from tests.hosts.specs import raid1, raid10
from tests.hosts.trees import Tree, host_tree

DATA = raid10("md127", "data", members=("sda2", "sdb2", "sdc2", "sdd2"), component_kib=219_726_562)
"""What is measured."""


WORK = replace(READ, block_bytes=4096, size_bytes=1 << 30, depth=32, jobs=2, runtime_s=60, engine="libaio")
CLEAN = ArrayNow(name="md127", label="data", state="clean")
TELEMETRY = Telemetry(
    t_s=11.0, mhz=(4200, 4200), governor="performance", celsius={"sda": 41.2, "sdb": 39.0}, arrays=(CLEAN,)
)
JOB = "20261122-090000-mixed"
RUNNING = BenchProgress(
    job=JOB,
    title="random read 4K, depth 32",
    place="/srv/bench",
    of=3,
    state="running",
    run=1,
    record=record(work=WORK, place="/srv/bench", title="random read 4K, depth 32", job=JOB),
    telemetry=TELEMETRY,
)


def sample(t_s: float, iops: float, written: float = 0.0) -> RunSample:
    flow = Flow(iops=iops, bytes_s=iops * 4096, p50_ns=210_000, p99_ns=740_000, p999_ns=2_900_000)
    write = Flow(iops=written, bytes_s=written * 4096)
    done = (int(iops * t_s), int(written * t_s))
    return RunSample(t_s=t_s, read=flow, write=write, ios=done, size_bytes=(done[0] * 4096, done[1] * 4096))


class StagedBench(BenchSession):
    """Benchmarks that a test says.

    Attributes:
        way: the newest benchmark.
        records: the history; with ``trouble_of_history`` it cannot be read.
        left: the titles of interrupted ones.
        not_back: what of each of them cannot be put back.
        done: what was asked for, in order.
        trouble: why nothing can be begun, stopped or changed.
    """

    def __init__(self, app: StagedApp, *records: RunRecord, progress: BenchProgress | None = None) -> None:
        super().__init__(app.session)
        self.progress = progress
        self.records = list(records)
        self.trouble_of_history = ""
        self.left: tuple[str, ...] = ()
        self.not_back: tuple[str, ...] = ()
        self.done: list[tuple[str, object]] = []
        self.trouble = ""

    @property
    def refusal(self) -> str:
        return ""

    async def look(self) -> BenchProgress | None:
        return self.progress

    async def history(self) -> BenchHistory:
        return BenchHistory(records=tuple(self.records), trouble=self.trouble_of_history)

    async def files(self, runs: Sequence[int]) -> RunFiles:
        return RunFiles(samples=dict.fromkeys(runs, ()))

    async def known(self, snapshot: Snapshot) -> HostChoices:
        del snapshot
        return HostChoices()

    async def ask(self, request: Request) -> Offer | Refusal:
        self.done.append(("ask", request))
        return Refusal(code=RefusalCode.INVALID, why="nothing is measured on a stage")

    async def begin(self, offer: Offer) -> str:
        self.done.append(("begin", offer))
        return self.trouble

    async def stop(self, job: str) -> str:
        self.done.append(("stop", job))
        return self.trouble

    async def interrupted(self) -> tuple[str, ...]:
        return self.left

    async def restore(self) -> tuple[Sequence[Restored], str]:
        self.done.append(("restore", len(self.left)))
        found = tuple(Restored(job=title, left=self.not_back) for title in self.left)
        self.left = ()
        return found, self.trouble

    async def change(self, runs: Sequence[int], *, note: str | None = None) -> str:
        self.done.append(("delete" if note is None else note, tuple(runs)))
        if note is None and not self.trouble:
            self.records = [each for each in self.records if each.id not in runs]
        return self.trouble


def tree() -> Tree:
    """A host with two arrays."""
    return host_tree(DATA, raid1("md126", "root"))


def measured(*records: RunRecord, progress: BenchProgress | None = None) -> tuple[StagedApp, StagedBench]:
    """Return the console on a host with these benchmarks."""
    app = staged(tree())
    benching = StagedBench(app, *records, progress=progress)
    app.session._parts[BenchSession] = benching
    return app, benching


def pane_of(pilot: Paces) -> BenchPane:
    """The pane."""
    pane = main_of(pilot).panes["bench"]
    assert isinstance(pane, BenchPane)
    return pane


async def opened(pilot: Paces, *keys: str) -> BenchPane:
    """Open the pane, wait until the history is read, and press keys."""
    await pilot.press("5")
    await until(pilot, lambda: "bench" in main_of(pilot).panes, "the pane")
    pane = pane_of(pilot)
    await until(pilot, lambda: pane.history is not None and not pane._looking, "the history")
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    return pane


async def looked(pilot: Paces) -> None:
    """Look once more, and wait until it is shown."""
    pane = pane_of(pilot)
    await until(pilot, lambda: not pane._looking)
    await pane.look()
    await pilot.pause()


def log_of(pilot: Paces) -> list[str]:
    """The sentences about benchmarks in the log."""
    return [each.text for each in app_of(pilot).main.events if each.subject == "bench"]
