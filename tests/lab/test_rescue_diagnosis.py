"""What raidtui rescue says of wrecks on a real kernel; it changes no byte, and a capture says the same."""

import json
from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory, clean
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.uml import UmlGuest
from tests.lab.guests.wrecks.making import digests, make
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.guests.wrecks.wreck import DISK_MIB, DISKS, Wreck
from tests.rescue.expected import EXPECTED, differs

CAPTURE = "/run/wreck.tar.gz"
CHOSEN = (
    *("r5-cable-two", "r5-one-behind", "r5-behind-by-20", "r5-zero-two", "r5-two-blank", "r1-split-brain"),
    *("r5-recovery-cut", "r5-failed-mid-rebuild", "reshape-grow-cut"),
    *("r5-one-absent-and-dirty", "r5-journal-lost", "r5-of-another-host", "r1-0.90-whole-or-partition"),
    *("r1-partition-lost", "r5-added-as-a-spare", "r1-clone", "r0-bad-sectors", "r5-shorter-disk", "ddf"),
)


@pytest.fixture(scope="module")
def wreck_disks(bytecode: None) -> Iterator[Laboratory[UmlGuest]]:
    holder = Laboratory(lambda: UmlGuest.boot(disks=DISKS, size_mib=DISK_MIB))
    yield holder
    holder.close()


@pytest.fixture
def guest(wreck_disks: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """A guest with eight small disks, all of them empty."""
    yield from clean(wreck_disks)


@pytest.mark.parametrize("wreck", [each for each in WRECKS if each.id in CHOSEN], ids=lambda wreck: wreck.id)
def test_the_cause_is_named_and_nothing_is_written(guest: Guest, wreck: Wreck) -> None:
    make(guest, wreck)
    before = digests(guest)
    told = raidtui(guest, "rescue", "--json")
    found = json.loads(told.stdout)
    assert differs(wreck.id, found) == ""
    assert told.status == EXPECTED[wreck.id].status
    captured = raidtui(guest, "capture", "--with-serials", CAPTURE)
    assert captured.status == 0, captured.output
    assert digests(guest) == before
    elsewhere = raidtui(guest, "--root", CAPTURE, "rescue", "--json")
    assert json.loads(elsewhere.stdout) == found
    assert elsewhere.status == told.status
    assert guest.run(f"rm {CAPTURE}").status == 0
