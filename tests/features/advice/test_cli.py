"""``raidtui advice``: the text, the form for programs, the exit status; the orders that it gives."""

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
from raidtui.demo.demo_host import demo_root
from raidtui.features.advice import cli as advice
from raidtui.features.advice.advice import AdviceCode
from raidtui.features.arrays.cli import report_lines
from raidtui.features.arrays.cli_json import report_dict
from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.last_look import keep_look
from raidtui.model.advice_count import AdviceCount
from raidtui.watch.watch import HostWatch
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.places import HOUSE

UNITS = Path(raidtui.__file__).parent / "systemd"
HIDDEN = "/sys/bus/pci/drivers/ahci/0000:00:17.0/remapped_nvme"
DOCS = HOUSE / "docs" / "advice.md"


def ran(root: HostReader, *words: str) -> int:
    parser = argparse.ArgumentParser()
    advice.add_arguments(parser)
    return advice.run(root, parser.parse_args(words))


def as_json(root: HostReader, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    ran(root, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_demo_has_a_piece_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(demo_root()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "attention: data has neither a bitmap nor a journal"
    assert lines[3:5] == ["    Plan:  raidtui plan bitmap data internal", "    Code:  no-bitmap"]
    assert [line for line in lines if line.startswith("    Code:")][1:] == ["    Code:  aged-alike"] * 2


def test_mdstat_alone_is_not_enough(capsys: pytest.CaptureFixture[str]) -> None:
    mdstat = "md0 : active raid1 sdb[1] sda[0]\n      1024 blocks super 1.2 [2/2] [UU]\n"
    root = MemoryReader({"/proc/mdstat": mdstat})
    assert ran(root) == 3
    why = "no block device was found: the rules need more than /proc/mdstat"
    assert capsys.readouterr().out == f"not known: {why}\n"


def test_an_order_is_carried_out(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command line: here there is no plan, because the array is being synced."""
    found = as_json(demo_root(), capsys)["advice"][0]
    assert found["plan"] is True
    assert run([*found["command"][1:], "--demo"]) == 2
    assert "a resync is in progress; wait until it is done" in capsys.readouterr().err


def test_the_form_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a captured host with caches: what the stack has found is there, each with its reason."""
    found = as_json(StackHost(), capsys)
    assert set(found) == {"advice", "unknown"}
    keys = {"code", "severity", "subject", "text", "why", "remedy", "plan", "command", "ignored"}
    assert all(set(each) == keys for each in found["advice"])
    assert all(each["plan"] == bool(each["command"]) for each in found["advice"])
    assert "cache-alone" in {each["code"] for each in found["advice"]}


def test_a_host_with_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    """Small arrays with bitmaps, no file that names them."""
    assert ran(Kernel(raid10(bitmap=(0, 1)))) == 0
    assert capsys.readouterr().out == "No advice for this host.\n"


def test_what_cannot_be_read_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    host = StackHost()
    host.put(STATUS_FILE, "exit 1\nno permission\n")
    assert ran(host) == 3
    assert "not known: " in capsys.readouterr().out


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ignored advice is kept; the test is a user called ada."""
    path = tmp_path / "state" / "advice.sqlite"
    for place in ("raidtui.features.advice.ignored", "raidtui.features.advice.session"):
        monkeypatch.setattr(f"{place}.ignored_path", lambda: path)
    monkeypatch.setenv("SUDO_USER", "ada")
    return path


def live() -> StackHost:
    host = StackHost()
    host.live = True
    return host


def codes(root: HostReader, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    ran(root, "--json", *words)
    return [each["code"] for each in json.loads(capsys.readouterr().out)["advice"]]


def test_what_is_ignored_is_not_said(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = codes(live(), capsys)
    assert ran(live(), "--ignore", "cache-alone", "--days", "7", "--because", "it is a copy") == 0
    assert capsys.readouterr().out.startswith("ignored until ")
    assert kept.is_file()
    assert codes(live(), capsys) == [code for code in before if code != "cache-alone"]
    assert sorted(codes(live(), capsys, "--all")) == sorted(before)
    ran(live())
    assert "1 more is ignored: raidtui advice --all" in capsys.readouterr().out
    ran(live(), "--all")
    assert re.search(r"Ignored by ada on [-\d]+, until [-\d]+: it is a copy", capsys.readouterr().out)
    assert ran(live(), "--unignore", "cache-alone") == 0
    assert capsys.readouterr().out.startswith("no longer ignored: cache-alone")
    assert codes(live(), capsys) == before


def test_an_ignored_piece_ends_with_its_days(
    kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = codes(live(), capsys)
    assert ran(live(), "--ignore", "cache-alone", "--days", "2") == 0
    capsys.readouterr()
    now_s = StackHost().now_s()
    monkeypatch.setattr(StackHost, "now_s", lambda _: now_s + 1.9 * 86_400)
    assert "cache-alone" not in codes(live(), capsys)
    monkeypatch.setattr(StackHost, "now_s", lambda _: now_s + 2.1 * 86_400)
    assert codes(live(), capsys) == before
    assert kept.is_file()


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ignore", "no-such-code"], "there is no advice no-such-code on this host; there is: "),
        (
            ["--ignore", "cache-alone", "--about", "elsewhere"],
            "cache-alone is not about elsewhere, but about ",
        ),
        (["--unignore", "cache-alone"], "no advice cache-alone is ignored"),
        (["--days", "3"], "--days and --because go with --ignore"),
        (["--about", "data"], "--about goes with --ignore or --unignore"),
    ],
)
def test_what_cannot_be_ignored(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(live(), *words) == 2
    assert said in capsys.readouterr().err


def test_only_of_a_live_host(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(StackHost(), "--ignore", "cache-alone") == 2
    assert "this is not the live host" in capsys.readouterr().err
    assert not kept.exists()


def test_a_list_that_cannot_be_read_hides_nothing(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = codes(live(), capsys)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("no database" * 100)
    assert codes(live(), capsys) == before
    assert ran(live()) == 3
    assert "the list of ignored advice" in capsys.readouterr().out
    assert ran(live(), "--ignore", "cache-alone") == 2
    assert "move it away to start a new one" in capsys.readouterr().err


@pytest.mark.usefixtures("kept")
def test_how_much_there_is_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """What counts is what is not ignored and more than a note; other commands show it and read nothing."""
    host = live()
    host.put(HIDDEN, "2\n")
    ran(host, "--json")
    found = [each["severity"] for each in json.loads(capsys.readouterr().out)["advice"]]
    count = HostWatch(host).refresh().advice
    assert count is not None
    assert count.total == len(found) - found.count("info") == 2
    assert (count.attention, count.failed) == (found.count("attention"), found.count("failed"))
    assert ran(host, "--ignore", "cache-alone") == 0
    fewer = HostWatch(host).refresh().advice
    assert fewer is not None
    assert (fewer.attention, fewer.failed) == (1, 0)
    assert ran(host, "--unignore", "cache-alone") == 0
    again = HostWatch(host).refresh().advice
    assert again is not None
    assert (again.attention, again.failed) == (1, 1)
    count = again
    capsys.readouterr()
    assert report_dict(HostWatch(live()).refresh())["advice"] == {
        "at_s": round(count.at_s, 3),
        "attention": count.attention,
        "degraded": count.degraded,
        "failed": count.failed,
    }
    assert f'raidtui_advice{{severity="failed"}} {count.failed}' in metric_lines(HostWatch(live()).refresh())
    (line,) = (each for each in report_lines(HostWatch(live()).refresh()) if each.startswith("Advice: "))
    assert line.startswith(f"Advice: {count.total} pieces of advice on ")
    assert line.endswith("To read: raidtui advice.")


def test_of_another_host_nothing_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    ran(StackHost())
    capsys.readouterr()
    host = live()
    assert HostWatch(host).refresh().advice is None
    keep_look(AdviceCount(at_s=host.now_s(), attention=3))
    assert HostWatch(host).refresh().advice is not None
    assert HostWatch(StackHost()).refresh().advice is None
    assert report_dict(HostWatch(StackHost()).refresh())["advice"] is None


@pytest.mark.usefixtures("kept")
def test_what_cannot_be_kept_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raidtui.jobs.last_look.last_look_path", lambda: Path("/proc/no/advice.json"))
    assert ran(live()) == 3
    assert "not known: how much advice there is cannot be kept: " in capsys.readouterr().out


def unit(name: str) -> configparser.ConfigParser:
    """A unit of the package."""
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(UNITS / name)
    return parser


def test_the_timers_units() -> None:
    service = unit("raidtui-advice.service")["Service"]
    program, *argv = service["ExecStart"].split()
    assert program == "raidtui"
    assert build_parser().parse_args(argv).command == "advice"
    assert service["SuccessExitStatus"].split() == ["1", "3"]
    timer = unit("raidtui-advice.timer")
    assert (timer["Timer"]["OnCalendar"], timer["Install"]["WantedBy"]) == ("daily", "timers.target")
    assert {"raidtui-advice.service", "raidtui-advice.timer"} <= set(DOCS.read_text().split())


def test_each_code_is_documented() -> None:
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", DOCS.read_text(), re.MULTILINE))
    assert {str(code) for code in AdviceCode} <= rows
