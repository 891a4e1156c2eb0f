"""Check, cancel, pause, resume: plans and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.array_sync import Stale
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.plans.sync import (
    is_paused,
    plan_cancel,
    plan_check,
    plan_pause,
    plan_repair,
    plan_resume,
)
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, Syncing, growing_raid0, inactive, raid0, raid5, raid10
from tests.plans.goldens import accepted

CHECK = Syncing(action="check", done_kib=4096, speed_kib_s=100_000)
RESYNC = Syncing(action="resync", done_kib=4096, speed_kib_s=100_000)
RECOVER = Syncing(action="recover", done_kib=4096, speed_kib_s=100_000)
PENDING = Syncing(action="resync", waiting="PENDING")
CHECKED, REPAIRED = raid10(sync=CHECK), raid10(sync=replace(CHECK, action="repair"))
WAITS = raid10(read_only="auto-read-only", sync=PENDING, resync_start="0")

Plans = Callable[[Snapshot, str | None], Plan | Refusal]
KINDS: tuple[Plans, ...] = (plan_check, plan_cancel, plan_pause, plan_resume)


def plan(make: Plans, array: ArraySpec, *, writable: bool = True) -> Plan | Refusal:
    """What is planned for the only array."""
    snapshot = Kernel(array, writable=writable).sampler().sample()
    return make(snapshot, snapshot.arrays[0].key)


test_plans = accepted(
    {
        "check": lambda: plan(plan_check, raid10()),
        "check: from the start": lambda: plan(plan_check, raid10(sync_min=8192)),
        # It is asked for by the array's name: md cannot know which copy is the right one.
        "repair: a mirror with mismatches": lambda: plan(
            plan_repair, raid10(attributes={"mismatch_cnt": "128", "last_sync_action": "check"})
        ),
        "repair: parity, never checked": lambda: plan(
            plan_repair, raid5(attributes={"last_sync_action": "resync"})
        ),
        "cancel: a check": lambda: plan(plan_cancel, CHECKED),
        "cancel: a repair": lambda: plan(plan_cancel, REPAIRED),
        "pause: a check": lambda: plan(plan_pause, CHECKED),
        "pause: a repair": lambda: plan(plan_pause, REPAIRED),
        "pause: a resync": lambda: plan(plan_pause, raid10(sync=RESYNC)),
        # It says what it leaves.
        "pause: a recovery": lambda: plan(plan_pause, raid10(rebuilding=("sdb",), sync=RECOVER)),
        # A write to sync_action makes an auto-read-only array writable (drivers/md/md.c, action_store).
        "pause: a resync that is pending": lambda: plan(plan_pause, WAITS),
        "resume: what is frozen": lambda: plan(plan_resume, raid10(frozen=True)),
        "resume: a check": lambda: plan(plan_resume, raid10(sync_min=8192)),
    }
)
test_refused = accepted(
    {
        "check: refused in a resync": lambda: plan(plan_check, raid10(sync=RESYNC)),
        "check: refused in a check": lambda: plan(plan_check, CHECKED),
        "check: refused, frozen": lambda: plan(plan_check, raid10(frozen=True)),
        "check: refused, a member is missing": lambda: plan(plan_check, raid10(failed=("sda",))),
        "check: refused, read-only": lambda: plan(plan_check, raid10(read_only="read-only")),
        "cancel: refused, nothing runs": lambda: plan(plan_cancel, raid10()),
        "cancel: refused, a resync": lambda: plan(plan_cancel, raid10(sync=RESYNC)),
        "pause: refused, nothing runs": lambda: plan(plan_pause, raid10()),
        "pause: refused, frozen": lambda: plan(plan_pause, raid10(frozen=True)),
        "pause: refused, it does not begin": lambda: plan(
            plan_pause, raid10(read_only="read-only", sync=PENDING, resync_start="0")
        ),
        # Mdadm takes that for the end of the reshape, fails the new members, and the array is broken.
        "pause: refused, a raid0 that gets devices": lambda: plan(plan_pause, growing_raid0()),
        "resume: refused, it is not paused": lambda: plan(plan_resume, raid10()),
    }
)


def whatever(case: tuple[ArraySpec, dict[str, Any]]) -> Plan | Refusal:
    """The answer, which is the same whatever is asked."""
    array, seen = case[0], dict(case[1])
    snapshot = Kernel(array, writable=seen.pop("writable", True)).sampler().sample()
    key = seen.pop("key", snapshot.arrays[0].key)
    host = replace(snapshot.host, **seen.pop("host", {}))
    arrays = (replace(snapshot.arrays[0], **seen),)
    found, *others = (make(replace(snapshot, host=host, arrays=arrays), key) for make in KINDS)
    assert all(each == found for each in others)
    return found


test_refused_whatever_is_asked = accepted(
    {
        "refused: no array is selected": (raid10(), {"key": None}),
        "refused: the array is gone": (raid10(), {"key": "another"}),
        "refused: not root": (raid10(), {"writable": False}),
        "refused: a capture": (raid10(), {"host": {"is_root": False, "source": "bug.tar.gz"}}),
        "refused: inactive": (inactive(raid5()), {}),
        "refused: raid0": (raid0(), {}),
        "refused: it cannot be read": (
            raid10(),
            {"stale": Stale(since_s=1.0, reason="its lines cannot be read")},
        ),
    },
    whatever,
)


@pytest.mark.parametrize("attended", [False, True])
def test_a_raid0_that_mdadm_does_not_wait_for_is_paused(*, attended: bool) -> None:
    """A plan that adds devices ends mdadm's process: nothing takes the pause for the end then."""
    snapshot = Kernel(growing_raid0()).sampler().sample()
    (array,) = snapshot.arrays
    assert array.reshape is not None
    array = replace(array, reshape=replace(array.reshape, attended=attended))
    assert isinstance(plan_pause(replace(snapshot, arrays=(array,)), array.key), Refusal) is attended


def test_what_the_pause_key_means() -> None:
    for array, paused in ((raid10(), False), (raid10(frozen=True), True), (raid10(sync_min=8), True)):
        assert is_paused(Kernel(array).sampler().sample().arrays[0]) is paused
    assert not is_paused(Kernel(raid10(sync_min=8, sync=CHECK)).sampler().sample().arrays[0])
