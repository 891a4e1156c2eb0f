"""Members compared, for all levels: which sectors do not match, and which member disagrees."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from raidtui.features.rescue.mismatch.compared_array import (
    ComparedArray,
    ComparedMember,
    parse_logged,
    read_logged_spans,
)
from raidtui.features.rescue.mismatch.find_mismatches import MOST_STRETCHES, MismatchWatch, find_mismatches
from raidtui.features.rescue.mismatch.member_windows import Pace
from raidtui.features.rescue.mismatch.mismatch_records import (
    Mismatch,
    MismatchPart,
    MismatchResult,
    MismatchVerdict,
    PartRole,
    summary_text,
    verdict_text,
)
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.answer import AnswerKind
from raidtui.model.striping import RAID5_LAYOUTS, StripeShape, compute_far_stride
from tests.features.rescue.striping import MIB, RAID6_LAYOUTS, parity_row, raid10_cells, write_members

SECTOR = 512
CHUNK = 64 << 10
SIZE = 4 * MIB
OFFSET = MIB
COMPONENT = SIZE - OFFSET
RANDOM = random.Random(7).randbytes(12 * MIB)


class Members:
    """The files of an array, and what is compared of them."""

    def __init__(self, folder: Path, level: int, layout: str, slots: int) -> None:
        self.files = write_members(
            folder,
            RANDOM[: slots * COMPONENT],
            level=level,
            order=range(slots),
            layout=layout,
            chunk=CHUNK,
            offset=OFFSET,
            size=SIZE,
        )
        stride = compute_far_stride(layout, slots, CHUNK, COMPONENT) if level == 10 else 0
        shape = StripeShape(level=level, layout=layout, slots=slots, chunk_bytes=CHUNK, stride_bytes=stride)
        self.array = ComparedArray(
            name="md1", shape=shape, component_bytes=COMPONENT, members=self.members(range(slots))
        )

    def members(
        self, slots: Sequence[int], bad: tuple[tuple[int, int], ...] = ()
    ) -> tuple[ComparedMember, ...]:
        return tuple(
            ComparedMember(device=f"m{slot}", slot=slot, offset_sectors=OFFSET // SECTOR, bad=bad)
            for slot in slots
        )

    def spoil(self, slot: int, byte: int, data: bytes) -> None:
        """Write over the data of a member."""
        with self.files[slot].open("r+b") as stream:
            stream.seek(OFFSET + byte)
            stream.write(data)

    def find(
        self,
        spans: Sequence[tuple[int, int]] | None = None,
        *,
        array: ComparedArray | None = None,
        pause: Callable[[float], None] = lambda _: None,
        pace: Pace | None = None,
        changed: Callable[[], str] = lambda: "",
    ) -> MismatchResult:
        folder = self.files[0].parent
        return find_mismatches(
            array or self.array,
            spans,
            MismatchWatch(pause=pause, changed=changed),
            pace=pace,
            paths=lambda name: str(folder / name),
        )


def only(found: MismatchResult) -> Mismatch:
    """Return the one stretch that was found."""
    (stretch,) = found.stretches
    return stretch


SHAPES = [
    *((5, layout, 4) for layout in RAID5_LAYOUTS),
    (4, "", 4),
    *((6, layout, 5) for layout in RAID6_LAYOUTS),
    *((10, layout, 4) for layout in ("n2", "f2", "o2")),
    (10, "n3", 5),
    (10, "n2", 3),
    (10, "f3", 5),
    (1, "", 2),
    (1, "", 3),
]


@pytest.mark.parametrize(("level", "layout", "slots"), SHAPES)
def test_what_matches_has_no_mismatch(tmp_path: Path, level: int, layout: str, slots: int) -> None:
    members = Members(tmp_path, level, layout, slots)
    found = members.find()
    assert (found.stretches, found.sectors, found.settled, found.uncompared) == ((), 0, 0, ())
    assert (found.compared_bytes, found.ended_sector) == (found.total_bytes, None)
    assert found.total_bytes == members.array.shape.capacity(COMPONENT)


@pytest.mark.parametrize("slots", [4, 6])
@pytest.mark.parametrize("layout", RAID6_LAYOUTS)
def test_raid6_names_the_member(tmp_path: Path, layout: str, slots: int) -> None:
    """Each slot of some rows is spoilt in turn; the cells are as drawn by hand."""
    members = Members(tmp_path, 6, layout, slots)
    expected = []
    address = 0
    for row in range(2 * slots):
        cells = parity_row(6, layout, slots, row)
        slot = row % slots
        members.spoil(slot, row * CHUNK + 5 * SECTOR + 9, b"three and more bytes are other ones")
        role = cells[slot][0]
        sector = None if role in "PQ" else (address + int(cells[slot][1:]) * CHUNK) // SECTOR + 5
        expected.append((row * CHUNK // SECTOR + 5, f"m{slot}", role, sector))
        address += (slots - 2) * CHUNK
    found = members.find().stretches
    assert [
        (
            stretch.parts[0].first_sector - OFFSET // SECTOR,
            stretch.wrong[0].device,
            {"p": "P", "q": "Q", "data": "D"}[stretch.wrong[0].role],
            stretch.wrong[0].array_sector,
        )
        for stretch in found
    ] == expected
    for stretch in found:
        (wrong,) = stretch.wrong
        verdict = {
            PartRole.P: MismatchVerdict.P_ALONE,
            PartRole.Q: MismatchVerdict.Q_ALONE,
            PartRole.DATA: MismatchVerdict.BY_P_AND_Q,
        }[wrong.role]
        assert (stretch.verdict, stretch.sectors, len(stretch.parts)) == (verdict, 1, slots)
        assert stretch.addresses == (() if wrong.array_sector is None else (wrong.array_sector,))
        assert sum(part.agrees is True for part in stretch.parts) == slots - 1


def test_two_members_of_raid6_are_not_blamed_on_one(tmp_path: Path) -> None:
    members = Members(tmp_path, 6, "left-symmetric", 6)
    members.spoil(0, 0, RANDOM[:SECTOR][::-1])
    members.spoil(1, 0, RANDOM[SECTOR : 2 * SECTOR][::-1])
    stretch = only(members.find())
    assert (stretch.verdict, stretch.wrong, stretch.sectors) == (MismatchVerdict.NOT_KNOWN, (), 1)
    assert stretch.addresses == tuple(number * CHUNK // SECTOR for number in range(4))


def test_raid6_with_a_member_missing_knows_that_not_which(tmp_path: Path) -> None:
    """Whichever is missing, P, Q or data: what is left has one parity."""
    members = Members(tmp_path, 6, "left-symmetric", 5)
    members.spoil(1, 3 * SECTOR, b"spoilt")
    for gone in (0, 2, 3, 4):
        left = members.members([slot for slot in range(5) if slot != gone])
        array = ComparedArray(name="md1", shape=members.array.shape, component_bytes=COMPONENT, members=left)
        stretch = only(members.find(array=array))
        assert (stretch.verdict, len(stretch.parts)) == (MismatchVerdict.NOT_KNOWN, 4), gone
    left = members.members([0, 2, 3, 4])
    array = ComparedArray(name="md1", shape=members.array.shape, component_bytes=COMPONENT, members=left)
    assert members.find(array=array).stretches == ()


@pytest.mark.parametrize(("level", "layout"), [*((5, layout) for layout in RAID5_LAYOUTS), (4, "")])
def test_one_parity_does_not_tell_which(tmp_path: Path, level: int, layout: str) -> None:
    members = Members(tmp_path, level, layout, 4)
    row = 3
    members.spoil(2, row * CHUNK + 40 * SECTOR, b"\xff" * 3 * SECTOR)
    stretch = only(members.find())
    assert (stretch.verdict, stretch.sectors, stretch.wrong) == (MismatchVerdict.NOT_KNOWN, 3, ())
    cells = parity_row(level, layout, 4, row)
    for part in stretch.parts:
        cell = cells[part.slot]
        assert part.first_sector == (OFFSET + row * CHUNK) // SECTOR + 40
        assert part.array_sector == (
            None if cell == "P" else (row * 3 + int(cell[1:])) * CHUNK // SECTOR + 40
        )


def test_most_of_three_copies_are_believed(tmp_path: Path) -> None:
    members = Members(tmp_path, 1, "", 3)
    members.spoil(0, 1000 * SECTOR, b"\0" * SECTOR * 2)
    members.spoil(2, 2 * MIB - SECTOR, b"\0" * SECTOR * 2)
    first, second = members.find().stretches
    assert [part.agrees for part in first.parts] == [False, True, True]
    assert (first.verdict, first.sectors, first.addresses) == (MismatchVerdict.MAJORITY, 2, (1000,))
    # it goes on over the edge of what is read at a time
    assert [part.agrees for part in second.parts] == [True, True, False]
    assert (second.sectors, second.addresses) == (2, (4095,))
    assert [part.first_sector for part in second.parts] == [(OFFSET + 2 * MIB) // SECTOR - 1] * 3


def test_three_copies_that_all_differ(tmp_path: Path) -> None:
    members = Members(tmp_path, 1, "", 3)
    members.spoil(0, 0, b"one")
    members.spoil(2, 0, b"two")
    stretch = only(members.find())
    assert stretch.verdict is MismatchVerdict.NOT_KNOWN
    assert sorted(part.version for part in stretch.parts) == ["A", "B", "C"]


def test_two_copies_do_not_tell_which(tmp_path: Path) -> None:
    members = Members(tmp_path, 1, "", 2)
    members.spoil(1, 77 * SECTOR, b"\0" * SECTOR)
    stretch = only(members.find())
    assert (stretch.verdict, stretch.addresses) == (MismatchVerdict.NOT_KNOWN, (77,))
    assert [(part.device, part.version, part.agrees) for part in stretch.parts] == [
        ("m0", "A", None),
        ("m1", "B", None),
    ]


@pytest.mark.parametrize(
    ("layout", "slots"), [("n2", 4), ("n2", 3), ("f2", 4), ("o2", 4), ("n3", 5), ("f3", 5)]
)
def test_raid10_names_both_places(tmp_path: Path, layout: str, slots: int) -> None:
    """Each copy of a chunk in turn; the cells are laid down by hand."""
    members = Members(tmp_path, 10, layout, slots)
    laid: dict[int, list[tuple[int, int]]] = {}
    for chunk, slot, row in raid10_cells(layout, slots, COMPONENT // CHUNK):
        laid.setdefault(chunk, []).append((slot, row))
    copies = int(layout[1:])
    chosen = [1, 6, 13]
    for at, chunk in enumerate(chosen):
        slot, row = laid[chunk][at % copies]
        members.spoil(slot, row * CHUNK + 4096, b"\0" * SECTOR)
    found = members.find().stretches
    assert [stretch.addresses for stretch in found] == [
        ((chunk * CHUNK + 4096) // SECTOR,) for chunk in chosen
    ]
    for at, (chunk, stretch) in enumerate(zip(chosen, found, strict=True)):
        assert [(part.slot, part.first_sector) for part in stretch.parts] == [
            (slot, (OFFSET + row * CHUNK + 4096) // SECTOR) for slot, row in laid[chunk]
        ]
        if copies > 2:
            assert [part.slot for part in stretch.wrong] == [laid[chunk][at % copies][0]]


def test_a_range_is_all_that_is_read(tmp_path: Path) -> None:
    members = Members(tmp_path, 5, "left-symmetric", 4)
    for row in (2, 20):
        members.spoil(0, row * CHUNK, b"\0" * SECTOR)
    width = 3 * CHUNK // SECTOR
    span = members.array.walk_of(20 * width + 5, 20 * width + 6)
    assert span == (20 * CHUNK, 21 * CHUNK)
    found = members.find([span])
    assert only(found).parts[0].first_sector == (OFFSET + 20 * CHUNK) // SECTOR
    assert found.total_bytes == 3 * CHUNK
    assert members.array.walk_of(0, None) == (0, COMPONENT)
    assert members.find([members.array.walk_of(3 * width, 20 * width)]).stretches == ()


def test_a_write_under_way_is_no_mismatch(tmp_path: Path) -> None:
    """It matches when it is read again: half of a write was seen."""
    members = Members(tmp_path, 1, "", 2)
    with members.files[0].open("rb") as stream:
        stream.seek(OFFSET + 64 * SECTOR)
        right = stream.read(SECTOR)
    members.spoil(1, 64 * SECTOR, b"\0" * SECTOR)
    found = members.find(pause=lambda _: members.spoil(1, 64 * SECTOR, right))
    assert (found.stretches, found.settled) == ((), 1)


def test_what_changes_each_time_is_not_judged(tmp_path: Path) -> None:
    members = Members(tmp_path, 6, "left-symmetric", 5)
    counter = iter(range(10))
    members.spoil(1, 0, b"first")
    stretch = only(members.find(pause=lambda _: members.spoil(1, 0, b"time %d" % next(counter))))
    assert (stretch.verdict, stretch.wrong) == (MismatchVerdict.CHANGING, ())


def test_bad_blocks_are_left_out(tmp_path: Path) -> None:
    """The kernel reads them from the other members: nothing of them counts."""
    members = Members(tmp_path, 1, "", 3)
    members.spoil(0, 8 * SECTOR, b"\0" * SECTOR)
    bad = members.members([0], bad=((8, 8),))
    array = ComparedArray(
        name="md1",
        shape=members.array.shape,
        component_bytes=COMPONENT,
        members=(*bad, *members.members([1, 2])),
    )
    found = members.find(array=array)
    assert found.stretches == ()
    assert [(each.device, each.why) for each in found.uncompared] == [
        ("m0", "md has recorded bad blocks there")
    ]
    assert found.uncompared_bytes == 0
    array = ComparedArray(
        name="md1",
        shape=members.array.shape,
        component_bytes=COMPONENT,
        members=(*bad, *members.members([1])),
    )
    assert members.find(array=array).uncompared_bytes == MIB


def test_a_member_that_is_too_short_is_not_compared_there(tmp_path: Path) -> None:
    members = Members(tmp_path, 5, "left-symmetric", 3)
    with members.files[1].open("r+b") as stream:
        stream.truncate(SIZE - MIB)
    found = members.find()
    assert found.stretches == ()
    assert found.uncompared[0].why == "it cannot be read"
    assert found.uncompared_bytes == MIB


def test_it_ends_when_asked_and_says_where(tmp_path: Path) -> None:
    members = Members(tmp_path, 1, "", 2)
    members.spoil(1, 0, b"\0" * SECTOR)
    folder = members.files[0].parent
    at: list[tuple[int, int]] = []
    watch = MismatchWatch(lambda done, total: at.append((done, total)), lambda: bool(at), lambda _: None)
    found = find_mismatches(members.array, None, watch, paths=lambda name: str(folder / name))
    assert at == [(MIB, COMPONENT)]
    assert (found.cancelled, found.ended_sector, len(found.stretches)) == (True, MIB // SECTOR, 1)


def test_very_many_end_it(tmp_path: Path) -> None:
    members = Members(tmp_path, 1, "", 2)
    for sector in range(0, 2 * MOST_STRETCHES + 200, 2):
        members.spoil(1, sector * SECTOR, b"other")
    found = members.find()
    assert len(found.stretches) == 1024  # all of the MiB with which it ended
    assert (found.cancelled, found.ended_sector) == (False, MIB // SECTOR)


def test_it_keeps_to_the_limit(tmp_path: Path) -> None:
    """Three windows of a MiB at 1 KiB/s take most of 3,072 s, all of them waited for."""
    members = Members(tmp_path, 1, "", 2)
    waited: list[float] = []
    members.find(pause=waited.append, pace=Pace(max_kib_s=1))
    assert len(waited) == 3
    assert 2900 < sum(waited) <= 3072


def test_an_array_that_has_changed_ends_it_and_nothing_is_kept(tmp_path: Path) -> None:
    """A member that md has failed since differs everywhere: that is no mismatch."""
    members = Members(tmp_path, 1, "", 2)
    members.spoil(1, MIB, b"\0" * SECTOR)
    found = members.find(changed=lambda: "a recover of md1 has begun")
    assert (found.changed, found.stretches, found.ended_sector) == (
        "a recover of md1 has begun",
        (),
        MIB // SECTOR,
    )
    assert " It ended, as a recover of md1 has begun, at array sector 2048; " in summary_text(found)


def test_what_the_kernel_logged_of_an_earlier_array_of_that_name_is_not_meant(tmp_path: Path) -> None:
    array = Members(tmp_path, 5, "left-symmetric", 3).array
    before = "[    1.0] md1: mismatch sector in range 0-8\n[    2.0] md: md1 stopped.\n"
    other = "[    3.0] md2: mismatch sector in range 64-72\n[    4.0] md: md2 stopped.\n"
    now = "[    5.0] md1: mismatch sector in range 16-24\n[    6.0] md1: mismatch sector in range 24-32\n"
    assert parse_logged(before + other + now, array) == [(16 * SECTOR, 32 * SECTOR)]
    assert parse_logged(before, array) == []
    assert parse_logged(now + other, array) == [(16 * SECTOR, 32 * SECTOR)]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("exit 0\n", AnswerKind.ANSWER),
        ("timed-out\nno answer", AnswerKind.TIMED_OUT),
        ("exit 1\n", AnswerKind.FAILED),
    ],
)
def test_a_log_that_cannot_be_read_is_not_one_without_mismatches(
    said: str, kind: AnswerKind, tmp_path: Path
) -> None:
    array = Members(tmp_path, 5, "left-symmetric", 3).array
    assert read_logged_spans(MemoryReader({output_path(("dmesg",)): said}), array).kind is kind


def test_two_copies_against_two() -> None:
    copies = zip(("sda", "sdb", "sdc", "sdd"), "ABAB", strict=True)
    parts = tuple(
        MismatchPart(device=device, slot=slot, role=PartRole.COPY, first_sector=0, version=version)
        for slot, (device, version) in enumerate(copies)
    )
    found = Mismatch(verdict=MismatchVerdict.NOT_KNOWN, sectors=8, bytes_differ=9, parts=parts)
    words = "There is no way to know which copy is right. 2 versions: A: sda and sdc; B: sdb and sdd."
    assert verdict_text(found) == words
