"""Where a reshape stands: what cannot be read there, and whether mdadm turns it round."""

from __future__ import annotations

import pytest

from raidtui.model.reshape_place import ReshapePlace, is_cut, place, place_of, reading_note
from raidtui.model.survey import PendingReshape, Superblock


def grown(position_kib: int) -> Superblock:
    """A member of a RAID 5 of 64 KiB chunks that grows from three to four disks."""
    reshape = PendingReshape(position_kib=position_kib, delta_disks=1, new_offset_sectors=1664)
    return Superblock(uuid="1:2:3:4", level="raid5", raid_disks=4, chunk_bytes=64 << 10, reshape=reshape)


def the_place(block: Superblock) -> ReshapePlace:
    found = place_of(block)
    assert found is not None
    return found


def test_a_place_within_a_stripe_of_the_old_form() -> None:
    """Measured on Linux 6.1: at 60288 sectors, reads of the 128 sectors from there on wait."""
    found = the_place(grown(30144))
    assert found.waiting == (60288, 60416)
    assert found.whole(found.position) == 61440 - 768
    assert not found.reverts
    assert is_cut(grown(30144))
    assert "a read between 29.4 MiB and 29.5 MiB" in reading_note(grown(30144))


def test_a_place_where_stripes_of_both_forms_end() -> None:
    found = the_place(grown(30720))
    assert (found.waiting, found.whole(found.position), found.reverts) == (None, 61440, True)
    assert not is_cut(grown(30720))
    assert reading_note(grown(30720)) == ""


def test_a_reshape_that_goes_backwards_waits_below_its_place() -> None:
    reshape = PendingReshape(position_kib=320, delta_disks=-1, backwards=True)
    block = Superblock(uuid="1:2:3:4", level="raid5", raid_disks=3, chunk_bytes=64 << 10, reshape=reshape)
    found = the_place(block)
    assert found.waiting == (384, 640)
    assert found.whole(found.position) == 0


@pytest.mark.parametrize(("position_kib", "reverts"), [(384, True), (192, False)])
def test_a_larger_chunk_cuts_no_stripe_where_mdadm_still_refuses(position_kib: int, *, reverts: bool) -> None:
    reshape = PendingReshape(position_kib=position_kib, new_chunk_bytes=128 << 10)
    block = Superblock(uuid="1:2:3:4", level="raid5", raid_disks=4, chunk_bytes=64 << 10, reshape=reshape)
    found = the_place(block)
    assert (found.waiting, found.reverts) == (None, reverts)


@pytest.mark.parametrize("level", ["raid10", "raid0", None])
def test_levels_without_parity_have_no_such_place(level: str | None) -> None:
    reshape = PendingReshape(position_kib=30144, delta_disks=1)
    block = Superblock(uuid="1:2:3:4", level=level, raid_disks=4, chunk_bytes=64 << 10, reshape=reshape)
    assert place_of(block) is None
    assert not is_cut(block)
    assert not is_cut(None)


@pytest.mark.parametrize(
    ("chunks", "disks"), [((511, 4096), (2, 3)), ((4096, 1), (2, 3)), ((4096, 4096), (0, 3))]
)
def test_numbers_of_no_array(chunks: tuple[int, int], disks: tuple[int, int]) -> None:
    """A chunk has at least a sector; what sysfs says otherwise is not computed with."""
    assert place(position=5, chunks=chunks, data_disks=disks, backwards=False) is None
