"""Candidates against each other: members that disagree, and one that is outdated."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from raidtui.features.rescue.cli_search import status_of
from raidtui.features.rescue.search.logical_array import Agreement, Walk
from raidtui.features.rescue.search.ranking import Ranked
from raidtui.features.rescue.search.results import CheckResult, SearchOutcome
from raidtui.features.rescue.search.weighing import Weighed, sift_candidates
from tests.extent import later
from tests.features.rescue.images import ext4, ext4_of, search
from tests.features.rescue.striping import MIB, write_members

PARITY = "Parity does not match in "
COPIES = "The copies of "
NOT_KNOWN = "a member has missed writes, or something bypassed the array"


def missed_writes(path: Path, *, every: int) -> None:
    """Change a few bytes of some of the blocks that are not zero, from 8 MiB on."""
    chance = random.Random(1)
    with path.open("r+b") as file:
        for offset in range(8 * MIB, path.stat().st_size - MIB, 4096 * every):
            file.seek(offset)
            if any(file.read(4096)):
                file.seek(offset + 4000)
                file.write(chance.randbytes(64))


@pytest.mark.parametrize(
    ("level", "layout", "slots", "gone", "begin", "end", "known"),
    [
        pytest.param(6, "left-symmetric", 5, (), PARITY, "by P and Q, m1 is wrong", True, id="raid6"),
        pytest.param(6, "left-symmetric", 5, (4,), PARITY, NOT_KNOWN, False, id="raid6-one-missing"),
        pytest.param(5, "left-symmetric", 4, (), PARITY, NOT_KNOWN, False, id="raid5"),
        pytest.param(1, "", 2, (), COPIES, NOT_KNOWN, False, id="raid1"),
        pytest.param(1, "", 3, (), COPIES, "by the other copies, m1 is wrong", True, id="raid1-of-3"),
        pytest.param(10, "n2", 4, (), COPIES, NOT_KNOWN, True, id="raid10-n2"),
        pytest.param(10, "f2", 3, (), COPIES, NOT_KNOWN, True, id="raid10-f2"),
        pytest.param(10, "n3", 6, (), COPIES, "by the other copies, m1 is wrong", True, id="raid10-n3"),
    ],
)
def test_a_member_that_has_missed_writes(  # noqa: PLR0917
    base: Path,
    tmp_path: Path,
    level: int,
    layout: str,
    slots: int,
    gone: tuple[int, ...],
    begin: str,
    end: str,
    known: bool,  # noqa: FBT001  (one of a case)
) -> None:
    """Each member is left out in turn: where all is right without one alone, that comes first."""
    size = (56 if level == 1 else 40) * MIB
    paths = write_members(tmp_path, ext4(base), level=level, layout=layout, slots=slots, size=size)
    missed_writes(paths[1], every=5)
    result = search([path for number, path in enumerate(paths) if number not in gone])
    whole = result.candidates[known]
    assert (whole.geometry.level, whole.geometry.layout) == (level, layout)
    assert whole.geometry.data_offset_sectors == 2048
    assert len(whole.geometry.present) == slots - len(gone)
    assert whole.proof.check is CheckResult.ERRORS
    assert begin in whole.proof.sure
    assert end in whole.proof.sure
    assert "A clean check is not enough here" in whole.evidence.doubts[0]
    spared = {each.device for each in whole.evidence.left_out}
    assert spared == set(whole.geometry.present)
    if known:
        first = result.candidates[0]
        assert set(whole.geometry.present) - set(first.geometry.present) == {"m1"}
        assert (first.proof.check, first.evidence.doubts) == (CheckResult.CLEAN, ())
        assert result.outcome is SearchOutcome.UNIQUE
    else:
        assert "Members disagree, and nothing shows which one is outdated: any may be." in result.text
        without = {each.evidence.spared: each for each in result.candidates if each.evidence.spared}
        assert set(without) == spared
        for name, each in without.items():  # one of them reads the outdated member, and may be clean
            assert (
                f"nothing shows that {name}, which is left out, is the outdated one: "
                in (result.evidence_of(each.geometry).doubts[0])
            )
            assert name not in each.geometry.present


def test_copies_that_differ_where_nothing_was_sampled(base: Path, tmp_path: Path) -> None:
    """Blocks of the file system that were read say it, also of what disagrees without each member."""
    paths = write_members(tmp_path, ext4(base), level=10, layout="n2", slots=4, size=40 * MIB)
    with paths[1].open("r+b") as file:
        file.seek(MIB + 1024 + 120)
        file.write(b"outdated")  # a label
    whole = next(each for each in search(paths).candidates if len(each.geometry.present) == 4)
    assert "blocks of the file system differ" in whole.proof.sure
    assert "A clean check is not enough here: copies did not match in " in whole.evidence.doubts[0]
    unmatched = {each.device: each.unmatched for each in whole.evidence.left_out}
    assert (unmatched["m0"], unmatched["m1"], unmatched["m2"]) == (0, 0, unmatched["m3"])
    assert unmatched["m2"]


def test_parity_that_fits_nowhere_is_no_unique_geometry(base: Path, tmp_path: Path) -> None:
    """The content of a RAID 0 with a member of noise, called RAID 5 in which nothing else is asked about."""
    paths = write_members(tmp_path, ext4(base), level=4, order=[0, 1, 2, 3], size=32 * MIB)
    with paths[3].open("r+b") as file:
        file.seek(MIB)
        file.write(random.Random(2).randbytes(24 * MIB))
    result = search(paths, slots=4, levels=(4,))
    assert result.outcome is SearchOutcome.TIED
    assert result.text[-1].endswith("sampled rows: it may be another geometry.")


def test_a_copy_whose_signature_is_wiped_is_a_copy(base: Path, tmp_path: Path) -> None:
    """Metadata 0.90, the data begin with the first byte: wipefs took the magic number of ext4, too."""
    paths = write_members(tmp_path, ext4(base), level=10, layout="f2", order=[2, 0, 1], offset=0)
    with paths[2].open("r+b") as file:
        file.seek(1080)
        file.write(bytes(2))
    first = search(paths).candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (10, "f2")
    assert (first.geometry.data_offset_sectors, first.geometry.order) == (0, ("m2", "m0", "m1"))
    assert first.proof.check is CheckResult.ERRORS


def noise(path: Path) -> None:
    path.write_bytes(random.Random(str(path)).randbytes(path.stat().st_size))


@pytest.mark.parametrize(("level", "slots", "spoilt"), [(5, 4, 2), later(6, 5, 3)])
def test_more_members_overwritten_than_it_survives(
    base: Path, tmp_path: Path, level: int, slots: int, spoilt: int
) -> None:
    """Nothing reads what stands on it: that is said, and is no tie between dozens of geometries."""
    paths = write_members(tmp_path, ext4(base), level=level, slots=slots, size=32 * MIB)
    for path in paths[:spoilt]:
        noise(path)
    result = search(paths)
    assert (result.outcome, result.candidates) == (SearchOutcome.IMPOSSIBLE, ())
    assert "none reads what is on the array" in result.text[-1]
    assert result.text[-1].endswith("they were overwritten, or belong to another array.")


def test_the_one_whose_parity_matches_is_alone(tmp_path: Path) -> None:
    """Few files: others read as well, but P and Q match in this one throughout, which is no chance."""
    files = tmp_path / "few"
    files.mkdir()
    for number in range(6):
        (files / f"f{number}").write_bytes(random.Random(number).randbytes(3_000_000))
    content = ext4_of(files, tmp_path / "few.img", mib=120)
    paths = write_members(
        tmp_path, content, level=6, layout="left-symmetric", order=list(range(6)), size=32 * MIB
    )
    result = search([path for number, path in enumerate(paths) if number != 4])
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert first.geometry.order == ("m0", "m1", "m2", "m3", "missing", "m5")
    assert first.proof.check is CheckResult.CLEAN
    assert all(each.proof.check is not CheckResult.CLEAN for each in result.candidates[1:])


def test_members_that_match_decide_between_hundreds(tmp_path: Path) -> None:
    """A file system with one file says little of order and layout; where slot 0 is missing, P and Q do."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "file").write_bytes(random.Random(3).randbytes(9_000_000))
    content = ext4_of(folder, tmp_path / "image", mib=240)
    paths = write_members(tmp_path, content, level=6, layout="left-symmetric", slots=6, size=64 * MIB)
    result = search(paths[1:])
    first = result.candidates[0]
    assert (result.outcome, first.proof.check) == (SearchOutcome.UNIQUE, CheckResult.CLEAN), result.text
    assert first.geometry.order == ("missing", "m1", "m2", "m3", "m4", "m5")
    assert (first.geometry.layout, first.geometry.chunk_bytes) == ("left-symmetric", 65536)
    assert status_of(result) == 0
    assert all(each.proof.check is not CheckResult.ERRORS for each in result.candidates)


def candidate(unused: int, apart: tuple[int, int] | None) -> Weighed:
    """One that leaves devices out, with (compared, unmatched) places; nothing in it is wrong."""
    return Weighed(
        each=cast("Ranked", SimpleNamespace(unused=unused)),
        found=Walk(passed={"inodes": 9}, failed={}, checked=9, slots=frozenset({0, 1})),
        apart=Agreement(compared=apart[0], unmatched=apart[1]) if apart is not None else None,
    )


@pytest.mark.parametrize(
    ("apart", "outdone"),
    [
        ((154, 29), True),
        ((16, 8), True),
        ((12, 5), False),
        ((154, 80), False),
        ((154, 154), False),
        (None, False),
    ],
)
def test_devices_that_belong_together_are_all_members(
    apart: tuple[int, int] | None,
    outdone: bool,  # noqa: FBT001
) -> None:
    """Though one is outdated: a candidate without one of them has nothing to compare, and seems clean."""
    all_of_them, one_left_out = candidate(0, apart), candidate(1, None)
    left, others = sift_candidates([one_left_out, all_of_them])
    assert (one_left_out in others) is outdone
    assert (all_of_them in left) is (apart != (154, 154))
