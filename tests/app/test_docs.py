"""The documents: plans, journals and the command line are named whole, and named tests exist."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from raidtui.app.cli import build_parser
from raidtui.jobs.plan_file import PlanFile
from raidtui.jobs.states import FINAL
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, RefusalCode, Step
from tests.goldens import SNAPSHOTS, read_goldens
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "plans.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """Return first cell -> row of the tables below a heading, backticks left out."""
    part = re.split(r"\n#+ ", TEXT.partition(heading)[2])[0]
    lines = [line for line in part.split("\n") if line.startswith(("| `", "| 0", "| 1", "| 2"))]
    return {line.split(" | ")[0].strip("| `"): line for line in lines}


@pytest.mark.parametrize(
    ("heading", "record"),
    [
        ("## The form: `raidtui_plan` 2", PlanFile),
        ("### `plan`", Plan),
    ],
)
def test_every_field(heading: str, record: type[msgspec.Struct]) -> None:
    assert list(rows(heading)) == [field.encode_name for field in msgspec.structs.fields(record)]


@pytest.mark.parametrize("kind", get_args(Step))
def test_every_field_of_a_step(kind: type[msgspec.Struct]) -> None:
    common = list(rows("### each step"))
    own = list(rows(f"#### `{kind.__struct_config__.tag}`"))
    assert common[0] == kind.__struct_config__.tag_field
    assert [*common[1:], *own] == [field.encode_name for field in msgspec.structs.fields(kind)]


def test_every_fact() -> None:
    fields = [field.name for field in msgspec.structs.fields(Fact)]
    assert list(rows("### each fact")) == [*fields, *map(str, FactKind)]


def test_every_rung_of_the_ladder() -> None:
    assert list(rows("## The danger ladder"))[1:] == [str(int(harm)) for harm in Harm]


def test_every_code_of_a_refusal() -> None:
    assert list(rows("### A refusal: `raidtui_refusal` 1")) == list(RefusalCode)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands below a parser."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def test_every_verb() -> None:
    named = [name.partition(" ")[0] for name in rows("## `raidtui plan VERB ...`")]
    assert sorted(named) == sorted(subcommands(subcommands(build_parser(whole=True))["plan"]))


def test_every_order() -> None:
    for name in set(subcommands(subcommands(build_parser(whole=True))["jobs"])) - {"work"}:
        assert f"raidtui jobs {name} ID" in TEXT


def test_every_event() -> None:
    table = " ".join(rows("## A job's folder"))
    source = "".join(file.read_text() for file in (HOUSE / "raidtui" / "jobs").glob("*.py"))
    events = set(re.findall(r'event="([a-z ]+)"', source)) | FINAL
    assert {event for event in events if event not in table} == set()
    assert {"begin", "undo failed", "stuck", "made"} <= events


@pytest.mark.parametrize(
    ("document", "first"), [("docs/safety.md", "| accident |"), ("SECURITY.md", "| threat |")]
)
def test_every_guard_has_its_tests(document: str, first: str) -> None:
    whole = (HOUSE / document).read_text(encoding="utf-8")
    rows = [line for line in whole[whole.index(first) :].split("\n") if line.startswith("| ")][1:]
    assert len(rows) > 15
    for row in rows:
        tests = re.findall(r"`(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)(?:\[([^`]+)\])?`", row.split(" | ")[-1])
        assert tests, row
        for path, name, case in tests:
            written = rf"^{name} = accepted\(" if case else rf"^(async )?def {name}\("
            assert re.search(written, (HOUSE / path).read_text(), re.MULTILINE), name
            golden = SNAPSHOTS / "plans" / f"{Path(path).stem.removeprefix('test_')}.txt"
            assert not case or case in read_goldens(golden), case
