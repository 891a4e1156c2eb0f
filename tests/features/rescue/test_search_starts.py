"""Where an array begins, and what superblocks record of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.geometries import Wanted, find_recorded_geometry
from raidtui.features.rescue.search.results import CheckResult, SearchCandidate, SearchOutcome, SearchResult
from raidtui.features.rescue.session_search import search_geometry
from raidtui.model.geometry import MISSING
from raidtui.model.survey import MemberRole, Superblock
from tests.features.rescue.images import disk, ext4, partition, search
from tests.features.rescue.striping import MIB, write_members

NAMES = ("m0", "m1", "m2")
TRUE = Superblock(
    uuid="1:2:3:4",
    level="raid0",
    raid_disks=3,
    metadata="1.2",
    role=MemberRole.ACTIVE,
    slot=0,
    offset_sectors=2048,
    chunk_bytes=65536,
    checksum_ok=True,
    created_s=1.0,
)


def found(
    folder: Path,
    content: bytes,
    *,
    level: int,
    layout: str,
    slots: int,
    chunk: int,
    offset: int = MIB,
    gone: tuple[int, ...] = (),
) -> SearchCandidate:
    """Search on an array whose slot s is the file ``m<slots - 1 - s>``; the truth is first and alone."""
    paths = write_members(
        folder,
        content,
        level=level,
        layout=layout,
        order=list(range(slots))[::-1],
        chunk=chunk << 10,
        offset=offset,
        size=offset + (60 if level == 1 else 36) * MIB,
    )
    result = search([path for number, path in enumerate(paths) if slots - 1 - number not in gone])
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (level, layout)
    assert first.geometry.data_offset_sectors == offset // 512
    assert first.geometry.chunk_bytes == (0 if level == 1 else chunk << 10)
    if level != 1 and not layout.startswith("n"):  # members that hold the same may be exchanged
        order = tuple(MISSING if slot in gone else f"m{slots - 1 - slot}" for slot in range(slots))
        assert first.geometry.order == order
    assert first.proof.check is CheckResult.CLEAN
    return first


@pytest.mark.parametrize(
    ("label", "level", "layout", "slots", "chunk", "gone"),
    [
        pytest.param("gpt", 1, "", 2, 64, (), id="raid1"),
        pytest.param("gpt", 0, "", 2, 128, (), id="raid0"),
        pytest.param("gpt", 10, "o2", 4, 128, (), id="raid10-o2"),
        pytest.param("dos", 1, "", 2, 64, (), id="dos-raid1"),
        pytest.param("dos", 10, "n2", 4, 64, (3,), id="dos-raid10-n2"),
        pytest.param("dos", 5, "left-symmetric", 3, 512, (), id="dos-raid5"),
        pytest.param("dos", 5, "right-symmetric", 3, 64, (0,), id="dos-raid5-the-start-missing"),
        pytest.param("dos", 6, "left-symmetric", 4, 64, (2,), id="dos-raid6-one-missing"),
    ],
)
def test_a_partition_is_not_taken_for_the_array(  # noqa: PLR0917
    base: Path,
    tmp_path: Path,
    label: str,
    level: int,
    layout: str,
    slots: int,
    chunk: int,
    gone: tuple[int, ...],
) -> None:
    """The file system in it says where the partition begins, which is not where the array does."""
    content = disk(tmp_path, label, ext4(base))
    first = found(
        tmp_path, content, level=level, layout=layout, slots=slots, chunk=chunk, offset=272 * 512, gone=gone
    )
    assert first.proof.contents == label


def test_a_partition_that_does_not_begin_with_a_row(base: Path, tmp_path: Path) -> None:
    """Its file system alone fits no geometry: only the table says where it is."""
    content = disk(tmp_path, "dos", ext4(base), start=5000)
    first = found(tmp_path, content, level=5, layout="left-symmetric", slots=4, chunk=64, gone=(2,))
    assert first.proof.contents == "dos"


@pytest.mark.parametrize("gone", [0, 1])
def test_a_partition_whose_start_is_missing(base: Path, tmp_path: Path, gone: int) -> None:
    """RAID 6: the missing member is seen by P only, and Q separates layouts that read the same."""
    content = disk(tmp_path, "gpt", ext4(base))
    first = found(tmp_path, content, level=6, layout="left-symmetric", slots=4, chunk=512, gone=(gone,))
    assert first.proof.contents == "gpt"
    assert not first.same


@pytest.mark.parametrize(
    ("label", "level", "layout", "slots"),
    [("dos", 1, "", 2), ("gpt", 1, "", 2), ("gpt", 5, "left-symmetric", 3), ("dos", 0, "", 2)],
)
def test_what_members_had_before_is_not_of_the_array(  # noqa: PLR0917
    base: Path, tmp_path: Path, label: str, level: int, layout: str, slots: int
) -> None:
    """Each disk was partitioned once, with a partition where the data begin now."""
    size = (60 if level == 1 else 36) * MIB
    paths = write_members(tmp_path, ext4(base), level=level, layout=layout, slots=slots, size=size)
    for path in paths:
        partition(path, label)
    result = search(paths)
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert (first.geometry.level, first.geometry.data_offset_sectors) == (level, 2048)
    assert (first.proof.contents, first.proof.check) == ("ext4", CheckResult.CLEAN)


@pytest.mark.parametrize("layout", ["left-symmetric", "right-asymmetric"])
def test_tables_over_the_start_of_the_array_are_not_of_it(base: Path, tmp_path: Path, layout: str) -> None:
    """Metadata at the end, and each disk was partitioned anew: the copies say where the file system is."""
    paths = write_members(
        tmp_path, ext4(base, mib=180), level=5, layout=layout, order=[2, 1, 3, 0], offset=0, size=64 * MIB
    )
    for path in paths:
        partition(path, "gpt")
    result = search(paths)
    first = result.candidates[0]
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    assert (first.geometry.layout, first.geometry.chunk_bytes) == (layout, 64 << 10)
    assert (first.geometry.data_offset_sectors, first.proof.check) == (0, CheckResult.ERRORS)


def test_a_table_that_may_be_of_either_is_a_tie(base: Path, tmp_path: Path) -> None:
    """It ends before the member does: an array with metadata at its end, or what the disk had before."""
    paths = write_members(tmp_path, ext4(base), level=1, order=[0, 1], size=60 * MIB)
    for path in paths:
        path.write_bytes(disk(tmp_path, "dos", ext4(base))[:MIB] + path.read_bytes()[MIB:])
    result = search(paths)
    assert result.outcome is SearchOutcome.TIED
    assert "or be what the member itself held before" in result.text[-1]


def blocks(block: Superblock, **slots: int) -> dict[str, Superblock]:
    return {name: replace(block, slot=slot) for name, slot in slots.items()}


def searched(paths: list[Path], superblocks: dict[str, Superblock]) -> SearchResult:
    return search_geometry([str(path) for path in paths], SearchRequest(superblocks=superblocks))


@pytest.fixture(scope="module", params=[(), ("-O", "metadata_csum_seed,orphan_file")], ids=["", "new"])
def overwritten(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> list[Path]:
    """A RAID 0 of three; on the second member somebody has made another file system."""
    folder = tmp_path_factory.mktemp("recorded")
    content = ext4(folder, *request.param, mib=72)
    made = write_members(folder, content, level=0, layout="", order=[0, 1, 2])
    other = ext4(folder, "-O", "^has_journal")
    with made[1].open("r+b") as file:
        file.write(other[: 4 * MIB])
    return made


def test_the_recorded_geometry_is_first_though_a_member_is_damaged(overwritten: list[Path]) -> None:
    """A geometry that leaves the damaged member out has less against it, and is not what is recorded."""
    kept = searched(overwritten, blocks(TRUE, m0=0, m2=2))
    first = kept.candidates[0]
    assert (first.geometry.level, first.geometry.order, first.proof.check) == (0, NAMES, CheckResult.ERRORS)
    assert kept.outcome is not SearchOutcome.UNIQUE
    assert searched(overwritten, {}).candidates[0].geometry.level != 0


def test_what_is_recorded_wrongly_does_not_outrank_what_fits(tmp_path: Path) -> None:
    """The array was created anew in another order, and one of the new superblocks was lost."""
    paths = write_members(tmp_path, ext4(tmp_path), level=0, layout="", order=[0, 1, 2])
    found = searched(paths, blocks(TRUE, m0=1, m2=0))
    assert (found.outcome, found.candidates[0].geometry.order) == (SearchOutcome.UNIQUE, NAMES)


@pytest.mark.parametrize(
    ("superblocks", "why"),
    [
        ({}, "none is left"),
        (blocks(TRUE, m0=0, m1=1, m2=2), "none is lost: they are what is in doubt"),
        (blocks(TRUE, m0=0, m2=0), "two of one slot"),
        (blocks(replace(TRUE, role=MemberRole.SPARE), m0=0), "a spare"),
        (blocks(replace(TRUE, checksum_ok=False), m0=0), "a wrong checksum"),
        (blocks(replace(TRUE, level="linear"), m0=0), "a level without stripes"),
        (blocks(replace(TRUE, offset_sectors=None), m0=0), "no data offset"),
        (blocks(TRUE, m0=0) | blocks(replace(TRUE, chunk_bytes=4096), m1=1), "two chunk sizes"),
        (blocks(TRUE, m0=0) | blocks(replace(TRUE, uuid="5:6:7:8"), m1=1), "two arrays"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_superblocks_that_record_nothing(superblocks: dict[str, Superblock], why: str) -> None:
    assert find_recorded_geometry(NAMES, superblocks, Wanted()) is None, why


def test_a_person_outranks_a_superblock() -> None:
    left = blocks(TRUE, m2=2)
    assert find_recorded_geometry(NAMES, left, Wanted(levels=(5,))) is None
    found = find_recorded_geometry(NAMES, left, Wanted())
    assert found is not None
    assert (found.offset, found.slots, found.known([0, 2])) == (2048 * 512, {2: 2}, {2: 1})
