"""A passphrase on its way to a worker: it arrives whole, and no pipe is left."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from raidtui.jobs.key_pipe import hand_over, make_pipe, take_key
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan
from tests.jobs.test_plan_file import STEPS


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job with a pipe."""
    made = Job.create(Plan(title="trial", subject="data", steps=STEPS[:1]), host="nas", folder=tmp_path)
    make_pipe(made)
    return made


def test_it_is_handed_over(job: Job) -> None:
    with ThreadPoolExecutor(1) as pool:
        given = pool.submit(hand_over, job, "käse 1")
        assert take_key(job) == "käse 1"
        assert given.result()
    assert not (job.folder / "key").exists()


def test_nobody_takes_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.jobs.key_pipe._PATIENCE_S", 0.0)
    assert hand_over(job, "x") is False
    assert not (job.folder / "key").exists()
    assert take_key(job) == ""


def test_a_worker_that_ends_before_it_has_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = os.open(job.folder / "key", os.O_RDONLY | os.O_NONBLOCK)
    opened = os.fdopen

    def ends(descriptor: int, mode: str, buffering: int) -> object:
        os.close(reading)
        return opened(descriptor, mode, buffering)

    monkeypatch.setattr(os, "fdopen", ends)
    assert hand_over(job, "x") is False
