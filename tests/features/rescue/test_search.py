"""The search on images whose members an independent writer has laid out: the truth, and no other alone."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from raidtui.features.rescue.search.results import CheckResult, RescueGeometry, SearchOutcome, SearchResult
from raidtui.model.geometry import MISSING
from tests.extent import later
from tests.features.rescue.images import blank, ext4, search
from tests.features.rescue.striping import MIB, write_members

KIB = 1024
CASES = [
    pytest.param(5, "left-symmetric", 4, 128, (), id="raid5-ls"),
    pytest.param(5, "left-asymmetric", 4, 128, (), id="raid5-la"),
    pytest.param(5, "right-symmetric", 4, 128, (), id="raid5-rs"),
    pytest.param(5, "right-asymmetric", 4, 128, (), id="raid5-ra"),
    pytest.param(4, "", 4, 128, (), id="raid4"),
    pytest.param(5, "left-symmetric", 4, 4, (), id="raid5-chunk-4"),
    pytest.param(5, "left-symmetric", 4, 64, (), id="raid5-chunk-64"),
    pytest.param(5, "left-symmetric", 4, 512, (), id="raid5-chunk-512"),
    pytest.param(5, "left-symmetric", 4, 64, (1,), id="raid5-one-missing"),
    pytest.param(5, "left-symmetric", 3, 512, (0,), id="raid5-of-3-one-missing"),
    pytest.param(5, "left-symmetric", 6, 64, (), id="raid5-of-6"),
    pytest.param(5, "left-symmetric", 8, 64, (), id="raid5-of-8"),
    pytest.param(6, "left-symmetric", 4, 32, (2,), id="raid6-of-4-one-missing"),
    pytest.param(6, "left-asymmetric", 4, 32, (), id="raid6-la"),
    pytest.param(6, "left-symmetric", 5, 64, (0,), id="raid6-of-5-one-missing"),
    pytest.param(6, "left-symmetric", 6, 64, (0, 3), id="raid6-two-missing"),
    pytest.param(10, "n2", 4, 64, (), id="raid10-n2"),
    pytest.param(10, "o2", 4, 64, (), id="raid10-o2"),
    pytest.param(10, "f2", 4, 64, (), id="raid10-f2"),
    pytest.param(10, "n3", 6, 64, (), id="raid10-n3"),
    pytest.param(10, "n2", 4, 64, (0,), id="raid10-n2-one-missing"),
    pytest.param(10, "o2", 4, 64, (0,), id="raid10-o2-one-missing"),
    pytest.param(0, "", 3, 64, (), id="raid0"),
    pytest.param(0, "", 4, 512, (), id="raid0-chunk-512"),
    pytest.param(1, "", 2, 64, (), id="raid1"),
    pytest.param(1, "", 2, 64, (1,), id="raid1-one-missing"),
]
MATRIX = [
    pytest.param(5, "left-symmetric", 6, 512, MIB, (), id="raid5-of-6-large-chunk"),
    pytest.param(5, "right-asymmetric", 3, 16, 8 * MIB, (0,), id="raid5-of-3-one-missing"),
    pytest.param(5, "parity-first", 4, 64, MIB, (), id="raid5-parity-first"),
    pytest.param(6, "left-symmetric", 5, 32, 2 * MIB, (3,), id="raid6-one-missing"),
    pytest.param(6, "right-symmetric", 4, 128, 8 * MIB, (2, 3), id="raid6-the-start-missing"),
    pytest.param(6, "left-symmetric", 4, 128, MIB, (1, 3), id="raid6-two-missing"),
    later(10, "n3", 4, 256, 272 * 512, (0,), id="raid10-three-copies"),
    pytest.param(10, "o3", 4, 64, MIB, (), id="raid10-offset"),
    pytest.param(10, "f2", 4, 64, MIB, (0,), id="raid10-far-first-missing"),
    pytest.param(10, "f3", 3, 256, 272 * 512, (0, 2), id="raid10-far-one-left"),
    later(0, "", 4, 64, 2 * MIB, (), id="raid0"),
]


def shuffled(slots: int, seed: int = 3) -> list[int]:
    order = list(range(slots))
    random.Random(seed).shuffle(order)
    return order


@pytest.mark.parametrize(("level", "layout", "slots", "chunk", "dropped"), CASES)
def test_the_truth_is_found_alone(  # noqa: PLR0917
    base: Path, tmp_path: Path, level: int, layout: str, slots: int, chunk: int, dropped: tuple[int, ...]
) -> None:
    order = shuffled(slots)
    size = 56 * MIB if level == 1 else 32 * MIB
    paths = write_members(
        tmp_path, ext4(base), level=level, layout=layout, order=order, chunk=chunk * KIB, size=size
    )
    kept = [path for number, path in enumerate(paths) if number not in dropped]
    result = search(kept)
    truth = tuple("missing" if number in dropped else f"m{number}" for number in order)
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (level, layout)
    assert first.geometry.chunk_bytes == (0 if level == 1 else chunk * KIB)
    assert first.geometry.data_offset_sectors == 2048
    assert _groups(first.geometry.order, level, layout) == _groups(truth, level, layout)
    assert first.proof.check is CheckResult.CLEAN
    assert first.proof.contents == "ext4"
    assert result.bytes_read < sum(path.stat().st_size for path in kept) + 60 * MIB


def _groups(order: tuple[str, ...], level: int, layout: str) -> list[list[str]]:
    """The order, with members that hold the same in a fixed one."""
    copies = len(order) if level == 1 else int(layout[1:]) if layout.startswith("n") else 1
    return [sorted(order[slot : slot + copies]) for slot in range(0, len(order), copies)]


def test_nothing_is_written(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=5, layout="left-symmetric", order=[1, 0, 2])
    before = [hashlib.sha256(path.read_bytes()).digest() for path in paths]
    for path in paths:
        path.chmod(0o400)
    search(paths)
    assert [hashlib.sha256(path.read_bytes()).digest() for path in paths] == before


def test_members_that_may_be_exchanged_are_named(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", order=[2, 0, 3, 1], chunk=64 * KIB)
    notes = search(paths).candidates[0].notes
    assert "m0 and m2 hold the same: swapped, they read the same." in notes
    assert "m1 and m3 hold the same: swapped, they read the same." in notes


def test_a_member_with_other_content_is_left_out(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", order=[0, 1, 2, 3], chunk=64 * KIB)
    with paths[1].open("r+b") as file:
        file.seek(1 * MIB)
        file.write(random.Random(1).randbytes(10 * MIB))
    first = search(paths).candidates[0]
    assert (first.geometry.level, first.geometry.order[:2]) in {
        (10, ("missing", "m0")),
        (10, ("m0", "missing")),
    }


def test_copies_that_differ_are_no_proof(base: Path, tmp_path: Path) -> None:
    """A member has missed a few writes: one inode table of the file system differs."""
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", order=[0, 1, 2, 3], chunk=64 * KIB)
    blocks = range(1 * MIB, 8 * MIB, 4096)
    with paths[1].open("r+b") as file:
        for offset in blocks[:: len(blocks) // 300]:
            file.seek(offset)
            if any(file.read(4096)):
                file.seek(offset + 4000)
                file.write(b"\xa5" * 8)
    result = search(paths)
    first, whole, *_ = result.candidates
    assert (first.geometry.order, first.proof.check) == (("m0", "missing", "m2", "m3"), CheckResult.CLEAN)
    assert whole.geometry.order == ("m0", "m1", "m2", "m3")
    assert whole.proof.check is CheckResult.ERRORS
    assert "differ: a member has missed writes" in whole.proof.sure


def test_a_mirror_copied_over_another_is_no_proof(base: Path, tmp_path: Path) -> None:
    """A resync in the order m0, m2, m1, m3: the copies agree, and half the data are gone."""
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", order=[0, 1, 2, 3], chunk=64 * KIB)
    for source, target in ((0, 2), (1, 3)):
        with paths[source].open("rb") as good, paths[target].open("r+b") as bad:
            good.seek(4 * MIB)
            bad.seek(4 * MIB)
            bad.write(good.read(10 * MIB))
    first = search(paths).candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (10, "n2")
    assert first.proof.check is CheckResult.ERRORS


def test_raid0_is_not_told_from_raid4_without_its_parity(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=0, order=[0, 1, 2])
    first = search(paths).candidates[0]
    assert first.geometry.level == 0
    assert 4 in {geometry.level for geometry in first.same}
    assert "RAID 4 of 4 members, chunk 64 KiB reads the same." in first.notes


def test_a_spare_is_no_data_member(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=5, layout="left-symmetric", order=[2, 0, 1])
    result = search([*paths, blank(tmp_path)])
    assert result.outcome is SearchOutcome.UNIQUE
    assert result.blank == ("blank",)
    assert result.candidates[0].geometry.order == ("m2", "m0", "m1")


def test_two_of_four_gone_is_impossible(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=5, layout="left-symmetric", order=[0, 1, 2, 3])
    result = search([*paths[:2], blank(tmp_path)])
    assert (result.outcome, result.candidates) == (SearchOutcome.IMPOSSIBLE, ())
    assert "and 2 are missing or blank" in result.text[-1]


def test_nothing_on_blank_devices(tmp_path: Path) -> None:
    result = search([blank(tmp_path)])
    assert (result.outcome, result.candidates) == (SearchOutcome.NOTHING, ())
    assert result.text == ("There is nothing here: everything that was read from the devices is zero.",)


def test_nothing_on_noise(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"noise{number}")
        paths[-1].write_bytes(random.Random(number).randbytes(16 * MIB))
    result = search(paths)
    assert (result.outcome, result.candidates) == (SearchOutcome.NOTHING, ())


@pytest.mark.parametrize("offset", [0, 272 * 512, 8 * MIB])
def test_the_data_offset_is_found(base: Path, tmp_path: Path, offset: int) -> None:
    paths = write_members(
        tmp_path, ext4(base), level=5, layout="left-symmetric", order=[1, 3, 0, 2], offset=offset
    )
    result = search(paths)
    assert result.outcome is SearchOutcome.UNIQUE
    geometry = result.candidates[0].geometry
    assert geometry.data_offset_sectors == offset // 512
    assert geometry.metadata == ("1.0" if offset == 0 else "1.2")


def test_a_tie_is_said_as_a_tie(tmp_path: Path) -> None:
    """Eight members that hold nothing but a header on the first."""
    content = bytearray(40 * MIB)
    content[:6] = b"LUKS\xba\xbe"
    content[6:8] = b"\0\1"
    content[4096:] = random.Random(7).randbytes(len(content) - 4096)
    paths = write_members(
        tmp_path, bytes(content), level=5, layout="left-symmetric", order=[1, 2, 3, 0], size=16 * MIB
    )
    result = search(paths)
    assert result.outcome is SearchOutcome.TIED
    assert result.alike > 6
    assert f"{result.alike} geometries fit equally: not unique." in result.text
    assert {candidate.geometry.order[0] for candidate in result.candidates if candidate.best} >= {"m1"}


def test_what_a_person_knows_is_kept_to(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", order=[0, 1, 2, 3], chunk=64 * KIB)
    half = [paths[0], paths[2]]
    free: SearchResult = search(half)
    assert (free.candidates[0].geometry.level, free.candidates[0].geometry.order) == (0, ("m0", "m2"))
    best = search(half, slots=4, levels=(10,)).candidates[0].geometry
    assert (best.level, best.order) == (10, ("missing", "m0", "missing", "m2"))


@pytest.mark.parametrize(("level", "layout", "slots", "chunk", "offset", "gone"), MATRIX)
def test_the_truth_and_no_other(  # noqa: PLR0917
    base: Path,
    tmp_path: Path,
    level: int,
    layout: str,
    slots: int,
    chunk: int,
    offset: int,
    gone: tuple[int, ...],
) -> None:
    """``gone`` are slots. What reads the same may be first, and names the truth then."""
    order = list(range(slots))
    random.Random(chunk).shuffle(order)
    size = (64 if layout == "f3" else 36) * MIB + offset
    paths = write_members(
        tmp_path,
        ext4(base),
        level=level,
        layout=layout,
        order=order,
        chunk=chunk << 10,
        offset=offset,
        size=size,
    )
    result = search([path for number, path in enumerate(paths) if order.index(number) not in gone])
    names = [MISSING if slot in gone else f"m{number}" for slot, number in enumerate(order)]
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert first.proof.check is CheckResult.CLEAN
    truth = (level, layout, chunk << 10, offset // 512, _pairs(names, layout))
    assert truth in {_words(geometry) for geometry in (first.geometry, *first.same)}


def test_what_is_least_seen_may_be_the_truth(base: Path, tmp_path: Path) -> None:
    """With two of four members missing half is not seen: a wrong geometry sees more, and errs."""
    content = ext4(base, "-O", "metadata_csum_seed,orphan_file")  # as newer mke2fs makes it
    paths = write_members(
        tmp_path,
        content,
        level=6,
        layout="left-symmetric",
        order=[0, 2, 3, 1],
        chunk=128 << 10,
        offset=MIB,
        size=37 * MIB,
    )
    result = search([paths[0], paths[3]])
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    truth = (6, "left-symmetric", 128 << 10, 2048, _pairs(["m0", MISSING, "m3", MISSING], ""))
    assert truth in {_words(geometry) for geometry in (first.geometry, *first.same)}


def _words(geometry: RescueGeometry) -> tuple[object, ...]:
    order = _pairs(geometry.order, geometry.layout)
    return (geometry.level, geometry.layout, geometry.chunk_bytes, geometry.data_offset_sectors, order)


def _pairs(order: list[str] | tuple[str, ...], layout: str) -> tuple[object, ...]:
    """The order; of members that hold the same it does not matter."""
    step = int(layout[1:]) if layout.startswith("n") and not len(order) % int(layout[1:]) else 1
    return tuple(tuple(sorted(order[at : at + step])) for at in range(0, len(order), step))
