"""Members whose disk left the machine: how that is noticed, what is said, and when nothing is."""

from __future__ import annotations

from raidtui.model.bad_blocks import lost
from raidtui.model.finding import Health
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.events import diff
from raidtui.monitor.health import healths_of, judge
from raidtui.monitor.kernel_watch import Uevent
from raidtui.watch.watch import HostWatch
from tests.hosts.trees import Stage, Tree, host_tree, raid1, raid5, raid10, snapshot_of

NODE = "/sys/class/block/sdf"


def present(snapshot: Snapshot) -> dict[str, bool | None]:
    """Return of each member whether it is there."""
    return {member.name: member.present for array in snapshot.arrays for member in array.members}


def between(old: Snapshot, new: Snapshot) -> list[str]:
    """Return the texts of the events between two snapshots."""
    return [event.text for event in diff(old, new, judge(old), judge(new))]


def watched() -> tuple[Stage, HostWatch]:
    """A host with a mirror, and a console that has looked at it once."""
    stage = host_tree(raid1()).root()
    watch = HostWatch(stage)
    assert present(watch.refresh().snapshot) == {"sde": True, "sdf": True}
    return stage, watch


def test_the_event_of_the_removal_is_enough() -> None:
    """No file of md changes: neither mdstat nor a member's state."""
    stage, watch = watched()
    stage.drop(NODE)
    assert present(watch.refresh().snapshot) == {"sde": True, "sdf": True}
    watch.take_uevents((Uevent(action="remove", name="sdf"),))
    report = watch.refresh()
    assert present(report.snapshot) == {"sde": True, "sdf": False}
    [array] = report.snapshot.arrays
    assert (array.up, array.missing_slots, array.losses_left) == ("UU", (1,), 0)
    assert [member.states for member in array.members] == [("in_sync",), ("in_sync",)]
    assert [event.text for event in report.new_events] == [
        "is gone",
        "member sdf (serial SSDF0001) left the machine; md has not noticed yet",
        "degraded: md has not noticed yet: sdf left the machine",
    ]
    assert report.healths == {array.key: Health.DEGRADED}
    assert report.exit_status == 1
    again = watch.refresh()
    assert again.new_events == ()
    assert again.snapshot.arrays[0] is array


def test_events_of_other_devices_read_no_array_again() -> None:
    stage, watch = watched()
    array = watch.refresh().snapshot.arrays[0]
    stage.drop(NODE)
    watch.take_uevents((Uevent(action="remove", name="sdz"), Uevent(action="change", name="sde")))
    assert watch.refresh().snapshot.arrays[0] is array


def test_without_an_event_it_is_noticed_a_little_later() -> None:
    stage, watch = watched()
    stage.drop(NODE)
    looks = 0
    while present(watch.refresh().snapshot)["sdf"]:
        looks += 1
        assert looks < 13
    assert watch.refresh().exit_status == 1


def test_what_left_before_udev_was_listened_to() -> None:
    stage, watch = watched()
    stage.drop(NODE)
    watch.sampler.look_for_members()
    assert present(watch.refresh().snapshot) == {"sde": True, "sdf": False}


def test_md_notices_and_the_disk_is_removed() -> None:
    whole = snapshot_of(host_tree(raid1()))
    left = snapshot_of(host_tree(raid1(pulled=("sdf",))))
    failed = snapshot_of(host_tree(raid1(failed=("sdf",), pulled=("sdf",))))
    removed = snapshot_of(host_tree(raid1(members=("sde", None))))
    assert between(left, failed) == ["member sdf failed"]
    assert between(failed, removed) == ["member sdf removed"]
    assert between(left, removed) == ["member sdf failed", "member sdf removed"]
    assert between(left, whole) == ["member sdf is back in the machine", "optimal"]


def test_a_spare_that_leaves_and_is_removed_has_not_failed() -> None:
    left = snapshot_of(host_tree(raid5(spares=("sdn",), pulled=("sdn",))))
    assert between(left, snapshot_of(host_tree(raid5()))) == ["member sdn removed", "optimal"]


def test_a_capture_of_mds_files_alone_says_nothing_of_the_disks() -> None:
    tree = host_tree(raid1(), udev=False)
    own = Tree(
        files={path: text for path, text in tree.files.items() if not path.startswith("/sys/class/block/sd")},
        links={},
    )
    snapshot = snapshot_of(own)
    assert present(snapshot) == {"sde": None, "sdf": None}
    assert set(healths_of(snapshot, judge(snapshot)).values()) == {Health.OPTIMAL}
    without = snapshot_of(host_tree(raid1(pulled=("sde", "sdf")), raid10(), sysfs=False))
    assert present(without)["sdf"] is None


def test_the_last_copy_is_never_the_one_that_left() -> None:
    """Bad blocks of a disk that left have no say, and what is bad on the other one is lost."""
    [array] = snapshot_of(
        host_tree(raid1(bad_blocks={"sde": "264292 8\n", "sdf": ""}, pulled=("sdf",)))
    ).arrays
    assert lost(array).sectors == 8
    assert array.loss_words == "the next failure loses the array"
