"""A reshape in a trial that is to halt: an md that does not take a write is given up, and that is said."""

from __future__ import annotations

import errno

import pytest

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.write_apart import may_wait
from raidtui.rescue.trial.reshape_hold import hold_reshape, pass_cut_stripe

BASE = "/sys/block/md127/md"
FILES = {
    "level": "raid5", "raid_disks": "4 (3)", "chunk_size": "65536", "component_size": "100000",
    "reshape_position": "100", "reshape_direction": "forwards", "array_state": "readonly",
    "sync_action": "frozen", "sync_completed": "none",
}  # fmt: skip


class Hung(MemoryReader):
    """Md waits for a member that does not answer: a write of this process would never return."""

    def write(self, path: str, text: str) -> None:
        assert not may_wait(path), path
        self.put(path, f"{text}\n")

    def write_apart(self, path: str, text: str) -> None:
        if may_wait(path):
            raise TimeoutError(errno.ETIMEDOUT, "md has not taken it for 5 s", path)
        self.write(path, text)


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Hung:
    monkeypatch.setattr("raidtui.rescue.trial.reshape_hold._watchers", lambda _: ())
    return Hung({f"{BASE}/{name}": f"{text}\n" for name, text in FILES.items()} | {"/proc/mdstat": ""})


def test_a_reshape_that_does_not_halt(hung: Hung) -> None:
    assert hold_reshape(hung, "md127") == "the reshape cannot be halted: md has not taken it for 5 s"


def test_a_reshape_that_does_not_go_on(hung: Hung) -> None:
    said = pass_cut_stripe(hung, "md127")
    assert said == ("", "the reshape cannot be moved on: md has not taken it for 5 s")
