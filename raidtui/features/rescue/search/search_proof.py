"""What is said of a candidate: by the blocks that were read of it, and by its members among themselves."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from raidtui.features.rescue.proof import CheckResult, Proof
from raidtui.features.rescue.search.agreement import Agreement
from raidtui.features.rescue.search.outcome import SearchResult
from raidtui.features.rescue.search.samples import Samples
from raidtui.features.rescue.search.walk import Walk
from raidtui.view.units import counted, joined

_EQUAL_BY_CHANCE = 0.02
_LEAST, _WRONG = 5, 0.02
_PARITY_LEAST = 0.5


def doubt_of(found: Walk, agreement: Agreement | None) -> str:
    """Return why one candidate is not enough, a sentence; "" where it is.

    Args:
        found: what was read of it.
        agreement: of its members; None where nothing can be compared.
    """
    if found.good < _LEAST:
        return f"Only {counted(found.good, 'block')} speak for the geometry: others may fit as well."
    if found.bad > found.good * _WRONG:
        return f"{found.bad} of {found.good + found.bad} blocks do not fit: it may be another geometry."
    if agreement is not None and agreement.share < _PARITY_LEAST:
        return (
            f"The members do not match in {agreement.unmatched} of {agreement.compared} sampled rows:"
            " it may be another geometry."
        )
    return ""


def doubted(result: SearchResult, samples: Samples) -> SearchResult:
    """Take the proof from RAID 10 where members of different mirrors hold the same.

    Two mirrors hold different data. Where all members are equal, a resync in another geometry has copied one
    mirror over the other, and the copies within each agree again.
    """
    equal = [row for row in samples.rows if len(set(row.blocks)) == 1 and len(set(row.blocks[0])) > 1]
    if len(equal) <= len(samples.rows) * _EQUAL_BY_CHANCE:
        return result
    sure = (
        f"The geometry fits, but in {len(equal)} of {len(samples.rows)} sampled rows all members hold the"
        " same: a resync in another geometry has overwritten data there. Compare the contents of files."
    )
    doubtful = Proof(check=CheckResult.ERRORS, sure=sure)
    return msgspec.structs.replace(
        result,
        candidates=tuple(
            msgspec.structs.replace(
                each, proof=msgspec.structs.replace(doubtful, contents=each.proof.contents)
            )
            if each.geometry.level == 10
            and each.proof.check is CheckResult.CLEAN
            and len(each.geometry.present) > int(each.geometry.layout[1:])
            else each
            for each in result.candidates
        ),
    )


def proof_of(contents: str, slots: int, found: Walk | None, apart: str) -> Proof:
    """Return what speaks for a candidate, and how sure that is.

    Args:
        contents: what stands on the array.
        slots: how many it has.
        found: what was read of it; None: nothing.
        apart: in what the members disagree, a sentence; "" where they agree.
    """
    if found is None:
        return Proof(check=CheckResult.NOT_TRIED, contents=contents, sure="Not checked.")
    if not found.good:
        return Proof(check=CheckResult.NO_FILE_SYSTEM, sure="Nothing was recognised.")
    if found.bad:
        kinds = joined([f"{count} of {kind}" for kind, count in sorted(found.failed.items())])
        sure = f"{found.bad} of {found.good + found.bad} blocks are not what they must be: {kinds}."
        return Proof(check=CheckResult.ERRORS, contents=contents, sure=f"{sure} {apart}".rstrip())
    if apart:
        return Proof(check=CheckResult.ERRORS, contents=contents, sure=f"The geometry fits. {apart}")
    within = f"{len(found.slots)} of {slots} slots"
    how = f"{found.checked} by checksum" if found.checked else "none by checksum"
    return Proof(
        check=CheckResult.CLEAN,
        contents=contents,
        sure=f"{counted(found.good, 'block')} of {_kinds(found)} are right, {how}, in {within}."
        " Contents of files were not compared, and no file system check was run.",
    )


def apart_words(found: Walk, agreement: Agreement | None, names: Sequence[str], level: int) -> str:
    """Return in what members disagree, a sentence; "" where they agree.

    Args:
        found: what was read of the candidate.
        agreement: of its members; None where nothing can be compared.
        names: of the members by slot.
        level: of the candidate.
    """
    mirrored = level in {1, 10}
    if agreement is not None and agreement.unmatched:
        where = f"{agreement.unmatched} of {agreement.compared}"
        said = (
            f"The copies of {where} sampled blocks differ"
            if mirrored
            else f"Parity does not match in {where} sampled rows"
        )
    elif found.differing:
        said = f"The copies of {found.differing} of {found.good} blocks of the file system differ"
    else:
        return ""
    if agreement is not None and agreement.wrong and agreement.wrong[0][1] > agreement.unmatched / 2:
        slot, count = agreement.wrong[0]
        by = "the other copies" if mirrored else "P and Q"
        return (
            f"{said}: by {by}, {names[slot]} is wrong in {count} of them. It may have missed writes: search"
            " without it."
        )
    return (
        f"{said}: a member has missed writes, or something was written past the array, such as a resync in"
        " another geometry. Compare the contents of files."
    )


def _kinds(found: Walk) -> str:
    kinds = {kind.split(" ")[0] for kind in found.passed if not kind.endswith(" at the start")}
    return joined(sorted(kinds)) or "its header"
