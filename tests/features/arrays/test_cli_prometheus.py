"""Metrics, as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.watch.watch import HostWatch
from tests.hosts.members import TWO
from tests.hosts.trees import Syncing, Tree, host_tree, inactive, raid0, raid1, raid5, raid6, raid10

TREE = host_tree(
    raid10(failed=("sdb",), spares=("sdp",)),
    raid5(
        rebuilding=("sdi",),
        sync=Syncing(action="recover", done_kib=55_050_240, speed_kib_s=100_000),
        limits=(None, 100_000),
    ),
    raid0(),
    inactive(raid6()),
)

EXPOSITION = """\
# HELP raidtui_md_info Name, UUID and level of the array.
# TYPE raidtui_md_info gauge
raidtui_md_info{device="md127",array="data",uuid="3a6eb079:0f39ac87:c94f3856:b2dd2c5d",level="raid10"} 1
raidtui_md_info{device="md125",array="media",uuid="721c9525:ade2ea89:03d343ef:25cf68b9",level="raid5"} 1
raidtui_md_info{device="md123",array="scratch",uuid="5a9cb6b5:4ea56d52:a69891af:8c21afb7",level="raid0"} 1
raidtui_md_info{device="md124",array="md124",uuid="54d00d86:7758cef8:16bc4685:f58e327b",level="raid6"} 1
# HELP raidtui_md_state State of the array.
# TYPE raidtui_md_state gauge
raidtui_md_state{device="md127",state="active"} 1
raidtui_md_state{device="md127",state="inactive"} 0
raidtui_md_state{device="md127",state="recovering"} 0
raidtui_md_state{device="md127",state="resync"} 0
raidtui_md_state{device="md127",state="check"} 0
raidtui_md_state{device="md125",state="active"} 0
raidtui_md_state{device="md125",state="inactive"} 0
raidtui_md_state{device="md125",state="recovering"} 1
raidtui_md_state{device="md125",state="resync"} 0
raidtui_md_state{device="md125",state="check"} 0
raidtui_md_state{device="md123",state="active"} 1
raidtui_md_state{device="md123",state="inactive"} 0
raidtui_md_state{device="md123",state="recovering"} 0
raidtui_md_state{device="md123",state="resync"} 0
raidtui_md_state{device="md123",state="check"} 0
raidtui_md_state{device="md124",state="active"} 0
raidtui_md_state{device="md124",state="inactive"} 1
raidtui_md_state{device="md124",state="recovering"} 0
raidtui_md_state{device="md124",state="resync"} 0
raidtui_md_state{device="md124",state="check"} 0
# HELP raidtui_md_disks Members of the array by state.
# TYPE raidtui_md_disks gauge
raidtui_md_disks{device="md127",state="active"} 3
raidtui_md_disks{device="md127",state="failed"} 1
raidtui_md_disks{device="md127",state="spare"} 1
raidtui_md_disks{device="md127",state="down"} 1
raidtui_md_disks{device="md125",state="active"} 2
raidtui_md_disks{device="md125",state="failed"} 0
raidtui_md_disks{device="md125",state="spare"} 0
raidtui_md_disks{device="md125",state="down"} 1
raidtui_md_disks{device="md123",state="active"} 2
raidtui_md_disks{device="md123",state="failed"} 0
raidtui_md_disks{device="md123",state="spare"} 0
raidtui_md_disks{device="md124",state="active"} 0
raidtui_md_disks{device="md124",state="failed"} 0
raidtui_md_disks{device="md124",state="spare"} 4
# HELP raidtui_md_disks_required Slots of the array.
# TYPE raidtui_md_disks_required gauge
raidtui_md_disks_required{device="md127"} 4
raidtui_md_disks_required{device="md125"} 3
raidtui_md_disks_required{device="md123"} 2
raidtui_md_disks_required{device="md124"} 4
# HELP raidtui_md_size_bytes Size of the array.
# TYPE raidtui_md_size_bytes gauge
raidtui_md_size_bytes{device="md127"} 450971566080
raidtui_md_size_bytes{device="md125"} 450971566080
raidtui_md_size_bytes{device="md123"} 450971566080
# HELP raidtui_md_synced_bytes Done part of the sync; all while none runs.
# TYPE raidtui_md_synced_bytes gauge
raidtui_md_synced_bytes{device="md127"} 450971566080
raidtui_md_synced_bytes{device="md125"} 56371445760
raidtui_md_synced_bytes{device="md123"} 450971566080
# HELP raidtui_md_degraded Missing members, from md/degraded.
# TYPE raidtui_md_degraded gauge
raidtui_md_degraded{device="md127"} 1
raidtui_md_degraded{device="md125"} 1
# HELP raidtui_md_health Verdict: 0 optimal, 1 unknown, 2 attention, 3 degraded, 4 failed.
# TYPE raidtui_md_health gauge
raidtui_md_health{device="md127"} 3
raidtui_md_health{device="md125"} 3
raidtui_md_health{device="md123"} 0
raidtui_md_health{device="md124"} 4
# HELP raidtui_md_mismatch_bytes Mismatches of the last check.
# TYPE raidtui_md_mismatch_bytes gauge
raidtui_md_mismatch_bytes{device="md127"} 0
raidtui_md_mismatch_bytes{device="md125"} 0
# HELP raidtui_md_members_detached Members whose device left the kernel, and that md has not marked as failed.
# TYPE raidtui_md_members_detached gauge
raidtui_md_members_detached{device="md127"} 0
raidtui_md_members_detached{device="md125"} 0
raidtui_md_members_detached{device="md123"} 0
raidtui_md_members_detached{device="md124"} 0
# HELP raidtui_md_sync_done_ratio Done part of the sync, 0 to 1.
# TYPE raidtui_md_sync_done_ratio gauge
raidtui_md_sync_done_ratio{device="md125"} 0.25
# HELP raidtui_md_sync_speed_bytes_per_second Speed of the running sync.
# TYPE raidtui_md_sync_speed_bytes_per_second gauge
raidtui_md_sync_speed_bytes_per_second{device="md125"} 102400000
# HELP raidtui_md_sync_left_seconds Estimated time to the end of the sync.
# TYPE raidtui_md_sync_left_seconds gauge
raidtui_md_sync_left_seconds{device="md125"} 1652
# HELP raidtui_md_sync_speed_limit_bytes_per_second Limits in force.
# TYPE raidtui_md_sync_speed_limit_bytes_per_second gauge
raidtui_md_sync_speed_limit_bytes_per_second{device="md127",limit="min",scope="system"} 1024000
raidtui_md_sync_speed_limit_bytes_per_second{device="md127",limit="max",scope="system"} 204800000
raidtui_md_sync_speed_limit_bytes_per_second{device="md125",limit="min",scope="system"} 1024000
raidtui_md_sync_speed_limit_bytes_per_second{device="md125",limit="max",scope="local"} 102400000
"""


def lines_of(tree: Tree) -> list[str]:
    return list(metric_lines(HostWatch(tree.root()).refresh()))


def states_of(lines: Iterable[str]) -> set[str]:
    """Return the ``device state`` pairs that are 1."""
    held = [line for line in lines if line.startswith("raidtui_md_state{") and line.endswith(" 1")]
    return {line.split('"')[1] + " " + line.split('"')[3] for line in held}


def test_the_exposition_of_a_host() -> None:
    assert "".join(f"{line}\n" for line in lines_of(TREE)) == EXPOSITION


def test_a_disk_that_left_is_not_active_whatever_md_counts() -> None:
    lines = lines_of(host_tree(raid5(spares=("sdp",), pulled=("sdi", "sdp")), raid0(pulled=("sdo",))))
    others = ("#", *(f"raidtui_md_{name}" for name in ("info", "state", "disks_required", "size", "synced")))
    assert [line for line in lines if not line.startswith(others)] == [
        'raidtui_md_disks{device="md125",state="active"} 2',
        'raidtui_md_disks{device="md125",state="failed"} 0',
        'raidtui_md_disks{device="md125",state="spare"} 0',
        'raidtui_md_disks{device="md125",state="down"} 1',
        'raidtui_md_disks{device="md123",state="active"} 1',
        'raidtui_md_disks{device="md123",state="failed"} 0',
        'raidtui_md_disks{device="md123",state="spare"} 0',
        'raidtui_md_degraded{device="md125"} 0',
        'raidtui_md_health{device="md125"} 3',
        'raidtui_md_health{device="md123"} 4',
        'raidtui_md_mismatch_bytes{device="md125"} 0',
        'raidtui_md_members_detached{device="md125"} 2',
        'raidtui_md_members_detached{device="md123"} 1',
        'raidtui_md_sync_speed_limit_bytes_per_second{device="md125",limit="min",scope="system"} 1024000',
        'raidtui_md_sync_speed_limit_bytes_per_second{device="md125",limit="max",scope="system"} 204800000',
    ]


def test_each_sync_is_one_of_five_states() -> None:
    tree = host_tree(
        raid10(sync=Syncing(action="repair", done_kib=1, speed_kib_s=1)),
        raid1(sync=Syncing(action="check", waiting="DELAYED")),
        raid5(sync=Syncing(action="reshape", done_kib=1, speed_kib_s=1), reshape_position="2"),
        raid6(sync=Syncing(action="resync", waiting="PENDING"), read_only="auto-read-only"),
    )
    assert states_of(lines_of(tree)) == {"md127 resync", "md126 check", "md125 recovering", "md124 resync"}


def test_an_array_that_does_not_run() -> None:
    labels = '{array="old",uuid="fbbb2b1c:6dbccfed:d429a0ed:a9ec20ed",state="not-started"}'
    lines = list(metric_lines(HostWatch(MemoryReader(TWO)).refresh()))
    assert [line for line in lines if not line.startswith("#")] == [
        f"raidtui_md_absent_health{labels} 4",
        f"raidtui_md_absent_members_present{labels} 2",
        f"raidtui_md_absent_members_required{labels} 3",
    ]


def test_no_array_has_no_metrics() -> None:
    assert lines_of(host_tree()) == []
