"""What is so already, and what only looks so: members that have failed, left, or are another array's."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Refusal
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
from tests.plans.goldens import accepted
from tests.plans.new_array import device, request
from tests.plans.running import first, former, host

CONF = "/etc/mdadm/mdadm.conf"
MEMBERS = ("sda", "sdb", "sdc", "sdd")


def made(array: ArraySpec | None = None, **more: Any) -> Survey:
    spec = array or raid10()
    return host(spec, texts={CONF: f"ARRAY /dev/md/data UUID={spec.array_uuid}\n"}, **more)


def created(survey: Survey | None = None, **more: Any) -> Refusal | None:
    asked = request(**{"name": "data", "devices": MEMBERS, **more})
    return created_already(asked, survey or made())


def mounted() -> Survey:
    """The new array, whose ext4 is mounted at /srv."""
    survey = made()
    disk = survey.snapshot.disks.get("md127") or device("md127").disk
    disks = {**survey.snapshot.disks, "md127": replace(disk, uses=(SRV,))}
    return replace(survey, snapshot=replace(survey.snapshot, disks=disks))


SRV = Use(kind="mount", what="/srv", detail="ext4")
ON_TOP = replace(request().on_top, file_system="ext4", mount="/srv")
DIFFERS: dict[str, dict[str, Any]] = {
    "level": {"level": "raid5", "layout": ""},
    "a member": {"devices": ("sda", "sdb", "sdc", "sde")},
    "slots and members": {"devices": ("sda", "sdb"), "layout": ""},
    "chunk": {"chunk_kib": 64},
    "layout": {"layout": "f2"},
    "bitmap": {"bitmap": "internal"},
    "metadata": {"metadata": "1.0"},
    "spares": {"spares": ("sde",)},
    "size": {"size_kib": 1024},
    "nothing is mounted": {"on_top": ON_TOP},
}
LIVE = host(raid10(failed=("sdb",), spares=("sdp",)), devices=(device("sdz"),))
ARRAY = first(LIVE)
MIRROR = first(host(raid1(members=("sda", "sdc"), failed=("sdb",))))
PARTITIONED = first(host(raid1(members=("sde1", "sdf1"))))
WHOLE = first(host(raid10()))
LOGGED = first(host(raid5(journal="sdj")))
AT_REST = host(raid10(), devices=(device("sdx", superblock=former()), device("sdz")))

test_answers = accepted(
    {
        "created": created,
        "created, in another order": lambda: created(
            devices=("sdd", "sda", "sdc", "sdb"), bitmap="none", layout="n2"
        ),
        "created, with a spare since": lambda: created(made(raid10(spares=("sde",)))),
        "created, with another spare": lambda: created(made(raid10(spares=("sde", "sdf"))), spares=("sdf",)),
        "created, and mounted": lambda: created(mounted(), on_top=ON_TOP),
        **{f"created, differs: {name}": lambda more=more: created(**more) for name, more in DIFFERS.items()},
        "created, differs: a member failed": lambda: created(made(raid10(failed=("sdb",)))),
        "created, differs: a member left": lambda: created(made(raid10(pulled=("sdb",)))),
        "created, differs: no line": lambda: created(host(raid10())),
        "created, differs: LVM": lambda: created(mounted(), on_top=replace(ON_TOP, group="vg")),
        "added": lambda: added_already(ARRAY, "sdp"),
        "added, as a partition": lambda: added_already(PARTITIONED, "sdf"),
        "removed": lambda: removed_already(LIVE, ARRAY, "sdz"),
        "replaced": lambda: replaced_already(MIRROR, "sdb", "sdc"),
        "replaced, and gone": lambda: replaced_already(MIRROR, "gone", "sdc"),
        "grown": lambda: grown_already(WHOLE, ("sdd",), 0),
        "journal": lambda: journal_already(LOGGED, "sdj"),
        "assembled": lambda: assembled_already(AT_REST, MEMBERS, read_only=False),
        "stopped": lambda: stopped_already(AT_REST, "old"),
        "zeroed": lambda: zeroed_already(AT_REST, "sdz"),
    }
)


@pytest.mark.parametrize(
    "found",
    [
        created(name="other"),
        created(host()),
        added_already(ARRAY, "sdb"),
        added_already(ARRAY, "sdz"),
        added_already(first(host(raid10(pulled=("sda",)))), "sda"),
        removed_already(LIVE, ARRAY, "sdb"),
        removed_already(LIVE, ARRAY, "nosuch"),
        replaced_already(MIRROR, "sda", "sdc"),
        replaced_already(MIRROR, "sdb", "sdz"),
        grown_already(WHOLE, ("sdd",), 5),
        grown_already(WHOLE, ("sdz",), 0),
        grown_already(WHOLE, (), 0),
        journal_already(LOGGED, "sdk"),
        journal_already(LOGGED, ""),
        assembled_already(AT_REST, MEMBERS, read_only=True),
        assembled_already(AT_REST, ("sda", "sdx"), read_only=False),
        stopped_already(AT_REST, "data"),
        stopped_already(replace(AT_REST, pending=frozenset({"sdy"})), "old"),
        zeroed_already(AT_REST, "sdx"),
        zeroed_already(AT_REST, "nosuch"),
        zeroed_already(replace(AT_REST, mdadm=NOT_ASKED), "sdz"),
    ],
)
def test_what_is_not_so_yet(found: Refusal | None) -> None:
    assert found is None
