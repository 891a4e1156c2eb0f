"""Plans for arrays of which a disk left the machine, which md has not noticed."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.plan import Plan, Refusal, Step
from raidtui.plans.leave import plan_fail, plan_remove
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.rename import plan_rename
from raidtui.plans.repair import plan_replace
from raidtui.plans.stop import plan_stop
from raidtui.plans.sync import plan_check
from tests.hosts.specs import ArraySpec, raid0, raid1, raid5, raid6
from tests.plans.goldens import accepted, commands
from tests.plans.new_array import device
from tests.plans.running import BIG, first, host, planned, was

LEFT = raid1(pulled=("sdf",))
WAITS = host(LEFT, devices=(device("sdz", size_bytes=BIG),))


def fail(array: ArraySpec, name: str) -> Plan | Refusal:
    survey = host(array)
    return plan_fail(survey, first(survey), name)


def remove(array: ArraySpec, name: str) -> Plan | Refusal:
    survey = host(array)
    return plan_remove(survey, first(survey), name)


def back(array: ArraySpec) -> Plan | Refusal:
    """The second member was pulled and is pushed back: its superblock has that slot."""
    array = replace(array, bitmap=(1, 8))
    found = was(array)
    assert found.superblock is not None
    found = replace(found, superblock=replace(found.superblock, slot=1))
    survey = host(array, devices=(found,))
    return plan_re_add(survey, first(survey), "sdz")


def started_again(array: ArraySpec) -> tuple[Step, ...]:
    survey = host(array)
    return planned(plan_stop(survey, first(survey))).undo


test_plans = accepted(
    {
        # Its node under /dev is gone; mdadm finds the name in md's sysfs.
        "fail": lambda: fail(LEFT, "sdf"),
        "remove": lambda: remove(raid1(failed=("sdf",), pulled=("sdf",)), "sdf"),
        # Md keeps its number until it is let go, under the name that is gone, and takes no disk with it.
        "re-add: what left is let go before": lambda: back(LEFT),
        "re-add: what left and failed is let go before": lambda: back(
            raid1(failed=("sdf",), pulled=("sdf",))
        ),
        "start again, without it": lambda: started_again(LEFT),
        "start again, whole": lambda: started_again(replace(LEFT, pulled=())),
    }
)
test_commands = accepted(
    {
        # Slot 0 is not what was pushed back; md has not noticed that it left, either.
        "re-add: another one that left stays": lambda: back(
            raid6(members=("sda", "sdb", "sdc", "sdd"), pulled=("sda", "sdb"))
        ),
        "fail: a name with a slash": lambda: fail(
            raid1(members=("cciss/c0d0", "cciss/c0d1"), pulled=("cciss/c0d1",)), "cciss/c0d1"
        ),
        "fail: a journal": lambda: fail(raid5(journal="sdn", pulled=("sdn",)), "sdn"),
        "fail: one more of a raid6": lambda: fail(raid6(pulled=("sdj",)), "sdk"),
        "remove: a spare": lambda: remove(raid5(spares=("sdn",), pulled=("sdn",)), "sdn"),
    },
    commands,
)
test_refused = accepted(
    {
        "refused: re-add, the last one would be failed": lambda: back(
            raid1(failed=("sde",), pulled=("sdf",))
        ),
        "refused: fail the last copy": lambda: fail(LEFT, "sde"),
        "refused: fail the last copy of a raid6": lambda: fail(raid6(pulled=("sdj", "sdl")), "sdk"),
        "refused: fail, too few are there": lambda: fail(raid5(pulled=("sdg", "sdi")), "sdg"),
        "refused: fail of a raid0": lambda: fail(raid0(pulled=("sdo",)), "sdo"),
        "refused: remove before it is failed": lambda: plan_remove(WAITS, first(WAITS), "sdf"),
        "refused: rename before it is failed": lambda: plan_rename(WAITS, first(WAITS), "new"),
        "refused: replace before it is failed": lambda: plan_replace(WAITS, first(WAITS), "sde", "sdz"),
        "refused: check before it is failed": lambda: plan_check(WAITS.snapshot, first(WAITS).key),
    }
)
