"""fio as a child: its stream, its end, its being stopped, and that nothing of it is left."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from raidtui.features.bench.results.run_record import RunSample
from raidtui.features.bench.run.fio_process import FioEnd, run_fio
from raidtui.jobs.sandbox import Kept, Sandbox
from tests.features.bench.fake_fio import FakeFio
from tests.features.bench.recorded import MIXED, STOPPED, dumps_of
from tests.lab.guests.deadline import wait_until


def run(fio: FakeFio, tmp_path: Path, stopped: bool = False) -> tuple[FioEnd, list[RunSample]]:  # noqa: FBT001, FBT002
    taken: list[RunSample] = []
    end = run_fio(
        ("fio", "--name=x"), Sandbox(folder=str(tmp_path)), taken.append, lambda: stopped and fio.ready
    )
    return end, taken


def gone(fio: FakeFio) -> bool:
    """Whether it has ended."""
    try:
        os.kill(int((fio.folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_read_while_it_runs(fio: FakeFio, tmp_path: Path) -> None:
    fio.does(MIXED, errors=b"fio: a word\n")
    end, taken = run(fio, tmp_path)
    assert (end.status, end.said, end.stopped, end.broken) == (0, ("fio: a word",), False, 0)
    assert end.dump == dumps_of(MIXED)[-1]
    assert end.raw == MIXED[MIXED.rindex(b"\n{\n") + 1 :]
    assert [sample.t_s for sample in taken] == [0.129, 0.382, 0.631]
    assert (fio.argv, (fio.folder / "cwd").read_text()) == (["--name=x"], str(tmp_path))


def test_stopped_it_reports_what_it_has(fio: FakeFio, tmp_path: Path) -> None:
    cut = STOPPED.index(b"\nfio: terminating")
    fio.does(STOPPED[:cut], behaviour="waits", last=STOPPED[cut:])
    end, _ = run(fio, tmp_path, stopped=True)
    assert (end.status, end.stopped) == (128, True)
    assert end.dump == dumps_of(STOPPED)[-1]
    assert end.said == ("fio: terminating on signal 2",)


def test_one_that_does_not_end_is_killed(
    fio: FakeFio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raidtui.features.bench.run.fio_process._END_S", 0.0)
    fio.does(MIXED, behaviour="deaf")
    end, taken = run(fio, tmp_path, stopped=True)
    assert (end.status, end.stopped, len(taken)) == (None, True, 3)
    assert end.dump == dumps_of(MIXED)[-1]
    assert gone(fio)


def test_one_that_dies(fio: FakeFio, tmp_path: Path) -> None:
    """In the middle of an object: what was whole before it is kept."""
    fio.does(MIXED[: MIXED.rindex(b"\n{\n") + 300], behaviour="dies")
    end, _ = run(fio, tmp_path)
    assert (end.status, end.broken, end.dump) == (-11, 1, dumps_of(MIXED)[-2])


def test_one_that_says_nothing(fio: FakeFio, tmp_path: Path) -> None:
    fio.does(behaviour="1", errors=b"fio: failed parsing bs=x\n")
    end, _ = run(fio, tmp_path)
    assert replace(end, cpu_s=None, kept=Kept()) == FioEnd(
        status=1, dump=None, raw=b"", said=("fio: failed parsing bs=x",)
    )


def test_the_cpu_time_of_fio_and_of_what_it_started(fio: FakeFio, tmp_path: Path) -> None:
    fio.does(MIXED, behaviour="works")
    end, _ = run(fio, tmp_path)
    assert end.status == 0
    assert end.cpu_s is not None
    assert end.cpu_s > 0.3


def test_what_fio_started_is_killed_with_it(
    fio: FakeFio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that is a process starts a session of its own: the signal to fio's session misses it."""
    monkeypatch.setattr("raidtui.features.bench.run.fio_process._END_S", 0.0)
    fio.does(MIXED, behaviour="parent")
    end, _ = run(fio, tmp_path, stopped=True)
    assert end.status is None
    child = int((fio.folder / "child").read_text())
    wait_until(lambda: not _runs(child), what="the end of the child")


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_whoever_reads_may_fail(fio: FakeFio, tmp_path: Path) -> None:
    """Nothing of fio is left then, either."""

    def fails(_: RunSample) -> None:
        raise OSError(28, "No space left on device")

    fio.does(MIXED, behaviour="waits")
    with pytest.raises(OSError, match="No space left"):
        run_fio(("fio",), Sandbox(folder=str(tmp_path)), fails)
    assert gone(fio)


def test_none_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.run.fio_process.tool_path", lambda _: None)
    with pytest.raises(FileNotFoundError):
        run_fio(("fio",), Sandbox(folder=str(tmp_path)), lambda _: None)
