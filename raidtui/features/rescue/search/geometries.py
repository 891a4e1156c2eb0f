"""Which geometries are asked about: by what a person knows, by the samples, by superblocks that are left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.samples import Samples
from raidtui.model.geometry import usable_kib
from raidtui.model.striping import (
    RAID5_LAYOUTS,
    RAID10_LAYOUTS,
    StripeShape,
    compute_far_stride,
    is_far,
)
from raidtui.model.survey import MemberRole, Superblock
from raidtui.view.units import SECTOR_BYTES

CHUNKS = tuple(1024 << bits for bits in range(2, 13))
"""4 KiB to 4 MiB."""
COMMON_CHUNKS = frozenset({512 << 10, 64 << 10})
ALL_LEVELS = (5, 6, 10, 0, 4, 1)
_SURE = 0.85


class Wanted(Struct, frozen=True, kw_only=True):
    """What a person knows of the array; None or () where nothing.

    Args:
        slots: the number of slots.
        levels: those that are asked about.
        layout: mdadm's word.
        chunk_bytes: the chunk size.
        component_bytes: how much of each member has data.
    """

    slots: int | None = None
    levels: tuple[int, ...] = ()
    layout: str = ""
    chunk_bytes: int | None = None
    component_bytes: int | None = None


def infer_levels(samples: Samples, count: int) -> tuple[tuple[int, ...], str]:
    """Return the levels that the samples speak for, and why; all of them where they say nothing.

    Args:
        samples: of the devices that have data.
        count: their number.
    """
    partners = [
        max((share for pair, share in samples.pairs.items() if member in pair), default=0.0)
        for member in range(count)
    ]
    rows = len(samples.rows)
    if count > 1 and rows and samples.equal >= _SURE:
        return (1, 10), f"all members are equal in {samples.equal:.0%} of {rows} samples"
    if count > 1 and rows and min(partners) >= _SURE:
        return (10, 1), f"each member has a partner that is equal, in {rows} samples"
    if count > 2 and samples.xor >= _SURE:
        return (5, 4), f"the XOR of all members is 0 in {samples.xor:.0%} of {rows} samples"
    if count > 3 and samples.one_out >= _SURE and max(samples.xor_without) < _SURE:
        return (6,), f"the XOR of all members but one is 0 in {samples.one_out:.0%} of {rows} samples"
    return (), ""


def choose_slot_numbers(count: int, levels: Sequence[int], wanted: Wanted, *, whole: bool) -> tuple[int, ...]:
    """Return the numbers of slots that are asked about.

    Args:
        count: devices that have data.
        levels: the levels in question.
        wanted: what is known.
        whole: whether the samples say that no member is missing.
    """
    if wanted.slots is not None:
        return (wanted.slots,)
    if whole:
        return (count,)
    numbers = [count, count + 1]
    if {6, 10} & set(levels):
        numbers.append(count + 2)
    if 10 in levels and count > 2:
        numbers += range(count + 3, 2 * count + 1)
    if count > 2:
        numbers.append(count - 1)
    return tuple(dict.fromkeys(number for number in numbers if number <= 64))


def choose_layouts(level: int, slots: int, wanted: Wanted) -> tuple[str, ...]:
    """Return the layouts of a level that are asked about."""
    known: tuple[str, ...] = {5: RAID5_LAYOUTS, 6: RAID5_LAYOUTS, 10: RAID10_LAYOUTS}.get(level, ("",))
    if wanted.layout and level in {5, 6, 10}:
        return (wanted.layout,)
    if level == 10:
        return tuple(layout for layout in known if int(layout[1:]) <= slots)
    return known


def shapes(levels: Iterable[int], slots: int, wanted: Wanted) -> Iterator[StripeShape]:
    """Yield the geometries without a data offset; the strides of far layouts are set later."""
    chunks = CHUNKS if wanted.chunk_bytes is None else (wanted.chunk_bytes,)
    for level in levels:
        for layout in choose_layouts(level, slots, wanted):
            for chunk in chunks if level != 1 else (4096,):
                shape = StripeShape(level=level, layout=layout, slots=slots, chunk_bytes=chunk)
                if slots >= shape.least_slots:
                    yield shape


def components(sizes: Sequence[int], offset: int, chunk_bytes: int, wanted: Wanted) -> tuple[int, ...]:
    """Return how much of each member may have data: all behind the offset, or what 0.90 and 1.0 leave.

    Args:
        sizes: of the devices, in bytes.
        offset: where the data begin.
        chunk_bytes: the chunk.
        wanted: what is known.
    """
    if wanted.component_bytes is not None:
        return (wanted.component_bytes,)
    smallest = min(sizes)
    found = [smallest - offset]
    if offset == 0:
        found.append((smallest & ~0xFFFF) - 0x10000)
        found += [kib << 10 for kib in usable_kib((smallest,), metadata="1.0", chunk_kib=chunk_bytes >> 10)]
    return tuple(dict.fromkeys(found))


def add_strides(
    shape: StripeShape, sizes: Sequence[int], offset: int, wanted: Wanted
) -> tuple[StripeShape, ...]:
    """Return a geometry with each distance between its far copies that the sizes allow."""
    if shape.level != 10 or not is_far(shape.layout):
        return (shape,)
    strides = {
        compute_far_stride(shape.layout, shape.slots, shape.chunk_bytes, size)
        for size in components(sizes, offset, shape.chunk_bytes, wanted)
    }
    return tuple(
        StripeShape(
            level=shape.level,
            layout=shape.layout,
            slots=shape.slots,
            chunk_bytes=shape.chunk_bytes,
            stride_bytes=stride,
        )
        for stride in sorted(strides, reverse=True)
        if stride > 0
    )


class RecordedGeometry(Struct, frozen=True, kw_only=True):
    """The geometry that the superblocks of some members record.

    Args:
        wanted: level, layout, chunk and number of slots, each one value.
        offset: the byte on each member at which the data begin.
        slots: the number of the device by slot, for those that have a superblock.
        created_s: when the array was created, epoch seconds; None where it is not known.
    """

    wanted: Wanted
    offset: int
    slots: Mapping[int, int]
    created_s: float | None = None

    def known(self, group: Sequence[int]) -> dict[int, int]:
        """Return by slot the place in a group of devices.

        Args:
            group: numbers of devices.
        """
        return {slot: group.index(number) for slot, number in self.slots.items() if number in group}


def find_recorded_geometry(
    names: Sequence[str], superblocks: Mapping[str, Superblock], wanted: Wanted
) -> RecordedGeometry | None:
    """Return what the superblocks record; None where they differ, or cannot be believed.

    Where each device has one and the array is searched for nevertheless, it is the superblocks that are in
    doubt: an array was created over another one.

    Args:
        names: of the devices.
        superblocks: by name, of devices that have one.
        wanted: what a person knows of the array: it outranks them.
    """
    blocks = {number: superblocks[name] for number, name in enumerate(names) if name in superblocks}
    active = {number: block for number, block in blocks.items() if block.role is MemberRole.ACTIVE}
    if not active or len(blocks) == len(names) or any(each.checksum_ok is False for each in blocks.values()):
        return None
    shapes = {_recorded_shape(block) for block in blocks.values()}
    slots = {block.slot: number for number, block in active.items() if block.slot is not None}
    if len(shapes) != 1 or len(slots) != len(active):
        return None
    first = next(iter(active.values()))
    level = (first.level or "").removeprefix("raid")
    if not level.isdigit() or int(level) not in ALL_LEVELS or first.reshape is not None:
        return None
    if first.raid_disks is None or first.offset_sectors is None or not first.uuid:
        return None
    found = Wanted(
        slots=first.raid_disks,
        levels=(int(level),),
        layout=first.layout_name,
        chunk_bytes=first.chunk_bytes or None,
    )
    if wanted != Wanted() and wanted != found:
        return None
    return RecordedGeometry(
        wanted=found, offset=first.offset_sectors * SECTOR_BYTES, slots=slots, created_s=first.created_s
    )


def _recorded_shape(block: Superblock) -> tuple[object, ...]:
    return (
        block.uuid,
        block.level,
        block.layout_name,
        block.chunk_bytes,
        block.raid_disks,
        block.offset_sectors,
        block.reshape,
    )
