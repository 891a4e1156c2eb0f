"""What fio is asked to do: whole commands, refusals, presets, sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.option_texts import parse_size
from raidtui.features.bench.run.fio_process import fio_argv
from raidtui.features.bench.workload import PRESETS, Workload, find_preset, refuse_workload, workload_options
from raidtui.view.units import short_binary

READ = Workload(rw="randread", block_bytes=4096, size_bytes=8 << 20)
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
    assert fio_argv(workload_options(READ), read_only=False) == (
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
    argv = fio_argv(workload_options(READ, device="/dev/md127"), read_only=True)
    assert argv[5] == "--readonly"
    assert argv[-1] == "--filename=/dev/md127"
    assert workload_options(READ, device="/dev/a:b")[-1] == r"--filename=/dev/a\:b"


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (READ, "random read 4K"),
        (MIX, "random read and write 70/30 8K, depth 16, 2 jobs, zipf:1.2, through the page cache"),
        (replace(READ, rw="write", block_bytes=20480000), "sequential write 20000K"),
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
    refusal = refuse_workload(replace(READ, **changes))
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
    assert replace(READ, depth=8).with_engine_for_depth().engine == "libaio"
    assert replace(READ, depth=8, engine="io_uring").with_engine_for_depth().engine == "io_uring"
    assert READ.with_engine_for_depth() == READ


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
