"""Forms are there at once: the host is read meanwhile, apart from the watching, and no key goes astray."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.frame.surveying import Waiting
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput
from tests.frame.staging import (
    Paces,
    app_of,
    at,
    header_of,
    in_worker,
    look,
    main_of,
    message_of,
    running,
    screen_text,
    until,
)
from tests.frame.test_typed_ahead import burst
from tests.hosts.blkid import blkid_output
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1, raid10

FREE: dict[str, dict[str, str]] = {"sdx": {}, "sdy": {}, "sdz": {}}
ENDS_S = 60


class Slow(Kernel):
    """A host on which mdadm examines no device before the test lets it.

    Args:
        *arrays: what is there.
        hangs: devices that do not answer before ``answers`` is set; None: all of them.
        **more: as for ``Kernel``.
    """

    def __init__(self, *arrays: Any, hangs: set[str] | None = None, **more: Any) -> None:
        super().__init__(*arrays, **{"disks": FREE, **more})
        self.hangs = hangs
        self.answers = threading.Event()
        self.examined: list[str] = []
        self.threads: set[str] = set()

    def thread_safe_copy(self) -> HostReader:
        return Apart(self)


class Apart(MemoryReader):
    """What other threads read of a slow host: it is always the host of the moment."""

    def __init__(self, host: Slow) -> None:
        super().__init__({})
        self._host = host

    def read(self, path: str, *, keep: bool = False) -> bytes:
        self._host.threads.add(threading.current_thread().name)
        return self._host.read(path, keep=keep)

    def names(self, path: str) -> tuple[str, ...]:
        return self._host.names(path)

    def link(self, path: str) -> str | None:
        return self._host.link(path)

    def now_s(self) -> float:
        return self._host.now_s()

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        if argv == ("mdadm", "--version"):
            return ToolOutput(argv=argv, status=0, stdout="", stderr="mdadm - v4.2 - 2021-12-30")
        if (output := blkid_output(self._host, argv)) is not None:
            return output
        name = argv[-1].removeprefix("/dev/")
        if argv[:2] == ("mdadm", "--examine"):
            self._host.examined.append(name)
            if self._host.hangs is None or name in self._host.hangs:
                assert self._host.answers.wait(ENDS_S)
        return ToolOutput(argv=argv, status=1, stdout="", stderr="")


@contextmanager
def slow(*arrays: Any, **more: Any) -> Iterator[Slow]:
    """A slow host, whose tools have all answered at the end."""
    host = Slow(*(arrays or (raid10(),)), **more)
    try:
        yield host
    finally:
        host.answers.set()


@pytest.mark.parametrize(
    ("key", "screen"), [("A", Choice), ("R", Choice), ("b", WizardScreen), ("a", Choice), ("Z", Choice)]
)
async def test_the_form_is_there_before_the_devices_are_read(key: str, screen: type[Any]) -> None:
    with slow() as host:
        async with running(host) as pilot:
            await at(pilot, screen, key)
            if key == "R":
                await until(pilot, lambda: "sda" in screen_text(pilot))
                await pilot.press("enter")
                await until(pilot, lambda: "Replace sda with which device?" in screen_text(pilot))
            count = 8 if key == "b" else 7  # the array could join a volume group
            await until(pilot, lambda: f"0 of {count} devices read …" in screen_text(pilot))
            host.answers.set()
            await until(pilot, lambda: "devices read …" not in screen_text(pilot))
            await pilot.press("escape")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def test_the_host_is_watched_meanwhile() -> None:
    """The thread that samples reads no device: it has a new report while a device does not answer."""
    with slow() as host:
        async with running(host) as pilot:
            await at(pilot, Choice, "A")
            await until(pilot, lambda: host.examined, "a device is being read")
            host.change(raid10(members=("sda", "sdb", "sdc", None)))
            await look(pilot)
            report = app_of(pilot).report
            assert report is not None
            assert report.snapshot.arrays[0].degraded == 1
            assert report.snapshot.stale is None
            assert "stale" not in header_of(pilot)
            assert host.threads == {"raidtui-read"}
            assert await in_worker(pilot, threading.current_thread) not in host.threads


@pytest.mark.parametrize("key", ["A", "b", "a", "Z"])
async def test_escape_ends_the_reading(key: str) -> None:
    """What is cancelled never opens a form later, and reads no device more."""
    with slow(disks={f"sd{letter}{number}": {} for letter in "wxyz" for number in range(1, 9)}) as host:
        async with running(host) as pilot:
            await pilot.press(key)
            await until(pilot, lambda: len(pilot.app.screen_stack) == 2)
            await until(pilot, lambda: host.examined)
            await pilot.press("escape")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
            begun = len(host.examined)
            host.answers.set()
            await until(pilot, lambda: threads() == 0, "the threads end")
            assert len(host.examined) <= begun + 8
            await pilot.pause()
            assert len(pilot.app.screen_stack) == 1
            assert message_of(pilot) in {"nothing was changed", "nothing was built"}


def is_filled(pilot: Paces) -> bool:
    """Whether nothing is read any more for the form in view."""
    text = screen_text(pilot)
    return "read …" not in text and "reading" not in text


def threads() -> int:
    """How many threads read devices."""
    return sum(each.name == "raidtui-read" for each in threading.enumerate())


async def test_a_name_typed_ahead_comes_into_the_field() -> None:
    """Its letters are verbs, its digits panes."""
    with slow() as host:
        async with running(host) as pilot:
            burst(pilot, "N", *"FRT6q")
            await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
            ask = pilot.app.screen
            await until(pilot, lambda: ask.line.text == "FRT6q")
            assert main_of(pilot).pane == "arrays"
            assert len(pilot.app.screen_stack) == 2
            assert host.examined == []


async def test_what_is_typed_before_a_plan_is_seen_confirms_nothing() -> None:
    with slow() as host:
        async with running(host) as pilot:
            burst(pilot, "T", "y", "6", "F", "y")
            await until(pilot, lambda: isinstance(pilot.app.screen, PlanView))
            await pilot.pause()
            assert isinstance(pilot.app.screen, PlanView)
            assert main_of(pilot).pane == "arrays"
            await pilot.press("escape")
            await until(pilot, lambda: message_of(pilot) == "nothing was changed")
            assert not any(isinstance(each, JobView) for each in pilot.app.screen_stack)
            assert host.writes == []


async def test_keys_are_done_in_their_order() -> None:
    """The array is chosen before the verb that is typed behind the arrow."""
    with slow(raid1("md127"), raid10("md126")) as host:
        async with running(host) as pilot:
            titles = [array.title for array in main_of(pilot).arrays._listed]
            burst(pilot, "down", "N", *"new")
            await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
            await until(pilot, lambda: pilot.app.screen.line.text == "new")
            assert f"A new name for {titles[1]}" in screen_text(pilot)


async def test_where_no_form_comes_what_was_typed_goes_nowhere() -> None:
    with slow(writable=False) as host:
        async with running(host) as pilot:
            burst(pilot, "6", "1", "N", *"36q")
            await until(pilot, lambda: message_of(pilot).startswith("needs root"))
            await pilot.pause()
            assert main_of(pilot).pane == "arrays"
            assert pilot.app.is_running
            await pilot.press("6")
            assert main_of(pilot).pane == "log"


@pytest.mark.parametrize(
    ("keys", "screen", "examined"),
    [
        (("T",), PlanView, set()),
        (("N", *"new", "enter"), PlanView, set()),
        (("F",), Choice, set()),
        (("i",), Choice, set()),
        (("A",), Choice, {"sda", "sdb", "sdc", "sdd", "sdx", "sdy", "sdz"}),
    ],
    ids=["stop", "rename", "fail", "locate", "add"],
)
async def test_only_what_a_verb_concerns_is_read(
    keys: tuple[str, ...], screen: type[Any], examined: set[str]
) -> None:
    with slow() as host:
        host.answers.set()
        async with running(host) as pilot:
            await pilot.press(*keys)
            await until(pilot, lambda: isinstance(pilot.app.screen, screen))
            await until(pilot, lambda: is_filled(pilot))
            assert set(host.examined) == examined


async def test_a_refusal_is_judged_again_before_it_stands() -> None:
    """Sdx was mounted when the form was opened, and is not any more when it is chosen."""
    with slow(raid1("md127", members=("sda", None)), mounts={"sdx": "/srv"}) as host:
        host.answers.set()
        async with running(host) as pilot:
            await at(pilot, Choice, "A")
            await until(pilot, lambda: "sdx" in screen_text(pilot) and is_filled(pilot))
            await pilot.press("end", *["down"] * 9)
            while "not available: sdx is in use: ext4 mounted at /srv" not in screen_text(pilot):
                await pilot.press("up")
            host.change(raid1("md127", members=("sda", None)), mounts={}, after_s=0)
            await pilot.press("enter")
            await until(pilot, lambda: "not available" not in screen_text(pilot))
            assert isinstance(pilot.app.screen, Choice)
            await at(pilot, PlanView, "enter")
            assert "/dev/sdx" in screen_text(pilot)


async def test_what_can_be_taken_is_judged_again_before_it_is_planned() -> None:
    """Sdx was free when the form was opened, and is mounted when it is chosen."""
    with slow(raid1("md127", members=("sda", None))) as host:
        host.answers.set()
        async with running(host) as pilot:
            await at(pilot, Choice, "A")
            await until(pilot, lambda: "sdx" in screen_text(pilot) and is_filled(pilot))
            host.change(raid1("md127", members=("sda", None)), mounts={"sdx": "/srv"}, after_s=0)
            await pilot.press("enter")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
            assert message_of(pilot).endswith("sdx is in use: ext4 mounted at /srv; choose a free device")


async def test_a_device_that_hangs_keeps_out_none_but_itself() -> None:
    with slow(raid1("md127", members=("sda", None)), hangs={"sdy"}) as host:
        async with running(host) as pilot:
            await at(pilot, Choice, "A")
            await until(pilot, lambda: "3 of 4 devices read …" in screen_text(pilot))
            await until(pilot, lambda: re.search(r" sdy .* not read yet", screen_text(pilot)))
            await at(pilot, PlanView, "enter")
            assert "/dev/sdx" in screen_text(pilot)
            assert not host.answers.is_set()


async def test_escape_waits_no_longer_for_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a plan without a form there is a dialog that says what is waited for."""
    hold = threading.Event()
    read: Callable[..., Any] = Apart.read

    def held(self: Apart, path: str, *, keep: bool = False) -> bytes:
        assert hold.wait(ENDS_S)
        return read(self, path, keep=keep)  # type: ignore[no-any-return]

    monkeypatch.setattr(Apart, "read", held)
    with slow() as host:
        async with running(host) as pilot:
            await at(pilot, Waiting, "T")
            burst(pilot, "y", "F", "6")
            await pilot.pause()
            assert isinstance(pilot.app.screen, Waiting)
            await pilot.press("escape")
            await until(pilot, lambda: message_of(pilot) == "nothing was changed")
            hold.set()
            await until(pilot, lambda: threads() == 0, "the threads end")
            await pilot.pause()
            assert len(pilot.app.screen_stack) == 1
            assert main_of(pilot).pane == "arrays"


async def test_keys_of_the_wizard_wait_for_what_they_are_about() -> None:
    """What is typed ahead is done in its order: nothing is left out, and nothing else is taken for it."""
    with slow(disks={name: {} for name in ("sdw", "sdx", "sdy", "sdz")}) as host:
        async with running(host) as pilot:
            wizard = await at(pilot, WizardScreen, "b")
            burst(pilot, "space", "down", "down", "space", "down", "space", "up")
            await until(pilot, lambda: "devices read …" in screen_text(pilot))
            assert wizard.draft.devices == ()
            host.answers.set()
            await until(pilot, lambda: wizard.draft.devices == ("sdw", "sdy", "sdz"))
            await until(pilot, lambda: wizard._here == "sdy")
