"""Check, cancel, pause, resume: every plan whole, every refusal whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from raidtui.model.array_sync import Stale
from raidtui.model.plan import Harm, Plan, Refusal, Step, Write
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

MD = "/sys/class/block/md127/md"
CHECK = Syncing(action="check", done_kib=4096, speed_kib_s=100_000)
RESYNC = Syncing(action="resync", done_kib=4096, speed_kib_s=100_000)
RECOVER = Syncing(action="recover", done_kib=4096, speed_kib_s=100_000)
DEGRADED = raid10(rebuilding=("sdb",), sync=RECOVER)

Plans = Callable[[Snapshot, str | None], Plan | Refusal]


def plan(make: Plans, array: ArraySpec, *, writable: bool = True) -> Plan | Refusal:
    """What is planned for the only array."""
    snapshot = Kernel(array, writable=writable).sampler().sample()
    return make(snapshot, snapshot.arrays[0].key)


def step(attribute: str, text: str, why: str) -> Step:
    """A write to the array, bound to it."""
    return Write(path=f"{MD}/{attribute}", text=text, why=why, identity=(f"{MD}/uuid", raid10().array_uuid))


ANEW = step("sync_min", "0", "so that the next one starts from the beginning")


END = (step("sync_action", "idle", "cancel the check"), ANEW)


@pytest.mark.parametrize(
    ("array", "what", "notes"),
    [
        (
            raid10(attributes={"mismatch_cnt": "128", "last_sync_action": "check"}),
            "the first copy overwrites the others",
            (
                (
                    "Look at them first: raidtui rescue mismatches md127 says where they are, which member"
                    " disagrees where that can be known, and which file lies there. It writes nothing."
                ),
                "The last check found 128 mismatched sectors; not known whether it was complete.",
                (
                    "On a mirror, mismatches are often harmless: swap, or pages that changed while they were"
                    " written."
                ),
            ),
        ),
        (
            raid5(attributes={"last_sync_action": "resync"}),
            "parity is recomputed from the data",
            (
                "No check has counted the mismatches yet: run a check first, which writes nothing.",
                "Data that are wrong stay wrong then, and nothing shows it any more.",
            ),
        ),
    ],
)
def test_repair(array: ArraySpec, what: str, notes: tuple[str, ...]) -> None:
    """It is asked for by the array's name: md cannot know which copy is the right one."""
    found = plan(plan_repair, array)
    assert isinstance(found, Plan)
    wrote = found.steps[0]
    assert (wrote.text, wrote.why) == ("repair", f"where members do not match, {what}")
    assert wrote.destroys
    assert [each.text for each in wrote.undo] == ["idle", "0"]
    assert replace(found, steps=(), undo=()) == Plan(
        title="repair started",
        subject=array.label,
        steps=(),
        harm=Harm.DESTROYS,
        warning=f"Where members do not match, {what}. md cannot know which copy is right.",
        notes=notes,
        confirm=array.label,
        devices=tuple(name for name in array.members if name),
        arrays=(array.name,),
    )
    assert found.undo == wrote.undo


def test_check() -> None:
    expected = Plan(
        title="check started",
        subject="data",
        steps=(replace(step("sync_action", "check", "read all members and compare"), undo=END),),
        undo=END,
    )
    assert plan(plan_check, raid10()) == expected
    first = step("sync_min", "0", "from the start, not where the last one stopped")
    assert plan(plan_check, raid10(sync_min=8192)) == replace(expected, steps=(first, *expected.steps))


@pytest.mark.parametrize("action", ["check", "repair"])
def test_cancel_and_pause_of_a_check(action: str) -> None:
    array = raid10(sync=replace(CHECK, action=action))
    assert plan(plan_cancel, array) == Plan(
        title=f"{action} cancelled",
        subject="data",
        steps=(step("sync_action", "idle", f"end the {action}"), ANEW),
    )
    assert plan(plan_pause, array) == Plan(
        title=f"{action} paused",
        subject="data",
        steps=(step("sync_action", "idle", "sync_min keeps the position, to a sixteenth"),),
        undo=(step("sync_action", action, "continue from there"),),
    )


def test_pause_of_a_resync_is_frozen_and_asked() -> None:
    assert plan(plan_pause, raid10(sync=RESYNC)) == Plan(
        title="resync paused",
        subject="data",
        steps=(step("sync_action", "frozen", "idle would restart it at once"),),
        undo=(step("sync_action", "idle", "resume it"),),
        harm=Harm.REDUCES,
        warning="While it is frozen, no failed member is rebuilt. It is frozen until you resume it.",
    )


PENDING = Syncing(action="resync", waiting="PENDING")


def test_the_pause_of_what_is_pending_says_what_else_it_changes() -> None:
    """A write to sync_action makes an auto-read-only array writable (drivers/md/md.c, action_store)."""
    found = plan(plan_pause, raid10(read_only="auto-read-only", sync=PENDING, resync_start="0"))
    assert isinstance(found, Plan)
    assert found.steps == (step("sync_action", "frozen", "it does not begin with the first write"),)
    assert found.undo == (step("array_state", "read-auto", "auto-read-only as before, and not frozen"),)
    assert found.harm is Harm.REDUCES
    assert found.warning.startswith("This also makes data writable: md ends auto-read-only with it.")


def test_what_does_not_begin_is_not_paused() -> None:
    refusal = plan(plan_pause, raid10(read_only="read-only", sync=PENDING, resync_start="0"))
    assert isinstance(refusal, Refusal)
    assert refusal.why == "the resync does not begin while data is read-only"
    assert refusal.remedy == "leave it as it is; raidtui plan read-write data lets it begin"


def test_pause_of_a_recovery_says_what_it_leaves() -> None:
    found = plan(plan_pause, DEGRADED)
    assert isinstance(found, Plan)
    assert found.title == "recover paused"
    assert found.harm is Harm.REDUCES
    assert found.warning == (
        "While it is frozen, no failed member is rebuilt. The array stays degraded until then."
        " It is frozen until you resume it."
    )


def test_a_raid0_that_gets_devices_is_not_paused() -> None:
    """Mdadm takes that for the end of the reshape, fails the new members, and the array is broken."""
    found = plan(plan_pause, growing_raid0())
    assert isinstance(found, Refusal)
    assert found.sentence == (
        "scratch is a RAID 0 that gets more devices: mdadm takes a pause for the end, and fails the new"
        " members; lower its speed limit, or wait until it has ended"
    )


def test_a_raid0_that_mdadm_does_not_wait_for_is_paused() -> None:
    """A plan that adds devices ends mdadm's process: nothing takes the pause for the end then."""
    snapshot = Kernel(growing_raid0()).sampler().sample()
    (array,) = snapshot.arrays
    assert array.reshape is not None
    free = replace(array, reshape=replace(array.reshape, attended=False))
    assert isinstance(plan_pause(replace(snapshot, arrays=(free,)), free.key), Plan)
    held = replace(array, reshape=replace(array.reshape, attended=True))
    assert isinstance(plan_pause(replace(snapshot, arrays=(held,)), held.key), Refusal)


def test_resume() -> None:
    assert plan(plan_resume, raid10(frozen=True)) == Plan(
        title="resumed",
        subject="data",
        steps=(step("sync_action", "idle", "pending work starts by itself"),),
        undo=(step("sync_action", "frozen", "freeze it again"),),
    )
    assert plan(plan_resume, raid10(sync_min=8192)) == Plan(
        title="check resumed where it was paused",
        subject="data",
        steps=(step("sync_action", "check", "from sector 8192 on"),),
        undo=(step("sync_action", "idle", "pause it again"),),
    )


def test_what_the_pause_key_means() -> None:
    for array, paused in ((raid10(), False), (raid10(frozen=True), True), (raid10(sync_min=8), True)):
        assert is_paused(Kernel(array).sampler().sample().arrays[0]) is paused
    assert not is_paused(Kernel(raid10(sync_min=8, sync=CHECK)).sampler().sample().arrays[0])


@pytest.mark.parametrize(
    ("make", "array", "sentence"),
    [
        (plan_check, raid10(sync=RESYNC), "a resync is already in progress; wait until it has ended"),
        (plan_check, raid10(sync=CHECK), "a check is already in progress; wait for it, or cancel it (x)"),
        (plan_check, raid10(frozen=True), "data is frozen; resume it first (p)"),
        (plan_check, raid10(failed=("sda",)), "a check needs all members; replace the missing member first"),
        (plan_check, raid10(read_only="read-only"), "data is read-only; mdadm --readwrite /dev/md127"),
        (plan_cancel, raid10(), "no check is running"),
        (plan_cancel, raid10(sync=RESYNC), "a resync cannot be cancelled; p pauses it"),
        (plan_pause, raid10(), "nothing is running that could be paused"),
        (plan_pause, raid10(frozen=True), "data is already frozen; p resumes it"),
        (plan_resume, raid10(), "data is not paused"),
    ],
)
def test_refused(make: Plans, array: ArraySpec, sentence: str) -> None:
    found = plan(make, array)
    assert isinstance(found, Refusal)
    assert found.sentence == sentence


@pytest.mark.parametrize("make", [plan_check, plan_cancel, plan_pause, plan_resume])
def test_refused_whatever_is_asked(make: Plans) -> None:
    snapshot = Kernel(raid10()).sampler().sample()
    stale = Stale(since_s=1.0, reason="its lines cannot be read")
    unread = replace(snapshot, arrays=(replace(snapshot.arrays[0], stale=stale),))
    capture = replace(snapshot, host=replace(snapshot.host, is_root=False, source="bug.tar.gz"))
    said = {
        "no array is selected": make(snapshot, None),
        "the array is gone": make(snapshot, "another"),
        "needs root; run it as: sudo raidtui": plan(make, raid10(), writable=False),
        "bug.tar.gz is a capture: nothing in it can be changed": make(capture, snapshot.arrays[0].key),
        "md125 is inactive; start it first": plan(make, inactive(raid5())),
        "raid0 has no redundancy: there is nothing to sync or check": plan(make, raid0()),
        "data cannot be read now: its lines cannot be read": make(unread, snapshot.arrays[0].key),
    }
    for sentence, refusal in said.items():
        assert isinstance(refusal, Refusal)
        assert refusal.sentence == sentence
