"""What fio is asked to do: whole commands, refusals, presets, sizes; and knobs of arrays to be made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.option_texts import parse_size
from raidtui.features.bench.overwrite import scratch_words, wait_for_sync
from raidtui.features.bench.place import Place
from raidtui.features.bench.run.fio_process import fio_argv
from raidtui.features.bench.schedule import Axis, AxisKind, Schedule, Scratch, point_words
from raidtui.features.bench.sweep_knobs import is_bitmap, of_arrays, scratch_axis
from raidtui.features.bench.workload import PRESETS, Workload, find_preset, refuse_workload, workload_options
from raidtui.model.plan import Refusal
from raidtui.view.units import short_binary
from tests.features.bench.host import BLOCK, Host
from tests.features.bench.records import READ

SMALL = Workload(rw="randread", block_bytes=4096, size_bytes=8 << 20)
MIX = Workload(
    rw="randrw",
    block_bytes=8192,
    size_bytes=1 << 30,
    depth=16,
    jobs=2,
    runtime_s=60,
    ramp_s=5,
    engine="libaio",
    direct=False,
    read_percent=70,
    distribution="zipf:1.2",
)


def test_reading_files() -> None:
    assert fio_argv(workload_options(SMALL), read_only=False) == (
        "fio",
        "--output-format=json+",
        "--status-interval=250ms",
        "--eta=never",
        "--thread=1",
        "--name=bench",
        "--rw=randread",
        "--bs=4096",
        "--size=8388608",
        "--iodepth=1",
        "--numjobs=1",
        "--ioengine=psync",
        "--direct=1",
        "--group_reporting=1",
        "--fallocate=none",
    )


def test_a_mix_by_time() -> None:
    assert workload_options(MIX)[1:] == (
        "--rw=randrw",
        "--bs=8192",
        "--size=1073741824",
        "--iodepth=16",
        "--numjobs=2",
        "--ioengine=libaio",
        "--direct=0",
        "--group_reporting=1",
        "--rwmixread=70",
        "--runtime=60s",
        "--time_based=1",
        "--ramp_time=5s",
        "--random_distribution=zipf:1.2",
        "--fallocate=none",
        "--overwrite=1",
    )


def test_a_device_is_read_by_a_fio_that_cannot_write() -> None:
    argv = fio_argv(workload_options(SMALL, device="/dev/md127"), read_only=True)
    assert argv[5] == "--readonly"
    assert argv[-1] == "--filename=/dev/md127"
    assert workload_options(SMALL, device="/dev/a:b")[-1] == r"--filename=/dev/a\:b"


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (SMALL, "random read 4K"),
        (MIX, "random read and write 70/30 8K, depth 16, 2 jobs, zipf:1.2, through the page cache"),
        (replace(SMALL, rw="write", block_bytes=20480000), "sequential write 20000K"),
    ],
)
def test_words(work: Workload, words: str) -> None:
    assert work.words == words


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"rw": "trim"},
            "'trim' is not a kind of I/O; choose read, write, randread, randwrite, rw, randrw",
        ),
        ({"engine": "net"}, "'net' is not a supported engine; choose sync, psync, libaio, io_uring"),
        ({"block_bytes": 1000}, "blocks of 1000 bytes are not whole sectors; choose a multiple of 512"),
        ({"size_bytes": 512}, "a size of 512 B is smaller than a block of 4 KiB; choose a larger size"),
        ({"depth": 0}, "the depth must be between 1 and 65536, not 0"),
        ({"jobs": 2000}, "the number of jobs must be between 1 and 1024, not 2000"),
        ({"runtime_s": -1}, "the runtime in seconds must be between 0 and 604800, not -1"),
        ({"read_percent": 101}, "the percentage of reads must be between 0 and 100, not 101"),
        (
            {"depth": 4},
            "the engine psync has one request in flight, so depth 4 has no effect; choose libaio or io_uring",
        ),
        (
            {"distribution": "zipf;reboot"},
            "'zipf;reboot' is not a distribution; choose zipf:1.2, pareto:0.9 or normal:20",
        ),
        ({"ramp_s": 3}, "a ramp time needs a runtime; give one"),
    ],
)
def test_refusals(changes: dict[str, object], sentence: str) -> None:
    refusal = refuse_workload(replace(SMALL, **changes))
    assert refusal is not None
    assert refusal.sentence == sentence


def test_presets_can_be_run() -> None:
    for preset in PRESETS:
        for block in preset.blocks or (preset.work.block_bytes,):
            assert refuse_workload(replace(preset.work, block_bytes=block)) is None
        assert preset.origin
    chunks = find_preset("random-read")
    assert chunks is not None
    assert [short_binary(block) for block in chunks.blocks] == [
        "8K", "16K", "32K", "64K", "128K", "512K", "1M", "20000K",
    ]  # fmt: skip
    assert (chunks.work.engine, chunks.work.size_bytes, chunks.work.direct) == ("sync", 500 << 20, True)
    assert find_preset("nosuch") is None


def test_a_depth_wants_another_engine() -> None:
    assert replace(SMALL, depth=8).with_engine_for_depth().engine == "libaio"
    assert replace(SMALL, depth=8, engine="io_uring").with_engine_for_depth().engine == "io_uring"
    assert SMALL.with_engine_for_depth() == SMALL


@pytest.mark.parametrize(
    ("text", "size"),
    [("4k", 4096), ("4K", 4096), ("500m", 500 << 20), ("2g", 2 << 30), ("512", 512), ("4KiB", 4096)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@given(st.text(max_size=12))
def test_no_sizes(text: str) -> None:
    size = parse_size(text)
    assert size is None or (size > 0 and text.strip()[:1].isdigit())


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
