"""Whether TRIM passes, in words; its trial; and the weekly one, where there is systemd and where not."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.model.fact import FactKind
from raidtui.model.plan import RunTool
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
from tests.plans.new_array import FOUR, device, fact, survey

SSD = tuple(device(name, discards=True) for name in FOUR)
MIXED = (*SSD[:3], device("sdd2"))
MOUNTED = OnTop(file_system="ext4", mount="/srv", uuid="1-2")
WEEKLY = OnTop(file_system="ext4", mount="/srv", uuid="1-2", trim_weekly=True)
CRON = "for a weekly TRIM, run fstrim --fstab from cron (a script in /etc/cron.weekly)."


@pytest.mark.parametrize(
    ("level", "reported", "devices", "words"),
    [
        ("raid10", None, SSD, "TRIM works: raid10 passes discards on, and all members support them."),
        ("raid0", False, SSD, "TRIM works: raid0 passes discards on, and all members support them."),
        ("raid1", False, SSD, "TRIM works: raid1 passes discards on, and all members support them."),
        ("raid10", None, MIXED, "TRIM does not reach all members: sdd2 does not support discards."),
        (
            "raid10",
            None,
            (*SSD[:1], device("sdb2"), device("sdc2")),
            "TRIM does not reach all members: sdb2, sdc2 do not support discards.",
        ),
        ("raid5", True, (device("sda2"),), "TRIM does not work: no member supports discards."),
        (
            "raid6",
            True,
            SSD,
            (
                "TRIM works: all members support discards, and raid456 relies on them to read zeros"
                " afterwards"
                " (devices_handle_discard_safely=Y)."
            ),
        ),
        (
            "raid5",
            False,
            SSD,
            (
                "TRIM does not work: raid5 drops discards, although fstrim may report success. With"
                " SSDs known to read zeros afterwards: options raid456"
                " devices_handle_discard_safely=Y in /etc/modprobe.d."
            ),
        ),
        (
            "raid4",
            None,
            SSD,
            (
                "TRIM works on raid4 only if raid456 is loaded with devices_handle_discard_safely=Y:"
                " that is not the default, and safe only with SSDs that read zeros after a discard."
            ),
        ),
    ],
)
def test_words(level: str, *, reported: bool | None, devices: tuple[Device, ...], words: str) -> None:
    assert trim_words(level, survey(*devices, raid456_discards=reported), devices) == words


def test_a_trial_that_may_fail() -> None:
    trial = RunTool(
        argv=("fstrim", "--verbose", "/srv"),
        why="tests TRIM: the members' discard counters show whether it works, whatever fstrim reports",
        timeout_s=1800.0,
        counts=FOUR,
        may_fail=True,
    )
    assert trial_steps(MOUNTED, survey(*SSD), FOUR) == (trial,)
    assert trial_steps(MOUNTED, survey(*MIXED), FOUR) == (trial,)


def test_no_trial_where_it_would_show_nothing() -> None:
    assert trial_steps(MOUNTED, survey(), FOUR) == ()
    assert trial_steps(MOUNTED, survey(*SSD, missing=("fstrim",)), FOUR) == ()
    array = Below(
        path="/dev/md/127", level="raid10", shape=Geometry(stride=8, width=2), size_bytes=0, members=FOUR
    )
    made = on_top_steps(OnTop(file_system="ext4"), survey(*SSD), array)
    assert [step.argv[0] for step in made] == ["mkfs.ext4"]


def test_switched_on_and_off_again() -> None:
    [step] = weekly_steps(WEEKLY, survey(systemd=True, trim_timer="disabled"))
    unit = "fstrim.timer"
    assert step == RunTool(
        argv=("systemctl", "enable", "--now", unit),
        why="trims free space once a week",
        proves=(fact(FactKind.UNIT, unit, "enabled"), fact(FactKind.UNIT, unit, "active")),
        undo=(
            RunTool(
                argv=("systemctl", "disable", "--now", unit),
                why="as it was",
                proves=(fact(FactKind.UNIT, unit, "disabled"), fact(FactKind.UNIT, unit, "inactive")),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({}, f"systemd is not running here: {CRON}"),
        ({"trim_timer": "disabled"}, f"systemd is not running here: {CRON}"),
        (
            {"systemd": True, "trim_timer": "enabled"},
            "fstrim.timer is already enabled: all file systems of fstab are trimmed once a week.",
        ),
        (
            {"systemd": True, "trim_timer": "enabled-runtime"},
            "fstrim.timer is already enabled: all file systems of fstab are trimmed once a week.",
        ),
        (
            {"systemd": True, "trim_timer": "masked"},
            "fstrim.timer is masked and stays off; to allow it: systemctl unmask fstrim.timer.",
        ),
        ({"systemd": True}, f"fstrim.timer is not available here: {CRON}"),
        (
            {"systemd": True, "trim_timer": "static"},
            f"fstrim.timer is not available here: {CRON}",
        ),
    ],
)
def test_a_weekly_trim_without_a_step(given: dict[str, Any], note: str) -> None:
    host = survey(**given)
    assert weekly_notes(WEEKLY, host) == (note,)
    assert weekly_steps(WEEKLY, host) == ()


def test_a_weekly_trim_with_a_step_is_reported_too() -> None:
    host = survey(systemd=True, trim_timer="disabled")
    assert weekly_notes(WEEKLY, host) == ("fstrim.timer trims all file systems of fstab, not only this one.",)
    assert (weekly_notes(MOUNTED, host), weekly_steps(MOUNTED, host)) == ((), ())


def test_trim_is_spoken_of_where_it_matters() -> None:
    array = Below(
        path="/dev/md/127", level="raid5", shape=Geometry(stride=0, width=0), size_bytes=0, members=FOUR
    )
    hard = tuple(device(name) for name in FOUR)
    assert on_top_notes(MOUNTED, survey(), array, hard) == ()
    assert on_top_notes(WEEKLY, survey(), array, hard) == (
        "TRIM does not work: no member supports discards.",
        f"systemd is not running here: {CRON}",
    )
    assert on_top_notes(OnTop(), survey(), array, SSD) == (trim_words("raid5", survey(), SSD),)
