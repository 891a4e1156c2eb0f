"""The folders and files that hold jobs: owner and mode whatever the umask, whole or not there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.jobs.journal import Journal, state_trouble
from raidtui.jobs.lock import JobError
from raidtui.jobs.state_files import own_folder, write_synced
from raidtui.jobs.store import Job, find_job
from raidtui.model.plan import Plan, Step

PLAN = Plan(title="x", subject="data", steps=(Step(path="/sys/a", text="1", why="x"),))


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder, in a folder that is not there yet either."""
    folder = tmp_path / "lib" / "raidtui"
    for module in ("lock", "store"):
        monkeypatch.setattr(f"raidtui.jobs.{module}.journal_path", lambda: folder / "journal.jsonl")
    monkeypatch.setattr("raidtui.jobs.journal.journal_path", lambda: folder / "journal.jsonl")
    monkeypatch.setattr(os, "geteuid", os.getuid)
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("first", ["journal", "job"])
def test_modes_do_not_come_from_the_umask(state: Path, first: str) -> None:
    if first == "journal":
        Journal(state / "journal.jsonl").note(x=1)
    job = Job.create(PLAN, host="nas")
    places = (state.parent, state, state / "jobs", job.folder, job.folder / "plan.json")
    assert [mode(place) for place in places] == [0o755, 0o755, 0o700, 0o700, 0o600]


def as_root(monkeypatch: pytest.MonkeyPatch, foreign: Path | None = None) -> None:
    """Whoever runs the tests is root, and has all files but one, which is of user 1234."""
    real = Path.stat

    def stat_of(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = list(real(path, follow_symlinks=follow_symlinks))
        found[stat.ST_UID] = 1234 if path == foreign else 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "stat", stat_of)


def test_what_was_open_is_closed_at_the_next_start(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_root(monkeypatch)
    job = Job.create(PLAN, host="nas")
    state.chmod(0o777)
    (state / "jobs").chmod(0o770)
    assert state_trouble() == ""
    assert mode(state) == 0o755
    state.chmod(0o777)
    assert find_job(job.id).id == job.id
    assert (mode(state), mode(state / "jobs")) == (0o755, 0o700)


@pytest.mark.parametrize("place", ["", "jobs"])
def test_what_is_somebody_elses_is_not_trusted(
    state: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job.create(PLAN, host="nas")
    (state / place).chmod(0o777)
    as_root(monkeypatch, state / place)
    why = f"{state / place} belongs to user 1234, not to root"
    said = state_trouble()
    assert said == (f"{why}; check what is in it, then give it to root" if not place else "")
    refused = "belongs to user 1234, not to root; nothing was started"
    with pytest.raises(JobError, match=refused):
        find_job(job.id)
    with pytest.raises(JobError, match=refused):
        Job.create(PLAN, host="nas")
    assert mode(state / place) == 0o777  # it is left as it is


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_synced(path, b"old")

    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        write_synced(path, b"new")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="File exists"):
        own_folder(tmp_path / "file")
