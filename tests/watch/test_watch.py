"""What the screen and the command line share: reports, events, what was changed and is put back."""

from __future__ import annotations

import errno

import pytest
from msgspec.structs import replace

from raidtui.model.finding import Health
from raidtui.model.plan import Plan, Refusal
from raidtui.monitor.kernel_watch import Uevent
from raidtui.monitor.sampler import Sampler
from raidtui.plans.sync import plan_check, plan_pause
from raidtui.plans.sync_speed import plan_give_back, plan_limits
from raidtui.watch.watch import HostWatch, Report, limit_path
from tests.hosts.kernel import Kernel, ends
from tests.hosts.specs import Syncing, mdstat_text, raid1, raid5, raid10

RESYNC = Syncing(action="resync", done_kib=238_697_472, speed_kib_s=400_000)
ARRAY = raid10(sync=RESYNC, limits=(195_313, 488_281))
SYSTEM_MAX = "/proc/sys/dev/raid/speed_limit_max"
MIN, MAX = "md127/sync_speed_min", "md127/sync_speed_max"


def console_of(kernel: Kernel) -> HostWatch:
    """A console by the kernel's own clock."""
    console = HostWatch(kernel)
    console.sampler = Sampler(kernel, clock=kernel.clock)
    return console


def limit(console: HostWatch, low: int, high: int, *, system: bool = False) -> None:
    """Set limits."""
    snapshot = console.refresh().snapshot
    plan = plan_limits(snapshot, None if system else snapshot.arrays[0].key, low, high)
    assert isinstance(plan, Plan)
    assert console.execute(plan).failed is None


def restoring(console: HostWatch) -> list[tuple[str, str]]:
    """What leaving would write."""
    plan = console.left_changed()
    return [] if plan is None else ends([(step.path, step.text) for step in plan.steps])


def texts(report: Report) -> list[str]:
    """Subject and text of the new events."""
    return [f"{event.subject}: {event.text}" for event in report.new_events]


def test_a_report() -> None:
    kernel = Kernel(ARRAY, raid1(failed=("sdf",)))
    report = console_of(kernel).refresh()
    data, root = report.snapshot.arrays
    assert report.healths == {data.key: Health.OPTIMAL, root.key: Health.DEGRADED}
    assert report.estimates[data.key].speed_kib_s == 400_000
    assert report.brakes == {}
    assert report.next_s == 1.0
    assert report.exit_status == 1
    assert [finding.code for finding in report.of(root)] == ["degraded"]
    assert report.of(data) == ()


def test_rest_is_looked_at_seldom() -> None:
    assert console_of(Kernel(raid10())).refresh().next_s == 5.0


def test_events_are_reported_once() -> None:
    kernel = Kernel(raid10(), raid1())
    console = console_of(kernel)
    assert texts(console.refresh()) == ["data: optimal", "root: optimal"]
    assert texts(console.refresh()) == []
    kernel.change(raid10(failed=("sdb",)), raid1())
    reported = texts(console.refresh())
    assert reported[0] == "data: member sdb failed"
    assert texts(console.refresh()) == []
    assert [f"{event.subject}: {event.text}" for event in console.events][2:] == reported


def test_an_array_that_is_being_stopped_is_not_optimal_meanwhile() -> None:
    """Its files go one by one, and with them what was found."""
    kernel = Kernel(raid5(mismatches=128, last_sync_action="check"))
    console = console_of(kernel)
    assert texts(console.refresh()) == [
        "media: attention: the last check found 128 mismatched sectors; not known whether it was complete"
    ]
    for attribute in ("mismatch_cnt", "sync_action", "degraded"):
        kernel.drop(f"/sys/class/block/md125/md/{attribute}")
    kernel.put("/sys/class/block/md125/md/array_state", "clear\n")
    kernel.passed_s += 0.01
    assert texts(console.refresh()) == []
    kernel.drop("/sys/class/block/md125/")
    assert texts(console.refresh()) == []
    kernel.put("/proc/mdstat", mdstat_text())
    assert texts(console.refresh()) == ["media: stopped"]


def test_speeds_come_from_two_samples() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    console.refresh()
    moved = Syncing(action="resync", done_kib=RESYNC.done_kib + 300_000, speed_kib_s=400_000)
    kernel.change(raid10(sync=moved, limits=(195_313, 488_281)))
    report = console.refresh()
    key = report.snapshot.arrays[0].key
    assert [speed for _, speed in report.speeds[key]] == [300_000]


def test_uevents() -> None:
    console = console_of(Kernel(raid10()))
    console.refresh()
    console.take_uevents(
        (
            Uevent(action="add", name="sdx"),
            Uevent(action="remove", name="sda"),
            Uevent(action="change", name="sdb"),
            Uevent(action="add", name="loop0"),
            Uevent(action="remove", name="md127"),
            Uevent(action="overflow", name=""),
        )
    )
    assert texts(console.refresh()) == ["sdx: plugged in", "sda: is gone"]


def test_what_we_did_is_an_event() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    limit(console, 195_313, 878_906)
    assert texts(console.refresh()) == [
        "you: data: max 500 MB/s → 900 MB/s (this array)",
        "data: max limit 500 MB/s → 900 MB/s (this array)",
    ]
    kernel.refuses["sync_speed_max"] = errno.EBUSY
    snapshot = console.refresh().snapshot
    plan = plan_limits(snapshot, snapshot.arrays[0].key, 195_313, 488_281)
    assert isinstance(plan, Plan)
    console.execute(plan)
    assert texts(console.refresh())[0].startswith("you: data: not done: the kernel is busy")


def test_undo_is_a_stack() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    for high in (585_938, 683_594):
        limit(console, 195_313, high)
    kernel.writes.clear()
    while (plan := console.take_undo()) is not None:
        console.execute(plan, is_undo=True)
    assert ends(kernel.writes) == [(MAX, "585938"), (MAX, "488281")]
    assert console.left_changed() is None


def test_nothing_left_changed() -> None:
    console = console_of(Kernel(ARRAY))
    console.refresh()
    assert console.left_changed() is None


def test_the_first_value_is_what_is_restored() -> None:
    console = console_of(Kernel(ARRAY))
    for high in (585_938, 683_594, 390_625):
        limit(console, 195_313, high)
    assert restoring(console) == [(MAX, "488281")]
    limit(console, 195_313, 488_281)
    assert restoring(console) == []


def test_the_systems_limits_are_restored_as_the_systems() -> None:
    kernel = Kernel(raid10())
    console = console_of(kernel)
    limit(console, 1000, 400_000)
    assert restoring(console) == [(MAX, "system")]
    plan = console.left_changed()
    assert plan is not None
    assert plan.title == "restored what this session changed"
    console.execute(plan, is_undo=True)
    assert kernel.arrays["md127"].limits == (None, None)
    assert console.left_changed() is None


def test_a_given_back_limit_gets_its_number_again() -> None:
    console = console_of(Kernel(ARRAY))
    snapshot = console.refresh().snapshot
    plan = plan_give_back(snapshot, snapshot.arrays[0].key)
    assert isinstance(plan, Plan)
    console.execute(plan)
    assert restoring(console) == [(MIN, "195313"), (MAX, "488281")]


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ([(600_000, 900_000)], [(MIN, "195313"), (MAX, "488281")]),
        ([(1000, 2000)], [(MAX, "488281"), (MIN, "195313")]),
        ([(1000, 300_000)], [(MIN, "195313"), (MAX, "488281")]),
    ],
)
def test_min_is_never_above_max_in_between(
    changes: list[tuple[int, int]], steps: list[tuple[str, str]]
) -> None:
    console = console_of(Kernel(ARRAY))
    for low, high in changes:
        limit(console, low, high)
    assert restoring(console) == steps


def test_the_systems_come_first_and_count_for_arrays_that_go_back_to_them() -> None:
    kernel = Kernel(raid10())
    console = console_of(kernel)
    limit(console, 400, 500, system=True)
    limit(console, 300, 450)
    assert restoring(console) == [
        (SYSTEM_MAX, "200000"),
        ("/proc/sys/dev/raid/speed_limit_min", "1000"),
        (MAX, "system"),
        (MIN, "system"),
    ]


def test_what_others_put_back_is_not_ours_any_more() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    limit(console, 195_313, 878_906)
    kernel.change(ARRAY)  # somebody else's echo
    assert console.left_changed() is None


def test_what_others_changed_meanwhile_is_restored_to_before_us() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    limit(console, 195_313, 878_906)
    kernel.change(raid10(sync=RESYNC, limits=(195_313, 700_000)))
    assert restoring(console) == [(MAX, "488281")]


def test_an_array_that_is_gone_or_another_is_left_alone() -> None:
    kernel = Kernel(ARRAY)
    console = console_of(kernel)
    limit(console, 195_313, 878_906)
    kernel.change(raid10(label="other", limits=(195_313, 878_906)))
    assert console.left_changed() is None
    kernel.change(raid1())
    assert console.left_changed() is None


def test_a_refused_write_changed_nothing() -> None:
    kernel = Kernel(ARRAY)
    kernel.refuses["sync_speed_max"] = errno.EINVAL
    console = console_of(kernel)
    snapshot = console.refresh().snapshot
    plan = plan_limits(snapshot, snapshot.arrays[0].key, 1000, 878_906)
    assert isinstance(plan, Plan)
    assert console.execute(plan).failed is not None
    assert console.take_undo() is None
    assert restoring(console) == [(MIN, "195313")]  # what came before it was written


def test_freezing_is_restored_and_checks_are_not() -> None:
    kernel = Kernel(ARRAY, raid1())
    console = console_of(kernel)
    data, root = console.refresh().snapshot.arrays
    for plan in (
        plan_pause(console.refresh().snapshot, data.key),
        plan_check(console.refresh().snapshot, root.key),
    ):
        assert not isinstance(plan, Refusal)
        console.execute(plan)
    assert restoring(console) == [("md127/sync_action", "idle")]


def test_limit_paths() -> None:
    array = console_of(Kernel(ARRAY)).refresh().snapshot.arrays[0]
    assert limit_path(array, "min") == "/sys/class/block/md127/md/sync_speed_min"
    assert limit_path(None, "max") == SYSTEM_MAX


def test_reports_that_look_alike() -> None:
    kernel = Kernel(raid10())
    console = console_of(kernel)
    console.refresh()
    first, again = console.refresh(), console.refresh()
    assert again.looks_like(first)
    later = replace(again, snapshot=replace(again.snapshot, taken_s=again.snapshot.taken_s + 60))
    assert not later.looks_like(again)
    check = plan_check(first.snapshot, first.snapshot.arrays[0].key)
    assert isinstance(check, Plan)
    console.execute(check)
    assert not console.refresh().looks_like(again)


def test_what_moves_never_looks_like_before() -> None:
    console = console_of(Kernel(ARRAY))
    first = console.refresh()
    assert not console.refresh().looks_like(first)


def test_an_array_of_metadata_0_90_is_known_by_its_uuid() -> None:
    """What md/uuid shows has its bytes in another order than mdadm's UUID."""
    console = console_of(Kernel(raid10(metadata="0.90", sync=RESYNC, limits=(195_313, 488_281))))
    limit(console, 195_313, 878_906)
    assert restoring(console) == [(MAX, "488281")]


def test_a_record_of_syncs_that_cannot_be_kept_is_said_once() -> None:
    console = console_of(Kernel(raid10()))
    console.syncs._book.trouble = "/var/lib/raidtui/syncs/x.json cannot be written: No space left on device"
    found = [text for _ in range(3) for text in texts(console.refresh())]
    assert found.count(f"raidtui: {console.syncs.trouble}") == 1
