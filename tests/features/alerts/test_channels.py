"""alerts.toml: what it may hold, and that no address is shown; by what a test alert is made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from raidtui.features.alerts.channels import (
    ChannelsError,
    channel_of,
    channels_text,
    parse_channels,
    without_secrets,
)
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs.alert_test import AlertRoute, begin_test
from raidtui.model.alert import Channel
from raidtui.model.alert_setup import HOOK
from raidtui.model.finding import Severity

ALL = (
    Channel(name="phone", url="ntfys://user:pass@ntfy.example/disks"),
    Channel(name="mail", mail_to="root", program="/opt/sendmail", least=Severity.DEGRADED),
    Channel(name="hook", url='json://host/a"b\\c'),
)


def test_by_what_a_test_alert_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """By mdadm, which a captured tree does not run; by the hook; or by raidtui itself."""
    ran: list[tuple[str, ...]] = []

    def fails(argv: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[bytes]:
        ran.append(argv)
        return subprocess.CompletedProcess(argv, 3, b"", b"no spool\n")

    monkeypatch.setattr(subprocess, "run", fails)
    said = [begin_test(MemoryReader({}), route) for route in AlertRoute]
    assert said == [
        "a captured tree is never written to",
        f"{HOOK} failed (3): no spool",
        f"{sys.executable} failed (3): no spool",
    ]
    alert = ("-P", "-m", "raidtui", "alert", "--event", "TestMessage")
    assert ran == [(HOOK, "TestMessage"), (sys.executable, *alert)]


def test_what_is_written_reads_the_same() -> None:
    assert parse_channels(channels_text(ALL)) == ALL
    assert parse_channels("") == ()


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ('url = "x://y"\nsendmail = "root"', "it needs either url"),
        ("", "it needs either url"),
        ('url = "nowhere"', "its url has another form than SCHEME://..."),
        ('sendmail = "-oQ/tmp"', "sendmail must be one mail address"),
        ('sendmail = "a, b"', "sendmail must be one mail address"),
        ('sendmail = "root"\nprogram = "bin/sendmail"', "program is the absolute path"),
        ('url = "x://y"\nprogram = "/bin/sendmail"', "program is the absolute path"),
        ('url = "x://y"\nleast = "loud"', "least must be one of info, attention, degraded, failed"),
        ('url = "x://y"\ncolour = "red"', "unknown setting 'colour'"),
        ("url = 5", "each setting must be a text in quotes"),
    ],
)
def test_what_is_wrong_with_one(text: str, trouble: str) -> None:
    good, bad = parse_channels(f'[channels.good]\nurl = "x://y"\n[channels.bad]\n{text}\n')
    assert good.trouble == ""
    assert bad.trouble.startswith(trouble)


@pytest.mark.parametrize(
    "text", ["x", "a = 1", "channels = 5", '[channels]\na = "x://secret', f"a = {'[' * 5000}"]
)
def test_what_is_no_such_file(text: str) -> None:
    with pytest.raises(ChannelsError) as caught:
        parse_channels(text)
    assert "secret" not in str(caught.value)


def test_names() -> None:
    [found] = parse_channels('[channels."a/b"]\nurl = "x://y"')
    assert found.trouble.startswith("a channel's name has letters")
    with pytest.raises(ChannelsError, match="a channel's name"):
        channel_of("a b", "x://y")
    assert channel_of("me", "me@lab").mail_to == "me@lab"
    assert channel_of("me", "x://y", "failed").least is Severity.FAILED


def test_no_address_is_shown() -> None:
    url = "slack://TokenAAAA/TokenBBBB/TokenCCCC/#chan?key=QueryDDDD"
    channel = Channel(name="team", url=url)
    assert (repr(channel), channel.kind) == ("Channel(team)", "slack")
    said = f"POST {url} failed: TokenBBBB is unknown (QueryDDDD), error=403"
    assert without_secrets(said, channel) == "POST … failed: … is unknown (…), error=403"
    assert without_secrets("sendmail failed", Channel(name="m", mail_to="root")) == "sendmail failed"
