"""Backup files of reshapes: found by their header, matched by the array; whether mdadm has use for them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, backup_of, is_needed, new_backup
from raidtui.features.rescue.records import Presence, RescueArray, RescueMember, WayBack, WayCode
from raidtui.features.rescue.screen.guide_rows import guide_rows
from raidtui.features.rescue.session import planned_backups
from raidtui.host.backup_files import ReshapeBackup, find_backups, read_backup
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, Step
from raidtui.model.survey import PendingReshape, Superblock
from tests.plans.new_array import survey

UUID = "00112233:44556677:8899aabb:ccddeeff"
DIGITS = UUID.replace(":", "")


def header(version: bytes = b"2", parts: tuple[int, ...] = (0, 6144, 6144, 6144)) -> bytes:
    first, length, second, more = parts
    head = b"md_backup_data-" + version + bytes.fromhex(DIGITS) + struct.pack("<4Q", 1000, 8, first, length)
    return (head + struct.pack("<I4x3Q", 0, 6144, second, more)).ljust(512, b"\0")


def test_what_a_file_says(tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(header())
    assert read_backup(str(file)) == ReshapeBackup(
        path=str(file), uuid=DIGITS, written_s=1000.0, parts=((0, 6144), (6144, 12288))
    )
    file.write_bytes(header(b"1", (96, 768, 5, 5)))
    found = read_backup(str(file))
    assert found is not None
    assert found.parts == ((96, 864),)


def test_only_backup_files_are_found_and_each_once(tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(header())
    (tmp_path / "short").write_bytes(header()[:90])
    (tmp_path / "other").write_bytes(bytes(512))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/deeper").write_bytes(header())
    (tmp_path / "link").symlink_to(tmp_path / "folder/deeper")
    places = (str(tmp_path), str(tmp_path / "none"), f"{tmp_path}/")
    assert [each.path for each in find_backups(places)] == [str(tmp_path / "backup")]


def test_one_where_the_plan_of_a_job_has_put_it(tmp_path: Path) -> None:
    """However deep: after a boot, nothing else knows of it."""
    place = tmp_path / "some/where/backup"
    place.parent.mkdir(parents=True)
    place.write_bytes(header())
    grow = Step(argv=("mdadm", "--grow", "/dev/md/1", f"--backup-file={place}", "--level=6"), why="begins")
    other = Step(argv=("cp", f"--backup-file={tmp_path}/other", "x"), why="no reshape")
    for plan in (Plan(title="convert: 5 to 6", subject="1", steps=(other, grow)),) * 2:
        Job.create(plan, host="lab", folder=tmp_path / "jobs")
    (tmp_path / "jobs/20260101-000000-odd").mkdir()
    (tmp_path / "jobs/20260101-000000-odd/plan.json").write_text("{")
    files = planned_backups(tmp_path / "jobs")
    assert files == (str(place),)
    assert [each.path for each in find_backups((), files)] == [str(place)]
    assert find_backups((), (f"{place}-gone",)) == ()


def test_the_newest_of_the_array() -> None:
    old = ReshapeBackup(path="/old", uuid=DIGITS, written_s=1.0)
    new = ReshapeBackup(path="/new", uuid="33221100" + "77665544" + "bbaa9988" + "ffeeddcc", written_s=2.0)
    foreign = ReshapeBackup(path="/foreign", uuid="f" * 32, written_s=3.0)
    assert backup_of((old, new, foreign), UUID) is new
    assert backup_of((foreign,), UUID) is None
    assert new_backup(UUID) == "/var/lib/raidtui/rescue/backup-00112233"


@pytest.mark.parametrize(("kib", "needed"), [(0, True), (6144, True), (6145, False)])
def test_whether_mdadm_has_use_for_it(kib: int, *, needed: bool) -> None:
    backup = ReshapeBackup(path="/b", uuid=DIGITS, written_s=1.0, parts=((0, 6144), (6144, 12288)))
    assert is_needed(backup, kib) is needed


@pytest.mark.parametrize(
    ("reshape", "in_place"),
    [
        (PendingReshape(position_kib=1, new_chunk_bytes=131072), True),
        (PendingReshape(position_kib=1, new_chunk_bytes=131072, new_offset_sectors=1024), False),
        (PendingReshape(position_kib=1, delta_disks=1), False),
        (PendingReshape(position_kib=1, delta_disks=-1), True),
    ],
)
def test_whether_data_move_onto_themselves(reshape: PendingReshape, *, in_place: bool) -> None:
    assert reshape.in_place is in_place


@pytest.mark.parametrize(
    ("code", "backup", "words"),
    [
        (WayCode.CONTINUE, "", ("", "", False, False)),
        (WayCode.CONTINUE, "/root/b", ("", "/root/b", False, False)),
        (WayCode.CONTINUE_WITHOUT, "/new", ("", "/new", True, False)),
        (WayCode.REVERT, "", ("revert-reshape", "", False, True)),
        (WayCode.REVERT, "/new", ("revert-reshape", "/new", True, False)),
    ],
)
def test_the_guide_tries_a_reshape(code: WayCode, backup: str, words: tuple[str, str, bool, bool]) -> None:
    way = WayBack(code=code, text="x.", devices=("sda", "sdb"), backup=backup)
    array = RescueArray(uuid=UUID, name="n", level="raid5", members=(), raid_disks=3, ways=(way,))
    (row,) = guide_rows(array, survey())
    assert row.trial is not None
    made = row.trial
    assert (made.update, made.backup, made.invalid_backup, made.frozen) == words
    assert (made.devices, made.uuid, made.run, row.enters) == (("sda", "sdb"), UUID, True, "try it")


def test_the_guide_tries_a_dirty_array_as_it_has_to_be_started() -> None:
    names = ("sda", "sdb", "sdc")
    block = Superblock(
        uuid=UUID,
        level="raid5",
        raid_disks=3,
        events=7,
        roles="AAA",
        dirty=True,
        reshape=PendingReshape(position_kib=64, delta_disks=0),
    )
    blocks = [replace(block, slot=slot, recovery_sectors=128 if slot == 2 else None) for slot in range(3)]
    members = tuple(
        RescueMember(device=name, superblock=each, presence=Presence.WHOLE)
        for name, each in zip(names, blocks, strict=True)
    )
    way = WayBack(code=WayCode.CONTINUE, text="x.", devices=names)
    array = RescueArray(uuid=UUID, name="n", level="raid5", members=members, raid_disks=3, ways=(way,))
    (row,) = guide_rows(array, survey())
    assert isinstance(row.trial, Assembly)
    assert row.trial.dirty
