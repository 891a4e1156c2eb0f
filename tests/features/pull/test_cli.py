"""``raidtui pull``: the text, the form for programs, the exit status, and what is refused."""

from __future__ import annotations

import argparse
import json
import re

import pytest

from raidtui.command.streams import UsageError
from raidtui.features.pull import cli as pull
from raidtui.features.pull.cli import look_dict
from raidtui.features.pull.session import Pulls, read_look
from raidtui.features.pull.standing import OtherState, PullStage
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import output_path
from tests.hosts.bays import SERIALS, BayHost, without
from tests.places import HOUSE

DOCS = (HOUSE / "docs" / "pull.md").read_text(encoding="utf-8")


def ran(root: HostReader, *words: str) -> int:
    """Run the subcommand; return its exit status."""
    parser = argparse.ArgumentParser()
    pull.add_arguments(parser)
    return pull.run(root, parser.parse_args(words))


@pytest.fixture
def host() -> BayHost:
    """With mdadm."""
    made = BayHost()
    made.put(output_path(("mdadm", "--version")), "exit 0\nmdadm - v4.2 - 2021-12-30\n")
    return made


def test_which_disk_it_is_and_which_ones_it_is_not(host: BayHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(host, "media", "sdc") == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith(f"Pull this disk: sdc · serial {SERIALS['sdc']} · Samsung SSD 870")
    assert next(line for line in lines if line.startswith("Not this one:")).startswith(
        f"Not this one:   sda · serial {SERIALS['sda']}"
    )
    assert "mdadm --manage /dev/md125 --fail /dev/sdc" in "\n".join(lines)
    assert lines[-2] == "To do it: raidtui pull media sdc --start"


def test_nothing_is_begun_on_what_is_not_the_live_host(
    host: BayHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(host, "media", "sdc", "--start") == 2
    assert capsys.readouterr().err == "raidtui: this is not the live host: nothing is carried out here\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nothing", "sdc"), "there is no array 'nothing'"),
        (("media", "sdx"), "there is no device sdx"),
        (("media", "sde"), "sde holds no member of media"),
        (("--next",), "no disk is being exchanged; to begin: raidtui pull ARRAY MEMBER"),
    ],
)
def test_refused(host: BayHost, words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(host, *words) == 2
    assert why in capsys.readouterr().err


def test_refused_with_its_reason(host: BayHost, capsys: pytest.CaptureFixture[str]) -> None:
    host.now(without("sda"))
    host.put(output_path(("mdadm", "--version")), "exit 0\nmdadm - v4.2 - 2021-12-30\n")
    assert ran(host, "media", "sdc") == 2
    assert capsys.readouterr().err == (
        "raidtui: not possible: media misses another member already; add a disk and wait for the recovery"
        " first\n"
    )


@pytest.mark.parametrize(
    "words",
    [("media",), ("media", "sdc", "--next"), ("media", "sdc", "--cancel"), ("--start",)],
)
def test_wrong_usage(host: BayHost, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        ran(host, *words)


@pytest.mark.parametrize("words", [(), ("--status",), ("--watch",), ("--cancel",)])
def test_without_an_exchange_there_is_nothing_to_do(
    host: BayHost, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(host, *words) == 0
    assert capsys.readouterr().out.startswith("No disk is being exchanged")


def test_json_without_an_exchange(host: BayHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(host, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"pull": None}


def test_every_field_and_word_is_documented(host: BayHost) -> None:
    pulls = Pulls(host)
    pulls.begin(host.record("sdc"))
    look = read_look(host, pulls, host.sampler().sample().arrays)
    assert look is not None
    form = look_dict(look)
    table = DOCS.partition("## The status as JSON")[2]
    documented = set(re.findall(r"`([^`]+)`", table))
    inner = (form["target"], form["others"][0], form["target"]["members"][0])
    assert {*form, *(key for each in inner for key in each)} <= documented
    assert {*map(str, PullStage), *map(str, OtherState)} <= documented
