"""The files that a plan writes are tried before its first step, which may wipe a disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_job
from raidtui.jobs.store import all_jobs
from raidtui.jobs.writable import refuse_unwritable, tried
from raidtui.model.plan import Harm, Plan, PutFile, Refusal, RunTool


def plan(folder: Path) -> Plan:
    wipe = RunTool(argv=("wipefs", "--all", "/dev/sda"), why="x", destroys=True)
    conf = PutFile(path=f"{folder}/mdadm.conf", content="x", why="y")
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


def test_the_folder_of_an_initramfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written to after the disks were wiped."""
    made = Plan(
        title="t", subject="s", steps=(RunTool(argv=("update-initramfs", "-u", "-k", "all"), why="x"),)
    )
    monkeypatch.setattr("raidtui.jobs.writable._BOOT", tmp_path)
    assert refuse_unwritable(made) is None
    monkeypatch.setattr(os, "statvfs", room(flag=os.ST_RDONLY))
    refusal = refuse_unwritable(made)
    assert refusal is not None
    assert refusal.why == f"the plan writes a file, and {tmp_path} is on a file system that is read-only"


def test_a_folder_that_a_step_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not be there; what it is made in has to take it."""
    folder = tmp_path / "systemd" / "mdmonitor.service.d"
    steps = (
        RunTool(argv=("mkdir", "--parents", str(folder)), why="x"),
        PutFile(path=f"{folder}/program.conf", content="x", why="y"),
    )
    made = Plan(title="t", subject="s", steps=steps)
    assert refuse_unwritable(made) is None
    monkeypatch.setattr(os, "access", lambda *_: False)
    refusal = refuse_unwritable(made)
    assert refusal is not None
    assert refusal.why == f"the plan writes a file, and {tmp_path} is not writable"


def test_the_folder_of_a_backup_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else mdadm would not begin the reshape, after the steps before it."""
    grow = RunTool(argv=("mdadm", "--grow", "/dev/md0", f"--backup-file={tmp_path}/backup"), why="x")
    made = Plan(title="t", subject="s", steps=(grow,))
    assert refuse_unwritable(made) is None
    monkeypatch.setattr(os, "statvfs", room(blocks=0))
    refusal = refuse_unwritable(made)
    assert refusal is not None
    assert refusal.why == f"the plan writes a file, and the file system of {tmp_path} is full"


def test_of_the_live_host_alone(tmp_path: Path) -> None:
    """A capture and the demo have no folders here."""
    made = plan(tmp_path / "etc")
    assert tried(MemoryReader({}), made) is made
    assert isinstance(tried(FolderReader("/"), made), Refusal)
