"""What surrounds a run: read, summed up, reported; and a thread that keeps nobody waiting."""

from __future__ import annotations

import signal
import threading

import pytest

from raidtui.features.bench.environment import ArrayShape, LoadCounters, between, noise
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_record import RunSample
from raidtui.features.bench.run.measure import PeriodicReader
from raidtui.features.bench.telemetry import (
    NOTHING_SEEN,
    ArrayNow,
    Telemetry,
    TelemetryRange,
    TelemetryReader,
    array_changes,
    merged,
    span_of,
    span_words,
    telemetry_words,
)
from raidtui.model.disk import DiskIo
from tests.features.bench.host import BLOCK, DISKS, Host

PLACE = Place(device="md127", disks=DISKS, members=DISKS, arrays=("md127",))
MD = f"{BLOCK}/md127/md"
HWMON = "/sys/class/hwmon"
POLICIES = "/sys/devices/system/cpu/cpufreq"
PATIENCE_S = 30.0


@pytest.fixture
def host() -> Host:
    """Two processors, and a disk that reports its temperature."""
    made = Host()
    for number, (governor, khz) in enumerate((("powersave", "1200000"), ("performance", "3400000"))):
        made.put(f"{POLICIES}/policy{number}/scaling_governor", f"{governor}\n")
        made.put(f"{POLICIES}/policy{number}/scaling_cur_freq", f"{khz}\n")
    made.put(f"{HWMON}/hwmon0/name", "drivetemp\n")
    made.put(f"{HWMON}/hwmon0/device/block/sda/dev", "8:0\n")
    made.put(f"{HWMON}/hwmon0/temp1_input", "41000\n")
    return made


def test_what_is_read(host: Host) -> None:
    for file, text in (
        ("array_state", "active"),
        ("sync_action", "recover"),
        ("sync_completed", "342 / 1000"),
        ("degraded", "1"),
    ):
        host.put(f"{MD}/{file}", f"{text}\n")
    found = TelemetryReader(host, PLACE, {"md127": "data"}).read(2.5)
    assert found == Telemetry(
        t_s=2.5,
        mhz=(1200, 3400),
        governor="powersave, performance",
        celsius={"sda": 41.0},
        arrays=(
            ArrayNow(name="md127", label="data", state="active", sync="recover", percent=34.2, missing=1),
        ),
    )
    assert telemetry_words(found) == (
        "1200 to 3400 MHz powersave, performance  sda 41 °C  data active, recover 34.2 %, 1 member missing"
    )


@pytest.mark.parametrize(
    ("files", "array"),
    [
        (
            {"array_state": "clean", "sync_action": "idle", "sync_completed": "none", "degraded": "0"},
            ArrayNow(name="md127", state="clean"),
        ),
        (
            {"array_state": "active", "sync_action": "resync", "sync_completed": "delayed", "degraded": "0"},
            ArrayNow(name="md127", state="active", sync="resync"),
        ),
        (
            {"array_state": "clean", "sync_action": "check", "sync_completed": "5 / 0", "degraded": "x"},
            ArrayNow(name="md127", state="clean", sync="check"),
        ),
        ({}, ArrayNow(name="md127")),  # stopped meanwhile
    ],
)
def test_arrays(host: Host, files: dict[str, str], array: ArrayNow) -> None:
    host.drop(MD)
    for file, text in files.items():
        host.put(f"{MD}/{file}", f"{text}\n")
    assert TelemetryReader(host, PLACE).read(0.0).arrays == (array,)


def test_nothing_of_it_is_there() -> None:
    found = TelemetryReader(Host(), Place(directory="/srv")).read(1.0)
    assert found == Telemetry(t_s=1.0)
    assert telemetry_words(found) == ""


def test_a_disk_is_asked_seldom(host: Host) -> None:
    now_s = 0.0
    reader = TelemetryReader(host, PLACE, clock=lambda: now_s)
    assert reader.read(0.0).celsius == {"sda": 41.0}
    host.put(f"{HWMON}/hwmon0/temp1_input", "43000\n")
    now_s = 1.9
    assert reader.read(1.9).celsius == {"sda": 41.0}
    now_s = 2.0
    assert reader.read(2.0).celsius == {"sda": 43.0}


SEEN = (
    Telemetry(t_s=0.3, mhz=(1200, 3400), celsius={"sda": 40.0, "sdb": 45.5}),
    Telemetry(t_s=1.3, celsius={"sda": 41.0}),
    Telemetry(t_s=2.3, mhz=(800, 2000), celsius={"sdb": 44.0}),
)


def test_over_a_run() -> None:
    found = span_of(SEEN)
    assert found == TelemetryRange(mhz=(800, 3400), celsius={"sda": 41.0, "sdb": 45.5})
    assert span_words(found) == "800 to 3400 MHz, at most sda 41 °C, sdb 46 °C"
    assert span_of(()) is span_of((Telemetry(t_s=1.0),)) is NOTHING_SEEN
    assert span_words(NOTHING_SEEN) == ""


def test_over_several_runs() -> None:
    parts = [span_of(SEEN[:1]), span_of(SEEN[2:]), NOTHING_SEEN]
    assert merged(parts) == TelemetryRange(mhz=(800, 3400), celsius={"sda": 40.0, "sdb": 45.5})


@pytest.mark.parametrize(
    ("celsius", "words"),
    [
        ({"sda": 41.0}, "at most sda 41 °C"),
        (
            {f"sd{letter}": 40.0 + number for number, letter in enumerate("abcde")},
            "at most 5 disks 40 to 44 °C (sde is the warmest)",
        ),
    ],
)
def test_temperatures_in_words(celsius: dict[str, float], words: str) -> None:
    assert span_words(TelemetryRange(celsius=celsius)) == words
    assert telemetry_words(Telemetry(t_s=1.0, mhz=(800, 800), celsius=celsius)) == "  ".join(
        ("800 MHz", words.removeprefix("at most "))
    )


def arrays(*states: tuple[str, int]) -> list[Telemetry]:
    """What was seen of an array: what synced, and how many members were missing."""
    return [
        Telemetry(
            t_s=float(t_s), arrays=(ArrayNow(name="md127", state="active", sync=sync, missing=missing),)
        )
        for t_s, (sync, missing) in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("shape", "seen", "reported"),
    [
        ({}, arrays(("", 0), ("", 0)), ()),
        ({"sync": "check"}, arrays(("check", 0)), ()),
        ({"missing": 1}, arrays(("frozen", 1)), ()),
        ({}, arrays(("", 0), ("check", 0), ("check", 0)), ("A check of data started during the run.",)),
        ({"sync": "resync"}, arrays(("resync", 0), ("", 0)), ("The resync of data ended during the run.",)),
        (
            {},
            arrays(("", 0), ("", 1), ("recover", 1)),
            ("A recover of data started during the run.", "data lost 1 member during the run."),
        ),
        ({}, [Telemetry(t_s=1.0, arrays=(ArrayNow(name="md127"),))], ()),  # nothing could be read
        ({}, [Telemetry(t_s=1.0, arrays=(ArrayNow(name="md3", state="active", sync="check"),))], ()),
    ],
)
def test_what_came_over_an_array(
    shape: dict[str, object], seen: list[Telemetry], reported: tuple[str, ...]
) -> None:
    known = ArrayShape(name="md127", label="data", **shape)  # type: ignore[arg-type]
    assert array_changes((known,), seen) == reported


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that pauses for as long as other threads want to run."""
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 0.0)
    monkeypatch.setattr("raidtui.features.bench.run.measure.EACH_S", 0.0)


@pytest.mark.usefixtures("hasty")
def test_a_lookout_goes_by_the_samples_clock() -> None:
    reported: list[Telemetry] = []
    enough, now_s = threading.Event(), 100.0

    def report(telemetry: Telemetry) -> None:
        reported.append(telemetry)
        if telemetry.t_s == 20.0:
            enough.set()

    with PeriodicReader(lambda t_s: Telemetry(t_s=t_s), report, clock=lambda: now_s) as reading:
        now_s = 112.0
        reading.sampled(RunSample(t_s=10.0))  # fio began 2 s after it was started
        now_s = 122.0
        assert enough.wait(PATIENCE_S)
    assert {telemetry.t_s for telemetry in reported} <= {0.0, 12.0, 10.0, 20.0}
    assert reading.seen == reported


@pytest.mark.usefixtures("hasty")
def test_what_was_before_fio_counted_anew_is_forgotten() -> None:
    number, before, after = 0.0, threading.Event(), threading.Event()

    def read(_: float) -> Telemetry:
        return Telemetry(t_s=number)

    def report(telemetry: Telemetry) -> None:
        (before if telemetry.t_s == 0.0 else after).set()

    with PeriodicReader(read, report) as reading:
        assert before.wait(PATIENCE_S)
        number = 1.0
        assert after.wait(PATIENCE_S)
        reading.sampled(RunSample(t_s=0.1, anew=True))
    assert {telemetry.t_s for telemetry in reading.seen} <= {1.0}


@pytest.mark.usefixtures("hasty")
def test_a_disk_that_does_not_answer_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says when all is over is thrown away: the file it would go to is another's by then."""
    monkeypatch.setattr("raidtui.features.bench.run.measure._JOIN_S", 0.0)
    asked, answers = threading.Event(), threading.Event()
    reported: list[Telemetry] = []

    def read(t_s: float) -> Telemetry:
        asked.set()
        assert answers.wait(PATIENCE_S)
        return Telemetry(t_s=t_s)

    with PeriodicReader(read, reported.append) as reading:
        assert asked.wait(PATIENCE_S)
    assert reading._thread.is_alive()
    answers.set()
    reading._thread.join(PATIENCE_S)
    assert (reading._thread.is_alive(), reported, reading.seen) == (False, [], [])


@pytest.mark.usefixtures("hasty")
def test_signals_are_left_to_others() -> None:
    masks: list[set[int]] = []
    looked = threading.Event()

    def read(t_s: float) -> Telemetry:
        masks.append({int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, ())})
        looked.set()
        return Telemetry(t_s=t_s)

    with PeriodicReader(read, lambda _: None):
        assert looked.wait(PATIENCE_S)
    assert {signal.SIGTERM, signal.SIGINT, signal.SIGHUP} <= masks[0]


def io(sectors: int = 0, requests: int = 0) -> DiskIo:
    return DiskIo(
        reads=requests, read_sectors=sectors, read_ms=0, writes=0, written_sectors=0, write_ms=0, busy_ms=0
    )


@pytest.mark.parametrize(
    ("busy", "sectors", "requests", "found"),
    [
        (0, 0, 0, ()),
        (50, 3900, 38, ()),  # 25 % of 200 ticks; a log and a journal
        (51, 0, 0, ("the processors are 26 % busy",)),
        (0, 3908, 1, ("sda does 1.0 MB/s, 0 requests/s",)),
        (0, 100, 50, ("sda does 0.026 MB/s, 25 requests/s",)),
        (200, 200_000, 800, ("the processors are 100 % busy", "sda does 51.2 MB/s, 400 requests/s")),
    ],
)
def test_between_two_looks(busy: int, sectors: int, requests: int, found: tuple[str, ...]) -> None:
    """Over two seconds, on one processor."""
    before = LoadCounters(at_s=10.0, busy=1000, total=9000, io={"sda": io(7, 7)})
    after = LoadCounters(
        at_s=12.0,
        busy=1000 + busy,
        total=9200,
        io={"sda": io(7 + sectors, 7 + requests), "sdz": io(1 << 40, 0)},
    )
    assert between(before, after) == found


def test_what_the_kernel_does_not_say_is_no_noise() -> None:
    assert between(LoadCounters(at_s=0.0), LoadCounters(at_s=1.0)) == ()
    assert (
        between(LoadCounters(at_s=1.0, io={"sda": io()}), LoadCounters(at_s=1.0, io={"sda": io(9999, 99)}))
        == ()
    )


class Busy(Host):
    """A host whose processors and disk are busy for so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks, self.count = looks * 2, 0

    def text(self, path: str, *, keep: bool = False) -> str | None:
        if path == "/proc/stat":
            self.count += 1
            busy = min(self.count, self.looks) * 100
            return f"cpu  {busy} 0 0 {self.count * 100 - busy} 0 0 0 0 0 0\n"
        return super().text(path, keep=keep)


def test_a_burst_is_no_noise() -> None:
    """It looks again, four times at most; before each run once."""
    burst = Busy(looks=2)
    assert (noise(burst, PLACE), burst.count) == ((), 6)
    lasting = Busy(looks=99)
    assert (noise(lasting, PLACE), lasting.count) == (("the processors are 100 % busy",), 8)
    assert noise(Busy(looks=1), PLACE, looks=1) == ("the processors are 100 % busy",)


def test_a_quiet_host(host: Host) -> None:
    assert noise(host, PLACE) == ()
