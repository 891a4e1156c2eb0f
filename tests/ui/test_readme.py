"""The picture that the README shows."""

from __future__ import annotations

from collections.abc import Callable

from tests.hosts.kernel import Kernel
from tests.ui.staging import Paces, play, staged
from tests.ui.states import ARRAYS, resync_life


def test_arrays(shows: Callable[..., None]) -> None:
    kernel = Kernel(*ARRAYS["optimal"])

    async def live(pilot: Paces) -> None:
        await play(pilot, kernel, resync_life())

    shows(staged(kernel), size=(104, 36), prepare=live)
