"""Pictures of pane 1 in every state of arrays."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from tests.kernel import Kernel
from tests.trees import Stage, host_tree
from tests.ui.staging import WIDE, Paces, in_worker, look, play, staged
from tests.ui.states import ARRAYS, REST, STATES, WIDE_STATES, resync_life

Shows = Callable[..., None]


@pytest.mark.parametrize("state", STATES)
def test_state(shows: Shows, state: str) -> None:
    shows(staged(STATES[state].root()))


@pytest.mark.parametrize("state", WIDE_STATES)
def test_wide(shows: Shows, state: str) -> None:
    shows(staged(STATES[state].root()), size=WIDE)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
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
