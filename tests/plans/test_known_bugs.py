"""Kernels with a known bug: refused where the number says it all, else only said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.journal_plan import plan_journal
from raidtui.model.survey import Survey
from raidtui.plans.known_bugs import KNOWN_BUGS, bug_notes, refuse_known_bugs
from tests.hosts.specs import ArraySpec, raid1, raid5, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, first, planned, refused
from tests.plans.test_grow import grown, plan

WAITS, PANICS, HANGS = KNOWN_BUGS
NEW = device("sdz", size_bytes=BIG)


def on(kernel: str, array: ArraySpec | None = None) -> Survey:
    """A host with this kernel."""
    survey = grown(array or raid5(), NEW)
    snapshot = survey.snapshot
    return replace(survey, snapshot=replace(snapshot, host=replace(snapshot.host, kernel=kernel)))


@pytest.mark.parametrize(
    ("kernel", "has"),
    [
        ((4, 19, 261), False),
        ((4, 19, 262), True),
        ((4, 19, 316), False),
        ((5, 18, 0), False),
        ((5, 19, 17), True),
        ((6, 0, 2), False),
        ((6, 1, 0), True),
        ((6, 1, 93), True),
        ((6, 1, 94), False),
        ((6, 5, 13), True),
        ((6, 9, 4), True),
        ((6, 9, 5), False),
        ((6, 10, 0), False),
    ],
)
def test_which_kernels_wait_for_ever(kernel: tuple[int, int, int], has: bool) -> None:  # noqa: FBT001
    """As the record of CVE-2024-39476 lists them."""
    assert WAITS.has(kernel) is has


def test_the_others() -> None:
    assert [PANICS.has(each) for each in ((6, 1, 104), (6, 1, 105), (6, 10, 4), (6, 11, 0))] == [
        True,
        False,
        True,
        False,
    ]
    assert [HANGS.has(each) for each in ((6, 6, 1), (6, 7, 6), (6, 7, 7), (6, 8, 0))] == [
        False,
        True,
        False,
        False,
    ]


def test_a_kernel_that_has_it() -> None:
    """Neither a reshape nor a journal."""
    survey = on("6.5.13")
    why = "md can deadlock while it writes superblocks, and all I/O with it"
    sentence = f"Linux 6.5.13 has CVE-2024-39476: {why}; boot Linux 6.10 or later"
    assert refused(plan(survey, "sdz")) == sentence
    assert refused(plan_journal(survey, first(survey), "sdz")) == sentence
    assert refused(plan(on("6.1.50"), "sdz")).endswith("; boot Linux 6.1.94, or 6.10 or later")
    mirrors = on("6.5.13", raid10())
    assert refuse_known_bugs(mirrors, first(mirrors)) is None


def test_a_kernel_of_a_distribution() -> None:
    """Its number does not say what is in it."""
    survey = on("6.1.0-18-amd64")
    notes = planned(plan(survey, "sdz")).notes
    assert (
        "Linux 6.1.0-18-amd64 has, unless the distribution has fixed it, CVE-2024-39476: md can"
        " deadlock while it writes superblocks, and all I/O with it." in notes
    )


@pytest.mark.parametrize(
    ("kernel", "array"),
    [("6.1.176", raid5()), ("6.12.5-amd64", raid5()), ("6.1.50", raid1()), ("odd", raid5())],
)
def test_nothing_is_known(kernel: str, array: ArraySpec) -> None:
    survey = on(kernel, array)
    assert bug_notes(survey, first(survey)) == ()
    assert refuse_known_bugs(survey, first(survey)) is None
