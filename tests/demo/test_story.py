"""The story, seen by the same sampler and the same differences as a real host's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidtui.demo.control import add_member, remove_member
from raidtui.host.readers.host_reader import KernelEvent
from tests.demo.scene import DATA, Scene
from tests.hosts.trees import timeless

_TURN_S = 1200 + 2400


def test_mdstat_has_no_problems_at_any_moment(scene: Scene) -> None:
    for _ in range(2 * _TURN_S):
        scene.clock.at_s += 1
        parsed = scene.mdstat()
        assert parsed.problems == []
        assert [array.name for array in parsed.arrays] == ["md127", "md126", "md125", "md124"]


def test_the_opening(scene: Scene) -> None:
    reported = scene.events(1100)
    at = {(subject, text): second for second, subject, text in reported}
    assert at["vm", "member nvme1n1p1 failed"] == 40
    assert at["vm", "recover started, 717 GiB"] == 40
    assert at["vm", "member nvme1n1p1 removed"] == 900
    assert at["vm", "member nvme1n1p1 added (spare)"] == 903
    assert at["data", "resync ended"] == at["root", "check started, 93 GiB"]
    assert 400 < at["data", "resync ended"] < 480
    assert 550 < at["root", "check ended, 128 mismatched sectors"] < 750
    assert 950 < at["vm", "member nvme3n1p1: rebuilding → in_sync"] < 1100
    assert reported[-1][1:] == ("vm", "optimal")


def test_the_story_repeats(scene: Scene) -> None:
    scene.go(1199)
    first = [(subject, text) for _, subject, text in scene.events(2400)]
    assert ("vm", "member nvme2n1p1 failed") in first
    second = [(subject, text) for _, subject, text in scene.events(2400)]
    assert any(text.endswith("failed") and subject == "vm" for subject, text in second)
    for reported in (first, second):
        assert ("root", "check ended, 128 mismatched sectors") in reported
        assert ("data", "check ended, 0 mismatched sectors") in reported
        assert ("vm", "optimal") in reported


def test_a_failed_disk_is_exchanged_for_a_new_one(scene: Scene) -> None:
    def smart(name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            scene.reader.take_tool("smartctl", "--json=c", "-x", f"/dev/{name}").stdout
        )
        return found

    before = smart("nvme1n1")
    assert before["smart_status"] == {"passed": True}
    scene.go(41)
    fails = smart("nvme1n1")
    assert fails["smart_status"] == {"passed": False}
    assert fails["smartctl"]["exit_status"] == 8
    assert fails["nvme_smart_health_information_log"]["media_errors"] == 1284
    scene.go(870)
    new = smart("nvme1n1")
    assert new["smart_status"] == {"passed": True}
    assert new["serial_number"] != before["serial_number"]
    assert new["power_on_time"]["hours"] == 2
    assert smart("nvme2n1")["smart_status"] == {"passed": True}


def test_the_exchange_keeps_away_from_what_the_user_did(scene: Scene) -> None:
    """Its superblock is gone with the failed disk; an array that has a spare gets no other one."""
    kernel = scene.reader.simulated
    vm = kernel.array("vm")
    assert vm is not None
    scene.go(41)
    remove_member(kernel, vm, "nvme1n1p1")
    add_member(kernel, vm, "nvme4n1", "nvme4n1")
    assert scene.reader.take_tool("mdadm", "--examine", "--export", "/dev/nvme1n1p1").status == 0
    scene.go(1000)
    assert [each.device for each in vm.members if each.is_spare] == ["nvme4n1"]
    assert scene.reader.take_tool("mdadm", "--examine", "--export", "/dev/nvme1n1p1").status == 1


def test_arrays_come_to_rest(scene: Scene) -> None:
    scene.go(1150)
    assert not scene.sampler.sample().syncing
    quiet = timeless(scene.sampler.sample())
    scene.go(20)
    assert timeless(scene.sampler.sample()) == quiet


def test_it_reports_what_a_kernel_would(scene: Scene) -> None:
    reported: list[KernelEvent] = []
    stop = scene.reader.subscribe(reported.append)
    scene.go(100)
    assert reported == [
        KernelEvent(source="poll", device="md125", what="dev-nvme1n1p1/state"),
        KernelEvent(source="poll", device="md125", what="sync_action"),
        KernelEvent(source="uevent", device="sde", what="add"),
    ]
    stop()
    scene.go(100)
    assert len(reported) == 3


def test_a_listener_may_read(scene: Scene) -> None:
    def read(_: KernelEvent) -> None:
        scene.reader.read("/proc/mdstat")

    scene.reader.subscribe(read)
    scene.go(200)
    scene.reader.take_value(f"{DATA}/sync_action", "frozen")
    assert scene.mdstat().problems == []


def test_next_event(scene: Scene) -> None:
    assert scene.reader.next_event_s() == pytest.approx(40)
    scene.clock.at_s += 30  # not read yet: the kernel lags behind its clock
    assert scene.reader.next_event_s() == pytest.approx(10)
    scene.go(10)
    assert scene.reader.next_event_s() == pytest.approx(50)
    scene.go(370)
    until_s = scene.reader.next_event_s()  # the end of the resync
    assert until_s is not None
    assert 0 < until_s < 60
    for _ in range(100):
        scene.go(scene.reader.next_event_s() or 0.0)
    assert scene.clock.at_s > 5000 + 1200


def test_the_same_seed_reports_the_same(scene: Scene) -> None:
    other, third = Scene(), Scene(seed=2)
    for each in (scene, third):
        each.go(300)
    for _ in range(300):
        other.go(1)
    assert scene.reader.read("/proc/mdstat") != third.reader.read("/proc/mdstat")
    assert abs(scene.done_kib("md127") - other.done_kib("md127")) <= 1


def test_waking_up_after_a_week(scene: Scene) -> None:
    scene.go(7 * 86400)
    assert scene.mdstat().problems == []
    assert scene.sampler.sample().lacks == ()
    until_s = scene.reader.next_event_s()
    assert until_s is not None
    assert until_s <= 2400


def test_a_clock_that_goes_back_changes_nothing(scene: Scene) -> None:
    scene.go(100)
    before = scene.reader.read("/proc/mdstat")
    scene.go(-50)
    assert scene.reader.read("/proc/mdstat") == before
