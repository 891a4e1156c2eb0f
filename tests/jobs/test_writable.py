"""The files that a plan writes are tried before its first step, which may wipe a disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_job
from raidtui.jobs.store import all_jobs
from raidtui.jobs.writable import refuse_unwritable
from raidtui.model.plan import Harm, Plan, Step


def plan(folder: Path) -> Plan:
    wipe = Step(argv=("wipefs", "--all", "/dev/sda"), why="x", destroys=True)
    conf = Step(path=f"{folder}/mdadm.conf", content="x", why="y")
    return Plan(title="t", subject="s", steps=(wipe, conf), harm=Harm.DESTROYS, confirm="s")


def room(*, flag: int = 0, blocks: int = 9, files: int = 9) -> Callable[[object], SimpleNamespace]:
    return lambda _: SimpleNamespace(f_flag=flag, f_bfree=blocks, f_ffree=files, f_files=10)


def test_what_can_be_written(tmp_path: Path) -> None:
    assert refuse_unwritable(plan(tmp_path)) is None


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (
            room(flag=os.ST_RDONLY),
            "{} is on a file system that is read-only; make it writable first: mount -o remount,rw",
        ),
        (room(blocks=0), "the file system of {} is full; make room there first"),
        (room(files=0), "the file system of {} is full; make room there first"),
    ],
)
def test_what_cannot(
    found: Callable[[object], SimpleNamespace], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "statvfs", found)
    refusal = refuse_unwritable(plan(tmp_path))
    assert refusal is not None
    said = f"the plan writes a file, and {why.format(tmp_path)}; then plan again"
    assert refusal.sentence == said
    with pytest.raises(JobError, match=r"nothing was started$"):
        begin_job(plan(tmp_path), host="nas")
    assert all_jobs() == []


def test_a_folder_that_is_not_there_or_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = refuse_unwritable(plan(tmp_path / "etc"))
    assert refusal is not None
    assert refusal.why == f"the plan writes a file, and {tmp_path}/etc: No such file or directory"
    monkeypatch.setattr(os, "access", lambda *_: False)
    refusal = refuse_unwritable(plan(tmp_path))
    assert refusal is not None
    assert refusal.why == f"the plan writes a file, and {tmp_path} is not writable"
