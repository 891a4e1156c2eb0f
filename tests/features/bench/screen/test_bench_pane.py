"""Pane 5: pictures of what runs and what was measured, its keys, and how often it looks."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from msgspec.structs import replace

from raidtui.demo.demo_host import demo_root
from raidtui.features.bench.estimate import ExpectedRuns, WriteEstimate
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import PARTIAL, RunRecord
from raidtui.features.bench.schedule import Schedule
from raidtui.features.bench.screen.compare_page import Comparison, Export
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.bench.session import BenchSession
from raidtui.frame.choose import Ask
from raidtui.frame.dialog import Question
from raidtui.frame.surveying import Waiting
from raidtui.model.snapshot import Snapshot
from tests.features.bench.records import READ, cache_samples, over_cache, record
from tests.features.bench.screen.bench_pane_stage import (
    CLEAN,
    JOB,
    RUNNING,
    TELEMETRY,
    WORK,
    StagedBench,
    log_of,
    looked,
    measured,
    opened,
    pane_of,
    sample,
    tree,
)
from tests.features.tune.screen import tune_stage
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    SMALL,
    Paces,
    Prepares,
    Shows,
    header_of,
    lines_of,
    main_of,
    message_of,
    running,
    says,
    screen_text,
    staged,
    until,
)

IOPS = (61_000, 95_100, 98_200, 101_900, 104_400, 103_000, 102_100, 95_900, 101_000, 102_325)
UNDER_WAY = replace(
    RUNNING,
    done=1,
    ended=frozenset({0}),
    expected=ExpectedRuns(each_s=(61.0, 61.0, 61.0)),
    first_s=0.0,
    last_s=62.0,
    samples=tuple(sample(1.2 * (number + 1), each) for number, each in enumerate(IOPS)),
)


def series(job: str, title: str, *iops: float, id_: int = 1, **more: object) -> list[RunRecord]:
    """The runs of a benchmark."""
    return [
        record(number, each, id=id_ + number, job=job, title=title, repeat=number, **more)
        for number, each in enumerate(iops)
    ]


OLD = [
    *series("20261120-100000-a", "random-read", 51_000, 52_000, 51_500, id_=1, at_s=1_795_100_000.0),
    *(
        record(
            number, iops, id=10 + number, job="20261121-100000-b", title="mixed by scheduler",
            point={"scheduler": ("none", "mq-deadline")[number % 2]}, at_s=1_795_200_000.0 + number,
            point_place=number % 2, block=number // 4, visit=number // 4,
        )
        for number, iops in enumerate((1000, 1400, 1010, 1390, 990, 1410, 1005, 1405, 1002, 1402, 998, 1398))
    ),
    *series("20261121-180000-c", "stream-write", 700, id_=30, state=PARTIAL,
            reason="stopped before it finished"),
]  # fmt: skip
HEAT = [
    record(
        number, mb_s * 1e6 / block, id=50 + number, job="20261122-080000-d",
        title="random-read by chunk, block", at_s=1_795_209_990.0 + number,
        point={"chunk": chunk, "block": str(block)},
        work=replace(READ, block_bytes=block),
    )
    for number, (chunk, block, mb_s) in enumerate(
        (chunk, kib * 1024, 64 * (step + 1) * (1 + place / 10))
        for place, chunk in enumerate(("16", "32", "512"))
        for step, kib in enumerate((8, 16, 32, 64, 128, 512, 1024))
    )
]  # fmt: skip
OFFER = Offer(
    schedule=Schedule(title="random-read", place=Place(directory="/srv"), work=READ),
    cost=WriteEstimate(size_bytes=0, each_bytes=0, disks=0),
)


def pressing(*keys: str) -> Prepares:
    async def press(pilot: Paces) -> None:
        await opened(pilot, *keys)
        await pilot.pause()

    return press


# -- pictures


@SIZES
def test_nothing_was_measured(shows: Shows, size: tuple[int, int]) -> None:
    shows(measured()[0], size=size, prepare=pressing())


@SIZES
def test_live(shows: Shows, size: tuple[int, int]) -> None:
    runs = series(JOB, "random read 4K, depth 32", 101_700, id_=60, work=WORK)
    shows(measured(*OLD, *runs, progress=UNDER_WAY)[0], size=size, prepare=pressing())


@SIZES
def test_live_over_a_cache(shows: Shows, size: tuple[int, int]) -> None:
    cold, filled = over_cache(61, 31_000, 0.62, cold=True), over_cache(62, 88_000, 0.97, cold=False)
    progress = replace(
        UNDER_WAY, title="hot-spots", record=cold, samples=cache_samples(cold, 0.05, 0.8, seconds=40)
    )
    shows(measured(*OLD, filled, progress=progress)[0], size=size, prepare=pressing())


@SIZES
def test_live_before_a_run(shows: Shows, size: tuple[int, int]) -> None:
    progress = replace(
        UNDER_WAY, doing="writing 1 GiB once, before measuring", samples=(), telemetry=None, run=None
    )
    shows(measured(*OLD, progress=progress)[0], size=size, prepare=pressing())


@SIZES
def test_live_while_an_array_syncs(shows: Shows, size: tuple[int, int]) -> None:
    syncing = replace(CLEAN, sync="resync", percent=34.2)
    progress = replace(UNDER_WAY, telemetry=replace(TELEMETRY, arrays=(syncing,), mhz=None))
    shows(measured(*OLD, progress=progress)[0], size=size, prepare=pressing())


@ALL_SIZES
def test_history(shows: Shows, size: tuple[int, int]) -> None:
    shows(measured(*OLD)[0], size=size, prepare=pressing("m", "down"))


@SIZES
def test_history_with_a_heat_map(shows: Shows, size: tuple[int, int]) -> None:
    shows(measured(*OLD, *HEAT)[0], size=size, prepare=pressing())


@SIZES
def test_interrupted(shows: Shows, size: tuple[int, int]) -> None:
    app, benching = measured(*OLD)
    benching.left = ("mixed by scheduler (20261121-100000-b)",)
    shows(app, size=size, prepare=pressing("R"))


@SIZES
def test_stop_is_asked(shows: Shows, size: tuple[int, int]) -> None:
    shows(measured(*OLD, progress=UNDER_WAY)[0], size=size, prepare=pressing("x"))


def test_least_size(shows: Shows) -> None:
    shows(measured(*OLD, progress=UNDER_WAY)[0], size=(60, 15), prepare=pressing())


def test_on_a_simulated_host(shows: Shows) -> None:
    shows(staged(tree()), prepare=pressing())


# -- keys


async def test_a_benchmark_is_begun() -> None:
    app, benching = measured()
    async with app.run_test(size=SMALL) as pilot:
        pane = await opened(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        benching.progress = replace(UNDER_WAY, state="made", run=None)
        app.screen.dismiss(OFFER)
        await until(pilot, lambda: ("begin", OFFER) in benching.done)
        await until(pilot, lambda: pane.progress is not None and pane.chosen == JOB)
        await says(pilot, "started; it continues when you leave raidtui")
        assert pane.live.display


async def test_while_the_host_is_read_a_dialog_waits_and_escape_leaves_it() -> None:
    """A disk that hangs: nothing else can be typed into the pane, and nothing is started."""
    app, benching = measured()
    read = asyncio.Event()

    async def slowly(snapshot: Snapshot) -> HostChoices:
        del snapshot
        await read.wait()
        return HostChoices()

    benching.known = slowly  # type: ignore[method-assign]
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, Waiting), "the dialog")
        await until(pilot, lambda: "reading what can be measured …" in screen_text(pilot))
        await pilot.press("escape")
        await says(pilot, "nothing was started")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Waiting), "the dialog")
        read.set()
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")


async def test_what_could_not_be_begun_is_said() -> None:
    app, benching = measured()
    benching.trouble = "another job is running: x; wait for it, or cancel it"
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "s")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        app.screen.dismiss(OFFER)
        await until(pilot, lambda: message_of(pilot) == benching.trouble)


async def test_what_was_typed_is_there_again() -> None:
    app, _ = measured()
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        form = app.screen
        assert isinstance(form, BenchForm)
        form.draft = replace(form.draft, path="/srv/mine", folder="another folder")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was started")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        again = app.screen
        assert isinstance(again, BenchForm)
        assert again.draft.path == "/srv/mine"


async def test_what_an_interrupted_one_left_is_put_back_before_another_begins() -> None:
    app, benching = measured()
    benching.left = ("mixed (x)",)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed")
        assert benching.done == []
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        assert benching.done == [("restore", 1)]


async def test_what_cannot_be_put_back_is_listed_and_blocks_nothing() -> None:
    app, benching = measured()
    benching.left, benching.not_back = ("mixed (x)",), ("echo 8 > /sys/q: Input/output error",)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "n")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        await pilot.press("y")
        await until(pilot, lambda: "Not put back:" in lines_of(pilot, "#question-text"), "what is left")
        reported = " ".join(lines_of(pilot, "#question-text").split())
        assert "echo 8 > /sys/q: Input/output error" in reported
        assert "Later benchmarks can run." in reported
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")


async def test_while_one_runs_none_is_begun_and_it_can_be_stopped() -> None:
    app, benching = measured(progress=UNDER_WAY)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "n")
        await says(pilot, "a benchmark is running: x stops it")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        assert "1 run of 3 has ended and is kept." in lines_of(pilot, "#question-text")
        await pilot.press("y")
        await until(pilot, lambda: ("stop", JOB) in benching.done)
        benching.progress = replace(
            UNDER_WAY, state="cancelled", reason="run 2 of 3: stopped before it finished"
        )
        await looked(pilot)
        words = "random read 4K, depth 32: stopped; what was measured is kept"
        assert message_of(pilot) == words
        assert log_of(pilot) == [words]
        assert not pane_of(pilot).live.display


async def test_nothing_runs_that_could_be_stopped() -> None:
    async with measured()[0].run_test(size=SMALL) as pilot:
        await opened(pilot, "x")
        await says(pilot, "no benchmark is running")
        await pilot.press("c")
        await until(pilot, lambda: message_of(pilot) == "nothing has been measured yet")
        await pilot.press("R")
        await until(pilot, lambda: message_of(pilot) == "no benchmark was interrupted")


async def test_marked_ones_are_compared() -> None:
    app, _ = measured(*OLD)
    async with app.run_test(size=SMALL) as pilot:
        pane = await opened(pilot, "m", "down", "m", "c")
        await until(pilot, lambda: isinstance(app.screen, Comparison), "the comparison")
        screen = app.screen
        assert isinstance(screen, Comparison)
        assert {each.job for each in screen._records} == pane.marked == {OLD[-1].job, OLD[3].job}
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is main_of(pilot))
        await pilot.press("m", "up", "m", "h")
        await until(pilot, lambda: isinstance(app.screen, Comparison), "the comparison")
        screen = app.screen
        assert isinstance(screen, Comparison)
        assert {each.job for each in screen._records} == {OLD[-1].job}
        assert screen.view == "heat"


async def test_the_chosen_one_is_exported() -> None:
    app, _ = measured(*OLD)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, "e")
        await until(pilot, lambda: isinstance(app.screen, Export), "the export")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was written")


async def test_a_note_is_kept_and_runs_are_forgotten_after_a_question() -> None:
    app, benching = measured(*OLD)
    async with app.run_test(size=SMALL) as pilot:
        pane = await opened(pilot, "i")
        await until(pilot, lambda: isinstance(app.screen, Ask), "the note")
        await pilot.press("h", "i", "enter")
        await until(pilot, lambda: message_of(pilot) == "the note is kept")
        assert benching.done == [("hi", (30,))]
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        await pilot.press("enter")
        await until(pilot, lambda: message_of(pilot) == "nothing was deleted")
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, Question), "the question")
        await pilot.press("y")
        await until(pilot, lambda: message_of(pilot) == "1 run deleted")
        assert benching.done[1:] == [("delete", (30,))]
        await until(pilot, lambda: len(pane._entries) == 2)


async def test_the_filter_finds_what_is_reported_of_runs() -> None:
    async with measured(*OLD)[0].run_test(size=SMALL) as pilot:
        pane = await opened(pilot, "slash", *"stream", "enter")
        await until(pilot, lambda: [each.title for each in pane._entries] == ["stream-write"])


async def test_a_knob_of_pane_4_is_measured_against_the_value_beside_it() -> None:
    app = staged(tune_stage.host())
    benching = StagedBench(app)
    app.session._parts[BenchSession] = benching
    async with app.run_test(size=SMALL) as pilot:
        await tune_stage.opened(pilot, "tab", "t")
        await until(pilot, lambda: isinstance(app.screen, BenchForm), "the form")
        form = app.screen
        assert isinstance(form, BenchForm)
        assert form.draft.knob == "queue_depth"
        assert form.draft.values == {"A queue_depth": "32", "B queue_depth": "16"}
        assert main_of(pilot).pane == "bench"


# -- looking


async def test_the_picture_is_held_while_fio_goes_on() -> None:
    app, benching = measured(progress=UNDER_WAY)
    async with app.run_test(size=SMALL) as pilot:
        pane = await opened(pilot, "space")
        before = pane.live.text
        assert "held" in header_of(pilot)
        benching.progress = replace(UNDER_WAY, samples=(*UNDER_WAY.samples, sample(13.0, 50_000)))
        await looked(pilot)
        assert pane.live.text == before
        await pilot.press("space")
        await until(pilot, lambda: "50,000" in pane.live.text)


async def test_a_run_that_ends_is_in_the_history_at_once() -> None:
    app, benching = measured(progress=UNDER_WAY)
    async with app.run_test(size=SMALL) as pilot:
        pane = await opened(pilot)
        benching.records = series(JOB, "random read 4K, depth 32", 101_700, id_=60, work=WORK)
        await looked(pilot)
        assert pane.entry is None
        benching.progress = replace(UNDER_WAY, done=2)
        await looked(pilot)
        assert pane.entry is not None
        assert pane.entry.key == JOB


async def test_its_end_is_reported_though_another_pane_is_in_view() -> None:
    app, benching = measured(progress=UNDER_WAY)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot)
        await pilot.press("1")
        benching.progress = replace(UNDER_WAY, state="done", done=3)
        await looked(pilot)
        assert log_of(pilot) == ["random read 4K, depth 32: done"]


async def test_one_that_failed_is_logged_once() -> None:
    app, benching = measured(progress=UNDER_WAY)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot)
        benching.progress = replace(UNDER_WAY, state="failed", reason="fio was killed by SIGSEGV")
        await looked(pilot)
        words = "random read 4K, depth 32: failed: fio was killed by SIGSEGV; what was measured is kept"
        await says(pilot, words)
        assert [each.text for each in app.main.events if "SIGSEGV" in each.text] == [words]


async def test_at_rest_and_out_of_view_nobody_looks() -> None:
    async with measured(*OLD)[0].run_test(size=SMALL) as pilot:
        pane = await opened(pilot)
        assert pane._timer is not None
        await pilot.press("1")
        await looked(pilot)
        assert pane._timer is None


async def test_a_history_that_cannot_be_read_is_said() -> None:
    app, benching = measured()
    benching.trouble_of_history = "/var/lib/raidtui/bench.sqlite cannot be opened: disk I/O error"
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot)
        await until(pilot, lambda: benching.trouble_of_history in lines_of(pilot, "#bench-list"))


async def test_a_capture_has_no_benchmarks() -> None:
    async with running(tree()) as pilot:
        await opened(pilot, "n")
        await says(pilot, "a capture is read-only: nothing can be measured there")


def test_nothing_of_it_is_loaded_before_the_pane_is_opened() -> None:
    code = (
        "import sys, raidtui.app.app;"
        "print(sorted(set(sys.modules) & {'raidtui.features.bench', 'raidtui.features.bench.session',"
        " 'raidtui.features.bench.screen.bench_pane',"
        " 'raidtui.features.bench.run.bench_progress', 'sqlite3'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_the_demo_host_remembers_runs_over_its_cache() -> None:
    """They can be looked at, compared and changed, and they say that they are simulated."""
    async with running(demo_root()) as pilot:
        pane = await opened(pilot)
        text = screen_text(pilot)
        assert text.count("simulated: hot-spot") == 3  # two rows, and the chosen one
        assert "vg0/data" in text
        await pilot.press("m", "down", "m", "c")
        await until(pilot, lambda: "#1 cold cache began with a cold cache" in screen_text(pilot))
        await pilot.press("tab")
        await until(pilot, lambda: "100.0 % ┤" in screen_text(pilot))
        await pilot.press("escape")
        session = pane.session()
        assert session.refusal == ""
        assert await session.change([1]) == ""
        assert [each.id for each in (await session.history()).records] == [2]
