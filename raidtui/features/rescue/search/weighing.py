"""What one root has given, candidates against each other, and what is said of them.

A candidate is weighed by the blocks that were read of it, and by its members among themselves; where these
disagree, by each member left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct

from raidtui.features.rescue.search.anchors import ArrayRoot
from raidtui.features.rescue.search.logical_array import SURE_ROWS, Agreement, Walk
from raidtui.features.rescue.search.ranking import Ranked, Ranking
from raidtui.features.rescue.search.results import CheckResult, LeftOut, Proof, SearchResult
from raidtui.features.rescue.search.samples import Samples
from raidtui.view.units import counted, joined

_STRONG, _MOST_FAILED = 12, 0.125
_AGREED = 0.8
_EQUAL_BY_CHANCE = 0.02
_LEAST, _WRONG = 5, 0.02
_PARITY_LEAST = 0.5


class Attempt(Struct, frozen=True, kw_only=True):
    """What one root has given.

    Args:
        root: what stands on the array then.
        lost: whether more members are missing than the level survives.
        likely: whether the samples say that it is of this level.
        recorded: whether it is what superblocks record.
    """

    root: ArrayRoot
    ranking: Ranking
    lost: bool = False
    likely: bool = False
    recorded: bool = False

    @property
    def value(self) -> float:
        """What speaks for the best candidate, less what speaks against it."""
        # Where a device with data is left out, something else may be the case.
        return max(((each.gain - each.failed) / (1 + each.unused) for each in self.ranking.best), default=0.0)

    @property
    def agreed(self) -> float:
        """Of the blocks on members whose superblocks record it, the share that is right."""
        return max((each.agreed for each in self.ranking.best), default=0.0)

    @property
    def says_something(self) -> bool:
        """Whether more speaks for it than against it, or the members whose superblocks record it agree.

        What is recorded has a damaged member against it, which may be most of what is asked.
        """
        return bool(self.ranking.best) and (self.value > 0 or self.agreed >= _AGREED)

    @property
    def strong(self) -> bool:
        """Whether more need not be asked: much speaks for it, or all that a header alone can say."""
        whole = any(
            not each.unused and each.failed <= each.passed * (2 if self.likely else 1) * _MOST_FAILED
            for each in self.ranking.best
        )
        return whole and (self.value >= _STRONG or (self.root.says_enough and self.value > 0))


def best_attempt(attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the attempt that most speaks for; None for none.

    What superblocks record stays where the members that have them agree with it: a geometry that leaves out
    those that are damaged has less against it.
    """
    groups: dict[bool, list[Attempt]] = {True: [], False: []}
    for each in attempts:
        groups[each.recorded].append(each)
    recorded = max(groups[True], key=lambda each: (each.strong, each.agreed, each.value), default=None)
    other = max(groups[False], key=lambda each: (each.strong, each.value), default=None)
    if recorded is None or other is None:
        return recorded or other
    return recorded if recorded.agreed >= _AGREED else other


def any_strong(attempts: Sequence[Attempt]) -> bool:
    """Whether one of the attempts is strong."""
    return any(attempt.strong for attempt in attempts)


def move_to_start(attempt: Attempt, root: ArrayRoot) -> Attempt:
    """Return the same with the file system at the start of the array, if a later data offset makes it so."""
    best = [each.without_start(attempt.root.start) for each in attempt.ranking.best]
    left = tuple(each for each in best if each is not None)
    if not left or len(left) < len(best):
        return attempt
    ranking = Ranking(best=left, more=attempt.ranking.more)
    return Attempt(root=root, ranking=ranking, lost=attempt.lost, likely=attempt.likely)


class Weighed(Struct, frozen=True, kw_only=True):
    """A candidate with what was read of it.

    Args:
        found: what its blocks say.
        apart: what its members say of each other; None where nothing can be compared.
    """

    each: Ranked
    found: Walk
    apart: Agreement | None

    @property
    def clean(self) -> bool:
        """Whether nothing is against it."""
        return not self.found.bad and not self.apart_in

    @property
    def confirmed(self) -> bool:
        """Whether it is clean, and its members match in so many places that it is no chance."""
        return self.clean and self.apart is not None and self.apart.sure

    @property
    def bound(self) -> bool:
        """Whether its members match in most places, and in so many that they belong together."""
        if self.apart is None:
            return False
        matched = self.apart.compared - self.apart.unmatched
        return matched >= SURE_ROWS and 2 * matched >= self.apart.compared

    @property
    def apart_in(self) -> int:
        """In how many places its members disagree."""
        return self.compared[0]

    @property
    def compared(self) -> tuple[int, int]:
        """In how many places its members disagree, and of how many: sampled ones, or else what it reads."""
        sampled = (self.apart.unmatched, self.apart.compared) if self.apart is not None else (0, 0)
        return sampled if sampled[0] or not self.found.differing else (self.found.differing, self.found.good)

    @property
    def contradicted(self) -> bool:
        """Whether its members match nowhere."""
        return self.apart is not None and self.apart.unmatched == self.apart.compared

    @property
    def reads(self) -> bool:
        """Whether more of its blocks are right than wrong."""
        return self.found.good > self.found.bad


def sift_candidates(weighed: Sequence[Weighed]) -> tuple[list[Weighed], list[Weighed]]:
    """Return the candidates that are left, the clean ones first, and those that others outdo.

    Parity that matches nowhere is not a candidate beside one of which it matches, or nothing can be compared.
    Devices that belong together are all members, though one may be outdated: one that leaves any of them out,
    and so has nothing to compare, is none. And where members match throughout, those that this would be a
    chance for are none.
    """
    left = [each for each in weighed if not each.contradicted] or list(weighed)
    least = min((each.each.unused for each in left if each.bound), default=None)
    if least is not None:
        left = [each for each in left if each.apart is not None or each.each.unused <= least]
    left = [each for each in left if each.confirmed] or left
    left.sort(key=lambda each: not each.clean)
    return left, [each for each in weighed if each not in left]


def is_hopeless(weighed: Sequence[Weighed]) -> bool:
    """Whether no candidate reads what stands on it: where there is one alone, a damaged member may be why."""
    alone = len(weighed) == 1 and not weighed[0].each.unused
    return bool(weighed) and not alone and not any(each.reads for each in weighed)


def weigh_without_each(one: Ranked, weigh: Callable[[Ranked], Weighed]) -> dict[int, Weighed]:
    """Return by slot what is read where its member is left out; {} where none can be spared."""
    found = {}
    for slot, number in enumerate(one.order):
        gone = [other for other, device in enumerate(one.order) if device < 0]
        if number >= 0 and one.shape.survives((*gone, slot)):
            order = tuple(-1 if other == slot else device for other, device in enumerate(one.order))
            found[slot] = weigh(msgspec.structs.replace(one, order=order, like=(), unused=one.unused + 1))
    return found


def find_outdated(whole: Weighed, without: dict[int, Weighed]) -> int | None:
    """Return the slot of the one member that everything is right without; None where that is not known."""
    clean = [slot for slot, each in without.items() if each.clean]
    sure = [slot for slot in clean if without[slot].confirmed]
    if len(sure) == 1:
        return sure[0]
    wrong = [whole, *(each for slot, each in without.items() if slot not in clean)]
    return clean[0] if len(clean) == 1 and all(each.found.bad for each in wrong) else None


def list_left_out(names: Sequence[str], whole: Weighed, without: dict[int, Weighed]) -> tuple[LeftOut, ...]:
    """Return it as evidence.

    Args:
        names: of the members by slot.
        whole: the candidate with all its members.
        without: by slot, what is read without its member.
    """
    against = dict(whole.apart.wrong) if whole.apart is not None else {}
    return tuple(
        LeftOut(
            device=names[slot],
            against=against.get(slot, 0),
            good=each.found.good,
            bad=each.found.bad,
            unmatched=each.apart_in if each.compared[1] else None,
        )
        for slot, each in without.items()
    )


def find_doubt(found: Walk, agreement: Agreement | None) -> str:
    """Return why one candidate is not enough, a sentence; "" where it is.

    Args:
        found: what was read of it.
        agreement: of its members; None where nothing can be compared.
    """
    if found.good < _LEAST:
        return f"Only {counted(found.good, 'block')} support the geometry: others may fit as well."
    if found.bad > found.good * _WRONG:
        return f"{found.bad} of {found.good + found.bad} blocks do not fit: it may be another geometry."
    if agreement is not None and agreement.share < _PARITY_LEAST:
        return (
            f"The members do not match in {agreement.unmatched} of {agreement.compared} sampled rows:"
            " it may be another geometry."
        )
    return ""


def doubt_mirrors(result: SearchResult, samples: Samples) -> SearchResult:
    """Take the proof from RAID 10 where members of different mirrors hold the same.

    Two mirrors hold different data. Where all members are equal, a resync in another geometry has copied one
    mirror over the other, and the copies within each agree again.
    """
    equal = [row for row in samples.rows if len(set(row.blocks)) == 1 and len(set(row.blocks[0])) > 1]
    if len(equal) <= len(samples.rows) * _EQUAL_BY_CHANCE:
        return result
    sure = (
        f"The geometry fits, but in {len(equal)} of {len(samples.rows)} sampled rows all members hold"
        " the same: a resync in another geometry has overwritten data there. Compare file contents."
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


def judge_candidate(contents: str, slots: int, found: Walk | None, apart: str) -> Proof:
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
        sure = f"{found.bad} of {found.good + found.bad} blocks are not what they should be: {kinds}."
        return Proof(check=CheckResult.ERRORS, contents=contents, sure=f"{sure} {apart}".rstrip())
    if apart:
        return Proof(check=CheckResult.ERRORS, contents=contents, sure=f"The geometry fits. {apart}")
    within = f"{len(found.slots)} of {slots} slots"
    how = f"{found.checked} by checksum" if found.checked else "none by checksum"
    return Proof(
        check=CheckResult.CLEAN,
        contents=contents,
        sure=f"{counted(found.good, 'block')} of {_kinds(found)} are right, {how}, in {within}."
        " File contents were not compared, and no file system check was run.",
    )


def say_disagreement(found: Walk, agreement: Agreement | None, names: Sequence[str], level: int) -> str:
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
            f"{said}: by {by}, {names[slot]} is wrong in {counted(count, 'case')}. It may have missed"
            " writes: search without it."
        )
    return (
        f"{said}: a member has missed writes, or something bypassed the array, such as a"
        " resync in another geometry. Compare file contents."
    )


def _kinds(found: Walk) -> str:
    kinds = {kind.split(" ")[0] for kind in found.passed if not kind.endswith(" at the start")}
    return joined(sorted(kinds)) or "its header"
