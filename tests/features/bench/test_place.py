"""Where a benchmark runs: folders, devices, and the disks below them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raidtui.features.bench.place import Place, below, find_device, find_directory, refuse_room, refuse_size
from raidtui.model.plan import Refusal
from tests.hosts.trees import Stage, host_tree, raid1, raid10


def stacked() -> Stage:
    """/dev/mapper/vg-data on md127 (a RAID-10 of partitions), md126p1 on a RAID-1, and a disk alone."""
    root = host_tree(
        raid10(members=("sda2", "sdb2", "sdc2", "sdd2")),
        raid1("md126", members=("sde", "sdf")),
        disks={"sdg": {}},
    ).root()
    block = "/sys/class/block"
    for above, lower in (
        ("md127", ("sda2", "sdb2", "sdc2", "sdd2")),
        ("md126", ("sde", "sdf")),
        ("dm-0", ("md127",)),
    ):
        for name in lower:
            root.put(f"{block}/{above}/slaves/{name}/dev", "8:0\n")
    root.put(f"{block}/dm-0/size", "1000\n")
    root.put(f"{block}/dm-0/dev", "253:0\n")
    for folder in (f"{block}/md126p1", f"{block}/md126/md126p1"):
        root.put(f"{folder}/partition", "1\n")
        root.put(f"{folder}/size", "1000\n")
        root.put(f"{folder}/dev", "259:0\n")
    return root


@pytest.mark.parametrize(
    ("name", "disks", "members", "arrays"),
    [
        ("dm-0", ("sda", "sdb", "sdc", "sdd"), ("sda2", "sdb2", "sdc2", "sdd2"), ("md127",)),
        ("md127", ("sda", "sdb", "sdc", "sdd"), ("sda2", "sdb2", "sdc2", "sdd2"), ("md127",)),
        ("md126p1", ("sde", "sdf"), ("sde", "sdf"), ("md126",)),
        ("sda2", ("sda",), ("sda2",), ()),
        ("sdg", ("sdg",), ("sdg",), ()),
        ("nosuch", ("nosuch",), ("nosuch",), ()),
    ],
)
def test_below(name: str, disks: tuple[str, ...], members: tuple[str, ...], arrays: tuple[str, ...]) -> None:
    assert below(stacked(), name) == (disks, members, arrays)


def test_a_folder(tmp_path: Path) -> None:
    """By the device that its file system is on, whatever lies between."""
    root = stacked()
    number = tmp_path.stat().st_dev
    root._links[f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"] = "../../devices/virtual/block/dm-0"
    mounts = f"30 1 253:0 / {tmp_path.parent} rw - ext4 /dev/mapper/vg-data rw\n"
    root.put("/proc/self/mountinfo", f"{mounts}31 1 0:5 / / rw - overlay none rw\n")
    assert find_directory(root, str(tmp_path)) == Place(
        directory=str(tmp_path),
        mount=str(tmp_path.parent),
        file_system="ext4",
        disks=("sda", "sdb", "sdc", "sdd"),
        members=("sda2", "sdb2", "sdc2", "sdd2"),
        arrays=("md127",),
        layers=("dm-0",),
    )


def test_a_file_system_with_a_number_of_its_own(tmp_path: Path) -> None:
    """As btrfs has: what it is mounted from decides; and a place with a space in its name."""
    root = stacked()
    place = tmp_path / "a place"
    place.mkdir()
    escaped = str(place).replace(" ", "\\040")
    root.put("/proc/self/mountinfo", f"30 1 0:45 / {escaped} rw - btrfs /dev/sdg rw\n")
    found = find_directory(root, str(place))
    assert isinstance(found, Place)
    assert (found.mount, found.file_system, found.disks) == (str(place), "btrfs", ("sdg",))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path, "{0} does not exist; name a folder on the file system to measure"),
        (lambda path: path.touch(), "{0} is not a folder; name a folder on the file system to measure"),
    ],
)
def test_no_folder(tmp_path: Path, make: object, sentence: str) -> None:
    path = tmp_path / "x"
    assert callable(make)
    make(path)
    found = find_directory(stacked(), str(path))
    assert isinstance(found, Refusal)
    assert found.sentence == sentence.format(path)


def test_a_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    found = find_directory(stacked(), str(tmp_path))
    assert isinstance(found, Refusal)
    assert found.sentence == f"{tmp_path} is not writable by this user; choose another folder"


def test_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.statvfs", lambda _: type("Found", (), {"f_flag": os.ST_RDONLY})())
    found = find_directory(stacked(), str(tmp_path))
    assert isinstance(found, Refusal)
    assert found.sentence == f"the file system at {tmp_path} is read-only; choose another folder"


def test_a_quarter_stays_free(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {"f_bavail": 800, "f_frsize": 1 << 20}
    monkeypatch.setattr("os.statvfs", lambda _: type("Found", (), free)())
    place = Place(directory="/srv")
    assert refuse_room(place, 600 << 20) is None
    refusal = refuse_room(place, 601 << 20)
    assert refusal is not None
    assert refusal.sentence == (
        "the files would take 601 MiB, and at /srv they may take 600 MiB: a quarter of the 800 MiB that are"
        " free stays free; choose a smaller size, or fewer jobs"
    )


def test_a_device() -> None:
    root = stacked()
    assert find_device(root, "sdg") == Place(device="sdg", disks=("sdg",), members=("sdg",))
    found = find_device(root, "sdz")
    assert isinstance(found, Refusal)
    assert found.sentence == "there is no block device sdz"
    place = Place(device="dm-0")
    assert refuse_size(root, place, 512_000) is None
    refusal = refuse_size(root, place, 512_001)
    assert refusal is not None
    assert refusal.sentence == "/dev/dm-0 has 500 KiB, but 500 KiB are needed; choose a smaller size"


def test_words() -> None:
    assert Place(directory="/srv").words == "/srv"
    assert Place(device="md127").words == "/dev/md127"
    assert Place(members=("sda", "sdb")).words == "sda, sdb"
