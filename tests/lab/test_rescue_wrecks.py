"""Wrecks: each is made on the kernel, told from the others, and not one of its bytes is changed."""

import os
from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory, clean
from tests.lab.guests.guest import Guest
from tests.lab.guests.uml import UmlGuest
from tests.lab.guests.wrecks.asking import diagnosed, searched, tried, way_words
from tests.lab.guests.wrecks.making import digests, kernel_words, make, prove
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.guests.wrecks.verdicts import VERDICTS
from tests.lab.guests.wrecks.wreck import DISK_MIB, DISKS, Wreck

ALL = os.environ.get("RAIDTUI_WRECKS") == "all"
"""Whether each wreck is proven and tried, which takes three times as long: make wrecks."""
TRIED = {"r5-cable-two", "r5-one-absent", "r5-zero-all", "r6-one-gone", "r10-far", "r0", "r5-one-gone"}


@pytest.fixture(scope="module")
def small_disks(bytecode: None) -> Iterator[Laboratory[UmlGuest]]:
    holder = Laboratory(lambda: UmlGuest.boot(disks=DISKS, size_mib=DISK_MIB))
    yield holder
    holder.close()


@pytest.fixture
def guest(small_disks: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """A guest with eight small disks, all of them empty."""
    yield from clean(small_disks)


def test_there_are_enough_and_each_has_its_name() -> None:
    assert len({wreck.id for wreck in WRECKS}) == len(WRECKS) >= 40
    assert {wreck.id for wreck in WRECKS} == set(VERDICTS)


@pytest.mark.parametrize("wreck", WRECKS, ids=lambda wreck: wreck.id)
def test_a_wreck(guest: Guest, wreck: Wreck) -> None:
    """It is what the table says, it is told as that, and its members are the same after each look at it."""
    make(guest, wreck)
    if wreck.truth is not None:
        assert wreck.truth.kernel_words <= kernel_words(guest)
    before = digests(guest)
    wrong = diagnosed(guest, wreck)
    assert digests(guest) == before, "the diagnosis has written"
    if wreck.search is not None:
        wrong += searched(guest, wreck)
        assert digests(guest) == before, "the search has written"
    if (words := way_words(wreck)) and (ALL or wreck.id in TRIED):
        wrong += tried(guest, words)
        assert digests(guest) == before, "the trial has written"
    if ALL and wreck.provable:
        prove(guest, wreck)
        assert digests(guest) == before
    assert wrong == []
