"""Members: failing, replacing, removing and taking back, through ``dev-X/state`` as mdadm does it."""

from __future__ import annotations

import errno

import pytest

from raidtui.demo.control import add_member
from raidtui.demo.sim_array import SimArray
from raidtui.demo.story import newcomer
from tests.demo.scene import DATA, ROOT, SCRATCH, VM, Scene


def _array(scene: Scene, label: str) -> SimArray:
    array = scene.reader.simulated.array(label)
    assert array is not None
    return array


def _flags(scene: Scene, name: str) -> dict[str, str]:
    return {member.name: member.flags for member in scene.array(name).members}


def test_a_failed_member_and_a_spare(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "faulty")
    assert scene.reader.text(f"{VM}/dev-nvme0n1p1/state") == "faulty"
    assert scene.reader.text(f"{VM}/dev-nvme3n1p1/state") == "spare"
    assert scene.reader.text(f"{VM}/degraded") == "1"
    assert scene.array("md125").up == "_UU"
    assert _flags(scene, "md125")["nvme0n1p1"] == "F"
    assert _flags(scene, "md125")["nvme3n1p1"] == ""
    sync = scene.array("md125").sync
    assert sync is not None
    assert (sync.word, sync.total_kib) == ("recovery", 751_616_000)


def test_the_last_copy_cannot_be_failed(scene: Scene) -> None:
    scene.reader.take_value(f"{ROOT}/dev-sda1/state", "faulty")
    with pytest.raises(OSError, match="busy") as caught:
        scene.reader.take_value(f"{ROOT}/dev-sdb1/state", "faulty")
    assert caught.value.errno == errno.EBUSY
    assert scene.reader.text(f"{ROOT}/array_state") == "broken"
    assert scene.array("md126").state == "broken"
    assert scene.array("md126").up == "_U"


def test_raid10_survives_one_of_each_pair(scene: Scene) -> None:
    scene.reader.take_value(f"{DATA}/dev-sda2/state", "faulty")
    scene.reader.take_value(f"{DATA}/dev-sdc2/state", "faulty")
    assert scene.array("md127").up == "_U_U"
    with pytest.raises(OSError, match="busy"):
        scene.reader.take_value(f"{DATA}/dev-sdb2/state", "faulty")


def test_raid5_without_two_is_broken(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "faulty")
    with pytest.raises(OSError, match="busy"):
        scene.reader.take_value(f"{VM}/dev-nvme1n1p1/state", "faulty")
    assert scene.array("md125").state == "broken"
    assert scene.array("md125").sync is None
    scene.go(2000)  # the story leaves it alone
    assert scene.mdstat().problems == []


def test_raid0_refuses(scene: Scene) -> None:
    with pytest.raises(OSError, match="busy"):
        scene.reader.take_value(f"{SCRATCH}/dev-sdc1/state", "faulty")
    assert scene.reader.text(f"{SCRATCH}/array_state") == "broken"


def test_replacement(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "want_replacement")
    assert scene.reader.text(f"{VM}/dev-nvme0n1p1/state") == "in_sync,want_replacement"
    assert scene.reader.text(f"{VM}/dev-nvme3n1p1/state") == "spare,replacement"
    assert _flags(scene, "md125")["nvme3n1p1"] == "R"
    assert scene.array("md125").up == "UUU"
    scene.go(30)
    for _ in range(3):
        scene.go(500)
    assert scene.reader.text(f"{VM}/dev-nvme3n1p1/state") == "in_sync"
    assert scene.array("md125").up == "UUU"


def test_replaced_member_is_left_as_failed(scene: Scene) -> None:
    array = _array(scene, "vm")
    scene.reader.take_value(f"{VM}/sync_speed_min", "4000000")
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "want_replacement")
    while array.sync is not None:
        scene.reader.simulated.advance(10)
    assert [(m.device, m.slot, m.state) for m in array.members] == [
        ("nvme0n1p1", None, "faulty"),
        ("nvme1n1p1", 1, "in_sync"),
        ("nvme2n1p1", 2, "in_sync"),
        ("nvme3n1p1", 0, "in_sync"),
    ]


def test_re_add_with_a_bitmap_is_short(scene: Scene) -> None:
    scene.reader.take_value(f"{VM}/dev-nvme3n1p1/state", "remove")
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "faulty")
    assert scene.array("md125").sync is None
    scene.reader.take_value(f"{VM}/dev-nvme0n1p1/state", "re-add")
    assert scene.done_kib("md125") == 751_616_000 * 95 // 100
    assert _flags(scene, "md125")["nvme0n1p1"] == ""
    assert "dev-nvme3n1p1" not in scene.reader.names(VM)


def test_a_new_disk_fills_a_hole(scene: Scene) -> None:
    kernel, data = scene.reader.simulated, _array(scene, "data")
    kernel.plug(newcomer())
    scene.reader.take_value(f"{DATA}/dev-sda2/state", "faulty")
    add_member(kernel, data, "sde", "sde")
    sync = scene.array("md127").sync
    assert sync is not None
    assert sync.word == "resync"  # first what was under way
    assert _flags(scene, "md127")["sde"] == "S"
    kernel.unplug("sde")
    assert "sde" in kernel.disks  # in use
    kernel.advance(900)
    assert data.action == "recover"
    kernel.advance(900)
    assert data.up == "UUUU"
    with pytest.raises(OSError, match="busy"):
        add_member(kernel, data, "sde", "sde")


def test_flags(scene: Scene) -> None:
    scene.reader.take_value(f"{ROOT}/dev-sdb1/state", "writemostly")
    assert scene.reader.text(f"{ROOT}/dev-sdb1/state") == "in_sync,write_mostly"
    assert _flags(scene, "md126")["sdb1"] == "W"
    scene.reader.take_value(f"{ROOT}/dev-sdb1/state", "-writemostly")
    scene.reader.take_value(f"{ROOT}/dev-sdb1/state", "failfast")
    assert scene.reader.text(f"{ROOT}/dev-sdb1/state") == "in_sync,failfast"
