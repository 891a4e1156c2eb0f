"""Wrecks: each is made on the kernel and diagnosed, and not one of its bytes is changed."""

import pytest

from tests.extent import WHOLE
from tests.features.rescue.expected import EXPECTED
from tests.lab.guests.digests import digests
from tests.lab.guests.guest import Guest
from tests.lab.guests.wrecks.asking import diagnosed, searched
from tests.lab.guests.wrecks.making import kernel_words, make, prove
from tests.lab.guests.wrecks.saving import saved
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.guests.wrecks.wreck import Wreck

CARRIED_OUT = {"r5-zero-two", "r5-cable-two", "r5-journal-lost", "r1-split-brain", "lvm-in-md"}
"""Those whose trial is followed by the real plan."""
CAPTURED = {"r5-zero-two", "r5-cable-two", "reshape-grow-cut"}
ALWAYS = CARRIED_OUT | CAPTURED
"""Those that ``make test`` makes, one of each kind. What is said of the others is held by their recordings
(tests/fixtures/rescue), without the laboratory; ``make wrecks`` makes, captures and carries out all of them.
"""
MADE = [wreck for wreck in WRECKS if WHOLE or wreck.id in ALWAYS]
COME_BACK = [wreck for wreck in MADE if wreck.provable and wreck.listed and not wreck.unproven]
"""Those whose files come back with their hashes: in a trial, and where they are carried out, in the array."""
PARTS = 4


def test_there_are_enough_and_each_has_its_name() -> None:
    assert len({wreck.id for wreck in WRECKS}) == len(WRECKS)
    assert {wreck.id for wreck in WRECKS} == set(EXPECTED)
    assert {wreck.id for wreck in WRECKS} >= ALWAYS
    assert {wreck.id for wreck in COME_BACK} >= CARRIED_OUT


@pytest.mark.parametrize(
    "wreck",
    [
        pytest.param(wreck, id=wreck.id, marks=pytest.mark.xdist_group(f"wrecks {number % PARTS}"))
        for number, wreck in enumerate(MADE)
    ],
)
def test_a_wreck(wreck_guest: Guest, wreck: Wreck) -> None:
    """It is what the table says, and said to be that; its files come back; no byte is changed before."""
    make(wreck_guest, wreck)
    if wreck.truth is not None:
        assert wreck.truth.kernel_words <= kernel_words(wreck_guest)
    before = digests(wreck_guest)
    asked = diagnosed(wreck_guest, wreck, captured=WHOLE or wreck.id in CAPTURED)
    assert digests(wreck_guest) == before, "it was written to"
    if wreck.search is not None:
        asked = searched(wreck_guest, wreck, asked)
        assert digests(wreck_guest) == before, "the search has written"
    if WHOLE and wreck.provable:
        prove(wreck_guest, wreck)
        assert digests(wreck_guest) == before
    assert asked.wrong == []
    assert saved(wreck_guest, wreck, asked, carried_out=WHOLE or wreck.id in CARRIED_OUT) == []
