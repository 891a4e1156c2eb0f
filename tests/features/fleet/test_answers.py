"""What of an answer is said first, and which host stands above which."""

from __future__ import annotations

import json

import pytest

from raidtui.features.fleet.answers import (
    FleetRow,
    FleetState,
    NoAnswer,
    NoAnswerCode,
    exit_status,
    row_of,
    row_without,
    worst_first,
)
from raidtui.features.fleet.fleet_lines import counts_words, fleet_dict, sync_words, text_lines
from raidtui.features.fleet.hosts import FleetHost
from tests.features.fleet.sayings import NOW_S, array, finding, resync, saying

DAY_S = 86_400


def row(text: str, name: str = "a") -> FleetRow:
    return row_of(FleetHost(name=name), text.encode(), at_s=NOW_S, took_s=1.0)


def dead(name: str) -> FleetRow:
    none = NoAnswer(code=NoAnswerCode.TIMEOUT, why="no answer within 30 s")
    return row_without(FleetHost(name=name), none, at_s=NOW_S, took_s=30.0)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (saying(array()), FleetState.OPTIMAL),
        (saying(), FleetState.OPTIMAL),
        (saying(array(health="degraded"), status=1), FleetState.DEGRADED),
        (saying(array(health="attention"), status=1), FleetState.ATTENTION),
        (saying(array(health="failed"), status=2), FleetState.FAILED),
        (saying(absent=[{"health": "failed", "label": "old"}], status=2), FleetState.FAILED),
        (saying(array(health="unknown"), status=3), FleetState.UNKNOWN),
        (saying(array(health="new-word")), FleetState.UNKNOWN),
        ("", FleetState.NO_ANSWER),
        ("{}", FleetState.NO_ANSWER),
        ("[" * 100_000, FleetState.NO_ANSWER),
        (saying().replace('"format_version": 1', '"format_version": 2'), FleetState.NO_ANSWER),
    ],
)
def test_states(text: str, state: FleetState) -> None:
    assert row(text).state is state


def test_the_worst_is_first() -> None:
    rows = [
        row(saying(array()), "well"),
        dead("dead"),
        row(saying(array(health="attention"), status=1), "old"),
        row(saying(array(health="failed"), status=2), "broken"),
        row(saying(array(health="degraded"), status=1), "less"),
    ]
    assert [each.host.name for each in worst_first(rows)] == ["broken", "less", "dead", "old", "well"]
    assert counts_words(rows) == "5 hosts: 1 failed, 1 degraded, 1 no answer, 1 attention, 1 optimal"
    assert [exit_status(rows), exit_status(rows[:3]), exit_status(rows[:2]), exit_status(rows[:1])] == [
        2,
        1,
        3,
        0,
    ]


def test_what_is_said() -> None:
    text = saying(
        array(health="degraded", sync=resync(0.542, 3600)),
        array("root\x1b[2J", sync=resync(None, None)),
        array("logs", sync=resync(0.1, None, phase="delayed")),
        status=1,
        findings=[
            finding("info", "nothing"),
            finding("attention", "a\x1b[2J"),
            finding("degraded", "data is degraded"),
        ],
        wear=[
            {"disk": "S1", "name": "sda", "ends_s": NOW_S + 30 * DAY_S},
            {"disk": "S2", "name": "sdb", "ends_s": NOW_S + 400 * DAY_S},
            {"disk": "S3", "name": "", "ends_s": NOW_S, "over": True},
            {"disk": "S4", "name": "sdd", "ends_s": None},
        ],
    )
    found = row(text)
    assert found.problems == (
        "data is degraded",
        "a\\x1b[2J",
        "the rated life of S3 is used up",
        "the rated life of sda (S1) ends in 30 days",
    )
    words = [sync_words(each, NOW_S) for each in found.syncs]
    assert words[0].startswith("resync of data 54.2 %, ends at ")
    assert words[0].endswith(" (in 1 h 00)")
    assert words[1:] == ["resync of root\\x1b[2J, end not known", "resync of logs 10.0 %, delayed"]


def test_wear_alone_is_attention() -> None:
    found = row(saying(array(), wear=[{"disk": "S1", "name": "sda", "ends_s": NOW_S + DAY_S}]))
    assert (found.state, found.problems) == (
        FleetState.ATTENTION,
        ("the rated life of sda (S1) ends in 1 day",),
    )


def test_as_text() -> None:
    rows = [dead("dead"), row(saying(array()), "well"), row(saying(), "empty")]
    assert text_lines(rows) == [
        "? dead   no answer  no answer within 30 s",
        "● well   optimal    1 array",
        "● empty  optimal    no md array",
        "3 hosts: 1 no answer, 2 optimal",
    ]


def with_more(text: str) -> bytes:
    """An answer that has this beside the rest."""
    return saying(array())[:-1].encode() + b', "x": ' + text.encode("latin-1") + b"}"


@pytest.mark.parametrize(
    "raw",
    [
        with_more("9" * 5000),
        with_more("1" + "0" * 30),
        with_more("1e999"),
        with_more("[" * 900 + "]" * 900),
        with_more("[" * 100_000 + "]" * 100_000),
        with_more('"\xff\xfe"'),
        with_more('"\\ud800"'),
        saying(array(sync=resync(0.5, 1e300))).encode(),
        saying(array(sync=resync(0.5, -1e300))).encode(),
        saying(array(sync=resync(-1e308, 1))).encode(),
        saying(array(), wear=[{"disk": "x", "ends_s": -1e308}]).encode(),
        saying(array(), wear=[{"disk": "x", "percent_used": 1e308}]).encode(),
        saying(*(array() for _ in range(10_001))).encode(),
        saying(array(), status=10**30).encode(),
        saying(array(), status=-1).encode(),
        b"[]",
        b"null",
        b'"x"',
    ],
)
def test_an_odd_answer_is_not_understood_and_ends_nothing(raw: bytes) -> None:
    """Neither the lines nor the JSON of the others."""
    odd = row_of(FleetHost(name="odd"), raw, at_s=NOW_S, took_s=1.0)
    assert odd.none is not None
    assert odd.none.code is NoAnswerCode.NOT_UNDERSTOOD
    rows = worst_first([odd, row(saying(array()), "well")])
    assert len(text_lines(rows)) == 3
    json.dumps(fleet_dict(rows, at_s=NOW_S, status=exit_status(rows))).encode()
    assert row(saying(array()), "well").status == json.loads(saying(array()))
