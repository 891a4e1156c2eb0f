"""Whether TRIM passes, in words; its trial; and the weekly one, where there is systemd and where not."""

from __future__ import annotations

from typing import Any

from raidtui.model.survey import Device
from raidtui.plans.create.create_request import Below, Geometry, OnTop
from raidtui.plans.create.file_system import (
    on_top_notes,
    on_top_steps,
    trial_steps,
    trim_words,
    weekly_notes,
    weekly_steps,
)
from tests.plans.goldens import accepted
from tests.plans.new_array import FOUR, device, survey

SSD = tuple(device(name, discards=True) for name in FOUR)
MIXED = (*SSD[:3], device("sdd2"))
MOUNTED = OnTop(file_system="ext4", mount="/srv", uuid="1-2")
WEEKLY = OnTop(file_system="ext4", mount="/srv", uuid="1-2", trim_weekly=True)
HARD = tuple(device(name) for name in FOUR)
ARRAY = Below(
    path="/dev/md/127", level="raid5", shape=Geometry(stride=0, width=0), size_bytes=0, members=FOUR
)


def words(level: str, *devices: Device, safe: bool | None = None) -> str:
    return trim_words(level, survey(*devices, raid456_discards=safe), devices)


def weekly(**given: Any) -> tuple[object, ...]:
    """What is said of it, and done for it."""
    found = survey(**given)
    return (*weekly_notes(WEEKLY, found), *weekly_steps(WEEKLY, found))


test_words = accepted(
    {
        "raid10": lambda: words("raid10", *SSD),
        "raid0": lambda: words("raid0", *SSD, safe=False),
        "raid1": lambda: words("raid1", *SSD, safe=False),
        "one member does not discard": lambda: words("raid10", *MIXED),
        "two members do not discard": lambda: words("raid10", SSD[0], device("sdb2"), device("sdc2")),
        "no member discards": lambda: words("raid5", device("sda2"), safe=True),
        "raid6, zeros are relied on": lambda: words("raid6", *SSD, safe=True),
        "raid5, zeros are not relied on": lambda: words("raid5", *SSD, safe=False),
        "raid4, not known": lambda: words("raid4", *SSD),
    }
)
test_steps = accepted(
    {
        "trial": lambda: trial_steps(MOUNTED, survey(*SSD), FOUR),
        "weekly: switched on": lambda: weekly(systemd=True, trim_timer="disabled"),
        "weekly: it is on": lambda: weekly(systemd=True, trim_timer="enabled"),
        "weekly: it is on until the next boot": lambda: weekly(systemd=True, trim_timer="enabled-runtime"),
        "weekly: masked": lambda: weekly(systemd=True, trim_timer="masked"),
        "weekly: without a timer": lambda: weekly(systemd=True),
        "weekly: the timer is static": lambda: weekly(systemd=True, trim_timer="static"),
        "weekly: without systemd": weekly,
        "weekly: without systemd, with its timer": lambda: weekly(trim_timer="disabled"),
        "notes: weekly on hard disks": lambda: on_top_notes(WEEKLY, survey(), ARRAY, HARD),
    }
)


def test_trial_of_mixed_members() -> None:
    assert trial_steps(MOUNTED, survey(*MIXED), FOUR) == trial_steps(MOUNTED, survey(*SSD), FOUR)


def test_no_trial_where_it_would_show_nothing() -> None:
    assert trial_steps(MOUNTED, survey(), FOUR) == ()
    assert trial_steps(MOUNTED, survey(*SSD, missing=("fstrim",)), FOUR) == ()
    made = on_top_steps(OnTop(file_system="ext4"), survey(*SSD), ARRAY)
    assert [step.argv[0] for step in made] == ["mkfs.ext4"]


def test_trim_is_spoken_of_where_it_matters() -> None:
    host = survey(systemd=True, trim_timer="disabled")
    assert (weekly_notes(MOUNTED, host), weekly_steps(MOUNTED, host)) == ((), ())
    assert on_top_notes(MOUNTED, survey(), ARRAY, HARD) == ()
    assert on_top_notes(OnTop(), survey(), ARRAY, SSD) == (trim_words("raid5", survey(), SSD),)
