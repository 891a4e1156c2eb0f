"""Pane 6: pictures of several boots, and what its keys do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.history.screen.log_pane import LogPane
from raidtui.features.history.session import TimelineSession
from raidtui.frame.export_form import ExportForm
from raidtui.host.tool_pieces import PiecesError
from raidtui.model.answer import AnswerKind
from tests.demo.scene import Scene
from tests.frame.staging import (
    ALL_SIZES,
    SIZES,
    Paces,
    Prepares,
    Shows,
    app_of,
    at,
    main_of,
    message_of,
    running,
    screen_text,
    staged,
    until,
)
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

FAILED = "sdd2 failed: md no longer uses it"


async def opened(pilot: Paces) -> LogPane:
    """Open the pane, and wait until the logs are read."""
    await pilot.press("6")
    await until(pilot, lambda: "log" in main_of(pilot).panes, "the pane")
    pane = main_of(pilot).panes["log"]
    assert isinstance(pane, LogPane)
    await until(pilot, lambda: pane.history is not None, "the logs are read")
    await until(pilot, lambda: laid_out(pilot, pane), "its scroll bar is there, if it needs one")
    await pilot.pause()
    return pane


def laid_out(pilot: Paces, pane: LogPane) -> bool:
    """Whether the rows are drawn with the scroll bar that so many of them need."""
    rows, drawn = pane.rows, main_of(pilot)._compositor.visible_widgets
    if not rows.size.height or rows not in drawn:
        return False
    return (rows.vertical_scrollbar in drawn) == (len(rows.lines) > rows.size.height)


def pressing(*keys: str) -> Prepares:
    """Open the pane and press keys."""

    async def prepare(pilot: Paces) -> None:
        await opened(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return prepare


async def press(pilot: Paces, *keys: str) -> None:
    """Press keys, and wait until they have been handled."""
    await pilot.press(*keys)
    await pilot.pause()


def rows(pane: LogPane) -> list[str]:
    return ["".join(text for text, _ in line).strip() for line in pane.rows.lines]


class Slow(Kernel):
    """A host whose journalctl prints a line, and then waits; or hangs."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__(raid10())
        self.goes_on = threading.Event()
        self.begun = threading.Event()
        self._hangs = hangs

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        at_us = int(self.now_s() - 86_400) * 1_000_000
        fields = {
            "__REALTIME_TIMESTAMP": str(at_us),
            "__MONOTONIC_TIMESTAMP": "900000000",
            "_BOOT_ID": "a" * 32,
            "_TRANSPORT": "kernel",
            "SYSLOG_IDENTIFIER": "kernel",
            "MESSAGE": "md: md127: resync done.",
        }
        yield json.dumps(fields).encode() + b"\n"
        self.begun.set()
        if self._hangs:
            raise PiecesError(
                f"{argv[0]} printed nothing for {stall_s:.0f} s and was ended", kind=AnswerKind.TIMED_OUT
            )
        while not (self.goes_on.wait(0.01) or ended()):
            pass


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read hosts in memory in a thread of their own, as the live one."""

    async def read(self: TimelineSession, run: Any, snapshot: Any) -> Any:
        from raidtui.features.history.session import read_history  # noqa: PLC0415

        return await self._thread.run(lambda: read_history(self._loop.reader, run, snapshot=snapshot))

    monkeypatch.setattr(TimelineSession, "read", read)


# -- pictures


@SIZES
def test_several_boots(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing("home", "down", "down"))


@ALL_SIZES
def test_newest(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing())


@SIZES
def test_filtered(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Scene().reader), size=size, prepare=pressing("slash", *"sdd", "enter", "home"))


def test_only_troubles_as_written(shows: Shows) -> None:
    shows(staged(Scene().reader), prepare=pressing("t", "w", "home"))


@SIZES
def test_nothing_readable(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(raid10())), size=size, prepare=pressing())


@SIZES
def test_reading(shows: Shows, size: tuple[int, int], apart: None) -> None:
    host = Slow()

    async def prepare(pilot: Paces) -> None:
        await pilot.press("6")
        await until(pilot, lambda: "reading: 1 line, back to" in screen_text(pilot), "the progress")

    try:
        shows(staged(host), size=size, prepare=prepare)
    finally:
        host.goes_on.set()


def test_a_journal_that_hangs(shows: Shows) -> None:
    shows(staged(Slow(hangs=True)), prepare=pressing())


@SIZES
def test_export(shows: Shows, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raidtui.frame.export_form.new_path",
        lambda _stem, kind, _at_s: Path(f"/home/ann/raidtui-history-20261120-2125.{kind}"),
    )

    async def prepare(pilot: Paces) -> None:
        pane = await opened(pilot)
        await press(pilot, "t")  # few rows: a scroll bar is now and then not drawn beneath a dialog
        await until(pilot, lambda: laid_out(pilot, pane), "the rows")
        await at(pilot, ExportForm, "e")
        await pilot.pause()

    shows(staged(Scene().reader), size=size, prepare=prepare)


# -- what it does


async def test_nothing_is_read_before_it_is_opened() -> None:
    host = Slow()
    host.goes_on.set()
    async with running(host) as pilot:
        await press(pilot, "3", "7", "1")
        assert not host.begun.is_set()
        assert "timeline" not in app_of(pilot).session.__dict__
        await opened(pilot)
        assert host.begun.is_set()


async def test_reading_blocks_nothing_and_can_be_ended(apart: None) -> None:
    host = Slow()
    async with running(host) as pilot:
        await pilot.press("6")
        await until(pilot, host.begun.is_set, "the reading has begun")
        pane = main_of(pilot).panes["log"]
        assert isinstance(pane, LogPane)
        await until(pilot, lambda: "optimal" in rows(pane)[-1], "the rows")  # what this console sees is there
        await press(pilot, "1", "c", "6")
        assert pane.run is not None
        await press(pilot, "e")
        await until(pilot, lambda: message_of(pilot) == "the logs are still being read", "why not")
        await press(pilot, "x")
        await until(pilot, lambda: pane.history is not None, "it has ended")
        assert "resync done" in rows(pane)[0]
        assert "reading was stopped: older lines are not shown" in pane.body.text
        assert pane.run is None


async def test_what_this_console_sees_is_merged_by_time() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        shown = rows(pane)
        places = [
            next(n for n, row in enumerate(shown) if text in row)
            for text in (FAILED, "not in step", "optimal")
        ]
        assert places == sorted(places)
        stamps = [row.at_s for row in pane._shown]
        assert stamps == sorted(stamps)


async def test_the_filter_finds_what_is_in_the_lines() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        await press(pilot, "slash", *"unrecovdata")
        assert [FAILED in row for row in rows(pane)] == [True]
        await press(pilot, *"zz")
        assert rows(pane) == ["No event contains this text."]
        await press(pilot, "escape")
        assert len(rows(pane)) > 10


async def test_only_troubles() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        everything = len(rows(pane))
        await press(pilot, "t")
        assert 0 < len(rows(pane)) < everything
        assert all(row.weight.word != "note" for row in pane._shown)
        await press(pilot, "t")
        assert len(rows(pane)) == everything


async def test_the_words_of_the_kernel() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        await press(pilot, "home", "down", "down")
        assert "the link reports UnrecovData" in pane.body.text
        await press(pilot, "w")
        assert "ata4: SError: { UnrecovData Handshk }" in pane.body.text
        assert "the link reports UnrecovData" not in pane.body.text


async def test_enter_shows_the_array() -> None:
    async with running(Scene().reader) as pilot:
        await opened(pilot)
        await press(pilot, "home", "down", "down", "enter")
        await until(pilot, lambda: main_of(pilot).pane == "arrays", "pane 1")
        array = main_of(pilot).arrays.array
        assert array is not None
        assert array.title == "data"


async def test_enter_shows_the_disk() -> None:
    async with running(Scene().reader) as pilot:
        pane = await opened(pilot)
        await press(pilot, "slash", *"outdated", "enter")
        await until(pilot, lambda: "outdated" in rows(pane)[0], "the row")
        await press(pilot, "enter")
        await until(pilot, lambda: main_of(pilot).pane == "wear", "pane 3")
        await until(pilot, lambda: main_of(pilot).in_view.device == "sdd", "the disk")


async def test_what_is_not_here_now_is_said() -> None:
    """An array of an earlier boot that no serial number identifies."""
    async with running(Scene().reader) as pilot:
        await opened(pilot)
        await press(pilot, "home", "down", "enter")
        assert main_of(pilot).pane == "log"
        await until(pilot, lambda: message_of(pilot), "why not")
        assert message_of(pilot) == "this is not about an array or a disk known to be here now"


async def test_an_export_has_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(Scene().reader) as pilot:
        await opened(pilot)
        await press(pilot, "slash", *"unrecovdata", "enter")
        for keys in ((), ("down",), ("down", "down")):
            await at(pilot, ExportForm, "e")
            await press(pilot, *keys, "enter")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1, "it is written")
        written = {path.suffix: path.read_text() for path in sorted(tmp_path.iterdir())}  # noqa: ASYNC240
        assert list(written) == [".html", ".json", ".txt"]
        assert all(FAILED in text for text in written.values())
        assert len(json.loads(written[".json"])["incidents"]) == 1
        await at(pilot, ExportForm, "e")
        await press(pilot, "escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was exported", "the sentence")


async def test_reading_again() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        pane = await opened(pilot)
        before = pane.history
        await press(pilot, "home", "down", "down", "r")
        await until(pilot, lambda: pane.history is not before, "it was read again")
        await pilot.pause()
        assert pane.row is not None
        assert FAILED in rows(pane)[2]
        assert pane.body.text.strip().startswith(f"data: {FAILED}")


async def test_hostile_text_is_no_markup() -> None:
    class Hostile(Slow):
        def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
            for piece in super().pieces(*argv, stall_s=stall_s, ended=ended):
                yield piece.replace(b"md127", b"md\\u001b[2J[red]x[/]")

    host = Hostile()
    host.goes_on.set()
    async with running(host) as pilot:
        pane = await opened(pilot)
        assert r"md\x1b[2J" in pane.rows.text
        await press(pilot, "home")
        assert r"md\x1b[2J[red]x[/]" in pane.body.text
        assert "\x1b" not in pane.rows.text + pane.body.text
