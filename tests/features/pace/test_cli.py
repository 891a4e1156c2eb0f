"""``raidtui pace``: what it takes, refuses and prints."""

import configparser
import json
import re

import pytest
from msgspec.structs import replace

from raidtui.app.cli import build_parser, run
from raidtui.demo.demo_host import demo_root
from raidtui.features.pace.cli import pace_dict
from raidtui.features.pace.session import typed_request
from raidtui.model.pace import DayWindow, PacedArray, PaceNews, PaceRequest, PaceWhy
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode
from raidtui.monitor.sampler import Sampler
from raidtui.plans.pace_plan import paced_array, plan_pace
from raidtui.plans.pace_words import given_words, pace_sentence
from tests.places import HOUSE

HERE = HOUSE
UNITS, DOCS = HERE / "raidtui/systemd", HERE / "docs/pace.md"
ARRAY = PacedArray(name="md127", uuid="", title="data")
NEWS = PaceNews(
    boot="b", pid=7, started_s=1.0, at_s=1000.0, array=ARRAY, target_ms=20.0, latency_ms=14.25,
    limit_kib_s=20_000, floor_kib_s=1, full_kib_s=200_000, queue=4, why=PaceWhy.LATENCY, left_s=7200.0,
)  # fmt: skip


def test_the_units_command_is_one() -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(UNITS / "raidtui-pace@.service")
    service = parser["Service"]
    pace = service["Environment"].strip('"').removeprefix("PACE=")
    program, *argv = service["ExecStart"].replace("%i", "data").replace("$PACE", pace).split()
    found = build_parser().parse_args(argv)
    assert (program, found.command, found.arrays) == ("raidtui", "pace", ["data"])
    assert (found.here, found.stay, found.latency) == (True, True, 20.0)
    assert build_parser().parse_args(service["ExecStopPost"].split()[1:]).restore is True
    assert "raidtui-pace@.service" in DOCS.read_text()


def test_every_field_is_documented() -> None:
    fields = re.findall(r"^\| `([a-z_]+)` \|", DOCS.read_text().partition("## JSON")[2], re.MULTILINE)
    assert fields == list(pace_dict(NEWS))


def test_every_reason_is_documented() -> None:
    assert {f"`{why}`:" for why in PaceWhy} <= set(DOCS.read_text().split())


@pytest.mark.parametrize(
    ("word", "window"),
    [("22:00-06:00=full", (1320, 360)), ("0:00-24:00=full", (0, 0)), ("12:30-13:00=full", (750, 780))],
)
def test_a_window(word: str, window: tuple[int, int]) -> None:
    found = build_parser().parse_args(["pace", "data", "--latency", "20", "--window", word]).window
    assert found == [DayWindow(first_minute=window[0], last_minute=window[1])]


@pytest.mark.parametrize(
    "words",
    [["--window", "22-6=full"], ["--window", "25:00-06:00=full"], ["--within", "0"], ["--within", "nan"],
     ["--latency", "fast"], ["--by", "06:00", "--within", "3"], ["--stop", "--status"]],
)  # fmt: skip
def test_wrong_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["pace", "data", *words])
    assert ended.value.code == 64


def test_a_simulated_host_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "pace", "data", "--latency", "20", "--stay"]) == 2
    assert run(["--demo", "pace", "data"]) == 2
    assert "an array and --latency are needed" in capsys.readouterr().err
    assert run(["--demo", "pace", "--restore"]) == 2
    assert run(["--demo", "pace", "--status"]) == 0
    assert capsys.readouterr().out == "No array is paced.\n"


@pytest.mark.parametrize("by", ["6", "25:00", "2026-13-01T00:00", "tomorrow"])
def test_an_end_that_is_no_time(by: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "pace", "data", "--latency", "20", "--by", by, "--json"]) == 2
    refusal = json.loads(capsys.readouterr().out)
    assert (refusal["code"], refusal["why"]) == ("invalid", f"invalid time {by!r}")


def test_a_device_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "pace", "data", "--latency", "20", "--device", "nothing"]) == 2
    assert "there is no device nothing" in capsys.readouterr().err


def planned(**more: object) -> Plan | Refusal:
    snapshot = Sampler(demo_root()).sample()
    array = next(each for each in snapshot.arrays if each.title == "data")
    assert paced_array(array).uuid == array.uuid != ""
    request = PaceRequest(arrays=(paced_array(array),), latency_ms=20.0)
    return plan_pace(snapshot, replace(request, **more))


def test_the_plan_says_what_is_written_and_what_comes_back() -> None:
    plan = planned(windows=(DayWindow(first_minute=1320, last_minute=360),))
    assert isinstance(plan, Plan)
    assert (plan.title, plan.subject, plan.harm) == ("pace: data, 20 ms", "data", Harm.HARMLESS)
    words = "\n".join(plan.notes)
    assert "It writes sync_speed_min and sync_speed_max in /sys/class/block/md127/md, and nr_" in words
    assert "What is there now comes back at the end, or by the next start: sync_speed_min" in words
    assert "It reads 4 KiB of the array 2 to 10 times a second, and lets md have as much speed as" in words
    assert "No end is set" in words
    assert "Full speed from 22:00 to 06:00." in words


@pytest.mark.parametrize(
    ("more", "code"),
    [({"latency_ms": 0.0}, "invalid"), ({"latency_ms": float("nan")}, "invalid"), ({"by_s": 1.0}, "invalid"),
     ({"arrays": (replace(ARRAY, name="md99"),)}, "not-found"), ({"arrays": ()}, "not-found")],
)  # fmt: skip
def test_what_is_refused(more: dict[str, object], code: str) -> None:
    made = planned(**more)
    assert isinstance(made, Refusal)
    assert made.code == code


def test_without_a_sync_there_is_nothing_to_pace_but_the_next_one() -> None:
    snapshot = Sampler(demo_root()).sample()
    array = next(each for each in snapshot.arrays if each.sync is None and each.speed_limit is not None)
    request = PaceRequest(arrays=(paced_array(array),), latency_ms=20.0)
    made = plan_pace(snapshot, request)
    assert isinstance(made, Refusal)
    assert made.code is RefusalCode.NOTHING_TO_DO
    assert isinstance(plan_pace(snapshot, replace(request, stays=True)), Plan)


def test_the_sentence() -> None:
    assert pace_sentence(NEWS, 1001.0) == (
        "20 ms wanted, 14.2 ms at worst now; up to 20.5 MB/s: as much as holds the target;"
        " ends in about 2 h 00"
    )
    assert pace_sentence(NEWS, 1060.0).startswith("20 ms wanted, not heard of for 60 s; ")
    trouble = replace(NEWS, trouble="dm-3 is suspended")
    assert pace_sentence(trouble, 1001.0).startswith("20 ms wanted, dm-3 is suspended; ")
    waits = PaceNews(boot="b", pid=7, started_s=1.0, at_s=1000.0, array=ARRAY, target_ms=20.0)
    assert pace_sentence(waits, 1001.0) == "20 ms wanted; waits for a sync"


@pytest.mark.parametrize(
    ("hours", "words"), [(19.9, "20:10"), (20, "Thu 20:16"), (143.9, "Wed 00:10"), (144, "07 Jan")]
)
def test_when_it_is_to_have_ended(hours: float, words: str) -> None:
    """The time today, with the weekday where it is later, with the date after six days."""
    (_, end) = given_words(replace(NEWS, by_s=1000.0 + hours * 3600, left_s=None), 1000.0)
    assert end == f"by {words} at the latest"


@pytest.mark.parametrize(
    ("text", "found"), [("20", (20.0, None)), (" 0,5 24 ", (0.5, 1000.0 + 86400)), ("1e1", (10.0, None))]
)
def test_what_is_typed(text: str, found: tuple[float, float | None]) -> None:
    request = typed_request(Sampler(demo_root()).sample().arrays[0], text, 1000.0)
    assert isinstance(request, PaceRequest)
    assert (request.latency_ms, request.by_s) == found


@pytest.mark.parametrize("text", ["", "fast", "20 24 3", "-5", "0", "nan", "inf"])
def test_what_is_typed_and_no_latency(text: str) -> None:
    request = typed_request(Sampler(demo_root()).sample().arrays[0], text, 1000.0)
    assert isinstance(request, str)
    assert "type the milliseconds" in request
