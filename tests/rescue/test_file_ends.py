"""What the ends of files and texts say of where they lie, and what they do not."""

import random
import struct

import pytest

from raidtui.rescue.search.block_facts import BlockFact, Stretch
from raidtui.rescue.search.ext4_journal import Ext4Journal
from raidtui.rescue.search.file_ends import FileContent, is_text

BLOCK = 4096


def facts(size: int) -> list[BlockFact]:
    """Of a file of up to 8 blocks at the start of a file system."""
    content = FileContent(
        kind="ext4", size=size, extents=[(0, 8, 0)], block_bytes=BLOCK, where=Stretch.whole()
    )
    return list(content.facts())


def test_the_last_block_ends_where_the_size_says() -> None:
    (end,) = facts(2 * BLOCK + 100)
    assert end.address == 2 * BLOCK
    assert end.verify(b"x" * 100 + bytes(BLOCK - 100))
    assert not end.verify(b"x" * 101 + bytes(BLOCK - 101))
    assert not end.verify(b"x" * 99 + bytes(BLOCK - 99))
    assert not end.verify(bytes(BLOCK))


@pytest.mark.parametrize("size", [0, BLOCK, 3 * BLOCK, BLOCK - 4, 9 * BLOCK + 5])
def test_a_full_block_or_one_that_is_not_there_says_nothing(size: int) -> None:
    assert facts(size) == []


def test_a_text_is_text_throughout() -> None:
    (end,) = facts(2 * BLOCK + 100)
    assert end.learn is not None
    learned = list(end.learn(b"line of it\n" * 9 + b"x" + bytes(BLOCK - 100)))
    assert [fact.address for fact in learned] == [0, BLOCK]
    assert learned[0].verify(b"another 1\n" * 409 + b"cut in")
    assert not learned[0].verify(random.Random(1).randbytes(BLOCK))
    assert list(end.learn(random.Random(1).randbytes(100) + bytes(BLOCK - 100))) == []


def test_text() -> None:
    umlauts = "Übungsstücke für Gläser, ".encode() * 40
    assert all(is_text(umlauts[start:end]) for start in range(8) for end in range(900, 908))
    assert not is_text(umlauts[:400] + b"\xff" + umlauts[400:])
    assert not is_text(bytes(20))
    one, two = b"the same length, ", b"of other letters "
    assert not is_text(bytes(left ^ right for left, right in zip(one, two, strict=True)))


def test_a_header_of_the_journal_is_not_found_again_as_the_next() -> None:
    """Two descriptors of one transaction have its number: none says which of them it is."""
    tree = struct.pack("<HHHHI", 0xF30A, 1, 4, 0, 0) + struct.pack("<IHHI", 0, 1024, 0, 50) + bytes(36)
    journal = Ext4Journal(tree, 1024, Stretch.whole())
    (first,) = journal.facts()
    superblock = struct.pack(">IIIIIII", 0xC03B3998, 4, 0, 1024, 1024, 1, 1).ljust(1024, b"\0")
    assert first.verify(superblock)
    assert first.learn is not None
    (header,) = first.learn(superblock)
    descriptor = struct.pack(">III", 0xC03B3998, 1, 7) + struct.pack(">IHH", 99, 0, 8).ljust(1012, b"\0")
    assert header.verify(descriptor)
    assert header.learn is not None
    (after,) = (fact for fact in header.learn(descriptor) if fact.kind == "ext4 journal")
    assert after.address == (50 + 3) * 1024
    assert not after.verify(descriptor)
    assert after.verify(struct.pack(">III", 0xC03B3998, 2, 7).ljust(1024, b"\0"))
    assert not after.verify(struct.pack(">III", 0xC03B3998, 2, 8).ljust(1024, b"\0"))
