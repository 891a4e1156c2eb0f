"""``raidtui alert``: no address is shown, the hook returns at once, what waits is listed."""

from __future__ import annotations

import argparse
import configparser
import io
import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import raidtui
from raidtui.app.cli import build_parser
from raidtui.features.alerts import cli as alert
from raidtui.features.alerts.alert_check import AlertTest, ChannelOutcome, ChannelResult
from raidtui.features.alerts.session import keep_channels, read_channels
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.alert_channels_file import channels_path
from raidtui.jobs.alert_sender import due_s
from raidtui.jobs.alert_spool import AlertSpool, new_alert, spool_folder
from raidtui.jobs.alert_test import AlertRoute
from raidtui.model.alert import AlertEvent, Channel
from raidtui.model.finding import Severity
from tests.features.alerts.servers import SECRET, Web
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.places import HOUSE

pytestmark = pytest.mark.usefixtures("not_root")

DOCS = (HOUSE / "docs" / "alerts.md").read_text()
HOOKED = """\
import os, sys
uid = os.geteuid() or 12345
os.geteuid = lambda: uid
from raidtui.app.cli import run_line
sys.exit(run_line(sys.argv[1:]))
"""


def host(*, live: bool = True) -> Kernel:
    made = Kernel(raid10(members=("sda", "sdb", "sdc", "sdd")))
    made.live = live
    return made


def ran(*words: str, root: HostReader | None = None) -> int:
    parser = argparse.ArgumentParser()
    alert.add_arguments(parser)
    return alert.run(root or host(), parser.parse_args(words))


def add(monkeypatch: pytest.MonkeyPatch, name: str, address: str, *more: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{address}\n"))
    return ran("--add", name, *more)


def url(web: Web) -> str:
    return f"json://admin:{SECRET}@127.0.0.1:{web.port}/x"


def wait_for(what: Callable[[], object]) -> None:
    end_s = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def test_channels_are_added_and_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], web: Web
) -> None:
    assert add(monkeypatch, "hook", url(web), "--least", "degraded") == 0
    assert add(monkeypatch, "mail", "root") == 0
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
    assert said.out.splitlines()[1] == (
        f"channel mail (sendmail to root) is in {channels_path()}; raidtui alert --test tries it"
    )
    assert stat.S_IMODE(channels_path().stat().st_mode) == 0o600
    assert [each.url for each in read_channels()] == [url(web), ""]
    assert ran("--list") == 0
    assert capsys.readouterr().out == "channel hook: json, from degraded on\nchannel mail: sendmail to root\n"
    assert ran("--remove", "hook") == 0
    assert ran("--remove", "mail") == 0
    assert not channels_path().exists()
    assert ran("--remove", "mail") == 2


@pytest.mark.parametrize(
    ("name", "address", "words"),
    [
        ("a b", "x://y", "a channel's name has letters"),
        ("a", "", "it needs either url"),
        ("a", "two words", "sendmail must be one mail address"),
        ("a", f"unheardof://{SECRET}", "not added: Apprise does not know this kind of URL"),
        ("a", "slack://short", "not added: Apprise does not know this kind of URL"),
    ],
)
def test_a_wrong_address(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    address: str,
    words: str,
) -> None:
    assert add(monkeypatch, name, address) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert SECRET not in said.out + said.err
    assert not channels_path().exists()


def test_the_addresses_of_the_document_can_be_used() -> None:
    """Each example of docs/alerts.md, with words of the right form."""
    from raidtui.jobs.alert_sender import why_unusable  # noqa: PLC0415

    found = re.findall(r"`([a-z+]+://[^`]+)`", DOCS.partition("## Channels")[2].partition("They are in")[0])
    assert len(found) > 5
    words = {"TOKEN_A": "T1JJ3T3L2", "TOKEN_B": "A1BRTD4JD", "TOKEN_C": "TIiajkdnlazkcOXrIdevi7FQ"}
    words |= {"HOST": "example.org", "ADDRESS": "me@example.org", "...": "T1/B1"}
    for address in found:
        for word, text in words.items():
            address = address.replace(word, text)  # noqa: PLW2901
        assert why_unusable(Channel(name="a", url=address)) == "", address


def test_without_apprise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sentence says how it is installed, and the alert waits."""
    from raidtui.features.alerts.session import send_waiting  # noqa: PLC0415

    (tmp_path / "apprise.py").write_text("raise ImportError\n")
    path = f"{tmp_path}:{HOUSE}"
    monkeypatch.setattr("raidtui.jobs.alert_sender.own_environment", lambda: {"PYTHONPATH": path})
    keep_channels([Channel(name="hook", url="slack://TokenA/TokenB/TokenC")])
    AlertSpool(spool_folder()).keep(new_alert(AlertEvent(source="mdadm", name="Fail"), "nas"))
    [left] = send_waiting(host(), eager=True).waiting
    assert left.deliveries["hook"].why.startswith(
        "Apprise is not installed: pip install 'raidtui[alerts]' into raidtui's Python"
    )


def hooked(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-P", "-c", HOOKED, "alert", *words),
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(HOUSE), **env},
        check=False,
    )


def test_the_hook_does_not_wait_for_a_server(web: Web) -> None:
    """It has returned while the server still holds the message; the alert is on disk meanwhile."""
    web.status = None
    keep_channels([Channel(name="hook", url=url(web))])
    done = hooked("--event", "Fail", "/dev/md127", "/dev/sda")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(AlertSpool(spool_folder()).waiting()) == 1
    wait_for(web.asked.is_set)
    web.status = 200
    web.go.set()
    assert hooked("--event", "Fail", "/dev/md127", "/dev/sdb").returncode == 0
    wait_for(lambda: len(web.got) == 2)
    assert [title.split()[1] for title in web.titles()] == ["sda", "sdb"]
    wait_for(lambda: AlertSpool(spool_folder()).waiting() == ())


def test_what_is_no_news(web: Web) -> None:
    keep_channels([Channel(name="hook", url=url(web))])
    assert hooked("--event", "Rebuild20", "/dev/md127").returncode == 0
    assert not spool_folder().exists()


def test_smartd(web: Web) -> None:
    keep_channels([Channel(name="hook", url=url(web))])
    done = hooked(
        "--smartd",
        SMARTD_FAILTYPE="Health",
        SMARTD_DEVICE="/dev/sdx",
        SMARTD_MESSAGE="Device: /dev/sdx, FAILED SMART self-check. BACK UP DATA NOW!",
    )
    assert done.returncode == 0
    wait_for(lambda: web.got)
    assert "FAILED SMART self-check. BACK UP DATA NOW!" in web.got[0][1]


def test_a_spool_that_cannot_be_written(web: Web) -> None:
    """The alert goes out once, and mdadm's log has the status."""
    keep_channels([Channel(name="hook", url=url(web))])
    spool_folder().parent.mkdir(parents=True)
    spool_folder().write_text("no folder")
    done = hooked("--event", "Fail", "/dev/md127", "/dev/sda")
    assert done.returncode == 1
    assert "the alert cannot be kept" in done.stderr
    wait_for(lambda: web.got)


def test_the_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    keep_channels([Channel(name="hook", url="json://127.0.0.1:9/x", least=Severity.ATTENTION)])
    AlertSpool(spool_folder()).keep(new_alert(AlertEvent(source="mdadm", name="Fail"), "nas"))
    assert ran("--list", "--json") == 1
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["channels"] == [{"name": "hook", "kind": "json", "least": "attention", "trouble": None}]
    [waits] = found["waiting"]
    assert (waits["event"], waits["text"], waits["channels"]) == ("Fail", None, {})
    assert ran("--send") == 1
    assert "hook: tried once, last at" in capsys.readouterr().out
    form = DOCS.partition("## `raidtui alert --list --json`")[2].partition("##")[0]
    words = set(re.findall(r'"(\w+)"', form))
    assert {*found, *found["channels"][0], *waits} <= words


def test_a_test_without_channels(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("--test") == 2
    assert "no channel is configured" in capsys.readouterr().err


def test_what_came_of_a_test(capsys: pytest.CaptureFixture[str]) -> None:
    phone, mail = Channel(name="phone", url="ntfy://x/y"), Channel(name="mail", mail_to="root")
    test = AlertTest(
        way=AlertRoute.HOOK,
        why_way="mdadm is not installed",
        alerts=1,
        channels=(
            ChannelResult(channel=phone, outcome=ChannelOutcome.FAILED, why="error=403"),
            ChannelResult(channel=mail, outcome=ChannelOutcome.WAITING),
        ),
        unproven=("No monitor runs.",),
    )
    assert list(alert.lines_of_test(test, ("channel x: it is wrong",))) == [
        "Sent through the hook, called as mdadm would; mdadm is not installed.",
        "  phone (ntfy): failed: error=403; it is kept, and tried again",
        "  mail (sendmail to root): not tried yet; it is kept, and sent later",
        "channel x: it is wrong",
        "No monitor runs.",
    ]
    found = alert.dict_of_test(test, ())
    words = set(re.findall(r'"(\w+)"', DOCS.partition("## `raidtui alert --test`")[2]))
    assert {*found, *found["channels"][0], found["way"], *(str(each) for each in ChannelOutcome)} <= words
    del capsys


@pytest.mark.parametrize(
    "words", [("--list", "--least", "info"), ("--send", "--json"), ("--add", "a", "--json")]
)
def test_what_does_not_go_together(words: tuple[str, ...]) -> None:
    assert ran(*words) == 2


@pytest.mark.parametrize("word", ["--list", "--test", "--send"])
def test_of_another_host_there_are_none(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(word, root=host(live=False)) == 2
    assert "this is not the live host" in capsys.readouterr().err


def test_when_it_is_tried_again() -> None:
    assert [due_s(tries, 1000.0) for tries in (0, 1, 2, 3, 7, 50)] == [0, 1060, 1120, 1240, 4600, 4600]


def test_the_timers_units() -> None:
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    folder = Path(raidtui.__file__).parent / "systemd"
    parser.read([folder / "raidtui-alert.service", folder / "raidtui-alert.timer"])
    program, *argv = parser["Service"]["ExecStart"].split()
    assert program == "raidtui"
    assert build_parser().parse_args(argv).send
    assert parser["Service"]["SuccessExitStatus"] == "1"
    assert "PrivateNetwork" not in parser["Service"]
    assert parser["Timer"]["OnCalendar"] == "minutely"
    assert parser["Install"]["WantedBy"] == "timers.target"
