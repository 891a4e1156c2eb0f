"""The search: level, order, chunk, layout and data offset of an array without its superblocks.

Devices are opened for reading only. What is read is bounded by the samples and the number of candidates, not
by the size of the devices.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field

from raidtui.features.rescue.search.anchors import WINDOW_BYTES, AnchorScan, ArrayRoot, Before, find_before
from raidtui.features.rescue.search.exploration import Exploration, find_q_rows, mark_q
from raidtui.features.rescue.search.geometries import (
    ALL_LEVELS,
    RecordedGeometry,
    Wanted,
    add_strides,
    choose_slot_numbers,
    components,
    find_recorded_geometry,
    infer_levels,
    shapes,
)
from raidtui.features.rescue.search.hypothesis import Hypothesis, Recogniser
from raidtui.features.rescue.search.members import Rebuilt, SearchedMember, SearchWatch, Source
from raidtui.features.rescue.search.ranking import rank
from raidtui.features.rescue.search.report import MADE_LATER_S, SearchReport
from raidtui.features.rescue.search.results import ArrayHint, SearchOutcome, SearchResult
from raidtui.features.rescue.search.samples import Samples, choose_samples, take_samples
from raidtui.features.rescue.search.weighing import (
    Attempt,
    any_strong,
    best_attempt,
    doubt_mirrors,
    move_to_start,
)
from raidtui.model.striping import StripeShape
from raidtui.model.survey import Superblock

_MOST_ROOTS = 6
_DEEP_BYTES = 2 << 30
_PARTITION_STARTS = (1 << 20, 63 * 512)
_CONTAINERS = frozenset({"gpt", "LVM2_member", "dos"})
_LARGEST_LOST = 3
_MOST_LOOKED_BEFORE = 4


class SearchRequest(Struct, frozen=True, kw_only=True):
    """What is searched for.

    Args:
        wanted: what a person knows of the array.
        superblocks: of devices that have one still, by name.
        seed: of the places that are read: the same seed reads the same.
        hints: what is written down of these disks.
    """

    wanted: Wanted = field(default_factory=Wanted)
    superblocks: Mapping[str, Superblock] = field(default_factory=dict)
    seed: int = 1
    hints: tuple[ArrayHint, ...] = ()


class Ground(Struct, frozen=True, kw_only=True):
    """What geometries are tested on.

    Args:
        recogniser: the devices; behind them what stands for the missing member of RAID 5, then of RAID 6.
        rebuilt: the number of the first of those two.
        data: the numbers of the devices with data.
        samples: of all devices.
    """

    recogniser: Recogniser
    rebuilt: int
    data: tuple[int, ...]
    samples: Samples


class GeometrySearch:
    """One search.

    Args:
        members: the devices, opened.
        request: what is searched for.
        watch: receives how far it is; may end it.
    """

    def __init__(self, members: Sequence[SearchedMember], request: SearchRequest, watch: SearchWatch) -> None:
        self._members = tuple(members)
        self._request = request
        self._watch = watch
        self._tested = 0

    def run(self) -> SearchResult:
        """Search.

        Raises:
            SearchCancelledError: the caller has ended it.
        """
        began = time.monotonic()
        report = SearchReport(self._members, self._request.superblocks, self._watch, self._request.seed)
        result = self._search(report)
        return report.finished(
            result,
            bytes_read=sum(member.bytes_read for member in self._members),
            seconds=time.monotonic() - began,
            tested=self._tested,
        )

    def _search(self, report: SearchReport) -> SearchResult:
        scan = AnchorScan(self._members, self._watch)
        scan.run(0, min(WINDOW_BYTES, self._largest()))
        samples = take_samples(self._members, self._watch, seed=self._request.seed)
        numbers = range(len(self._members))
        data = [number for number in numbers if number in scan.written or samples.written[number]]
        blank = tuple(self._members[number].name for number in numbers if number not in data)
        if not data:
            return SearchResult(
                outcome=SearchOutcome.NOTHING,
                blank=blank,
                text=("There is nothing here: everything that was read from the devices is zero.",),
            )
        of_data = choose_samples(samples, data)
        levels, why = infer_levels(of_data, len(data))
        recogniser, rebuilt = self._sources(data)
        ground = Ground(recogniser=recogniser, rebuilt=rebuilt, data=tuple(data), samples=samples)
        roots = scan.roots() or self._deeper(recogniser, data)
        attempts = self._as_recorded(roots, ground)
        if not any_strong(attempts):
            attempts += self._roots(roots, ground, levels)
        best = best_attempt(attempts)
        text = [f"Level: {why}."] if why else []
        if blank:
            text.append(f"Blank in everything that was read, so not a data member: {', '.join(blank)}.")
        if best is None or not best.says_something:
            return report.nothing(text, blank, len(data))
        best, said = self._from_its_beginning(best, ground, levels)
        result = report.of_attempt(
            best.root, best.ranking, lost=best.lost, text=text, blank=blank, samples=samples
        )
        if said:
            result = msgspec.structs.replace(result, outcome=SearchOutcome.TIED, text=(*result.text, said))
        return doubt_mirrors(result, of_data)

    def _from_its_beginning(
        self, attempt: Attempt, ground: Ground, levels: tuple[int, ...]
    ) -> tuple[Attempt, str]:
        """Return the attempt with what holds the root, if anything in front of it says that it does.

        The second is why it is not known where the array begins, a sentence; "" where it is.
        """
        if attempt.lost or attempt.recorded or attempt.root.start:
            return attempt, ""
        for each in attempt.ranking.best[:_MOST_LOOKED_BEFORE]:
            if attempt.root.kind == "dos" and each.shape.level == 1 and not each.offset:
                return attempt, _unsure(Before(kind="dos", distance=0, member_byte=0))
            before = find_before(each, self._members, self._watch)
            if before is None:
                continue
            root = attempt.root.within(before.kind, before.distance)
            made = best_attempt(self._attempts(root, ground, levels))
            if made is None or (not made.strong and made.value < attempt.value):
                return attempt, _unsure(before)
            return made, "" if before.member_byte else _unsure(before)
        return attempt, ""

    def _largest(self) -> int:
        return max((member.size_bytes for member in self._members), default=0)

    def _sources(self, data: Sequence[int]) -> tuple[Recogniser, int]:
        """Return the devices with what stands for a missing member behind them, and the number of that."""
        with_data: list[Source] = [self._members[number] for number in data]
        besides = [Rebuilt([each for each in with_data if each is not q]) for q in with_data]
        return Recogniser([*self._members, Rebuilt(with_data)], besides), len(self._members)

    def _deeper(self, recogniser: Recogniser, data: Sequence[int]) -> list[ArrayRoot]:
        """Look for anchors where the start of the array is missing or overwritten."""
        scan = AnchorScan(recogniser.sources, self._watch)
        rebuilt = len(self._members)
        if len(data) > 1:
            scan.run(0, min(WINDOW_BYTES, self._largest()), lambda number: number == rebuilt)
        if not scan.roots():
            end = min(_DEEP_BYTES, self._largest())
            scan.run(WINDOW_BYTES, end, lambda number: number in data)
        return scan.roots()

    def _as_recorded(self, roots: Sequence[ArrayRoot], ground: Ground) -> list[Attempt]:
        """Ask about what the superblocks record that are left, where some are."""
        names = [member.name for member in self._members]
        recorded = find_recorded_geometry(names, self._request.superblocks, self._request.wanted)
        attempts: list[Attempt] = []
        if recorded is None or recorded.wanted.slots is None:
            return attempts
        levels, numbers = recorded.wanted.levels, (recorded.wanted.slots,)
        for root in roots[:_MOST_ROOTS]:
            made_s = root.file_system.made_s if root.file_system is not None else 0
            if made_s and recorded.created_s is not None and recorded.created_s > made_s + MADE_LATER_S:
                continue  # the superblocks are those of an array that was created over this one
            starts = (
                _PARTITION_STARTS if root.file_system is not None and root.kind not in _CONTAINERS else ()
            )
            for each in (root, *(root.moved(start) for start in starts)):
                attempts.append(self._attempt(each, ground, levels, numbers, recorded=recorded))
                if any_strong(attempts):
                    return attempts
        return attempts

    def _roots(
        self,
        roots: Sequence[ArrayRoot],
        ground: Ground,
        levels: tuple[int, ...],
    ) -> list[Attempt]:
        attempts: list[Attempt] = []
        for root in roots[:_MOST_ROOTS]:
            attempts += self._attempts(root, ground, levels)
            if any_strong(attempts):
                return attempts
        for root in roots[:_MOST_ROOTS]:
            if root.file_system is not None and root.kind not in _CONTAINERS:
                for start in _PARTITION_STARTS:
                    moved = root.moved(start)
                    attempts += [move_to_start(each, root) for each in self._attempts(moved, ground, levels)]
                    if any_strong(attempts):
                        return attempts
        most = max((attempt.value for attempt in attempts), default=0.0)
        for root in roots[:_MOST_ROOTS]:
            lost = self._lost(root, ground)
            if lost.value > max(0.0, 2 * most):
                attempts.append(lost)
        return attempts

    def _attempts(
        self,
        root: ArrayRoot,
        ground: Ground,
        levels: tuple[int, ...],
    ) -> list[Attempt]:
        """Ask about the levels that the samples speak for, and about all where those do not fit."""
        wanted = self._request.wanted
        made = []
        if levels:
            likely = self._allowed(levels)
            numbers = choose_slot_numbers(len(ground.data), likely, wanted, whole=True)
            found = self._attempt(root, ground, likely, numbers)
            made.append(msgspec.structs.replace(found, likely=True))
        if not any_strong(made):
            every = self._allowed(ALL_LEVELS)
            numbers = choose_slot_numbers(len(ground.data), every, wanted, whole=False)
            numbers = tuple(dict.fromkeys((*self._recorded(), *numbers)))
            made.append(self._attempt(root, ground, every, numbers))
        return made

    def _allowed(self, levels: Sequence[int]) -> tuple[int, ...]:
        wanted = self._request.wanted.levels
        return tuple(level for level in levels if level in wanted) or wanted if wanted else tuple(levels)

    def _recorded(self) -> tuple[int, ...]:
        """Return the numbers of slots that superblocks record, unless a person has said one."""
        if self._request.wanted.slots is not None:
            return ()
        recorded = {each.raid_disks for each in self._request.superblocks.values() if each.raid_disks}
        return tuple(sorted(number for number in recorded if number is not None))

    def _attempt(
        self,
        root: ArrayRoot,
        ground: Ground,
        levels: Sequence[int],
        numbers: Sequence[int],
        *,
        lost: bool = False,
        recorded: RecordedGeometry | None = None,
    ) -> Attempt:
        hypotheses: list[Hypothesis] = []
        wanted = self._request.wanted if recorded is None else recorded.wanted
        for slots in numbers:
            for shape in shapes(levels, slots, wanted):
                if (slots - len(ground.data) > shape.most_missing) != lost:
                    continue
                group = list(ground.data)
                if shape.level in {4, 5} and slots == len(group) + 1 and not lost:
                    group.append(ground.rebuilt)
                if shape.level == 6 and slots == len(group) + 1 and not lost:
                    group.append(ground.rebuilt + 1)
                hypotheses += self._with_offsets(root, shape, ground.recogniser, group)
        if recorded is not None:
            hypotheses = [each for each in hypotheses if each.offset == recorded.offset]
        self._tested += len(hypotheses)
        rows = find_q_rows(ground.samples, ground.data)
        for hypothesis in hypotheses:
            if hypothesis.group == ground.data:
                mark_q(hypothesis, rows)
        exploration = Exploration(root.facts(), hypotheses, self._watch, self._request.seed)
        left = exploration.run()
        ranking = rank(
            left,
            ground.samples,
            rebuilt=ground.rebuilt,
            size_bytes=root.size_bytes,
            given=self._request.wanted.slots or len(self._members),
            seed=self._request.seed,
            lost=lost,
            recorded=recorded,
        )
        return Attempt(root=root, ranking=ranking, lost=lost, recorded=recorded is not None)

    def _with_offsets(
        self, root: ArrayRoot, shape: StripeShape, recogniser: Recogniser, group: Sequence[int]
    ) -> list[Hypothesis]:
        sizes = [self._members[number].size_bytes for number in group if number < len(self._members)]
        found = []
        for offset in root.offsets(shape, min(sizes, default=0)):
            for each in add_strides(shape, sizes, offset, self._request.wanted):
                size = max(components(sizes, offset, shape.chunk_bytes, self._request.wanted))
                capacity = sum(sizes) if shape.level == 0 else each.capacity(size)
                if capacity >= root.size_bytes:
                    found.append(Hypothesis(each, offset, recogniser, group))
        return found

    def _lost(self, root: ArrayRoot, ground: Ground) -> Attempt:
        """Ask whether it was an array of which too much is missing."""
        wanted = self._request.wanted
        count = len(ground.data)
        numbers = range(count + 1, max(count + _LARGEST_LOST, len(self._members)) + 1)
        numbers_asked = (wanted.slots,) if wanted.slots is not None else tuple(numbers)
        levels = self._allowed((5, 0, 6, 4, 10))
        return self._attempt(root, ground, levels, numbers_asked, lost=True)


def _unsure(before: Before) -> str:
    """Say that the array may begin earlier, or not: a member may have had a table of its own."""
    kind = {"gpt": "A GPT", "dos": "An MBR"}.get(before.kind, "An LVM label")
    sector = before.member_byte // 512
    return (
        f"{kind} at sector {sector} of a member says that something begins where the file system does. It"
        " may belong to the array, which then begins there, or be what the member itself held before."
    )
