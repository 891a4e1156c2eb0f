"""The tree at the start satisfies all readers."""

from __future__ import annotations

import subprocess
import sys

from raidtui.host.block import DiskReader
from raidtui.host.diskstats import read_io
from raidtui.model.array_sync import Phase
from tests.demo.scene import DATA, EPOCH_S, VM, Scene

_START = """\
Personalities : [raid0] [raid1] [raid10] [raid6] [raid5] [raid4] 
md127 : active raid10 sdd2[3] sdc2[2] sdb2[1] sda2[0]
      440401920 blocks super 1.2 32K chunks 2 near-copies [4/4] [UUUU]
      [==========>..........]  resync = 54.2% (238699888/440401920) finish=6.8min speed=488281K/sec
      
md126 : active raid1 sdb1[1] sda1[0]
      97517568 blocks super 1.2 [2/2] [UU]
      
md125 : active raid5 nvme3n1p1[4](S) nvme2n1p1[3] nvme1n1p1[1] nvme0n1p1[0]
      1503232000 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 1/6 pages [4KB], 65536KB chunk

md124 : active raid0 sdd1[1] sdc1[0]
      195035136 blocks super 1.2 512k chunks
      
unused devices: <none>
"""  # noqa: W291, W293  (md.c prints the spaces)


def test_mdstat_at_the_start(scene: Scene) -> None:
    assert scene.reader.read("/proc/mdstat").decode() == _START


def test_sampler_finds_everything(scene: Scene) -> None:
    snapshot = scene.sampler.sample()
    assert snapshot.lacks == ()
    assert (snapshot.host.name, snapshot.host.kernel) == ("demo", "6.12.3")
    assert (snapshot.host.is_root, snapshot.host.source) == (True, "demo")
    assert snapshot.taken_s == EPOCH_S
    assert [array.label for array in snapshot.arrays] == ["data", "root", "vm", "scratch"]
    data, root, vm, scratch = snapshot.arrays
    assert data.link == "/dev/md/data"
    assert (data.uuid or "").startswith("96fc09a4:")
    assert data.sync is not None
    assert (data.sync.action, data.sync.phase, data.sync.percent) == ("resync", Phase.RUNNING, "54.2 %")
    assert data.speed_limit is not None
    assert (data.speed_limit.min_kib_s, data.speed_limit.max_kib_s) == (195_313, 488_281)
    assert (data.speed_limit.min_scope, data.speed_limit.max_scope) == ("local", "local")
    assert [member.slot for member in data.members] == [0, 1, 2, 3]
    assert (root.size_bytes, root.up) == (93 << 30, "UU")
    assert vm.bitmap is not None
    assert vm.members[-1].role == "spare"
    assert (scratch.redundant, scratch.sync_action, scratch.degraded) == (False, None, None)


def test_disks_have_identities(scene: Scene) -> None:
    disks = scene.sampler.sample().disks
    assert disks["sda2"].disk == "sda"
    assert disks["sda2"].serial == "S2R5NX0H812345"
    assert disks["sda2"].model == "Samsung SSD 850 EVO 500GB"
    assert disks["nvme1n1p1"].disk == "nvme1n1"
    assert disks["nvme1n1p1"].model == "Micron_7400_MTFDKBA960TDZ"
    whole = [disk for name, disk in disks.items() if name == disk.disk and disk.serial]
    assert len({disk.serial for disk in whole}) == len({disk.wwn for disk in whole}) == len(whole) == 8
    assert len({disk.dev for disk in disks.values()}) == len(disks)
    assert {use.kind for use in disks["sda2"].uses} == {"holder", "signature"}


def test_partitions_fit_their_disks(scene: Scene) -> None:
    for disk in scene.reader.simulated.disks.values():
        end = 2048
        for part in disk.partitions:
            assert part.start >= end
            end = part.start + part.sectors
        assert end < disk.sectors
        assert all(part.start % 2048 == 0 for part in disk.partitions)
    for array in scene.reader.simulated.arrays:
        for member in array.members:
            size = int(scene.reader.text(f"/sys/class/block/{member.device}/size") or "")
            assert size >= array.component_kib * 2 + 264192


def test_counters_follow_the_sync(scene: Scene) -> None:
    before = scene.sampler.sample().io
    scene.go(10)
    after = scene.sampler.sample().io
    read_kib = (after["sda2"].read_sectors - before["sda2"].read_sectors) / 2
    assert 0.95 < read_kib / (10 * 488_281 / 2) < 1.1  # near 2 on four disks: half of it each
    assert 0 < after["sda2"].busy_ms - before["sda2"].busy_ms < 10_000
    assert set(before) == set(after) == {"sda2", "sdb2", "sdc2", "sdd2", "md127"}  # what is synced


def test_counters_of_a_disk_and_its_partitions(scene: Scene) -> None:
    names = ("sda", "sda1", "sda2")
    before = read_io(scene.reader, names)
    scene.go(10)
    after = read_io(scene.reader, names)
    grown = {name: after[name].read_sectors - before[name].read_sectors for name in names}
    assert grown["sda"] >= grown["sda2"] > grown["sda1"] >= 0


def test_plugged_disk_appears_and_goes(scene: Scene) -> None:
    assert "sde" not in scene.reader.names("/sys/class/block")
    scene.go(91)
    disk = DiskReader(scene.reader).read(["sde"])["sde"]
    assert (disk.serial, disk.uses) == ("S62ANX0R204417", ())
    scene.go(1200 + 310 - 91)
    assert "sde" not in scene.reader.names("/sys/class/block")
    assert scene.reader.link("/sys/class/block/sde") is None
    assert scene.reader.text("/run/udev/data/b8:64") is None


def test_removed_member_leaves_no_folder(scene: Scene) -> None:
    assert "dev-nvme1n1p1" in scene.reader.names(VM)
    scene.go(41)
    scene.reader.take_tool("mdadm", "--manage", "/dev/md125", "--remove", "/dev/nvme1n1p1")
    assert "dev-nvme1n1p1" not in scene.reader.names(VM)
    assert "md125" not in scene.reader.names("/sys/class/block/nvme1n1p1/holders")
    assert scene.reader.link(f"{VM}/rd1") == "dev-nvme3n1p1"
    assert scene.reader.link(f"{DATA}/rd1") == "dev-sdb2"


def test_import_is_cheap() -> None:
    heavy = {"textual", "rich", "asyncio", "random", "pyudev", "psutil", "raidtui.monitor"}
    code = f"import sys, raidtui.demo.demo_host; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
