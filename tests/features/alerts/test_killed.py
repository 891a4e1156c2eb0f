"""SIGKILL at each point of what keeps and sends alerts: nothing is lost, and nothing marked is sent twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from raidtui.features.alerts.session import keep_channels
from raidtui.jobs.alert_spool import AlertSpool, spool_folder
from raidtui.model.alert import Channel
from tests.places import HOUSE

SENDMAIL = """\
#!/bin/sh
cat >"{folder}/mail.$$" && mv "{folder}/mail.$$" "{folder}/got.$$"
"""


@pytest.fixture(autouse=True)
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A channel that keeps each mail as a file."""
    uid = os.geteuid() or 12345
    monkeypatch.setattr("os.geteuid", lambda: uid)
    folder = tmp_path / "inbox"
    folder.mkdir()
    program = tmp_path / "sendmail"
    program.write_text(SENDMAIL.format(folder=folder))
    program.chmod(0o755)
    keep_channels([Channel(name="mail", mail_to="root", program=str(program))])
    return folder


def ran(at: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-P", str(Path(__file__).with_name("killed.py")), str(at), *words),
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(HOUSE)},
        check=False,
    )


def points(*words: str) -> int:
    done = ran(0, *words)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def subjects(inbox: Path) -> list[str]:
    mails = [path.read_text() for path in sorted(inbox.glob("got.*"))]
    return [line for mail in mails for line in mail.split("\n") if line.startswith("Subject:")]


def test_the_hook_is_killed(inbox: Path) -> None:
    """What it had said was kept is there; before that, it is there whole or not at all."""
    points("event", "First")  # makes the folders
    for at in range(1, points("event", "Fail") + 1):
        done = ran(at, "event", f"Event{at}")
        assert done.returncode == -signal.SIGKILL
        spool = AlertSpool(spool_folder())
        spool.adopt()
        found = [each for each in spool.waiting() if each.event.name == f"Event{at}"]
        assert found or "kept" not in done.stdout
    assert spool.damaged() == ()
    kept = len(spool.waiting())
    assert kept > 1
    assert ran(0, "send").returncode == 0
    assert len(subjects(inbox)) == kept


def test_the_sender_is_killed(inbox: Path) -> None:
    """Its process for the channel ends its work, and marks it: the next one does not send it again."""
    assert ran(0, "event", "Fail").returncode == 0
    count = points("send")
    assert len(subjects(inbox)) == 1
    for at in range(1, count + 1):
        assert ran(0, "event", f"Event{at}").returncode == 0
        assert ran(at, "send").returncode == -signal.SIGKILL
        assert ran(0, "send").returncode == 0  # waits for the lock, which the channel's process holds
        spool = AlertSpool(spool_folder())
        assert (spool.waiting(), spool.damaged()) == ((), ())
        found = [each for each in subjects(inbox) if each.endswith(f"mdadm reports Event{at} of md0")]
        assert len(found) == 1, (at, count, found)
    assert ran(0, "send").returncode == 0
    assert sorted(path.name for path in spool_folder().joinpath("waiting").iterdir()) == []


def test_the_process_of_a_channel_is_killed(inbox: Path, tmp_path: Path) -> None:
    """Before it has an answer: the alert waits, and comes with the next pass."""
    program = tmp_path / "sendmail"
    whole = program.read_text()
    program.write_text("#!/bin/sh\nkill -9 $PPID\n")
    assert ran(0, "event", "Fail").returncode == 0
    assert ran(0, "send").returncode == 0
    [left] = AlertSpool(spool_folder()).waiting()
    assert left.deliveries["mail"].why == "the process that sends ended without an answer"
    program.write_text(whole)
    assert ran(0, "send").returncode == 0
    assert len(subjects(inbox)) == 1


def test_what_is_left_of_an_alert_that_is_done_is_not_sent_again(inbox: Path) -> None:
    assert ran(0, "event", "Fail").returncode == 0
    [alert] = AlertSpool(spool_folder()).waiting()
    path = spool_folder() / "waiting" / f"{alert.id}.json"
    path.with_name(f".{path.name}.99999999.part").write_bytes(path.read_bytes())
    assert ran(0, "send").returncode == 0  # takes it up, and sends once
    assert len(subjects(inbox)) == 1
    sent = spool_folder() / "sent" / path.name
    path.with_name(f".{path.name}.99999999.part").write_bytes(sent.read_bytes())
    assert ran(0, "send").returncode == 0
    assert len(subjects(inbox)) == 1
    assert list((spool_folder() / "waiting").iterdir()) == []


def test_two_send_at_once(inbox: Path) -> None:
    for number in range(5):
        ran(0, "event", f"Event{number}")
    both = [
        subprocess.Popen(
            (sys.executable, "-P", str(Path(__file__).with_name("killed.py")), "0", "send"),
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(HOUSE)},
        )
        for _ in range(2)
    ]
    assert [each.wait(60) for each in both] == [0, 0]
    assert len(subjects(inbox)) == 5


def test_a_damaged_file_stays_and_holds_nothing(inbox: Path) -> None:
    assert ran(0, "event", "Fail").returncode == 0
    damaged = spool_folder() / "waiting" / "00000000000000000001-1.json"
    damaged.write_text(json.dumps({"id": 5}))
    assert ran(0, "send").returncode == 0
    assert AlertSpool(spool_folder()).damaged() == (str(damaged),)
    assert len(subjects(inbox)) == 1
