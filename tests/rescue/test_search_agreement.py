"""A search whose geometry is right says where the members disagree, and which of them, if that is known."""

import random
from pathlib import Path

import pytest

from raidtui.rescue.proof import CheckResult
from raidtui.rescue.search.outcome import SearchOutcome
from tests.rescue.images import ext4, search
from tests.rescue.striping import MIB, write_members

PARITY = "Parity does not match in "
COPIES = "The copies of "
NOT_KNOWN = "a member has missed writes, or something was written past the array"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agreement")


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
    ("level", "layout", "slots", "gone", "begin", "end"),
    [
        pytest.param(6, "left-symmetric", 5, (), PARITY, "by P and Q, m1 is wrong", id="raid6"),
        pytest.param(6, "left-symmetric", 5, (4,), PARITY, NOT_KNOWN, id="raid6-one-missing"),
        pytest.param(5, "left-symmetric", 4, (), PARITY, NOT_KNOWN, id="raid5"),
        pytest.param(1, "", 2, (), COPIES, NOT_KNOWN, id="raid1"),
        pytest.param(1, "", 3, (), COPIES, "by the other copies, m1 is wrong", id="raid1-of-3"),
        pytest.param(10, "n2", 4, (), COPIES, NOT_KNOWN, id="raid10-n2"),
        pytest.param(10, "f2", 3, (), COPIES, NOT_KNOWN, id="raid10-f2"),
        pytest.param(10, "n3", 6, (), COPIES, "by the other copies, m1 is wrong", id="raid10-n3"),
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
) -> None:
    size = (56 if level == 1 else 40) * MIB
    paths = write_members(tmp_path, ext4(base), level=level, layout=layout, slots=slots, size=size)
    missed_writes(paths[1], every=5)
    result = search([path for number, path in enumerate(paths) if number not in gone])
    first = result.candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (level, layout)
    assert first.geometry.data_offset_sectors == 2048
    assert len(first.geometry.present) == slots - len(gone)
    assert first.proof.check is CheckResult.ERRORS
    assert begin in first.proof.sure
    assert end in first.proof.sure


def test_parity_that_fits_nowhere_is_no_unique_geometry(base: Path, tmp_path: Path) -> None:
    """The content of a RAID 0 with a member of noise, called RAID 5 in which nothing else is asked about."""
    paths = write_members(tmp_path, ext4(base), level=4, slots=4, order=[0, 1, 2, 3], size=32 * MIB)
    with paths[3].open("r+b") as file:
        file.seek(MIB)
        file.write(random.Random(2).randbytes(24 * MIB))
    result = search(paths, slots=4, levels=(4,))
    assert result.outcome is SearchOutcome.TIED
    assert result.text[-1].endswith("sampled rows: it may be another geometry.")


def test_a_copy_whose_signature_is_wiped_is_a_copy(base: Path, tmp_path: Path) -> None:
    """Metadata 0.90, the data begin with the first byte: wipefs took the magic number of ext4, too."""
    paths = write_members(tmp_path, ext4(base), level=10, layout="f2", slots=3, order=[2, 0, 1], offset=0)
    with paths[2].open("r+b") as file:
        file.seek(1080)
        file.write(bytes(2))
    first = search(paths).candidates[0]
    assert (first.geometry.level, first.geometry.layout) == (10, "f2")
    assert (first.geometry.data_offset_sectors, first.geometry.order) == (0, ("m2", "m0", "m1"))
    assert first.proof.check is CheckResult.ERRORS
