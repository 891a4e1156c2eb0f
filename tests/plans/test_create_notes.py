"""Create: what is said before it is done."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.survey import Device
from raidtui.plans.create.create_request import CreateRequest
from tests.plans.new_array import GIB, device, plain, plan, survey


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (plain("raid0"), "There is no first sync."),
        (plain("raid0"), "No redundancy: if one fails, all is lost."),
        (plain("raid1", "sda2", "sdb2"), "The first sync reads one device and writes all of the others."),
        (
            plain("raid1", "sda2", "missing"),
            "It starts degraded, without 1 device; nothing is synced until another device is added.",
        ),
        (
            plain("raid1", "sda2", "sdb2", "missing"),
            (
                "It starts degraded, without 1 device; the first sync reads one device and writes all of"
                " the others."
            ),
        ),
        (
            plain("raid1", "sda2", "sdb2", assume_clean=True),
            "The first sync is skipped: until everything has been written once, a check counts mismatches.",
        ),
        (
            plain("raid5"),
            "It starts degraded: the first sync reads all other devices and writes all of sdd2.",
        ),
        (
            plain("raid5"),
            (
                "The bitmap shortens the resync after a crash. It does not close the write hole: a member"
                " lost before that resync ends can mean lost data."
            ),
        ),
        (
            plain("raid5", "sda2", "missing", "sdc2"),
            "It starts degraded; nothing is synced until the missing device is added.",
        ),
        (plain("raid6"), "The first sync reads everything and writes parity where it does not match."),
        (
            plain("raid6", "sda2", "sdb2", "sdc2", "missing"),
            "It starts degraded: the first sync reads all other devices and writes all of sdc2.",
        ),
        (
            plain("raid6", "sda2", "sdb2", "missing", "missing"),
            "It starts degraded; nothing is synced until a missing device is added.",
        ),
        (
            plain("raid10", layout="f2"),
            "RAID 10 far 2: the copies of a chunk lie far apart; all devices serve a single reader.",
        ),
        (
            plain("raid10", layout="o3"),
            "RAID 10 offset 3: the copies of a chunk lie one stripe and one device further on.",
        ),
        (plain("raid5", "sda2", "sdb2", "sdc2", spares=("sdd2",)), "200 GiB on 3 devices, and 1 spare."),
        (plain("raid6", size_kib=1024**2), "2 GiB on 4 devices."),
        (plain("raid0"), "400 GiB on 4 devices."),
        (
            plain("raid1", "sda2", "sdb2", metadata="1.0"),
            "The superblock of 1.0 is at the end: a single member looks like a plain file system.",
        ),
        (
            plain("raid1", "sde", "sdf"),
            (
                "sde, sdf are whole disks: other systems may take a disk without a partition table for"
                " empty and write one over the superblock. A partition of type Linux RAID is safer."
            ),
        ),
        (
            plain("raid1", "sda2", "sdf"),
            (
                "sdf is a whole disk: other systems may take a disk without a partition table for empty"
                " and write one over the superblock. A partition of type Linux RAID is safer."
            ),
        ),
        (
            plain("raid10", name="a" * 28),
            f"nas:{'a' * 28} is longer than 31 bytes: the superblock stores it without the host name.",
        ),
        (
            plain("raid10", name="data", number=9),
            "/dev/md/data appears at the next assembly; until then the device is /dev/md9.",
        ),
    ],
)
def test_notes(asked: CreateRequest, sentence: str) -> None:
    assert sentence in plan(asked).notes


def test_notes_on_devices() -> None:
    twin = replace(device("sdb2"), disk=replace(device("sdb2").disk, serial="S-sda"))
    large = device("sdc2", size_bytes=120 * GIB)
    askew = device("sdd2", start_bytes=63 * 512)
    small = device("sda3", size_bytes=50 * GIB)

    def notes(level: str, *devices: Device) -> tuple[str, ...]:
        names = tuple(each.disk.name for each in devices)
        return plan(plain(level, *names), survey(*devices)).notes

    one = device("sda2")
    path = "sda, sdb have the same serial number S-sda: they may be one disk on two paths."
    assert path in notes("raid1", one, twin)
    assert "20 GiB of sdc2 stays unused: sda2 is the smallest." in notes("raid1", one, large)
    less = "sda2 is smaller than sdc2: the space beyond its end lies on fewer devices and is slower."
    assert less in notes("raid0", one, large)
    found = notes("raid1", one, small)
    assert "sda2, sda3 are on one disk, sda: when it fails, all of them are lost." in found
    assert not any("serial number" in text for text in found)
    askew_words = "sdd2 starts at byte 32256, not at a whole MiB: this costs speed."
    assert askew_words in notes("raid1", one, askew)
    near = notes("raid1", one, device("sdb2", size_bytes=100 * GIB + (1 << 20)))
    assert not any("unused" in text for text in near)


def test_notes_on_one_model() -> None:
    def ssd(name: str, model: str | None = "Samsung SSD 850", *, rotational: bool | None = False) -> Device:
        found = device(name)
        return replace(found, disk=replace(found.disk, model=model, rotational=rotational))

    sentence = "All are Samsung SSD 850: SSDs of one model and age tend to fail within days of each other."
    pair = plain("raid1", "sda2", "sdb2")
    assert sentence in plan(pair, survey(ssd("sda2"), ssd("sdb2"))).notes
    for other in (ssd("sdb2", "Micron 7400"), ssd("sdb2", None)):
        assert not any("tend to fail" in text for text in plan(pair, survey(ssd("sda2"), other)).notes)
    unknown = (ssd("sda2", None), ssd("sdb2", None))
    spinning = (ssd("sda2", rotational=True), ssd("sdb2", rotational=True))
    for both in (unknown, spinning):
        assert not any("tend to fail" in text for text in plan(pair, survey(*both)).notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# mine\nDEVICE /dev/sd[ab]1\n", "DEVICE /dev/sd[ab]1"),
        ("MAILADDR root\ndevice /dev/sda1 # old\n", "device /dev/sda1"),
        ("DEVICE partitions containers\n", ""),
        ("# DEVICE /dev/sda1\n", ""),
    ],
)
def test_notes_on_where_mdadm_looks(text: str, words: str) -> None:
    path = "/etc/mdadm/mdadm.conf"
    found = plan(plain("raid1", "sda2", "sdb2"), survey(texts={path: text})).notes
    sentence = (
        f"{path}, line 2, limits where mdadm looks for members ({words}): make sure that these devices are"
        " among them."
    )
    assert [note for note in found if "mdadm looks" in note] == ([sentence] if words else [])
