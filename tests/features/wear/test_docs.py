"""docs/wear.md says what the command line takes and prints, and the units in the package run it."""

from __future__ import annotations

import argparse
import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest

import raidtui
from raidtui.app.cli import build_parser, run
from raidtui.features.wear.wear_report import metric_lines, wear_dict, wear_of_text
from raidtui.model.self_test import SelfTestKind, SelfTestOutcome
from raidtui.model.smart import Unread
from raidtui.monitor.wear.array_wear import judge_array
from raidtui.monitor.wear.counter_units import UnitState
from raidtui.monitor.wear.faults import DiskCode
from raidtui.monitor.wear.witnesses import Confidence
from tests.demo.scene import Scene
from tests.monitor.wear.disks import NAMES, facts, smartctl_json, text_of
from tests.monitor.wear.hosts import TB, asleep, evo
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "wear.md").read_text(encoding="utf-8")
UNITS = Path(raidtui.__file__).parent / "systemd"


def rows(heading: str) -> dict[str, str]:
    """Return first cell -> row of the table below a heading, backticks left out."""
    part = re.split(r"\n#+ ", TEXT.partition(f"\n{heading}\n")[2])[0]
    lines = [line for line in part.split("\n") if line.startswith("| `")]
    return {line.split(" | ")[0].strip("| `"): line for line in lines}


def printed() -> dict[str, Any]:
    """Return what the command prints of disks, one of each kind among them."""
    disks = [wear_of_text(text_of(name, "sda"), "x") for name in NAMES]
    disks += [wear_of_text(evo("sdb", TB, 0), "x"), wear_of_text(asleep(), "x")]
    disks.append(wear_of_text(Scene().reader.take_tool("smartctl", "/dev/sda").stdout, "x"))
    whole: dict[str, Any] = json.loads(
        json.dumps(wear_dict(disks, [judge_array("data", "key", disks[-4:-2])]))
    )
    return whole


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The demo's report."""
    run(["--demo", "wear", "--json"])
    whole: dict[str, Any] = json.loads(capsys.readouterr().out)
    return whole


def test_every_field_of_the_report(report: dict[str, Any]) -> None:
    assert list(rows("### The report")) == list(report)
    assert list(rows("### `mark`")) == list(report["mark"])
    assert list(rows("### each of `costs`")) == list(report["costs"][0])
    assert list(rows("### each of `arrays`")) == list(report["arrays"][0])


def test_every_field_of_a_disk() -> None:
    whole = printed()
    for disk in whole["disks"]:
        assert list(rows("### each of `disks`")) == list(disk)
        assert list(rows("### `percent` and `written`")) == list(disk["written"])
        assert list(disk["percent"]) == list(disk["written"])[:5]
        for finding in disk["findings"]:
            assert list(rows("### each of `findings`")) == list(finding)
    tests = whole["disks"][-1]["self_tests"]
    assert list(rows("### `self_tests`")) == list(tests)
    assert [list(rows("### each of `log`"))] * 3 == [list(test) for test in tests["log"]]
    forecasts = [disk["forecast"] for disk in whole["disks"] if disk["forecast"]]
    unread = [disk["unread"] for disk in whole["disks"] if disk["unread"]]
    assert list(rows("### `forecast`")) == list(forecasts[0])
    assert list(rows("### `unread`")) == list(unread[0])


def test_the_fields_that_others_rely_on() -> None:
    assert list(rows("### each of `disks`"))[:10] == [
        "name", "model", "serial", "percent_used", "bytes_written", "unit_bytes", "source", "confidence",
        "smart_passed", "findings",
    ]  # fmt: skip


def test_every_code() -> None:
    assert list(rows("### each `code`")) == sorted(DiskCode)


def test_every_word() -> None:
    assert list(rows("## How sure a figure is"))[1:] == [each.value for each in Confidence]
    log = rows("### each of `log`")
    assert re.findall(r"`([a-z]+)`", log["kind"]) == ["kind", *SelfTestKind]
    assert re.findall(r"`([a-z]+)`", log["outcome"]) == ["outcome", *SelfTestOutcome]
    verdicts = rows("### `percent` and `written`")["unit_verdict"]
    assert [word for word in re.findall(r"`([a-z]+)`", verdicts) if word in set(UnitState)] == list(UnitState)
    assert re.findall(r"`([a-z ]+)`", rows("### `unread`")["why"])[1:] == list(Unread)


def test_every_metric() -> None:
    disks = [wear_of_text(text_of(name, "sda"), "x") for name in NAMES]
    sas = facts("toshiba-pm5")
    sas["scsi"]["nonmedium"] = 3
    disks.append(wear_of_text(json.dumps(smartctl_json(sas)), "x"))
    kinds = dict(line.split(" ")[2:4] for line in metric_lines(disks) if line.startswith("# TYPE"))
    reported = {name: row.split(" | ")[1] for name, row in rows("## `--prometheus`").items()}
    assert reported == kinds


def test_every_option() -> None:
    commands = next(
        action
        for action in build_parser(whole=True)._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    options = {word for action in commands.choices["wear"]._actions for word in action.option_strings}
    named = set(re.findall(r"raidtui wear (--[a-z]+)", TEXT))
    assert named == options - {"-h", "--help", "--root", "--demo"}


def test_the_history_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    part = TEXT.partition("`--history DISK --json` is one object:")[2].partition("\n\n")[0]
    run(["--demo", "wear", "--json", "--history", "sdd"])
    found = json.loads(capsys.readouterr().out)
    run(["--demo", "wear", "--json", "--history"])
    known = json.loads(capsys.readouterr().out)
    fields = [*found, *found["days"][0], *known, *known["disks"][0]]
    assert {f"`{field}`" for field in fields if field != "format_version"} <= set(
        re.findall(r"`[a-z_]+`", part)
    )


def unit(name: str) -> configparser.ConfigParser:
    """Return a unit, parsed."""
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string((UNITS / name).read_text(encoding="utf-8"))
    return parser


def test_the_timers_units() -> None:
    program, *argv = unit("raidtui-wear.service")["Service"]["ExecStart"].split()
    assert program == "raidtui"
    assert build_parser().parse_args(argv).record is True
    timer = unit("raidtui-wear.timer")
    assert (timer["Timer"]["OnCalendar"], timer["Install"]["WantedBy"]) == ("hourly", "timers.target")
    for name in ("raidtui-wear.service", "raidtui-wear.timer"):
        assert name in TEXT
