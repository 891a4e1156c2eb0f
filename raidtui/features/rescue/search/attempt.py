"""What asking about one root has given, and what makes it better than another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.anchors import ArrayRoot
from raidtui.features.rescue.search.ranking import Ranking

_STRONG, _MOST_FAILED = 12, 0.125
_AGREED = 0.8


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


def at_the_start(attempt: Attempt, root: ArrayRoot) -> Attempt:
    """Return the same with the file system at the start of the array, if a later data offset makes it so."""
    best = [each.without_start(attempt.root.start) for each in attempt.ranking.best]
    left = tuple(each for each in best if each is not None)
    if not left or len(left) < len(best):
        return attempt
    ranking = Ranking(best=left, more=attempt.ranking.more)
    return Attempt(root=root, ranking=ranking, lost=attempt.lost, likely=attempt.likely)
