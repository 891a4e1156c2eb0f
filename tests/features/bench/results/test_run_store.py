"""The history on disk, the live file, records in words."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.results.run_record import (
    FAILED,
    PARTIAL,
    Figures,
    Flow,
    RunRecord,
    RunSample,
    decode,
    from_samples,
    milliseconds,
    sample_words,
)
from raidtui.features.bench.results.run_store import Results, ResultsError, results_path
from raidtui.features.bench.run.bench_progress import Line, LiveFile, last_run, read_live
from raidtui.features.bench.telemetry import Telemetry, TelemetryRange
from tests.features.bench.records import JOB, record, samples


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lib" / "bench.sqlite"


def test_what_is_kept_comes_back(path: Path) -> None:
    run = record(2, 1234.5, point={"block": "8192"}, remarks=("x",), reason="y", state=PARTIAL)
    with Results(path) as results:
        number = results.add(run, samples(1.0, 2.0), b'{"jobs": []}')
        assert results.runs() == (replace(run, id=number),)
        assert results.of_job(JOB) == results.runs()
        assert results.samples(number) == samples(1.0, 2.0)
        assert results.raw(number) == b'{"jobs": []}'
        assert (results.samples(99), results.raw(99)) == ((), b"")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_run_that_is_done_again_takes_the_place(path: Path) -> None:
    with Results(path) as results:
        results.add(record(0, 1.0, state=PARTIAL))
        results.add(record(0, 2.0))
        assert [run.iops for run in results.runs()] == [2.0]
        (run,) = results.runs()
        results.update(replace(run, remarks=("warm",)))
        assert results.runs() == (replace(run, remarks=("warm",)),)


def test_what_a_word_finds(path: Path) -> None:
    with Results(path) as results:
        for run in (
            record(0, note="before", point={"scheduler": "none"}),
            record(1, state=FAILED),
            record(0, job="20261122-090000-bench", title="mixed", place="/home"),
        ):
            results.add(run)

        def found(*words: str) -> list[int]:
            return [run.id for run in results.runs(*words)]

        assert found() == [1, 3, 2]
        assert found("2") == [2]
        assert found("77") == []
        assert found(JOB) == found("20261121-") == [1, 2]
        assert found("MIXED") == found("/home") == [3]
        assert found("before") == found("scheduler none") == [1]
        assert found("samsung", "failed") == [2]
        assert found("raid10") == [1, 3, 2]
        assert found("nothing of that") == []


def test_notes_and_forgetting(path: Path) -> None:
    with Results(path) as results:
        for number in range(3):
            results.add(record(number))
        results.set_note([1, 3], "after the update")
        assert [run.note for run in results.runs()] == ["after the update", "", "after the update"]
        assert results.delete([1, 2, 99]) == 2
        assert [run.id for run in results.runs()] == [3]


def test_a_file_that_is_none(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"x" * 5000)
    with pytest.raises(ResultsError) as caught:
        Results(path)
    assert str(caught.value) == (
        f"the history {path} cannot be used: file is not a database; move it away to start a new one"
    )


def test_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert results_path() == tmp_path / "state" / "raidtui" / "bench.sqlite"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert results_path() == tmp_path / "state" / "root" / "bench.sqlite"


def test_a_record_of_another_form_is_passed_over(path: Path) -> None:
    with Results(path) as results:
        results.add(record())
        results._file.execute("UPDATE run SET record = ?", (b'{"job": 1}',))
        assert results.runs() == ()


def test_what_an_earlier_version_kept(path: Path) -> None:
    """Remarks were called told, and surroundings around."""
    run = record(remarks=("It was warm.",))
    old = msgspec.json.encode(run).replace(b'"remarks":', b'"told":')
    with Results(path) as results:
        results.add(run)
        with results.writing() as file:
            file.execute("UPDATE run SET record = ?", (old,))
        assert [each.remarks for each in results.runs()] == [run.remarks]
    (path.parent / "live.jsonl").write_bytes(b'{"begins":' + old + b'}\n{"around":{"t_s":0.4}}\n')
    assert last_run(read_live(path.parent)[0]) == (run, [], [Telemetry(t_s=0.4)])


@pytest.mark.parametrize(
    ("run", "words", "figures"),
    [
        (
            record(0, 102_325.4),
            "random read 8K",
            "102,325 IOPS  838 MB/s  p50 0.18  p99 0.74  p99.9 2.9 ms",
        ),
        (
            record(0, point={"scheduler": "none", "block": "8192", "chunk": "32"}),
            "random read 8K (scheduler none, chunk 32K)",
            "1,000 IOPS  8.2 MB/s  p50 0.18  p99 0.74  p99.9 2.9 ms",
        ),
        (record(0, 0.0, work=None, title="job file x.fio"), "job file x.fio", ""),
    ],
)
def test_words(run: RunRecord, words: str, figures: str) -> None:
    assert (run.words, run.figures) == (words, figures)


def test_the_direction_that_did_more_reports_the_latency() -> None:
    mixed = record(0, 100.0, write=Figures(ios=900, iops=900.0, p99_ns=5))
    assert (mixed.main.p99_ns, mixed.iops) == (5, 1000.0)


def test_samples_in_words() -> None:
    assert sample_words(samples(102_325.0)[0]) == "  0.2 s  102,325 IOPS  838 MB/s  p99 0.74 ms"
    quiet = RunSample(t_s=12.0, write=Flow(iops=0.0))
    assert sample_words(quiet) == " 12.0 s  0 IOPS  0 MB/s"


@pytest.mark.parametrize(
    ("value", "text"), [(740_000, "0.74"), (2_900_000, "2.9"), (7600, "0.0076"), (520, "0.0005")]
)
def test_milliseconds(value: int, text: str) -> None:
    assert milliseconds(value) == text


def test_what_samples_alone_show() -> None:
    last = RunSample(t_s=2.0, ios=(500, 0), size_bytes=(4096000, 0))
    assert from_samples([last]) == (
        Figures(ios=500, size_bytes=4096000, iops=250.0, bytes_s=2048000.0),
        Figures(),
    )
    assert from_samples([]) == (Figures(), Figures())


def test_what_surrounded_a_run_is_kept(path: Path) -> None:
    run = record(during=TelemetryRange(mhz=(1200, 3400), celsius={"sda": 41.0}))
    with Results(path) as results:
        results.add(run)
        assert results.runs()[0].during == run.during
    assert b'"during"' not in msgspec.json.encode(record()), "as of runs that were kept before it was known"
    assert decode(msgspec.json.encode(record())).during == TelemetryRange()


def test_what_surrounds_the_last_run(tmp_path: Path) -> None:
    early, late, other = (Telemetry(t_s=t_s, mhz=(800, 900)) for t_s in (0.3, 1.3, 0.4))
    live = LiveFile(tmp_path)
    live.write(Line(begins=record(0)))
    live.write(Line(telemetry=early))
    live.write(Line(sample=samples(1.0)[0]))
    live.write(Line(telemetry=late))
    lines, _ = read_live(tmp_path)
    assert last_run(lines)[2] == [early, late]
    assert last_run(lines)[:2] == (record(0), list(samples(1.0)))
    live.write(Line(sample=replace(samples(6.0)[0], anew=True)))
    lines, _ = read_live(tmp_path)
    assert last_run(lines)[2] == []
    live.write(Line(begins=record(1)))
    lines, _ = read_live(tmp_path)
    assert last_run(lines)[2] == []
    live.write(Line(telemetry=other))
    live.close()
    lines, _ = read_live(tmp_path)
    assert (lines[-1], last_run(lines)[2]) == (Line(telemetry=other), [other])
    assert b'{"telemetry":{"t_s":0.4' in (tmp_path / "live.jsonl").read_bytes(), "the key of the file"


def test_the_live_file(tmp_path: Path) -> None:
    live = LiveFile(tmp_path)
    live.write(Line(begins=record(0)))
    for sample in samples(1.0, 2.0):
        live.write(Line(sample=sample))
    lines, place = read_live(tmp_path)
    assert [line.begins is None for line in lines] == [False, True, True]
    assert last_run(lines)[:2] == (record(0), list(samples(1.0, 2.0)))
    live.write(Line(begins=record(1)))
    live.write(Line(sample=samples(5.0)[0]))
    live.write(Line(sample=replace(samples(6.0)[0], anew=True)))
    live.close()
    later, end = read_live(tmp_path, place)
    assert (len(later), end) == (3, (tmp_path / "live.jsonl").stat().st_size)
    assert last_run(later)[:2] == (record(1), [replace(samples(6.0)[0], anew=True)])
    assert read_live(tmp_path, end) == ([], end)
    assert read_live(tmp_path / "nosuch", 7) == ([], 7)


@given(data=st.binary(max_size=200), cut=st.integers(0, 400))
def test_a_live_file_that_is_broken(tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int) -> None:
    folder = tmp_path_factory.mktemp("live")
    live = LiveFile(folder)
    live.write(Line(begins=record(0)))
    live.write(Line(sample=samples(1.0)[0]))
    live.close()
    whole = (folder / "live.jsonl").read_bytes()
    (folder / "live.jsonl").write_bytes(whole[:cut] + data + b"\n" + whole)
    lines, _ = read_live(folder)
    found, taken, _ = last_run(lines)
    assert (found, taken) == (record(0), list(samples(1.0)))
