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

CARRIED_OUT = {
    *("r10-far", "r1", "r0", "r5-metadata-0.90", "r5-zero-two", "r6-one-gone", "lvm-in-md"),
    *("r5-one-absent", "r5-one-absent-and-dirty", "r5-cable-two", "r5-behind-by-20000", "r5-recovery-cut"),
    *("r1-split-brain", "r5-journal-lost", "r5-partition-lost-on-one", "r5-bitmap-damaged"),
}
"""Those whose trial is followed by the real plan: of each way, and of what stands on arrays, one at least."""
CAPTURED = {
    *("r5-cable-two", "r5-zero-two", "r1-partition-lost", "r0-bad-sectors", "reshape-grow-cut", "ddf"),
    *("r1-0.90-whole-or-partition", "r5-failed-mid-rebuild"),
}
LATER = {
    *("r5-zero-all-512k", "r5-rs-16k", "r5-ra-32k", "r5-parity-first", "r5-part-of-the-disks", "r6-two-gone"),
    *("r5-metadata-1.1", "r5-zero-three-of-four", "r5-recreated-partly-rebuilt", "r1-one-absent"),
    *("r6-recreated-partly-resynced", "r6-two-absent", "r10-pair-lost-for-good", "r5-ppl-one-absent"),
    *("reshape-chunk-cut", "reshape-chunk-halted", "reshape-grow-stripe-cut"),
    *("reshape-layout-cut", "reshape-5-to-6-cut", "reshape-6-to-5-cut"),
    *("r5-bad-sectors-one-absent", "luks-in-md", "xfs-in-md", "r5-recreated-and-rebuilt"),
    *("r10-both-of-a-mirror-stale", "r1-stale-with-a-newer-clock", "r1-three-apart", "r1-can-be-added-again"),
    *("r10-offset-two-adjacent-absent", "r6-three-at-once", "r6-one-absent-and-dirty", "r0-checksum-one"),
    *("r5-spare-half-promoted", "r5-spare-half-promoted-one-absent", "r5-old-member-returns"),
    *("r5-replacement-cut-two-absent", "r5-heads-of-two-zeroed", "linear-one-absent", "disks-of-two-hosts"),
    *("r5-metadata-0.90-cable-two", "r5-metadata-1.0-cable-two", "r5-bad-block-list"),
    *("r5-la-128k", "r5-six", "r5-offset", "r5-metadata-1.0", "r5-and-a-spare", "r5-one-behind"),
    *("r5-of-another-host", "r5-table-over-one", "r5-added-as-a-spare", "r5-two-blank-two-zeroed"),
    *("r1-partition-moved", "r5-behind-by-one", "r5-checksum-two", "r5-behind-by-20", "r5-shorter-disk"),
    *("r0-swap-over-one", "two-of-one-name", "r5-replacement-cut", "r5-zero-one"),
    *("r10-recreated-partly-resynced", "r5-recovery-cut-one-absent", "reshape-chunk-cut-backup-lost"),
    *("r4", "r6", "r10-near", "r10-offset", "r5-two-blank", "blank-all", "r5-recreated-missing"),
    *("r0-one-absent", "r5-a-disk-of-another-array", "r10-pair-lost", "r1-clone", "two-arrays"),
    *("reshape-grow-member-lost", "r5-journal-full", "gpt-in-md", "r5-table-over-all"),
    *("r5-partitions-over-all", "r5-ext4-over-two"),
    *("r5-one-gone", "r5-behind-by-20000", "r5-bitmap-damaged", "r5-recovery-cut", "r5-one-absent"),
    *("r5-partition-lost-on-one", "r6-three-stale", "r1-0.90-whole-or-partition", "r0", "ddf"),
}
"""Wrecks much like others, which make wrecks alone makes; what is said of each is held by its recording
(tests/fixtures/rescue), without the laboratory.
"""
MADE = [wreck for wreck in WRECKS if WHOLE or wreck.id not in LATER]
COME_BACK = [wreck for wreck in MADE if wreck.provable and wreck.listed and not wreck.unproven]
"""Those whose files come back with their hashes: in a trial, and where they are carried out, in the array."""
PARTS = 4


def test_there_are_enough_and_each_has_its_name() -> None:
    assert len({wreck.id for wreck in WRECKS}) == len(WRECKS)
    assert {wreck.id for wreck in WRECKS} == set(EXPECTED)
    assert {wreck.id for wreck in WRECKS} >= LATER | CARRIED_OUT | CAPTURED
    assert len(MADE) >= 17
    assert len(COME_BACK) >= 16
    assert len({wreck.id for wreck in COME_BACK} & CARRIED_OUT) >= 10


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
