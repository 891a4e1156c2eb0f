"""What is so already, and what only looks so: members that have failed, left, or are another array's."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import NothingToDo, Plan, Refusal
from raidtui.model.survey import NOT_ASKED, Survey
from raidtui.plans.already import (
    added_already,
    assembled_already,
    grown_already,
    journal_already,
    removed_already,
    replaced_already,
    stopped_already,
    zeroed_already,
)
from raidtui.plans.create.create_already import created_already
from tests.hosts.specs import ArraySpec, raid1, raid5, raid10
from tests.plans.new_array import device, request
from tests.plans.running import first, former, host

CONF = "/etc/mdadm/mdadm.conf"
MEMBERS = ("sda", "sdb", "sdc", "sdd")


def said(found: Plan | Refusal | None) -> str:
    """The sentence of what is so already."""
    assert isinstance(found, NothingToDo), found
    return found.sentence


def made(array: ArraySpec | None = None, **more: Any) -> Survey:
    spec = array or raid10()
    return host(spec, texts={CONF: f"ARRAY /dev/md/data UUID={spec.array_uuid}\n"}, **more)


def created(survey: Survey, **more: Any) -> Refusal | None:
    asked = request(**{"name": "data", "devices": MEMBERS, **more})
    return created_already(asked, survey)


def differs(survey: Survey, **more: Any) -> str:
    found = created(survey, **more)
    assert found is not None
    assert not isinstance(found, NothingToDo), found
    return found.why.partition("differs: ")[2]


def test_a_new_array_that_is_there() -> None:
    assert said(created(made())) == "md127 is data, raid10 of sda, sdb, sdc and sdd"
    assert said(created(made(), devices=("sdd", "sda", "sdc", "sdb"), bitmap="none", layout="n2"))
    assert said(created(made(raid10(spares=("sde",)))))  # it may have got one since
    assert said(created(made(raid10(spares=("sde", "sdf"))), spares=("sdf",)))
    assert created(made(), name="other") is None
    assert created(host(), name="data") is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"level": "raid5", "layout": ""}, "it is raid10"),
        ({"devices": ("sda", "sdb", "sdc", "sde")}, "its members are sda, sdb, sdc and sdd"),
        (
            {"devices": ("sda", "sdb"), "layout": ""},
            "it has 4 slots and its members are sda, sdb, sdc and sdd",
        ),
        ({"chunk_kib": 64}, "its chunk is 32 KiB"),
        ({"layout": "f2"}, "its layout is another one"),
        ({"bitmap": "internal"}, "it has no bitmap"),
        ({"metadata": "1.0"}, "its metadata is 1.2"),
        ({"spares": ("sde",)}, "its spares are none"),
        ({"size_kib": 1024}, "it uses 220200960 KiB of each member"),
    ],
)
def test_a_new_array_that_differs(asked: dict[str, Any], words: str) -> None:
    assert differs(made(), **asked) == words


def test_a_new_array_whose_member_has_failed_or_left() -> None:
    assert "sdb has failed, or left" in differs(made(raid10(failed=("sdb",))))
    assert "sdb has failed, or left" in differs(made(raid10(pulled=("sdb",))))


def test_a_new_array_without_its_line() -> None:
    assert differs(host(raid10())) == "it has no line in mdadm.conf"


def test_what_stands_on_a_new_array() -> None:
    survey = made()
    on_top = replace(request().on_top, file_system="ext4", mount="/srv")
    assert differs(survey, on_top=on_top) == "no ext4 of it is mounted at /srv"
    disk = survey.snapshot.disks.get("md127") or device("md127").disk
    mounted = replace(disk, uses=(Use(kind="mount", what="/srv", detail="ext4"),))
    there = replace(
        survey, snapshot=replace(survey.snapshot, disks={**survey.snapshot.disks, "md127": mounted})
    )
    assert said(created(there, on_top=on_top))
    assert differs(there, on_top=replace(on_top, group="vg")) == "what LVM has on it is not compared"


def test_members() -> None:
    survey = host(raid10(failed=("sdb",), spares=("sdp",)), devices=(device("sdz"),))
    array = first(survey)
    assert said(added_already(array, "sdp")) == "sdp is spare in data"
    parts = first(host(raid1(members=("sde1", "sdf1"))))
    assert said(added_already(parts, "sdf")) == "sdf is in_sync in root"  # it was partitioned for that
    assert added_already(array, "sdb") is None
    assert added_already(array, "sdz") is None
    assert said(removed_already(survey, array, "sdz")) == "sdz is no member of data"
    assert removed_already(survey, array, "sdb") is None
    assert removed_already(survey, array, "nosuch") is None
    assert added_already(first(host(raid10(pulled=("sda",)))), "sda") is None


def test_a_replacement() -> None:
    array = first(host(raid1(members=("sda", "sdc"), failed=("sdb",))))
    assert (
        said(replaced_already(array, "sdb", "sdc")) == f"sdc is in service in {array.title}, and sdb is not"
    )
    assert said(replaced_already(array, "gone", "sdc"))
    assert replaced_already(array, "sda", "sdc") is None
    assert replaced_already(array, "sdb", "sdz") is None


def test_slots_and_journals() -> None:
    array = first(host(raid10()))
    assert said(grown_already(array, ("sdd",), 0)) == "data has 4 slots, and sdd is in them"
    assert grown_already(array, ("sdd",), 5) is None
    assert grown_already(array, ("sdz",), 0) is None
    assert grown_already(array, (), 0) is None
    logged = first(host(raid5(journal="sdj")))
    assert said(journal_already(logged, "sdj")) == f"sdj is the journal of {logged.title}"
    assert journal_already(logged, "sdk") is None
    assert journal_already(logged, "") is None


def test_what_runs_and_what_does_not() -> None:
    survey = host(raid10(), devices=(device("sdx", superblock=former()), device("sdz")))
    assert said(assembled_already(survey, MEMBERS, read_only=False))
    assert assembled_already(survey, MEMBERS, read_only=True) is None
    assert assembled_already(survey, ("sda", "sdx"), read_only=False) is None
    assert said(stopped_already(survey, "old")) == "old does not run: sdx is its member"
    assert stopped_already(survey, "data") is None
    assert stopped_already(replace(survey, pending=frozenset({"sdy"})), "old") is None
    assert said(zeroed_already(survey, "sdz")) == "sdz has no md superblock"
    assert zeroed_already(survey, "sdx") is None
    assert zeroed_already(survey, "nosuch") is None
    assert zeroed_already(replace(survey, mdadm=NOT_ASKED), "sdz") is None
