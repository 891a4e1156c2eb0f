"""mdadm that fails at any of its calls, and a disk that runs full under the journal."""

from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import disk_names
from tests.lab.guests.guest import Guest
from tests.lab.guests.inside.cases import CREATE, RENAME, REPLACE
from tests.lab.guests.jobs import PLAN, apply, bystander, checksum, results

FULL = "/var/lib/raidtui/jobs: No space left on device"
DONE, UNDONE = [0, "done", ""], [0, "rolled back", ""]


@pytest.fixture
def broken(guest: Guest) -> Iterator[Guest]:
    """A guest whose mdadm fails when it is asked to."""
    try:
        results(guest, "None", "break_mdadm()")
        yield guest
    finally:
        guest.run("umount -l $(readlink -f /usr/sbin/mdadm); rm -rf /tmp/fault")


@pytest.mark.later
@pytest.mark.parametrize(
    ("case", "calls"),
    [(RENAME, ["--stop", "--assemble"]), (REPLACE, ["--manage", "--manage"])],
    ids=["rename", "replace"],
)
def test_mdadm_fails_and_all_is_taken_back(broken: Guest, case: str, calls: list[str]) -> None:
    """Whether it has done its work by then, or not: what it said is reported, and all else is as before."""
    disk = disk_names(broken)[7]
    noise = bystander(broken, disk)
    calls_made = ("failing(case, after=False, reads=True)", "failing(case, after=True)")
    before, after = results(broken, case, *calls_made)
    for rows in (before, after):
        reading = [row for row in rows if row[0] in {"--detail", "--examine"}]
        assert all(row[1:] == ["done", False, ""] for row in reading), rows  # it is asked again
        assert [row for row in rows if row not in reading] == [
            *([call, "rolled back", True, ""] for call in calls),
            ["at the end", "done", ""],
        ]
    assert checksum(broken, [disk]) == noise


@pytest.mark.later
def test_mdadm_fails_to_create(broken: Guest) -> None:
    """The job has failed with mdadm's words; it can be resumed, and taken back."""
    disk = disk_names(broken)[7]
    noise = bystander(broken, disk)
    cases = ((False, DONE), (True, DONE), (True, UNDONE))
    calls = [f"failing(case, after={after}, back={end == UNDONE})" for after, end in cases]
    for (_, end), rows in zip(cases, results(broken, CREATE, *calls), strict=True):
        assert rows == [["--create", "failed", True, *end], ["at the end", "done", ""]]
    assert checksum(broken, [disk]) == noise


@pytest.fixture
def small(guest: Guest) -> Iterator[Guest]:
    """A guest whose jobs are on a small file system of their own."""
    try:
        results(guest, "None", "small_var()")
        yield guest
    finally:
        guest.run("umount -l /var/lib/raidtui")


@pytest.mark.later
def test_a_full_disk_stops_a_rename_which_comes_back(small: Guest) -> None:
    """The room that was kept lets the journal say so, and lets the array get its name back."""
    disk = disk_names(small)[7]
    noise = bystander(small, disk)
    [rows] = results(small, RENAME, "full_everywhere(case, runs.full_at_entry, range(1, 11))")
    why = f"{FULL}; make room there, then resume the job"
    places = ["stopped before step 1", "step 1", *["stopped before step 2"] * 2]
    places += ["step 2", *["stopped before step 3"] * 3, "step 3"]  # the start of the array is noted, too
    assert [row[1:] for row in rows[:-1]] == [["rolled back", f"{place}: {why}", ""] for place in places]
    assert rows[-1] == [10, "done", "", ""]
    assert checksum(small, [disk]) == noise


def test_a_full_disk_whose_last_room_is_gone_too(small: Guest) -> None:
    """Nothing is done that cannot be noted; with room again, the job is resumed, or taken back."""
    [rows] = results(small, RENAME, "full_everywhere(case, runs.fuller_at_entry, range(3, 7))")
    assert rows == [[number, "interrupted", "", *(DONE if number % 2 else UNDONE)] for number in range(3, 7)]


@pytest.mark.later
def test_a_full_disk_stops_a_create(small: Guest) -> None:
    [rows] = results(small, CREATE, "full_everywhere(case, runs.full_at_entry, [2, 3, 4])")
    why = f"{FULL}; make room there, then resume the job"
    assert rows == [
        [2, "failed", f"step 1: {why}", *UNDONE],
        [3, "failed", f"stopped before step 2: {why}", *DONE],
        [4, "failed", f"stopped before step 2: {why}", *UNDONE],
    ]


@pytest.mark.later
def test_no_job_is_begun_on_a_full_disk(small: Guest) -> None:
    results(small, RENAME, f"save({PLAN!r}, case)")
    small.run("mkdir -p /var/lib/raidtui/jobs; dd if=/dev/zero of=/var/lib/raidtui/filler bs=1k status=none")
    said = apply(small, status=2)
    assert said.endswith(
        "raidtui: a job cannot be created in /var/lib/raidtui/jobs: No space left on device;"
        " nothing was started\n"
    )
    assert small.run("ls -A /var/lib/raidtui/jobs; grep -c active /proc/mdstat").stdout == "1\n"
