"""From candidates to what is said: the superblocks that are left, the proof, notes and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from raidtui.features.rescue.search.anchors import ArrayRoot
from raidtui.features.rescue.search.logical_array import (
    MOST_BLOCKS,
    Walk,
    compare_copies,
    compare_parity,
    walk,
)
from raidtui.features.rescue.search.members import SearchedMember, SearchWatch
from raidtui.features.rescue.search.ranking import IN_USE, Ranked, Ranking
from raidtui.features.rescue.search.results import (
    CandidateEvidence,
    LeftOut,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)
from raidtui.features.rescue.search.samples import Samples
from raidtui.features.rescue.search.weighing import (
    Weighed,
    find_doubt,
    find_outdated,
    is_hopeless,
    judge_candidate,
    list_left_out,
    say_disagreement,
    sift_candidates,
    weigh_without_each,
)
from raidtui.model.geometry import MISSING, raid10_layout
from raidtui.model.striping import StripeShape
from raidtui.model.survey import Superblock
from raidtui.view.units import counted, joined

_SHOWN, _OTHERS_SHOWN = 12, 4
_WEIGHED = 64
_WALKED, _SHORT, _NEARLY_ALL = 400, 64, 0.75
_OTHERS_WALKED = 60
_SECTOR = 512
MADE_LATER_S = 3600
"""A superblock that is so much younger than the file system is that of another array."""


class SearchReport:
    """Makes the result of a search.

    Args:
        members: the devices.
        superblocks: of devices that have one still, by name.
        watch: receives how far it is.
        seed: of the places that are read.
    """

    def __init__(
        self,
        members: Sequence[SearchedMember],
        superblocks: Mapping[str, Superblock],
        watch: SearchWatch,
        seed: int,
    ) -> None:
        self._members = tuple(members)
        self._superblocks = superblocks
        self._watch = watch
        self._seed = seed

    def finished(self, result: SearchResult, *, bytes_read: int, seconds: float, tested: int) -> SearchResult:
        """Return the result with what it has cost."""
        unreadable = [member.name for member in self._members if member.unreadable]
        text = result.text
        if unreadable:
            names = ", ".join(unreadable)
            text += (f"{names}: not everything can be read. Copy it first.",)
        return msgspec.structs.replace(
            result, bytes_read=bytes_read, seconds=round(seconds, 2), tested=tested, text=text
        )

    def nothing(self, text: list[str], blank: tuple[str, ...], count: int) -> SearchResult:
        """Return that nothing fits.

        Args:
            text: what was found out so far.
            blank: devices without anything.
            count: devices with data.
        """
        devices = counted(count, "device")
        text.append(f"No geometry was found: nothing on {devices} shows where it belongs.")
        return SearchResult(outcome=SearchOutcome.NOTHING, text=tuple(text), blank=blank)

    def of_attempt(
        self,
        root: ArrayRoot,
        ranking: Ranking,
        *,
        lost: bool,
        text: list[str],
        blank: tuple[str, ...],
        samples: Samples,
    ) -> SearchResult:
        """Return the result.

        Args:
            root: what stands on the array.
            ranking: the candidates.
            samples: of all devices.
            lost: whether too many members are missing.
            text: what was found out so far.
            blank: devices without anything.
        """
        best = list(ranking.best)
        if lost:
            first = best[0]
            text.append(
                f"Impossible: the content is that of {_words(first.shape)}, and {first.missing} are"
                " missing or blank: more than the level survives."
            )
            return SearchResult(outcome=SearchOutcome.IMPOSSIBLE, text=tuple(text), blank=blank)
        best, decided = self._by_superblocks(best, root)
        best = self._by_walks(best, root)
        weighed, others, alike = self._weighed(best, list(ranking.others), root, samples)
        if is_hopeless(weighed):
            text.append(_hopeless_words(weighed))
            return SearchResult(outcome=SearchOutcome.IMPOSSIBLE, text=tuple(text), blank=blank)
        unique = alike == 1 and not ranking.more
        top, without = weighed[0], dict[int, Weighed]()
        if unique and top.apart_in:
            without = weigh_without_each(top.each, lambda each: self._weigh(each, root, samples))
        spared = find_outdated(top, without)
        judged = without[spared] if spared is not None else top
        doubt = find_doubt(judged.found, judged.apart) if unique else ""
        text += [self._outdated_words(top.each, spared)] if without else []
        text += [said for said in (decided, doubt) if said]
        if not unique:
            least = "At least " if ranking.more else ""
            text.append(
                f"{least}{alike} geometries fit equally: not unique."
                if alike > 1
                else "One geometry is left, but more fitted than could be compared: not known to be unique."
            )
            text += _difference([each.each for each in weighed])
        made = self._made(weighed[:_SHOWN], without, spared, root)
        made += [self._unread(each, root) for each in others[:_OTHERS_SHOWN]]
        return SearchResult(
            outcome=SearchOutcome.UNIQUE if unique and not doubt else SearchOutcome.TIED,
            candidates=tuple(made),
            alike=alike,
            more=ranking.more,
            text=tuple(text),
            blank=blank,
        )

    def _weighed(
        self, best: list[Ranked], others: list[Ranked], root: ArrayRoot, samples: Samples
    ) -> tuple[list[Weighed], list[Ranked], int]:
        """Return the best by what they read and by what their members say, the others, and how many are best.

        Of too many, all are compared only where members of a few match, as those of others cannot by chance.
        """
        sure = [each for each in best if each.parity is not None and each.parity.sure]
        best = [*sure, *(each for each in best if each not in sure)] if len(best) > _WEIGHED else best
        weighed = [self._weigh(each, root, samples) for each in best[:_WEIGHED]]
        if all(each.found.bad for each in weighed):
            second = self._second(others, root, max(each.found.good for each in weighed))
            if second:
                others = [*best, *(each for each in others if each not in second)]
                best, weighed = second, [self._weigh(each, root, samples) for each in second[:_WEIGHED]]
        if len(best) > _WEIGHED and (len(sure) > _WEIGHED or not any(each.confirmed for each in weighed)):
            return sorted(weighed, key=lambda each: not each.clean), others, len(best)
        others = [*best[_WEIGHED:], *others]
        weighed, outdone = sift_candidates(weighed)
        good = max((each.found.good for each in weighed if not each.found.bad), default=0) * _NEARLY_ALL
        read = [each for each in weighed if not each.found.bad and each.found.good >= good]
        left = read or weighed
        return left, [*(each.each for each in outdone), *others], len(left)

    def _outdated_words(self, each: Ranked, spared: int | None) -> str:
        if spared is None:
            return "Members disagree, and nothing shows which one is outdated: any may be."
        name = self._members[each.order[spared]].name
        return f"Members disagree, and without {name} everything fits: it is outdated, and is left out."

    def _made(
        self, weighed: Sequence[Weighed], without: dict[int, Weighed], spared: int | None, root: ArrayRoot
    ) -> list[SearchCandidate]:
        """Return the candidates; the first one also without each member, where these disagree."""
        first = weighed[0]
        names = self._names(first.each)
        left = list_left_out(names, first, without)
        made = [self._candidate(each, root, best=spared is None, without=left) for each in weighed]
        by_errors = sorted(without.items(), key=lambda item: (item[0] != spared, item[1].found.bad))
        rest = [
            self._candidate(each, root, best=True)
            if slot == spared
            else self._candidate(each, root, best=False, without=left, spared=names[slot])
            for slot, each in by_errors
        ]
        return [*rest[:1], *made, *rest[1:]] if spared is not None else [*made, *rest]

    def _by_superblocks(self, best: list[Ranked], root: ArrayRoot) -> tuple[list[Ranked], str]:
        """Leave the candidates that agree with the superblocks, if those can be believed."""
        recorded = {name: each for name, each in self._superblocks.items() if each.slot is not None}
        best = [self._as_recorded(each, recorded) for each in best]
        if len(best) < 2:
            return best, ""
        made_s = root.file_system.made_s if root.file_system is not None else 0
        for name, each in recorded.items():
            if made_s and each.created_s is not None and each.created_s > made_s + MADE_LATER_S:
                return best, f"The superblock of {name} is newer than the file system: it is ignored."
        agreeing = [each for each in best if self._agrees(each, recorded)]
        if not recorded or not agreeing or len(agreeing) == len(best):
            return best, ""
        names = joined(sorted(recorded))
        said = "" if made_s else " Whether they are as old as the file system is not known."
        return agreeing, f"The superblocks of {names} decide between {len(best)} geometries.{said}"

    def _as_recorded(self, each: Ranked, recorded: Mapping[str, Superblock]) -> Ranked:
        """Of geometries that read the same, take the one that the superblocks record."""
        if recorded and not self._agrees(each, recorded):
            for one in each.like:
                if self._agrees(one, recorded):
                    like = (each, *(other for other in each.like if other is not one))
                    return msgspec.structs.replace(one, like=like)
        return each

    def _agrees(self, each: Ranked, recorded: Mapping[str, Superblock]) -> bool:
        slots = {self._members[number].name: slot for slot, number in enumerate(each.order) if number >= 0}
        for name, superblock in recorded.items():
            if (
                name in slots
                and slots[name] != superblock.slot
                and not any({slots[name], superblock.slot} <= set(group) for group in each.swaps)
            ):
                return False
            if superblock.raid_disks not in {None, each.shape.slots}:
                return False
            if superblock.level not in {None, f"raid{each.shape.level}"}:
                return False
            if superblock.chunk_bytes not in {None, 0, each.shape.chunk_bytes} and each.shape.level != 1:
                return False
            if each.shape.level == 10 and superblock.layout not in {None, raid10_layout(each.shape.layout)}:
                return False
            if superblock.offset_sectors not in {None, each.offset // _SECTOR}:
                return False
        return True

    def _walk(self, each: Ranked, root: ArrayRoot, most: int) -> Walk:
        array = each.array(self._members)
        return walk(array, root.facts(), self._watch, seed=self._seed, most=most)

    def _by_walks(self, best: list[Ranked], root: ArrayRoot) -> list[Ranked]:
        """Read a little of each candidate, with missing members rebuilt; leave those that read best."""
        if not 1 < len(best) <= _WALKED:
            return best
        walked = [(each, self._walk(each, root, _SHORT)) for each in best]
        least = min(found.bad for _, found in walked)
        most = max(found.good for _, found in walked if found.bad == least)
        return [each for each, found in walked if found.bad == least and found.good >= most * _NEARLY_ALL]

    def _second(self, others: list[Ranked], root: ArrayRoot, good: int) -> list[Ranked]:
        """Return those that read without an error, where the best do not: what is missing is rebuilt here."""
        walked = [(each, self._walk(each, root, _SHORT)) for each in others[:_OTHERS_WALKED]]
        most = max((found.good for _, found in walked if not found.bad), default=0)
        if most < min(good, _SHORT) * _NEARLY_ALL:
            return []
        return [each for each, found in walked if not found.bad and found.good >= most * _NEARLY_ALL]

    def _weigh(self, each: Ranked, root: ArrayRoot, samples: Samples) -> Weighed:
        found = self._walk(each, root, MOST_BLOCKS)
        array = each.array(self._members)
        apart = compare_parity(array, samples, each.offset, root.size_bytes, blame=True)
        apart = apart or compare_copies(array, root.size_bytes or IN_USE, self._seed)
        return Weighed(each=each, found=found, apart=apart)

    def _names(self, each: Ranked) -> list[str]:
        return [MISSING if number < 0 else self._members[number].name for number in each.order]

    def _candidate(
        self,
        weighed: Weighed,
        root: ArrayRoot,
        *,
        best: bool,
        without: tuple[LeftOut, ...] = (),
        spared: str = "",
    ) -> SearchCandidate:
        each, found, apart = weighed.each, weighed.found, weighed.apart
        names = self._names(each)
        said = say_disagreement(found, apart, names, each.shape.level)
        unmatched, compared = weighed.compared
        evidence = CandidateEvidence(
            good=found.good,
            bad=found.bad,
            compared=compared,
            unmatched=unmatched,
            mirrored=each.shape.level in {1, 10},
            left_out=without,
            spared=spared,
        )
        return msgspec.structs.replace(
            self._unread(each, root),
            proof=judge_candidate(root.kind, each.shape.slots, found, said),
            best=best,
            evidence=evidence,
        )

    def _unread(self, each: Ranked, root: ArrayRoot) -> SearchCandidate:
        return SearchCandidate(
            geometry=self._geometry(each),
            same=tuple(self._geometry(one) for one in _kinds(each)),
            proof=judge_candidate(root.kind, each.shape.slots, None, ""),
            passed=each.passed,
            failed=each.failed,
            best=False,
            notes=tuple(self._notes(each)),
        )

    def _geometry(self, each: Ranked) -> RescueGeometry:
        shape = each.shape
        return RescueGeometry(
            level=shape.level,
            order=tuple(MISSING if number < 0 else self._members[number].name for number in each.order),
            layout=shape.layout if shape.level in {5, 6, 10} else "",
            chunk_bytes=0 if shape.level == 1 else shape.chunk_bytes,
            data_offset_sectors=each.offset // _SECTOR,
            metadata=self._metadata(each.offset),
            size_sectors=_size_sectors(shape),
        )

    def _metadata(self, offset: int) -> str:
        versions = {each.metadata for each in self._superblocks.values() if each.metadata}
        if len(versions) == 1 and (offset or next(iter(versions)) in {"0.90", "1.0"}):
            return str(next(iter(versions)))
        # Before 8 KiB there is no room for a superblock of 1.2, which lies at 4 KiB.
        return "1.2" if offset >= 8192 else "1.0"

    def _notes(self, each: Ranked) -> list[str]:
        notes = [f"{_words(one.shape)} reads the same." for one in _kinds(each)]
        for group in each.swaps:
            names = [self._members[each.order[slot]].name for slot in group if each.order[slot] >= 0]
            if len(names) > 1:
                notes.append(f"{joined(names)} hold the same: swapped, they read the same.")
        if each.unused:
            notes.append(f"{counted(each.unused, 'device')} with data are not members.")
        return notes


def _kinds(each: Ranked) -> list[Ranked]:
    """Return the geometries that read the same, one of each other level and layout."""
    found: dict[tuple[int, str], Ranked] = {(each.shape.level, each.shape.layout): each}
    for one in sorted(each.like, key=lambda like: (like.missing, like.unused)):
        found.setdefault((one.shape.level, one.shape.layout), one)
    return list(found.values())[1:]


def _hopeless_words(weighed: Sequence[Weighed]) -> str:
    first = min(weighed, key=lambda each: (-each.found.good, each.found.bad)).found
    return (
        f"Impossible: of {counted(len(weighed), 'candidate')}, none reads what is on the array; of the best,"
        f" {first.bad} of {first.good + first.bad} blocks are wrong. More members than the level survives"
        " hold something else: they were overwritten, or belong to another array."
    )


def _size_sectors(shape: StripeShape) -> int | None:
    """Return the members' size where the places of the data depend on it."""
    if not shape.stride_bytes:
        return None
    return shape.stride_bytes * int(shape.layout[1:]) // _SECTOR


def _words(shape: StripeShape) -> str:
    chunk = f", chunk {shape.chunk_bytes >> 10} KiB" if shape.level != 1 else ""
    layout = f" {shape.layout}" if shape.level in {5, 6, 10} else ""
    return f"RAID {shape.level}{layout} of {shape.slots} members{chunk}"


def _difference(best: Sequence[Ranked]) -> list[str]:
    """Say in what the best candidates differ."""
    names: dict[str, set[object]] = {
        "level": {each.shape.level for each in best},
        "layout": {each.shape.layout for each in best},
        "number of members": {each.shape.slots for each in best},
        "chunk": {each.shape.chunk_bytes for each in best},
        "data offset": {each.offset for each in best},
        "order": {each.order for each in best},
    }
    differ = [name for name, values in names.items() if len(values) > 1]
    return [f"They differ in: {joined(differ)}."] if differ else []
