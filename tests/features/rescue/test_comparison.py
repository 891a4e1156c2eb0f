"""A comparison of an array in use: how it gives way, when it ends, and its job."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, ComparedMember
from raidtui.features.rescue.mismatch.comparison_job import (
    ComparisonWorker,
    begin_comparison,
    find_last_comparison,
    read_comparison,
    read_found,
    read_progress,
    why_changed,
)
from raidtui.features.rescue.mismatch.member_windows import (
    DirectMember,
    MemberWindows,
    OthersAtWork,
    Pace,
    ReadingLimits,
)
from raidtui.host.block import BLOCK
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.lock import boot_id, started_s
from raidtui.jobs.spawn import refuse_busy
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.model.array import Array
from raidtui.model.striping import StripeShape
from raidtui.monitor.sampler import Sampler
from raidtui.plans.target import find_array
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid5

MIB = 1 << 20


def stat(read: int = 0, written: int = 0) -> str:
    """What the kernel has counted of a disk."""
    return f"1 0 {read} 0 1 0 {written} 0 0 0 0\n"


class Disks(MemoryReader):
    """A mirror of a partition and of a disk, whose counters a test sets."""

    def __init__(self) -> None:
        super().__init__(
            {
                f"{BLOCK}/md1/inflight": "0 0\n",
                f"{BLOCK}/sda1/partition": "1\n",
                f"{BLOCK}/sda/stat": stat(),
                f"{BLOCK}/sda/inflight": "0 0\n",
                f"{BLOCK}/sdb/stat": stat(),
                f"{BLOCK}/sdb/inflight": "0 0\n",
            },
            links={f"{BLOCK}/sda1": "../../devices/pci0/block/sda/sda1"},
        )

    def set(self, name: str, file: str, text: str) -> None:
        """Let the kernel say something else."""
        self.put(f"{BLOCK}/{name}/{file}", text)


# -- others


def test_what_is_read_for_this_is_not_the_work_of_others() -> None:
    disks = Disks()
    others = OthersAtWork(disks, "md1", ["sda1", "sdb"])
    disks.set("sda", "stat", stat(read=2048))
    disks.set("sdb", "stat", stat(read=2048))
    assert not others(2 * MIB)
    disks.set("sdb", "stat", stat(read=2048, written=64))  # a superblock, a bitmap
    assert not others(2 * MIB)
    disks.set("sda", "stat", stat(read=2048 + 65))  # another partition of that disk
    assert others(2 * MIB)
    assert not others(2 * MIB)


@pytest.mark.parametrize("name", ["sda", "sdb", "md1"])
@pytest.mark.parametrize("flight", ["1 0\n", "0 1\n"])
def test_a_request_that_waits_is_the_work_of_others(name: str, flight: str) -> None:
    disks = Disks()
    others = OthersAtWork(disks, "md1", ["sda1", "sdb"])
    disks.set(name, "inflight", flight)
    assert others(0)


def waits(pace: Pace, *, took_s: float = 0.1, ended: bool = False) -> float:
    """Give way after a MiB of each member; return how long that was."""
    waited: list[float] = []
    pace.give_way(MIB, took_s, 2 * MIB, waited.append, lambda: ended)
    return sum(waited)


def test_nobody_else_at_work_costs_no_time() -> None:
    assert waits(Pace(others=lambda _: False)) == 0
    assert waits(Pace()) == 0


def test_others_get_nine_tenths_of_the_time() -> None:
    assert waits(Pace(others=lambda _: True)) == pytest.approx(0.9)


def test_others_do_not_push_it_below_the_least_speed() -> None:
    """A MiB at 4 MiB/s takes 0.25 s, of which 0.1 s went for reading."""
    assert waits(Pace(min_kib_s=4096, others=lambda _: True)) == pytest.approx(0.15)
    assert waits(Pace(min_kib_s=1 << 20, others=lambda _: True)) == 0


def test_the_limit_holds_without_others_too() -> None:
    assert waits(Pace(max_kib_s=2048, others=lambda _: False)) == pytest.approx(0.4)


def test_it_goes_on_as_soon_as_others_have_done() -> None:
    busy = iter([True, True, False])
    assert waits(Pace(others=lambda _: next(busy))) == pytest.approx(0.1)


def test_who_ends_it_does_not_wait_for_others() -> None:
    assert waits(Pace(others=lambda _: True), ended=True) == 0


def test_members_are_read_by_threads_that_come_last(tmp_path: Path) -> None:
    classes: list[int] = []

    class Noting(DirectMember):
        def read(self, start: int, length: int) -> bytes | None:
            classes.append(psutil.Process(threading.get_native_id()).ionice().ioclass)
            return super().read(start, length)

    (tmp_path / "m").write_bytes(os.urandom(MIB))
    windows = MemberWindows({0: Noting(str(tmp_path / "m"), "m", 0)})
    windows.hold([(0, 0, MIB)])
    windows.again([(0, 0, 4096)])
    windows.close()
    assert classes == [psutil.IOPRIO_CLASS_IDLE] * 2
    assert windows.bytes_read == MIB + 4096
    assert psutil.Process().ionice().ioclass != psutil.IOPRIO_CLASS_IDLE


# -- the array


def compared_of(kernel: Kernel) -> tuple[Array, ComparedArray]:
    """An array, and its members as they are compared."""
    array = find_array(Sampler(kernel).sample(), "md125")
    assert isinstance(array, Array)
    members = tuple(
        ComparedMember(device=member.name, slot=member.slot or 0, offset_sectors=0)
        for member in array.members
    )
    shape = StripeShape(level=5, layout="left-symmetric", slots=len(members), chunk_bytes=64 << 10)
    return array, ComparedArray(name="md125", shape=shape, component_bytes=MIB, members=members)


def test_an_array_that_is_as_it_was() -> None:
    kernel = Kernel(raid5())
    assert why_changed(kernel, compared_of(kernel)[1]) == ""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"sync_action": "recover"}, "a recover of md125 has begun"),
        ({"sync_action": "check"}, ""),
        ({"sync_action": None}, "md125 was stopped"),
        ({"state": "faulty"}, "the members of md125 have changed"),
        ({"slot": "none"}, "the members of md125 have changed"),
    ],
)
def test_an_array_that_has_changed(said: dict[str, str | None], why: str) -> None:
    kernel = Kernel(raid5())
    _, array = compared_of(kernel)

    class Later(MemoryReader):
        def text(self, path: str, *, keep: bool = False) -> str | None:
            for name, text in said.items():
                of_member = path.endswith(f"/dev-{array.members[1].device}/{name}")
                if of_member or path == f"{BLOCK}/md125/md/{name}":
                    return text
            return kernel.text(path, keep=keep)

        def names(self, folder: str) -> tuple[str, ...]:
            return kernel.names(folder)

    assert why_changed(Later({}), array) == why


# -- the job


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Kernel, Array, Job]:
    """A comparison of which the worker has not been started."""
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    monkeypatch.setattr("raidtui.jobs.spawn.start_worker", lambda _: None)
    kernel = Kernel(raid5())
    array, compared = compared_of(kernel)
    members = []
    for member in compared.members:
        path = tmp_path / member.device
        path.write_bytes(bytes(MIB))
        members.append(member)
    opened = DirectMember.__init__

    def of_a_file(self: DirectMember, path: str, *rest: object) -> None:
        opened(self, str(tmp_path / Path(path).name), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(DirectMember, "__init__", of_a_file)
    job = begin_comparison(kernel, array, replace(compared, members=tuple(members)), ReadingLimits())
    return kernel, array, job


def test_a_job_keeps_what_it_has_found(begun: tuple[Kernel, Array, Job], tmp_path: Path) -> None:
    kernel, array, job = begun
    assert job.command == "rescue"
    assert (find_last_comparison(array), read_found(job), read_progress(job)) == (None, None, None)
    record = read_comparison(job)
    assert (record.uuid, record.array.name) == (array.uuid, "md125")
    (tmp_path / record.array.members[0].device).write_bytes(b"other" + bytes(MIB - 5))
    assert ComparisonWorker(kernel, job, listens=False).work() is JobState.DONE
    found = read_found(job)
    assert found is not None
    assert [each.sectors for each in found.stretches] == [1]
    total = MIB * (len(record.array.members) - 1)
    progress = read_progress(job)
    assert progress is not None
    assert (progress.done, progress.total) == (total, total)
    last = find_last_comparison(array)
    assert last is not None
    assert last.id == job.id
    said = [entry["text"] for entry in job.entries() if entry["event"] == "output"]
    assert said[0].startswith("1 sector does not match, in 1 stretch; ")


def test_other_jobs_run_meanwhile(begun: tuple[Kernel, Array, Job]) -> None:
    _, array, job = begun
    job.note(event="work", pid=os.getppid(), started_s=started_s(os.getppid()), boot=boot_id())
    assert job.state is JobState.RUNNING
    refuse_busy(job.folder.parent)
    last = find_last_comparison(array)
    assert last is not None
    assert last.id == job.id


def test_a_member_that_cannot_be_opened_fails_it(begun: tuple[Kernel, Array, Job], tmp_path: Path) -> None:
    kernel, array, job = begun
    device = read_comparison(job).array.members[0].device
    (tmp_path / device).unlink()
    assert ComparisonWorker(kernel, job, listens=False).work() is JobState.FAILED
    assert str(job.entries()[-1]["reason"]).endswith(f"{device} cannot be read: No such file or directory")
    assert find_last_comparison(array) is None


def test_how_long_the_rest_takes(begun: tuple[Kernel, Array, Job], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted from the last time it was begun; a few seconds say little."""
    _, _, job = begun
    for at_s, entry in (
        (1000.0, {"event": "work", "pid": 1}),
        (9000.0, {"event": "work", "pid": 1}),
        (9005.0, {"event": "compared", "done": 10, "total": 400}),
        (9020.0, {"event": "compared", "done": 100, "total": 400}),
    ):
        monkeypatch.setattr("raidtui.jobs.store.time.time", lambda at_s=at_s: at_s)
        job.note(**entry)
        progress = read_progress(job)
        assert (progress and progress.left_s) == {9020.0: 60.0}.get(at_s)
