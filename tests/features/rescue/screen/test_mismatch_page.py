"""Members compared: a picture of each state, and the way there and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidtui.features.rescue.mismatch.compared_array import ComparedArray
from raidtui.features.rescue.mismatch.comparison_job import ComparisonProgress, MismatchRun
from raidtui.features.rescue.mismatch.mismatch_records import (
    ContentKind,
    Contents,
    Mismatch,
    MismatchPart,
    MismatchResult,
    MismatchVerdict,
    PartRole,
    Uncompared,
)
from raidtui.features.rescue.screen.following_pages import MismatchScreen
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.model.array import Array
from raidtui.watch.reading_thread import ReadingThread
from tests.features.arrays.screen.test_key_to_job import closed, console
from tests.frame.staging import SMALL, WIDE, Paces, at, message_of, screen_text, staged, until, with_screen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid5, raid10

Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
NOW_S = 1_700_000_000.0
MEMBERS = tuple(f"sd{letter}2" for letter in "abcde")


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


class FakeRun(MismatchRun):
    """A comparison that ends when the test wants."""

    def __init__(self, title: str, made_s: float) -> None:
        ReadingThread.__init__(self, "fake")
        self.title = title
        self.members = MEMBERS
        self.made_s = made_s
        self.done = None
        self.asked = 0

    def start(self) -> None:
        """Nothing is read."""

    def cancel(self) -> None:
        """Nobody follows it any more."""
        self.error = self.error or "it was ended"

    def end(self) -> str:
        self.asked += 1
        return ""


def run_of(
    result: MismatchResult | None = None, error: str = "", done: ComparisonProgress | None = None
) -> MismatchRun:
    """A comparison in this state; nothing is read."""
    run = FakeRun("media", 0.0)
    run.result, run.error, run.done = result, error, done
    return run


# -- pictures


@SIZES
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("begins", {}),
        ("under-way", {"done": ComparisonProgress(done=1 << 40, total=3 << 40, left_s=30_000.0)}),
        ("looking-up", {"done": ComparisonProgress(done=3 << 40, total=3 << 40, left_s=0.0)}),
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


class Comparisons:
    """A live host on which nothing is compared: what was begun, and what is known from before."""

    def __init__(self) -> None:
        self.begun: list[FakeRun] = []
        self.known: FakeRun | None = None
        self.trouble = ""

    def known_comparison(self, array: Array) -> MismatchRun | None:
        return self.known if array.name == "md125" else None

    def new_comparison(self, root: HostReader, array: Array, compared: ComparedArray) -> MismatchRun:
        del root
        if self.trouble:
            raise JobError(self.trouble)
        assert (array.name, compared.name, compared.shape.level) == ("md125", "md125", 5)
        self.begun.append(FakeRun(array.title, 0.0))
        return self.begun[-1]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Comparisons:
    made = Comparisons()
    for name in ("known_comparison", "new_comparison"):
        monkeypatch.setattr(f"raidtui.features.rescue.screen.following_pages.{name}", getattr(made, name))
    monkeypatch.setattr(Kernel, "live", True)
    return made


async def test_from_the_key_to_what_was_found(host: Comparisons) -> None:
    async with console(raid5()) as pilot:
        await at(pilot, MismatchScreen, "m")
        [run] = host.begun
        run.done = ComparisonProgress(done=1, total=4)
        await until(pilot, lambda: " 25%" in screen_text(pilot))
        await pilot.press("n")  # not while it runs
        await pilot.press("x")
        assert run.asked == 1
        run.result = FOUND
        await until(pilot, lambda: "4 sectors do not match" in screen_text(pilot))
        assert await closed(pilot, "escape") == "nothing was changed"
        assert (run.asked, len(host.begun)) == (1, 1)


async def test_it_continues_when_its_page_is_left(host: Comparisons) -> None:
    async with console(raid5()) as pilot:
        await at(pilot, MismatchScreen, "m")
        assert await closed(pilot, "escape") == "media is being compared: m shows it"
        assert host.begun[0].asked == 0
        host.known = FakeRun("media", NOW_S)
        await at(pilot, MismatchScreen, "m")
        assert len(host.begun) == 1


async def test_what_was_found_before_is_shown_and_compared_anew(host: Comparisons) -> None:
    host.known = FakeRun("media", NOW_S)
    host.known.result = FOUND
    async with console(raid5()) as pilot:
        await at(pilot, MismatchScreen, "m")
        await until(pilot, lambda: "4 sectors do not match" in screen_text(pilot))
        assert "Compared 2023-11-14: n compares again." in screen_text(pilot)
        assert host.begun == []
        await pilot.press("n")
        await until(pilot, lambda: "are read and compared" in screen_text(pilot))
        assert len(host.begun) == 1


async def test_what_was_found_before_is_shown_though_it_cannot_be_compared_now(host: Comparisons) -> None:
    host.known = FakeRun("media", NOW_S)
    host.known.result = FOUND
    async with console(raid5(resync_start="0")) as pilot:
        await at(pilot, MismatchScreen, "m")
        await until(pilot, lambda: "4 sectors do not match" in screen_text(pilot))
        await pilot.press("n")
        await until(pilot, lambda: "has not been synced yet" in message_of(pilot))
        assert host.begun == []


async def test_an_array_that_cannot_be_compared_says_why(host: Comparisons) -> None:
    async with console(raid5(resync_start="0")) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: "has not been synced yet" in message_of(pilot))
        assert host.begun == []


async def test_a_job_that_cannot_be_kept_says_why(host: Comparisons) -> None:
    host.trouble = "a job cannot be created in /var/lib/raidtui/jobs: No space left on device"
    async with console(raid5()) as pilot:
        await pilot.press("m")
        await until(pilot, lambda: "No space left on device" in message_of(pilot))
