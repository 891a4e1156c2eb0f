"""What a search says of a candidate that is not the only one."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.rescue.search.results import (
    CheckResult,
    Proof,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)

GEOMETRY = RescueGeometry(
    level=5,
    layout="left-symmetric",
    chunk_bytes=64 << 10,
    data_offset_sectors=2048,
    order=("sda", "sdb", "sdc"),
)
OTHER = replace(GEOMETRY, order=("sdb", "sda", "sdc"))
PROOF = Proof(check=CheckResult.CLEAN)
WARNING = (
    ": a check may find nothing wrong in any of them. Compare the contents of files before you choose:"
    " raidtui rescue try rebuild-superblocks --hashes."
)


def found(*, alike: int, more: bool = False) -> SearchResult:
    return SearchResult(
        outcome=SearchOutcome.TIED if more or alike > 1 else SearchOutcome.UNIQUE,
        candidates=(
            SearchCandidate(geometry=GEOMETRY, proof=PROOF, passed=9, failed=0, best=True),
            SearchCandidate(geometry=OTHER, proof=PROOF, passed=9, failed=0, best=False),
        ),
        alike=alike,
        more=more,
    )


def test_a_tie() -> None:
    first = "One of 720 geometries that fit alike, not the only one"
    assert found(alike=720).tie_of(GEOMETRY) == first + WARNING
    assert found(alike=720, more=True).tie_of(GEOMETRY).startswith("One of at least 720 geometries")


def test_one_is_left_of_more_than_could_be_compared() -> None:
    """It is not known to be the only one, which is a tie for whoever chooses it."""
    assert found(alike=1, more=True).tie_of(GEOMETRY) == (
        "More geometries fitted than could be compared" + WARNING
    )


def test_the_only_one_is_in_doubt() -> None:
    """Where the array begins is not known, or parity does not fit: another geometry may."""
    doubtful = replace(found(alike=1), outcome=SearchOutcome.TIED)
    assert doubtful.tie_of(GEOMETRY) == "The only geometry that fits is in doubt" + WARNING
    assert doubtful.tie_of(OTHER) == ""


def test_nothing_fits_as_well() -> None:
    assert found(alike=1).tie_of(GEOMETRY) == ""
    assert found(alike=2).tie_of(OTHER) == ""
