"""The wizard's levels: how much fits, what may fail, what is written at first and at a rebuild."""

from __future__ import annotations

import pytest

from raidtui.model.geometry import MISSING, raid10_layout
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.wizard.choices import first_sync_words, may_fail, rebuild_words
from raidtui.plans.wizard.wizard_draft import WizardDraft
from raidtui.plans.wizard.wizard_steps import picks
from raidtui.view.units import KIB
from tests.plans.new_array import FOUR, GIB, device, plain, survey

TRIMMED = (
    "The first sync writes only where {}: nothing on trimmed members that read zeros,"
    " otherwise up to {} GiB in total."
)


def test_levels_for_four_devices() -> None:
    found = picks("level", WizardDraft(devices=FOUR), survey())
    assert [(pick.key, pick.words, pick.refusal) for pick in found] == [
        ("raid1", "raid1           99.9 GiB  any 3", ""),
        ("raid10 n2", "raid10 near 2    200 GiB  1, or 1 per pair", ""),
        ("raid10 f2", "raid10 far 2     200 GiB  1, or 2 not adjacent", ""),
        ("raid10 o2", "raid10 offset 2  200 GiB  1, or 2 not adjacent", ""),
        ("raid5", "raid5            300 GiB  any 1", ""),
        ("raid6", "raid6            200 GiB  any 2", ""),
        ("raid0", "raid0            400 GiB  none!", ""),
        ("raid4", "raid4            300 GiB  any 1", ""),
    ]


def test_a_level_says_what_it_is_good_at_and_what_it_writes() -> None:
    host = survey(*(device(name, discards=True) for name in FOUR), raid456_discards=False)
    notes = {pick.key: pick.note for pick in picks("level", WizardDraft(devices=FOUR), host)}
    assert notes["raid10 n2"] == (
        "The two copies lie on neighbouring members. Reads spread over all, a write goes to two: good for"
        " small random I/O, databases, virtual machines. TRIM works: raid10 passes discards on, and all"
        " members support them. The first sync writes only where copies differ: nothing on trimmed members"
        " that read zeros, otherwise up to 200 GiB in total. A rebuild writes one member: 99.9 GiB."
    )
    assert notes["raid5"].endswith(
        "TRIM does not work: raid5 drops discards, although fstrim may report success. With SSDs"
        " known to read zeros afterwards: options raid456 devices_handle_discard_safely=Y in"
        " /etc/modprobe.d. The first sync writes all of the last member: 99.9 GiB. A rebuild writes one"
        " member: 99.9 GiB."
    )
    assert notes["raid0"] == (
        "Full speed and capacity, no redundancy: when one member fails, all data is lost. TRIM works: raid0"
        " passes discards on, and all members support them. There is no first sync."
    )


def test_levels_that_cannot_be() -> None:
    found = {pick.key: pick.refusal for pick in picks("level", WizardDraft(devices=FOUR[:2]), survey())}
    assert found["raid1"] == found["raid10 n2"] == found["raid0"] == ""
    assert found["raid6"] == "raid6 needs at least 4 devices, not 2; add devices, or choose another level"
    with_journal = WizardDraft(devices=FOUR[:3], journal="sdd2")
    found = {pick.key: pick.refusal for pick in picks("level", with_journal, survey())}
    assert found["raid5"] == ""
    assert found["raid1"] == "raid1 has no parity, so it has no journal; omit the journal"
    empty = WizardDraft(devices=FOUR[:2], empty=2)
    found = {pick.key: pick.refusal for pick in picks("level", empty, survey())}
    assert found["raid6"] == found["raid10 n2"] == ""
    assert found["raid5"] == "raid5 does not work while 2 of 4 devices are missing; name more devices"


@pytest.mark.parametrize(
    ("level", "layout", "slots", "holes", "words"),
    [
        ("raid1", None, 2, (), "any 1"),
        ("raid1", None, 2, (1,), "none: slots are empty"),
        ("raid1", None, 3, (2,), "any 1"),
        ("raid10", "n2", 2, (), "any 1"),
        ("raid10", "n2", 6, (), "1, or 1 per pair"),
        ("raid10", "n3", 6, (), "2, or 2 per set"),
        ("raid10", "n2", 4, (3,), "none: slots are empty"),
        ("raid10", "n2", 5, (), "1, or 2 not adjacent"),
        ("raid10", "f2", 3, (), "any 1"),
        ("raid5", 2, 4, (), "any 1"),
        ("raid6", 2, 5, (4,), "any 1"),
        ("raid0", None, 2, (), "none!"),
    ],
)
def test_what_may_fail(
    level: str, layout: str | int | None, slots: int, holes: tuple[int, ...], words: str
) -> None:
    number = raid10_layout(layout) if isinstance(layout, str) else layout
    assert may_fail(level, number, slots, holes) == words


def shaped(request: CreateRequest) -> Shape:
    found = shape_of(request)
    assert isinstance(found, Shape), found
    return found


@pytest.mark.parametrize(
    ("request_", "size_gib", "words"),
    [
        (plain("raid0"), 400, "There is no first sync."),
        (plain("raid1"), 100, "The first sync writes all of every member but one: 100 GiB each."),
        (plain("raid1", assume_clean=True), 100, "The first sync is skipped."),
        (plain("raid4"), 300, "The first sync writes all of the last member: 100 GiB."),
        (
            plain("raid5", *FOUR[:3], MISSING),
            300,
            "It starts degraded: each device added later is written whole, 100 GiB.",
        ),
        (
            plain("raid6"),
            200,
            TRIMMED.format("parity does not match", 200),
        ),
        (
            plain("raid10", layout="n4"),
            100,
            TRIMMED.format("copies differ", 300),
        ),
    ],
)
def test_what_the_first_sync_writes(request_: CreateRequest, size_gib: int, words: str) -> None:
    gib = GIB // KIB
    assert first_sync_words(request_, shaped(request_), 100 * gib, size_gib * gib) == words


def test_what_a_rebuild_writes() -> None:
    assert rebuild_words("raid5", 7 * GIB // KIB) == "A rebuild writes one member: 7 GiB."
    assert rebuild_words("raid0", 7 * GIB // KIB) == ""
    assert rebuild_words("raid5", 7 * GIB // KIB, [None, 700 * GIB, 7000 * GIB]) == (
        "A rebuild writes one member: 7 GiB, about 1.0 % of its life."
    )
    assert rebuild_words("raid5", 7 * GIB // KIB, [70 * GIB]) == (
        "A rebuild writes one member: 7 GiB, about 10 % of its life."
    )
    assert rebuild_words("raid5", 7 * GIB // KIB, [70_000 * GIB]) == (
        "A rebuild writes one member: 7 GiB, less than 0.1 % of its life."
    )
