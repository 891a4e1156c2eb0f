"""The forms of benchmarks, and their reviews: a picture of each."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.bench.forms.form_draft import BenchDraft, FormKind
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.screen.form_page import BenchForm
from raidtui.features.bench.screen.review_page import BenchReview
from tests.features.bench.forms.choices import ARRAYS, KNOWN, Asked
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
