"""How far a reshape in place has really gone, by checksums and by parity. Nothing is written.

md records the place of a reshape every 10 s only. In place, each part of the array lies on the same rows of
its members before and after, so it can be read in both forms: where only one of them is right, that decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import FactPool, Stretch
from raidtui.features.rescue.search.logical_array import LogicalArray
from raidtui.features.rescue.search.members import SearchStage, SearchWatch, Source
from raidtui.features.rescue.search.volumes import expect_head
from raidtui.model.striping import PARITY_OF, StripeShape
from raidtui.model.survey import Superblock
from raidtui.view.units import SECTOR_BYTES, binary_size

_LEVELS = {"raid4": 4, "raid5": 5, "raid6": 6}
_MOST_BLOCKS = 6000
_NEAR_BYTES = 4 << 30
"""What is looked at first: more is hardly moved between two records of the place."""
_MOST_ROWS, _ROWS_BEHIND = 8192, 16
_SAMPLE = 4096
_SEED = 1


class ReshapeForms(Struct, frozen=True, kw_only=True):
    """Both forms of an array that is reshaped in place, from its start to its end.

    Args:
        order: kernel names by slot; None for a missing one.
        offset_bytes: where the data begin on each member.
        old: how they lie before.
        new: how they lie after.
        recorded_bytes: the place in the superblocks, in bytes of the array.
    """

    order: tuple[str | None, ...]
    offset_bytes: int
    old: StripeShape
    new: StripeShape
    recorded_bytes: int


class Moved(Struct, frozen=True, kw_only=True):
    """How far a reshape has gone, in bytes of the array.

    Args:
        recorded: the place in the superblocks.
        least: up to here at least, data lie in the new form; 0 where nothing shows it.
        most: from here on at the latest, they lie in the old form; None where nothing shows it.
        blocks: how many blocks and rows are right in one form only.
    """

    recorded: int
    least: int
    most: int | None
    blocks: int

    @property
    def is_ahead(self) -> bool:
        """Whether more was moved than is recorded: what lies between is read in the wrong form."""
        return self.least > self.recorded

    @property
    def is_mixed(self) -> bool:
        """Whether both forms lie beyond each other: no single place is the right one."""
        return self.most is not None and self.least > self.most

    @property
    def words(self) -> str:
        """What is said of it, a clause."""
        recorded = binary_size(self.recorded)
        if not self.blocks:
            return f"nothing shows whether more was moved than the {recorded} that are recorded"
        counted = f"by checksums and parity of {self.blocks} places"
        if self.is_mixed:
            return f"{counted}, both forms are mixed: no position of the reshape is right"
        last, most = "nothing shows where the old form begins", ""
        if self.most is not None:
            last = f"in the old form from {binary_size(self.most)} on"
            most = f", {self._size(self.most)} at most,"
        if self.is_ahead:
            return (
                f"{counted}, data lie in the new form up to {binary_size(self.least)}, and {last}; but"
                f" {recorded} are recorded: {self._size(self.least)} at least{most} are read in the wrong"
                " form from there, and are lost if the reshape continues like this"
            )
        if self.most is None:
            return f"{counted}, nothing shows whether more was moved than the {recorded} that are recorded"
        return (
            f"{counted}, data lie {last}, and {recorded} are recorded: nothing shows in which form the"
            f" {self._size(self.most)} between them lie"
        )

    def _size(self, to: int) -> str:
        return binary_size(max(0, to - self.recorded))


def find_reshape_forms(blocks: Mapping[str, Superblock]) -> ReshapeForms | None:
    """Return both forms of an array; None where it is not reshaped in place, or too little is known.

    Args:
        blocks: the superblocks of its members, by kernel name.
    """
    newest = max(blocks.values(), key=lambda each: each.events or 0, default=None)
    reshape = newest.reshape if newest is not None else None
    level = _LEVELS.get((newest.level or "") if newest is not None else "")
    if newest is None or reshape is None or level is None or reshape.backwards or reshape.delta_disks:
        return None
    offsets = {each.offset_sectors for each in blocks.values()}
    slots, chunk = newest.raid_disks, newest.chunk_bytes
    if not reshape.in_place or len(offsets) != 1 or None in offsets or not slots or not chunk:
        return None
    by_slot = {each.slot: name for name, each in blocks.items()}
    layout = newest.layout_name
    return ReshapeForms(
        order=tuple(by_slot.get(slot) for slot in range(slots)),
        offset_bytes=(offsets.pop() or 0) * SECTOR_BYTES,
        old=StripeShape(level=level, layout=layout, slots=slots, chunk_bytes=chunk),
        new=StripeShape(
            level=level,
            layout=reshape.new_layout or layout,
            slots=slots,
            chunk_bytes=reshape.new_chunk_bytes or chunk,
        ),
        recorded_bytes=reshape.position_kib << 10,
    )


def find_progress(forms: ReshapeForms, members: Sequence[Source | None], watch: SearchWatch) -> Moved:
    """Return how far a reshape has really gone.

    Args:
        forms: both forms of the array.
        members: by slot; None for a missing one.
        watch: told how far it is.

    Raises:
        SearchCancelledError: the caller does not want to continue.
    """
    old = LogicalArray(forms.old, forms.offset_bytes, members)
    new = LogicalArray(forms.new, forms.offset_bytes, members)
    found = [*_by_blocks(old, new, forms.recorded_bytes, watch), *_by_rows(old, new, forms, watch)]
    return Moved(
        recorded=forms.recorded_bytes,
        least=max((end for _, end, is_new in found if is_new), default=0),
        most=min((start for start, _, is_new in found if not is_new), default=None),
        blocks=len(found),
    )


_Told = tuple[int, int, bool]
"""First byte of the array, the one after the last, and whether it lies in the new form."""


def _by_blocks(old: LogicalArray, new: LogicalArray, recorded: int, watch: SearchWatch) -> Iterator[_Told]:
    """Yield what a checksum or the look tells in one form only: of what must be there."""
    pool = FactPool(_SEED)
    pool.add(expect_head(Stretch.whole()))
    done = 0
    while len(pool) and done < _MOST_BLOCKS:
        for fact in pool.take(64, lambda each: abs(each.address - recorded) < _NEAR_BYTES):
            done += 1
            watch.at(SearchStage.PROOF, done, done + len(pool))
            read = [array.read(fact.address, fact.length) for array in (old, new)]
            right = [data for data in read if len(data) == fact.length and fact.verify(data)]
            for data in right[:1]:
                pool.add(fact.learn(data) if fact.learn is not None else ())
            if len(right) == 1 and fact.must and fact.checked and not fact.soft:
                yield fact.address, fact.address + fact.length, right[0] is read[1]


def _by_rows(
    old: LogicalArray, new: LogicalArray, forms: ReshapeForms, watch: SearchWatch
) -> Iterator[_Told]:
    """Yield the rows from the recorded place on whose parity fits in one form only; RAID 5's fits in both."""
    if forms.old.level != 6:
        return
    unit = max(forms.old.chunk_bytes, forms.new.chunk_bytes)
    data = forms.new.slots - PARITY_OF[forms.new.level]
    behind = 0
    first = forms.recorded_bytes // data // unit
    for row in range(first, first + _MOST_ROWS):
        watch.at(SearchStage.PROOF, row - first, _MOST_ROWS)
        fits = [array.row_fits(row * unit, _SAMPLE) for array in (old, new)]
        if sorted(map(str, fits)) == ["False", "True"]:
            yield row * unit * data, (row + 1) * unit * data, bool(fits[1])
            behind = behind + 1 if fits[0] else 0
        if behind == _ROWS_BEHIND:
            return
