"""Candidates against each other by what their members say; and each member left out where these disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from raidtui.features.rescue.candidate_evidence import LeftOut
from raidtui.features.rescue.search.agreement import SURE_ROWS, Agreement
from raidtui.features.rescue.search.ranking import Ranked
from raidtui.features.rescue.search.walk import Walk


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


def sifted(weighed: Sequence[Weighed]) -> tuple[list[Weighed], list[Weighed]]:
    """Return the candidates that are left, the clean ones first, and those that others outdo.

    Parity that matches nowhere is no candidate beside one of which it matches, or nothing can be compared.
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


def without_each(one: Ranked, weigh: Callable[[Ranked], Weighed]) -> dict[int, Weighed]:
    """Return by slot what is read where its member is left out; {} where none can be spared."""
    found = {}
    for slot, number in enumerate(one.order):
        gone = [other for other, device in enumerate(one.order) if device < 0]
        if number >= 0 and one.shape.survives((*gone, slot)):
            order = tuple(-1 if other == slot else device for other, device in enumerate(one.order))
            found[slot] = weigh(msgspec.structs.replace(one, order=order, like=(), unused=one.unused + 1))
    return found


def outdated(whole: Weighed, without: dict[int, Weighed]) -> int | None:
    """Return the slot of the one member that everything is right without; None where that is not known."""
    clean = [slot for slot, each in without.items() if each.clean]
    sure = [slot for slot in clean if without[slot].confirmed]
    if len(sure) == 1:
        return sure[0]
    wrong = [whole, *(each for slot, each in without.items() if slot not in clean)]
    return clean[0] if len(clean) == 1 and all(each.found.bad for each in wrong) else None


def left_out(names: Sequence[str], whole: Weighed, without: dict[int, Weighed]) -> tuple[LeftOut, ...]:
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
