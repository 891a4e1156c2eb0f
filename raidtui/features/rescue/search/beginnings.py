"""Where an array begins: what stands in front of that with which a candidate begins.

A file system in the first partition of an array reads the same from an array that begins a whole number of
rows later. Only what stands in front of it shows which it is: a partition table or LVM that leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from raidtui.features.rescue.search.block_facts import BlockFact, Stretch
from raidtui.features.rescue.search.limits import SearchStage, SearchWatch
from raidtui.features.rescue.search.logical import LogicalArray
from raidtui.features.rescue.search.mapping import StripeShape
from raidtui.features.rescue.search.members import OpenMember, Source
from raidtui.features.rescue.search.ranking import Ranked
from raidtui.features.rescue.search.volumes import (
    HEAD_BYTES,
    container_kind,
    extent,
    head_facts,
    is_of_the_member,
)

_MOST_ROWS = 1 << 15
_MOST_FACTS = 400
_OLD_START = 63 * 512


class Before(Struct, frozen=True, kw_only=True):
    """What stands in front of a candidate's first byte, and says that something begins there.

    Args:
        kind: gpt, dos, LVM2_member.
        distance: bytes of the array from its first byte to the candidate's.
        member_byte: where it stands on the member.
    """

    kind: str
    distance: int
    member_byte: int


def what_stands_before(each: Ranked, sources: Sequence[Source], watch: SearchWatch) -> Before | None:
    """Look at all places where the array may begin instead; return the first container of them all.

    Args:
        each: the candidate.
        sources: the devices.
        watch: may end it.
    """
    array = each.array(sources)
    found = None
    for row, distance in enumerate(_distances(each.shape)):
        byte = each.offset + array.shape.places(-distance)[0][1]
        if byte < 0 or row == _MOST_ROWS:
            break
        if not row % 1000:
            watch.at(SearchStage.PROOF, row, row)
        head = array.read(-distance, HEAD_BYTES)
        kind = container_kind(head)
        if (
            kind
            and not (byte == 0 and _of_a_member(head, each, sources))
            and _leads_to_start(array, -distance)
        ):
            found = Before(kind=kind, distance=distance, member_byte=byte)
    return found


def _of_a_member(head: bytes, each: Ranked, sources: Sequence[Source]) -> bool:
    members = [sources[number] for number in each.order if number >= 0]
    sizes = {member.size_bytes for member in members if isinstance(member, OpenMember)}
    return any(is_of_the_member(extent(head), size) for size in sizes)


def _distances(shape: StripeShape) -> Iterator[int]:
    """Yield how much longer the array may be at its start: whole rows, as all begins with one."""
    step = shape.row_bytes
    if shape.level == 1:
        yield _OLD_START
    for row in range(1, _MOST_ROWS + 1):
        yield row * step


def _leads_to_start(array: LogicalArray, start: int) -> bool:
    """Whether a container at a byte says that something begins at byte 0."""
    waiting: list[BlockFact] = list(head_facts(Stretch.whole(start)))
    for _ in range(_MOST_FACTS):
        if not waiting:
            break
        fact = waiting.pop()
        if fact.address == 0 and fact.length == HEAD_BYTES:
            return True
        if fact.kind.startswith("file system"):
            continue
        data = array.read(fact.address, fact.length)
        if fact.learn is not None and len(data) == fact.length and fact.verify(data):
            waiting += fact.learn(data)
    return False
