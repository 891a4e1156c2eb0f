"""Where an array begins: not with the file system in its first partition, nor with a member's own table."""

from pathlib import Path

import pytest

from raidtui.features.rescue.search.results import CheckResult, SearchCandidate, SearchOutcome
from raidtui.model.geometry import MISSING
from tests.features.rescue.images import disk, ext4, partition, search
from tests.features.rescue.striping import MIB, write_members


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beginnings")


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
        slots=slots,
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
        tmp_path,
        ext4(base, mib=180),
        level=5,
        layout=layout,
        slots=4,
        order=[2, 1, 3, 0],
        offset=0,
        size=64 * MIB,
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
    paths = write_members(tmp_path, ext4(base), level=1, slots=2, order=[0, 1], size=60 * MIB)
    for path in paths:
        path.write_bytes(disk(tmp_path, "dos", ext4(base))[:MIB] + path.read_bytes()[MIB:])
    result = search(paths)
    assert result.outcome is SearchOutcome.TIED
    assert "or what the member itself had before" in result.text[-1]
