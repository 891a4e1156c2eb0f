"""Waiting for a state instead of sleeping."""

import time
from collections.abc import Callable

PAUSE_S = 0.02
PATIENCE_S = 60.0  # on a busy machine the guest is ten times as slow; nothing waits longer than it must


def wait_until(
    predicate: Callable[[], object], timeout: float = PATIENCE_S, what: str = "the expected state"
) -> float:
    """Ask again and again until the answer is true; returns the seconds that it took.

    Raises:
        TimeoutError: the answer was not true within `timeout` seconds.
    """
    start = time.monotonic()
    while not predicate():
        if time.monotonic() - start > timeout:
            raise TimeoutError(f"{what} did not come within {timeout:g} s")
        time.sleep(PAUSE_S)
    return time.monotonic() - start
