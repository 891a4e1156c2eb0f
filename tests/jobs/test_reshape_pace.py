"""A reshape that is let on: never further beyond the recorded place than the data move, to its very end."""

from __future__ import annotations

import select
from collections.abc import Callable
from pathlib import Path

import pytest

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.jobs import reshape_pace, worker
from raidtui.jobs.reshape_pace import ReshapePace, _Notices
from raidtui.jobs.spawn import cancel
from raidtui.jobs.worker import Worker
from raidtui.model.plan import Plan, WaitUntil
from tests.jobs.test_worker import A, B, Host, job_of, journal, reads, up

BASE = "/sys/class/block/md127/md"
CHUNK, TOTAL = 128, 12_800
SHIFTS = {"sda": (4096, 2048), "sdb": (4096, 2048), "sdc": (6144, 2560)}


class Reshaping(SimulatedReader):
    """Md, which moves on as far as it may with each look at its clock, and records its place.

    Attributes:
        ahead: the most that a limit was beyond the recorded place when it was set, in sectors.
    """

    def __init__(self, *, limit: str = str(CHUNK)) -> None:
        super().__init__({f"{BASE}/chunk_size": "65536 (32768)\n", f"{BASE}/sync_max": f"{limit}\n"})
        for name, (old, new) in SHIFTS.items():
            self.member(name, old, new, slot=str(len(name)))
        self.ahead, self.done = 0, 0
        self.stands("reshape")

    def member(self, name: str, old: int, new: int, *, slot: str) -> None:
        for file, text in (("offset", old), ("new_offset", new), ("slot", slot)):
            self.put(f"{BASE}/dev-{name}/{file}", f"{text}\n")

    def stands(self, action: str) -> None:
        self.put(f"{BASE}/sync_action", f"{action}\n")
        self.put(f"{BASE}/sync_completed", f"{self.done} / {TOTAL}\n" if action != "idle" else "none\n")

    def take_value(self, path: str, text: str) -> None:
        assert path == f"{BASE}/sync_max"
        self.put(path, f"{text}\n")
        if text != "max":
            assert int(text) % CHUNK == 0
            self.ahead = max(self.ahead, int(text) - self.done)

    def go_on(self, sectors: int) -> None:
        limit = (self.text(f"{BASE}/sync_max") or "").replace("max", str(TOTAL))
        self.done = min((self.done + sectors) // CHUNK * CHUNK, int(limit), TOTAL)
        self.stands("idle" if self.done == TOTAL else "reshape")


class Clock:
    """Time that passes by sleeping alone; md works meanwhile."""

    def __init__(self, works: Callable[[], None]) -> None:
        self.now, self.works = 0.0, works

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.works()


def paced(monkeypatch: pytest.MonkeyPatch, host: Reshaping, sectors: int) -> None:
    monkeypatch.setattr(reshape_pace, "time", Clock(lambda: host.go_on(sectors)))
    ReshapePace(host, "md127").keep_up(60.0)


@pytest.mark.parametrize("sectors", [CHUNK, 1000, TOTAL])
def test_to_its_end(monkeypatch: pytest.MonkeyPatch, sectors: int) -> None:
    """However fast md is; at the end it has no limit any more, as md leaves it."""
    host = Reshaping()
    paced(monkeypatch, host, sectors)
    least = min(abs(new - old) for old, new in SHIFTS.values())
    assert 0 < host.ahead <= least - 2 * CHUNK
    assert (host.text(f"{BASE}/sync_max"), TOTAL - host.done < least) == ("max", True)
    host.go_on(least)
    assert host.done == TOTAL


def test_members_without_a_slot_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data of a spare do not move."""
    host = Reshaping()
    host.member("sdd", 4096, 4096, slot="none")
    paced(monkeypatch, host, TOTAL)
    assert (host.done, host.ahead > CHUNK) == (TOTAL, True)


def test_a_member_whose_data_hardly_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a chunk: then md records its place after each one."""
    host = Reshaping()
    host.member("sdd", 4096, 4096 - CHUNK, slot="3")
    paced(monkeypatch, host, TOTAL)
    assert (host.done, host.ahead) == (TOTAL, CHUNK)


def test_nothing_is_written_before_it_is_known_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Reshaping()
    host.member("sdd", 4096, 2048, slot="3")
    host.drop(f"{BASE}/dev-sdd/new_offset")
    paced(monkeypatch, host, TOTAL)
    assert (host.done, host.ahead) == (CHUNK, 0)


@pytest.mark.parametrize(("action", "limit"), [("reshape", "max"), ("frozen", "128"), ("check", "128")])
def test_what_it_leaves_alone(monkeypatch: pytest.MonkeyPatch, action: str, limit: str) -> None:
    """A reshape without a limit, one that is paused, and what is none."""
    host = Reshaping(limit=limit)
    host.stands(action)
    paced(monkeypatch, host, 0)
    assert (host.ahead, host.text(f"{BASE}/sync_max")) == (0, limit)


def test_a_job_that_is_cancelled_brings_the_reshape_to_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else md would halt; the steps after it are not begun."""
    host = Host()
    wait = WaitUntil(why="md works", until=(reads(A, "2"),), paces="md127")
    job = job_of(tmp_path, Plan(title="x", subject="data", steps=(up(A), wait, up(B))))
    seen: list[str] = []

    class Pace:
        def __init__(self, root: object, array: str) -> None:
            assert root is host
            seen.append(array)

        def keep_up(self, seconds: float) -> None:
            del seconds
            if len(seen) == 1:
                cancel(job)
            if len(seen) == 3:
                host.put(A, "2\n")

    monkeypatch.setattr(worker, "ReshapePace", Pace)
    assert Worker(host, job).work() == "cancelled"
    assert (seen, host.state) == (["md127"] * 3, "200")
    assert journal(job)[-2:] == ["cancel", "cancelled"]


def test_a_notice_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the file that the kernel notifies, in the milliseconds of poll(2)."""
    asked: list[tuple[object, ...]] = []

    class Poll:
        def register(self, file: int, events: int) -> None:
            asked.append((Path(f"/proc/self/fd/{file}").readlink(), events))

        def poll(self, left_ms: float) -> None:
            asked.append((left_ms,))

    monkeypatch.setattr("raidtui.jobs.reshape_pace.select.poll", Poll)
    file = tmp_path / "sync_completed"
    file.write_text("none\n")
    with _Notices(FolderReader("/"), str(file)) as notices:
        notices.wait(0.25)
    assert asked == [(file, select.POLLPRI | select.POLLERR), (250.0,)]
