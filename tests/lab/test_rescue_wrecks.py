"""Wrecks: each is made on the kernel, told from the others, and not one of its bytes is changed."""

from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory, clean
from tests.lab.guests.guest import Guest
from tests.lab.guests.uml import UmlGuest
from tests.lab.guests.wrecks.making import digests, kernel_words, make, prove
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.guests.wrecks.wreck import DISK_MIB, DISKS, Wreck


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


@pytest.mark.parametrize("wreck", WRECKS, ids=lambda wreck: wreck.id)
def test_a_wreck(guest: Guest, wreck: Wreck) -> None:
    """It is what the table says: the kernel says so, and the truth gives the files back on overlays."""
    make(guest, wreck)
    if wreck.truth is not None:
        assert wreck.truth.kernel_words <= kernel_words(guest)
    before = digests(guest)
    if wreck.provable:
        prove(guest, wreck)
    assert digests(guest) == before
