"""A doubt in the record of evidence is said on the command line: by a search, a trial and its plan."""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from raidtui.features.rescue import cli_try
from raidtui.features.rescue.cli_search import result_dict, result_lines, status_of
from raidtui.features.rescue.cli_try import _followed
from raidtui.features.rescue.search.results import (
    CandidateEvidence,
    CheckResult,
    Proof,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)
from raidtui.plans.shell_script import plan_sentences
from tests.features.rescue.test_real_plan import OUTCOME, members, planned, trial
from tests.features.rescue.test_tie import GEOMETRY, OTHER

EVIDENCE = CandidateEvidence(compared=59, unmatched=4)
[DOUBT] = EVIDENCE.doubts


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
    monkeypatch.setattr(cli_try, "outcome_of", lambda _: OUTCOME)
    monkeypatch.setattr(cli_try, "record_of", lambda _: record)
    job = SimpleNamespace(id="20261122-trial")
    arguments = argparse.Namespace(detach=False, json=as_json)
    assert _followed(job, arguments) == 0  # type: ignore[arg-type]
    said = capsys.readouterr().out
    assert json.loads(said)["doubts"] == [DOUBT] if as_json else DOUBT in said.split("\n")
    assert f"  {DOUBT}" in plan_sentences(planned(members(), record))
