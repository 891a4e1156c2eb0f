"""What an array survives, against a simulation of what the kernel does with chunks."""

from __future__ import annotations

from itertools import combinations
from math import lcm

import pytest

from raidtui.model.geometry import copy_groups, loss_sentence, losses_left, separate_groups, set_letters
from raidtui.model.levels import Raid10Layout, layout_short, layout_words

FAR_OFFSET = 0x10000


def _number(near: int, far: int, *, offset: bool, sets: int) -> int:
    return near | far << 8 | (FAR_OFFSET if offset else 0) | sets << 17


def devices_of_chunk(layout: int, disks: int, chunk: int) -> set[int]:
    """Follow __raid10_find_phys (drivers/md/raid10.c), for one chunk of the array.

    The chunk's number times the near copies, divided by the disks, gives stripe and first device. Near copies
    go to the devices that follow, round the array. From each of them, the next far copy lies as many devices
    further on as there are near copies, round the device's far set; the last far set takes in the devices
    that are left over.
    """
    near, far, kind = layout & 0xFF, layout >> 8 & 0xFF, layout >> 17
    set_size = {0: disks, 1: disks // far, 2: near * far}[kind]
    last_start = (disks // set_size - 1) * set_size
    last_size = set_size + disks % set_size
    device = chunk * near % disks
    found = set()
    for _ in range(near):
        d = device
        found.add(d)
        for _ in range(1, far):
            far_set = d // set_size
            d += near
            if disks % set_size and d > last_start:
                d = (d - last_start) % last_size + last_start
            else:
                d = d % set_size + set_size * far_set
            found.add(d)
        device = (device + 1) % disks
    return found


def _layouts() -> list[tuple[int, int]]:
    found = []
    for disks in range(1, 9):
        for near in range(1, disks + 1):
            for far in range(1, disks // near + 1):
                for offset in (False, True) if far > 1 else (False,):
                    for sets in (0, 1, 2) if far > 1 else (0,):
                        if sets == 1 and disks // far < 1:
                            continue
                        found.append((_number(near, far, offset=offset, sets=sets), disks))
    return found


LAYOUTS = _layouts()


def test_the_layouts_are_many() -> None:
    assert len(LAYOUTS) == len(set(LAYOUTS)) > 200
    assert {(258, 4), (513, 4), (66049, 5), (259, 4), (514, 4), (0x40201, 7), (0x20202, 8)} <= set(LAYOUTS)


@pytest.mark.parametrize("disks", range(1, 9))
def test_copy_groups_are_where_the_kernel_puts_the_chunks(disks: int) -> None:
    for layout in [layout for layout, count in LAYOUTS if count == disks]:
        chunks = range(lcm(layout & 0xFF, disks) * 2)
        simulated = {tuple(sorted(devices_of_chunk(layout, disks, chunk))) for chunk in chunks}
        assert copy_groups("raid10", layout, disks) == tuple(sorted(simulated)), hex(layout)


@pytest.mark.parametrize("disks", range(1, 9))
def test_losses_left_by_trying_all_failures(disks: int) -> None:
    for layout in [layout for layout, count in LAYOUTS if count == disks]:
        places = [devices_of_chunk(layout, disks, chunk) for chunk in range(disks)]
        survives = {
            failed: all(place - set(failed) for place in places)
            for count in range(disks + 1)
            for failed in combinations(range(disks), count)
        }
        for missing in [failed for failed in survives if len(failed) <= 3]:
            alive = [slot for slot in range(disks) if slot not in missing]
            most = -1
            for further in range(len(alive) + 1):
                if not all(
                    survives[tuple(sorted((*missing, *more)))] for more in combinations(alive, further)
                ):
                    break
                most = further
            assert losses_left("raid10", layout, disks, missing) == most, (hex(layout), missing)


@pytest.mark.parametrize(
    ("level", "disks", "missing", "left"),
    [
        ("raid0", 3, (), 0),
        ("raid0", 3, (1,), -1),
        ("linear", 2, (), 0),
        ("faulty", 1, (), 0),
        ("raid1", 1, (), 0),
        ("raid1", 3, (), 2),
        ("raid1", 3, (0, 0, 2), 0),
        ("raid1", 2, (0, 1), -1),
        ("multipath", 2, (1,), 0),
        ("raid4", 3, (), 1),
        ("raid5", 3, (2,), 0),
        ("raid5", 3, (0, 2), -1),
        ("raid6", 4, (), 2),
        ("raid6", 4, (0, 1, 2), -1),
        ("container", 3, (), None),
        (None, 3, (), None),
        ("raid10", 4, (), None),
    ],
)
def test_losses_left(level: str | None, disks: int, missing: tuple[int, ...], left: int | None) -> None:
    assert losses_left(level, None, disks, missing) == left


@pytest.mark.parametrize("layout", [-1, 0, 0x100, 0x2, 0x602, 3 << 17 | 0x201])
def test_layouts_that_the_kernel_refuses(layout: int) -> None:
    assert copy_groups("raid10", layout, 8) == ()
    assert losses_left("raid10", layout, 8, ()) is None


def test_copy_groups_of_other_levels() -> None:
    assert copy_groups("raid1", None, 3) == ((0, 1, 2),)
    assert copy_groups("raid1", None, 0) == ()
    assert copy_groups("raid5", 2, 3) == ()
    assert copy_groups(None, None, 3) == ()


def test_set_letters_are_those_of_mdadm() -> None:
    """Detail.c; tests/lab/test_kernel_states.py compares with mdadm itself."""
    assert set_letters("raid10", 258, 4) == {0: "A", 1: "B", 2: "A", 3: "B"}
    assert set_letters("raid10", 259, 6) == {0: "A", 1: "B", 2: "C", 3: "A", 4: "B", 5: "C"}
    assert set_letters("raid10", 258, 54)[53] == "B"
    for layout, disks in ((513, 4), (66049, 4), (258, 5), (257, 4), (0, 4)):
        assert set_letters("raid10", layout, disks) == {}, layout
    assert set_letters("raid10", None, 4) == set_letters("raid1", 258, 2) == {}


def test_slots_of_one_letter_may_all_fail() -> None:
    """Each letter is one whole copy: the array lives as long as one letter is whole."""
    for layout, disks in LAYOUTS:
        letters = set_letters("raid10", layout, disks)
        for letter in set(letters.values()):
            others = {slot for slot in letters if letters[slot] != letter}
            left = losses_left("raid10", layout, disks, others)
            assert left == 0, (hex(layout), disks, letter)


def test_groups_that_do_not_overlap() -> None:
    assert separate_groups("raid10", 258, 4) == ((0, 1), (2, 3))
    assert separate_groups("raid10", 513, 4) == ()
    assert separate_groups("raid5", 2, 3) == ()
    assert separate_groups("raid1", None, 3) == ((0, 1, 2),)


N2, N3, F2 = 258, 259, 513
SENTENCES = [
    ("raid10", N2, 4, (), "survives one failure, and two except 0 and 1, or 2 and 3"),
    ("raid10", N2, 4, (1,), "slot 0 holds the last copy; others may fail"),
    ("raid10", N2, 4, (1, 2), "slots 0, 3 hold last copies: the next failure loses the array"),
    ("raid10", N2, 4, (0, 1), "more members are missing than the level survives"),
    ("raid10", N2, 6, (), "survives one failure, and two except 0 and 1, 2 and 3, or 4 and 5"),
    ("raid10", N2, 8, (), "survives one failure, and two except 0 and 1, 2 and 3, 4 and 5, or 6 and 7"),
    ("raid10", N2, 24, (), "survives one failure, and two except 0 and 1, 2 and 3, … 22 and 23"),
    ("raid10", N2, 2, (), "survives one failure; one more loses the array"),
    ("raid10", N2, 2, (0,), "slot 1 holds the last copy: the next failure loses the array"),
    ("raid10", N2, 5, (), "survives one failure, and two unless they hold the same chunks"),
    ("raid10", N3, 6, (), "survives two failures, and three except 0, 1 and 2, or 3, 4 and 5"),
    ("raid10", N3, 6, (4,), "survives one failure, and two except 3 and 5"),
    ("raid10", F2, 4, (), "survives one failure, and two except 0 and 1, 0 and 3, 1 and 2, or 2 and 3"),
    ("raid10", F2, 5, (), "survives one failure, and two unless they hold the same chunks"),
    ("raid10", F2, 4, (1,), "slots 0, 2 hold last copies; others may fail"),
    ("raid10", None, 4, (), ""),
    ("raid1", None, 2, (), "survives one failure; one more loses the array"),
    ("raid1", None, 3, (), "survives two failures; one more loses the array"),
    ("raid1", None, 7, (), "survives 6 failures; one more loses the array"),
    ("raid1", None, 2, (1,), "the next failure loses the array"),
    ("raid5", 2, 3, (), "survives one failure; one more loses the array"),
    ("raid5", 2, 3, (0,), "the next failure loses the array"),
    ("raid6", 2, 4, (), "survives two failures; one more loses the array"),
    ("raid6", 2, 4, (3,), "survives one failure; one more loses the array"),
    ("raid0", None, 2, (), "no redundancy: one failure loses the array"),
    ("raid0", None, 2, (0,), "more members are missing than the level survives"),
    ("container", None, 2, (), ""),
]


@pytest.mark.parametrize(("level", "layout", "disks", "missing", "sentence"), SENTENCES)
def test_loss_sentence(
    level: str, layout: int | None, disks: int, missing: tuple[int, ...], sentence: str
) -> None:
    assert loss_sentence(level, layout, disks, missing) == sentence


@pytest.mark.parametrize(
    ("level", "layout", "short", "words"),
    [
        ("raid10", 258, "n2", "near=2"),
        ("raid10", 259, "n3", "near=3"),
        ("raid10", 257, "n1", "near=1"),
        ("raid10", 513, "f2", "far=2"),
        ("raid10", 66049, "o2", "offset=2"),
        ("raid10", 0x202, "n2f2", "near=2, far=2"),
        ("raid10", 0x40201, "f2", "far=2"),
        ("raid10", 0, "", None),
        ("raid5", 2, "ls", "left-symmetric"),
        ("raid5", 5, "pl", "parity-last"),
        ("raid6", 18, "", "left-symmetric-6"),
        ("raid6", 99, "", None),
        ("raid4", 0, "", None),
        ("raid1", 0, "", None),
        ("raid5", None, "", None),
    ],
)
def test_layout_words(level: str, layout: int | None, short: str, words: str | None) -> None:
    assert (layout_short(level, layout), layout_words(level, layout)) == (short, words)


def test_layout_word_taken_apart() -> None:
    decoded = Raid10Layout.decode(0x50203)
    assert decoded is not None
    assert (decoded.near, decoded.far, decoded.offset, decoded.far_sets) == (3, 2, True, 2)
    assert decoded.copies == 6
