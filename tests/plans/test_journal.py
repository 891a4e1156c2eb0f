"""A write journal or a partial parity log for an array that is there: plans and refusals whole."""

from __future__ import annotations

from typing import Any

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
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.survey import Device, Survey
from tests.hosts.specs import ArraySpec, Syncing, raid1, raid5, raid6
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, former, host, planned, refused

RAID5 = raid5()
SMALL = device("sdz", size_bytes=1 << 30)
EXT4 = Use(kind="signature", what="ext4", detail="root")
LOGGED = replace(RAID5, consistency_policy="journal", journal="sdz")


def given(array: ArraySpec, *devices: Device, bad_log: int | None = None) -> Survey:
    """A host with an array, its members with their log of bad blocks at a place, and devices."""
    block = former(array.array_uuid, f"nas:{array.label}", bad_log_sectors=bad_log)
    members = tuple(device(name, superblock=block) for name in array.members if name)
    return host(array, devices=(*members, *devices))


def commands(survey: Survey, name: str = "") -> list[str]:
    return [step.command for step in planned(plan_journal(survey, first(survey), name)).steps]


def test_a_journal_is_added_while_nothing_is_written() -> None:
    """A device smaller than a member will do. The array is writable again by itself."""
    survey, path = given(RAID5, SMALL), f"/dev/{RAID5.name}"
    assert commands(survey, "sdz") == [
        f"mdadm --readonly {path}",
        f"mdadm --manage {path} --add-journal /dev/sdz",
    ]
    found = planned(plan_journal(survey, first(survey), "sdz"))
    read_only, add = found.steps
    assert (found.harm, found.rolls_back) == (Harm.REDUCES, True)
    assert read_only.undo[0].command == f"mdadm --readwrite {path}"
    assert add.proves == (
        fact(FactKind.MEMBER, f"{RAID5.name}/sdz", "journal"),
        fact(FactKind.POLICY, RAID5.name, "journal"),
    )


def test_what_is_in_the_way_is_removed_first() -> None:
    """A bitmap, and what is on the device."""
    survey = given(
        replace(RAID5, bitmap=(1, 8)),
        replace(SMALL, disk=replace(SMALL.disk, uses=(EXT4,)), probed=known((EXT4,))),
    )
    path = f"/dev/{RAID5.name}"
    assert commands(survey, "sdz")[:2] == ["wipefs --all /dev/sdz", f"mdadm --grow {path} --bitmap=none"]
    found = planned(plan_journal(survey, first(survey), "sdz"))
    assert (found.harm, found.confirm) == (Harm.DESTROYS, "media")
    assert found.steps[1].undo[0].command == f"mdadm --grow {path} --bitmap=internal"


def shaped(array: ArraySpec, plan: str, *names: str, **more: Any) -> Plan:
    """A plan for another shape of an array that has a journal or a partial parity log."""
    block = former(array.array_uuid, f"nas:{array.label}", spare_sectors=1 << 18, tail_sectors=1 << 18)
    members = tuple(device(name, size_bytes=BIG, superblock=block) for name in array.members if name)
    new = tuple(device(name, size_bytes=BIG) for name in names)
    survey = host(array, devices=(*members, *new, SMALL), **more)
    own = first(survey)
    if plan == "grow":
        return planned(plan_grow(survey, own, names))
    if plan == "size":
        return planned(plan_grow_size(survey, own))
    if plan == "shrink":
        return planned(plan_shrink(survey, own, 3))
    return planned(plan_convert(survey, own, ConvertRequest(layout="", level=plan, names=names)))


FOUR = raid5(members=("sdg", "sdh", "sdi", "sdj"))


@pytest.mark.parametrize(
    ("plan", "names"), [("grow", ("sdx",)), ("size", ()), ("shrink", ()), ("raid6", ("sdx",))]
)
def test_a_journal_is_away_during_a_reshape(plan: str, names: tuple[str, ...]) -> None:
    """And given back at the end: to the same disk, which must be empty and free."""
    array = replace(FOUR, consistency_policy="journal", journal="sdz")
    found = shaped(array, plan, *names)
    commands = [step.command for step in found.steps]
    path = f"/dev/{array.name}"
    away, back = (
        removal(array.name),
        [f"mdadm --readonly {path}", f"mdadm --manage {path} --add-journal /dev/sdz"],
    )
    begins = commands.index(away[0])
    assert commands[begins : begins + len(away)] == away
    assert commands[-2:] == back
    calls = [
        place for place, command in enumerate(commands) if "--raid-devices" in command or "--size" in command
    ]
    assert all(place >= begins + len(away) for place in calls)
    assert fact(FactKind.SUPERBLOCK, "sdz") in found.steps[-1].needs
    assert "The journal sdz is taken away first and given back at the end." in " ".join(found.notes)


def test_a_level_without_parity_gets_no_journal_back() -> None:
    array = replace(RAID5, consistency_policy="journal", journal="sdz")
    found = shaped(array, "raid0")
    assert found.steps[-1].command.endswith("--level=0")
    assert "The journal is taken away for good: a raid0 has none." in found.notes


def test_a_journal_of_an_array_in_use() -> None:
    array = replace(RAID5, consistency_policy="journal", journal="sdz")
    survey = host(array, devices=(SMALL,), mounts={array.name: "/srv"})
    members = {name: device(name, size_bytes=BIG) for name in array.members if name}
    survey = replace(survey, devices={**survey.devices, **members})
    around = around_policy(survey, first(survey), level="raid5")
    assert isinstance(around, Refusal)
    assert around.sentence == (
        "media has a journal, which is taken away for a reshape while nothing is written; media is in use:"
        " ext4 mounted at /srv; unmount or release it first"
    )


@pytest.mark.parametrize(("plan", "names"), [("size", ()), ("shrink", ())])
def test_a_partial_parity_log_is_away_during_a_reshape(plan: str, names: tuple[str, ...]) -> None:
    found = shaped(replace(FOUR, consistency_policy="ppl"), plan, *names)
    path = f"/dev/{FOUR.name}"
    assert found.steps[0].command == f"mdadm --grow {path} --consistency-policy=resync"
    assert found.steps[-1].command == f"mdadm --grow {path} --consistency-policy=ppl"


def test_new_members_have_no_place_for_a_partial_parity_log() -> None:
    """Mdadm gives them a log of bad blocks there."""
    found = shaped(replace(FOUR, consistency_policy="ppl"), "grow", "sdx")
    path = f"/dev/{FOUR.name}"
    commands = [step.command for step in found.steps]
    assert commands[0] == f"mdadm --grow {path} --consistency-policy=resync"
    assert f"mdadm --grow {path} --consistency-policy=ppl" not in commands
    assert found.notes[0].startswith("The partial parity log is taken away, and does not come back: mdadm")


def removal(name: str) -> list[str]:
    base, path = f"/sys/class/block/{name}/md", f"/dev/{name}"
    return [
        f"echo write-through > {base}/journal_mode",
        f"mdadm --readonly {path}",
        f"mdadm --manage {path} --fail /dev/sdz",
        f"mdadm --manage {path} --remove /dev/sdz",
        f"echo resync > {base}/consistency_policy",
        f"mdadm --readwrite {path}",
        "mdadm --zero-superblock /dev/sdz",
    ]


def test_a_journal_is_taken_away() -> None:
    """Without the policy, the array could neither be written to nor assembled."""
    assert commands(given(LOGGED)) == removal(LOGGED.name)
    add = planned(plan_journal(given(RAID5, SMALL), first(given(RAID5, SMALL)), "sdz")).steps[-1]
    assert [step.command for step in add.undo] == removal(RAID5.name)


@pytest.mark.parametrize(
    ("array", "name", "sentence"),
    [
        (
            raid1(),
            "sdz",
            "raid1 has no parity: there is nothing that a journal would protect",
        ),
        (LOGGED, "sdy", "media has a journal already: sdz"),
        (RAID5, "", "media has no journal"),
        (RAID5, "sdx", "there is no device sdx"),
        (
            replace(RAID5, consistency_policy="ppl"),
            "sdz",
            (
                "media has a partial parity log, which excludes a journal; raidtui plan journal media"
                " --policy=resync"
            ),
        ),
        (
            replace(RAID5, sync=Syncing(action="check", done_kib=1)),
            "sdz",
            "a check is in progress; wait until it is done",
        ),
        (raid5(failed=("sdi",)), "sdz", "media is degraded; replace the missing member first"),
        (
            replace(RAID5, read_only="auto-read-only"),
            "sdz",
            "media is auto-read-only; make it read-write first",
        ),
    ],
)
def test_refused(array: ArraySpec, name: str, sentence: str) -> None:
    survey = given(array, SMALL)
    assert refused(plan_journal(survey, first(survey), name)) == sentence


def test_an_array_in_use() -> None:
    """The kernel makes no array read-only that is mounted."""
    survey = host(RAID5, devices=(SMALL,), mounts={RAID5.name: "/srv"})
    assert refused(plan_journal(survey, first(survey), "sdz")) == (
        "media is in use: ext4 mounted at /srv; unmount or release it first"
    )


def test_a_partial_parity_log() -> None:
    survey, path = given(replace(RAID5, bitmap=(1, 8)), bad_log=2048), f"/dev/{RAID5.name}"
    found = planned(plan_policy(survey, first(survey), "ppl"))
    assert [step.command for step in found.steps] == [
        f"mdadm --grow {path} --bitmap=none",
        f"mdadm --grow {path} --consistency-policy=ppl",
    ]
    assert found.steps[1].undo[0].command == f"mdadm --grow {path} --consistency-policy=resync"
    back = given(replace(RAID5, consistency_policy="ppl"))
    [step] = planned(plan_policy(back, first(back), "resync")).steps
    assert step.command == f"mdadm --grow {path} --consistency-policy=resync"


@pytest.mark.parametrize(
    ("array", "policy", "bad_log", "sentence"),
    [
        (raid6(), "ppl", None, "only a raid5 has a partial parity log, no raid6"),
        (
            RAID5,
            "ppl",
            16,
            (
                "the log of bad blocks of sdg lies where mdadm puts a partial parity log; stop media, and"
                " assemble it with mdadm --assemble --update=no-bbl"
            ),
        ),
        (
            replace(RAID5, consistency_policy="ppl"),
            "ppl",
            None,
            "media already has consistency policy ppl",
        ),
        (LOGGED, "resync", None, "media has consistency policy journal; raidtui plan journal media --remove"),
        (
            replace(RAID5, consistency_policy="bitmap"),
            "resync",
            None,
            "media has consistency policy bitmap; change the bitmap",
        ),
    ],
)
def test_a_policy_refused(array: ArraySpec, policy: str, bad_log: int | None, sentence: str) -> None:
    survey = given(array, bad_log=bad_log)
    assert refused(plan_policy(survey, first(survey), policy)) == sentence
