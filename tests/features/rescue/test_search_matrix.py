"""The search over levels, layouts, chunks, offsets, missing members: the truth, and never another alone."""

import random
from pathlib import Path

import pytest

from raidtui.features.rescue.search.results import CheckResult, RescueGeometry, SearchOutcome
from raidtui.model.geometry import MISSING
from tests.features.rescue.images import ext4, search
from tests.features.rescue.striping import MIB, write_members

CASES = [
    pytest.param(5, "left-symmetric", 6, 512, MIB, (), id="raid5-of-6-large-chunk"),
    pytest.param(5, "right-asymmetric", 3, 16, 8 * MIB, (0,), id="raid5-of-3-one-missing"),
    pytest.param(5, "parity-first", 4, 64, MIB, (), id="raid5-parity-first"),
    pytest.param(6, "left-symmetric", 5, 32, 2 * MIB, (3,), id="raid6-one-missing"),
    pytest.param(6, "right-symmetric", 4, 128, 8 * MIB, (2, 3), id="raid6-the-start-missing"),
    pytest.param(6, "left-symmetric", 4, 128, MIB, (1, 3), id="raid6-two-missing"),
    pytest.param(10, "n3", 4, 256, 272 * 512, (0,), id="raid10-three-copies"),
    pytest.param(10, "o3", 4, 64, MIB, (), id="raid10-offset"),
    pytest.param(10, "f2", 4, 64, MIB, (0,), id="raid10-far-first-missing"),
    pytest.param(10, "f3", 3, 256, 272 * 512, (0, 2), id="raid10-far-one-left"),
    pytest.param(0, "", 4, 64, 2 * MIB, (), id="raid0"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


@pytest.mark.parametrize(("level", "layout", "slots", "chunk", "offset", "gone"), CASES)
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
        slots=slots,
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
        slots=4,
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
