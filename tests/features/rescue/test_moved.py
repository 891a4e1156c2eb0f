"""A reshape in place that went on after md had recorded its place: where the data really change."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from raidtui.features.rescue.search.members import SearchWatch
from raidtui.features.rescue.search.reshape_progress import Moved, find_progress, find_reshape_forms
from raidtui.features.rescue.session_search import OpenMember
from raidtui.model.survey import PendingReshape, Superblock
from tests.features.rescue.images import ext4
from tests.features.rescue.striping import MIB, write_members

SLOTS, CHUNK = 4, 64 << 10


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
                folder / name,
                content,
                level=level,
                slots=SLOTS,
                order=range(SLOTS),
                layout=layout,
                chunk=chunk,
                size=size,
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


STRIPE = 3 * 128 << 10


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
