"""Snapshots: what is read, what could not be, and what is shown instead."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.host.md.mdstat import Mdstat, parse_mdstat
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.array_sync import Stale
from raidtui.model.disk import DiskIo
from raidtui.model.finding import Health
from raidtui.model.snapshot import Host, Lack, SystemLimits
from raidtui.monitor import sampler as sampler_module
from raidtui.monitor.events import diff
from raidtui.monitor.health import exit_status, health_of, healths_of, judge
from raidtui.monitor.sampler import Sampler
from tests.hosts.trees import (
    EPOCH_S,
    ArraySpec,
    Stage,
    Syncing,
    Tree,
    host_tree,
    mdstat_text,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
    snapshot_of,
    timeless,
)

NO_MD = Lack(
    part="/proc/mdstat",
    reason="not there: the kernel has no md loaded",
    remedy="load it with modprobe md_mod; mdadm loads it itself",
)
NO_UDEV = Lack(part="udev", reason="no database: serial numbers and labels may be missing")
NO_SYSFS = Lack(
    part="/sys/class/block/md*/md", reason="not there: slots, limits, counters and UUIDs are unknown"
)


class Unreadable(Stage):
    """A stage whose mdstat fails when asked to."""

    error: OSError | None = None

    def read(self, path: str, *, keep: bool = False) -> bytes:
        if path == "/proc/mdstat" and self.error is not None:
            raise self.error
        return super().read(path, keep=keep)


class Recorded(Stage):
    """A stage that reports what was read of it, and whose next readings of mdstat are given beforehand.

    An error among ``next_mdstats`` is raised.
    """

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.paths: list[str] = []
        self.next_mdstats: list[str | OSError] = []

    def read(self, path: str, *, keep: bool = False) -> bytes:
        self.paths.append(path)
        if path == "/proc/mdstat" and self.next_mdstats:
            given = self.next_mdstats.pop(0)
            if isinstance(given, OSError):
                raise given
            return given.encode()
        return super().read(path, keep=keep)


def test_whole_snapshot() -> None:
    snapshot = snapshot_of(
        host_tree(
            raid10(), raid1(members=("sde1", "sdf1")), limits=(50_000, 500_000), io={"sda": range(1, 11)}
        )
    )
    assert (snapshot.taken_s, snapshot.clock_s) == (EPOCH_S, 1000.0)
    assert snapshot.host == Host(name="nas", kernel="7.2.13", is_root=False, source="")
    assert (snapshot.md_loaded, snapshot.readable, snapshot.stale, snapshot.lacks) == (True, True, None, ())
    assert [(array.name, array.label) for array in snapshot.arrays] == [("md127", "data"), ("md126", "root")]
    assert set(snapshot.disks) == {
        "md127", "md126", "sda", "sdb", "sdc", "sdd", "sde1", "sde", "sdf1", "sdf"
    }  # fmt: skip
    assert snapshot.limits == SystemLimits(min_kib_s=50_000, max_kib_s=500_000)
    assert snapshot.io == {}
    assert snapshot.array("3a6eb079:0f39ac87:c94f3856:b2dd2c5d") is snapshot.arrays[0]


COUNTERS = DiskIo(
    reads=1,
    read_sectors=3,
    read_ms=4,
    writes=5,
    written_sectors=7,
    write_ms=8,
    busy_ms=10,
    discarded_sectors=0,
    in_flight=9,
)


def test_counters_are_of_the_members_of_what_is_synced() -> None:
    """And of the array itself, for its users; not of whole disks, and not of arrays at rest or waiting."""
    names = ("sda", "sda1", "sda2", "sdb1", "sdb2", "sdc1", "sdd1", "md127")
    snapshot = snapshot_of(
        host_tree(
            raid1("md127", "data", members=("sda1", "sdb1"), sync=Syncing(action="check", done_kib=1)),
            raid1("md126", "root", members=("sda2", "sdb2"), sync=Syncing(action="check", waiting="DELAYED")),
            raid1("md125", "rest", members=("sdc1", "sdd1")),
            io=dict.fromkeys(names, range(1, 11)),
        )
    )
    assert snapshot.io == dict.fromkeys(("sda1", "sdb1", "md127"), COUNTERS)


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        (raid1(), False),
        (raid1(sync=Syncing(action="resync", waiting="DELAYED")), False),
        (raid1(sync=Syncing(action="resync", waiting="PENDING")), False),
        (raid1(sync=Syncing(action="resync", waiting="REMOTE")), False),
        (raid1(frozen=True, resync_start="5"), False),
        (raid1(sync=Syncing(action="resync", done_kib=1)), True),
    ],
)
def test_counters_are_asked_for_while_a_sync_runs(spec: ArraySpec, asked: bool) -> None:  # noqa: FBT001
    stage = Recorded(host_tree(spec, io={"sde": range(1, 11), "sdf": range(1, 11)}))
    assert stage.sampler().sample().io == ({"sde": COUNTERS, "sdf": COUNTERS} if asked else {})
    assert ("/proc/diskstats" in stage.paths) is asked


def test_as_a_real_folder(tmp_path: Path) -> None:
    tree = host_tree(raid10(failed=("sdb",)), raid1(members=("sde1", "sdf1")), mounts={"md127": "/srv"})
    tree.write_to(tmp_path)
    held = snapshot_of(tree)
    real = Sampler(FolderReader(str(tmp_path))).sample()
    assert timeless(replace(real, host=held.host)) == timeless(held)
    assert real.host == Host(name="nas", kernel="7.2.13", is_root=False, source=str(tmp_path))


def test_sampling_what_has_not_changed_gives_the_same_arrays() -> None:
    stage = host_tree(raid10(), raid0()).root()
    sampler = stage.sampler()
    first, second = sampler.sample(), sampler.sample()
    assert first == second
    assert all(one is other for one, other in zip(first.arrays, second.arrays, strict=True))


def test_mdstat_that_reads_as_before_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(text: str, before: Mdstat | None) -> Mdstat:
        parsed.append(text)
        return parse_mdstat(text, before)

    monkeypatch.setattr(sampler_module, "parse_mdstat", counted)
    stage = host_tree(raid10(), raid0()).root()
    sampler = stage.sampler()
    assert sampler.sample().arrays == sampler.sample().arrays
    sampler.forget()
    sampler.sample()
    assert len(parsed) == 1
    stage.show(host_tree(raid10(failed=("sdb",)), raid0()))
    assert sampler.sample().arrays[0].up == "U_UU"
    assert len(parsed) == 2
    stage.show(host_tree(limits=None))
    assert sampler.sample().arrays == ()
    stage.show(host_tree(raid10(), raid0()))
    assert [array.up for array in sampler.sample().arrays] == ["UUUU", None]


WITHOUT_MD126 = mdstat_text(raid10(), raid5())


def test_array_that_slipped_out_of_mdstat_has_not_stopped() -> None:
    stage = Recorded(host_tree(raid10(), raid1(), raid5()))
    sampler = stage.sampler()
    before = sampler.sample()
    stage.next_mdstats = [WITHOUT_MD126]
    after = sampler.sample()
    assert stage.next_mdstats == []
    assert after.arrays == before.arrays
    assert diff(before, after, judge(before), judge(after)) == ()
    stage.paths.clear()
    assert timeless(sampler.sample()) == timeless(before)
    assert stage.paths.count("/proc/mdstat") == 1


@pytest.mark.parametrize("twice", [WITHOUT_MD126, OSError(errno.EIO, "Input/output error")])
def test_mdstat_is_read_no_more_than_twice(twice: str | OSError) -> None:
    """Where the second reading lacks the array too, or fails, the first one stands for the others."""
    stage = Recorded(host_tree(raid10(), raid1(), raid5()))
    sampler = stage.sampler()
    before = sampler.sample()
    stage.next_mdstats = [WITHOUT_MD126, twice]
    stage.paths.clear()
    assert [array.name for array in sampler.sample().arrays] == ["md127", "md125"]
    assert stage.paths.count("/proc/mdstat") == 2
    assert sampler.sample().arrays == before.arrays


@pytest.mark.parametrize("left", [None, "clear"])
def test_array_that_was_stopped_is_gone_at_once(left: str | None) -> None:
    stage = Recorded(host_tree(raid10(), raid1()))
    sampler = stage.sampler()
    before = sampler.sample()
    stage.show(host_tree(raid10()))
    if left is not None:
        stage.put("/sys/class/block/md126/md/array_state", f"{left}\n")
    stage.paths.clear()
    after = sampler.sample()
    assert [array.name for array in after.arrays] == ["md127"]
    assert stage.paths.count("/proc/mdstat") == 1
    events = diff(before, after, judge(before), judge(after))
    assert [(event.subject, event.text) for event in events] == [("root", "stopped")]


def test_without_md() -> None:
    snapshot = snapshot_of(host_tree(limits=None))
    assert (snapshot.md_loaded, snapshot.readable, snapshot.arrays, snapshot.stale) == (False, True, (), None)
    assert snapshot.lacks == (NO_MD, NO_UDEV)
    assert exit_status(snapshot, ()) == 0


def test_md_without_arrays() -> None:
    snapshot = snapshot_of(host_tree())
    assert (snapshot.md_loaded, snapshot.arrays, snapshot.lacks) == (True, (), (NO_UDEV,))
    assert exit_status(snapshot, ()) == 0


def test_without_sysfs() -> None:
    assert snapshot_of(host_tree(raid10(), sysfs=False)).lacks == (NO_SYSFS,)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_mdstat_unreadable_from_the_start(number: int) -> None:
    stage = Unreadable(host_tree(raid10()))
    stage.error = OSError(number, os.strerror(number))
    snapshot = stage.sampler().sample()
    assert (snapshot.md_loaded, snapshot.readable, snapshot.arrays, snapshot.stale) == (True, False, (), None)
    assert snapshot.lacks == (Lack(part="/proc/mdstat", reason=f"cannot be read: {os.strerror(number)}"),)
    assert exit_status(snapshot, healths_of(snapshot, judge(snapshot)).values()) == 3


def test_mdstat_unreadable_for_a_while() -> None:
    stage = Unreadable(host_tree(raid10()))
    sampler = stage.sampler()
    good = sampler.sample()
    stage.error = OSError(errno.EIO, "Input/output error")
    for _ in range(2):
        stage.passed_s += 5
        stale = sampler.sample()
        assert timeless(stale) == replace(
            timeless(good),
            readable=False,
            stale=Stale(since_s=EPOCH_S, reason="/proc/mdstat: Input/output error"),
        )
        healths = healths_of(stale, judge(stale)).values()
        assert (stale.taken_s, exit_status(stale, healths)) == (EPOCH_S + stage.passed_s, 3)
    stage.error = None
    again = sampler.sample()
    assert (timeless(again), again.stale, again.readable) == (timeless(good), None, True)


def test_md_unloaded_and_loaded_again() -> None:
    stage = host_tree(raid10()).root()
    sampler = stage.sampler()
    good = sampler.sample()
    stage.show(host_tree(limits=None))
    assert (sampler.sample().md_loaded, sampler.sample().arrays) == (False, ())
    stage.show(host_tree(raid10()))
    assert timeless(sampler.sample()) == timeless(good)


def _with_odd_lines(tree: Tree, name: str) -> Tree:
    text = tree.files["/proc/mdstat"].replace(f"{name} : active", f"{name} : odd")
    return Tree(files=tree.files | {"/proc/mdstat": text}, links=tree.links)


def test_one_odd_array_keeps_its_last_value() -> None:
    tree = host_tree(raid10(), raid1())
    stage = tree.root()
    sampler = stage.sampler()
    good = sampler.sample()
    [data, root] = good.arrays
    why = Stale(since_s=EPOCH_S, reason="unknown state 'odd'")
    for _ in range(2):
        stage.show(_with_odd_lines(host_tree(raid10(), raid1(failed=("sdf",))), "md127"), after_s=5)
        odd = sampler.sample()
        assert [array.name for array in odd.arrays] == ["md126", "md127"]
        assert odd.arrays[1] == replace(data, stale=why)
        assert odd.arrays[0].up == "U_"
        assert odd.disks.keys() == good.disks.keys()
        assert odd.lacks == (
            Lack(
                part="/proc/mdstat",
                reason="md127: unknown state 'odd'",
                remedy="please report it: raidtui capture FILE",
            ),
        )
        findings = judge(odd)
        assert [health_of(array, findings).word for array in odd.arrays] == ["degraded", "attention"]
        assert exit_status(odd, healths_of(odd, findings).values()) == 3
    stage.show(tree)
    assert sampler.sample().arrays == (data, root)


def test_odd_array_that_was_never_read() -> None:
    snapshot = snapshot_of(_with_odd_lines(host_tree(raid10(), raid1()), "md127"))
    known, odd = snapshot.arrays
    assert (known.name, odd.name, odd.understood, odd.active) == ("md126", "md127", False, True)
    assert (odd.level, odd.label, len(odd.members)) == ("raid10", "data", 4)  # as sysfs and udev have it
    findings = judge(snapshot)
    assert healths_of(snapshot, findings)[odd.key] is Health.UNKNOWN
    assert [finding.code for finding in findings] == ["not-understood"]
    assert [lack.reason for lack in snapshot.lacks] == ["md127: unknown state 'odd'"]
    assert exit_status(snapshot, healths_of(snapshot, judge(snapshot)).values()) == 3


def test_stopped_and_made_again_with_the_same_name() -> None:
    stage = host_tree(raid10()).root()
    sampler = stage.sampler()
    before = sampler.sample().arrays[0]
    stage.show(host_tree())
    assert sampler.sample().arrays == ()
    stage.show(host_tree(raid10(label="new")))
    after = sampler.sample().arrays[0]
    assert (before.label, after.label) == ("data", "new")
    assert before.uuid != after.uuid


def test_forget_reads_afresh() -> None:
    stage = host_tree(raid10()).root()
    sampler = stage.sampler()
    sampler.sample()
    stage.show(
        host_tree(
            raid10(label="other", uuid="3a6eb0790f39ac87c94f3856b2dd2c5d"), disks={"sda": {"serial": "NEW"}}
        )
    )
    cached = sampler.sample()
    assert (cached.arrays[0].label, cached.disks["sda"].serial) == ("data", "SSDA0001")
    sampler.forget("md127")
    sampler.forget("sda")
    fresh = sampler.sample()
    assert (fresh.arrays[0].label, fresh.disks["sda"].serial) == ("other", "NEW")
    sampler.forget()
    assert sampler.sample() == fresh


def test_halves_of_a_mirror_that_came_apart() -> None:
    """Both were started alone: one UUID, two arrays. Their keys differ, and both are reported."""
    half, other = raid1(members=("sda", None)), raid1("md127", members=(None, "sdb"))
    stage = host_tree(half).root()
    sampler = stage.sampler()
    alone = sampler.sample().arrays[0]
    assert not alone.twin
    stage.show(host_tree(other, half))
    apart = sampler.sample()
    assert [array.key for array in apart.arrays] == [f"{alone.uuid}@md127", f"{alone.uuid}@md126"]
    assert [finding.code for finding in judge(apart)] == ["degraded", "degraded", "same-uuid", "same-uuid"]
    stage.show(host_tree(half))
    assert sampler.sample().arrays == (alone,)


def test_syncing() -> None:
    assert snapshot_of(host_tree(raid5(sync=Syncing(action="check", done_kib=1)))).syncing
    assert not snapshot_of(host_tree(raid5(sync=Syncing(action="check", waiting="DELAYED")), raid1())).syncing


class Live(MemoryReader):
    """A held tree that passes for the live host."""

    live = True


@pytest.mark.parametrize(
    ("user", "mdadm", "lacks"),
    [
        (0, "/sbin/mdadm", ()),
        (0, None, (Lack(part="mdadm", reason="not installed", remedy="install the package mdadm"),)),
        (1000, "/sbin/mdadm", (Lack(part="changes", reason="need root", remedy="run it as: sudo raidtui"),)),
    ],
)
def test_what_the_live_host_lacks(
    monkeypatch: pytest.MonkeyPatch, user: int, mdadm: str | None, lacks: tuple[Lack, ...]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(sampler_module, "tool_path", lambda _: mdadm)
    tree = host_tree(raid1())
    assert Sampler(Live(tree.files, links=tree.links)).sample().lacks == lacks


def test_mdadm_is_asked_for_labels_where_udev_is_not_there() -> None:
    snapshot = snapshot_of(host_tree(raid10(), raid1(label=""), udev=False, mdadm=True))
    assert [(array.label, array.homehost) for array in snapshot.arrays] == [("data", "nas"), (None, None)]


@pytest.mark.parametrize("known", [True, False])
def test_where_mdstat_does_not_answer_sysfs_says_what_is_so(known: bool) -> None:  # noqa: FBT001
    """Meanwhile a member fails, a check ends, another one begins, an array is stopped, and one is new."""
    checked = raid5(sync=Syncing(action="check", done_kib=4))
    stage = Unreadable(host_tree(raid10(), checked, raid1(), raid0()))
    sampler = stage.sampler()
    if known:
        sampler.sample()
    array = raid10()
    worse = replace(array, members=(None, *array.members[1:]), failed=array.members[:1])
    stage.show(
        host_tree(worse, raid5(), raid0(), raid6(sync=Syncing(action="check", done_kib=8), bitmap=(1, 1)))
    )
    told = stage.sampler().sample()
    stage.error = TimeoutError(errno.ETIMEDOUT, "it has not answered since 06:08")
    silent = sampler.sample()
    assert {each.name: (each.level, each.degraded, each.active, each.layout) for each in silent.arrays} == {
        each.name: (each.level, each.degraded, each.active, each.layout) for each in told.arrays
    }
    assert {each.name: each.sync and (each.sync.action, each.sync.done_kib) for each in silent.arrays} == {
        worse.name: None, "md125": None, raid0().name: None, raid6().name: ("check", None),
    }  # fmt: skip
    assert {each.name for each in silent.arrays if each.bitmap} == {e.name for e in told.arrays if e.bitmap}
    assert healths_of(silent, judge(silent)) == healths_of(told, judge(told))
    assert (silent.lacks[0].part, "since 06:08" in silent.lacks[0].reason) == ("/proc/mdstat", True)
    assert exit_status(silent, healths_of(silent, judge(silent)).values()) == 3


def test_what_does_not_end_is_named_where_mdstat_does_not_answer() -> None:
    """Of the members with requests under way, only the one that has finished none since is named."""
    array = raid1()
    names = array.devices
    busy, stuck = ([9, 0, 9, 9, 9, 0, 9, 9, each, 9, 9] for each in (1, 2))
    stage = Unreadable(host_tree(array, io={names[0]: busy, names[1]: stuck}))
    stage.error = TimeoutError(errno.ETIMEDOUT, "it has not answered since 06:08")
    sampler = stage.sampler()
    assert "requests" not in sampler.sample().lacks[0].reason
    stage.show(host_tree(array, io={names[0]: [10, *busy[1:]], names[1]: stuck}))
    assert f"; {names[1]}: requests are in flight, and none completes." in sampler.sample().lacks[0].reason
