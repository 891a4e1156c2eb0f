"""Reports: complete, self-contained, and harmless whatever the texts."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import re
import resource
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.features.bench.export import COLUMNS, csv_text, export_bytes, write_export
from raidtui.features.bench.report.document import data_bytes
from raidtui.features.bench.report.method import latency_rows
from raidtui.features.bench.report.svg import AxisScale, ChartAxis, bars_svg, curves_svg, heat_svg
from raidtui.features.bench.results.compare import METRICS, curves, series_of, table
from raidtui.features.bench.results.published import heat_maps
from raidtui.features.bench.results.run_record import RunRecord, RunSample, milliseconds
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.features.bench.run.fio_stream import StreamParser, figures
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.telemetry import TelemetryRange
from raidtui.jobs.new_files import ExportError, new_path, typed_path
from raidtui.view.text import cell_width
from raidtui.view.units import short_number, three_digits
from tests.features.bench.records import EPOCH_S, READ, record, samples

RUNS = [
    record(
        number,
        iops,
        id=number + 1,
        point={"chunk": chunk, "block": str(block)},
        work=replace(READ, block_bytes=block),
        block=0,
        visit=0,
    )
    for number, (chunk, block, iops) in enumerate(
        [("16", 8192, 8000), ("16", 16384, 9000), ("512", 8192, 7000), ("512", 16384, 7500)]
    )
]
SAMPLES = {number: samples(100.0, 200.0, 150.0) for number in range(1, 5)}


def html_report(records: Sequence[RunRecord], shown: Mapping[int, Sequence[RunSample]]) -> str:
    return export_bytes("html", records, RunFiles(samples=shown)).decode()


class Tags(HTMLParser):
    """All tags, their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [
            value or ""
            for name, value in attrs
            if name in {"src", "href", "xlink:href"} or name.startswith("on")
        ]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_all_of_it_in_one_file() -> None:
    page = html_report(RUNS, SAMPLES)
    found = Tags(page)
    assert found.tags.count("svg") == 7
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    (attached,) = found.references
    data = gzip.decompress(base64.b64decode(attached.removeprefix("data:application/gzip;base64,")))
    assert data == data_bytes(RUNS, RunFiles(samples=SAMPLES))
    assert hashlib.sha256(data).hexdigest() in found.text
    assert "url(" not in page
    assert "@import" not in page
    for words in (
        "random-read",
        "nas · 2026-11-20 21:25 UTC · 4 runs",
        "chunk x block size, random read, MB/s",
        "IOPS over time",
        "8 x Xeon (performance)",
        "raid10 n2, chunk 32K, bitmap none, 2 members",
        "Samsung 850, SSDA, scheduler none, queue depth 32",
        "ext4 (rw,noatime)",
        "60.0 %",
        "8,000 IOPS  65.5 MB/s  p50 0.18  p99 0.74  p99.9 2.9 ms",
        "chunk 16K, block 8K",
        "(69)",
        "run #1",
        "One run of each series is drawn: the median by IOPS, named beside its colour.",
        "2016; published in MiB/s, converted.",
    ):
        assert words in found.text, words
    many = [replace(RUNS[0], id=n + 1, number=n, point={"depth": str(n)}) for n in range(12)]
    shown = {run.id: SAMPLES[1] for run in many}
    assert "8 of 12 series are drawn." in Tags(html_report(many, shown)).text


def test_what_was_not_steady_has_no_figure() -> None:
    why = "not steady: over the last 5 rounds values lie within 80.0 % of their mean"
    rounds = [record(n, 1000 + 100 * n, id=n + 1, repeat=n, steady=why, unsteady=True) for n in range(25)]
    page = html_report(rounds, {23: SAMPLES[1]})
    text = Tags(page).text
    assert f"NOT STEADY: #1 random-read has no figure after 25 rounds: {why}" in text
    assert "#1 random-read: NOT STEADY, run #23, the median of 5 by IOPS" in text
    assert page.count(f"<td>whole; NOT STEADY; short: 1 s; {why}</td>") == 25
    (bars, *_) = re.findall("<svg.*?</svg>", page, re.DOTALL)
    assert ("NOT STEADY" in bars, "<rect" in bars) == (True, False)
    exported = list(csv.DictReader(io.StringIO(csv_text([*rounds, RUNS[0]]))))
    assert [row["steady"] for row in exported] == ["NOT STEADY"] * 25 + [""]
    assert all(run["unsteady"] for run in json.loads(data_bytes(rounds))["runs"])


def test_no_label_is_clipped() -> None:
    """Notes are as long as people write them, and letters may be wide."""
    for note in ("a" * 300, "before the update " * 9, "\u65e5\u672c\u8a9e" * 60):
        runs = [replace(run, note=note, job=str(run.id)) for run in RUNS]
        series = series_of(runs)
        for picture in (
            curves_svg(curves(series, SAMPLES)),
            bars_svg(table(series, METRICS["iops"]), "iops"),
        ):
            root = ET.fromstring(picture)  # noqa: S314  (our own)
            texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
            reported = "".join(text.text or "" for text in texts if text.get("text-anchor") == "start")
            assert reported.replace(" ", "").count(note.replace(" ", "")) == len(RUNS)
            for text in texts:
                x, wide = float(text.get("x", "0")), cell_width(text.text or "") * 7.5
                left = {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "")]
                assert x - left >= -8
                assert x - left + wide <= float(root.get("width", "0"))
                assert float(text.get("y", "0")) <= float(root.get("height", "0"))


@given(st.text(max_size=30))
def test_texts_are_harmless(text: str) -> None:
    """Notes, models and places come from people and disks."""
    spoiled = [
        replace(run, note=f"<script>{text}", title=f"{text}</svg>", place=f'"{text}', reason=text)
        for run in RUNS
    ]
    found = Tags(html_report(spoiled, SAMPLES))
    assert "script" not in found.tags
    assert found.tags.count("svg") == 7
    assert not re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", found.text)


def test_what_surrounded_each_run() -> None:
    during = TelemetryRange(mhz=(1200, 3400), celsius={"sda": 41.0})
    remarks = ("A check of data started during the run.",)
    found = Tags(html_report([replace(RUNS[0], during=during, remarks=remarks)], SAMPLES))
    assert (
        "whole; short: 1 s; 1200 to 3400 MHz, at most sda 41 °C; A check of data started during the run."
        in found.text
    )


def test_without_runs() -> None:
    assert "no runs" in Tags(html_report([], {})).text


def test_pictures_are_well_formed() -> None:
    series = series_of(RUNS)
    lines = curves(series, SAMPLES)
    for picture in (
        curves_svg(lines),
        bars_svg(table(series, METRICS["iops"]), "iops"),
        heat_svg(heat_maps(RUNS)[0]),
    ):
        root = ET.fromstring(picture)  # noqa: S314  (our own)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
    (first, *_) = ET.fromstring(curves_svg(lines)).iter("{http://www.w3.org/2000/svg}polyline")  # noqa: S314
    assert first.get("points") == "285.3,129.0 490.7,30.0 696.0,79.5"


def test_axes() -> None:
    """Powers of ten have equal steps, and so have nines."""
    log = ChartAxis(what="latency", low=1e3, high=1e6, words=str, scale=AxisScale.LOG)
    assert [log.place(each) for each in (1e3, 1e4, 1e5, 1e6)] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert log.ticks == [1e3, 1e4, 1e5, 1e6]
    nines = ChartAxis(what="share", low=0.0, high=0.999, words=str, scale=AxisScale.NINES)
    assert [nines.place(each) for each in (0.0, 0.9, 0.99, 0.999)] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert nines.ticks == [0.0, 0.5, 0.9, 0.99, 0.999]
    assert replace(log, high=5e3).ticks == [1e3, 5e3]  # within one power, its ends


def test_numbers() -> None:
    assert [short_number(value) for value in (0, 950, 102_325, 4_200_000, 2.5e9)] == [
        "0",
        "950",
        "102k",
        "4.2M",
        "2.5G",
    ]


def test_csv() -> None:
    rows = list(
        csv.DictReader(io.StringIO(csv_text([*RUNS, replace(RUNS[0], note="=cmd|' /C calc'!A0", work=None)])))
    )
    assert tuple(rows[0]) == COLUMNS
    assert {
        name: rows[1][name]
        for name in ("id", "rw", "block_bytes", "read_iops", "write_iops", "array", "chunk_kib")
    } == {
        "id": "2",
        "rw": "randread",
        "block_bytes": "16384",
        "read_iops": "9000",
        "write_iops": "",
        "array": "raid10 n2",
        "chunk_kib": "32",
    }
    assert rows[0]["written_bytes"] == "sda=4096 sdb=8192"
    assert rows[4]["note"] == "'=cmd|' /C calc'!A0"
    assert rows[4]["rw"] == ""


def test_json() -> None:
    data = json.loads(data_bytes(RUNS, RunFiles(samples=SAMPLES)))
    assert (data["raidtui_bench"], len(data["runs"])) == (1, 4)
    assert data["runs"][0]["read"]["iops"] == 8000
    assert data["samples"]["1"][0] == {
        "t_s": 0.25,
        "read": {"iops": 100.0, "bytes_s": 819200.0, "p99_ns": 740000},
    }
    assert "samples" not in json.loads(data_bytes(RUNS))


TWO = [record(0, id=1), record(1, id=2)]
OF_ONE = RunFiles(samples={1: samples(100.0, 200.0)})


def test_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_export(Path("a.html"), "html", TWO, OF_ONE, "p99") == tmp_path / "a.html"
    assert "<h2>p99</h2>" in (tmp_path / "a.html").read_text()
    assert write_export(Path("a.csv"), "csv", TWO, OF_ONE).read_text().count("\n") == 3
    assert list(json.loads(write_export(Path("a.json"), "json", TWO, OF_ONE).read_text())["samples"]) == ["1"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path, why in (
        (mine, f"{mine} exists already: choose another name"),
        (link, f"{link} exists already: choose another name"),
        (folder, f"{folder} is a folder: name a file in it"),
        (tmp_path / "no" / "x", f"{tmp_path}/no/x: No such file or directory"),
        (mine / "x", f"{mine}/x: Not a directory"),
    ):
        with pytest.raises(ExportError) as error:
            write_export(path, "csv", TWO, OF_ONE)
        assert str(error.value) == why
    assert mine.read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "link", "mine"]


def test_what_cannot_be_written_whole_is_not_left_behind(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(ExportError, match=r"^.*/a\.json: File too large; nothing was written$"):
            write_export(tmp_path / "a.json", "json", TWO, OF_ONE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_path("raidtui-bench", "html", EPOCH_S)
    assert first == tmp_path / "raidtui-bench-20261120-2125.html"
    first.symlink_to("/nosuch")
    assert new_path("raidtui-bench", "html", EPOCH_S) == tmp_path / "raidtui-bench-20261120-2125-2.html"
    assert new_path("raidtui-bench", "csv", EPOCH_S) == tmp_path / "raidtui-bench-20261120-2125.csv"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert new_path("raidtui-bench", "csv", EPOCH_S) == Path.home() / "raidtui-bench-20261120-2125.csv"


def test_a_typed_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert typed_path(" ~/a b.html ") == Path("/home/ann/a b.html")
    assert typed_path("~nobody-at-all/x") == Path("~nobody-at-all/x")
    with pytest.raises(ExportError, match=r"^type a file name$"):
        typed_path("  ")


STREAM = (Path(__file__).parent.parent / "streams" / "two-jobs.json").read_bytes()


def kept() -> tuple[RunRecord, RunFiles]:
    """A run with fio's own JSON, as it was recorded."""
    parser = StreamParser()
    dumps = parser.feed(STREAM) + parser.close()
    read, write = figures(dumps[-1])
    work = replace(READ, depth=4, jobs=2, engine="libaio", flushes=True, direct=False)
    conditions = Conditions(trim=True, cool_s=5, precondition=2)
    run = record(id=7, work=work, read=read, write=write, conditions=conditions)
    return run, RunFiles(samples={7: SAMPLES[1]}, raws={7: parser.last})


def test_what_was_asked_and_how_it_was_measured() -> None:
    run, files = kept()
    page = export_bytes("md", [run], files).decode()
    for words in (
        "# random-read\n",
        "--rw=randread --bs=8192 --size=8388608 --iodepth=4 --numjobs=2 --ioengine=libaio --direct=0",
        "| order | not drawn: one after the other |",
        "| before all runs | the size was written 2 times |",
        "| before each run | free blocks were discarded, a pause of 5 s, no ramp |",
        "| length | until the size is done |",
    ):
        assert words in page, words
    assert "svg" not in page
    old = export_bytes("md", [replace(run, conditions=None)], files).decode()
    assert "| before all runs | not known |" in old  # of a run that was kept before it was noted


def test_latencies_and_cost_are_fios_own() -> None:
    """Against fio's own percentiles and processor time, which raidtui does not read."""
    run, files = kept()
    jobs = json.loads(files.raws[7])["jobs"]
    rows = latency_rows(series_of([run]), files.raws)
    assert [row[0] for row in rows] == ["#7 random-read, reads", "#7 random-read, writes"]
    ios = sum(job[side]["total_ios"] for job in jobs for side in ("read", "write"))
    for row, job, side in zip(rows, jobs, ("read", "write"), strict=True):
        _name, requests, _mean, p50, _p90, p99, p999, _most, user, system, switches = row
        assert requests == f"{job[side]['total_ios']:,}"
        told = job[side]["clat_ns"]["percentile"]
        assert [p50, p99, p999] == [milliseconds(told[f"{part:f}"]) for part in (50, 99, 99.9)]
        for cell, name in ((user, "usr_cpu"), (system, "sys_cpu")):
            assert cell == three_digits(sum(one[name] * one["job_runtime"] * 10 for one in jobs) / ios)
        assert switches == three_digits(sum(one["ctx"] for one in jobs) / ios)
    assert "distribution of latencies" in export_bytes("html", [run], files).decode()
    assert latency_rows(series_of([run]), {7: b"{"}) == []  # damaged


@given(st.text(max_size=30))
def test_markdown_is_harmless(text: str) -> None:
    spoiled = [replace(run, note=f"<script>|{text}", title=f"# {text}", reason=text) for run in RUNS]
    page = export_bytes("md", spoiled, RunFiles()).decode()
    assert "<script>" not in page
    rows = [line for line in page.splitlines() if line.startswith("| \\#")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [6] * len(RUNS)
