"""What plans learn of disks: life used, a bad cable distinguished from a dying disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.smart.smart_names import smart_names
from raidtui.host.smart.smart_reader import smart_argv
from raidtui.host.tools import output_path
from raidtui.model.survey import Superblock, Survey
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.ledger import Ledger, LedgerError
from raidtui.monitor.wear.ledger_entries import MarkedCost
from raidtui.monitor.wear.readings import DiskHistory, WearReader, array_wears
from raidtui.monitor.wear.survey_wear import worn
from tests.hosts.specs import raid1
from tests.hosts.trees import EPOCH_S, host_tree
from tests.monitor.wear.hosts import GB, TB, WearHost, evo
from tests.plans.new_array import device
from tests.plans.running import first, host

NOW_S = 1_795_209_900.0


def said(*, crc: int = 0, reallocated: int = 0, used: int = 7, serial: str = "S-sdz") -> str:
    """What smartctl 7.5 says of a SATA SSD."""
    table = [
        {"id": 5, "name": "Reallocated_Sector_Ct", "value": 100, "thresh": 10, "raw": {"value": reallocated}},
        {"id": 199, "name": "UDMA_CRC_Error_Count", "value": 100, "thresh": 0, "raw": {"value": crc}},
    ]
    return json.dumps({
        "smartctl": {"version": [7, 5], "exit_status": 0},
        "device": {"name": "/dev/sdz", "type": "sat", "protocol": "ATA"},
        "model_name": "Some SSD",
        "serial_number": serial,
        "rotation_rate": 0,
        "smart_status": {"passed": True},
        "endurance_used": {"current_percent": used},
        "ata_smart_attributes": {"table": table},
    })  # fmt: skip


def root(**outputs: str) -> MemoryReader:
    return MemoryReader(
        {output_path(smart_argv(name)): f"exit 0\n{text}\n" for name, text in outputs.items()}
    )


def of(name: str, **more: Any) -> Survey:
    return replace(host(raid1(members=("sda", None), bitmap=(0, 1))), devices={name: device(name, **more)})


def test_life_used() -> None:
    found = worn(root(sdz=said()), of("sdz1")).devices["sdz1"]
    assert (found.wear_percent, found.trouble) == (7, "")


def test_nothing_known() -> None:
    """Without smartctl, without an answer: the plan continues without it."""
    for host_root in (MemoryReader({}), root(sdz="no JSON")):
        found = worn(host_root, of("sdz")).devices["sdz"]
        assert (found.wear_percent, found.trouble) == (None, "")
        assert found.unjudged


def test_a_disk_that_answers_but_says_nothing_of_its_health() -> None:
    bare = {key: value for key, value in json.loads(said()).items() if key in {"smartctl", "device"}}
    assert worn(root(sdz=json.dumps(bare)), of("sdz")).devices["sdz"].unjudged
    assert worn(root(sdz=said()), of("sdz")).devices["sdz"].unjudged == ""


@pytest.mark.parametrize(
    ("erc", "waits", "words"),
    [
        (None, "30", "may retry a bad sector for minutes (SCT ERC is missing)"),
        ({"enabled": False}, "30", "may retry a bad sector for minutes (SCT ERC is off)"),
        ({"enabled": True, "deciseconds": 400}, "30", "retries a bad sector for 40 s (SCT ERC)"),
        ({"enabled": True, "deciseconds": 70}, "30", ""),
        (None, "180", ""),
        (None, None, ""),
    ],
)
def test_a_hard_disk_that_retries_longer_than_the_kernel_waits(
    erc: dict[str, Any] | None, waits: str | None, words: str
) -> None:
    answer = json.loads(said()) | ({"ata_sct_erc": {"read": erc, "write": erc}} if erc is not None else {})
    texts = {output_path(smart_argv("sdz")): f"exit 0\n{json.dumps(answer)}\n"}
    if waits is not None:
        texts["/sys/class/block/sdz/device/timeout"] = f"{waits}\n"
    for spins in (True, False):
        there = of("sdz")
        disk = replace(there.devices["sdz"].disk, rotational=spins)
        there = replace(there, devices={"sdz": replace(there.devices["sdz"], disk=disk)})
        assert worn(MemoryReader(texts), there).devices["sdz"].retries == (words if spins else "")


def away(seconds: float) -> Survey:
    """A former member that has been away for so long."""
    array = first(of("sdz"))
    return of("sdz", superblock=Superblock(uuid=array.uuid, name="nas:root", updated_s=NOW_S - seconds))


def test_a_member_whose_cable_failed() -> None:
    found = worn(root(sdz=said(crc=12)), away(120)).devices["sdz"]
    assert found.trouble == (
        "may have a bad cable: 12 transfers failed so far (CRC errors); it disappeared for 2 min and"
        " came back; its own SMART verdict is PASSED; reseat or replace the cable, and check power"
        " and backplane; the disk itself may be sound"
    )


def test_a_member_that_was_away_for_long() -> None:
    """That alone says nothing of cable or disk."""
    assert worn(root(sdz=said()), away(86_400)).devices["sdz"].trouble == ""


def test_a_disk_with_bad_places_is_reported_before_data_go_to_it() -> None:
    assert worn(root(sdz=said(reallocated=4)), of("sdz")).devices["sdz"].trouble == ""
    assert worn(root(sdz=said(reallocated=304)), of("sdz")).devices["sdz"].trouble == (
        "has reallocated 304 sectors (attribute 5 Reallocated_Sector_Ct)"
    )


def test_a_disk_that_records_shingled_or_did_not_answer_is_reported_too() -> None:
    shingled = {**json.loads(said()), "model_family": "Western Digital Red (SMR)"}
    assert (
        worn(root(sdz=json.dumps(shingled)), of("sdz")).devices["sdz"].trouble.startswith("is shingled (SMR)")
    )
    off = {key: value for key, value in shingled.items() if key in {"smartctl", "device", "model_name"}}
    off["smart_support"] = {"available": True, "enabled": False}
    assert worn(root(sdz=json.dumps(off)), of("sdz")).devices["sdz"].trouble == (
        "has SMART disabled: its health is not known"
    )


def test_a_disk_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its count of reallocated sectors has grown since it was last read."""
    path = tmp_path / "wear.sqlite"
    monkeypatch.setattr("raidtui.monitor.wear.readings.ledger_path", lambda: path)
    before = root(sdz=said())
    before.live = True
    reader = WearReader(before)
    assert reader.record(reader.read(["sdz"]).values(), "mark", "before") == 1
    now = root(sdz=said(reallocated=8, crc=12))
    now.live = True
    assert worn(now, away(120)).devices["sdz"].trouble == (
        "is dying: 8 more sectors were reallocated; replace it while it can still be read"
    )
    with Ledger(path) as ledger:
        assert [(entry.disk, entry.mark, entry.reallocated) for entry in ledger.entries("S-sdz")] == [
            ("S-sdz", 1, 0)
        ]


def test_a_ledger_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wear.sqlite"
    path.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    monkeypatch.setattr("raidtui.monitor.wear.readings.ledger_path", lambda: path)
    now = root(sdz=said())
    now.live = True
    reader = WearReader(now)
    assert reader.read(["sdz"])["sdz"].percent.percent == 7
    assert "wear.sqlite" in reader.trouble


def test_members_side_by_side() -> None:
    survey = host(raid1(members=("sda1", "sdb1")))
    reader = WearReader(root(sda=said(), sdb=said(serial="S-sdb")))
    (found,) = array_wears(survey.snapshot, reader.read(["sda", "sdb"]))
    assert (found.name, found.disks) == ("root", ("sda", "sdb"))


# -- all disks at once, and the ledger


def two_disks() -> WearHost:
    made = WearHost(
        raid1("md127", "data", members=("sda2", "sdb2")),
        said={
            "sda": evo("sda", 12 * TB),
            "sdb": evo("sdb", 13 * TB),
            "sdc": evo("sdc", TB),
            "sdu": evo("sdu", TB),
        },
        disks={"sdc": {}, "sdu": {}},
    )
    made.live = True
    made.put("/sys/class/block/sdu/removable", "1\n")
    return made


def test_a_look_at_all_disks(ledger: Path) -> None:
    """Disks of no array, too, but nothing that is pulled out like a stick of memory."""
    host_root = two_disks()
    look = WearReader(host_root).look(host_root.sampler().sample())
    assert [disk.name for disk in look.disks] == ["sda", "sdb", "sdc"]
    assert [(array.name, array.disks) for array in look.arrays] == [("data", ("sda", "sdb"))]
    assert (look.at_s, look.mark, look.costs, look.known_since_s, look.trouble) == (
        EPOCH_S,
        None,
        (),
        None,
        "",
    )
    assert not ledger.exists()


def test_a_look_that_is_kept(ledger: Path) -> None:
    """Twice an hour at most, however often one looks."""
    host_root = two_disks()
    reader, snapshot = WearReader(host_root), host_root.sampler().sample()
    for _ in range(5):
        reader.look(snapshot, record=True)
        host_root.passed_s += 600
    with Ledger(ledger) as pages:
        assert [entry.at_s - EPOCH_S for entry in pages.entries("S21PN-sda")] == [0.0, 1800.0]
    assert reader.look(snapshot).known_since_s == EPOCH_S


def test_the_end_by_the_history_alone(ledger: Path) -> None:
    """No disk is asked; one that was not read for long has left."""
    host_root = two_disks()
    WearReader(host_root).look(host_root.sampler().sample(), record=True)
    host_root.asked.clear()
    found = WearReader(host_root).forecasts(EPOCH_S - 1)
    assert [entry.disk for entry, _ in found][:2] == ["S21PN-sda", "S21PN-sdb"]
    assert all(end is not None for _, end in found[:2])
    _, end = WearReader(host_root, {"Samsung": 1}).forecasts(EPOCH_S - 1)[0]
    assert end is not None
    assert end.over
    assert WearReader(host_root).forecasts(EPOCH_S + 1) == ()
    assert host_root.asked == []
    ledger.write_text("no database")
    with pytest.raises(LedgerError):
        WearReader(host_root).forecasts(0.0)


def test_a_mark_and_what_came_since(ledger: Path) -> None:
    host_root = two_disks()
    reader, snapshot = WearReader(host_root), host_root.sampler().sample()
    marked = reader.look(snapshot, record=True, mark="")
    assert marked.mark is not None
    assert (marked.mark.kind, marked.mark.what) == ("mark", "")
    host_root.said["sda"] = evo("sda", 12 * TB + 5 * GB)
    assert reader.look(snapshot).since == {"sda": 5 * GB, "sdb": 0, "sdc": 0}
    with Ledger(ledger) as pages:
        assert [entry.name for entry in pages.at_mark(marked.mark.id)] == ["sda", "sdb", "sdc"]


def test_the_kernels_count_is_taken_for_what_came_since(ledger: Path) -> None:
    """Where it has counted on since the mark; a disk's own counter may be coarse."""
    del ledger
    host_root = two_disks()
    reader, snapshot = WearReader(host_root), host_root.sampler().sample()
    host_root.wrote(sda=GB, sdb=GB, sdc=GB)
    reader.look(snapshot, mark="here")
    host_root.wrote(sda=GB + 4096, sdb=GB, sdc=GB)
    assert reader.look(snapshot).since == {"sda": 4096, "sdb": 0, "sdc": 0}


def test_nothing_is_marked_where_nothing_was_read(ledger: Path) -> None:
    host_root = two_disks()
    host_root.installed = False
    look = WearReader(host_root).look(host_root.sampler().sample(), mark="here")
    assert (look.mark, look.trouble) == (None, "")
    assert not ledger.exists()


def test_a_ledger_that_cannot_be_written(ledger: Path) -> None:
    ledger.mkdir()
    host_root = two_disks()
    look = WearReader(host_root).look(host_root.sampler().sample(), mark="here")
    assert look.trouble == f"the ledger {ledger} cannot be opened: Is a directory"
    assert [disk.percent.percent for disk in look.disks] == [3, 3, 3]


def test_what_a_sync_cost_is_found_again(ledger: Path) -> None:
    del ledger
    host_root = two_disks()
    reader, snapshot = WearReader(host_root), host_root.sampler().sample()
    reader.record(reader.read(["sda", "sdb"]).values(), "before", "recover of data")
    host_root.said["sdb"] = evo("sdb", 13 * TB + 225 * GB)
    host_root.passed_s += 900
    reader.record(reader.read(["sda", "sdb"]).values(), "after", "recover of data")
    (cost,) = reader.look(snapshot).costs
    assert cost == MarkedCost(
        what="recover of data",
        began_s=EPOCH_S,
        ended_s=EPOCH_S + 900,
        costs={"S21PN-sda": 0, "S21PN-sdb": 225 * GB},
    )
    assert reader.history("S21PN-sdb").costs == (cost,)
    assert [entry.size_bytes for entry in reader.history("S21PN-sdb").entries] == [
        13 * TB,
        13 * TB + 225 * GB,
    ]
    assert [(entry.name, entry.size_bytes) for entry in reader.known()] == [
        ("sda", 12 * TB),
        ("sdb", 13 * TB + 225 * GB),
    ]
    assert reader.history("nobody") == DiskHistory(disk="nobody")


def test_a_capture_whose_history_is_broken() -> None:
    root_of_capture = root(sda=said())
    root_of_capture.put("/.raidtui/wear.json", "{")
    reader = WearReader(root_of_capture)
    for _ in range(2):
        assert reader.read(["sda"])["sda"].percent.percent == 7
        assert reader.trouble == "the history in this capture cannot be read"


def test_names_in_the_order_in_which_people_count() -> None:
    names = ("sdb", "sdaa", "nvme10n1", "sda", "nvme2n1", "sr0", "loop0", "nvme0c0n1", "dm-0", "md0", "vda")
    tree = host_tree(raid1("md5", members=("vdb1", "loop3")))
    memory = MemoryReader(
        {**tree.files, **{f"/sys/class/block/{name}/size": "8\n" for name in names}}, links=tree.links
    )
    found = smart_names(memory, Sampler(memory).sample())
    assert found == ("sda", "sdb", "sdaa", "nvme2n1", "nvme10n1", "vdb")
