"""Speed limits: plans and refusals."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot, SystemLimits
from raidtui.plans.sync_speed import HIGHEST_KIB_S, plan_give_back, plan_limits
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, container, inactive, raid0, raid1, raid5, raid10
from tests.plans.goldens import accepted


def snapshot(*arrays: ArraySpec, writable: bool = True, **more: object) -> Snapshot:
    """What a host with these arrays samples to."""
    return Kernel(*arrays, writable=writable, **more).sampler().sample()


def limits(array: ArraySpec, low: int = 1, high: int = 2, **more: Any) -> Plan | Refusal:
    """The answer for the only array."""
    found = snapshot(array, **more)
    return plan_limits(found, found.arrays[0].key, low, high)


def given_back(array: ArraySpec, **more: Any) -> Plan | Refusal:
    found = snapshot(array, **more)
    return plan_give_back(found, found.arrays[0].key)


def systems(low: int, high: int, **more: Any) -> Plan | Refusal:
    return plan_limits(replace(snapshot(raid10()), **more), None, low, high)


def of_either(values: tuple[int, int]) -> Plan | Refusal:
    """The answer, which is the same for the array and for the system."""
    found = limits(raid10(), *values)
    assert found == systems(*values)
    return found


def in_a_capture() -> Plan | Refusal:
    found = snapshot(raid10(), writable=False)
    return plan_limits(replace(found, host=replace(found.host, source="bug.tar.gz")), None, 1, 2)


test_plans = accepted(
    {
        "max of an array that follows the system": lambda: limits(raid10(), 1000, 488_281),
        "min of an array with limits of its own": lambda: limits(
            raid10(limits=(195_313, 488_281)), 97_656, 488_281
        ),
        # Max first, undone in reverse: min is never above max.
        "both upwards": lambda: limits(raid10(limits=(1000, 2000)), 3000, 4000),
        "both downwards": lambda: limits(raid10(limits=(3000, 4000)), 1000, 2000),
        "max of the system": lambda: systems(1000, 488_281),
        "both of the system": lambda: systems(300_000, 400_000),
        "given back, both": lambda: given_back(raid10(limits=(1000, 488_281))),
        "given back, max": lambda: given_back(raid10(limits=(None, 488_281))),
    }
)
test_refused_values = accepted(
    {
        "value: min 0": (0, 10),
        "value: min negative": (-5, 10),
        "value: max 0": (1, 0),
        "value: max too high": (1, HIGHEST_KIB_S + 1),
        "value: min above max": (300_000, 200_000),
        "value: as now": (1000, 200_000),
    },
    of_either,
)
test_refused = accepted(
    {
        "refused: not root": lambda: limits(raid10(), writable=False),
        "refused: give back, not root": lambda: given_back(raid10(), writable=False),
        "refused: a capture": in_a_capture,
        "refused: gone": lambda: plan_limits(snapshot(raid0(), raid1("md1")), "gone", 1, 2),
        "refused: give back, gone": lambda: plan_give_back(snapshot(raid0(), raid1("md1")), "gone"),
        "refused: raid0": lambda: limits(raid0()),
        "refused: give back, raid0": lambda: given_back(raid0()),
        "refused: a container": lambda: limits(container()),
        "refused: inactive": lambda: limits(inactive(raid5())),
        "refused: no limits": lambda: limits(raid10(), sysfs=False),
        "refused: give back, it follows the system": lambda: given_back(raid10()),
        "refused: no limits of the system": lambda: systems(
            1, 2, limits=SystemLimits(min_kib_s=None, max_kib_s=None)
        ),
    }
)
