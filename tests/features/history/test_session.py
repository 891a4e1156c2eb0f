"""The history of a host: which source is read, what is merged, what is said of what could not be read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.demo.demo_host import demo_root
from raidtui.features.bench.feature import past_benchmarks
from raidtui.features.bench.results.run_store import Results
from raidtui.features.history import own_entries
from raidtui.features.history import session as timeline
from raidtui.features.history.assembly import assemble
from raidtui.features.history.captured import captured_log_text
from raidtui.features.history.entries import Entry, Origin
from raidtui.features.history.identity import ArrayToday, Today, subject_of
from raidtui.features.history.patterns import Weight
from raidtui.features.history.session import HistoryRun, read_for_capture, read_history
from raidtui.host.logs.journald import journal_argv
from raidtui.host.logs.ring import ARGV
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tool_pieces import PiecesError
from raidtui.host.tools import ToolOutput, output_path
from raidtui.jobs.store import Job
from raidtui.jobs.sync_book import SyncBook
from raidtui.model.answer import AnswerKind
from raidtui.model.log_line import CAPTURED, LogGap
from raidtui.model.plan import Plan
from raidtui.model.sync_record import RunEnd, SyncRecord, SyncRun
from tests.features.bench.records import record

NOW_S = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))
BOOTS = ("a" * 32, "b" * 32, "c" * 32)
MDSTAT = "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      1048512 blocks [2/2] [UU]\n\n"
RING = "exit 0\n<6>[    0.000000] Linux version 6.1.0\n<6>[  100.000000] md: md0: resync done.\n"


def printed(*rows: tuple[float, str, str]) -> str:
    """What journalctl prints of lines (seconds before now, boot, text), given oldest first."""
    return "".join(
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": f"{(NOW_S - ago_s) * 1e6:.0f}",
                "__MONOTONIC_TIMESTAMP": "900000000",
                "_BOOT_ID": boot,
                "_TRANSPORT": "driver" if text == "Journal stopped" else "kernel",
                "MESSAGE_ID": "d93fb3c9c24d451a97cea615ce59c00b" if text == "Journal stopped" else None,
                "SYSLOG_IDENTIFIER": "kernel",
                "MESSAGE": text,
            }
        )
        + "\n"
        for ago_s, boot, text in reversed(rows)
    )


def host(files: dict[str, str] | None = None, journal: str | None = None) -> MemoryReader:
    found = {"/proc/mdstat": MDSTAT, "/proc/uptime": "3600.0 1.0\n"} | (files or {})
    if journal is not None:
        found[output_path(journal_argv())] = f"exit 0\n{journal}"
    return MemoryReader(found, taken_s=NOW_S)


THREE = printed(
    (9e6, BOOTS[0], "Linux version 6.1.0"),
    (8e6, BOOTS[0], "md/raid1:md0: Disk failure on sdb1, disabling device."),
    (7e6, BOOTS[0], "Journal stopped"),
    (6e6, BOOTS[1], "Linux version 6.1.0"),
    (5e6, BOOTS[1], "md: data-check of RAID array md0"),
    (4e6, BOOTS[1], "md: md0: data-check done."),
    (3e6, BOOTS[2], "Linux version 6.1.1"),
)
TITLES = [
    "booted, Linux 6.1.0",
    "sdb1 failed: md no longer uses it",
    "the journal ends: shutdown",
    "booted, Linux 6.1.0",
    "check done",
    "booted; no shutdown was logged before",
]


def test_a_journal_of_three_boots() -> None:
    run = HistoryRun()
    history = read_history(host(journal=THREE), run)
    assert [each.title for each in history.incidents] == TITLES
    assert [(boot.boot, boot.shut_down) for boot in history.boots] == [
        (BOOTS[0], True),
        (BOOTS[1], False),
        (BOOTS[2], False),
    ]
    assert (history.troubles, history.lines, run.lines) == ((), 7, 7)
    assert history.first_s == NOW_S - 9e6


def test_the_journal_alone_where_it_is_kept() -> None:
    """A log file beside it has the same lines, and nothing older."""
    files = {"/var/log/kern.log": "Mar  1 00:00:00 nas kernel: md: md0 stopped.\n", output_path(ARGV): RING}
    assert [each.title for each in read_history(host(files, THREE)).incidents] == TITLES


FORGED = """\
Mar  1 00:00:00 nas kernel: Linux version 9.9.9
Mar  1 00:00:00 nas kernel: md/raid1:md0: Disk failure on sda, disabling device.
Mar  1 00:00:01 nas smartd[7]: Device: /dev/sda [SAT], FAILED SMART self-check. BACK UP DATA NOW!
Mar  1 00:00:02 nas mdadm[8]: Fail event detected on md device /dev/md0, component device /dev/sda
"""
"""Written with logger(1), as any user can."""


@pytest.mark.parametrize("name", ["kern.log", "messages", "syslog"])
def test_what_anyone_can_write_is_shown_and_counts_for_nothing(name: str) -> None:
    """Neither a failure, nor a boot, nor a hint; of the kernel, its ring buffer is believed."""
    history = read_history(host({f"/var/log/{name}": FORGED, output_path(ARGV): RING}, ""))
    *said, booted = history.incidents
    assert booted.title == "booted, Linux 6.1.0"
    assert [each.title.partition(", ")[0] for each in said] == [
        f"said by {writer} in /var/log/{name}" for writer in ("kernel", "kernel", "smartd", "mdadm")
    ]
    assert said[1].title.endswith(
        ", which anyone can write: md/raid1:md0: Disk failure on sda, disabling device."
    )
    assert {(each.weight, each.hint, each.arrays, each.disks, each.boot) for each in said} == {
        (Weight.NOTE, None, (), (), "")
    }
    assert history.boots == ()
    assert [each.code for each in history.troubles] == [LogGap.FILES_FORGEABLE, LogGap.RING_ONLY]


def test_what_anyone_can_write_stays_so_in_a_capture() -> None:
    here = host({"/var/log/syslog": FORGED, output_path(ARGV): RING}, "")
    kept = captured_log_text(read_for_capture(here)).decode()
    again = read_history(host({CAPTURED: kept}))
    titles = [each.title for each in again.incidents]
    assert titles == [each.title for each in read_history(here).incidents]
    assert len(titles) == 5


def test_lines_of_the_kernel_that_its_ring_buffer_does_not_have_are_left_out() -> None:
    late = time.strftime("%b %e %H:%M:%S", time.localtime(NOW_S - 60))
    forged = f"{late} nas kernel: md/raid1:md0: Disk failure on sda, disabling device.\n"
    history = read_history(host({"/var/log/syslog": forged, output_path(ARGV): RING}, ""))
    assert [each.title for each in history.incidents] == ["booted, Linux 6.1.0"]


def test_the_ring_buffer_as_the_last_resort() -> None:
    history = read_history(host({output_path(ARGV): RING}, ""))
    assert [each.title for each in history.incidents] == ["booted, Linux 6.1.0"]
    assert [each.code for each in history.troubles] == [LogGap.RING_ONLY]


def test_nothing_can_be_read() -> None:
    history = read_history(host())
    assert history.incidents == ()
    assert [each.code for each in history.troubles] == [LogGap.NOT_CAPTURED, LogGap.RING_REFUSED]


WHY = (
    "md: something that no pattern has",
    "md/raid456:md7: a reason of a later kernel",
    "md: pers->run() failed ...",
)
JOURNALED = printed((50.0, BOOTS[2], "Linux version 6.1.1"), *((10.0, BOOTS[2], text) for text in WHY))
RUNG = RING + "".join(f"<3>[  200.000000] {text}\n" for text in WHY)


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(host(journal=JOURNALED), id="journal"),
        pytest.param(host({output_path(ARGV): RUNG}, ""), id="ring"),
    ],
)
def test_the_line_before_a_start_that_failed_is_kept_whatever_it_is(root: MemoryReader) -> None:
    *_, incident = read_history(root).incidents
    assert ([entry.text for entry in incident.entries], incident.title) == (list(WHY[1:]), WHY[1])
    assert (incident.head.code, incident.subject) == ("start-reason", "md7")
    kept = captured_log_text(read_for_capture(root)).decode()
    *_, again = read_history(host({CAPTURED: kept})).incidents
    assert [entry.text for entry in again.entries] == list(WHY[1:])


def test_a_line_in_two_files_is_one() -> None:
    line = "Mar  1 00:00:00 nas kernel: [ 9.1] md: md0 stopped.\n"
    history = read_history(host({"/var/log/kern.log": line, "/var/log/syslog": line}, ""))
    assert [len(each.entries) for each in history.incidents] == [1]


class Hanging(MemoryReader):
    """A live host whose journalctl prints some lines and then hangs."""

    live = True

    def __init__(self, text: str) -> None:
        super().__init__({"/proc/mdstat": MDSTAT}, taken_s=NOW_S)
        self._text = text

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        assert not ended()
        yield self._text.encode()
        raise PiecesError(
            f"{argv[0]} printed nothing for {stall_s:.0f} s and was ended", kind=AnswerKind.TIMED_OUT
        )

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        return ToolOutput(argv=argv, status=1, stdout="", stderr="")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where raidtui keeps its journal, jobs and benchmarks; the user is ada."""
    monkeypatch.setenv("SUDO_USER", "ada")
    for place in ("raidtui.jobs.journal", "raidtui.features.history.own_entries", "raidtui.jobs.store"):
        monkeypatch.setattr(f"{place}.journal_path", lambda: tmp_path / "journal.jsonl")
    book = SyncBook(tmp_path / "syncs", writes=False)
    monkeypatch.setattr("raidtui.features.history.own_entries.open_book", lambda **_: book)
    monkeypatch.setattr("raidtui.watch.past._readers", {"bench": past_benchmarks})
    monkeypatch.setattr(
        "raidtui.features.bench.results.run_store.results_path", lambda: tmp_path / "bench.sqlite"
    )
    return tmp_path


def test_a_journalctl_that_hangs_loses_nothing_that_it_printed(state: Path) -> None:
    history = read_history(Hanging(THREE))
    assert [each.title for each in history.incidents] == TITLES
    assert [each.code for each in history.troubles] == [LogGap.JOURNAL_HANGS]


def test_a_reading_that_is_ended() -> None:
    """What was read until then is kept, and that there is more is said."""
    run = HistoryRun()

    class Long(MemoryReader):
        def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
            del argv, stall_s
            for number in range(1000):
                if ended():
                    return
                if number == 3:
                    run.end()
                yield printed((number * 1e4, BOOTS[0], f"md: md{number} stopped.")).encode()

    history = read_history(Long({"/proc/mdstat": MDSTAT}, taken_s=NOW_S), run)
    assert [each.arrays for each in history.incidents] == [("md3",), ("md2",), ("md1",), ("md0",)]
    assert [each.code for each in history.troubles] == [LogGap.CANCELLED]


def test_more_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_ENTRIES", 5)
    history = read_history(host(journal=THREE))
    assert [each.code for each in history.troubles] == [LogGap.TOO_MANY]
    assert history.troubles[0].remedy == f"raidtui history --until @{NOW_S - 8e6:.0f} shows it"


def test_since_and_until_are_asked_of_the_journal() -> None:
    since_s, until_s = NOW_S - 7.5e6, NOW_S - 3.5e6
    files = {
        "/proc/mdstat": MDSTAT,
        output_path(journal_argv(since_s, until_s)): "exit 0\n",
        "/var/log/kern.log": "Nov  1 00:00:00 nas kernel: md: md0 stopped.\n"
        "Jan 10 00:00:00 nas kernel: md: md1 stopped.\nMar  1 00:00:00 nas kernel: md: md2 stopped.\n",
    }
    history = read_history(MemoryReader(files, taken_s=NOW_S), since_s=since_s, until_s=until_s)
    assert [each.title.rpartition(": ")[2] for each in history.incidents] == ["md1 stopped."]


def test_what_raidtui_did_is_there(state: Path) -> None:
    rows = [
        {
            "at_s": NOW_S - 50,
            "who": "ada",
            "subject": "data",
            "plan": "max limit 200 → 500 MB/s",
            "error": None,
        },
        {
            "at_s": NOW_S - 49.5,
            "who": "ada",
            "subject": "data",
            "plan": "max limit 200 → 500 MB/s",
            "error": None,
        },
        {"at_s": NOW_S - 9, "who": "bob", "subject": "data", "plan": "check", "error": "permission denied"},
    ]
    (state / "journal.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows) + "damaged\n[1]\n{}\n"
    )
    job = Job.create(Plan(title="fail: sdb1", subject="data", steps=()), host="nas", folder=state / "jobs")
    job.note(event="done")
    with Results(state / "bench.sqlite") as results:
        results.add(record())
    found, troubles = own_entries.own_entries()
    assert troubles == ()
    assert [(each.origin, each.text) for each in found][:4] == [
        (Origin.CHANGE, "max limit 200 → 500 MB/s, by ada"),
        (Origin.CHANGE, "check, by bob: not done: permission denied"),
        (Origin.JOB, "job started: fail: sdb1, by ada"),
        (Origin.JOB, "job is done: fail: sdb1"),
    ]
    assert found[4].origin is Origin.BENCH
    assert found[4].text.startswith("benchmark of ")


def test_a_check_with_mismatches_is_a_trouble(state: Path) -> None:
    """By the record, over its pause: the kernel's counter began anew."""
    key = "3a6eb079:0f39ac87:c94f3856:b2dd2c5d"
    run = SyncRun(
        action="check", boot="b", begun_s=NOW_S - 90, watched=True, total_kib=900, done_kib=300, kept_kib=300,
        mismatches=128, kept_mismatches=128, ended_s=NOW_S - 80, end=RunEnd.STOPPED, by="raidtui",
    )  # fmt: skip
    rest = replace(
        run, begun_s=NOW_S - 70, first_kib=300, done_kib=900, ended_s=NOW_S - 60, end=RunEnd.COMPLETE,
        mismatches=0, by="",
    )  # fmt: skip
    clean = replace(
        rest, first_kib=0, begun_s=NOW_S - 50, ended_s=NOW_S - 40, mismatches=0, kept_mismatches=0
    )
    open_run = replace(clean, begun_s=NOW_S - 5, ended_s=None, end=RunEnd.OPEN)
    SyncBook(state / "syncs", writes=True).write(SyncRecord(uuid=key, runs=(run, rest, clean, open_run)))
    (state / "syncs" / "damaged.json").write_text("{")
    found, _ = own_entries.own_entries()
    assert [(each.text, each.weight) for each in found] == [
        ("check interrupted by raidtui at 33 %, 128 mismatched sectors in what was read", Weight.WARNING),
        ("check ended, 128 mismatched sectors", Weight.WARNING),
        ("check ended, 0 mismatched sectors", Weight.NOTE),
    ]
    assert {(each.origin, each.code, each.uuid) for each in found} == {(Origin.RECORD, "check-result", key)}
    now = ArrayToday(name="md127", key=key, title="data", members=())
    started = Entry(
        at_s=NOW_S - 95, boot="b", origin=Origin.KERNEL, code="sync-started", weight=Weight.NOTE,
        text="md: data-check of RAID array md127", array="md127",
    )  # fmt: skip
    (incident,), _ = assemble([started], found, Today(boot="b", arrays={"md127": now}))
    assert (incident.title, incident.weight) == ("check ended, 128 mismatched sectors", Weight.WARNING)
    assert subject_of(incident, Today(boot="b", arrays={"md127": now})).arrays == (now,)


def test_reading_creates_no_file(state: Path) -> None:
    assert own_entries.own_entries() == ((), ())
    assert list(state.iterdir()) == []


def test_damaged_results_are_said(state: Path) -> None:
    (state / "bench.sqlite").write_bytes(b"no database" * 100)
    _, (trouble,) = own_entries.own_entries()
    assert trouble.code is LogGap.DAMAGED


def test_the_demo_remembers() -> None:
    """Its history is that of its disks: the cable of sdd, the recovery a week ago, today's resync."""
    history = read_history(demo_root())
    titles = [each.title for each in history.incidents if each.weight.word in {"warning", "error"}]
    assert titles == [
        "sdd2 failed: md no longer uses it",
        "sdd2 is outdated and was left out",
        "mdadm --monitor: degraded",
        "booted; no shutdown was logged before",
        "its members were not in step",
    ]
    assert [each.hint.cause.value for each in history.incidents if each.hint is not None] == [
        "link",
        "outdated",
        "unclean",
        "unclean",
    ]
    assert len(history.boots) == 3
    assert history.troubles == ()
