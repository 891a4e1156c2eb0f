"""What must be said of each wreck that tests/lab/guests/wrecks makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Expected(Struct, frozen=True, kw_only=True):
    """What a diagnosis has to say.

    Args:
        causes: codes that have to be there, with the devices after a colon ("a" is ubda); those that begin
            with "-" must not be there.
        ways: codes that have to be possible, with the devices in any order after a colon; those that begin
            with "-" must not be possible.
        verdict: what can become of the first array; "" where there is none.
        status: the exit status.
    """

    causes: str
    ways: str
    verdict: str = "savable"
    status: int = 1


def differs(id: str, found: Mapping[str, Any]) -> str:  # noqa: A002
    """Return what a diagnosis (the form for programs) lacks of what is expected; "" for nothing."""
    expected = KNOWN[id]
    causes = {_word(each) for array in found["arrays"] for each in array["causes"]}
    ways = {_word(each) for array in found["arrays"] for each in array["ways"] if each["possible"]}
    verdict = next((array["verdict"]["code"] for array in found["arrays"]), "")
    wrong = [*_wrong(expected.causes, causes), *_wrong(expected.ways, ways)]
    wrong += [f"verdict {verdict}"] if verdict != expected.verdict else []
    return f"{' '.join(wrong)}: causes {sorted(causes)}, ways {sorted(ways)}" if wrong else ""


def _word(said: Mapping[str, Any]) -> str:
    return f"{said['code']}:{','.join(sorted(each.removeprefix('ubd') for each in said['devices']))}"


def _wrong(words: str, found: set[str]) -> list[str]:
    """Return the words that do not hold; without a colon, a word means any devices."""
    codes = {each.partition(":")[0] for each in found} | found
    return [word for word in words.split() if (word.removeprefix("-") in codes) is word.startswith("-")]


_LOST = (
    *("r5-zero-all", "r5-zero-all-512k", "r5-la-128k", "r5-rs-16k", "r5-ra-32k", "r5-parity-first"),
    *("r5-six", "r5-one-gone", "r5-offset", "r5-part-of-the-disks", "r4", "r6", "r6-one-gone", "r6-two-gone"),
    *("r10-near", "r10-far", "r10-offset", "r0", "r1", "r5-metadata-0.90", "r5-metadata-1.0"),
    *("r5-metadata-1.1", "r5-and-a-spare", "gpt-in-md", "lvm-in-md", "xfs-in-md", "luks-in-md"),
)
_RECREATED = (
    *("r5-recreated", "r5-recreated-and-rebuilt", "r5-recreated-partly-rebuilt"),
    *("r6-recreated-partly-resynced", "r10-recreated-partly-resynced"),
)
_ALL_LOST = Expected(
    causes="superblock-lost -not-enough",
    ways="search rebuild-superblocks -force -start -start-degraded",
    verdict="search",
)
_CREATED_OVER = Expected(
    causes="re-created:a,b,c,d -not-enough",
    ways="look search -start -start-degraded -force",
    verdict="search",
)
_TOO_FEW = Expected(
    causes="not-enough",
    ways="bring-back -look -start -start-degraded -force -search -rebuild-superblocks",
    verdict="lost",
    status=2,
)
EXPECTED = {
    **dict.fromkeys(_LOST, _ALL_LOST),
    **dict.fromkeys(_RECREATED, _CREATED_OVER),
    "r5-zero-one": Expected(
        causes="superblock-lost:c member-missing",
        ways="look:a,b,d start-degraded:a,b,d -start -search -force",
    ),
    "r5-zero-two": Expected(
        causes="superblock-lost:b,d -not-enough",
        ways="search:a,b,c,d -start -start-degraded -look -force",
        verdict="search",
    ),
    "r5-zero-three-of-four": Expected(
        causes="superblock-lost:b,c,d", ways="search:a,b,c,d -look -force", verdict="search"
    ),
    "r5-checksum-two": Expected(
        causes="checksum-wrong:b checksum-wrong:c",
        ways="search:a,b,c,d rebuild-superblocks -look -start -start-degraded -force",
        verdict="search",
    ),
    "r5-two-blank": _TOO_FEW,
    "r5-two-blank-two-zeroed": Expected(
        causes="superblock-lost:a,b", ways="search:a,b -start", verdict="search"
    ),
    "blank-all": Expected(
        causes="-superblock-lost", ways="-search -rebuild-superblocks", verdict="", status=0
    ),
    "r5-recreated-missing": Expected(
        causes="re-created:a,b,c,d -not-enough",
        ways="look:a,b,d search:a,b,c,d -start -start-degraded",
        verdict="search",
    ),
    "r5-one-absent": Expected(
        causes="member-missing -stale",
        ways="bring-back look:a,b,c start-degraded:a,b,c -start -force -search",
    ),
    "r5-one-absent-and-dirty": Expected(
        causes="dirty-degraded:a,b,c member-missing", ways="force:a,b,c -start -start-degraded -look"
    ),
    "r6-two-absent": Expected(causes="member-missing", ways="start-degraded:a,c,d -start -force"),
    "r1-one-absent": Expected(causes="member-missing", ways="start-degraded:b look:b -start -force"),
    "r0-one-absent": _TOO_FEW,
    "r5-a-disk-of-another-array": Expected(
        causes="member-missing foreign -stale", ways="start-degraded:a,b,c start:d -force"
    ),
    "r5-cable-two": Expected(
        causes="failed-together:c,d stale:c stale:d", ways="force:a,b,c -start -start-degraded -look -search"
    ),
    "r5-behind-by-one": Expected(
        causes="one-event-behind:d complete -stale",
        ways="look:a,b,c,d start:a,b,c,d -start-degraded -force -rebuild-superblocks",
        verdict="starts",
        status=0,
    ),
    "r5-behind-by-20": Expected(causes="stale:c stale:d", ways="force:a,b,c -start -start-degraded -look"),
    "r5-behind-by-20000": Expected(causes="stale:c stale:d", ways="force:a,b,c -start -start-degraded -look"),
    "r5-one-behind": Expected(causes="stale:b -failed-together", ways="start:a,c,d look:a,c,d -force"),
    "r6-three-stale": Expected(causes="stale:c stale:d stale:e", ways="force:a,b,c -start -start-degraded"),
    "r10-pair-lost": Expected(causes="stale:a", ways="force:a,c,d -start -start-degraded -look"),
    "r10-pair-lost-for-good": _TOO_FEW,
    "r5-recovery-cut": Expected(
        causes="recovery-cut:d -stale -not-enough", ways="look:a,b,c,d start:a,b,c,d -force -search"
    ),
    "r5-recovery-cut-one-absent": Expected(
        causes="recovery-cut:d not-enough member-missing",
        ways="bring-back -look -start -start-degraded -force -search -rebuild-superblocks",
        verdict="lost",
        status=2,
    ),
    "r5-failed-mid-rebuild": Expected(
        causes="recovery-cut:d stale:c", ways="force:a,b,c -start -start-degraded -look"
    ),
    "r5-added-as-a-spare": Expected(causes="spare:d stale:c", ways="force:a,b,c -start -start-degraded"),
    "r1-split-brain": Expected(
        causes="split-brain:a,b -stale", ways="look:a look:b take-half:a take-half:b -start -force"
    ),
    "r1-clone": Expected(causes="clone:a,c", ways="start:a,b -force"),
    "r5-of-another-host": Expected(
        causes="foreign complete", ways="start:a,b,c look:a,b,c -force", verdict="starts", status=0
    ),
    "two-arrays": Expected(causes="failed-together:c,d complete", ways="force:a,b,c start:e,f"),
    "reshape-chunk-cut": Expected(
        causes="reshape-cut:a,b,c,d",
        ways="continue-reshape:a,b,c,d continue-reshape-without-backup -start -look -search -force",
    ),
    **dict.fromkeys(
        ("reshape-chunk-cut-backup-lost", "reshape-chunk-halted"),
        Expected(
            causes="reshape-cut:a,b,c,d",
            ways="continue-reshape-without-backup:a,b,c,d revert-reshape -continue-reshape -start -look"
            " -force",
        ),
    ),
    "reshape-layout-cut": Expected(
        causes="reshape-cut:a,b,c,d",
        ways="continue-reshape:a,b,c,d continue-reshape-without-backup -start -look -search -force",
    ),
    **dict.fromkeys(
        ("reshape-5-to-6-cut", "reshape-6-to-5-cut"),
        Expected(
            causes="reshape-cut:a,b,c,d,e",
            ways="continue-reshape:a,b,c,d,e continue-reshape-without-backup -start -look -search -force",
        ),
    ),
    "reshape-grow-cut": Expected(
        causes="reshape-cut:a,b,c,d",
        ways="look start:a,b,c,d continue-reshape:a,b,c,d -continue-reshape-without-backup -search -force",
    ),
    "reshape-grow-stripe-cut": Expected(
        causes="reshape-cut:a,b,c,d",
        ways="look start:a,b,c,d continue-reshape:a,b,c,d -revert-reshape -search -force",
    ),
    "reshape-grow-member-lost": Expected(
        causes="reshape-cut:a,c,d member-missing superblock-lost:b",
        ways="start-degraded:a,c,d continue-reshape:a,c,d -start -search",
    ),
    "r5-journal-lost": Expected(causes="journal-lost", ways="force:a,b,c -start -look"),
    "r5-journal-full": Expected(
        causes="log-replayed -journal-lost",
        ways="look:e,f,g,h start:e,f,g,h -force",
        verdict="starts",
        status=0,
    ),
    "r5-ppl-one-absent": Expected(
        causes="log-replayed member-missing -dirty-degraded", ways="start-degraded:a,c -start"
    ),
    "r1-0.90-whole-or-partition": Expected(
        causes="disk-and-partition:a,a1 disk-and-partition:b,b1",
        ways="start:a1,b1 -force",
        verdict="starts",
        status=0,
    ),
    "r1-partition-lost": Expected(
        causes="partition-table-lost:a partition-table-lost:b -superblock-lost",
        ways="map-partition:a map-partition:b -start",
        verdict="mend-first",
    ),
    "r5-partition-lost-on-one": Expected(
        causes="partition-table-lost:b -superblock-lost",
        ways="map-partition:b -rebuild-superblocks",
        verdict="mend-first",
    ),
    "r5-shorter-disk": Expected(
        causes="device-smaller:dm-0", ways="restore-size:dm-0 look start-degraded:a,b,c -start -force -search"
    ),
    "r0-bad-sectors": Expected(causes="read-errors:dm-0 -log-replayed", ways="copy-first:dm-0"),
    "r5-bad-sectors-one-absent": Expected(
        causes="read-errors:dm-0 member-missing", ways="copy-first:dm-0 start-degraded:a,dm-0"
    ),
    "r5-bad-block-list": Expected(
        causes="read-errors:dm-0 bad-blocks:c", ways="copy-first:dm-0 start:a,c,dm-0 -force"
    ),
    "ddf": Expected(
        causes="external-metadata:a,b,c",
        ways="start:a,b,c -rebuild-superblocks",
        verdict="starts",
        status=0,
    ),
    "r10-both-of-a-mirror-stale": Expected(
        causes="stale:a stale:b", ways="force:b,c,d -start -start-degraded -look -search"
    ),
    "r1-stale-with-a-newer-clock": Expected(causes="stale:a", ways="start:b look:b -force"),
    "r1-three-apart": Expected(
        causes="split-brain:a,b split-brain:a,c split-brain:b,c -stale",
        ways="look:a look:b look:c take-half:a take-half:b take-half:c -start -force",
    ),
    "r1-can-be-added-again": Expected(causes="stale:b", ways="start:a look:a -force"),
    "r10-offset-two-adjacent-absent": _TOO_FEW,
    "r6-three-at-once": Expected(
        causes="failed-together:c,d,e stale:c stale:d stale:e", ways="force:a,b,c -start -start-degraded"
    ),
    "r6-one-absent-and-dirty": Expected(
        causes="dirty-degraded:a,b,c member-missing", ways="force:a,b,c -start -start-degraded -look"
    ),
    "r5-spare-half-promoted": Expected(causes="recovery-cut:d stale:b", ways="start:a,c,d look:a,c,d -force"),
    "r5-spare-half-promoted-one-absent": Expected(
        causes="recovery-cut:d stale:b member-missing", ways="force:b,c -start -start-degraded -look"
    ),
    "r5-old-member-returns": Expected(causes="stale:d", ways="start:a,b,c,e look:a,b,c,e -force -search"),
    "r5-replacement-cut": Expected(
        causes="recovery-cut:e -stale", ways="start:a,b,c,d,e look:a,b,c,d,e -force -search"
    ),
    "r5-replacement-cut-two-absent": _TOO_FEW,
    "r5-heads-of-two-zeroed": Expected(
        causes="superblock-lost:b,c", ways="search:a,b,c,d -start -start-degraded -force", verdict="search"
    ),
    "r5-table-over-one": Expected(
        causes="overwritten:b member-missing -superblock-lost -not-enough",
        ways="look:a,c,d start-degraded:a,c,d -start -search -force",
    ),
    "r5-table-over-all": _ALL_LOST,
    "r5-partitions-over-all": Expected(
        causes="superblock-lost:a1,b1,c1,d1 overwritten:a,b,c,d",
        ways="search:a1,b1,c1,d1 search:a,b,c,d rebuild-superblocks:a,b,c,d -force -start",
        verdict="search",
    ),
    "r0-swap-over-one": Expected(
        causes="overwritten:b member-missing", ways="search:a,b,c -start -force -look", verdict="search"
    ),
    "r5-ext4-over-two": Expected(
        causes="overwritten:b overwritten:c member-missing -superblock-lost",
        ways="search:a,b,c,d -start -start-degraded -force",
        verdict="search",
    ),
    "r5-bitmap-damaged": Expected(
        causes="bitmap-damaged:a bitmap-damaged:b bitmap-damaged:c -checksum-wrong",
        ways="start-without-bitmap:a,b,c -start -start-degraded -force -look -search",
    ),
    "r0-checksum-one": Expected(
        causes="checksum-wrong:b", ways="search:a,b,c -start -start-degraded -force -look", verdict="search"
    ),
    "linear-one-absent": _TOO_FEW,
    "r1-partition-moved": Expected(
        causes="partition-table-lost:a partition-table-lost:b -superblock-lost",
        ways="map-partition:a map-partition:b -start -search",
        verdict="mend-first",
    ),
    "two-of-one-name": Expected(
        causes="member-missing -re-created",
        ways="start-degraded:a,b start-degraded:d,e -start -force -search",
    ),
    "disks-of-two-hosts": Expected(
        causes="member-missing foreign not-enough -re-created",
        ways="start-degraded:a,b -start -force -search",
        status=2,
    ),
    "r5-metadata-0.90-cable-two": Expected(
        causes="failed-together:c,d stale:c stale:d", ways="force:a,b,c -start -start-degraded -look -search"
    ),
    "r5-metadata-1.0-cable-two": Expected(
        causes="failed-together:c,d stale:c stale:d", ways="force:a,b,c -start -start-degraded -look -search"
    ),
    "ddf-one-absent": Expected(
        causes="external-metadata:a,c member-missing", ways="start-degraded:a,c -start -rebuild-superblocks"
    ),
}
CAPTURED = {
    "r5-both-sources-dropped": Expected(
        causes="failed-together:sda,sdb spare:sdc -not-enough",
        ways="force:sda,sdb -look -start -start-degraded -search",
    ),
    "r1-newest-is-a-spare": Expected(
        causes="spare:sda -not-enough",
        ways="force:sdb force:sdc -look -start -start-degraded -search",
    ),
    "r1-only-source-dropped": Expected(
        causes="spare:sdb -not-enough", ways="force:sda -look -start -start-degraded -search"
    ),
    "r6-members-recorded-as-spares": Expected(
        causes="spare:sda,sdb,sdc -not-enough",
        ways="search:sda,sdb,sdc,sdd,sde -look -start -start-degraded -force",
        verdict="search",
    ),
    "r10-one-marked-as-failed": Expected(
        causes="failed-together:sdb,sde", ways="force:sdc,sdd,sde -force:sdb,sdc,sdd"
    ),
    "r0-layout-unknown": Expected(
        causes="raid0-layout:a1,b,c -complete",
        ways="layout-alternate:a1,b,c layout-original:a1,b,c -start -start-degraded -look -search",
    ),
    "r0-grow-halted": Expected(
        causes="reshape-cut stale:c -not-enough", ways="force:a,b,c -look -start -continue-reshape -search"
    ),
    "r5-grow-at-zero": Expected(
        causes="reshape-cut",
        ways="revert-reshape -look -start -continue-reshape -continue-reshape-without-backup -force -search",
    ),
}
"""Hosts that the laboratory does not make: superblocks as in reports, and arrays cut by hand."""
KNOWN = {**EXPECTED, **CAPTURED}
