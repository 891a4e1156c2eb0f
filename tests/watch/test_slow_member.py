"""A slow member is named before it fails: by minutes that are watched, by weeks that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.arrays.cli_json import report_dict
from raidtui.host.diskstats import DISKSTATS
from raidtui.jobs.speed_book import SpeedBook
from raidtui.model.disk import DiskIo
from raidtui.model.finding import Finding, Health, Severity
from raidtui.monitor.speed_watch import SpeedWatch
from raidtui.watch.watch import HostWatch, Report
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid1, raid5
from tests.hosts.trees import host_tree

BOOT = "/proc/sys/kernel/random/boot_id"
UUID = "f7c5a4ee:2a0fd4ab:3a0b1ea4:57b2f3f5"
ARRAY = raid5(members=("sda", "sdb", "sdc"), uuid=UUID.replace(":", ""))
ROTATES = {name: {"rotational": "1"} for name in ("sda", "sdb", "sdc", "sdd")}
MEASURED = {"sda": 10.0, "sdb": 40.0, "sdc": 11.0}
"""Milliseconds that each member takes for a read."""
DAY_S = 86_400


class Loaded:
    """A host with arrays that are read from, and who watches it."""

    def __init__(
        self, folder: Path, array: ArraySpec = ARRAY, disks: Mapping[str, Mapping[str, str]] = ROTATES
    ) -> None:
        self.kernel = Kernel(array, disks=disks)
        self.kernel.put(BOOT, "boot 1")
        self.book = SpeedBook(folder, writes=True)
        self.waits_ms: Mapping[str, float] = MEASURED
        self.io = {name: [0] * 11 for name in (*ROTATES, "sda1", "nvme0n1")}
        self.console = self.watcher()
        self.report = self.console.refresh()

    def watcher(self, *, keeps: bool = True) -> HostWatch:
        """Return another watcher, by the clock of the host."""
        watch = HostWatch(self.kernel)
        watch.sampler = self.kernel.sampler()
        watch.speeds = SpeedWatch(self.kernel, self.book, keeps=keeps)
        return watch

    def read(self, requests: int, *, after_s: float = 60.0) -> Report:
        """Let each member be read so often, and look."""
        for name, counters in self.io.items():
            spent_ms = int(requests * self.waits_ms.get(name, 10.0))
            for place, more in ((0, requests), (2, 64 * requests), (3, spent_ms), (9, spent_ms)):
                counters[place] += more
        self.kernel.put(DISKSTATS, "".join(
            f"   8       0 {name} {' '.join(map(str, counters))}\n" for name, counters in self.io.items()
        ))  # fmt: skip
        self.kernel.passed_s += after_s
        self.report = self.console.refresh()
        return self.report

    def minutes(self, number: int, requests: int = 200) -> Report:
        """Let minutes pass."""
        for _ in range(number):
            self.read(requests)
        return self.report

    def hours(self, number: int) -> Report:
        """Let hours pass in which no one watches but a timer."""
        for _ in range(number):
            self.console = self.watcher()
            self.read(5000, after_s=3600.0)
        return self.report

    def days(self, number: int) -> Report:
        """Let days pass on which disks are used for six hours."""
        for _ in range(number):
            self.hours(7)
            self.read(0, after_s=DAY_S - 7 * 3600)
        return self.report


def slow(report: Report) -> Finding | None:
    """Return the finding about a slow member."""
    return next((each for each in report.findings if each.code == "slow-member"), None)


def test_it_is_found_within_minutes(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    assert slow(host.minutes(10)) is None
    found = slow(host.minutes(1))
    assert found is not None
    clock = found.sentence.partition(" until ")[2][:5]
    assert found.sentence == (
        f"member sdb takes 40 ms for a read, its siblings at most 11 ms: 10 of 10 minutes until {clock},"
        " 2000 reads"
    )
    assert found.remedy == (
        "look at its SMART values (raidtui wear), its cable and its port; raidtui plan replace media sdb"
        " --with DEVICE exchanges it before it fails"
    )
    assert found.severity is Severity.ATTENTION
    assert list(host.report.healths.values()) == [Health.ATTENTION]
    assert [event.text for event in host.report.new_events] == [f"attention: {found.sentence}"]
    assert report_dict(host.report)["findings"][0]["code"] == "slow-member"


def test_it_lasts_until_the_minutes_show_otherwise(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.minutes(12)
    assert slow(host.minutes(200, requests=0)) is not None
    host.waits_ms = {}
    assert slow(host.minutes(9)) is not None
    assert slow(host.minutes(1)) is None
    assert host.report.new_events[-1].text == "optimal"


def test_what_a_day_did_not_show_again_is_said_no_more(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    assert slow(host.minutes(12)) is not None
    assert slow(host.read(0, after_s=DAY_S - 70)) is not None
    assert slow(host.read(0, after_s=100)) is None


def test_another_process_says_what_was_watched(tmp_path: Path) -> None:
    """As ``raidtui status --json`` does, which looks once."""
    host = Loaded(tmp_path)
    host.minutes(12)
    told = host.watcher(keeps=False).refresh()
    assert slow(told) is not None
    assert slow(Loaded(tmp_path / "other").watcher(keeps=False).refresh()) is None


def test_it_reads_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Loaded(tmp_path)
    host.minutes(1)
    read: list[float] = []

    def counted(*_: object, **__: object) -> dict[str, DiskIo]:
        read.append(host.kernel.passed_s)
        return {}

    monkeypatch.setattr("raidtui.monitor.speed_watch.read_io", counted)
    for _ in range(30):
        host.kernel.passed_s += 5
        host.console.refresh()
    assert read == [120, 180]


def test_it_writes_once_an_hour(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.waits_ms = {}
    written = set()
    for _ in range(180):
        host.minutes(1)
        written |= {path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert 3 <= len(written) <= 5


@pytest.mark.parametrize(
    ("array", "disks"),
    [
        (ARRAY, {**ROTATES, "sda": {"rotational": "0"}}),
        (replace(ARRAY, members=("sda", "sdb", "nvme0n1")), {**ROTATES, "nvme0n1": {"rotational": "1"}}),
        (replace(ARRAY, states={"sdb": "in_sync,write_mostly"}), ROTATES),
        (replace(ARRAY, rebuilding=("sdb",)), ROTATES),
        (replace(ARRAY, members=("sda", "sdb", "sdc", None)), ROTATES),
        (replace(ARRAY, sync=Syncing(action="resync", done_kib=5)), ROTATES),
        (replace(ARRAY, sync=Syncing(action="resync", waiting="DELAYED")), ROTATES),
        (replace(ARRAY, members=("sda", "sdc"), spares=("sdb",)), ROTATES),
        (replace(ARRAY, members=("sda", "sdc"), journal="sdb"), ROTATES),
        (replace(ARRAY, level="linear"), ROTATES),
        (replace(ARRAY, level="raid4"), ROTATES),
    ],
)
def test_what_cannot_be_compared_is_not_slow(
    array: ArraySpec, disks: Mapping[str, Mapping[str, str]], tmp_path: Path
) -> None:
    host = Loaded(tmp_path, array, disks=disks)
    assert slow(host.minutes(30)) is None


def test_a_disk_at_usb_is_not_compared_with_one_at_sata(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    tree = host_tree(ARRAY, disks=ROTATES)
    tree.links["/sys/class/block/sda"] = "../../devices/pci0000:00/usb1/1-1/host3/block/sda"
    host.kernel.show(tree)
    host.console = host.watcher()
    assert slow(host.minutes(30)) is None


@pytest.mark.parametrize(("below", "found"), [("sdd", True), ("nvme0n1", False)])
def test_maps_are_compared_by_what_is_below_them(below: str, *, found: bool, tmp_path: Path) -> None:
    maps = ("dm-0", "dm-1")
    disks = {**{name: {"rotational": "0", "serial": name} for name in maps}, "sda": {}, below: {}}
    host = Loaded(tmp_path, raid1(members=maps, uuid=UUID.replace(":", "")), disks=disks)
    host.io = {name: [0] * 11 for name in maps}
    host.waits_ms = {"dm-1": 40.0}
    for name, disk in zip(maps, ("sda", below), strict=True):
        host.kernel.put(f"/sys/class/block/{name}/slaves/{disk}", "")
    host.console = host.watcher()
    assert (slow(host.minutes(15)) is not None) is found


def test_a_check_is_a_load_like_any_other(tmp_path: Path) -> None:
    host = Loaded(tmp_path, replace(ARRAY, sync=Syncing(action="check", done_kib=5, speed_kib_s=5)))
    assert slow(host.minutes(15)) is not None


def test_while_it_is_rebuilt_it_is_not_said(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.minutes(12)
    host.kernel.change(replace(ARRAY, rebuilding=("sda",), sync=Syncing(action="recover", done_kib=5)))
    host.kernel.put(BOOT, "boot 1")
    assert slow(host.minutes(1)) is None
    host.kernel.change(ARRAY)
    assert slow(host.minutes(1)) is not None


def test_another_model_may_be_slower_for_good(tmp_path: Path) -> None:
    models = {name: {"rotational": "1", "model": "X" if name == "sdb" else "Y"} for name in ROTATES}
    found = slow(Loaded(tmp_path, disks=models).minutes(12))
    assert found is not None
    assert found.severity is Severity.INFO
    assert found.sentence.endswith("; it is of another model")


def test_without_redundancy_there_is_no_replacement(tmp_path: Path) -> None:
    host = Loaded(tmp_path, raid0(members=("sda", "sdb", "sdc"), uuid=UUID.replace(":", "")))
    found = slow(host.minutes(12))
    assert found is not None
    assert found.remedy.endswith("copy the data away before it fails: scratch has no redundancy")


def test_it_is_found_over_weeks_by_a_timer(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.waits_ms = {"sdb": 11.0}
    assert slow(host.days(4)) is None
    host.read(0, after_s=12 * DAY_S)
    host.waits_ms = {"sdb": 22.0}
    assert slow(host.days(5)) is None
    found = slow(host.days(3))
    assert found is not None
    assert found.sentence.startswith("member sdb takes 22 ms for a read, its siblings at most 10 ms: ")
    assert found.sentence.endswith("; before, it was as fast as they were")
    (kept,) = tmp_path.glob("*.json")
    assert kept.stat().st_size < 64 * 1024


def test_a_model_that_was_always_slower_is_not_reported_for_weeks(tmp_path: Path) -> None:
    models = {name: {"rotational": "1", "model": "X" if name == "sdb" else "Y"} for name in ROTATES}
    host = Loaded(tmp_path, disks=models)
    host.waits_ms = {"sdb": 22.0}
    assert slow(host.days(12)) is None


def test_hours_of_a_rebuild_do_not_count(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.hours(2)
    record = host.book.read(UUID)
    assert record is not None
    assert len(record.hours) == 1
    host.kernel.change(replace(ARRAY, sync=Syncing(action="resync", done_kib=5)))
    host.hours(1)
    host.kernel.change(ARRAY)
    host.hours(1)
    after = host.book.read(UUID)
    assert after is not None
    assert after.hours == record.hours


def test_another_boot_or_a_long_night_does_not_count(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    host.hours(2)
    host.kernel.put(BOOT, "boot 2")
    host.hours(1)
    host.read(5000, after_s=3 * 3600.0)
    record = host.book.read(UUID)
    assert record is not None
    assert len(record.hours) == 1


def test_two_watchers_count_once(tmp_path: Path) -> None:
    host = Loaded(tmp_path)
    other = host.watcher()
    other.refresh()
    for _ in range(150):
        host.minutes(1)
        other.refresh()
    record = host.book.read(UUID)
    assert record is not None
    assert len(record.hours) == 2


def test_a_mirror_is_judged_by_the_time_of_a_read_not_by_their_number(tmp_path: Path) -> None:
    host = Loaded(tmp_path, raid1(members=("sda", "sdb"), uuid=UUID.replace(":", "")))
    host.waits_ms = {}
    for name in ("sda", "sdc"):
        host.io[name][0] = 10_000
    assert slow(host.minutes(30)) is None
    host.waits_ms = MEASURED
    assert slow(host.minutes(15)) is not None
