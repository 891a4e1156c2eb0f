"""A command of raidtui that is forked off in the guest is like one that is started there."""

import re
import signal
from functools import partial

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, JobTimeoutError, Program
from tests.lab.guests.jobs import PLAN, plan, raidtui, started
from tests.lab.guests.link import LabError

WATCH = ("status", "--watch", "--json")
COMMANDS = (
    ("--version",),
    ("rescue", "try", "--help"),
    ("status", "--no-such-option"),
    ("frobnicate",),
    ("status", "--json"),
    ("status",),
    ("plan", "stop", "md0"),
    ("jobs", "rollback", "none"),
    ("rescue", "--json"),
    ("apply", "/does/not/exist"),
    ("--root", "/does/not/exist", "status"),
)
# What a process is, but for numbers that no two have.
FACTS = """
import os
from pathlib import Path
folder = Path(f"/proc/{pid}")
words = (folder / "cmdline").read_bytes().rstrip(b"\\0").split(b"\\0")
variables = [each for each in (folder / "environ").read_bytes().split(b"\\0") if each]
given = [each for each in variables if not each.startswith((b"_=", b"PWD=", b"OLDPWD=", b"SHLVL="))]
print(words, os.readlink(folder / "cwd"), os.readlink(folder / "exe"))
for number in ("0", "1", "2"):
    place = Path(os.readlink(folder / "fd" / number))
    flags = (folder / "fdinfo" / number).read_text().split("flags:")[1].split()[0]
    print(number, place.parent, place.suffix, flags)
for line in (folder / "status").read_text().splitlines():
    if line.startswith(("Umask", "Uid", "Gid", "Groups", "Threads", "Sig", "Cap", "NoNewPrivs")):
        print(line)
print(*((folder / name).read_text() for name in ("limits", "comm", "oom_score_adj")))
print("alone in its session", os.getsid(pid) == os.getpgid(pid) == pid)
mark = next(each for each in given if each.startswith(b"LAB_JOB="))
print("marked", mark.removeprefix(b"LAB_JOB=").isdigit(), *sorted({*given} - {mark}), sep="\\n")
"""
_WORKER = """
import subprocess
pid = None
while pid is None:
    said = subprocess.run(["pgrep", "-f", "[-]m raidtui .* work "], capture_output=True, text=True).stdout
    pid = int(said) if said else None
"""


@pytest.fixture
def array(guest: Guest) -> Guest:
    """A guest with something to say."""
    make_array(guest, "data", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    return guest


@pytest.mark.later
def test_outputs_and_status_are_those_of_a_start(array: Guest) -> None:
    for words in COMMANDS:
        forked, real = raidtui(array, *words), started(array, *words)
        assert (_timeless(forked.stdout), forked.stderr) == (_timeless(real.stdout), real.stderr)
        assert forked.status == real.status
        assert real.output


def test_the_process_is_that_of_a_start(array: Guest) -> None:
    programs = [array.begin_command(WATCH), array.spawn(" ".join((*RAIDTUI, *WATCH)))]
    for program in programs:
        wait_until(partial(_has_begun, array, program), what="output")
    forked, real = (_facts(array, program.pid) for program in programs)
    assert forked == real
    assert "marked\nTrue\n" in real
    assert "alone in its session True\n" in real
    for program in programs:
        assert program.status is None
        program.kill(signal.SIGTERM)
    assert programs[0].wait(60).status == programs[1].wait(60).status


@pytest.mark.later
def test_a_worker_is_that_of_a_start(array: Guest) -> None:
    """Looked at as soon as it is there; /proc shows the zygote's variables of it."""
    found = []
    for run in (raidtui, started):
        plan(array, "read-only" if run is raidtui else "read-write", "data")
        look = array.spawn(_WORKER + FACTS, interpreter="python", timeout=60)
        assert run(array, "apply", PLAN).status == 0
        facts = look.wait(80)
        assert facts.status == 0, facts.output
        found.append(re.sub(r"jobs/[^']+|b'(LC_ALL|SUDO_USER)=.*'\n", "", facts.stdout))
    forked, real = found
    assert forked == real


@pytest.mark.later
def test_a_signal_is_a_negative_status(guest: Guest) -> None:
    program = guest.begin_command(WATCH)
    program.kill()
    assert program.wait(60).status == -signal.SIGKILL


@pytest.mark.later
def test_a_timeout_kills_it_and_says_what_it_was_at(guest: Guest) -> None:
    raidtui(guest, "--version")
    result = r"(?s)killed after [\d.]+ s.*\n\d+ [DRS] \w+ \S+ -m raidtui status --watch --json\n.*it wrote:\n"
    with pytest.raises(JobTimeoutError, match=result):
        guest.command(WATCH, timeout=1.0)
    assert guest.run("pgrep -f 'raidtui[ ]status'").status == 1
    assert raidtui(guest, "--version").status == 0


@pytest.mark.later
def test_nothing_of_a_command_is_left_in_the_zygote(array: Guest) -> None:
    raidtui(array, "--version")
    before = _zygote(array)
    for words in COMMANDS[:4]:
        raidtui(array, *words)
    plan(array, "stop", "data")
    assert array.run(f"cat {PLAN}").stdout.startswith("{")
    assert _zygote(array) == before
    assert "task 1\n" in before


@pytest.mark.later
def test_commands_run_beside_each_other(guest: Guest) -> None:
    watching = guest.begin_command(WATCH)
    assert raidtui(guest, "--version").status == 0
    assert watching.status is None
    watching.kill()
    watching.wait(60)


@pytest.mark.later
def test_where_the_zygote_has_ended_its_commands_have_no_status_and_the_next_has_a_new_one(
    guest: Guest,
) -> None:
    watching = guest.begin_command(WATCH)
    assert guest.run("pkill -KILL -f '[i]nside.zygote'").status == 0
    with pytest.raises(LabError, match="the zygote has ended"):
        watching.wait(60)
    assert guest.run("pkill -KILL -f 'raidtui[ ]status'").status == 0
    assert raidtui(guest, "--version").output == started(guest, "--version").output


def _timeless(text: str) -> str:
    """Without the time at which it was written."""
    return re.sub(r"\d{4}-\d\d-\d\d.\d\d:\d\d:[\d.]+|\d{10}[.]\d+", "TIME", text)


def _has_begun(guest: Guest, program: Program) -> bool:
    return guest.run(f"test -s /proc/{program.pid}/fd/1").status == 0


def _facts(guest: Guest, pid: int) -> str:
    result = guest.run(f"pid = {pid}\n{FACTS}", interpreter="python")
    assert result.status == 0, result.output
    return result.stdout


def _zygote(guest: Guest) -> str:
    """Its process, open files and threads."""
    found = guest.run(
        "pid=$(pgrep -f '[i]nside.zygote') && echo $pid && readlink /proc/$pid/fd/* && "
        "echo task $(ls /proc/$pid/task | wc -l)"
    )
    assert found.status == 0, found.output
    return found.stdout
