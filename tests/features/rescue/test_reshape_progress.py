"""How far a reshape has gone, and what its backup file is worth."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, find_backup, is_needed, new_backup
from raidtui.features.rescue.records import Presence, RescueArray, RescueMember, WayBack, WayCode
from raidtui.features.rescue.screen.guide_rows import guide_rows
from raidtui.features.rescue.search.members import SearchWatch
from raidtui.features.rescue.search.reshape_progress import Moved, find_progress, find_reshape_forms
from raidtui.features.rescue.session import find_planned_backups
from raidtui.features.rescue.session_search import OpenMember
from raidtui.host.backup_files import ReshapeBackup, find_backups, read_backup
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, RunTool
from raidtui.model.survey import PendingReshape, Superblock
from tests.features.rescue.images import ext4
from tests.features.rescue.striping import MIB, write_members
from tests.plans.new_array import survey

SLOTS, CHUNK = 4, 64 << 10
STRIPE = 3 * 128 << 10
UUID = "00112233:44556677:8899aabb:ccddeeff"
DIGITS = UUID.replace(":", "")


def cut(
    folder: Path, content: bytes, *, level: int, chunks: tuple[int, int], layouts: tuple[str, str], at: int
) -> list[Path]:
    """Members of an array whose first bytes lie in a new form, and the rest in the old one."""
    data = SLOTS - (level - 4)
    written = []
    for name, chunk, layout in zip(("old", "new"), chunks, layouts, strict=True):
        (folder / name).mkdir()
        size = MIB + 20 * MIB
        written.append(
            write_members(
                folder / name, content, level=level, order=range(SLOTS), layout=layout, chunk=chunk, size=size
            )
        )
    border = MIB + at // data
    for old, new in zip(*written, strict=True):
        old.write_bytes(new.read_bytes()[:border] + old.read_bytes()[border:])
    return written[0]


def looked(
    folder: Path,
    content: bytes,
    *,
    level: int = 5,
    chunks: tuple[int, int] = (CHUNK, CHUNK),
    layouts: tuple[str, str],
    at: int,
    recorded: int,
) -> Moved:
    files = cut(folder, content, level=level, chunks=chunks, layouts=layouts, at=at)
    reshape = PendingReshape(
        position_kib=recorded >> 10,
        new_chunk_bytes=chunks[1] if chunks[1] != chunks[0] else None,
        new_layout=layouts[1] if layouts[1] != layouts[0] else None,
    )
    blocks = {
        f"m{slot}": Superblock(
            uuid="1:2:3:4",
            level=f"raid{level}",
            raid_disks=SLOTS,
            slot=slot,
            chunk_bytes=chunks[0],
            layout_name=layouts[0],
            offset_sectors=2048,
            reshape=reshape,
        )
        for slot in range(SLOTS)
    }
    forms = find_reshape_forms(blocks)
    assert forms is not None
    assert forms.order == ("m0", "m1", "m2", "m3")
    members = [OpenMember(str(file)) for file in files]
    try:
        return find_progress(forms, members, SearchWatch())
    finally:
        for member in members:
            member.close()


@pytest.mark.parametrize(
    ("chunks", "layouts"),
    [
        ((CHUNK, 2 * CHUNK), ("left-symmetric", "left-symmetric")),
        ((CHUNK, CHUNK), ("left-symmetric", "left-asymmetric")),
    ],
    ids=["chunk", "layout"],
)
def test_more_was_moved_than_is_recorded(
    tmp_path: Path, chunks: tuple[int, int], layouts: tuple[str, str]
) -> None:
    content = ext4(tmp_path, "-O", "^flex_bg")
    at, recorded = 25 * STRIPE, 10 * STRIPE
    found = looked(tmp_path, content, chunks=chunks, layouts=layouts, at=at, recorded=recorded)
    assert found.most is not None
    assert recorded < found.least <= at <= found.most
    assert found.is_ahead
    assert not found.is_mixed
    assert "are read in the wrong form from there" in found.words


def test_the_recorded_place_is_right(tmp_path: Path) -> None:
    content = ext4(tmp_path, "-O", "^flex_bg")
    at = 25 * STRIPE
    layouts = ("left-symmetric", "left-asymmetric")
    found = looked(tmp_path, content, layouts=layouts, at=at, recorded=at)
    assert found.least <= at <= (found.most or 0)
    assert (found.is_ahead, found.is_mixed) == (False, False)


def test_parity_of_raid_6_shows_the_very_stripe(tmp_path: Path) -> None:
    content = random.Random(3).randbytes(20 * MIB)
    stripe = 2 * CHUNK
    layouts = ("left-symmetric-6", "left-symmetric")
    found = looked(tmp_path, content, level=6, layouts=layouts, at=90 * stripe, recorded=40 * stripe)
    assert (found.least, found.most) == (90 * stripe, 90 * stripe)
    assert found.is_ahead


def test_where_nothing_shows_it_nothing_is_said_to_be_known(tmp_path: Path) -> None:
    layouts = ("left-symmetric", "left-asymmetric")
    found = looked(tmp_path, b"\1" * (20 * MIB), layouts=layouts, at=4 * STRIPE, recorded=STRIPE)
    assert (found.least, found.most, found.blocks) == (0, None, 0)
    assert found.words == "nothing shows whether more was moved than the 384 KiB that are recorded"


@pytest.mark.parametrize("changed", [{"backwards": True}, {"delta_disks": 1}, {"new_offset_sectors": 1}])
def test_only_a_reshape_in_place_is_looked_at(changed: dict[str, int]) -> None:
    reshape = PendingReshape(position_kib=384, **changed)  # type: ignore[arg-type]
    block = Superblock(
        uuid="1:2:3:4",
        level="raid5",
        raid_disks=4,
        slot=0,
        chunk_bytes=CHUNK,
        offset_sectors=2048,
        reshape=reshape,
    )
    assert find_reshape_forms({"sda": block}) is None


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
    grow = RunTool(argv=("mdadm", "--grow", "/dev/md/1", f"--backup-file={place}", "--level=6"), why="begins")
    other = RunTool(argv=("cp", f"--backup-file={tmp_path}/other", "x"), why="no reshape")
    for plan in (Plan(title="convert: 5 to 6", subject="1", steps=(other, grow)),) * 2:
        Job.create(plan, host="lab", folder=tmp_path / "jobs")
    (tmp_path / "jobs/20260101-000000-odd").mkdir()
    (tmp_path / "jobs/20260101-000000-odd/plan.json").write_text("{")
    files = find_planned_backups(tmp_path / "jobs")
    assert files == (str(place),)
    assert [each.path for each in find_backups((), files)] == [str(place)]
    assert find_backups((), (f"{place}-gone",)) == ()


def test_the_newest_of_the_array() -> None:
    old = ReshapeBackup(path="/old", uuid=DIGITS, written_s=1.0)
    new = ReshapeBackup(path="/new", uuid="33221100" + "77665544" + "bbaa9988" + "ffeeddcc", written_s=2.0)
    foreign = ReshapeBackup(path="/foreign", uuid="f" * 32, written_s=3.0)
    assert find_backup((old, new, foreign), UUID) is new
    assert find_backup((foreign,), UUID) is None
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
