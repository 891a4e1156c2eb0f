"""Metrics, as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.command.prometheus import metric_lines
from raidtui.host.roots.memory_root import MemoryRoot
from raidtui.session.watch import HostWatch
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
# HELP node_md_state State of the array.
# TYPE node_md_state gauge
node_md_state{device="md127",state="active"} 1
node_md_state{device="md127",state="inactive"} 0
node_md_state{device="md127",state="recovering"} 0
node_md_state{device="md127",state="resync"} 0
node_md_state{device="md127",state="check"} 0
node_md_state{device="md125",state="active"} 0
node_md_state{device="md125",state="inactive"} 0
node_md_state{device="md125",state="recovering"} 1
node_md_state{device="md125",state="resync"} 0
node_md_state{device="md125",state="check"} 0
node_md_state{device="md123",state="active"} 1
node_md_state{device="md123",state="inactive"} 0
node_md_state{device="md123",state="recovering"} 0
node_md_state{device="md123",state="resync"} 0
node_md_state{device="md123",state="check"} 0
node_md_state{device="md124",state="active"} 0
node_md_state{device="md124",state="inactive"} 1
node_md_state{device="md124",state="recovering"} 0
node_md_state{device="md124",state="resync"} 0
node_md_state{device="md124",state="check"} 0
# HELP node_md_disks Members of the array by state.
# TYPE node_md_disks gauge
node_md_disks{device="md127",state="active"} 3
node_md_disks{device="md127",state="failed"} 1
node_md_disks{device="md127",state="spare"} 1
node_md_disks{device="md127",state="down"} 1
node_md_disks{device="md125",state="active"} 2
node_md_disks{device="md125",state="failed"} 0
node_md_disks{device="md125",state="spare"} 0
node_md_disks{device="md125",state="down"} 1
node_md_disks{device="md123",state="active"} 2
node_md_disks{device="md123",state="failed"} 0
node_md_disks{device="md123",state="spare"} 0
node_md_disks{device="md124",state="active"} 0
node_md_disks{device="md124",state="failed"} 0
node_md_disks{device="md124",state="spare"} 4
# HELP node_md_disks_required Slots of the array.
# TYPE node_md_disks_required gauge
node_md_disks_required{device="md127"} 4
node_md_disks_required{device="md125"} 3
node_md_disks_required{device="md123"} 2
node_md_disks_required{device="md124"} 4
# HELP node_md_blocks Size of the array in KiB.
# TYPE node_md_blocks gauge
node_md_blocks{device="md127"} 440401920
node_md_blocks{device="md125"} 440401920
node_md_blocks{device="md123"} 440401920
# HELP node_md_blocks_synced KiB synced; all of them while no sync runs.
# TYPE node_md_blocks_synced gauge
node_md_blocks_synced{device="md127"} 440401920
node_md_blocks_synced{device="md125"} 55050240
node_md_blocks_synced{device="md123"} 440401920
# HELP node_md_degraded Missing members, from md/degraded.
# TYPE node_md_degraded gauge
node_md_degraded{device="md127"} 1
node_md_degraded{device="md125"} 1
# HELP raidtui_md_health Verdict: 0 optimal, 1 unknown, 2 attention, 3 degraded, 4 failed.
# TYPE raidtui_md_health gauge
raidtui_md_health{device="md127"} 3
raidtui_md_health{device="md125"} 3
raidtui_md_health{device="md123"} 0
raidtui_md_health{device="md124"} 4
# HELP raidtui_md_mismatch_sectors Mismatches of the last check.
# TYPE raidtui_md_mismatch_sectors gauge
raidtui_md_mismatch_sectors{device="md127"} 0
raidtui_md_mismatch_sectors{device="md125"} 0
# HELP raidtui_md_members_detached Members whose device left the kernel, and that md has not marked as failed.
# TYPE raidtui_md_members_detached gauge
raidtui_md_members_detached{device="md127"} 0
raidtui_md_members_detached{device="md125"} 0
raidtui_md_members_detached{device="md123"} 0
raidtui_md_members_detached{device="md124"} 0
# HELP raidtui_md_sync_speed_kib Speed of the running sync, KiB/s.
# TYPE raidtui_md_sync_speed_kib gauge
raidtui_md_sync_speed_kib{device="md125"} 100000
# HELP raidtui_md_sync_left_seconds Estimated time to the end of the sync.
# TYPE raidtui_md_sync_left_seconds gauge
raidtui_md_sync_left_seconds{device="md125"} 1652
# HELP raidtui_md_sync_speed_limit_kib Limits in force, KiB/s.
# TYPE raidtui_md_sync_speed_limit_kib gauge
raidtui_md_sync_speed_limit_kib{device="md127",limit="min",scope="system"} 1000
raidtui_md_sync_speed_limit_kib{device="md127",limit="max",scope="system"} 200000
raidtui_md_sync_speed_limit_kib{device="md125",limit="min",scope="system"} 1000
raidtui_md_sync_speed_limit_kib{device="md125",limit="max",scope="local"} 100000
"""


def lines_of(tree: Tree) -> list[str]:
    return list(metric_lines(HostWatch(tree.root()).refresh()))


def states_of(lines: Iterable[str]) -> set[str]:
    """Return the ``device state`` pairs that are 1."""
    held = [line for line in lines if line.startswith("node_md_state{") and line.endswith(" 1")]
    return {line.split('"')[1] + " " + line.split('"')[3] for line in held}


def test_the_exposition_of_a_host() -> None:
    assert "".join(f"{line}\n" for line in lines_of(TREE)) == EXPOSITION


def test_a_disk_that_left_is_not_active_whatever_md_counts() -> None:
    lines = lines_of(host_tree(raid5(spares=("sdp",), pulled=("sdi", "sdp")), raid0(pulled=("sdo",))))
    assert [line for line in lines if line.startswith(("node_md_disks{", "node_md_deg", "raidtui_md_"))] == [
        'node_md_disks{device="md125",state="active"} 2',
        'node_md_disks{device="md125",state="failed"} 0',
        'node_md_disks{device="md125",state="spare"} 0',
        'node_md_disks{device="md125",state="down"} 1',
        'node_md_disks{device="md123",state="active"} 1',
        'node_md_disks{device="md123",state="failed"} 0',
        'node_md_disks{device="md123",state="spare"} 0',
        'node_md_degraded{device="md125"} 0',
        'raidtui_md_health{device="md125"} 3',
        'raidtui_md_health{device="md123"} 4',
        'raidtui_md_mismatch_sectors{device="md125"} 0',
        'raidtui_md_members_detached{device="md125"} 2',
        'raidtui_md_members_detached{device="md123"} 1',
        'raidtui_md_sync_speed_limit_kib{device="md125",limit="min",scope="system"} 1000',
        'raidtui_md_sync_speed_limit_kib{device="md125",limit="max",scope="system"} 200000',
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
    lines = list(metric_lines(HostWatch(MemoryRoot(TWO)).refresh()))
    assert [line for line in lines if not line.startswith("#")] == [
        f"raidtui_md_absent_health{labels} 4",
        f"raidtui_md_absent_members_present{labels} 2",
        f"raidtui_md_absent_members_required{labels} 3",
    ]


def test_no_array_has_no_metrics() -> None:
    assert lines_of(host_tree()) == []
