"""Limits that are lent: what is set, what somebody else has set, and what is as before afterwards."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.jobs import lent_limits
from raidtui.jobs.lent_limits import LentLimits, LimitsTakenError, restore_lent
from raidtui.jobs.lock import boot_id
from raidtui.jobs.undo_record import UndoRecord

MD, SDA = "/sys/class/block/md{}/md", "/sys/class/block/sda"
MIN, MAX = (f"{MD.format(127)}/sync_speed_{word}" for word in ("min", "max"))
QUEUE = f"{SDA}/queue/nr_requests"
UUID = "3a6eb079-0f39-ac87-c94f-3856b2dd2{}"
BACK = "the limits are as before"


class Host(SimulatedReader):
    """A host of two arrays on a disk that queues, whose limits can be lent."""

    def __init__(self, folder: Path) -> None:
        names = (f"{MD.format(number)}/sync_speed_{word}" for number in (127, 126) for word in ("min", "max"))
        super().__init__(
            {
                "/proc/sys/kernel/random/boot_id": boot_id(),
                **{f"{MD.format(number)}/uuid": UUID.format(number) for number in (127, 126)},
                **{name: f"{200_000 if 'max' in name else 1000} (system)" for name in names},
                QUEUE: "64",
                f"{SDA}/mq/0/cpu_list": "0",
            }
        )
        self.record = UndoRecord(self, folder / "tune.json")

    def lend(self, number: int = 127, *disks: str) -> LentLimits:
        return LentLimits(self, self.record, f"md{number}", f"a{number}", dict.fromkeys(disks, ""))

    def take_value(self, path: str, text: str) -> None:
        """As md does: the system's limit is followed, and min is never above max."""
        limits = {word: f"{path[:-3]}{word}" for word in ("min", "max") if "sync_speed" in path}
        new = (
            f"{200_000 if path.endswith('max') else 1000} (system)" if text == "system" else f"{text} (local)"
        )
        self.put(path, new if limits else text)
        low, high = (
            (int((self.text(each) or "").split()[0]) for each in limits.values()) if limits else (0, 0)
        )
        if low > high:
            raise OSError(errno.EINVAL, "Invalid argument", path)

    def texts(self, *paths: str) -> list[str]:
        return [(self.text(path) or "").strip() for path in paths]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(lent_limits, "RECORD", str(tmp_path / "tune.json"))
    return Host(tmp_path)


def test_set_and_given_back(host: Host) -> None:
    before = host.texts(MIN, MAX, QUEUE)
    lent = host.lend(127, "sda")
    assert (lent.queue, lent.full_kib_s) == (64, 200_000)
    lent.set(3000, 4000, 8)
    assert host.texts(MIN, MAX, QUEUE) == ["3000 (local)", "4000 (local)", "8"]
    lent.set(600_000, 700_000, 128)  # both above the former maximum; a queue is never longer than before
    assert host.texts(MIN, MAX, QUEUE) == ["600000 (local)", "700000 (local)", "64"]
    lent.set(10, 20, None)
    assert host.texts(MIN, MAX, QUEUE) == ["10 (local)", "20 (local)", "64"]
    assert lent.give_back() == f"a127: {BACK}"
    assert host.texts(MIN, MAX, QUEUE) == before
    assert lent.give_back() == "the limits have already been given back"


def test_queues_that_cannot_be_lent(host: Host) -> None:
    """Of a device where requests go through at once, at its shortest, and one that is lent."""
    assert host.lend(127, "sdb").queue is None
    host.put(QUEUE, "4")
    assert host.lend(126, "sda").queue is None


def test_a_queue_of_two_arrays_is_lent_once(host: Host) -> None:
    host.put(QUEUE, "5")
    assert (host.lend(126, "sda").queue, host.lend(127, "sda").queue) == (5, None)


def test_limits_that_the_kernel_does_not_show(host: Host) -> None:
    host.put(MAX, "none")
    with pytest.raises(LimitsTakenError, match="the kernel shows no limits for md127"):
        host.lend()


def test_a_limit_of_somebody_else_stays(host: Host) -> None:
    lent = host.lend(127, "sda")
    lent.set(3000, 4000, 8)
    host.put(MAX, "5000 (local)")
    with pytest.raises(LimitsTakenError, match="md127/md/sync_speed_max was changed meanwhile, to 5000"):
        lent.set(2000, 3000, 8)
    kept = "md127/md/sync_speed_max stay as they were set meanwhile"
    assert lent.give_back() == f"a127: {BACK}; {kept}"
    assert host.texts(MIN, MAX, QUEUE) == ["1000 (system)", "5000 (local)", "64"]


def test_who_is_at_work_keeps_them(host: Host) -> None:
    host.lend()
    (held,) = restore_lent(host, host.record)
    assert (held.held, held.text) == (True, f"a127: process {os.getpid()} has its limits and is at work")
    with pytest.raises(LimitsTakenError, match="is at work"):
        host.lend()


def test_after_a_process_that_was_killed(host: Host) -> None:
    before = host.texts(MIN, MAX, QUEUE)
    host.lend(127, "sda").set(3000, 4000, 8)
    (entry,) = host.record.load()
    host.record.drop(entry.id)
    host.record.add(replace(entry, started_s=1.0))  # another process had its number before
    (back,) = restore_lent(host, host.record)
    assert (back.text, back.held, host.record.load()) == (f"a127: {BACK}", False, ())
    assert host.texts(MIN, MAX, QUEUE) == before


def test_an_array_that_was_stopped_has_none(host: Host) -> None:
    lent = host.lend()
    host.put(f"{MD.format(127)}/uuid", UUID.format(999))
    with pytest.raises(LimitsTakenError, match="the array was stopped"):
        lent.set(3000, 4000, None)
    assert lent.give_back() == f"a127: {BACK}"
    assert host.texts(MIN) == ["1000 (system)"]
