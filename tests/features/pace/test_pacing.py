"""Who paces watches, too: how a check ended is known without a console."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.features.pace.pacing import Pacing
from raidtui.jobs.sync_book import SyncBook
from raidtui.jobs.undo_record import UndoRecord
from raidtui.model.pace import PacedArray, PaceNews, PaceRequest
from raidtui.model.sync_record import RunEnd
from tests.hosts.trees import COMPONENT_KIB, Stage, Syncing, host_tree, raid5

UUID = "f7c5a4ee:2a0fd4ab:3a0b1ea4:57b2f3f5"


def test_a_check_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = Syncing(action="check", done_kib=COMPONENT_KIB - 500, speed_kib_s=1000)
    state = {"uuid": UUID.replace(":", ""), "last_sync_action": "check"}
    begun = raid5(sync=Syncing(action="check", speed_kib_s=1000), **state)
    coming = [begun, raid5(sync=half, mismatches=8, **state), raid5(mismatches=8, **state)]
    stage: Stage = host_tree(raid5(uuid=state["uuid"])).root()
    stage.put("/proc/sys/kernel/random/boot_id", "b")

    def sleep(_: float) -> None:
        stage.show(host_tree(coming.pop(0)), after_s=5)
        stage.put("/proc/sys/kernel/random/boot_id", "b")

    book = SyncBook(tmp_path / "syncs", writes=True)
    monkeypatch.setattr("raidtui.features.pace.pacing.open_book", lambda **_: book)
    for name in ("tell_news", "forget_news"):
        monkeypatch.setattr(f"raidtui.features.pace.pacing.{name}", lambda _: None)
    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", stage.clock)
    array = PacedArray(uuid=UUID, name="md125", title="media")
    news = PaceNews(boot="b", pid=1, started_s=0.0, at_s=0.0, array=array, target_ms=20.0)
    request = PaceRequest(arrays=(array,), latency_ms=20.0, stays=True)
    record = UndoRecord(stage, None)
    Pacing(stage, record, request, lambda _: None, lambda _: news).run(lambda: not coming)
    found = book.read(UUID)
    assert found is not None
    assert [(run.action, run.watched, run.end, run.mismatches) for run in found.runs] == [
        ("check", True, RunEnd.COMPLETE, 8)
    ]


def test_a_record_that_cannot_be_kept_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage: Stage = host_tree(raid5(uuid=UUID.replace(":", ""))).root()
    book = SyncBook(tmp_path / "syncs", writes=True)
    book.trouble = "the disk is full"
    monkeypatch.setattr("raidtui.features.pace.pacing.open_book", lambda **_: book)
    for name in ("tell_news", "forget_news"):
        monkeypatch.setattr(f"raidtui.features.pace.pacing.{name}", lambda _: None)
    rounds = [1, 2]
    clock_s = iter(range(0, 1_000_000, 1000))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock_s)))
    array = PacedArray(uuid=UUID, name="md125", title="media")
    news = PaceNews(boot="b", pid=1, started_s=0.0, at_s=0.0, array=array, target_ms=20.0)
    request = PaceRequest(arrays=(array,), latency_ms=20.0, stays=True)
    said: list[str] = []
    pacing = Pacing(stage, UndoRecord(stage, None), request, said.append, lambda _: news)
    pacing.run(lambda: not rounds or not rounds.pop())
    assert said.count("the disk is full") == 1
