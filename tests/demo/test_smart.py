"""What the demo's disks say of themselves: one of each kind, the same at the same time."""

from __future__ import annotations

import json

import pytest

from raidtui.host.smart.smart_reader import read_measured, read_smart
from raidtui.model.self_test import RunningSelfTest, SelfTestKind, SelfTestOutcome, SelfTests
from raidtui.model.smart import NoReading, SmartReading, Unread
from raidtui.monitor.wear.bytes_written import written
from raidtui.monitor.wear.ledger import PATH, read_captured_history
from raidtui.monitor.wear.readings import WearLook, WearReader
from tests.demo.scene import EPOCH_S, Scene


def look(scene: Scene) -> WearLook:
    return WearReader(scene.reader).look(scene.sampler.sample())


def test_one_of_each_kind(scene: Scene) -> None:
    found = look(scene)
    reported = {
        disk.name: [each.code for each in disk.findings]
        + [
            each.code
            for array in found.arrays
            for each in array.findings
            if each.sentence.startswith(disk.name + " is")
        ]
        for disk in found.disks
    }
    assert {name: codes for name, codes in reported.items() if codes} == {
        "sdd": ["out-of-line", "out-of-line"],
        "sdf": ["unit-wrong"],
        "sdg": ["standby"],
        "nvme3n1": ["worn"],
    }
    assert [(disk.name, disk.percent.percent) for disk in found.disks] == [
        ("sda", 3), ("sdb", 3), ("sdc", 3), ("sdd", 11), ("sdf", None), ("sdg", None),
        ("sdh", 0), ("sdi", 0), ("nvme0n1", 22), ("nvme1n1", 22), ("nvme2n1", 22), ("nvme3n1", 93),
        ("nvme4n1", 0), ("nvme5n1", 0),
    ]  # fmt: skip
    assert (found.trouble, found.known_since_s) == ("", EPOCH_S - 120 * 86_400)


def test_the_disk_that_sleeps_is_left_asleep(scene: Scene) -> None:
    found = read_smart(scene.reader, "sdg")
    assert isinstance(found, NoReading)
    assert found.why is Unread.STANDBY


def test_a_disk_that_is_not_there(scene: Scene) -> None:
    found = read_smart(scene.reader, "sde")
    assert isinstance(found, NoReading)
    assert found.why is Unread.NO_DEVICE
    scene.go(91)
    assert isinstance(read_smart(scene.reader, "sde"), SmartReading)


def test_other_tools_are_not_there(scene: Scene) -> None:
    assert scene.reader.take_tool("hdparm", "-I", "/dev/sda").status is None


def test_the_same_time_gives_the_same_text() -> None:
    def text(scene: Scene) -> str:
        scene.go(300)
        return scene.reader.take_tool("smartctl", "--json=c", "-x", "-n", "standby,3,5", "/dev/sdd").stdout

    assert text(Scene()) == text(Scene())


def test_writes_follow_the_kernels_count(scene: Scene) -> None:
    """A disk never counts less than the kernel wrote, or its unit would be in doubt."""
    before = {name: read_measured(scene.reader, name) for name in ("sda", "nvme3n1", "sdf")}
    scene.go(600)  # nvme3n1 takes the place of one that failed
    after = {name: read_measured(scene.reader, name) for name in before}
    grown = {}
    for name, first in before.items():
        last = after[name]
        assert isinstance(first.result, SmartReading)
        assert isinstance(last.result, SmartReading)
        assert first.high_bytes is not None
        assert last.low_bytes is not None
        assert (first.since, bool(first.since)) == (last.since, True)
        grown[name] = last.low_bytes - first.high_bytes
        counted = (written(last.result).size_bytes or 0) - (written(first.result).size_bytes or 0)
        assert abs(counted - grown[name]) <= (written(last.result).unit_bytes or 0)
    assert grown["nvme3n1"] > 300 * 10**9
    assert 0 < grown["sda"] < 2 * 10**9
    assert grown["sdf"] == 0


def test_the_history_is_that_of_these_disks(scene: Scene) -> None:
    """A reading continues from the ones before: same counter, same name, nothing taken back."""
    kept = read_captured_history(scene.reader.text(PATH) or "")
    assert kept is not None
    for disk in look(scene).disks:
        if disk.entry is None:
            continue
        own = [entry for entry in kept.entries if entry.disk == disk.entry.disk]
        assert own
        assert {(entry.source, entry.name, entry.model) for entry in own} == {
            (disk.entry.source, disk.name, disk.entry.model)
        }
        sizes = [entry.count or 0 for entry in own] + [disk.entry.count or 0]
        assert sizes == sorted(sizes)
        hours = [entry.hours or 0 for entry in own]
        assert hours == sorted(hours)


def test_what_the_recover_cost(scene: Scene) -> None:
    (cost,) = look(scene).costs
    assert (cost.what, cost.costs["S2R5NX0H912002"]) == ("recover of data", 225_673_283_040)


def test_the_text_is_smartctls(scene: Scene) -> None:
    whole = json.loads(
        scene.reader.take_tool("smartctl", "--json=c", "-x", "-n", "standby,3,5", "/dev/nvme0n1").stdout
    )
    assert whole["device"] == {"name": "/dev/nvme0n1", "type": "nvme", "protocol": "NVMe"}
    assert whole["nvme_smart_health_information_log"]["percentage_used"] == 22


@pytest.mark.parametrize(("name", "kind"), [("sda", SelfTestKind.OTHER), ("nvme0n1", SelfTestKind.SHORT)])
def test_a_self_test_runs_to_its_end(scene: Scene, name: str, kind: SelfTestKind) -> None:
    assert scene.reader.take_tool("smartctl", "-t", "short", f"/dev/{name}").status == 0
    assert scene.reader.take_tool("smartctl", "-t", "long", f"/dev/{name}").status == 4  # one runs
    scene.go(31)
    assert self_tests(scene, name).running == RunningSelfTest(kind=kind, left_percent=80)
    scene.go(90)
    tests = self_tests(scene, name)
    assert (tests.running, len(tests.log)) == (None, 4)
    assert tests.last is not None
    assert (tests.last.kind, tests.last.outcome) == (SelfTestKind.SHORT, SelfTestOutcome.PASSED)


@pytest.mark.parametrize("name", ["sda", "nvme0n1"])
def test_a_self_test_is_aborted(scene: Scene, name: str) -> None:
    scene.reader.take_tool("smartctl", "-t", "long", f"/dev/{name}")
    scene.go(1)
    assert scene.reader.take_tool("smartctl", "-X", f"/dev/{name}").status == 0
    tests = self_tests(scene, name)
    assert tests.running is None
    assert tests.last is not None
    assert (tests.last.kind, tests.last.outcome) == (SelfTestKind.LONG, SelfTestOutcome.ABORTED)
    assert (
        scene.reader.take_tool("smartctl", "-X", f"/dev/{name}").status == 0
    )  # nothing runs: nothing happens


def self_tests(scene: Scene, name: str) -> SelfTests:
    found = read_smart(scene.reader, name)
    assert isinstance(found, SmartReading)
    assert found.self_tests is not None
    return found.self_tests
