"""Knobs of arrays that are yet to be made: refused before, planned when the array is there."""

from __future__ import annotations

import pytest

from raidtui.features.bench.overwrite import scratch_words, wait_for_sync
from raidtui.features.bench.place import Place
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule, Scratch, point_words
from raidtui.features.bench.sweep_knobs import is_bitmap, of_arrays, scratch_axis
from raidtui.model.plan import Refusal
from tests.features.bench.host import BLOCK, Host
from tests.features.bench.records import READ

RAID5 = Scratch(devices=("sda", "sdb", "sdc"), level="raid5")
RAID10 = Scratch(devices=("sda", "sdb"), level="raid10")
ALONE = Scratch(devices=("sda",), level="")
MD = f"{BLOCK}/md127/md"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("stripe-cache-size", True),
        ("read_ahead", True),
        ("bitmap", True),
        ("queue_depth", False),
        ("governor", False),
        ("turbo", False),
    ],
)
def test_whose_knob(name: str, wanted: bool) -> None:  # noqa: FBT001
    assert (of_arrays(name), is_bitmap(name)) == (wanted, name == "bitmap")


@pytest.mark.parametrize(
    ("name", "values", "shapes"),
    [
        ("stripe-cache-size", ("256", "1024"), (RAID5,)),
        ("sync_speed_max", ("system", "1000"), (RAID5, RAID10)),
        ("read-ahead", ("128", "4096"), (RAID5, RAID10, ALONE)),
    ],
)
def test_an_axis_without_plans(name: str, values: tuple[str, ...], shapes: tuple[Scratch, ...]) -> None:
    found = scratch_axis(name, values, shapes)
    assert isinstance(found, Axis)
    assert (found.kind, found.values, found.plans) == (AxisKind.KNOB, values, ())
    schedule = Schedule(title="x", place=Place(), work=READ, scratch=RAID5, axes=(found,))
    assert schedule.knobs_at(schedule.points[1]) == ((found.name, values[1], None),)


@pytest.mark.parametrize(
    ("name", "values", "shape", "sentence"),
    [
        ("turbo", ("1",), RAID5, "there is no knob 'turbo'; there are: scheduler, "),
        (
            "stripe-cache-size",
            ("256",),
            RAID10,
            "raid10 has no stripe_cache_size: only RAID-4, -5 and -6 have it; choose",
        ),
        (
            "stripe-cache-size",
            ("256",),
            ALONE,
            "sda by itself is not an array and has no stripe_cache_size; leave the chunk one out",
        ),
        (
            "stripe-cache-size",
            ("256", "16"),
            RAID5,
            "stripe_cache_size of the scratch arrays must be from 17 to 32768 pages per member, not 16",
        ),
        (
            "read-ahead",
            ("130",),
            RAID5,
            "read_ahead_kb of the scratch arrays must be a multiple of 4, not 130; give 128 or 132",
        ),
        (
            "sync_speed_min",
            ("1000",),
            Scratch(devices=("sda", "sdb"), level="raid0"),
            "raid0 has no redundancy and is never synced, so it has no sync_speed_min",
        ),
    ],
)
def test_what_no_array_would_take(name: str, values: tuple[str, ...], shape: Scratch, sentence: str) -> None:
    found = scratch_axis(name, values, (RAID5, shape))
    assert isinstance(found, Refusal)
    assert found.sentence.startswith(sentence)


def test_arrays_are_made_with_their_bitmap() -> None:
    axes = (
        Axis(kind=AxisKind.BITMAP, values=("none", "internal")),
        Axis(kind=AxisKind.CHUNK, values=("one", "64")),
    )
    schedule = Schedule(title="x", place=Place(), work=READ, scratch=RAID10, axes=axes)
    assert [point_words(point) for point in schedule.points] == [
        "chunk one, bitmap none",
        "chunk one, bitmap internal",
        "chunk 64K, bitmap none",
        "chunk 64K, bitmap internal",
    ]
    shapes = [schedule.scratch_at(point) for point in schedule.points]
    assert [scratch_words(shape) for shape in shapes if shape is not None] == [
        "sda",
        "sda",
        "raid10, chunk 64K, bitmap none, 2 devices",
        "raid10, chunk 64K, bitmap internal, 2 devices",
    ]


def synced(host: Host, states: list[dict[str, str]], most: int = 20) -> tuple[str, int]:
    """Wait for a sync whose files read so, one state after another; return why, and how many were seen."""
    seen = 0

    def stopped() -> bool:
        nonlocal seen
        for file, text in states[min(seen, len(states) - 1)].items():
            host.put(f"{MD}/{file}", f"{text}\n")
        seen += 1
        return seen > most

    return wait_for_sync(host, "md127", stopped), seen


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr("raidtui.features.bench.overwrite._LOOK_S", 0.0)
    return Host()


def test_a_first_sync_begins_a_moment_after_the_array(host: Host) -> None:
    before = {"sync_action": "idle", "degraded": "1", "resync_start": "none"}
    during = {**before, "sync_action": "recover"}
    after = {**before, "degraded": "0"}
    assert synced(host, [before, before, during, before, after]) == ("", 5)


def test_a_first_sync_without_a_spare(host: Host) -> None:
    """As RAID-6 begins: all members are there, and not in sync."""
    before = {"sync_action": "idle", "degraded": "0", "resync_start": "0"}
    during = {**before, "sync_action": "resync", "resync_start": "2048"}
    after = {**before, "resync_start": "none"}
    assert synced(host, [before, during, after]) == ("", 3)


def test_a_level_that_never_syncs(host: Host) -> None:
    host.drop(MD)
    assert synced(host, [{"level": "raid0"}]) == ("", 1)


def test_a_sync_that_stops_in_the_middle(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member has failed: it is not waited for for ever."""
    monkeypatch.setattr("raidtui.features.bench.overwrite._IDLE_S", 0.0)
    half = {"sync_action": "idle", "degraded": "1", "resync_start": "none"}
    why, _ = synced(host, [{**half, "sync_action": "recover"}, half])
    assert why == "the first sync of md127 stopped early: a partly synced array is not measured"


def test_nobody_waits_any_more(host: Host) -> None:
    assert synced(host, [{"sync_action": "resync"}], most=3) == ("", 4)
