"""What superblocks that are left record of an array of which other members have lost theirs."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.geometries import Wanted, find_recorded_geometry
from raidtui.features.rescue.search.results import CheckResult, SearchOutcome, SearchResult
from raidtui.features.rescue.session_search import search_geometry
from raidtui.model.survey import MemberRole, Superblock
from tests.features.rescue.images import ext4
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


def blocks(block: Superblock, **slots: int) -> dict[str, Superblock]:
    return {name: replace(block, slot=slot) for name, slot in slots.items()}


def searched(paths: list[Path], superblocks: dict[str, Superblock]) -> SearchResult:
    return search_geometry([str(path) for path in paths], SearchRequest(superblocks=superblocks))


@pytest.fixture(scope="module", params=[(), ("-O", "metadata_csum_seed,orphan_file")], ids=["", "new"])
def overwritten(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> list[Path]:
    """A RAID 0 of three; on the second member somebody has made another file system."""
    folder = tmp_path_factory.mktemp("recorded")
    content = ext4(folder, *request.param, mib=72)
    made = write_members(folder, content, level=0, layout="", slots=3, order=[0, 1, 2])
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
    paths = write_members(tmp_path, ext4(tmp_path), level=0, layout="", slots=3, order=[0, 1, 2])
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
