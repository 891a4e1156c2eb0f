"""``raidtui --demo --tour``: a walk of two minutes through the panes of the demo host.

Each stop presses keys, which take the way of a user's keys, and says at the foot what is seen. A key of the
user ends it, and the demo stays as it is; space pauses it.
"""

from __future__ import annotations

import asyncio
import contextlib
import textwrap
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from textual import events
from textual.screen import Screen

from raidtui.ui.app import RaidApp
from raidtui.ui.frame.lines import Lines
from raidtui.view.line import Line

if TYPE_CHECKING:
    from raidtui.ui.frame.key_order import KeyOrderApp

_BETWEEN_S = 0.5
_LOOK_S = 0.05
_PATIENCE_S = 20.0
_KEPT = 20
_PASSED_ON = frozenset({"escape", "q", "ctrl+c"})
"""Keys of the user that do what they always do, besides ending the tour."""
_AS_CHARACTERS = {"space": " "}
Sleep = Callable[[float], Awaitable[None]]


class Stop(Struct, frozen=True, kw_only=True):
    """One stop.

    Args:
        keys: what is pressed to get there, with pauses. "key>Screen" waits for that screen, "key>" for the
            main one.
        screen: the class of the screen that is in view then, by its name; "" for the main one.
        text: what is said, in one or two sentences.
        seconds: how long it is shown.
    """

    text: str
    keys: tuple[str, ...] = ()
    screen: str = ""
    seconds: float = 7.5


STOPS = (
    Stop(
        text="This host is simulated: four arrays, and one of them is being resynced. Nothing of this "
        "machine is read or changed.",
        seconds=6,
    ),
    Stop(
        keys=("l", "right", "right"),
        text="l leads to the limits: arrows move md's speed limit while it syncs, and the kernel takes it "
        "at once. u undoes it.",
    ),
    Stop(
        keys=("escape", "v>StackScreen"),
        screen="StackScreen",
        text="v shows what stands on an array and what it stands on, from the disks to the file systems, "
        "with the load of each.",
        seconds=6,
    ),
    Stop(
        keys=("escape>", "2>WizardScreen", "f"),
        screen="WizardScreen",
        text="Pane 2 builds an array. Each device says what is on it and why it cannot be taken; f shows "
        "only those that can.",
    ),
    Stop(
        keys=("space", "down", "space", "enter", "enter"),
        screen="WizardScreen",
        text="Two disks are taken. For each level it says what fits, what may fail, and what it costs the "
        "SSDs; nothing is done before the review.",
    ),
    Stop(
        keys=("escape", "escape", "escape>", "3"),
        text="Pane 3: what was written to each disk, how much of its life is used, and when it ends. sdd "
        "is out of line: its bar says so.",
    ),
    Stop(
        keys=("4",),
        text="Pane 4: schedulers, queues, governors and md's own knobs: the value, who set it, and what is "
        "wrong with it. Arrows change it for now.",
    ),
    Stop(
        keys=("5", "n"),
        screen="BenchForm",
        text="Pane 5 measures with fio. The form says what each field means; the review says what it "
        "writes, and where.",
        seconds=6,
    ),
    Stop(
        keys=("enter>BenchReview", "y>"),
        text="It runs, live. Here a model of the disks stands for fio, and every figure is marked as "
        "simulated.",
    ),
    Stop(
        keys=("6",),
        text="Pane 6: one timeline of the kernel, the disks and your own changes, over earlier boots too.",
        seconds=6,
    ),
    Stop(
        keys=("7",),
        text="Pane 7: what could be better on a host that works, the worst first, each with what mends it.",
        seconds=6,
    ),
    Stop(
        keys=("1", "up", "up", "up", "up"),
        text="Meanwhile a disk has failed: vm is degraded, a spare takes its place, and nothing more may "
        "be lost until md has finished.",
        seconds=8,
    ),
    Stop(
        keys=("M>Choice", "enter"),
        screen="PlanView",
        text="M removes the failed member. Every change is a plan first: the exact commands, which disk it "
        "is, and what is lost. Nothing has happened yet.",
        seconds=8,
    ),
    Stop(
        keys=("y",),
        screen="JobView",
        text="y carries it out as a job with a journal. On a real host it survives a lost connection and "
        "can be resumed.",
        seconds=6,
    ),
    Stop(
        keys=("escape",),
        text="That was the tour. ? explains all keys, A adds one of the free disks, q quits.",
        seconds=8,
    ),
)
"""About two minutes. The story of the demo fails its disk at second 40."""


class Tour:
    """One walk.

    Args:
        app: the console on the demo host.
        sleep: waits so many seconds; a test has a faster one.
    """

    def __init__(self, app: KeyOrderApp, *, sleep: Sleep = asyncio.sleep) -> None:
        self._app = app
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self._pressed: deque[events.Key] = deque(maxlen=_KEPT)
        self._on = asyncio.Event()
        self._on.set()
        self._text = ""
        self.at = -1
        """The number of the present stop."""

    @property
    def runs(self) -> bool:
        """Whether it goes on."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin; the user's keys come here first."""
        self._app.key_gate = self._takes
        self._task = asyncio.ensure_future(self._walk())

    def _takes(self, event: events.Event) -> bool:
        """Whether a key is for the tour alone: space pauses it, any other ends it.

        Args:
            event: what arrives at the app.
        """
        if not self.runs or not isinstance(event, events.Key) or event.is_forwarded:
            return False
        if any(event is each for each in self._pressed):
            return False
        if event.key == "space":
            (self._on.clear if self._on.is_set() else self._on.set)()
            self._show()
            return True
        self.end()
        return event.key not in _PASSED_ON

    def end(self) -> None:
        """End it, and take its sentence away; the demo stays as it is."""
        if self._task is not None:
            self._task.cancel()
        self._clear()

    # -- the walk

    async def _walk(self) -> None:
        for number, stop in enumerate(STOPS):
            self.at = number
            if not await self._reached(stop):
                break
            self._text = stop.text
            self._show()
            await self._rest(stop.seconds)
        self._clear()

    async def _reached(self, stop: Stop) -> bool:
        """Press the keys of a stop; return whether its screen is in view."""
        for each in stop.keys:
            key, waits, screen = each.partition(">")
            await self._press(key)
            if waits and not await self._arrived(screen):
                return False
        return await self._arrived(stop.screen)

    async def _press(self, key: str) -> None:
        """Press a key as the terminal would, once the keys before it have arrived."""
        await self._settled()
        character = _AS_CHARACTERS.get(key, key if len(key) == 1 else None)
        event = events.Key(key, character)
        self._pressed.append(event)
        self._app.post_message(event)
        await self._rest(_BETWEEN_S)

    async def _settled(self) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        while self._app.is_busy and time.monotonic() < end_s:  # noqa: ASYNC110  (keys tell of no end)
            await asyncio.sleep(_LOOK_S)

    async def _arrived(self, screen: str) -> bool:
        """Whether a screen is in view; it waits for that."""
        end_s = time.monotonic() + _PATIENCE_S
        while not self._is_at(screen):
            if time.monotonic() > end_s:
                return False
            await asyncio.sleep(_LOOK_S)
        return True

    def _is_at(self, name: str) -> bool:
        screen = self._app.screen
        return type(screen).__name__ == name if name else screen is self._app.screen_stack[0]

    async def _rest(self, seconds: float) -> None:
        await self._sleep(seconds)
        await self._on.wait()

    # -- its sentence

    def _show(self) -> None:
        """Show the sentence at the foot of the screen in view."""
        screen = self._app.screen
        self._clear(keep=screen)
        found = screen.query("#tour").results(Lines)
        line = next(iter(found), None)
        if line is None:
            screen.mount(Lines(id="tour", lines=self._lines()))
        else:
            line.show(self._lines())

    def _lines(self) -> list[Line]:
        width = max(20, self._app.size.width)
        rows = [f" {row}".ljust(width) for row in textwrap.wrap(self._text, width - 2)]
        how = f" tour, {self.at + 1} of {len(STOPS)} · space pauses · any key ends it"
        if not self._on.is_set():
            how = f" tour, {self.at + 1} of {len(STOPS)} · paused: space goes on · any key ends it"
        return [*([(row, "accent")] for row in rows), [(how.ljust(width), "dim")]]

    def _clear(self, *, keep: Screen[object] | None = None) -> None:
        """Take the sentence off all screens but one."""
        for screen in self._app.screen_stack:
            if screen is not keep:
                with contextlib.suppress(RuntimeError):  # the app is being closed
                    for line in screen.query("#tour"):
                        line.remove()


class TouredApp(RaidApp):
    """The console on the demo host, with a tour that begins by itself."""

    def on_ready(self) -> None:
        """Begin."""
        Tour(self).start()
