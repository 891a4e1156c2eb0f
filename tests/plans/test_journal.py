"""A write journal or a partial parity log for an array that is there: plans and refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import plan_grow, plan_grow_size
from raidtui.features.reshape.plan.journal_plan import around_policy, plan_journal, plan_policy
from raidtui.features.reshape.plan.shrink_plan import plan_shrink
from raidtui.model.answer import known
from raidtui.model.disk import Use
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Survey
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid6
from tests.plans.goldens import accepted, brief
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, former, host, planned

RAID5, FOUR = raid5(), raid5(members=("sdg", "sdh", "sdi", "sdj"))
SMALL = device("sdz", size_bytes=1 << 30)
EXT4 = Use(kind="signature", what="ext4", detail="root")
USED = replace(SMALL, disk=replace(SMALL.disk, uses=(EXT4,)), probed=known((EXT4,)))
LOGGED = replace(RAID5, consistency_policy="journal", journal="sdz")
FOUR_LOGGED = replace(FOUR, consistency_policy="journal", journal="sdz")
PPL, FOUR_PPL = replace(RAID5, consistency_policy="ppl"), replace(FOUR, consistency_policy="ppl")


def given(array: ArraySpec, *devices: Device, bad_log: int | None = None) -> Survey:
    """A host with an array, its members with their log of bad blocks at a place, and devices."""
    block = former(array.array_uuid, f"nas:{array.label}", bad_log_sectors=bad_log)
    members = tuple(device(name, superblock=block) for name in array.members if name)
    return host(array, devices=(*members, *devices))


def journal(array: ArraySpec, name: str, *devices: Device) -> Plan | Refusal:
    survey = given(array, *(devices or (SMALL,)))
    return plan_journal(survey, first(survey), name)


def policy(array: ArraySpec, name: str, *, bad_log: int | None = None) -> Plan | Refusal:
    survey = given(array, bad_log=bad_log)
    return plan_policy(survey, first(survey), name)


def in_use() -> Plan | Refusal:
    survey = host(RAID5, devices=(SMALL,), mounts={RAID5.name: "/srv"})
    return plan_journal(survey, first(survey), "sdz")


def around_in_use() -> object:
    survey = host(LOGGED, devices=(SMALL,), mounts={LOGGED.name: "/srv"})
    members = {name: device(name, size_bytes=BIG) for name in LOGGED.members if name}
    survey = replace(survey, devices={**survey.devices, **members})
    return around_policy(survey, first(survey), level="raid5")


def shaped(array: ArraySpec, plan: str, *names: str) -> Plan:
    """A plan for another shape of an array that has a journal or a partial parity log."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=1 << 18, tail_sectors=1 << 18)
    members = tuple(device(name, size_bytes=BIG, superblock=block) for name in array.members if name)
    new = tuple(device(name, size_bytes=BIG) for name in names)
    survey = host(array, devices=(*members, *new, SMALL))
    own = first(survey)
    if plan == "grow":
        return planned(plan_grow(survey, own, names))
    if plan == "size":
        return planned(plan_grow_size(survey, own))
    if plan == "shrink":
        return planned(plan_shrink(survey, own, 3))
    return planned(plan_convert(survey, own, ConvertRequest(layout="", level=plan, names=names)))


RESHAPES: dict[str, Callable[[ArraySpec], Plan]] = {
    "grow": lambda array: shaped(array, "grow", "sdx"),
    "size": lambda array: shaped(array, "size"),
    "shrink": lambda array: shaped(array, "shrink"),
    "raid6": lambda array: shaped(array, "raid6", "sdx"),
}
test_plans = accepted(
    {
        # While nothing is written. A device smaller than a member will do. It is writable again by itself.
        "journal: given": lambda: journal(RAID5, "sdz"),
        # A bitmap, and what is on the device, are in the way.
        "journal: given, what is in the way is removed first": lambda: journal(
            replace(RAID5, bitmap=(1, 8)), "sdz", USED
        ),
        # Without the policy, the array could neither be written to nor assembled.
        "journal: taken away": lambda: plan_journal(given(LOGGED), first(given(LOGGED)), ""),
        "policy: ppl": lambda: policy(replace(RAID5, bitmap=(1, 8)), "ppl", bad_log=2048),
        "policy: resync": lambda: policy(PPL, "resync"),
    }
)
test_reshapes = accepted(
    {
        # And given back at the end: to the same disk, which must be empty and free.
        "reshape: a journal is away meanwhile": lambda: RESHAPES["grow"](FOUR_LOGGED),
        "reshape: a journal is away for good": lambda: shaped(LOGGED, "raid0"),
        "reshape: ppl is away meanwhile": lambda: RESHAPES["size"](FOUR_PPL),
        # Mdadm gives new members a log of bad blocks where it would be.
        "reshape: ppl is away for good": lambda: RESHAPES["grow"](FOUR_PPL),
    },
    brief,
)
test_refused = accepted(
    {
        "refused: journal of a raid1": lambda: journal(raid1(), "sdz"),
        "refused: journal, there is one": lambda: journal(LOGGED, "sdy"),
        "refused: journal, there is none": lambda: journal(RAID5, ""),
        "refused: journal on what is not there": lambda: journal(RAID5, "sdx"),
        "refused: journal with ppl": lambda: journal(PPL, "sdz"),
        "refused: journal in a check": lambda: journal(
            replace(RAID5, sync=Syncing(action="check", done_kib=1)), "sdz"
        ),
        "refused: journal, degraded": lambda: journal(raid5(failed=("sdi",)), "sdz"),
        "refused: journal, read-only": lambda: journal(replace(RAID5, read_only="auto-read-only"), "sdz"),
        # The kernel makes no array read-only that is mounted.
        "refused: journal, mounted": in_use,
        "refused: reshape with a journal, mounted": around_in_use,
        "refused: ppl of a raid6": lambda: policy(raid6(), "ppl"),
        "refused: ppl where the log of bad blocks is": lambda: policy(RAID5, "ppl", bad_log=16),
        "refused: ppl again": lambda: policy(PPL, "ppl"),
        "refused: resync with a journal": lambda: policy(LOGGED, "resync"),
        "refused: resync with a bitmap": lambda: policy(
            replace(RAID5, consistency_policy="bitmap"), "resync"
        ),
    }
)


@pytest.mark.parametrize("name", RESHAPES)
def test_a_journal_is_away_during_each_reshape(name: str) -> None:
    """It goes before anything moves, and is back at the end."""
    steps = RESHAPES[name](FOUR_LOGGED).steps
    commands = [step.command for step in steps]
    path = f"/dev/{FOUR_LOGGED.name}"
    away = [
        step.command
        for step in planned(plan_journal(given(FOUR_LOGGED), first(given(FOUR_LOGGED)), "")).steps
    ]
    begins = commands.index(away[0])
    assert commands[begins : begins + len(away)] == away
    assert commands[-2:] == [f"mdadm --readonly {path}", f"mdadm --manage {path} --add-journal /dev/sdz"]
    moves = [place for place, each in enumerate(commands) if "--raid-devices" in each or "--size" in each]
    assert all(place >= begins + len(away) for place in moves)
    assert fact(FactKind.SUPERBLOCK, "sdz") in steps[-1].needs


@pytest.mark.parametrize("name", ["size", "shrink"])
def test_ppl_is_away_during_each_reshape(name: str) -> None:
    commands = [step.command for step in RESHAPES[name](FOUR_PPL).steps]
    path = f"/dev/{FOUR_PPL.name}"
    assert commands[0] == f"mdadm --grow {path} --consistency-policy=resync"
    assert commands[-1] == f"mdadm --grow {path} --consistency-policy=ppl"


def test_adding_is_undone_by_taking_away() -> None:
    add = planned(journal(RAID5, "sdz")).steps[-1]
    away = planned(plan_journal(given(LOGGED), first(given(LOGGED)), ""))
    assert [step.command for step in add.undo] == [step.command for step in away.steps]
