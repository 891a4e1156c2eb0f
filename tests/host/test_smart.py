"""Asking disks: the exact commands, who is not woken, who is not waited for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.smart.smart_reader import SmartReader, errors_argv, read_measured, read_smart, smart_argv
from raidtui.host.tools import ToolOutput, output_path
from raidtui.model.answer import AnswerKind
from raidtui.model.smart import NoReading, SmartMeasurement, SmartReading, Unread
from tests.monitor.wear.disks import text_of

ASK = ("smartctl", "--json=c", "-x", "-n", "standby,3,5", "/dev/sda")
ASK_OLD = ("smartctl", "--json=c", "-x", "-n", "standby,3", "/dev/sda")
ASK_AWAKE = ("smartctl", "--json=c", "-x", "-n", "never", "/dev/sda")
BLOCK = "/sys/class/block"
UNKNOWN = '{"smartctl":{"messages":[{"string":"CHECK POWER MODE not implemented, exit(5)"}],"exit_status":5}}'


class Host(MemoryReader):
    """A host whose smartctl answers as the test says; it remembers what it was asked."""

    def __init__(
        self, answer: Callable[[tuple[str, ...]], ToolOutput], files: dict[str, str] | None = None
    ) -> None:
        super().__init__(files or {})
        self.asked: list[tuple[tuple[str, ...], float]] = []
        self._answer = answer

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        assert not stdin
        self.asked.append((argv, timeout_s))
        return self._answer(argv)


def _output(argv: tuple[str, ...], status: int | None, stdout: str = "", why_not: str = "") -> ToolOutput:
    return ToolOutput(argv=argv, status=status, stdout=stdout, stderr="", why_not=why_not)


def _answers(*outputs: tuple[int | None, str]) -> Callable[[tuple[str, ...]], ToolOutput]:
    left = list(outputs)

    def answer(argv: tuple[str, ...]) -> ToolOutput:
        status, stdout = left.pop(0)
        return _output(argv, status, stdout)

    return answer


def test_the_command() -> None:
    assert smart_argv("sda") == ASK
    assert smart_argv("cciss/c0d0")[-1] == "/dev/cciss/c0d0"


def test_a_sas_disk_is_asked_for_its_non_medium_errors_too() -> None:
    text = json.dumps(
        {"smartctl": {"output": ["Error counter log:", "", "Non-medium error count:     1445"]}}
    )
    host = Host(_answers((0, text_of("toshiba-pm5")), (0, text)))
    found = read_smart(host, "sda")
    assert isinstance(found, SmartReading)
    assert found.nonmedium_errors == 1445
    assert [argv for argv, _ in host.asked] == [ASK, errors_argv("sda")]
    assert errors_argv("sda") == ("smartctl", "--json=co", "-l", "error", "-n", "standby,3", "/dev/sda")


@pytest.mark.parametrize("said", ["", "{", "[]", '{"smartctl":{"output":"Non-medium error count: 1"}}'])
def test_without_an_answer_non_medium_errors_are_not_known(said: str) -> None:
    found = read_smart(Host(_answers((0, text_of("toshiba-pm5")), (1, said))), "sda")
    assert isinstance(found, SmartReading)
    assert found.nonmedium_errors is None


def test_a_disk_is_asked_once() -> None:
    host = Host(_answers((0, text_of("samsung-pm883"))))
    found = read_smart(host, "sda", timeout_s=7.0)
    assert isinstance(found, SmartReading)
    assert (found.name, found.serial) == ("sda", "RT0026")
    assert host.asked == [(ASK, 7.0)]


def test_its_time_is_thirty_seconds() -> None:
    host = Host(_answers((0, "")))
    read_smart(host, "sda")
    assert host.asked == [(ASK, 30.0)]


def test_one_that_sleeps_is_asked_once_and_not_woken() -> None:
    text = '{"smartctl":{"messages":[{"string":"Device is in STANDBY mode, exit(3)"}],"exit_status":3}}'
    host = Host(_answers((3, text)))
    assert read_smart(host, "sda") == NoReading(
        name="sda", why=Unread.STANDBY, reason="is asleep (standby) and was not woken"
    )
    assert [argv for argv, _ in host.asked] == [ASK]


def test_the_exit_status_alone_reports_that_it_sleeps() -> None:
    host = Host(_answers((3, '{"smartctl":{"exit_status":3},"device":{"name":"/dev/sda"}}')))
    assert read_smart(host, "sda") == NoReading(
        name="sda", why=Unread.STANDBY, reason="is asleep and was not woken"
    )


def test_a_hard_disk_of_unknown_power_state_is_left_alone() -> None:
    host = Host(_answers((5, UNKNOWN)), {f"{BLOCK}/sda/queue/rotational": "1\n"})
    found = read_smart(host, "sda")
    assert isinstance(found, NoReading)
    assert found.why is Unread.POWER_UNKNOWN
    assert [argv for argv, _ in host.asked] == [ASK]


def test_an_ssd_of_unknown_power_state_is_read_all_the_same() -> None:
    host = Host(
        _answers((5, UNKNOWN), (0, text_of("samsung-pm883"))), {f"{BLOCK}/sda/queue/rotational": "0\n"}
    )
    assert isinstance(read_smart(host, "sda"), SmartReading)
    assert [argv for argv, _ in host.asked] == [ASK, ASK_AWAKE]


def test_an_old_smartctl_knows_one_status() -> None:
    refused = '{"smartctl":{"messages":[{"string":"=======> INVALID ARGUMENT TO -n: standby,3,5"}]}}'
    host = Host(_answers((1, refused), (0, text_of("samsung-pm883"))))
    assert isinstance(read_smart(host, "sda"), SmartReading)
    assert [argv for argv, _ in host.asked] == [ASK, ASK_OLD]


@pytest.mark.parametrize(
    ("why_not", "why", "remedy"),
    [
        (
            "smartctl is not installed",
            Unread.NO_TOOL,
            "apt install smartmontools, or your distribution's smartmontools",
        ),
        (
            "smartctl did not answer within 30 s",
            Unread.TIMEOUT,
            "the disk or its link may hang: see the kernel log",
        ),
        ("smartctl was not run for this capture", Unread.BROKEN, ""),
        ("smartctl: Permission denied", Unread.NO_PERMISSION, "run raidtui as root (sudo raidtui)"),
    ],
)
def test_without_an_answer_it_says_what_helps(why_not: str, why: Unread, remedy: str) -> None:
    silences = {
        Unread.NO_TOOL: AnswerKind.NO_TOOL,
        Unread.TIMEOUT: AnswerKind.TIMED_OUT,
        Unread.NO_PERMISSION: AnswerKind.REFUSED,
    }
    silence = silences.get(why, AnswerKind.NOT_ASKED)
    host = Host(lambda argv: replace(_output(argv, None, why_not=why_not), silence=silence))
    assert read_smart(host, "sda") == NoReading(name="sda", why=why, reason=why_not, remedy=remedy)


def test_a_capture_holds_the_answer() -> None:
    root = MemoryReader({output_path(ASK): f"exit 0\n{text_of('samsung-pm883')}"})
    assert isinstance(read_smart(root, "sda"), SmartReading)
    found = read_smart(root, "sdb")
    assert isinstance(found, NoReading)
    assert found.reason == "smartctl was not run for this capture"


@given(st.text(), st.integers(0, 255))
def test_whatever_smartctl_says(text: str, status: int) -> None:
    found = read_smart(Host(lambda argv: _output(argv, status, text)), "sda")
    assert found.name == "sda"


DISKSTATS = (
    "   8       0 sda 1 2 3 4 5 6 {} 8 0 10 11 0 0 0 0 0 0\n   8      16 sdb 1 2 3 4 5 6 9 8 0 10 11\n"
)


def _files(sectors: int) -> dict[str, str]:
    return {
        "/proc/diskstats": DISKSTATS.format(sectors),
        "/proc/sys/kernel/random/boot_id": "0e1f-boot\n",
        f"{BLOCK}/sda/diskseq": "9\n",
    }


def test_a_reading_lies_between_two_of_the_kernels_count() -> None:
    host = Host(_writing(lambda: host.put("/proc/diskstats", DISKSTATS.format(1600))), _files(1000))
    found = read_measured(host, "sda")
    assert isinstance(found.result, SmartReading)
    assert (found.since, found.low_bytes, found.high_bytes) == ("0e1f-boot/9", 512_000, 819_200)


def _writing(happens: Callable[[], None]) -> Callable[[tuple[str, ...]], ToolOutput]:
    def answer(argv: tuple[str, ...]) -> ToolOutput:
        happens()
        return _output(argv, 0, text_of("samsung-pm883"))

    return answer


@pytest.mark.parametrize(
    "diskstats", ["", "8 0 sda 1 2", "8 0 sda 1 2 3 4 5 6 x 8", "8 0 sdb 1 2 3 4 5 6 7 8"]
)
def test_without_the_kernels_count_there_is_none(diskstats: str) -> None:
    host = Host(lambda argv: _output(argv, 0, text_of("samsung-pm883")), {"/proc/diskstats": diskstats})
    found = read_measured(host, "sda")
    assert (found.since, found.low_bytes, found.high_bytes) == ("", None, None)


def test_many_disks_of_a_host_that_is_not_live() -> None:
    host = Host(lambda argv: _output(argv, 0, text_of("samsung-pm883")))
    found = SmartReader(host).read(("sda", "sdb"))
    assert [(name, answer.result.name) for name, answer in found.items()] == [("sda", "sda"), ("sdb", "sdb")]


class LiveHost(Host):
    """A host on which ``hung``'s smartctl does not come back before the test lets it."""

    live = True

    def __init__(self, *hung: str) -> None:
        super().__init__(self._reply)
        self.hung = hung
        self.free = threading.Event()

    def _reply(self, argv: tuple[str, ...]) -> ToolOutput:
        if argv[-1] in self.hung:
            self.free.wait()
        return _output(argv, 0, text_of("samsung-pm883", argv[-1].removeprefix("/dev/")))


def test_many_disks_of_a_live_host_are_asked_at_once() -> None:
    host = LiveHost()
    names = tuple(f"sd{letter}" for letter in "abcdefghijklmnopqrst")
    found = SmartReader(host).read(names)
    assert [answer.result.name for answer in found.values()] == list(names)
    assert sorted(argv[-1] for argv, _ in host.asked) == [f"/dev/{name}" for name in names]


def test_a_disk_that_hangs_keeps_nobody_waiting_and_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("raidtui.host.smart.smart_reader._GRACE_S", 0.0)
    host = LiveHost("/dev/sdb")
    reader = SmartReader(host, timeout_s=1.0)
    hangs = SmartMeasurement(
        result=NoReading(
            name="sdb",
            why=Unread.TIMEOUT,
            reason="smartctl did not answer within 1 s, and cannot be killed",
            remedy="the disk or its link may hang: see the kernel log",
        )
    )
    try:
        found = reader.read(("sda", "sdb"))
        assert isinstance(found["sda"].result, SmartReading)
        assert found["sdb"] == hangs
        again = reader.read(("sda", "sdb"))
        assert isinstance(again["sda"].result, SmartReading)
        assert again["sdb"] == hangs
        assert [argv[-1] for argv, _ in host.asked].count("/dev/sdb") == 1
    finally:
        host.free.set()
    for thread in threading.enumerate():
        if thread.daemon and "_ask" in thread.name:
            thread.join()
    assert isinstance(reader.read(("sdb",))["sdb"].result, SmartReading)
