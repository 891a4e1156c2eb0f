"""Whether members agree where a candidate puts them: parity in sampled rows, or copies at random places."""

from __future__ import annotations

import random
from collections import Counter

from msgspec import Struct

from raidtui.features.rescue.search.logical import LogicalArray
from raidtui.features.rescue.search.samples import BLOCK, Samples

_LEAST_ROWS = 4
SURE_ROWS = 8
"""So many rows do not match by chance."""
_PLACES, _NEAR = 160, 64 << 20


class Agreement(Struct, frozen=True, kw_only=True):
    """What was compared.

    Args:
        compared: rows with parity, or blocks with their copies; those of zeros are not counted.
        unmatched: how many of them do not match.
        wrong: slots that P and Q, or most copies, speak against, with the number of those rows.
    """

    compared: int
    unmatched: int
    wrong: tuple[tuple[int, int], ...] = ()

    @property
    def sure(self) -> bool:
        """Whether they match in so many places that it is no chance."""
        return not self.unmatched and self.compared >= SURE_ROWS

    @property
    def share(self) -> float:
        """The share that matches, 0 to 1."""
        return 1 - self.unmatched / self.compared


def parity_agreement(
    array: LogicalArray, samples: Samples, offset: int, used_bytes: int, *, most: int = 0, blame: bool = False
) -> Agreement | None:
    """Compare the sampled rows; None where too few can be.

    Args:
        array: the candidate: RAID 4, 5 or 6.
        samples: of all devices.
        offset: the byte on each member at which the data begin.
        used_bytes: how much of the array holds something: the rest is not compared; 0: all of it.
        most: how many rows are enough; 0: all of them.
        blame: whether to look for the slots that P and Q speak against.
    """
    shape = array.shape
    if shape.level not in {4, 5, 6}:
        return None
    end = -(-used_bytes // (shape.data_slots * shape.chunk_bytes)) * shape.chunk_bytes
    compared = unmatched = 0
    wrong: Counter[int] = Counter()
    for row in samples.rows:
        byte = row.offset - offset
        if byte < 0 or (end and byte >= end) or byte % BLOCK:
            continue
        fits = array.row_fits(byte, BLOCK)
        if fits is None:
            continue
        compared += 1
        if not fits:
            unmatched += 1
        if blame and not fits:
            odd = array.odd_one(byte, BLOCK)
            wrong.update([] if odd is None else [odd])
        if compared == most:
            break
    if compared < _LEAST_ROWS:
        return None
    return Agreement(compared=compared, unmatched=unmatched, wrong=tuple(wrong.most_common()))


def copy_agreement(array: LogicalArray, used_bytes: int, seed: int) -> Agreement | None:
    """Compare copies at random places; None where there are none.

    Args:
        array: the candidate: RAID 1 or 10.
        used_bytes: how much of the array is looked at.
        seed: of the places.
    """
    if array.shape.level not in {1, 10}:
        return None
    places = random.Random(seed)  # noqa: S311  (places that can be repeated)
    compared = unmatched = 0
    wrong: Counter[int] = Counter()
    for number in range(_PLACES):
        end = min(used_bytes, _NEAR) if number % 2 else used_bytes
        copies = array.copies(places.randrange(max(1, end // BLOCK)) * BLOCK, BLOCK)
        if len(copies) < 2 or not any(map(any, copies.values())):
            continue
        compared += 1
        kinds = Counter(copies.values()).most_common()
        if len(kinds) > 1:
            unmatched += 1
            if 2 * kinds[0][1] > len(copies):
                wrong.update(slot for slot, block in copies.items() if block != kinds[0][0])
    if not compared:
        return None
    return Agreement(compared=compared, unmatched=unmatched, wrong=tuple(wrong.most_common()))
