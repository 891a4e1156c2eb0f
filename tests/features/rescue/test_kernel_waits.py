"""Reads that the kernel does not answer are told from slow ones, and given up; a reshape is held."""

from __future__ import annotations

import errno
import threading

import pytest

from raidtui.features.rescue.trial.kernel_waits import (
    AnswerWatch,
    GivenUpError,
    attend,
    hold_reshape,
    pass_cut_stripe,
)
from raidtui.host.block import BLOCK
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.jobs.write_apart import may_wait

BASE = "/sys/block/md127/md"
FILES = {
    "level": "raid5", "raid_disks": "4 (3)", "chunk_size": "65536", "component_size": "100000",
    "reshape_position": "100", "reshape_direction": "forwards", "array_state": "readonly",
    "sync_action": "frozen", "sync_completed": "none",
}  # fmt: skip


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


class Hung(SimulatedReader):
    """Md waits for a member that does not answer: a write of this process would never return."""

    def take_value(self, path: str, text: str) -> None:
        if may_wait(path):
            raise TimeoutError(errno.ETIMEDOUT, "md has not taken it for 5 s", path)
        self.put(path, f"{text}\n")


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Hung:
    monkeypatch.setattr("raidtui.jobs.trial_writer._watchers", lambda _: ())
    files = {f"{BASE}/{name}": f"{text}\n" for name, text in FILES.items()}
    block = "/sys/class/block"
    own = {f"{block}/md127/slaves/dm-0/x": "", f"{block}/dm-0/dm/name": "raidtui-rescue-k-sda\n"}
    return Hung(files | own | {"/proc/mdstat": ""})


def test_a_reshape_that_does_not_halt(hung: Hung) -> None:
    assert hold_reshape(hung, "md127") == "the reshape cannot be halted: md has not taken it for 5 s"


def test_a_reshape_that_does_not_go_on(hung: Hung) -> None:
    said = pass_cut_stripe(hung, "md127")
    assert said == ("", "the reshape cannot be moved on: md has not taken it for 5 s")
