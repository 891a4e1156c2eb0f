"""Hosts asked through a real sshd: which answer, which do not, and that none waits for another."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from raidtui.app.cli import run
from raidtui.features.fleet.answers import FleetRow, FleetState, NoAnswerCode
from raidtui.features.fleet.asking import AskSettings, ask_all, ask_one
from raidtui.features.fleet.hosts import host_of
from tests.features.fleet.sayings import array, finding, saying
from tests.features.fleet.sshd import Sshd

FAILED = "Host key verification failed.\n"
CHANGED = f"""\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
The fingerprint for the ED25519 key sent by the remote host is
SHA256:NEW.
Please contact your system administrator.
Offending ED25519 key in /root/.ssh/known_hosts:3
Host key for db1 has changed and you have requested strict checking.
{FAILED}"""
BROKEN = saying(array(health="failed"), status=2, findings=[finding("failed", "data has failed")])


def asked(sshd: Sshd, *names: str, **more: Any) -> dict[str, FleetRow]:
    """Ask hosts, and return what came, in the order in which it came."""
    rows: list[FleetRow] = []
    settings = AskSettings(**{"config": sshd.config, "connect_s": 60, "timeout_s": 60.0, **more})
    asyncio.run(ask_all([host_of(name) for name in names], settings, rows.append))
    assert len(rows) == len(names)
    return {row.host.name: row for row in rows}


def test_each_host_answers_for_itself(sshd: Sshd) -> None:
    names = [f"h{number}" for number in range(8)]
    sshd.hosts(*names)
    for name in names:
        sshd.answers(name, saying(array(label=name)))
    sshd.answers("h3", BROKEN)
    found = asked(sshd, *names, at_once=4)
    assert {name for name, row in found.items() if row.state is FleetState.OPTIMAL} == {*names} - {"h3"}
    assert found["h3"].problems == ("data has failed",)
    for name in {*names} - {"h3"}:
        answer = found[name].answer
        assert answer is not None
        assert answer.arrays[0].label == name


def test_raidtui_itself_is_there(sshd: Sshd) -> None:
    sshd.hosts("demo")
    sshd.answers("demo", f'#!/bin/sh\nexec {sys.executable} -m raidtui --demo "$@"\n', runs=True)
    row = asked(sshd, "demo")["demo"]
    assert row.answer is not None, row
    assert [each.label for each in row.answer.arrays][:1] == ["data"]
    assert row.syncs[0].action == "resync"
    assert row.syncs[0].ends_s is not None


def test_why_a_host_does_not_answer(sshd: Sshd) -> None:
    sshd.hosts("text", "none", "wrong", refused=("closed",), silent=("silent",))
    sshd.answers("text", "Welcome to this host.\n")
    sshd.answers("none", "#!/bin/sh\necho raidtui: not found >&2\nexit 127\n", runs=True)
    sshd.answers("wrong", "#!/bin/sh\necho usage >&2\nexit 64\n", runs=True)
    found = asked(sshd, "text", "none", "wrong", "closed", timeout_s=60.0)
    codes = {name: row.none.code for name, row in found.items() if row.none is not None}
    assert codes == {
        "text": NoAnswerCode.NOT_UNDERSTOOD,
        "none": NoAnswerCode.NOT_INSTALLED,
        "wrong": NoAnswerCode.NOT_UNDERSTOOD,
        "closed": NoAnswerCode.UNREACHABLE,
    }
    assert found["none"].problems == ("raidtui is not installed there: raidtui: not found",)
    assert found["wrong"].problems == ("the command there ended with 64: usage",)
    assert "Connection refused" in found["closed"].problems[0]
    row = asked(sshd, "silent", timeout_s=0.5)["silent"]
    assert row.none is not None
    assert (row.none.code, row.none.why) == (NoAnswerCode.TIMEOUT, "no answer within 0 s")


async def test_dead_hosts_hold_nobody_up(sshd: Sshd) -> None:
    """Three that never answer stand first, and there are two places: all others are there before them."""
    silent = ("s1", "s2", "s3")
    names = [f"h{number}" for number in range(6)]
    sshd.hosts(*names, silent=silent)
    for name in names:
        sshd.answers(name, saying(array()))
    settings = AskSettings(config=sshd.config, connect_s=600, timeout_s=600.0, at_once=2)
    rows: list[FleetRow] = []
    there = asyncio.Event()

    def take(row: FleetRow) -> None:
        rows.append(row)
        if len(rows) == len(names):
            there.set()

    asking = asyncio.create_task(ask_all([host_of(name) for name in (*silent, *names)], settings, take))
    await asyncio.wait_for(there.wait(), 120)
    assert {row.host.name for row in rows} == set(names)
    assert {row.state for row in rows} == {FleetState.OPTIMAL}
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not [words for words in commands() if f"{sshd.folder}/config" in words]  # their ssh is gone, too


def commands() -> list[str]:
    """The command lines of all processes."""
    return [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]


def test_a_key_that_may_only_read(sshd: Sshd) -> None:
    """The forced command of docs/fleet.md: whatever is asked, the status is answered."""
    sshd.hosts("h0")
    sshd.answers(
        "h0", f'#!/bin/sh\necho "$@" >"$ANSWERS/words"\ncat <<\'EOF\'\n{saying(array())}\nEOF\n', runs=True
    )
    key = (sshd.folder / "client.pub").read_text()
    (sshd.folder / "authorized").write_text(f'restrict,command="raidtui status --json --wear" {key}')
    try:
        row = asked(sshd, "h0", command="touch /tmp/never")["h0"]
    finally:
        (sshd.folder / "authorized").write_text(key)
    assert row.state is FleetState.OPTIMAL
    assert (sshd.folder / "answers/words").read_text() == "status --json --wear\n"


def test_the_command(sshd: Sshd, capsys: pytest.CaptureFixture[str]) -> None:
    sshd.hosts("h0", "h1", refused=("closed",))
    sshd.answers("h0", saying(array()))
    sshd.answers("h1", BROKEN)
    assert run(["fleet", "-F", sshd.config, "--json", "h0,h1,closed"]) == 2
    whole = json.loads(capsys.readouterr().out)
    assert whole["exit_status"] == 2
    assert [(host["name"], host["state"]) for host in whole["hosts"]] == [
        ("h1", "failed"),
        ("closed", "no answer"),
        ("h0", "optimal"),
    ]
    assert whole["hosts"][0]["status"] == json.loads(BROKEN)
    assert whole["hosts"][1]["no_answer"]["code"] == "unreachable"
    assert whole["hosts"][1]["status"] is None
    assert run(["fleet", "-F", sshd.config, "--text", "h0", "closed"]) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "2 hosts: 1 no answer, 1 optimal"
    for words in (["--demo", "fleet", "h0"], ["fleet", "--at-once", "0"], ["--demo", "ssh", "h0"]):
        with pytest.raises(SystemExit) as ended:
            run(words)
        assert ended.value.code == 64
    capsys.readouterr()
    assert run(["fleet", "-F", sshd.config, "--text", "q*"]) == 2
    assert capsys.readouterr().err == (
        "raidtui: no host of ssh_config matches 'q*': name hosts, or an inventory of Ansible\n"
    )


@pytest.fixture
def play_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what has a shell script answer in the place of ssh."""

    def play(script: str) -> None:
        ssh = tmp_path / "ssh"
        ssh.write_text(f"#!/bin/sh\n{script}")
        ssh.chmod(0o755)
        monkeypatch.setattr("shutil.which", lambda _: str(ssh))

    return play


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (255, CHANGED, "host-key-changed"),
        (
            255,
            "No ED25519 host key is known for db1 and you have requested strict checking.\n" + FAILED,
            "host-key-unknown",
        ),
        (255, FAILED, "host-key-unknown"),
        (255, "root@db1: Permission denied (publickey).\n", "denied"),
        (255, "Received disconnect from 10.0.0.7 port 22:2: Too many authentication failures\n", "denied"),
        (255, "ssh: connect to host db1 port 22: No route to host\n", "unreachable"),
        (255, "", "unreachable"),
        (1, "sudo: a password is required\n", "sudo-password"),
        (1, "sudo: a terminal is required to read the password; either use the -S option\n", "sudo-password"),
        (64, "usage\n", "not-understood"),
    ],
)
async def test_why_ssh_has_ended(play_ssh: Callable[[str], None], status: int, said: str, code: str) -> None:
    """Words of OpenSSH 9.2 and sudo 1.9.13."""
    play_ssh(f"cat >&2 <<'EOF'\n{said}EOF\nexit {status}\n")
    row = await ask_one(host_of("db1"), AskSettings())
    assert row.none is not None
    assert row.none.code == code
    assert bool(row.none.remedy) == (code != "not-understood")
    if said == CHANGED:
        assert "SHA256:NEW. Offending ED25519 key in /root/.ssh/known_hosts:3" in row.none.why


async def test_what_never_ends_is_ended_at_once(play_ssh: Callable[[str], None]) -> None:
    play_ssh("exec cat /dev/zero\n")
    row = await ask_one(host_of("db1"), AskSettings(timeout_s=3600.0))
    assert row.problems == ("it answered more than 16 MiB, which was not read",)


async def test_errors_without_end_hold_nobody_up(play_ssh: Callable[[str], None]) -> None:
    play_ssh("exec cat /dev/zero >&2\n")
    row = await ask_one(host_of("db1"), AskSettings(timeout_s=0.5))
    assert row.none is not None
    assert row.none.code is NoAnswerCode.TIMEOUT
