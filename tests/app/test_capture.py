"""``raidtui capture``: what is written opens again as the same host, without its serial numbers."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.host.readers.host_reader import ReaderError
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.ledger import (
    PATH,
    CapturedHistory,
    MemoryLedger,
    captured_history_text,
    read_captured_history,
)
from raidtui.monitor.wear.ledger_entries import LedgerEntry
from raidtui.monitor.wear.readings import WearReader
from tests.hosts.trees import EPOCH_S, Stage, Syncing, host_tree, raid0, raid1, raid5, raid10
from tests.monitor.wear.disks import smartctl_json
from tests.monitor.wear.hosts import TB, asleep, evo, outputs

SERIALS = ("S2R5NX0H812345", "S2R5NX0H812346", "2142330F7A1C")
WWNS = ("0x5002538d40c0ffee", "0x5002538d40c0ffef", "eui.000000000000000100a07521330f7a1c")
DISKS = {
    disk: {"serial": serial, "wwn": wwn}
    for disk, serial, wwn in zip(("sda", "sdb", "nvme0n1"), SERIALS, WWNS, strict=True)
}


@pytest.fixture
def stage() -> Stage:
    """A host with serial numbers in every place where the kernel, udev and mdadm show them."""
    tree = host_tree(
        raid1(
            "md0", "boot", members=("sda1", "sdb1"), sync=Syncing(action="check", done_kib=5, speed_kib_s=9)
        ),
        raid1("md1", "root", members=("sda2", "sdb2"), bitmap=(1, 7), failed=("sdb2",)),
        raid0("md2", members=("nvme0n1p1", "sdc")),
        disks=DISKS,
        mounts={"md0": "/boot", "md1": "/srv/some data"},
        holders={"md2": ("dm-0=vg-lv",)},
        mdadm=True,
    )
    stage = tree.root()
    whole = f"Samsung_SSD_850_{SERIALS[0]}"
    stage.put("/sys/class/block/nvme0n1/wwid", f"{WWNS[2]}\n")
    stage.put("/sys/class/block/nvme0n1/device/serial", f"{SERIALS[2]}        \n")
    stage.put(
        "/run/udev/data/b8:0",
        f"S:disk/by-id/ata-{whole}\nS:disk/by-id/wwn-{WWNS[0]}\nE:ID_SERIAL={whole}\n"
        f"E:ID_SERIAL_SHORT={SERIALS[0]}\nE:ID_WWN={WWNS[0]}\nE:SCSI_IDENT_SERIAL={SERIALS[0]}\n",
    )
    stage.put("/etc/mdadm/mdadm.conf", f"DEVICE /dev/disk/by-id/ata-{whole}-part1\n")
    return stage


def seen(root: MemoryReader) -> Snapshot:
    return Sampler(root).sample()


def opened(path: Path) -> Snapshot:
    root = open_root(str(path))
    assert isinstance(root, MemoryReader)
    return seen(root)


def content(path: Path) -> str:
    """Return all bytes of the archive, names of entries included."""
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def test_serial_numbers_are_hashed_everywhere(stage: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(stage, target)
    text = content(target)
    assert [secret for secret in (*SERIALS, *WWNS) if secret in text] == []
    assert "E:ID_SERIAL=" in text


def test_one_disk_has_one_hash_within_a_capture(stage: Stage, tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    write_capture(stage, first)
    write_capture(stage, second)
    disks, later = opened(first).disks, opened(second).disks
    assert disks["sda1"].serial == disks["sda2"].serial == disks["sda"].serial
    assert len({disks[name].serial for name in ("sda", "sdb", "nvme0n1")}) == 3
    assert disks["sda"].serial != later["sda"].serial


@pytest.mark.parametrize("with_serials", [False, True])
def test_a_capture_is_the_same_host(stage: Stage, tmp_path: Path, *, with_serials: bool) -> None:
    target = tmp_path / "host.tar.gz"
    number = write_capture(stage, target, with_serials=with_serials).files
    before, after = seen(stage), opened(target)
    assert number > 50
    assert after.arrays == before.arrays
    assert after.limits == before.limits
    assert after.lacks == before.lacks
    assert (after.host.name, after.host.kernel) == ("nas", "7.2.13")
    assert after.host.source == "host.tar.gz"
    assert after.taken_s == before.taken_s == EPOCH_S
    uses = {name: disk.uses for name, disk in after.disks.items()}
    assert uses == {name: disk.uses for name, disk in before.disks.items()}
    if with_serials:
        assert after.disks == before.disks
        assert {after.disks[name].serial for name in DISKS} == set(SERIALS)
        assert {after.disks[name].wwn for name in DISKS} == set(WWNS)


def test_what_mdadm_said_is_in_it(stage: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(stage, target)
    root = open_root(str(target))
    argv = ("mdadm", "--examine", "--export", "/dev/sda1")
    assert root.ask(*argv).stdout == stage.ask(*argv).stdout
    assert root.ask("mdadm", "--examine", "/dev/sdx9").status is None


NUMBERS = {
    "wwn": {"naa": 5, "oui": 9528, "id": 52089847},
    "logical_unit_id": "0x5000cca02b0a1b2c",
    "nvme_namespaces": [
        {
            "id": 1,
            "eui64": {"oui": 6083300, "ext_id": 594737341466},
            "nguid": "36434630529015770025384500000001",
        }
    ],
    "scsi_sas_port_0": {
        "phy_0": {"sas_address": "0x5000cca02b0a1b2d", "attached_sas_address": "0x500056b3f1e2d3c4"}
    },
}
SECRETS = (
    *SERIALS, *WWNS, "52089847", "0x5000cca02b0a1b2c", "594737341466", "36434630529015770025384500000001",
    "0x5000cca02b0a1b2d", "0x500056b3f1e2d3c4",
)  # fmt: skip


@pytest.fixture
def reported(stage: Stage) -> Stage:
    """The same, with disks that answer smartctl, and a history."""
    first = {**json.loads(evo("sda", 12 * TB)), "serial_number": SERIALS[0], **NUMBERS}
    other = json.dumps({**smartctl_json({"kind": "nvme"}, "nvme0n1"), "serial_number": SERIALS[2]})
    for path, text in outputs({"sda": json.dumps(first), "sdb": asleep(), "nvme0n1": other}).items():
        stage.put(path, text)
    stage.put("/proc/sys/kernel/random/boot_id", "4f1d2c3b-0a59\n")
    stage.put("/sys/class/block/sda/diskseq", "9\n")
    stage.put("/proc/diskstats", "   8 0 sda 1 0 8 1 1 0 4096 1 0 1 2 0 0 0 0 0 0\n")
    past = [
        LedgerEntry(
            disk=SERIALS[0],
            at_s=EPOCH_S - day * 86_400,
            name="sda",
            source="attribute 241 Total_LBAs_Written",
            size_bytes=12 * TB - day * 10**10,
        )
        for day in range(9, 0, -1)
    ]
    stage.put(
        PATH,
        captured_history_text(MemoryLedger(CapturedHistory(entries=tuple(past))), (SERIALS[0],), EPOCH_S),
    )
    return stage


def test_a_capture_shows_the_same_wear(reported: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(reported, target, with_serials=True)
    root = open_root(str(target))
    before = WearReader(reported).look(Sampler(reported).sample())
    after = WearReader(root).look(Sampler(root).sample())
    assert after == before
    assert [disk.name for disk in after.disks] == ["sda", "sdb", "sdc", "nvme0n1"]
    assert after.disks[0].forecast is not None
    assert after.disks[0].forecast.per_day_bytes == 10**10
    assert after.disks[0].entry is not None
    assert (after.disks[0].entry.since, after.disks[0].entry.low_bytes) == ("4f1d2c3b-0a59/9", 4096 * 512)


def test_smartctls_words_have_no_serial_numbers_either(reported: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(reported, target)
    text = content(target)
    assert [secret for secret in SECRETS if secret in text] == []
    root = open_root(str(target))
    look = WearReader(root).look(Sampler(root).sample())
    serial = opened(target).disks["sda"].serial
    assert look.disks[0].entry is not None
    assert look.disks[0].entry.disk == serial
    kept = read_captured_history(root.text(PATH) or "")
    assert kept is not None
    assert {entry.disk for entry in kept.entries} == {serial}
    assert look.known_since_s == EPOCH_S - 9 * 86_400


def test_with_serials_all_of_it_is_kept(reported: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(reported, target, with_serials=True)
    text = content(target)
    assert [secret for secret in SECRETS if secret not in text and secret not in (SERIALS[1], *WWNS)] == []


def test_output_that_is_cut_has_no_serial_numbers_either(reported: Stage, tmp_path: Path) -> None:
    (path, text), *_ = outputs({"sda": evo("sda", TB, serial=SERIALS[0])}).items()
    reported.put(path, text[: text.index("ata_smart")])
    target = tmp_path / "host.tar.gz"
    write_capture(reported, target)
    assert SERIALS[0] not in content(target)


def test_a_capture_of_a_capture(stage: Stage, tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    write_capture(stage, first)
    write_capture(open_root(str(first)), second)
    assert opened(second).arrays == opened(first).arrays


def test_a_host_without_md(tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(host_tree(limits=None).root(), target)
    after = opened(target)
    assert (after.md_loaded, after.arrays) == (False, ())


def test_a_file_that_is_there_is_never_overwritten(stage: Stage, tmp_path: Path) -> None:
    target = tmp_path / "host.tar.gz"
    target.write_text("mine")
    with pytest.raises(FileExistsError):
        write_capture(stage, target)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("part", [0.0, 0.002, 0.01, 0.3, 0.6, 0.99])
def test_a_capture_that_was_cut_off(stage: Stage, tmp_path: Path, part: float) -> None:
    target = tmp_path / "host.tar.gz"
    write_capture(stage, target)
    data = target.read_bytes()
    target.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(
        ReaderError, match=r"the archive is damaged|neither a capture nor a /proc/mdstat text"
    ):
        open_root(str(target))


@pytest.mark.parametrize(
    "name", ["../../etc/mdadm.conf", "/../etc/passwd", "proc/../../outside", "/usr/bin/mdadm", "home/someone"]
)
def test_entries_that_a_capture_cannot_have(stage: Stage, tmp_path: Path, name: str) -> None:
    target, plain = tmp_path / "host.tar.gz", tmp_path / "host.tar"
    write_capture(stage, target)
    plain.write_bytes(gzip.decompress(target.read_bytes()))
    with tarfile.open(plain, "a") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"evil"))
    root = open_root(str(plain))
    assert root.text("/etc/passwd") is None
    assert root.text(name) is None
    assert root.text("/etc/mdadm.conf") is None
    assert opened(plain).arrays == opened(target).arrays
    assert sorted(path.name for path in tmp_path.iterdir()) == ["host.tar", "host.tar.gz"]


def test_absolute_names_stay_in_memory(stage: Stage, tmp_path: Path) -> None:
    plain = tmp_path / "host.tar"
    with tarfile.open(plain, "w") as archive:
        for path in ("/proc/mdstat", "/proc/sys/kernel/hostname"):
            data = stage.read(path)
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    after = opened(plain)
    assert after.host.name == "nas"
    assert [array.name for array in after.arrays] == ["md0", "md1", "md2"]


def test_a_large_host(tmp_path: Path) -> None:
    arrays = [raid10(f"md{i}", f"v{i}", members=[f"sd{c}{i}" for c in "abcd"]) for i in range(1, 41)]
    stage = host_tree(*arrays, raid5("md99", spares=("sdz",))).root()
    target = tmp_path / "host.tar.gz"
    write_capture(stage, target)
    assert opened(target).arrays == seen(stage).arrays
