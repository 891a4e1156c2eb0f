"""The folders and files that hold jobs: owner and mode whatever the umask, whole or not there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.jobs.journal import Journal, state_trouble
from raidtui.jobs.lock import JobError
from raidtui.jobs.new_files import free_path
from raidtui.jobs.state_files import alone, own_folder, read_own, write_synced
from raidtui.jobs.store import Job, find_job
from raidtui.model.plan import Plan, Write

PLAN = Plan(title="x", subject="data", steps=(Write(path="/sys/a", text="1", why="x"),))


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
    assert said == f"{why}; check what is in it, then give it to root"
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


def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the modes that files are created with from now on."""
    modes: list[int] = []
    real = os.open

    def create(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        modes.extend([mode] if flags & os.O_CREAT else [])
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", create)
    return modes


def test_a_file_has_its_final_mode_from_the_first_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is tightened later can have been opened before, and be written to afterwards."""
    modes = opened(monkeypatch)
    monkeypatch.setattr(Path, "chmod", None)
    monkeypatch.setattr(os, "fchmod", None)
    left = tmp_path / f".public.{os.getpid()}.part"
    left.touch(mode=0o666)
    modes.clear()
    write_synced(tmp_path / "private", b"")
    write_synced(tmp_path / "public", b"", 0o644)
    assert modes == [0o600, 0o644]
    assert (mode(tmp_path / "private"), mode(tmp_path / "public")) == (0o600, 0o644)


@pytest.mark.parametrize(("before", "then"), [(0o000, 0o022), (0o002, 0o022), (0o077, 0o077)])
def test_the_umask_only_becomes_tighter(before: int, then: int) -> None:
    words = (
        "import os, sys; from raidtui.__main__ import main\n"
        f"os.umask({before}); sys.argv = ['raidtui', '--version']\n"
        "try: main()\nfinally: print(os.umask(0))"
    )
    done = subprocess.run((sys.executable, "-c", words), capture_output=True, check=True, text=True)
    assert done.stdout.split()[-1] == str(then)


def test_a_lock_is_out_of_reach_and_waited_for_with_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "private"
    monkeypatch.setattr("raidtui.jobs.state_files._WAIT_S", 0.0)
    with alone(folder):
        assert (mode(folder), mode(folder / "lock")) == (0o700, 0o600)
        held = rf"process {os.getpid()} has held the lock {folder}/lock for more than 0 s"
        with pytest.raises(BlockingIOError, match=held), alone(folder):
            pass
    with alone(folder):
        pass


def test_what_others_could_have_written_is_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "order"
    write_synced(path, b"x")
    assert read_own(path) == b"x"
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        read_own(tmp_path / "link")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(PermissionError, match="is not a regular file"):
        read_own(tmp_path / "fifo")
    path.chmod(0o620)
    with pytest.raises(PermissionError, match="is writable by others than root"):
        read_own(path)
    path.chmod(0o600)
    real = os.fstat

    def foreign(descriptor: int) -> os.stat_result:
        found = list(real(descriptor))
        found[stat.ST_UID] = 12345
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", foreign)
    with pytest.raises(PermissionError, match="user 12345, mode 600"):
        read_own(path)


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="File exists"):
        own_folder(tmp_path / "file")


def test_a_name_that_is_free(tmp_path: Path) -> None:
    for name in ("plan.sh", "plan-2.sh", "plan-3.sh"):
        path = free_path(tmp_path, "plan", "sh")
        assert path == tmp_path / name
        path.symlink_to("nowhere")
