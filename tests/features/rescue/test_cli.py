"""``raidtui rescue``: its words, a geometry as it is typed, and doubts that are said."""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from raidtui.app.cli import build_parser
from raidtui.features.rescue import cli_try
from raidtui.features.rescue.cli_search import result_dict, result_lines, status_of
from raidtui.features.rescue.cli_try import _followed, read_geometry
from raidtui.features.rescue.search.results import (
    CandidateEvidence,
    CheckResult,
    Proof,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)
from raidtui.plans.shell_script import plan_sentences
from tests.features.rescue.test_real_plan import OUTCOME, members, planned, trial
from tests.features.rescue.test_results import GEOMETRY, OTHER

EVIDENCE = CandidateEvidence(compared=59, unmatched=4)
[DOUBT] = EVIDENCE.doubts


@pytest.mark.parametrize(
    ("words", "devices", "root"),
    [
        ("rescue", [], None),
        ("rescue --json", [], None),
        ("rescue sda sdb", ["sda", "sdb"], None),
        ("rescue --json sda", ["sda"], None),
        ("rescue --root diagnose sda", ["sda"], "diagnose"),
        ("rescue --root=x sda", ["sda"], "x"),
        ("--root x rescue sda", ["sda"], "x"),
        ("rescue diagnose --json sda", ["sda"], None),
        ("rescue /dev/diagnose", ["/dev/diagnose"], None),
    ],
)
def test_without_a_subcommand_it_is_the_diagnosis(words: str, devices: list[str], root: str | None) -> None:
    found = build_parser().parse_args(words.split())
    assert (found.subcommand, found.devices, found.root) == ("diagnose", devices, root)
    assert found.json is ("--json" in words)


def test_a_search_reads_the_same_places_again() -> None:
    assert build_parser().parse_args(["rescue", "search", "sda", "sdb"]).seed == 1


def test_sectors_are_whole_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rescue", "mismatches", "md127"]
    assert build_parser().parse_args([*words, "--limit=8"]).limit == 8
    for word in ("x", "-1", "²", "1" * 19):
        with pytest.raises(SystemExit):
            build_parser().parse_args([*words, f"--limit={word}"])
        assert f"{word}: not a whole number" in capsys.readouterr().err


def test_help_is_that_of_all_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["rescue", "--help"])
    assert "raidtui rescue [--json] [DEVICE...]" in " ".join(capsys.readouterr().out.split())


def test_all_of_it() -> None:
    text = "level=6,layout=left-symmetric,chunk=512,offset=264192,metadata=1.1,size=4096"
    assert read_geometry(text, ["sda", "missing"]) == RescueGeometry(
        level=6,
        order=("sda", "missing"),
        layout="left-symmetric",
        chunk_bytes=512 << 10,
        data_offset_sectors=264192,
        metadata="1.1",
        size_sectors=4096,
    )


def test_the_least() -> None:
    assert read_geometry("level=1,metadata=0.90", ["sda"]) == RescueGeometry(
        level=1, order=("sda",), metadata="0.90"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "level=0, 1, 4, 5, 6 or 10"),
        ("level=7", "level=0, 1, 4, 5, 6 or 10"),
        ("level=5,offset=0,layout=la", "chunk=KIB: a default is a guess"),
        ("level=5,offset=0,chunk=64", "layout=: a default is a guess"),
        ("level=5,layout=la,chunk=64", "offset=SECTORS: a default is a guess"),
        ("level=5,level=6", "each once"),
        ("level", "each once"),
        ("level=1,offset=x", "offset=x is not a number"),
        ("level=1,metadata=2", "metadata '2' is not one of"),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("'", ".")):
        read_geometry(text, ["sda", "sdb", "sdc"])


def test_by_a_search() -> None:
    """Of those that fit best; what has less for it was not read so far."""
    clean = Proof(check=CheckResult.CLEAN, sure="9 blocks are right.")
    best = SearchCandidate(geometry=GEOMETRY, proof=clean, passed=9, failed=0, best=True, evidence=EVIDENCE)
    other = replace(best, geometry=OTHER, best=False)
    result = SearchResult(outcome=SearchOutcome.UNIQUE, candidates=(best, other), alike=1)
    text = " ".join(" ".join(result_lines(result)).split())
    assert text.count(DOUBT) == 1
    assert result_dict(result)["candidates"][0]["doubts"] == [DOUBT]
    # Also where the kernel's check of the first one (--trial) has found nothing wrong.
    assert status_of(result) == 1
    sure = replace(result, candidates=(replace(best, evidence=CandidateEvidence()), other))
    assert status_of(sure) == 0


@pytest.mark.parametrize("as_json", [True, False])
def test_by_a_trial_and_its_plan(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    record = trial()
    record = replace(record, request=replace(record.request, evidence=EVIDENCE))
    monkeypatch.setattr(cli_try, "attach", lambda _: 0)
    monkeypatch.setattr(cli_try, "await_trial", lambda _: None)
    monkeypatch.setattr(cli_try, "read_outcome", lambda _: OUTCOME)
    monkeypatch.setattr(cli_try, "read_record", lambda _: record)
    job = SimpleNamespace(id="20261122-trial")
    arguments = argparse.Namespace(detach=False, json=as_json)
    assert _followed(job, arguments) == 0  # type: ignore[arg-type]
    said = capsys.readouterr().out
    assert json.loads(said)["doubts"] == [DOUBT] if as_json else DOUBT in said.split("\n")
    assert f"  {DOUBT}" in plan_sentences(planned(members(), record))
