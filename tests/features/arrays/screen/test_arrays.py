"""Pictures of pane 1 in every state of arrays."""

from __future__ import annotations

import errno

import pytest
from msgspec.structs import replace

from raidtui.config import Config
from raidtui.features.arrays.screen.array_detail import remedy_words
from raidtui.features.arrays.screen.array_rows import ordered
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.absent import AbsentArray
from raidtui.monitor.health import judge
from raidtui.monitor.sampler import Sampler
from tests.frame.staging import (
    ALL_SIZES,
    WIDE,
    Paces,
    Shows,
    app_of,
    header_of,
    in_worker,
    lines_of,
    look,
    main_of,
    move,
    play,
    rows_of,
    running,
    screen_text,
    staged,
    until,
)
from tests.frame.states import ARRAYS, CHECK, REST, STATES, WIDE_STATES, resync_life
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, inactive, raid0, raid1, raid5, raid6, raid10
from tests.hosts.trees import Stage, host_tree


@pytest.mark.parametrize("state", STATES)
def test_state(shows: Shows, state: str) -> None:
    shows(staged(STATES[state].root()))


@pytest.mark.parametrize("state", WIDE_STATES)
def test_wide(shows: Shows, state: str) -> None:
    shows(staged(STATES[state].root()), size=WIDE)


@ALL_SIZES
def test_resync(shows: Shows, size: tuple[int, int]) -> None:
    kernel = Kernel(*ARRAYS["optimal"])

    async def live(pilot: Paces) -> None:
        await play(pilot, kernel, resync_life())

    shows(staged(kernel), size=size, prepare=live)


class Unreadable(Stage):
    """A host of which /proc/mdstat fails from some moment on."""

    broken = False

    def read(self, path: str, *, keep: bool = False) -> bytes:
        if self.broken and path == "/proc/mdstat":
            raise OSError(errno.EIO, "Input/output error", path)
        return super().read(path, keep=keep)


def test_stale(shows: Shows) -> None:
    stage = Unreadable(STATES["optimal"])

    async def lose_it(pilot: Paces) -> None:
        def lose() -> None:
            stage.broken = True
            stage.passed_s += 90

        await in_worker(pilot, lose)
        await look(pilot)

    shows(staged(stage), prepare=lose_it)


def test_unreadable_from_the_start(shows: Shows) -> None:
    stage = Unreadable(STATES["optimal"])
    stage.broken = True
    shows(staged(stage))


def test_root(shows: Shows) -> None:
    shows(staged(Kernel(*ARRAYS["check"])))


def test_capture(shows: Shows) -> None:
    shows(staged(host_tree(*REST).root(source="bug.tar.gz")))


# -- what to do about it


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((inactive(raid5(members=("sdg", "sdh"))),), "→ a shows how it can be started; never re-create it"),
        ((raid5(failed=("sdh",)),), "→ A adds a disk"),
        (
            (raid5(failed=("sdh",), spares=("sdx",)),),
            "→ a spare is present; its recovery has not started yet",
        ),
        (
            (raid1(failed=("sdz",), numbers={"sdz": 5}),),
            "→ M removes it from the array; then replace the disk",
        ),
        ((raid10(frozen=True),), "→ p resumes it"),
    ],
)
async def test_a_remedy_names_the_key_that_does_it(arrays: tuple[ArraySpec, ...], words: str) -> None:
    async with running(Kernel(*arrays)) as pilot:
        head = " ".join(lines_of(pilot, "#array-head").split())
        assert words in head
        assert "mdadm" not in head


def test_no_key_is_named_where_it_is_not_the_remedy() -> None:
    text = "Personalities : [raid1]\n"
    text += "md0 : broken raid1 sda1[0]\n      1024 blocks [2/1] [U_]\n\n"
    text += "md1 : active raid1 sda2[0](E)\n      1024 blocks [2/1] [U_]\n\n"
    text += "md2 : active raid1 sda3[0] sdb3[1](F)\n"
    snapshot = Sampler(MemoryReader({"/proc/mdstat": text})).sample()
    arrays = {array.key: array for array in snapshot.arrays}
    findings = [each for each in judge(snapshot) if each.code in {"degraded", "member-faulty"}]
    assert len(findings) == 3
    for each in findings:
        assert remedy_words(each, arrays[each.subject], {}) == each.remedy


async def test_a_remedy_names_the_users_own_key() -> None:
    config = Config(keys={"arrays.add": "f7"})
    async with running(Kernel(raid5(failed=("sdh",))), config=config) as pilot:
        assert "→ F7 adds a disk" in lines_of(pilot, "#array-head")


@pytest.mark.parametrize("size", [(60, 15), (80, 24), WIDE], ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("state", [name for name in STATES if name not in {"no-arrays", "no-md", "many"}])
async def test_what_is_wrong_and_its_remedy_are_in_view(state: str, size: tuple[int, int]) -> None:
    """Above the sync and the sliders, for each array of each state."""
    async with running(STATES[state].root(), size=size) as pilot:
        pane = main_of(pilot).arrays
        report = pane.report
        assert report is not None
        for array in ordered(report):
            pane.choose(array.key)
            await pilot.pause()
            worst = max(report.of(array), key=lambda each: each.severity, default=None)
            if worst is None or worst.code in {"pending", "delayed"}:
                continue
            remedy = worst.remedy if isinstance(array, AbsentArray) else remedy_words(worst, array, {})
            head = pane.head.region
            assert head.bottom <= pilot.app.screen.size.height - 2
            shown = " ".join(screen_text(pilot.app).split())
            for word in f"{worst.sentence} {remedy}".split():
                assert word in shown
            assert worst.sentence in " ".join(pane.head.text.split())


async def test_the_sliders_stay_where_they_are_when_a_member_fails_and_when_a_sync_begins() -> None:
    kernel = Kernel(raid5(), raid1())
    async with running(kernel) as pilot:
        await pilot.press("down")
        pane = main_of(pilot).arrays
        assert pane.array is not None
        assert pane.array.title == "root"
        before = [slider.region for slider in pane.limits.both]
        await move(pilot, lambda: kernel.change(raid5(), raid1(failed=("sdf",))))
        assert "is degraded" in pane.head.text
        assert [slider.region for slider in pane.limits.both] == before
        await move(pilot, lambda: kernel.change(raid5(), raid1(sync=CHECK)))
        assert "check" in pane.head.text
        assert [slider.region for slider in pane.limits.both] == before


async def test_a_window_that_gets_narrow_shows_whole_rows() -> None:
    async with running(Kernel(*ARRAYS["check"]), size=WIDE) as pilot:
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "203 MB/s   25 min" in screen_text(pilot.app).split("\n")[2])
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: "── arrays ──" in screen_text(pilot.app).split("\n")[2])


async def test_what_may_be_lost_comes_first_and_a_check_is_no_trouble() -> None:
    kernel = Kernel(
        raid1("md1", "calm", members=("sda1", "sdb1")),
        raid1("md2", "checked", members=("sda2", "sdb2"), sync=CHECK),
        raid1("md3", "synced", members=("sda3", "sdb3"), sync=replace(CHECK, action="resync")),
        raid6("md4", "less"  , failed=("sdk",)),
        raid10("md5", "frozen", members=("sda5", "sdb5", "sdc5", "sdd5"), frozen=True),
        raid5("md6", "bare", members=("sdm", "sdn", "sdo"), failed=("sdn",)),
        raid5("md7", "lost", members=("sdp", None, None)),
    )  # fmt: skip
    async with running(kernel, size=WIDE) as pilot:
        listed = [row.split()[1] for row in rows_of(pilot)]
        assert listed == ["lost", "bare", "less", "frozen", "synced", "checked", "calm"]
        assert "● 1 check" in header_of(pilot)


async def test_what_a_reshape_comes_to() -> None:
    async with running(Kernel(*ARRAYS["reshape"])) as pilot:
        words = "reshape: 3 → 4 devices; 420 GiB → 630 GiB when it ends"
        assert words in lines_of(pilot, "#array-body")


async def test_a_raid0_that_gets_a_device_has_no_redundancy() -> None:
    async with running(Kernel(*ARRAYS["reshape-of-a-raid0"])) as pilot:
        body = lines_of(pilot, "#array-body")
        assert "no redundancy: one failure loses the array" in body
        assert "missing" not in body


def shown_of(pilot: Paces) -> str:
    """The words on the screen."""
    return " ".join(screen_text(pilot).split())


async def test_the_next_check_once_it_was_read() -> None:
    """It takes tools that may hang, so it comes later than the arrays; it is shown of redundant ones."""
    tree = host_tree(raid1("md1", "root"), raid0("md2", "fast"))
    tree.files["/proc/1/comm"], tree.files["/proc/1/cmdline"] = "init\n", "/sbin/init\0"
    words = "next check: none: neither cron nor a timer has arrays checked"
    async with running(tree) as pilot:
        assert "next check" not in shown_of(pilot)
        await app_of(pilot).session.loop.read_schedule()
        await until(pilot, lambda: words in shown_of(pilot))
        await pilot.press("down")
        assert "next check" not in shown_of(pilot)


async def test_the_last_check_is_told_where_a_sync_takes_its_line() -> None:
    tree = host_tree(raid1("md1", "root", sync=replace(CHECK, action="resync")))
    tree.files["/proc/1/comm"], tree.files["/proc/1/cmdline"] = "init\n", "/sbin/init\0"
    async with running(tree) as pilot:
        await app_of(pilot).session.loop.read_schedule()
        words = "last check: not known; next check: none"
        await until(pilot, lambda: words in shown_of(pilot))
