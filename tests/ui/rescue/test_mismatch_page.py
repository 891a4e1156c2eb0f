"""Members compared: a picture of each state, and the way there and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidtui.host.roots.root import Root
from raidtui.rescue.mismatch.compared_array import ComparedArray, ComparedMember
from raidtui.rescue.mismatch.mismatch_records import (
    ContentKind,
    Contents,
    Mismatch,
    MismatchPart,
    MismatchResult,
    MismatchVerdict,
    PartRole,
    Uncompared,
)
from raidtui.rescue.search.mapping import StripeShape
from raidtui.session.mismatch_lookup import MismatchRun
from raidtui.ui.rescue.mismatch_screen import MismatchScreen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid5, raid10
from tests.ui.arrays.test_key_to_job import closed, console
from tests.ui.staging import SMALL, WIDE, Paces, at, message_of, screen_text, staged, until, with_screen

Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
ARRAY = ComparedArray(
    name="md127",
    shape=StripeShape(level=6, layout="left-symmetric", slots=5, chunk_bytes=512 << 10),
    component_bytes=1 << 40,
    members=tuple(
        ComparedMember(device=f"sd{letter}2", slot=slot, offset_sectors=264_192)
        for slot, letter in enumerate("abcde")
    ),
)


def parts(wrong: int | None, *, known: bool = True) -> tuple[MismatchPart, ...]:
    """A row of five members; P is in slot 3, Q in slot 4."""
    roles = [PartRole.DATA, PartRole.DATA, PartRole.DATA, PartRole.P, PartRole.Q]
    return tuple(
        MismatchPart(
            device=f"sd{letter}2",
            slot=slot,
            role=roles[slot],
            first_sector=268_805,
            array_sector=13_829 + 1024 * slot if slot < 3 else None,
            agrees=slot != wrong if known else None,
        )
        for slot, letter in enumerate("abcde")
    )


def lies(slot: int, kind: ContentKind, text: str, **more: object) -> Contents:
    """What lies in the chunk of a slot, on a volume."""
    given: dict[str, object] = {
        "device": "dm-0",
        "volumes": ("partition md127p1", "volume vg0/data"),
        "file_system": "ext4",
        "mounted": "/srv",
        **more,
    }
    return Contents(array_sector=13_829 + 1024 * slot, sectors=2, kind=kind, text=text, **given)  # type: ignore[arg-type]


FOUND = MismatchResult(
    stretches=(
        Mismatch(
            verdict=MismatchVerdict.BY_P_AND_Q,
            sectors=2,
            bytes_differ=1019,
            parts=parts(1),
            contents=(
                lies(
                    1,
                    ContentKind.FILE,
                    "/photos/2024/a [bold]name.jpg",
                    paths=("/photos/2024/a [bold]name.jpg",),
                    inode=12_345,
                ),
            ),
        ),
        Mismatch(
            verdict=MismatchVerdict.NOT_KNOWN,
            sectors=2,
            bytes_differ=900,
            parts=parts(None, known=False),
            contents=(
                lies(0, ContentKind.FREE, "free space of the file system"),
                lies(1, ContentKind.METADATA, "the journal"),
                lies(2, ContentKind.FREE, "free space of the file system"),
            ),
        ),
    ),
    sectors=4,
    settled=1,
    uncompared=(Uncompared(device="sdc2", first_sector=9_999, sectors=2048, why="it cannot be read"),),
    uncompared_bytes=0,
    compared_bytes=3 << 40,
    total_bytes=3 << 40,
    seconds=9_000.0,
)
CLEAN = MismatchResult(
    stretches=(),
    sectors=0,
    settled=0,
    uncompared=(),
    uncompared_bytes=0,
    compared_bytes=3 << 40,
    total_bytes=3 << 40,
)


def run_of(
    result: MismatchResult | None = None, error: str = "", done: tuple[int, int] | None = None
) -> MismatchRun:
    """A comparison in this state; nothing is read."""
    run = MismatchRun(Kernel(raid10()), ARRAY, None)
    run.result, run.error, run.done = result, error, done
    return run


# -- pictures


@SIZES
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("begins", {}),
        ("under-way", {"done": (1 << 40, 3 << 40)}),
        ("looking-up", {"done": (3 << 40, 3 << 40)}),
        ("found", {"result": FOUND}),
        ("clean", {"result": CLEAN}),
        ("unread", {"error": "/dev/sda2 cannot be read: Input/output error"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mismatches(shows: Shows, name: str, made: dict[str, object], size: tuple[int, int]) -> None:
    del name
    make = with_screen(lambda: MismatchScreen(run_of(**made), "media"))  # type: ignore[arg-type]
    shows(staged(Kernel(raid10())), size=size, prepare=make)


def test_the_end_of_what_was_found(shows: Shows) -> None:
    async def prepare(pilot: Paces) -> None:
        await with_screen(lambda: MismatchScreen(run_of(FOUND), "media"))(pilot)
        await pilot.press("pagedown")
        await pilot.pause()

    shows(staged(Kernel(raid10())), size=SMALL, prepare=prepare)


# -- keys


class FakeRun(MismatchRun):
    """A comparison that ends when the test wants."""

    begun: list[FakeRun]

    def __init__(self, root: Root, array: ComparedArray, limit_kib_s: int | None) -> None:
        super().__init__(root, array, limit_kib_s)
        self.limit_kib_s = limit_kib_s
        self.cancelled = False
        FakeRun.begun.append(self)

    def start(self) -> None:
        """Nothing is read."""

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[FakeRun]:
    """A live host on which nothing is compared."""
    FakeRun.begun = []
    monkeypatch.setattr("raidtui.ui.rescue.mismatch_screen.MismatchRun", FakeRun)
    monkeypatch.setattr(Kernel, "live", True)
    return FakeRun.begun


async def test_from_the_key_to_what_was_found(runs: list[FakeRun]) -> None:
    async with console(raid5()) as pilot:
        await at(pilot, MismatchScreen, "m")
        [run] = runs
        assert (run.array.name, run.array.shape.level) == ("md125", 5)
        assert run.limit_kib_s == 200_000
        run.done = (1, 4)
        await until(pilot, lambda: " 25%" in screen_text(pilot))
        await pilot.press("x")
        assert run.cancelled
        run.result = FOUND
        await until(pilot, lambda: "4 sectors do not match" in screen_text(pilot))
        assert await closed(pilot, "escape") == "nothing was changed"


async def test_escape_ends_it(runs: list[FakeRun]) -> None:
    async with console(raid5()) as pilot:
        await at(pilot, MismatchScreen, "m")
        await closed(pilot, "escape")
        assert runs[0].cancelled


async def test_an_array_that_cannot_be_compared_says_why(runs: list[FakeRun]) -> None:
    async with console(raid5(resync_start="0")) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: "has not been synced yet" in message_of(pilot))
        assert runs == []
