"""Larger members: each replaced and removed, then all of the new ones is used; refusals whole."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_plan import GrowOptions
from raidtui.features.reshape.plan.size_plan import plan_larger
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import ArraySpec, raid0, raid5
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, planned, refused
from tests.plans.test_grow import grown

RAID5 = raid5()
MORE = 8 << 30
NEW = tuple(device(name, size_bytes=BIG + MORE) for name in ("sdx", "sdy", "sdz"))


def plan(survey: Survey, *names: str, **more: Any) -> Plan | Refusal:
    return plan_larger(survey, first(survey), names, GrowOptions(**more))


def test_each_is_copied_before_the_next() -> None:
    survey = grown(RAID5, *NEW, mounts={RAID5.name: "/srv"})
    found = planned(plan(survey, "sdx", "sdy", "sdz"))
    path = f"/dev/{RAID5.name}"
    one = [
        [
            f"mdadm --manage {path} --add-spare /dev/{new}",
            f"mdadm --manage {path} --replace /dev/{old} --with /dev/{new}",
            "wait until md has finished",
            f"mdadm --manage {path} --remove /dev/{old}",
            f"mdadm --zero-superblock /dev/{old}",
        ]
        for old, new in (("sdg", "sdx"), ("sdh", "sdy"), ("sdi", "sdz"))
    ]
    assert [step.command for step in found.steps] == [
        *(command for pair in one for command in pair),
        f"mdadm --grow {path} --size=max",
        f"resize2fs {path}",
        "wait until md has finished",
    ]
    assert (found.title, found.harm, found.rolls_back) == (
        "grow: 3 larger members",
        Harm.REDUCES,
        False,
    )
    assert found.notes[:5] == (
        "Capacity 420 GiB → 436 GiB, when all are copied.",
        "Each old member serves until its copy is complete: media is as redundant as now.",
        "210 GiB are written to each of sdx, sdy and sdz.",
        (
            "The copies take at least 55 min at the limit of 205 MB/s; syncing the new part then takes at"
            " least 42 s at the limit of 205 MB/s."
        ),
        "sdg, sdh and sdi are free then, without a superblock.",
    )


def test_what_a_copy_needs_and_what_is_final() -> None:
    """The next member is not touched before the one before is replaced; what is replaced stays so."""
    found = planned(plan(grown(RAID5, *NEW), "sdx", "sdy", "sdz"))
    replaces = [step for step in found.steps if "--replace" in step.argv]
    removes = [step for step in found.steps if "--remove" in step.argv]
    for step, name in zip(replaces, ("sdg", "sdh", "sdi"), strict=True):
        assert fact(FactKind.MEMBER, f"{RAID5.name}/{name}", "in_sync") in step.needs
        assert step.undo
    for step, name in zip(removes, ("sdx", "sdy", "sdz"), strict=True):
        assert fact(FactKind.MEMBER, f"{RAID5.name}/{name}", "in_sync") in step.needs
        assert (step.final, step.undo) == (True, ())


def test_what_is_on_the_new_devices_is_lost() -> None:
    ext4 = device("sdw", Use(kind="signature", what="ext4", detail="old"), size_bytes=BIG + MORE)
    found = planned(plan(grown(RAID5, ext4, *NEW), "sdw", "sdy", "sdz"))
    assert (found.harm, found.confirm, found.loss_sentences) == (
        Harm.DESTROYS,
        "media",
        ('sdw: the ext4 file system "old"',),
    )
    assert found.steps[0].command == "wipefs --all /dev/sdw"


def test_a_journal_or_log_is_away_before_the_first_copy() -> None:
    """New members have no place for a partial parity log, so that it does not come back."""
    survey = grown(replace(RAID5, consistency_policy="ppl"), *NEW)
    found = planned(plan(survey, "sdx", "sdy", "sdz"))
    assert found.steps[0].argv[-1] == "--consistency-policy=resync"
    assert not any(step.argv[-1:] == ("--consistency-policy=ppl",) for step in found.steps)


def test_only_those_without_room() -> None:
    """Members that were replaced before stay."""
    survey = grown(RAID5, *NEW, tail=4 << 21)
    small = replace(survey.devices["sdh"])
    assert small.superblock is not None
    small = replace(small, superblock=replace(small.superblock, tail_sectors=0))
    survey = replace(survey, devices={**survey.devices, "sdh": small})
    found = planned(plan(survey, "sdz"))
    assert [step.argv[4:] for step in found.steps if "--replace" in step.argv] == [
        ("/dev/sdh", "--with", "/dev/sdz")
    ]
    assert found.notes[0] == "Capacity 420 GiB → 428 GiB, when all are copied."


@pytest.mark.parametrize(
    ("array", "names", "sentence"),
    [
        (RAID5, (), "no device is named; name one for each member"),
        (
            RAID5,
            ("sdx", "sdy"),
            "sdi would stay, without room after the data; name 3 larger devices",
        ),
        (
            RAID5,
            ("sdw", "sdx", "sdy", "sdz"),
            "media has 3 members: 4 devices are too many; name one for each member",
        ),
        (
            RAID5,
            ("sdw", "sdx", "sdy"),
            "sdw is not larger: 210 GiB of it could be used, as much as now; name larger devices",
        ),
        (
            RAID5,
            ("sdv", "sdx", "sdy"),
            "sdv is too small: 1073741824 bytes, 225485791232 are needed; choose a larger device",
        ),
        (RAID5, ("sdu", "sdx", "sdy"), "sdu is in use: ext4 mounted at /mnt; choose a free device"),
        (RAID5, ("sdx", "sdx", "sdy"), "a device is named twice; name each once"),
        (raid0(), ("sdx", "sdy"), "raid0 always uses all of each member"),
        (
            raid5(failed=("sdi",)),
            ("sdx", "sdy", "sdz"),
            "media is degraded; replace the missing member first",
        ),
    ],
)
def test_refused(array: ArraySpec, names: tuple[str, ...], sentence: str) -> None:
    same = device("sdw", size_bytes=BIG - (1 << 20) + 8192)
    less = device("sdv", size_bytes=1 << 30)
    used = device("sdu", Use(kind="mount", what="/mnt", detail="ext4"), size_bytes=BIG + MORE)
    assert refused(plan(grown(array, *NEW, same, less, used), *names)) == sentence
