"""What continues in the kernel after a job, taken back: a copy that is not whole, one that is, a check."""

import pytest

from tests.lab.guests.arrays import disk_names
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import bystander, checksum, results

KINDS = (("raid10", True), ("raid5", False), ("raid6", False))  # raid1: test_killed.py


@pytest.mark.later
def test_a_copy_that_is_not_whole(guest: Guest) -> None:
    """The old member stays, the new device is what it was before; nothing is degraded, no copy differs."""
    disks = disk_names(guest)
    before, members = bystander(guest, disks[7]), dict.fromkeys(disks[:4], "in_sync")
    calls = [f"taken_back({level!r}, {disks[:4]!r}, {disks[4]!r}, spare={spare})" for level, spare in KINDS]
    for (level, spare), found in zip(KINDS, results(guest, "None", *calls), strict=True):
        assert found == {
            "while it was copied": [
                {**members, disks[0]: "in_sync,want_replacement", disks[4]: "spare,replacement"},
                "recover",
            ],
            "rollback": [0, "rolled back", "requested"],
            "then": [{**members, disks[4]: "spare" if spare else None}, "idle"],
            "signatures": spare,
            "degraded": "0",
            "mismatches": "0",
            "data": "",
        }, level
    assert checksum(guest, [disks[7]]) == before


def test_a_copy_that_is_whole(guest: Guest) -> None:
    """The new device is the only copy: it stays."""
    disks = disk_names(guest)
    [found] = results(guest, "None", f"copied({disks[:4]!r}, {disks[4]!r})")
    whole = f"the copy is complete: {disks[4]} has replaced {disks[0]}"
    then = {**dict.fromkeys(disks[1:5], "in_sync"), disks[0]: "faulty"}
    assert found == {
        "rollback": [1, "done", found["rollback"][2]],
        "then": [then, "idle"],
        "data": "",
    }
    assert found["rollback"][2].endswith(f" cannot be rolled back now: {whole}")


@pytest.mark.later
def test_an_array_that_is_stopped_in_the_middle_of_a_copy(guest: Guest) -> None:
    """Its job is not done, and its rollback not stuck; with the array, the copy and the job continue."""
    disks = disk_names(guest)
    [found] = results(guest, "None", f"stopped_outside({disks[:4]!r}, {disks[4]!r})")
    copies = f"md copies {disks[0]} to {disks[4]}"
    gone = f"{copies}, but has not finished: md127 is not there"
    assert found == [
        ["goes on", f"{copies}; other jobs can run meanwhile"],
        [True, False],
        gone,
        [1, "failed"],
        "md127 is not there",
        [1, "failed"],
        0,
        [{**dict.fromkeys(disks[1:5], "in_sync"), disks[0]: "faulty"}, "idle"],
        "",
    ]


@pytest.mark.later
@pytest.mark.parametrize(
    ("verb", "goes_on", "action"),
    [
        ("add", "md recovers {0}", "recover"),
        ("grow-chunk", "md moves every block to its new place", "reshape"),
    ],
)
def test_a_job_ends_with_what_it_has_begun(guest: Guest, verb: str, goes_on: str, action: str) -> None:
    disks = disk_names(guest)
    [found] = results(guest, "None", f"filled({verb!r}, {disks[:4]!r})")
    reason = f"{goes_on.format(disks[1])}; other jobs can run meanwhile"
    assert found == ["goes on", reason, action, "done", "0", "none", ""]


@pytest.mark.later
def test_a_check(guest: Guest) -> None:
    disks = disk_names(guest)
    [found] = results(guest, "None", f"checked({disks[:4]!r})")
    assert found == [["done", "check"], [0, "rolled back", "requested"], ["idle", "0"]]
