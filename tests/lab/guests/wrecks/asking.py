"""What raidtui says of a wreck in a guest: its diagnosis, its search, its trials; each against the table."""

import json
from collections.abc import Sequence
from typing import Any

from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.wrecks.verdicts import VERDICTS
from tests.lab.guests.wrecks.wreck import MISSING, Found, Truth, Wreck

MANIFEST = "/tmp/wrecks/manifest"
_PROVEN, _NOTHING = 0, 2
SEARCHED = {
    *("r5-rs-16k", "r5-ra-32k", "r4", "r6", "r1"),
    *("blank-all", "r5-two-blank", "r5-two-blank-two-zeroed"),
}
"""The wrecks whose search must come to all that the table says."""


def diagnosed(guest: Guest, wreck: Wreck) -> list[str]:
    """What is wrong with the diagnosis."""
    told = raidtui(guest, "rescue", "--json")
    if not told.stdout:
        return [f"no diagnosis: {told.output}"]
    arrays = json.loads(told.stdout)["arrays"]
    causes = {cause["code"] for array in arrays for cause in array["causes"]}
    ways = {way["code"] for array in arrays for way in array["ways"] if way["possible"]}
    verdict = VERDICTS[wreck.id]
    wrong = []
    if not verdict.causes <= causes:
        wrong.append(f"not named: {sorted(verdict.causes - causes)}; named: {sorted(causes)}")
    if not verdict.ways <= ways:
        wrong.append(f"not offered: {sorted(verdict.ways - ways)}; offered: {sorted(ways)}")
    if verdict.never & ways:
        wrong.append(f"offered: {sorted(verdict.never & ways)}")
    return wrong


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
    first = bool(candidates) and _is(candidates[0], wreck.truth)
    right = told.status != _PROVEN or (first and found["unique"])
    if wreck.id in SEARCHED:
        match wreck.search:
            case Found.UNIQUE:
                right = right and first and found["unique"]
            case Found.TIE:
                right = right and any(_is(each, wreck.truth) for each in candidates if each["best"])
            case Found.UNPROVEN:
                right = right and told.status != _PROVEN and not clean
            case _:
                right = (told.status, candidates) == (_NOTHING, [])
    seen = f"status {told.status}, {len(clean)} clean of {len(candidates)}: {json.dumps(candidates[:2])}"
    return [] if right else [f"searched for {wreck.truth}: {seen}"]


def _is(found: dict[str, Any], truth: Truth | None) -> bool:
    """Whether this is the geometry, or one that reads the same: halves of a mirror have no order."""
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


def way_words(wreck: Wreck) -> Sequence[str]:
    """The words with which ``raidtui rescue try`` tries the way back of a wreck; () where there is none."""
    truth, ways = wreck.truth, VERDICTS[wreck.id].ways
    if truth is None or wreck.proof:
        return ()
    there = [name for name in truth.order if name != MISSING]
    for way in ("force", "start-degraded", "start"):
        if way in ways:
            return (way, *there)
    if wreck.search is None:
        return ()
    geometry = [
        *(f"level={truth.level}", f"offset={truth.offset}", f"metadata={truth.metadata}"),
        *([f"layout={truth.layout}"] if truth.layout else []),
        *([f"chunk={truth.chunk_kib}"] if truth.chunk_kib else []),
        *([f"size={truth.size_kib * 2}"] if truth.size_kib is not None else []),
    ]
    return ("rebuild-superblocks", *truth.order, f"--geometry={','.join(geometry)}")


def tried(guest: Guest, words: Sequence[str]) -> list[str]:
    """What is wrong with a trial, whose files must all be those of the list."""
    told = raidtui(guest, "rescue", "try", *words, "--hashes", MANIFEST, "--json", timeout=300)
    if not told.stdout:
        return [f"tried {words}: status {told.status}: {told.output}"]
    proof = json.loads(told.stdout)["proof"]
    files = int(guest.run(f"grep -c . {MANIFEST}").stdout)
    if proof["check"] == "clean" and f"{files} have the sums of the list" in proof["sure"]:
        return []
    return [f"tried {words}: {proof}"]
