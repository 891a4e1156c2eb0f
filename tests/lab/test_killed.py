"""Workers killed between any two of their doings, and while a tool runs; raidtui itself, killed, too."""

import signal
import sys

import pytest

from tests.extent import each, later
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.inside.cases import CREATE, RENAME, REPLACE
from tests.lab.guests.jobs import bystander, checksum, killed_worker, plan, raidtui, results, states
from tests.lab.guests.terminal import Terminal

CASES = ("rename", "create", "replace")
ENDS = {"resume": (0, "done", ""), "rollback": (0, "rolled back", "")}
# Ends it as the worker begins the second step: the array is stopped then.
SCREEN = """
import sys
from tests.lab.guests.inside import runs
runs.end_me(2, {number})
sys.argv = ["raidtui"]
from raidtui.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("case", "entries", "tools"), [later(RENAME, 9, 2), later(CREATE, 6, 1), (REPLACE, 7, 2)], ids=CASES
)
def test_a_worker_killed_anywhere(guest: Guest, case: str, entries: int, tools: int) -> None:
    """Gone on with, or taken back, all is as it must be; the data are there all the time."""
    disk = disk_names(guest)[7]
    before = bystander(guest, disk)
    calls = {
        (order, fault): f"everywhere(case, runs.{fault}, {order!r}, {step})"
        for order in ENDS
        for fault, step in (("killed_at_entry", each(4)), ("killed_in_tool", each(2)))
    }
    for (order, fault), (*rows, last) in zip(calls, results(guest, case, *calls.values()), strict=True):
        assert last == ["at the end", "done", 0, ""]
        nothing = [row for row in rows if row[3] == "nothing done"]
        assert {tuple(row[2:]) for row in rows if row not in nothing} == {ENDS[order]}, rows
        # Before the first step, there is nothing to undo.
        begun = order == "rollback" and fault == "killed_at_entry"
        early = [[1, "made", 0, "nothing done", ""], [2, "interrupted", 0, "nothing done", ""]]
        assert nothing == (early[:: each(4)] if begun else [])
        assert len(rows) >= (entries // each(4) if fault == "killed_at_entry" else tools // each(2)), rows
    assert checksum(guest, [disk]) == before


@pytest.mark.later
@pytest.mark.parametrize(("case", "steps"), [(RENAME, 3), (CREATE, 2), (REPLACE, 2)], ids=CASES)
def test_the_job_outlives_raidtui_at_every_step(guest: Guest, case: str, steps: int) -> None:
    """The worker is no child of the terminal: whatever ends raidtui, the plan is carried out."""
    [rows] = results(guest, case, f"outlived(case, {signal.SIGKILL:d})")
    assert rows == [[number, -signal.SIGKILL, "done", ""] for number in range(1, steps + 1)]


@pytest.mark.later
def test_the_job_outlives_a_line_that_drops(guest: Guest) -> None:
    calls = [f"outlived(case, {number:d}, [2])" for number in (signal.SIGHUP, signal.SIGINT)]
    assert results(guest, RENAME, *calls) == [[[2, -signal.SIGHUP, "done", ""]], [[2, 0, "done", ""]]]


@pytest.mark.parametrize("number", [later(signal.SIGKILL), later(signal.SIGHUP)])
def test_the_job_outlives_the_screen(guest: Guest, number: signal.Signals) -> None:
    results(guest, RENAME, "sh('rm -rf /var/lib/raidtui/jobs')")
    with guest.terminal(
        [sys.executable, "-c", SCREEN.format(number=int(number))], cols=100, rows=30
    ) as terminal:
        rename(terminal)
        wait_until(lambda: terminal.exit_status is not None, 60, "its end")
        assert terminal.exit_status in {-number, 128 + number}
    wait_until(lambda: states(guest) == ["done"], 60, "the job is done")
    conf = guest.run("mdadm --detail --export /dev/md/126; cat /etc/mdadm/mdadm.conf").stdout
    assert "MD_NAME=lab:126\n" in conf
    assert "\nARRAY /dev/md/126 " in conf


@pytest.mark.later
def test_taken_back_by_the_command_line(guest: Guest) -> None:
    made = make_array(guest, "127", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    before = checksum(guest, [made.kernel])
    plan(guest, "rename", "127", "--to=126")
    job, status = killed_worker(guest, 5)
    assert (status, states(guest)[-1]) == (-signal.SIGKILL, "interrupted")
    again = raidtui(guest, "jobs", "rollback", job)
    assert (again.status, again.stdout.endswith("rolled back: requested\n")) == (0, True), again.output
    assert "MD_NAME=lab:127\n" in guest.run("mdadm --detail --export /dev/md/127").stdout
    assert checksum(guest, [made.kernel]) == before


def rename(terminal: Terminal) -> None:
    """By keys: 127 becomes 126."""
    terminal.wait_for("in_sync", timeout=30)
    terminal.press("N")
    terminal.wait_for("A new name for 127")
    terminal.press(*"126", "enter")
    terminal.wait_for("mdadm --assemble /dev/md/126 --name=126 --update=name")
    terminal.press("y")
