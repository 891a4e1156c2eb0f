"""Which device is in which slot: all orders that fit best, found by constraints instead of n! trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import SURE

MOST_ORDERS = 5000
MARGIN = SURE
"""Orders whose gains differ by no more are alike: two soft facts may be chance."""
_MOST_STEPS = 200_000


class OrdersFound(Struct, frozen=True, kw_only=True):
    """The orders with the largest gain, and those that have almost as much.

    Args:
        gain: the largest.
        orders: by slot the place in the group, or -1 for a missing member.
        more: whether there are more than were counted.
    """

    gain: int
    orders: tuple[tuple[int, ...], ...]
    more: bool


class OrderSearch:
    """Finds the orders.

    Args:
        gains: by slot and place, what speaks for it less what speaks against it.
        allowed: whether so many slots, or these, may be missing.
        fits: whether two slots with their places go together: (slot, place, slot, place).
        known: places that are known by slot; they are kept.
        partners: by slot, the slots that ``fits`` is asked about.
    """

    def __init__(
        self,
        gains: Sequence[Sequence[int]],
        *,
        allowed: Callable[[frozenset[int]], bool],
        fits: Callable[[int, int, int, int], bool] | None = None,
        known: dict[int, int] | None = None,
        partners: Sequence[Sequence[int]] = (),
    ) -> None:
        self._gains = gains
        self._allowed = allowed
        self._fits = fits
        self._known = known or {}
        self._partners = partners
        self._places = len(gains[0]) if gains else 0
        self._sequence = sorted(range(len(gains)), key=self._freedom)
        self._best = -(1 << 60)
        self._found: list[tuple[int, tuple[int, ...]]] = []
        self._more = False
        self._steps = 0
        self._ahead = self._bounds()

    def _freedom(self, slot: int) -> tuple[int, int]:
        row = self._gains[slot]
        top = max(row, default=0)
        return sum(value == top for value in row), -top

    def _bounds(self) -> list[int]:
        """The most that the slots from a step on can gain, whatever is taken by the others."""
        ahead = [0]
        for slot in reversed(self._sequence):
            ahead.append(ahead[-1] + max(0, *self._gains[slot], 0))
        return ahead[::-1]

    def search(self) -> OrdersFound:
        """Return the best orders."""
        self._step(0, [-1] * len(self._gains), set(), 0)
        missing = min((order.count(-1) for gain, order in self._found if gain == self._best), default=0)
        orders = tuple(order for _, order in self._found if order.count(-1) <= missing)
        return OrdersFound(gain=self._best, orders=orders, more=self._more)

    def _step(self, step: int, order: list[int], used: set[int], gain: int) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            self._more = True
            return
        if gain + self._ahead[step] < self._best - MARGIN:
            return
        if step == len(self._sequence):
            self._end(order, gain)
            return
        slot = self._sequence[step]
        known = self._known.get(slot)
        places = sorted(range(self._places), key=lambda place: -self._gains[slot][place])
        for place in places if known is None else [known]:
            if place in used or not self._goes(slot, place, order):
                continue
            order[slot] = place
            used.add(place)
            self._step(step + 1, order, used, gain + self._gains[slot][place])
            used.discard(place)
            order[slot] = -1
        if known is None:
            done = frozenset(each for each in self._sequence[: step + 1] if order[each] < 0)
            if self._allowed(done):
                # Half a block less than nothing: of two orders the one with fewer missing members is better.
                self._step(step + 1, order, used, gain - 1)

    def _goes(self, slot: int, place: int, order: list[int]) -> bool:
        if self._fits is None:
            return True
        return all(
            order[other] < 0 or self._fits(slot, place, other, order[other]) for other in self._partners[slot]
        )

    def _end(self, order: list[int], gain: int) -> None:
        if gain > self._best:
            self._best = gain
            if len(self._found) >= MOST_ORDERS:
                self._more = False
            self._found = [each for each in self._found if each[0] >= gain - MARGIN]
        if gain < self._best - MARGIN:
            return
        if len(self._found) < MOST_ORDERS:
            self._found.append((gain, tuple(order)))
        else:
            self._more = True
