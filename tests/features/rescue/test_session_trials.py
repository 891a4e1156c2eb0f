"""What is known of trials from their jobs: which one is there, what is left of it, and what went wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from raidtui.features.rescue.mdadm_words import Assembly
from raidtui.features.rescue.search.results import CheckResult, Proof
from raidtui.features.rescue.session_trials import KnownTrial, last_trial, open_trial
from raidtui.features.rescue.trial.trial_record import (
    TrialLooks,
    TrialMethod,
    TrialNames,
    TrialOutcome,
    TrialRecord,
    TrialRequest,
    keep_outcome,
    make_trial,
)
from raidtui.features.rescue.trial.trials import clean, free_bytes
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.key_pipe import make_pipe
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, RunTool

UUID = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
CLEAN = TrialOutcome(proof=Proof(check=CheckResult.CLEAN, contents="ext4", sure="clean"))
VOID = TrialOutcome(proof=Proof(check=CheckResult.NOT_TRIED, sure="void"), void="the store of sda is full")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where jobs are, and what trials leave."""
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    monkeypatch.setattr(TrialNames, "place", property(lambda own: str(tmp_path / own.own)))
    return tmp_path


def trial(ident: str, outcome: TrialOutcome | None, *, hold: bool = False, **end: Any) -> Job:
    """A trial that has come so far."""
    made = Assembly(devices=("sda", "sdb"), uuid=UUID, force=True)
    steps = (RunTool(argv=("true",), why="x"),)
    job = Job.create(Plan(title=f"rescue trial {ident}", subject="data", steps=steps), host="nas")
    request = TrialRequest(ident=ident, method=TrialMethod.OVERLAYS, made=made, label="force: data")
    looks = TrialLooks(hold=hold)
    names = TrialNames(ident=ident)
    make_trial(job, TrialRecord(request=request, names=names, start=0, target="", overlays={}, looks=looks))
    job.note(event="work", pid=0, started_s=0)
    if outcome is not None:
        keep_outcome(job, outcome)
    if end:
        job.note(**end)
    return job


def known() -> KnownTrial:
    """The last trial of the array."""
    found = last_trial(UUID, ())
    assert found is not None
    return found


def test_a_trial_that_was_taken_down_leaves_nothing() -> None:
    trial("a1", CLEAN, event="done")
    assert (known().runs, known().left, known().held, known().trouble) == (False, False, False, "")
    assert open_trial() is None


def test_one_that_is_held_is_found_until_it_is_taken_down(places: Path) -> None:
    job = trial("a1", CLEAN, hold=True, event="done")
    place = places / "raidtui-rescue-a1"
    place.mkdir()
    assert known().held
    found = open_trial()
    assert found is not None
    assert found.job_id == job.id
    place.rmdir()
    assert not known().held
    assert open_trial() is None


def test_one_that_was_killed_is_found(places: Path) -> None:
    trial("a1", None)
    (places / "raidtui-rescue-a1").mkdir()
    assert (known().left, known().held) == (True, False)
    assert open_trial() is not None


@pytest.mark.parametrize(
    ("outcome", "reason", "trouble"),
    [
        (CLEAN, "sda does not read as before the trial", "sda does not read as before the trial"),
        (VOID, "sda does not read as before the trial", "sda does not read as before the trial"),
        (VOID, VOID.void, ""),  # the outcome says it
        (CLEAN, "", "failed"),
    ],
)
def test_what_went_wrong_at_its_end_is_known(outcome: TrialOutcome, reason: str, trouble: str) -> None:
    trial("a1", outcome, event="failed", reason=reason)
    assert known().trouble == trouble


def test_a_trial_of_other_members_is_not_of_the_array() -> None:
    trial("a1", CLEAN, event="done")
    assert last_trial("another", ("sda", "sdb", "sdc")) is not None
    assert last_trial("another", ("sda",)) is None


def test_the_room_for_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for root alone is no room, and a block of it is not always 4 KiB."""
    held = os.statvfs_result((4096, 512, 1000, 500, 300, 0, 0, 0, 0, 255))
    monkeypatch.setattr("os.statvfs", lambda _: held)
    assert free_bytes(str(tmp_path)) == 300 * 512
    (tmp_path / "file").touch()
    assert free_bytes(str(tmp_path / "file")) is None


def test_cleaning_leaves_no_passphrase_behind() -> None:
    """Its worker was killed before it took it: the pipe is left."""
    job = trial("k1", None)
    make_pipe(job)
    assert clean(MemoryReader({}), lambda _: None) == ()
    assert sorted(path.name for path in job.folder.iterdir() if path.is_fifo()) == []
