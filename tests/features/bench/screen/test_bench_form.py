"""The forms of benchmarks, and their reviews: a picture of each, and as lines what these do not show."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.bench.estimate import estimate_writes
from raidtui.features.bench.forms.form import fields, filled
from raidtui.features.bench.forms.form_draft import BenchDraft, FormField, FormKind, FormPart
from raidtui.features.bench.forms.known import Candidate, HostChoices
from raidtui.features.bench.jobfile import JobFile
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.place import Place
from raidtui.features.bench.schedule import Axis, AxisKind, Conditions, Schedule, Scratch
from raidtui.features.bench.screen.form_lines import Form, FormRow, rows_of
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.bench.screen.review_page import BenchReview, offer_lines
from raidtui.features.bench.workload import Workload
from raidtui.model.plan import Loss
from raidtui.view.text import cell_width
from tests.features.bench.forms.choices import ARRAYS, KNOWN, PLACE, Asked
from tests.frame.drawn import texts
from tests.frame.staging import ALL_SIZES, SIZES, SMALL, Paces, Shows, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10


def shown(
    shows: Shows,
    ask: Asked,
    kind: FormKind,
    draft: BenchDraft,
    *keys: str,
    size: tuple[int, int] = SMALL,
    review: bool = False,
    then: tuple[str, ...] = (),
    known: HostChoices = KNOWN,
) -> None:
    """Show a form after some keys, or its review."""

    async def prepare(pilot: Paces) -> None:
        await pilot.app.push_screen(BenchForm(replace(draft, kind=kind), ask, known))
        await pilot.pause()
        await pilot.press(*keys)
        if review:
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, BenchReview), "the review")
        await pilot.pause()
        await pilot.press(*then)
        await pilot.pause()

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


OWN = BenchDraft(what="own", rw="randrw", block="8k", size="4g", depth="32", runtime="60", read_percent="70")


@ALL_SIZES
def test_run(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.RUN, BenchDraft(), "down", size=size)


@SIZES
def test_own_workload(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.RUN, OWN, *["down"] * 3, "left", size=size)


@SIZES
def test_sweep_of_a_knob(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    draft = BenchDraft(knob="scheduler", second="depth")
    shown(shows, ask, FormKind.SWEEP, draft, *["down"] * 7, size=size)


@SIZES
def test_sweep_over_arrays(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.SWEEP, ARRAYS, *["down"] * 12, size=size)


@SIZES
def test_two_settings(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.AB, BenchDraft(), *["down"] * 8, size=size)


@SIZES
def test_refused(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    draft = BenchDraft(what="own", rw="randwrite", size="4000t", folder="/srv/data")
    shown(shows, ask, FormKind.RUN, draft, "enter", size=size)


@SIZES
def test_review_of_what_is_lost(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.SWEEP, ARRAYS, size=size, review=True)


@SIZES
def test_review_of_a_harmless_run(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.RUN, BenchDraft(folder="/srv/data"), size=size, review=True)


@SIZES
def test_review_of_two_settings(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.AB, BenchDraft(), size=size, review=True)


@SIZES
def test_job_file(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(
        shows,
        ask,
        FormKind.RUN,
        BenchDraft(what="job", job="~/fio/[red]cache.fio"),
        "down",
        *["left"] * 4,
        size=size,
    )


@SIZES
def test_meaning(shows: Shows, ask: Asked, size: tuple[int, int]) -> None:
    shown(shows, ask, FormKind.SWEEP, ARRAYS, *["down"] * 12, "question_mark", size=size)


def test_list_of_presets(shows: Shows, ask: Asked) -> None:
    shown(shows, ask, FormKind.RUN, BenchDraft(), "down", "space", "down")


def test_no_choice(shows: Shows, ask: Asked) -> None:
    shown(
        shows, ask, FormKind.SWEEP, BenchDraft(where="scratch"), *["down"] * 9, "enter", known=HostChoices()
    )


def test_smallest(shows: Shows, ask: Asked) -> None:
    shown(shows, ask, FormKind.SWEEP, ARRAYS, *["down"] * 12, size=(60, 15))


def test_end_of_the_review(shows: Shows, ask: Asked) -> None:
    shown(
        shows,
        ask,
        FormKind.SWEEP,
        replace(ARRAYS, level="raid5", second="nothing"),
        review=True,
        then=("pagedown",) * 9,
    )


WORK = Workload(rw="randread", block_bytes=4096, size_bytes=1 << 30, runtime_s=60)
SCHEDULE = Schedule(title="x", place=PLACE, work=WORK)
NOTE = FormField(name="note", part=FormPart.HOW, label="note", hint="Kept.", usual="none")


def review(schedule: Schedule, devices: tuple[Candidate, ...] = (), **more: Any) -> list[str]:
    offer = Offer(schedule=schedule, cost=estimate_writes(schedule, disks=4), **more)
    return texts(offer_lines(offer, devices, 78))


def test_a_job_file() -> None:
    file = JobFile(name="own.fio", text="", writes=True, written_bytes=1 << 20)
    lines = review(replace(SCHEDULE, work=None, job_file=file), notes=("A note.",))
    assert lines[0] == "measures  The job file own.fio."
    assert lines[2] == "writes    It writes at most 1 MiB, 256 KiB to each of 4 disks."
    assert "time      How long it takes is not known: the job file decides." in lines
    assert lines[-1] == "A note."


def test_all_that_is_done_between_the_runs() -> None:
    schedule = replace(
        SCHEDULE, repeats=25, conditions=Conditions(trim=True, cool_s=9, precondition=2, steady=True)
    )
    lines = review(schedule)
    assert "runs      At most 25 runs: until five rounds of each point are steady." in lines
    assert lines[-3:] == [
        "before    The size is written 2 times before all runs. Before each run: free",
        "          blocks are discarded, then 9 s of pause.",
        "",
    ]


def test_grouped_and_many_points() -> None:
    axis = Axis(kind=AxisKind.BLOCK, values=tuple(str(512 << n) for n in range(14)))
    lines = review(replace(SCHEDULE, axes=(axis,), repeats=2, grouped=True))
    assert "runs      28 runs: 14 points, each 2 times, one point after another." in lines
    assert lines[-3:] == ["  10  block 256K", "  11  block 512K", "      … and 3 more"]


def test_knobs_of_arrays_that_are_yet_to_be_made() -> None:
    axes = (
        Axis(kind=AxisKind.LEVEL, values=("raid5", "raid6")),
        Axis(kind=AxisKind.KNOB, name="stripe_cache_size", values=("256", "4096")),
    )
    scratch = Scratch(devices=("sde", "sdf", "sdg", "sdh"))
    lines = review(replace(SCHEDULE, place=Place(members=scratch.devices), scratch=scratch, axes=axes))
    assert "where     sde, sdf, sdg, sdh" in lines
    start = lines.index("stripe_cache_size 256")
    assert lines[start : start + 2] == ["stripe_cache_size 256", "    set on each array once it exists"]
    assert lines[-7:] == [
        "At the end, also after a crash, settings are put back and arrays are stopped",
        "and wiped.",
        "",
        "Each array gets its own UUID. What is wiped for the first one stays wiped.",
        "",
        "The first sync of RAID-4, -5 and -6 comes first and is not included in the",
        "time above.",
    ]


def test_what_is_lost_comes_first() -> None:
    device = Candidate(name="sde", size_bytes=233 << 30, model="M", serial="S1", word="S1")
    lines = review(
        replace(SCHEDULE, place=Place(device="sde", writes=True)),
        (device, replace(device, name="sdf")),
        losses=(Loss(device="sdf", what='the ext4 file system "[b]\x1b"'),),
    )
    assert lines[:4] == [
        "This overwrites 2 devices:",
        "  sde    233 GiB  M  S1          nothing known",
        '  sdf    233 GiB  M  S1          the ext4 file system "[b]\\x1b"',
        "",
    ]
    assert lines[4].startswith("measures  random read 4K, 1 GiB (the part that is used)")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("height", [6, 11, 20, 60])
@pytest.mark.parametrize("kind", FormKind)
def test_a_form_fits_and_the_chosen_row_is_in_view(kind: FormKind, width: int, height: int) -> None:
    draft = filled(BenchDraft(where="scratch", knob="scheduler", second="knob", kind=kind), KNOWN)
    rows = rows_of(fields(replace(draft, kind=kind), KNOWN))
    for at, row in enumerate(rows):
        form = Form(
            draft=draft, rows=rows, at=at, width=width, height=height, meaning=("More.", "", "And more.")
        )
        lines = texts(form.lines)
        assert len(lines) <= height
        assert all(cell_width(line) <= width for line in lines)
        (mark,) = [line for line in lines if line.startswith("▸")]
        assert row.field.label in mark or row.pick


@pytest.mark.parametrize(
    ("text", "cursor", "width", "shown"),
    [
        ("", 0, 40, "  ▏none"),
        ("abc", 0, 40, "  ▏abc"),
        ("abc", 3, 40, "  abc▏"),
        ("abcdefghijklmnopqrstuvwxyz", 26, 35, "  …opqrstuvwxyz▏"),
        ("abcdefghijklmnopqrstuvwxyz", 0, 35, "  ▏abcdefghijkl…"),
        ("abcdefghijklmnopqrstuvwxyz", 13, 35, "  …ijklm▏nopqrs…"),
        ("a\x1b[31mb", 1, 40, "  a▏\\x1b[31mb"),
    ],
)
def test_a_text_with_a_cursor(text: str, cursor: int, width: int, shown: str) -> None:
    form = Form(
        draft=BenchDraft(note=text), rows=(FormRow(field=NOTE),), at=0, cursor=cursor, width=width, height=9
    )
    assert texts(form.lines)[0] == f"▸ note             {shown}"
