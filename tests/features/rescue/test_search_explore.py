"""When a search stops asking: not while facts that follow from others are still to come."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from raidtui.features.rescue.search.block_facts import BlockFact, on
from raidtui.features.rescue.search.exploration import Exploration
from raidtui.features.rescue.search.hypothesis import Hypothesis, Recogniser
from raidtui.features.rescue.search.members import SearchWatch
from raidtui.features.rescue.search.striping import StripeShape
from raidtui.features.rescue.session_search import OpenMember
from tests.features.rescue.striping import MIB

BLOCK = 4096
EARLY, LATE, STEPS = range(1, 101), range(101, 301), range(301, 305)
SHAPE = StripeShape(level=0, layout="", slots=1, chunk_bytes=BLOCK)


def _is(data: bytes, number: int) -> bool:
    return data[:8] == number.to_bytes(8, "little")


def _fact(number: int, kind: str, learn: Callable[[bytes], Iterable[BlockFact]] | None = None) -> BlockFact:
    return BlockFact(
        address=number * BLOCK,
        length=BLOCK,
        kind=kind,
        verify=on(_is, number),
        learn=learn,
        must=kind == "early",
        loose=kind == "step",
    )


def _next(_data: bytes, number: int) -> Iterator[BlockFact]:
    """A table, its entries, a label, a text: each leads to the next one, the last to all others."""
    if number + 1 in STEPS:
        yield _fact(number + 1, "step", on(_next, number + 1))
    else:
        yield from (_fact(late, "late") for late in LATE)


@pytest.mark.parametrize("seed", range(6))
def test_what_follows_a_round_later_is_waited_for(tmp_path: Path, seed: int) -> None:
    """A wrong data offset has all early blocks; the right one an eighth less, and all its table leads to."""
    right, wrong = 0, 4 * MIB
    path = tmp_path / "member"
    with path.open("wb") as stream:
        stream.truncate(8 * MIB)
        for number in (*EARLY, *LATE, *STEPS):
            for offset in (right, wrong):
                if number % 8 if offset == right and number in EARLY else offset == right or number in EARLY:
                    stream.seek(offset + number * BLOCK)
                    stream.write(number.to_bytes(8, "little"))
    member = OpenMember(str(path))
    hypotheses = [Hypothesis(SHAPE, offset, Recogniser([member]), (0,)) for offset in (wrong, right)]
    facts = [_fact(number, "early") for number in EARLY]
    facts.append(_fact(STEPS[0], "step", on(_next, STEPS[0])))
    left = Exploration(facts, hypotheses, SearchWatch(), seed).run()
    member.close()
    assert left[0].offset == right
