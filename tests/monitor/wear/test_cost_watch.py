"""What syncs and jobs cost, measured: readings at both ends, marks in the ledger, one sentence."""

from __future__ import annotations

from pathlib import Path

from raidtui.host.smart.smart_reader import smart_argv
from raidtui.model.finding import EventKind
from raidtui.monitor.spans import Begun, Ended, SyncSpans
from raidtui.monitor.wear.cost_watch import CostWatch, JobCost
from raidtui.monitor.wear.ledger import Ledger
from raidtui.monitor.wear.ledger_entries import marked_costs
from raidtui.monitor.wear.readings import WearReader
from tests.hosts.specs import ArraySpec, Syncing, raid1
from tests.hosts.trees import EPOCH_S
from tests.monitor.wear.hosts import GB, TB, WearHost, asleep, denied, evo

RUNS = Syncing(action="recover", done_kib=4096, speed_kib_s=200_000)
REST = raid1("md127", "data", members=("sdc2", "sdd2"), component_kib=219_726_562)
RECOVERS = raid1(
    "md127", "data", members=("sdc2", "sdd2"), rebuilding=("sdd2",), sync=RUNS, component_kib=219_726_562
)


def host(**said: str) -> WearHost:
    found = said or {"sdc": evo("sdc", 12 * TB), "sdd": evo("sdd", 12 * TB, 96)}
    made = WearHost(REST, said=found)
    made.live = True
    return made


def change(root: WearHost, spans: SyncSpans, array: ArraySpec, **written: int) -> list[Begun | Ended]:
    """Let the kernel have written so much, and an array be so."""
    root.change(array)
    root.wrote(**written)
    return list(spans.see(root.sampler().sample()))


def recover_begins(root: WearHost, spans: SyncSpans) -> Begun:
    """An array at rest recovers sdd2, to which 2 GB were written before."""
    change(root, spans, REST)
    (begun,) = change(root, spans, RECOVERS, sdc=5 * GB, sdc2=GB, sdd=7 * GB, sdd2=2 * GB)
    assert isinstance(begun, Begun)
    return begun


def recover_ends(root: WearHost, spans: SyncSpans) -> Ended:
    """The recover has written 225 GB to sdd2, and others 8 GB to its disk."""
    (ended,) = change(root, spans, REST, sdc=6 * GB, sdc2=GB, sdd=240 * GB, sdd2=227 * GB)
    assert isinstance(ended, Ended)
    return ended


def test_a_recover(ledger: Path) -> None:
    root, spans = host(), SyncSpans()
    watch = CostWatch(root, WearReader(root))
    begun = recover_begins(root, spans)
    watch.begun(begun)
    root.said["sdd"] = evo("sdd", 12 * TB + 225 * GB, 96)
    ended = recover_ends(root, spans)
    event = watch.ended(ended)
    assert event is not None
    assert (event.subject, event.kind, event.at_s) == ("data", EventKind.WEAR, EPOCH_S + 3)
    assert event.text == "recover wrote 225 GB to sdd (0.083 % of its life)"
    assert watch.trouble == ""
    with Ledger(ledger) as pages:
        assert [(mark.kind, mark.what) for mark in pages.marks()] == [
            ("before", "recover of data"),
            ("after", "recover of data"),
        ]
        assert [entry.size_bytes for entry in pages.at_mark(2)] == [12 * TB, 12 * TB + 225 * GB]
    assert root.asked == [smart_argv(name) for name in ("sdc", "sdd", "sdc", "sdd")]


def test_what_a_sync_wrote_before_its_disks_were_asked(ledger: Path) -> None:
    """The mark counts from the beginning, whoever else writes to the disk, and however late it is."""
    root, spans = host(), SyncSpans()
    watch = CostWatch(root, WearReader(root))
    begun = recover_begins(root, spans)
    root.wrote(sdc=6 * GB, sdc2=GB, sdd=17 * GB, sdd2=10 * GB)  # 8 GB by the sync, 2 GB by others
    watch.begun(begun)
    ended = recover_ends(root, spans)
    watch.ended(ended)
    with Ledger(ledger) as pages:
        (cost,) = marked_costs(pages.marks(), pages.at_mark)
        lows = [entry.low_bytes for entry in pages.at_mark(1)]
    assert lows == [6 * GB, 9 * GB]
    assert list(cost.costs.values()) == [0, 231 * GB]


def test_one_that_had_begun_before(ledger: Path) -> None:
    root, spans = host(), SyncSpans()
    watch = CostWatch(root, WearReader(root, {"samsung ssd 850": 150 * TB}))
    (begun,) = change(root, spans, RECOVERS, sdc2=GB, sdd2=2 * GB)
    assert isinstance(begun, Begun)
    watch.begun(begun)
    assert root.asked == []
    (ended,) = change(root, spans, REST, sdc2=GB, sdd2=102 * GB)
    assert isinstance(ended, Ended)
    event = watch.ended(ended)
    assert event is not None
    assert event.text == "recover wrote 100 GB to sdd (0.067 % of its life) since raidtui was opened"
    assert not ledger.exists()


def test_without_root(ledger: Path) -> None:
    """The kernel's count is everybody's; smartctl, which would fail, is not run."""
    root, spans = WearHost(REST, said={"sdd": denied("sdd")}, writable=False), SyncSpans()
    root.live = True
    watch = CostWatch(root, WearReader(root))
    change(root, spans, REST)
    (begun,) = change(root, spans, RECOVERS, sdc2=0, sdd2=0)
    assert isinstance(begun, Begun)
    watch.begun(begun)
    (ended,) = change(root, spans, REST, sdc2=0, sdd2=225 * GB)
    assert isinstance(ended, Ended)
    event = watch.ended(ended)
    assert event is not None
    assert event.text == "recover wrote 225 GB to sdd"
    assert root.asked == []
    assert not ledger.exists()


def test_a_disk_that_sleeps_is_left_asleep(ledger: Path) -> None:
    root, spans = host(sdc=asleep(), sdd=evo("sdd", TB)), SyncSpans()
    watch = CostWatch(root, WearReader(root))
    change(root, spans, REST)
    (begun,) = change(root, spans, RECOVERS, sdc2=0, sdd2=0)
    assert isinstance(begun, Begun)
    watch.begun(begun)
    assert root.asked == [smart_argv("sdc"), smart_argv("sdd")]
    with Ledger(ledger) as pages:
        assert [entry.name for entry in pages.at_mark(1)] == ["sdd"]


def test_what_has_no_smart_data_by_its_nature_is_not_asked(ledger: Path) -> None:
    loops = raid1("md127", "data", members=("loop0", "loop1"), rebuilding=("loop1",), sync=RUNS)
    root, spans = host(), SyncSpans()
    watch = CostWatch(root, WearReader(root))
    change(root, spans, raid1("md127", "data", members=("loop0", "loop1")))
    (begun,) = change(root, spans, loops, loop0=0, loop1=0)
    assert isinstance(begun, Begun)
    watch.begun(begun)
    (ended,) = change(root, spans, raid1("md127", "data", members=("loop0", "loop1")), loop0=0, loop1=5 * GB)
    assert isinstance(ended, Ended)
    event = watch.ended(ended)
    assert event is not None
    assert event.text == "recover wrote 5 GB to loop1"
    assert root.asked == []
    assert not ledger.exists()


def test_the_ledger_cannot_be_written(ledger: Path) -> None:
    ledger.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    root, spans = host(), SyncSpans()
    watch = CostWatch(root, WearReader(root))
    change(root, spans, REST)
    (begun,) = change(root, spans, RECOVERS, sdd2=0)
    assert isinstance(begun, Begun)
    watch.begun(begun)
    assert watch.trouble.startswith(f"the ledger {ledger} cannot be used: ")


def test_nobody_counts(ledger: Path) -> None:
    del ledger
    root, spans = host(), SyncSpans()
    change(root, spans, REST)
    change(root, spans, RECOVERS)
    (ended,) = change(root, spans, REST)
    assert isinstance(ended, Ended)
    assert CostWatch(root, WearReader(root)).ended(ended) is None


def test_counters_that_began_anew_are_passed_over(ledger: Path) -> None:
    """A disk that was pulled out and put in again."""
    del ledger
    root, spans = host(), SyncSpans()
    change(root, spans, REST)
    change(root, spans, RECOVERS, sdc2=50 * GB, sdd2=0)
    (ended,) = change(root, spans, REST, sdc2=GB, sdd2=225 * GB)
    assert isinstance(ended, Ended)
    event = CostWatch(root, WearReader(root)).ended(ended)
    assert event is not None
    assert event.text == "recover wrote 225 GB to sdd (0.084 % of its life)"


def test_a_job(ledger: Path) -> None:
    root = host()
    root.wrote(sdc=GB, sdd=GB)
    cost = JobCost(root, "replace sdb in data")
    cost.before()
    root.wrote(sdc=GB + 1000, sdd=226 * GB)
    assert cost.after() == "225 GB to sdd (0.084 % of its life)"
    with Ledger(ledger) as pages:
        assert [(mark.kind, mark.what) for mark in pages.marks()] == [
            ("before", "replace sdb in data"),
            ("after", "replace sdb in data"),
        ]


def test_a_job_that_wrote_nothing(ledger: Path) -> None:
    del ledger
    root = host()
    root.wrote(sdc=GB, sdd=GB)
    cost = JobCost(root, "stop data", ["sdc", "sdd"])
    cost.before()
    assert cost.after() == ""
