"""A reshape in a trial that is to halt: an md that does not take a write is given up, and that is said."""

from __future__ import annotations

import errno

import pytest

from raidtui.features.rescue.trial.kernel_waits import hold_reshape, pass_cut_stripe
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.jobs.write_apart import may_wait

BASE = "/sys/block/md127/md"
FILES = {
    "level": "raid5", "raid_disks": "4 (3)", "chunk_size": "65536", "component_size": "100000",
    "reshape_position": "100", "reshape_direction": "forwards", "array_state": "readonly",
    "sync_action": "frozen", "sync_completed": "none",
}  # fmt: skip


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
