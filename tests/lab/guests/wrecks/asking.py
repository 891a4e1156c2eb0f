"""What raidtui says of a wreck in a guest: its diagnosis, also from a capture, and its search."""

import json
from typing import Any

from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.wrecks.wreck import Found, Truth, Wreck
from tests.rescue.expected import EXPECTED, differs

CAPTURE = "/run/wreck.tar.gz"
_PROVEN, _NOTHING = 0, 2
SEARCHED = {
    *("r5-zero-all", "r5-zero-all-512k", "r5-la-128k", "r5-rs-16k", "r5-ra-32k", "r5-parity-first"),
    *("r5-six", "r5-one-gone", "r5-offset", "r5-part-of-the-disks", "r4", "r6", "r6-one-gone", "r6-two-gone"),
    *("r10-near", "r10-far", "r10-offset", "r0", "r1", "r5-metadata-0.90", "r5-metadata-1.0"),
    *("r5-metadata-1.1", "r5-and-a-spare", "gpt-in-md", "lvm-in-md", "xfs-in-md", "luks-in-md"),
    *("r5-zero-two", "r5-zero-three-of-four", "r5-checksum-two", "r5-recreated", "r5-recreated-missing"),
    *("r5-recreated-and-rebuilt", "r5-recreated-partly-rebuilt", "r6-recreated-partly-resynced"),
    *("r10-recreated-partly-resynced", "blank-all", "r5-two-blank", "r5-two-blank-two-zeroed"),
}
"""The wrecks whose search must come to all that the table says."""


def diagnosed(guest: Guest, wreck: Wreck, *, captured: bool = False) -> list[str]:
    """What is wrong with the diagnosis, and with that of a capture, which has to say the same."""
    told = raidtui(guest, "rescue", "--json")
    if not told.stdout:
        return [f"no diagnosis: {told.output}"]
    found = json.loads(told.stdout)
    wrong = [differs(wreck.id, found)]
    if told.status != EXPECTED[wreck.id].status:
        wrong.append(f"status {told.status}")
    if captured:
        kept = raidtui(guest, "capture", "--with-serials", CAPTURE)
        elsewhere = raidtui(guest, "--root", CAPTURE, "rescue", "--json")
        if (kept.status, elsewhere.status) != (0, told.status) or json.loads(elsewhere.stdout) != found:
            wrong.append(f"the capture says another thing: {kept.output}{elsewhere.output}")
        assert guest.run(f"rm -f {CAPTURE}").status == 0
    return [each for each in wrong if each]


def searched(guest: Guest, wreck: Wreck) -> list[str]:
    """What is wrong with the outcome of a search.

    Whatever the wreck, an answer that is called proven is the truth. All that the table expects is asked of
    those in SEARCHED.
    """
    told = raidtui(guest, "rescue", "search", "--json", *wreck.given, timeout=300)
    if not told.stdout:
        return [f"the search ended with status {told.status}: {told.output}"]
    found = json.loads(told.stdout)
    candidates = found["candidates"]
    clean = [each for each in candidates if each["proof"]["check"] == "clean"]
    first = bool(candidates) and _says(candidates[0], wreck.truth)
    right = told.status != _PROVEN or (first and found["unique"])
    if wreck.id in SEARCHED:
        match wreck.search:
            case Found.UNIQUE:
                right = right and first and found["unique"]
            case Found.TIE:
                right = right and any(_says(each, wreck.truth) for each in candidates if each["best"])
            case Found.UNPROVEN:
                right = right and told.status != _PROVEN and not clean
            case _:
                right = (told.status, candidates) == (_NOTHING, [])
    seen = f"status {told.status}, {len(clean)} clean of {len(candidates)}: {json.dumps(candidates[:2])}"
    return [] if right else [f"searched for {wreck.truth}: {seen}"]


def _says(candidate: dict[str, Any], truth: Truth | None) -> bool:
    """Whether a candidate is the geometry, or names it among those that read the same."""
    return any(_is(each, truth) for each in (candidate, *candidate["reads_the_same"]))


def _is(found: dict[str, Any], truth: Truth | None) -> bool:
    """Whether this is the geometry: halves of a mirror have no order."""
    return truth is not None and (
        found["level"] == truth.level
        and found["data_offset_sectors"] == truth.offset
        and (found["layout"] or "") == truth.layout
        and (not truth.chunk_kib or found["chunk_bytes"] == truth.chunk_kib << 10)
        and _sets(truth, tuple(found["order"])) == _sets(truth, truth.order)
    )


def _sets(truth: Truth, order: tuple[str, ...]) -> list[list[str]]:
    """The members by slot, those of one mirror together."""
    together = len(order) if truth.level == 1 else 2 if truth.layout == "n2" else 1
    return [sorted(order[at : at + together]) for at in range(0, len(order), together)]
