"""fio as a child: its stream, its end, its being stopped, and that nothing of it is left."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from raidtui.features.bench.results.run_record import RunSample
from raidtui.features.bench.run.fio_process import FioEnd, fio_trouble, refuse_fio, run_fio
from raidtui.jobs.sandbox import Kept, Sandbox
from raidtui.model.answer import Answer, AnswerKind, known
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


UNKNOWN = (
    "/usr/bin/fio: unrecognized option '--foo=1'",
    "/usr/bin/fio: unrecognized option '--foo=1'",
    "Did you mean loops?",
)
DROPPED = ("Bad option <foo=3>", "Did you mean flow?", "fio: job x dropped")
ENGINE = ("fio: engine nosuch not loadable", "fio: failed to load engine")


@pytest.mark.parametrize(
    ("status", "said", "errors", "sentence"),
    [
        (0, (), (0,), ""),
        (1, UNKNOWN, (), "fio does not know the option foo; leave it out, or use a newer fio"),
        (1, DROPPED, (), "fio does not know the option foo; leave it out, or use a newer fio"),
        (1, ENGINE, (), "fio has no engine nosuch here; choose another one"),
        (1, ("fio: failed parsing bs=abc",), (), "fio does not accept bs=abc"),
        (1, ("fio: something new",), (), "fio: something new"),
        (1, (), (), "fio exited with status 1 and printed nothing"),
        (0, (), (0, 28), "there is no space left at /srv; choose a smaller size, or make room"),
        (
            1,
            ("fio: pid=9750, err=30/file:filesetup.c:805, func=open(x), error=Read-only file system",),
            (),
            "the file system at /srv is read-only; remount it, or choose another folder",
        ),
        (1, (), (5,), "/srv failed with an I/O error; see the kernel log"),
        (1, (), (95,), "/srv: Operation not supported"),
        (-9, (), (), "fio was killed by SIGKILL"),
        (
            125,
            ("sandbox: net: Operation not permitted",),
            (),
            "fio was not started: net: Operation not permitted",
        ),
        (-200, (), (), "fio was killed by signal 200"),
        (None, (), (), "fio did not stop when asked to and was killed"),
        (128, ("fio: terminating on signal 15",), (), "fio was stopped by another process"),
    ],
)
def test_sentences(status: int | None, said: tuple[str, ...], errors: tuple[int, ...], sentence: str) -> None:
    assert fio_trouble(status, said, errors, where="/srv") == sentence


def test_stopped_by_us() -> None:
    assert fio_trouble(128, (), (0,), where="/srv", stopped=True) == "stopped before it finished"


def test_no_fio() -> None:
    refusal = refuse_fio(Answer(kind=AnswerKind.NO_TOOL, why="fio is not installed"))
    assert refusal is not None
    assert refusal.sentence == "fio is not installed; apt install fio"
    refusal = refuse_fio(known((2, 21)))
    assert refusal is not None
    assert refusal.sentence == (
        "fio 2.21 is too old: its status output has no latencies in nanoseconds; install fio 3.1 or newer"
    )
    assert refuse_fio(known((3, 33))) is None
