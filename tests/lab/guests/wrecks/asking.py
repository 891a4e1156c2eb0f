"""What raidtui says of a wreck in a guest: its diagnosis, also from a capture, and its search."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.features.rescue.expected import EXPECTED, differs
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.wrecks.wreck import Found, Truth, Wreck

CAPTURE = "/run/wreck.tar.gz"
_PROVEN, _NOTHING = 0, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What raidtui has said of a wreck as it was made.

    Args:
        wrong: what is wrong with it.
        found: the diagnosis.
        candidates: of a search on all that is there, best first; None where none was asked for.
    """

    wrong: list[str]
    found: Mapping[str, Any] = field(default_factory=dict)
    candidates: Sequence[Mapping[str, Any]] | None = None


def diagnosed(guest: Guest, wreck: Wreck, *, captured: bool = False) -> Asked:
    """Ask for the diagnosis, and for that of a capture, which has to say the same."""
    result = raidtui(guest, "rescue", "--json")
    if not result.stdout:
        return Asked(wrong=[f"no diagnosis: {result.output}"])
    found = json.loads(result.stdout)
    wrong = [differs(wreck.id, found)]
    if result.status != EXPECTED[wreck.id].status:
        wrong.append(f"status {result.status}")
    if captured:
        kept = raidtui(guest, "capture", "--with-serials", CAPTURE)
        elsewhere = raidtui(guest, "--root", CAPTURE, "rescue", "--json")
        if (kept.status, elsewhere.status) != (0, result.status) or json.loads(elsewhere.stdout) != found:
            wrong.append(f"the capture says another thing: {kept.output}{elsewhere.output}")
        assert guest.run(f"rm -f {CAPTURE}").status == 0
    return Asked(wrong=[each for each in wrong if each], found=found)


def searched(guest: Guest, wreck: Wreck, asked: Asked) -> Asked:
    """Ask for a search, too.

    Whatever the wreck, an answer that is called proven is the truth.
    """
    result = raidtui(guest, "rescue", "search", "--json", *wreck.given, timeout=300)
    if not result.stdout:
        sentence = f"the search ended with status {result.status}: {result.output}"
        return replace(asked, wrong=[*asked.wrong, sentence])
    found = json.loads(result.stdout)
    candidates = found["candidates"]
    clean = [each for each in candidates if each["proof"]["check"] == "clean"]
    first = bool(candidates) and _is(candidates[0], wreck.truth)
    right = result.status != _PROVEN or (first and found["unique"])
    match wreck.search:
        case Found.UNIQUE:
            # P matches in any order, RAID 0 has none: few blocks of a small file system leave a tie.
            alike = wreck.truth is not None and wreck.truth.level in {0, 4, 5}
            alone = first and found["unique"]
            right = right and (alone or (alike and _among(candidates, wreck.truth)))
        case Found.TIE:
            right = right and _among(candidates, wreck.truth)
        case Found.UNPROVEN:
            right = right and result.status != _PROVEN and not clean
        case _:
            right = (result.status, candidates) == (_NOTHING, [])
    seen = f"status {result.status}, {len(clean)} clean of {len(candidates)}: {json.dumps(candidates[:2])}"
    wrong = [] if right else [f"searched for {wreck.truth}: {seen}"]
    return replace(asked, wrong=[*asked.wrong, *wrong], candidates=candidates)


def _among(candidates: list[dict[str, Any]], truth: Truth | None) -> bool:
    """Whether the truth is one of those that nothing separates."""
    return any(_is(each, truth) for each in candidates if each["best"])


def _is(found: dict[str, Any], truth: Truth | None) -> bool:
    """Whether this is the geometry, or one that reads the same: halves of a mirror have no order."""
    if truth is None:
        return False
    level, layout, order = _plain(truth.level, truth.layout, truth.order)
    return (
        (level, layout) == _plain(found["level"], found["layout"] or "", ())[:2]
        and found["data_offset_sectors"] == truth.offset
        and (not truth.chunk_kib or found["chunk_bytes"] == truth.chunk_kib << 10)
        and _sets(level, layout, order)
        == _sets(level, layout, _plain(found["level"], found["layout"] or "", tuple(found["order"]))[2])
    )


def _plain(level: int, layout: str, order: tuple[str, ...]) -> tuple[int, str, tuple[str, ...]]:
    """RAID 5 whose parity stays on one member is RAID 4, which has it last."""
    if level == 5 and layout == "parity-first":
        return 4, "", (*order[1:], *order[:1])
    return (4, "", order) if level == 5 and layout == "parity-last" else (level, layout, order)


def _sets(level: int, layout: str, order: tuple[str, ...]) -> list[list[str]]:
    """The members by slot, those of one mirror together."""
    together = len(order) if level == 1 else 2 if layout == "n2" else 1
    return [sorted(order[at : at + together]) for at in range(0, len(order), together)]
