"""Facts about what stands on an array: which block must be where, and how it is recognised.

A fact holds for the array's addresses, so it is tested against a geometry block by block and device by
device: no order of the members has to be assumed. What a recognised block says (a bitmap, an inode) makes new
facts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Concatenate, ParamSpec, TypeVar

import msgspec
from msgspec import Struct

_More = ParamSpec("_More")
_Result = TypeVar("_Result")
_MOST_WAITING = 40_000
PARTITION_TABLE = "partition table at the start"
_DEEPEST_TABLE = 3
SURE = 3
"""How many soft facts count as much as one that its checksum or its own number separates from all others."""


class BlockFact(Struct, frozen=True, kw_only=True, eq=False):
    """A block that is recognised at its place.

    Args:
        address: byte in the array.
        length: bytes.
        kind: what it is, in words: "ext4 inode table".
        verify: whether bytes are this block: by its checksum, its own number, its identity.
        learn: what the block says about others.
        must: whether it has to be there: a journal's next block may be of an older turn.
        checked: whether a checksum says it, not only the look.
        loose: whether such a block may stand elsewhere, too, and then says what is not so.
        premise: what this one follows from, which may hold for some geometries only.
        soft: whether it says little: other blocks, or parity, may look like it.
        age: of a loose one, a number that is larger in what was written later: a member that has missed
            writes has an older one at the same place, from which as much follows.
    """

    address: int
    length: int
    kind: str
    verify: Callable[[bytes], bool]
    learn: Callable[[bytes], Iterable[BlockFact]] | None = None
    must: bool = True
    checked: bool = True
    soft: bool = False
    loose: bool = False
    premise: Premise | None = None
    age: Callable[[bytes], int] | None = None


Premise = tuple[BlockFact, bytes]
"""A loose fact, and the block that was taken for it."""


def learn_facts(fact: BlockFact, data: bytes) -> Iterator[BlockFact]:
    """Yield what a block says about others, each with its premise.

    What a block says that need not be there, and that others may look like, need not hold either.

    Args:
        fact: what was looked for.
        data: the block.
    """
    premise = (fact, data) if fact.loose else fact.premise
    if fact.kind == PARTITION_TABLE and _tables_around(fact) > _DEEPEST_TABLE:
        return
    doubtful = fact.soft and not fact.must
    for other in fact.learn(data) if fact.learn is not None else ():
        if premise is None and not doubtful:
            yield other
        else:
            yield msgspec.structs.replace(other, premise=premise, must=other.must and not doubtful)


def _tables_around(fact: BlockFact) -> int:
    """Return how many partition tables a fact follows from, itself included.

    A table that a wrong geometry reads at the start of its own partition would continue for ever.
    """
    count = 0
    around: BlockFact | None = fact
    while around is not None:
        count += around.kind == PARTITION_TABLE
        around = around.premise[0] if around.premise is not None else None
    return count


def on(
    function: Callable[Concatenate[bytes, _More], _Result], *args: _More.args, **kwargs: _More.kwargs
) -> Callable[[bytes], _Result]:
    """Return a function of bytes whose other arguments are what they are now."""
    return lambda data: function(data, *args, **kwargs)


class Stretch(Struct, frozen=True, kw_only=True):
    """Where a volume lies on the array, in pieces.

    Args:
        pieces: byte in the volume, length, byte in the array; in the volume's order.
    """

    pieces: tuple[tuple[int, int, int], ...]

    @classmethod
    def whole(cls, start: int = 0, length: int = 1 << 62) -> Stretch:
        """Return a volume in one piece, from a byte of the array on."""
        return cls(pieces=((0, length, start),))

    @property
    def length(self) -> int:
        """The volume's size in bytes."""
        first, length, _ = self.pieces[-1]
        return first + length

    def at(self, byte: int, length: int) -> int | None:
        """Return the array's byte, or None where the bytes are not in one piece."""
        for first, size, start in self.pieces:
            if first <= byte and byte + length <= first + size:
                return start + byte - first
        return None

    def expect(
        self,
        byte: int,
        length: int,
        kind: str,
        verify: Callable[[bytes], bool],
        learn: Callable[[bytes], Iterable[BlockFact]] | None = None,
        *,
        must: bool = True,
        checked: bool = True,
        loose: bool = False,
        age: Callable[[bytes], int] | None = None,
    ) -> Iterator[BlockFact]:
        """Yield the fact that a block is at a byte; nothing where its bytes are not in one piece.

        Args:
            byte: of the volume.
            length: bytes.
            kind: what it is, in words.
            verify: whether bytes are this block.
            learn: what the block says about others.
            must: whether it has to be there.
            checked: whether a checksum says it.
            loose: whether such a block may stand elsewhere, too.
            age: of a loose one, a number that is larger in what was written later.
        """
        address = self.at(byte, length)
        if address is not None:
            yield BlockFact(
                address=address,
                length=length,
                kind=kind,
                verify=verify,
                learn=learn,
                must=must,
                checked=checked,
                loose=loose,
                age=age,
            )

    def part(self, first: int, length: int) -> Stretch:
        """Return a part of it as a volume."""
        pieces = []
        for begin, size, start in self.pieces:
            low, high = max(first, begin), min(first + length, begin + size)
            if low < high:
                pieces.append((low - first, high - low, start + low - begin))
        return Stretch(pieces=tuple(pieces) or ((0, 0, 0),))


class FactPool:
    """Facts that wait to be tested, each address, kind and premise once; taken in a mixed order.

    Args:
        seed: of the order.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  (an order that can be repeated)
        self._waiting: dict[str, list[BlockFact]] = {}
        self._known: set[tuple[int, str, Premise | None]] = set()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, facts: Iterable[BlockFact]) -> None:
        """Add facts; those that are known are left out."""
        for fact in facts:
            key = (fact.address, fact.kind, fact.premise)
            if key in self._known or len(self._known) > _MOST_WAITING:
                continue
            self._known.add(key)
            self._waiting.setdefault(fact.kind, []).append(fact)

    def take(self, count: int, wanted: Callable[[BlockFact], bool] | None = None) -> list[BlockFact]:
        """Return facts by turns of their kinds, chance deciding within a kind; up to half are loose ones.

        Args:
            count: how many at most.
            wanted: those that are taken first.
        """
        taken = self._turns(-(-count // 2), lambda fact: fact.loose)
        if wanted is not None:
            taken += self._turns(count - len(taken), wanted)
        return taken + self._turns(count - len(taken), lambda _: True)

    def _turns(self, count: int, wanted: Callable[[BlockFact], bool]) -> list[BlockFact]:
        queues: list[Iterator[BlockFact]] = []
        for facts in self._waiting.values():
            fitting = [fact for fact in facts if wanted(fact)]
            self._random.shuffle(fitting)
            queues.append(iter(fitting))
        taken: list[BlockFact] = []
        while queues and len(taken) < count:
            left = []
            for queue in queues:
                fact = next(queue, None)
                if fact is not None and len(taken) < count:
                    taken.append(fact)
                    left.append(queue)
            queues = left
        gone = set(map(id, taken))
        for kind, facts in list(self._waiting.items()):
            self._waiting[kind] = [fact for fact in facts if id(fact) not in gone]
            if not self._waiting[kind]:
                del self._waiting[kind]
        return taken
