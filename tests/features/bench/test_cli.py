"""``raidtui bench``: what it takes, what it prints, how it ends; and that its document is whole."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.app.cli import build_parser, run
from raidtui.features.bench.cli_run import OptionError, _Printer, request_of
from raidtui.features.bench.place import Place
from raidtui.features.bench.request import Request
from raidtui.features.bench.results.run_record import PARTIAL
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run.bench_jobs import entry_words, make_job
from raidtui.features.bench.run.bench_progress import Line
from raidtui.features.bench.run.bench_worker import BenchWorker
from raidtui.features.bench.schedule import Conditions, Schedule
from raidtui.features.bench.telemetry import ArrayNow, Telemetry, TelemetryRange
from raidtui.features.bench.workload import PRESETS
from raidtui.jobs.store import Job
from tests.app.test_docs import subcommands
from tests.features.bench.fake_fio import FakeFio
from tests.features.bench.host import Host
from tests.features.bench.recorded import MIXED, NO_SPACE
from tests.features.bench.records import JOB, READ, record, samples
from tests.features.bench.working import feeding
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "bench.md").read_text(encoding="utf-8")
MIB = 1 << 20


@pytest.fixture(autouse=True)
def kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is kept in a folder of the test's."""
    for module in ("jobs.store", "features.bench.results.run_store"):
        monkeypatch.setattr(f"raidtui.{module}.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    monkeypatch.setattr("raidtui.features.bench.environment.LOOK_S", 0.0)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: made)
    return made


@pytest.fixture
def fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: Host) -> FakeFio:
    """A fio, and workers that are done before they are followed."""
    fake = FakeFio(tmp_path / "fio")
    fake.in_place(monkeypatch)
    monkeypatch.setattr("raidtui.jobs.spawn.start_worker", lambda job: BenchWorker(host, job).work())
    monkeypatch.setattr(BenchWorker, "_listen", lambda _: None)
    return fake


def request(*words: str) -> Request:
    arguments = build_parser().parse_args(["bench", *words])
    return request_of(Host(), arguments)


def keep(*records: object, **more: object) -> None:
    del more
    with Results() as results:
        for each in records:
            assert hasattr(each, "number")
            results.add(each, samples(100.0, 200.0), b'{"jobs": []}')  # type: ignore[arg-type]


def test_a_run_as_it_is_asked_for() -> None:
    assert request(
        "run", "--preset=mixed", "--size=8m", "--runtime=5", "--bs=4k", "--directory=/srv"
    ) == Request(
        preset="mixed",
        size_bytes=8 * MIB,
        runtime_s=5,
        blocks=(4096,),
        directory="/srv",
    )
    assert request(
        *("run", "--rw=randwrite", "--size=1g", "--depth=4", "--jobs=2", "--engine=io_uring", "--no-direct"),
        *("--device=/dev/sde", "--write", "--confirm=S1", "--repeats=2", "--note=x", "--trim", "--cool=9"),
    ) == Request(
        rw="randwrite",
        size_bytes=1 << 30,
        engine="io_uring",
        direct=False,
        depths=(4,),
        jobs=(2,),
        device="sde",
        write=True,
        confirmed=("S1",),
        repeats=2,
        note="x",
        conditions=Conditions(trim=True, cool_s=9),
    )


def test_a_sweep_as_it_is_asked_for() -> None:
    assert request(
        *("sweep", "--preset=random-read", "--scratch", "sde", "sdf", "--chunk=one,16,512", "--layout=n2,f2"),
        *("--knob", "queue-depth=1,8", "--knob", "scheduler=none", "--depth=1,8", "--grouped", "--steady"),
        *("--precondition=2", "--member-size=1024"),
    ) == Request(
        preset="random-read",
        scratch=("sde", "sdf"),
        levels=("raid10",),
        member_kib=1024,
        depths=(1, 8),
        chunks=("one", "16", "512"),
        layouts=("n2", "f2"),
        knobs=(("queue-depth", ("1", "8")), ("scheduler", ("none",))),
        conditions=Conditions(precondition=2, steady=True),
        repeats=6,
        grouped=True,
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "--rw=read", "--size=big"], "--size=big is not a size; give it as 4k, 500m or 2g"),
        (["run", "--rw=read", "--size=1m", "--bs=4k,x"], "--bs=x is not a size; give it as 4k, 500m or 2g"),
        (["run", "--rw=read", "--size=1m", "--depth=deep"], "--depth=deep is not a number"),
        (["sweep", "--preset=mixed", "--knob=x"], "--knob=x has no values: give NAME=VALUE,VALUE"),
        (
            ["sweep", "--preset=mixed", "--chunk=16k", "--scratch", "sde"],
            "--chunk=16k is not a size in KiB; give numbers, or one",
        ),
    ],
)
def test_options_that_say_nothing(
    words: list[str], sentence: str, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OptionError) as caught:
        request(*words)
    assert str(caught.value) == sentence
    assert run(["bench", *words]) == 2
    assert capsys.readouterr().err == f"raidtui: {sentence}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "--rw=read"], "no size is given; give one: --size=500m"),
        (
            ["sweep", "--preset=mixed", "--chunk=16"],
            "levels, layouts and chunks apply only to arrays that the benchmark creates; give devices",
        ),
        (
            ["run", "--rw=read", "--size=1m", "--cool=-1"],
            "the pause before each run in seconds must be between 0 and 86400, not -1",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    words: list[str], sentence: str, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *words]) == 2
    assert capsys.readouterr().err.startswith(f"raidtui: not possible: {sentence}")


def test_a_run_from_begin_to_end(fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fio.does(MIXED)
    words = ["--preset=mixed", "--size=1m", f"--directory={tmp_path}"]
    assert run(["bench", "run", *words]) == 0
    out = capsys.readouterr().out.split("\n")
    assert out[:3] == [
        f"mixed: 1 run on {tmp_path}",
        "  It writes 1.3 MiB.",
        f"  The disks below {tmp_path} are not known: writes to them are not counted.",
    ]
    assert out[3:] == [
        "   1 of 1    random read and write 70/30 4K, depth 128",
        "            599 IOPS  2.5 MB/s  p50 0.15  p99 1.2  p99.9 1.6 ms  short: 0.7 s",
        "done",
        "",
    ]
    assert run(["bench", "run", *words, "--json"]) == 0
    (run_,) = json.loads(capsys.readouterr().out)["runs"]
    assert run_["read"]["iops"] == 399.429387


def test_several_runs_are_compared(fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fio.does(MIXED)
    assert (
        run(["bench", "sweep", "--preset=mixed", "--size=1m", "--depth=1,8", f"--directory={tmp_path}"]) == 0
    )
    out = capsys.readouterr().out
    assert out.endswith(
        "done\n"
        "               iops        from          to  runs\n"
        "depth 1         599         599         599     6\n"
        "depth 8         599         599         599     6\n"
        "no difference: depth 8 against depth 1 is -0.1 % to +0.0 %, 97 % interval\n"
    )


def test_a_run_that_fails(fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fio.does(NO_SPACE, behaviour="1")
    assert run(["bench", "run", "--preset=mixed", "--size=1m", f"--directory={tmp_path}"]) == 1
    assert (
        f"failed: run 1 of 1: there is no space left at {tmp_path}; choose a smaller size, or make room\n"
        in capsys.readouterr().out
    )
    assert run(["bench", "attach"]) == 1


def test_nothing_is_begun(fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--preset=mixed", "--size=1m", f"--directory={tmp_path}"]
    assert run(["bench", "run", *words, "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(f"mixed: 1 run on {tmp_path}\n")
    assert run(["bench", "sweep", *words]) == 2
    assert capsys.readouterr().err == (
        "raidtui: not possible: nothing differs between the runs; give at least two values of something\n"
    )
    assert not (fio.folder / "argv").exists()
    assert not (tmp_path / "lib" / "jobs").exists()


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_asks_whether_to_go_on_without(
    fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container, say. Elsewhere than on a terminal, it is refused."""
    words = ["bench", "run", "--rw=read", "--size=1m", f"--directory={tmp_path}", "--no-quiet-check"]
    for module in ("features.bench.offer_checks", "features.bench.cli_run"):
        monkeypatch.setattr(f"raidtui.{module}.missing_parts", lambda: {"net": "Operation not permitted"})
    assert run(words) == 2
    assert capsys.readouterr().err == (
        "raidtui: not possible: fio cannot be kept apart from the rest of this host (net: Operation not"
        " permitted); to run it with more of root's powers: --fio-without=net\n"
    )
    assert run([*words, "--fio-without=net,x"]) == 2
    assert "x is not a part of fio's sandbox" in capsys.readouterr().err
    fio.does(MIXED)
    for answer, status in (("\n", 2), ("yes\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        assert run(words) == status
        said = capsys.readouterr().err
        assert said.startswith(
            "fio cannot be kept apart from the rest of this host:\n  net: Operation not permitted\n"
            "Run it without, with more of root's powers? [y/N] "
        )


def test_put_back_by_order(
    fio: FakeFio, tmp_path: Path, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", "restore"]) == 0
    assert capsys.readouterr().out == "No benchmark was interrupted.\n"
    schedule = Schedule(title="x", place=Place(directory=str(tmp_path)), work=READ)
    job: Job = make_job(host, schedule)
    job.note(event="work", pid=1)
    assert run(["bench", "restore"]) == 0
    done = "everything is as it was before; its results so far are kept"
    assert capsys.readouterr().out == f"{job.id}: {done}\n"
    assert job.state == "rolled back"


def test_a_steady_state_that_is_not_reached(
    fio: FakeFio, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No headline anywhere, and exit status 1; each round says so."""
    monkeypatch.setattr(
        "raidtui.features.bench.run.measure.run_fio", feeding(*(100.0 + 10 * n * n for n in range(25)))
    )
    words = ["--rw=randread", "--size=1m", f"--directory={tmp_path}", "--steady"]
    assert run(["bench", "run", *words]) == 1
    out = capsys.readouterr().out
    assert out.count("  short: 0.7 s  NOT STEADY\n") == 25
    assert "failed: NOT STEADY: after 25 rounds, over the last 5 rounds values lie within 34.1 % of" in out
    assert (
        "#1 random read 4K  NOT STEADY\nNOT STEADY: #1 random read 4K has no figure after 25 rounds: " in out
    )
    with Results() as results:
        job = results.runs()[0].job
    assert run(["bench", "list"]) == 0
    assert capsys.readouterr().out.count("  NOT STEADY  ") == 25
    assert run(["bench", "compare", job, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["unsteady"], row["spread"], row["verdict"]) == (True, None, None)
    assert run(["bench", "attach"]) == 1


def test_what_is_not_quiet_is_not_begun(
    fio: FakeFio,
    host: Host,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fio.does(MIXED)
    monkeypatch.setattr(
        "raidtui.features.bench.offer_checks.noise", lambda *_: ("data runs a check", "sda does 45 MB/s")
    )
    words = ["bench", "run", "--preset=mixed", "--size=1m", f"--directory={tmp_path}"]
    assert run(words) == 2
    assert capsys.readouterr().err == (
        "raidtui: not possible: the machine is not quiet: data runs a check, sda does 45 MB/s; wait until it"
        " is, or measure in any case: --no-quiet-check\n"
    )
    assert not (fio.folder / "argv").exists()
    assert run([*words, "--no-quiet-check"]) == 0
    assert (fio.folder / "argv").exists()


def test_the_ramp_that_is_usual(fio: FakeFio, tmp_path: Path) -> None:
    fio.does(MIXED)
    words = ["bench", "run", "--rw=randread", "--size=1m", f"--directory={tmp_path}"]
    for more, ramp in (
        (["--runtime=60"], ["--ramp_time=5s"]),
        (["--runtime=20"], ["--ramp_time=2s"]),
        (["--runtime=1"], ["--ramp_time=1s"]),
        (["--runtime=60", "--ramp=9"], ["--ramp_time=9s"]),
        (["--runtime=60", "--ramp=0"], []),
        ([], []),
    ):
        assert run([*words, *more]) == 0
        assert [word for word in fio.argv if word.startswith("--ramp")] == ramp


def test_presets(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "presets"]) == 0
    out = capsys.readouterr().out
    assert [line.partition(":")[0] for line in out.split("\n")[::3][:-1]] == [
        preset.name for preset in PRESETS
    ]


def test_the_list(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "list"]) == 0
    assert capsys.readouterr().out == "Nothing has been measured yet.\n"
    keep(record(0), record(1, state=PARTIAL, reason="stopped before it finished", note="\x1b[31mred"))
    figures = "1,000 IOPS  8.2 MB/s  p50 0.18  p99 0.74  p99.9 2.9 ms"
    assert run(["bench", "list"]) == 0
    assert capsys.readouterr().out == (
        f"   #1  2026-11-20 21:25  random read 8K  /srv  {figures}  short: 1 s\n"
        f"   #2  2026-11-20 21:25  random read 8K  /srv  {figures}"
        "  partial: stopped before it finished  short: 1 s  \\x1b[31mred\n"
    )
    assert run(["bench", "list", "--json", "partial"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["runs"]] == [2]
    assert run(["bench", "list", "nothing like it"]) == 0
    assert capsys.readouterr().out == "No run matches.\n"


def test_side_by_side(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    keep(
        *(
            record(n, 1000 + 100 * (n % 2) + n, point={"scheduler": "ab"[n % 2]}, block=n // 4, visit=n // 4)
            for n in range(12)
        )
    )
    assert run(["bench", "compare", JOB, "--by=mb/s"]) == 0
    out = capsys.readouterr().out.split("\n")
    assert out[0].split() == ["mb/s", "from", "to", "runs"]
    assert out[3] == "scheduler b is faster than scheduler a by 10.0 % (+9.7 % to +10.3 %, 97 % interval)"
    assert run(["bench", "compare", "#1", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["runs"] for row in data["rows"]] == [[1], [2]]
    assert data["rows"][1]["verdict"]["outcome"] == "open"
    assert data["curves"][0]["points"][1] == [0.5, 200.0, 1638400.0, 740000]
    assert run(["bench", "compare", "77"]) == 2
    assert capsys.readouterr().err == "raidtui: no run matches '77': raidtui bench list shows them\n"


def test_what_surrounded_the_runs_that_are_compared(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    cold, warm = (
        TelemetryRange(mhz=(800, high), celsius={"sda": most}) for high, most in ((2600, 38.0), (3400, 44.5))
    )
    keep(record(0, during=cold), record(1, during=warm), record(2, point={"scheduler": "none"}))
    assert run(["bench", "compare", JOB, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["during"] for row in rows] == [{"mhz": [800, 3400], "celsius": {"sda": 44.5}}, {}]
    assert run(["bench", "list", "1", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert listed["during"] == {"mhz": [800, 2600], "celsius": {"sda": 38.0}}


def test_what_surrounds_a_run_is_printed_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    def seen(t_s: float, state: str, sync: str = "", governor: str = "powersave") -> Line:
        array = ArrayNow(name="md127", label="\x1b[31mdata", state=state, sync=sync)
        return Line(telemetry=Telemetry(t_s=t_s, mhz=(800, 900), governor=governor, arrays=(array,)))

    printer = _Printer(quiet=False)
    printer.take(
        (seen(0.3, "clean"), seen(1.3, "active"), Line(sample=samples(100.0)[0]), seen(9.3, "clean"))
    )
    printer.take((seen(10.3, "clean"), seen(11.3, "active", "check"), seen(12.3, "active", "check")))
    printer.take((seen(13.3, "clean", "check", "performance"), Line(begins=record(1)), seen(0.4, "clean")))
    printer.take((Line(telemetry=Telemetry(t_s=20.0)),))
    _Printer(quiet=True).take((seen(0.3, "clean"),))
    surroundings = "            800 to 900 MHz powersave  \\x1b[31mdata"
    assert capsys.readouterr().out.split("\n") == [
        f"{surroundings} clean",
        f"{surroundings} clean",
        f"{surroundings} active, check",
        "            800 to 900 MHz performance  \\x1b[31mdata clean, check",
        f"{surroundings} clean",
        "",
    ]


def test_reports(host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(record(0), record(1))
    html, table = tmp_path / "r.html", tmp_path / "r.csv"
    assert run(["bench", "report", "1", "2", f"--html={html}", f"--csv={table}"]) == 0
    assert html.read_text().count("<svg") == 3
    assert [row["id"] for row in csv.DictReader(io.StringIO(table.read_text()))] == ["1", "2"]
    capsys.readouterr()
    assert run(["bench", "report", "1", f"--html={html}"]) == 2
    assert capsys.readouterr().err == f"raidtui: {html} exists already: choose another name\n"
    assert html.read_text().count("<svg") == 3
    assert run(["bench", "report", "1", "--json=-"]) == 0
    assert list(json.loads(capsys.readouterr().out)["samples"]) == ["1"]
    assert run(["bench", "report", "1"]) == 2
    assert run(["bench", "report", "1", f"--html={tmp_path}/nosuch/x"]) == 2
    assert capsys.readouterr().err.split("\n")[:2] == [
        "raidtui: the report has no target: give --html, --md, --csv or --json FILE",
        f"raidtui: {tmp_path}/nosuch/x: No such file or directory",
    ]


def test_all_that_is_known_of_the_newest(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    keep(replace(record(0), job="old", at_s=1.0, note="slow"), record(1))
    assert run(["bench", "show"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# random-read\n")
    assert {line[:6] for line in shown.splitlines() if line.startswith("| \\#")} == {"| \\#2 "}
    assert run(["bench", "list", "--grep", "slow"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["#1"]


def test_notes_and_forgetting(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    keep(record(0), record(1), replace(record(0), job="other"))
    assert run(["bench", "note", "1", "--text=before the update"]) == 0
    assert run(["bench", "note", JOB, "--text=x"]) == 0
    assert run(["bench", "delete", JOB]) == 0
    assert capsys.readouterr().out == "note kept with 1 run\nnote kept with 2 runs\n2 runs deleted\n"
    assert run(["bench", "delete", "random"]) == 2
    assert capsys.readouterr().err == (
        "raidtui: 'random' is neither a run's number nor a benchmark's id: raidtui bench list --json has"
        " them\n"
    )
    with Results() as results:
        assert [each.job for each in results.runs()] == ["other"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"event": "run", "run": 0, "of": 9, "words": "random read 4K"}, "   1 of 9    random read 4K"),
        (
            {"event": "run done", "state": "partial", "figures": "7 IOPS", "reason": "why"},
            "            7 IOPS  partial: why",
        ),
        ({"event": "change", "title": "scheduler none"}, "     set: scheduler none"),
        ({"event": "put back", "title": "scheduler none"}, "     put back: scheduler none"),
        ({"event": "doing", "title": "waiting 5 s"}, "     waiting 5 s"),
        ({"event": "folder", "path": "/srv/x"}, ""),
        ({"event": "failed", "reason": "why"}, "failed: why"),
    ],
)
def test_the_journal_in_words(entry: dict[str, object], words: str) -> None:
    assert entry_words(entry) == words


EVERYWHERE = frozenset({"--help", "--root", "--demo"})


def test_the_document_is_whole() -> None:
    bench = subcommands(build_parser(whole=True))["bench"]
    for name, parser in subcommands(bench).items():
        if name == "work":
            continue
        assert f"raidtui bench {name}" in TEXT, name
        for action in parser._actions:
            for option in action.option_strings:
                if option.startswith("--") and option not in EVERYWHERE:
                    assert f"`{option}" in TEXT, (name, option)
    for preset in PRESETS:
        assert f"`{preset.name}`" in TEXT


def test_every_event_is_reported() -> None:
    source = "".join(
        (HOUSE / "raidtui/features/bench/run" / name).read_text() for name in ("bench_worker.py", "stage.py")
    )
    for event in set(re.findall(r'event="([a-z ]+)"', source)):
        assert f"`{event}`" in TEXT, event


def test_presets_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "presets", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["raidtui_bench_presets"] == 1
    assert [each["name"] for each in found["presets"]] == [preset.name for preset in PRESETS]
    for each, preset in zip(found["presets"], PRESETS, strict=True):
        assert list(each) == ["name", "words", "work", "block_bytes", "loads", "origin"]
        assert (each["words"], each["origin"]) == (preset.words, preset.origin)
        assert each["block_bytes"] == list(preset.blocks)
        assert each["work"]["rw"] == preset.work.rw
