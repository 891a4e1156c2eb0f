"""The least time that a first sync takes: md counts the array of a RAID-10, else a member."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.plan import Refusal
from raidtui.model.snapshot import SystemLimits
from raidtui.plans.create.create_notes import first_sync_kib, sync_time_note
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.sync import at_least
from tests.plans.new_array import plain, survey

KIB = 1_000_000


def shape(asked: CreateRequest) -> Shape:
    found = shape_of(asked)
    assert not isinstance(found, Refusal), found
    return found


@pytest.mark.parametrize(
    ("asked", "kib"),
    [
        (plain("raid10"), 2 * KIB),
        (plain("raid10", layout="f2"), 2 * KIB),
        (plain("raid10", "sda2", "missing", "sdb2", "sdc2"), 2 * KIB),
        (plain("raid1"), KIB),
        (plain("raid1", "sda2", "missing"), 0),
        (plain("raid5"), KIB),
        (plain("raid5", "sda2", "sdb2", "missing"), 0),
        (plain("raid6"), KIB),
        (plain("raid6", "sda2", "sdb2", "sdc2", "missing"), KIB),
        (plain("raid6", "sda2", "sdb2", "missing", "missing"), 0),
        (plain("raid0"), 0),
        (plain("raid1", assume_clean=True), 0),
    ],
)
def test_what_is_counted(asked: CreateRequest, kib: int) -> None:
    assert first_sync_kib(asked, shape(asked), KIB) == kib
    seconds = "The commands take seconds"
    note = f"{seconds}, the first sync at least {kib // 200_000} s at the limit of 205 MB/s."
    assert sync_time_note(asked, shape(asked), survey(), KIB) == (note if kib else f"{seconds}.",)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (SystemLimits(min_kib_s=1000, max_kib_s=500_000), "at least 2 s at the limit of 512 MB/s"),
        (
            SystemLimits(min_kib_s=250_000, max_kib_s=1000),
            "at least 4 s at the limit of 256 MB/s",
        ),  # min wins
        (SystemLimits(), "at least 5 s at the limit of 205 MB/s"),
    ],
)
def test_limits(limits: SystemLimits, words: str) -> None:
    host = survey()
    assert at_least(replace(host, snapshot=replace(host.snapshot, limits=limits)), KIB) == words
