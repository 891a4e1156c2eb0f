"""A trial of TRIM: the members' counters decide, whatever the tool says; and its failing fails nothing."""

from __future__ import annotations

import pytest

from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs.runner import discarded, do_step, trial_sentence
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import RunTool

ARGV = ("fstrim", "--verbose", "/srv")
TRIMMED = "/srv: 1.1 GiB (1181116006 bytes) trimmed\n"
UNSUPPORTED = "fstrim: /srv: the discard operation is not supported\n"


def output(status: int | None = 0, stdout: str = "", stderr: str = "", why_not: str = "") -> ToolOutput:
    return ToolOutput(argv=ARGV, status=status, stdout=stdout, stderr=stderr, why_not=why_not)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"sda": 8, "sdb": 8}, {"sda": 24, "sdb": 8}, {"sda": 16, "sdb": 0}),
        ({"sda": 8}, {"sda": 8, "sdb": 8}, {"sda": 0}),
        ({"sda": 8, "sdb": 8}, {"sda": 9}, {"sda": 1}),
        ({"sda": 8}, {"sda": 0}, {"sda": 0}),
        ({}, {}, {}),
    ],
)
def test_what_was_discarded(before: dict[str, int], after: dict[str, int], found: dict[str, int]) -> None:
    assert discarded(before, after) == found


@pytest.mark.parametrize(
    ("reported", "members", "sentence"),
    [
        (
            output(stdout=TRIMMED),
            {"sda": 1 << 20, "sdb": 0},
            "the members discarded 512 MiB, but sdb discarded nothing: TRIM passes in part",
        ),
        (
            output(stdout=TRIMMED),
            {"sda": 1 << 19, "sdb": 1 << 19},
            "the members discarded 512 MiB: TRIM passes",
        ),
        (
            output(stdout=TRIMMED),
            {"sda": 0, "sdb": 0},
            (
                'fstrim says "/srv: 1.1 GiB (1181116006 bytes) trimmed", but the members discarded nothing:'
                " TRIM does not pass"
            ),
        ),
        (
            output(1, stderr=UNSUPPORTED),
            {"sda": 0, "sdb": 0},
            (
                'fstrim says "/srv: the discard operation is not supported", and the members discarded'
                " nothing: TRIM does not pass"
            ),
        ),
        (
            output(None, why_not="fstrim did not answer within 1800 s"),
            {"sda": 0},
            (
                'fstrim says "fstrim did not answer within 1800 s", and the members discarded nothing:'
                " TRIM does not pass"
            ),
        ),
        (
            output(stdout="/srv: 0 B (0 bytes) trimmed\n"),
            {"sda": 0},
            (
                'fstrim says "/srv: 0 B (0 bytes) trimmed": there was nothing to trim,'
                " so it is not known whether TRIM passes"
            ),
        ),
        (
            output(stdout=TRIMMED),
            {},
            (
                'fstrim says "/srv: 1.1 GiB (1181116006 bytes) trimmed";'
                " nothing more is known, since the members' discards are not counted"
            ),
        ),
    ],
)
def test_a_sentence(reported: ToolOutput, members: dict[str, int], sentence: str) -> None:
    assert trial_sentence(reported, members) == sentence


class Host(SimulatedReader):
    """Has one answer for all tools; its members discard what they discard after some looks."""

    def __init__(self, reported: ToolOutput, *, sectors: int = 0, after: int = 0) -> None:
        super().__init__({})
        self.reported = reported
        self.sectors = sectors
        self.looks = -1 - after
        self.did: list[tuple[str, ...]] = []

    def read(self, path: str, *, keep: bool = False) -> bytes:
        if path != "/proc/diskstats":
            return super().read(path, keep=keep)
        self.looks += bool(self.did)
        count = 8 + (self.sectors if self.looks >= 0 else 0)
        return f"8 0 sda 9 0 9 0 9 0 9 0 0 9 9 1 0 {count} 9 0 0\n".encode()

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        self.did.append(argv)
        return self.reported


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """All pauses that were made; the clock moves by them alone."""
    made: list[float] = []
    monkeypatch.setattr("raidtui.jobs.runner.time.sleep", made.append)
    monkeypatch.setattr("raidtui.jobs.runner.time.monotonic", lambda: 1000.0 + sum(made))
    return made


TRIAL = RunTool(argv=ARGV, why="x", counts=("sda",), may_fail=True)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_the_counters_may_come_late(pauses: list[float], after: int) -> None:
    said: list[str] = []
    host = Host(output(stdout=TRIMMED), sectors=2048, after=after)
    assert do_step(host, TRIAL, said.append) == ""
    assert said == [TRIMMED, "the members discarded 1 MiB: TRIM passes"]
    assert (host.did, len(pauses)) == ([ARGV], after)


def test_nothing_is_waited_for_long(pauses: list[float]) -> None:
    said: list[str] = []
    assert do_step(Host(output(stdout=TRIMMED)), TRIAL, said.append) == ""
    assert said[1].endswith("but the members discarded nothing: TRIM does not pass")
    assert 2.0 <= sum(pauses) < 2.1


def test_a_trial_that_fails_is_a_finding(pauses: list[float]) -> None:
    said: list[str] = []
    never = Fact(kind=FactKind.TEXT, subject="/none", value="x")
    step = RunTool(argv=ARGV, why="x", counts=("sda",), may_fail=True, proves=(never,))
    assert do_step(Host(output(1, stderr=UNSUPPORTED)), step, said.append) == ""
    assert said == [
        UNSUPPORTED,
        (
            'fstrim says "/srv: the discard operation is not supported", and the members discarded nothing:'
            " TRIM does not pass"
        ),
    ]
    assert pauses == []


def test_a_tool_that_may_fail() -> None:
    said: list[str] = []
    step = RunTool(argv=ARGV, why="x", may_fail=True)
    assert do_step(Host(output(1, stderr=UNSUPPORTED)), step, said.append) == ""
    assert said == [
        UNSUPPORTED,
        (
            "fstrim failed (1): fstrim: /srv: the discard operation is not supported;"
            " the plan continues, since this step may fail"
        ),
    ]


def test_what_may_not_fail_fails(pauses: list[float]) -> None:
    step = RunTool(argv=ARGV, why="x", counts=("sda",))
    failed = "fstrim failed (1): fstrim: /srv: the discard operation is not supported"
    assert do_step(Host(output(1, stderr=UNSUPPORTED)), step, lambda _: None) == failed
    assert pauses == []


def test_without_members_nothing_is_counted(pauses: list[float]) -> None:
    said: list[str] = []
    host = Host(output(stdout="done\n"))
    assert do_step(host, RunTool(argv=("mdadm",), why="x"), said.append) == ""
    assert (said, pauses, host.looks) == (["done\n"], [], -1)


@pytest.mark.parametrize(("done", "reason"), [(True, ""), (False, "fstrim failed (139)")])
def test_a_proof_decides_where_a_tool_crashes(pauses: list[float], *, done: bool, reason: str) -> None:
    said: list[str] = []
    there = Fact(kind=FactKind.ABSENT if done else FactKind.NODE, subject="/none/at/all")
    step = RunTool(argv=ARGV, why="x", proof_decides=True, proves=(there,))
    assert do_step(Host(output(139)), step, said.append) == reason
    assert said == (["fstrim failed (139); its result is there nevertheless"] if done else [])
