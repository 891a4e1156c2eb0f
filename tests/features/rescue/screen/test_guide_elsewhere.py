"""The guide on real wrecks that were captured, without root, on the demo host; and what pane 1 offers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidtui.demo.demo_host import demo_root
from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import RescueArray
from raidtui.features.rescue.screen.guide_lines import member_lines, note_of, title_of, way_panel
from raidtui.features.rescue.screen.guide_rows import guide_rows
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.features.rescue.session import read_facts
from raidtui.frame.choose import Choice
from raidtui.frame.pages import WhyScreen
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.view.line import Line
from tests.features.arrays.screen.test_key_to_job import closed
from tests.frame.staging import SIZES, Paces, at, message_of, move, running, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.hosts.wrecks import WRECKED, wrecked

Shows = Callable[..., None]
SHOWN = (
    "r5-cable-two", "r5-zero-all", "r5-zero-two", "r1-split-brain", "r5-journal-lost",
    "r5-partition-lost-on-one",
    "r5-recreated", "r10-pair-lost-for-good", "r1-clone", "ddf", "r0-bad-sectors",
)  # fmt: skip
RULE = 'SUBSYSTEM=="block", KERNEL=="md127|md127p[0-9]*", ENV{SYSTEMD_READY}="0"\n'


async def first_array(pilot: Paces) -> None:
    """Open the guide of the array that is chosen, or of the first one that it finds."""
    await at(pilot, (Choice, GuideScreen), "a")
    if isinstance(pilot.app.screen, Choice):
        await at(pilot, GuideScreen, "enter")
    await until(pilot, lambda: "Ways back" in screen_text(pilot))


@SIZES
@pytest.mark.parametrize("wreck", SHOWN)
def test_a_captured_wreck(shows: Shows, wreck: str, size: tuple[int, int]) -> None:
    shows(staged(wrecked(wreck, taken_s=1_763_000_000.0)), size=size, prepare=first_array)


@pytest.mark.parametrize("wreck", sorted(path.stem for path in WRECKED.glob("*.json")))
def test_nothing_that_matters_is_cut(wreck: str) -> None:
    """At 80x24: what a way does stands beside it as a whole, and what a member lacks in its row."""
    facts = read_facts(wrecked(wreck))
    assert facts is not None
    for array in diagnose(facts):
        assert "…" not in text_of(member_lines(array, (), 77)).replace("  …", "   ")  # but for serial numbers
        rows = guide_rows(array, facts.survey)
        assert len({row.key for row in rows}) == len(rows)  # the cursor stays on its row by these
        for number, row in enumerate(rows):
            panel = way_panel(rows, number, 78, 24)
            left = text_of(panel[:1]).index("│") + 1
            beside = [text[left:].strip() for text in text_of(panel).splitlines()]
            wanted = text_of(note_of(row, 78 - left - 1)).splitlines()
            assert beside[: len(wanted)] == [text.strip() for text in wanted], row.words
            assert f"▸ {row.words} " in text_of(panel)
            assert len(panel) <= 24 - 5 - 4


@pytest.mark.parametrize(
    ("uuid", "name", "title"),
    [("aaaaaaaa:bbbb", "nas:data", "data"), ("aaaaaaaa:bbbb", "", "aaaaaaaa"), (None, "old", "old")],
)
def test_what_an_array_is_called(uuid: str | None, name: str, title: str) -> None:
    assert title_of(RescueArray(uuid=uuid, name=name, level="raid5", members=(), raid_disks=3)) == title


def text_of(lines: list[Line]) -> str:
    """The text of lines."""
    return "\n".join("".join(text for text, _ in line) for line in lines)


async def test_in_a_capture_nothing_can_be_tried() -> None:
    async with running(wrecked("r5-cable-two")) as pilot:
        await first_array(pilot)
        await pilot.press("down")
        await until(pilot, lambda: "This is a capture: it is done on the" in screen_text(pilot))
        assert "Enter" not in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, GuideScreen)
        assert await closed(pilot, "escape") == "nothing was changed"


def test_without_root(shows: Shows, monkeypatch: pytest.MonkeyPatch) -> None:
    async def choose(pilot: Paces) -> None:
        await at(pilot, WhyScreen, "a")

    kernel = Kernel(raid10(), writable=False)
    monkeypatch.setattr(kernel, "live", True)
    shows(staged(kernel), prepare=choose)


async def test_a_console_that_only_looks_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root need not be told to be root."""
    kernel = Kernel(raid10(), writable=False)
    monkeypatch.setattr(kernel, "live", True)
    monkeypatch.setattr(kernel, "readonly", True)
    async with running(kernel) as pilot:
        await at(pilot, WhyScreen, "a")
        await until(pilot, lambda: "A read-only console (--readonly)" in screen_text(pilot))
        assert "root" not in screen_text(pilot)
        assert await closed(pilot, "escape") == "read-only: started with --readonly"


async def test_the_demo_says_that_it_is_simulated() -> None:
    async with running(demo_root()) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "simulated" in message_of(pilot))


# -- pane 1


TRIAL = {"/run/raidtui-rescue-a1b2c3/1": "", "/run/udev/rules.d/01-raidtui-rescue-a1b2c3.rules": RULE}


def host_with_a_trial() -> Kernel:
    """A host whose array is that of a trial."""
    kernel = Kernel(raid10(members=("sda", None, "sdc", "sdd")))
    for path, text in TRIAL.items():
        kernel.put(path, text)
    return kernel


@SIZES
def test_a_trial_without_an_array(shows: Shows, size: tuple[int, int]) -> None:
    files = {"/proc/mdstat": "Personalities : [raid6] [raid5] [raid4]\nunused devices: <none>\n"}
    shows(staged(MemoryReader(files | TRIAL, source="nas", still=True, taken_s=1_763_000_000.0)), size=size)


@SIZES
def test_an_array_of_a_trial(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(host_with_a_trial()), size=size)


async def test_the_end_of_a_trial_is_seen_without_an_event() -> None:
    kernel = host_with_a_trial()
    async with running(kernel) as pilot:
        assert "A rescue trial is in progress" in message_of(pilot)
        await move(pilot, lambda: kernel.drop("/run/raidtui-rescue-a1b2c3"))
        assert "A rescue trial is in progress" not in message_of(pilot)


async def test_an_array_of_a_trial_is_left_alone() -> None:
    async with running(host_with_a_trial()) as pilot:
        await pilot.press("c")
        await until(pilot, lambda: message_of(pilot) == "md127 is a rescue trial; a shows it")
        await pilot.press("T")
        await until(pilot, lambda: message_of(pilot) == "md127 is a rescue trial; a shows it")
