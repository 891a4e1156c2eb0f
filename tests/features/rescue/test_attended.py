"""Reads that the kernel does not answer: they are told from slow ones, and given up."""

from __future__ import annotations

import threading

import pytest

from raidtui.features.rescue.trial.kernel_waits import AnswerWatch, GivenUpError, attend
from raidtui.host.block import BLOCK
from raidtui.host.readers.memory_reader import MemoryReader


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def count(root: MemoryReader, name: str, *, done: int, waits: int) -> None:
    root.put(f"{BLOCK}/{name}/stat", f"{done} 0 8 0 0 0 0 0 {waits} 0 0")
    root.put(f"{BLOCK}/{name}/inflight", f"       {waits}        0")


@pytest.mark.parametrize(
    ("md", "member", "seconds", "later", "said"),
    [
        ((5, 1), (9, 0), 31, 0, "md has answered no read of md300 for 31 s, and its members are idle"),
        ((5, 1), (9, 0), 29, 0, ""),
        ((5, 1), (9, 0), 31, 1, ""),
        ((5, 0), (9, 0), 700, 0, ""),
        ((5, 1), (9, 1), 599, 0, ""),
        ((5, 1), (9, 1), 601, 0, "md300, dm-0 did not answer for 601 s"),
        ((5, 1), (9, 1), 601, 1, ""),
    ],
)
def test_what_is_not_answered(
    md: tuple[int, int], member: tuple[int, int], seconds: float, later: int, said: str
) -> None:
    root, clock = MemoryReader({}), Clock()
    count(root, "md300", done=md[0], waits=md[1])
    count(root, "dm-0", done=member[0], waits=member[1])
    watch = AnswerWatch(root, "md300", ["dm-0"], clock)
    assert watch.silence() == ""
    count(root, "dm-0", done=member[0] + later, waits=member[1])
    clock.now_s += seconds
    assert watch.silence() == said


def test_work_that_never_ends_is_given_up() -> None:
    ends = threading.Event()
    try:
        with pytest.raises(GivenUpError, match="nothing answers"):
            attend(ends.wait, lambda: "nothing answers")
    finally:
        ends.set()


def test_work_that_ends_returns_what_it_has_found_or_raises_its_error() -> None:
    assert attend(lambda: 7, lambda: "") == 7

    def fails() -> int:
        raise FileNotFoundError("the list")

    with pytest.raises(FileNotFoundError, match="the list"):
        attend(fails, lambda: "")
