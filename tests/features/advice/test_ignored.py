"""What an ignored piece of advice is known by, and when it is reported again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import Advice
from raidtui.features.advice.advice_rules import advise
from raidtui.features.advice.ignored import Ignored, IgnoredAdvice, why_ignored
from raidtui.model.finding import Severity
from raidtui.plans.tune.findings import TuneCode, TuneFinding
from tests.features.advice.test_advice_rules import UUID, facts, layers, mounted, snapshot
from tests.hosts.specs import raid5

ROW = Ignored(
    code="file-system-full",
    key="/srv",
    subject="/srv",
    severity=1,
    who="ada",
    why="",
    at_s=100.0,
    until_s=None,
)


def full(share: float) -> Advice:
    (found,) = advise(facts(stack=layers(system=mounted(1 - share))))
    return found


def test_what_gets_worse_is_reported_again() -> None:
    assert why_ignored(full(0.85), [ROW], 200.0) == ROW
    assert full(0.96).severity > Severity.ATTENTION
    assert why_ignored(full(0.96), [ROW], 200.0) is None


def test_for_a_while() -> None:
    row = replace(ROW, until_s=300.0)
    assert why_ignored(full(0.85), [row], 299.0) == row
    assert why_ignored(full(0.85), [row], 300.0) is None


def test_another_subject_is_not_ignored() -> None:
    assert why_ignored(full(0.85), [replace(ROW, key="/home")], 200.0) is None
    assert why_ignored(full(0.85), [replace(ROW, code="no-bitmap")], 200.0) is None


def test_an_array_is_known_by_its_uuid() -> None:
    """Its name and its number may be another one's after a boot."""
    seen = snapshot(raid5(), consistency_policy="resync", uuid=UUID)
    (found,) = advise(facts(snapshot=seen))
    assert (found.subject, found.key) == (seen.arrays[0].title, f"array {UUID}")
    (renamed,) = advise(facts(snapshot=snapshot(raid5(), consistency_policy="resync", uuid=UUID, name="md9")))
    assert renamed.key == found.key


def test_a_disk_is_known_by_its_serial_number_and_a_knob_by_its_name() -> None:
    seen = snapshot(raid5())
    disk = seen.disks[seen.arrays[0].members[0].name]
    found = advise(
        facts(
            snapshot=seen,
            tune_findings=[
                TuneFinding(
                    code=TuneCode.TIMEOUT,
                    severity=Severity.ATTENTION,
                    subject=disk.name,
                    name=disk.name,
                    sentence="a sentence",
                    about=((disk.name, knob),),
                )
                for knob in ("scterc", "timeout")
            ],
        )
    )
    assert disk.identity
    assert {each.key for each in found} == {f"disk {disk.identity} {knob}" for knob in ("scterc", "timeout")}


def test_a_bug_is_known_by_its_number() -> None:
    """Who ignores one has not read about the next."""
    seen = snapshot(raid5(), uuid=UUID)
    old = replace(seen, host=replace(seen.host, kernel="5.10.0"))
    (found,) = advise(facts(snapshot=old))
    assert found.key == f"array {UUID} CVE-2024-43914"


def test_a_row_replaces_one_about_the_same(tmp_path: Path) -> None:
    with IgnoredAdvice(tmp_path / "advice.sqlite") as file:
        file.ignore([ROW, replace(ROW, key="/home")])
        file.ignore([replace(ROW, why="again", at_s=200.0)])
        assert [(row.key, row.why) for row in file.rows()] == [("/home", ""), ("/srv", "again")]
        file.unignore([ROW])
        assert [row.key for row in file.rows()] == ["/home"]
    with pytest.raises(Exception, match="closed"):
        file.rows()
