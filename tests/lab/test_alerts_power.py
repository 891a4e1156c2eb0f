"""A power cut at the points of what keeps and sends alerts: memory and page cache are gone, disks stay."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import disk_names
from tests.lab.guests.boot import REPOSITORY
from tests.lab.guests.uml import PowerGuest

pytestmark = pytest.mark.later

KILLED = REPOSITORY / "tests/features/alerts/killed.py"
PLACE = "/run/spool"
OWN = {"XDG_STATE_HOME": f"{PLACE}/state", "XDG_CONFIG_HOME": f"{PLACE}/config"}
WAITING = Path(PLACE) / "state" / "raidtui" / "alerts" / "waiting"
SENDMAIL = f"""\
#!/bin/sh
cat >{PLACE}/inbox/$$.part && sync && mv {PLACE}/inbox/$$.part {PLACE}/inbox/$$ && sync
"""
CHANNEL = f'[channels.mail]\nsendmail = "root"\nprogram = "{PLACE}/sendmail"\n'


@pytest.fixture(scope="module")
def powered(bytecode: None) -> Iterator[PowerGuest]:
    """The guest whose power can be cut, with a file system that stays."""
    holder = Laboratory(PowerGuest.boot)
    guest = holder.guest()
    disk = f"/dev/{disk_names(guest)[0]}"
    made = guest.run(
        f"mkfs.ext4 -q {disk} && mkdir -p {PLACE} && mount {disk} {PLACE}\n"
        f"mkdir -p {PLACE}/inbox {PLACE}/config/raidtui\n"
        f"printf %s {shlex.quote(SENDMAIL)} >{PLACE}/sendmail; chmod 755 {PLACE}/sendmail\n"
        f"printf %s {shlex.quote(CHANNEL)} >{PLACE}/config/raidtui/alerts.toml; sync"
    )
    assert made.status == 0, made.output
    yield guest
    holder.close()


def ran(guest: PowerGuest, at: int, *words: str) -> tuple[int, list[str]]:
    done = guest.run(shlex.join((sys.executable, "-P", str(KILLED), str(at), *words)), env=OWN)
    assert done.status in {0, -9, 137}, done.output
    return done.status, done.stdout.split()


def cut(guest: PowerGuest) -> None:
    guest.cut()
    guest.switch_on()
    disk = f"/dev/{disk_names(guest)[0]}"
    assert guest.run(f"mkdir -p {PLACE} && mount {disk} {PLACE}").status == 0


def spooled(guest: PowerGuest) -> list[str]:
    """The events of what waits; each file is whole."""
    found = guest.run(f"for file in {WAITING}/*.json; do [ -e $file ] && cat $file && echo; done; :")
    return [json.loads(line)["event"]["name"] for line in found.stdout.splitlines()]


def mails(guest: PowerGuest, event: str) -> int:
    return len(guest.run(f"grep -l '^Subject:.*{event} ' {PLACE}/inbox/*").stdout.split())


def test_when_it_was_said_to_be_kept_it_is(powered: PowerGuest) -> None:
    ran(powered, 0, "event", "First")  # makes the folders
    _, words = ran(powered, 0, "event", "Second")
    cut(powered)
    assert sorted(spooled(powered)) == ["First", "Second"]
    for at in range(1, int(words[-1]) + 1):
        _, said = ran(powered, at, "event", f"Event{at}")
        cut(powered)
        assert f"Event{at}" in spooled(powered) or "kept" not in said


def test_what_is_being_sent(powered: PowerGuest) -> None:
    """It arrives; twice at most, where the cut came between the answer and the mark."""
    ran(powered, 0, "send")
    ran(powered, 0, "event", "Count")
    _, words = ran(powered, 0, "send")
    assert spooled(powered) == []
    for at in range(1, int(words[-1]) + 1):
        ran(powered, 0, "event", f"Sent{at}")
        ran(powered, at, "send")
        cut(powered)
        ran(powered, 0, "send")
        assert spooled(powered) == []
        assert 1 <= mails(powered, f"Sent{at}") <= 2
    cut(powered)
    ran(powered, 0, "send")
    assert mails(powered, "Count") == 1
