"""Scratch arrays of levels that sync first, and their own knobs; killed in the middle, nothing is left."""

import pytest

from tests.lab.guests.arrays import disk_names, mdstat
from tests.lab.guests.benches import begun, done, kept, kill_worker, read, refused, titles
from tests.lab.guests.boot import serial_of
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import bystander, checksum

pytestmark = pytest.mark.usefixtures("no_benchmarks")
MEMBER = "--member-size=8192"
CACHE = "/sys/block/md999/md/stripe_cache_size"


def on(disks: tuple[str, ...]) -> tuple[str, ...]:
    """Devices as somebody gives them who knows what they are."""
    return ("--scratch", *disks, *(f"--confirm={serial_of(disk)}" for disk in disks))


def nothing_left(guest: Guest, disks: tuple[str, ...]) -> bool:
    """Whether there is no array any more, and no device that was part of one."""
    paths = " ".join(f"/dev/{disk}" for disk in disks)
    return "active" not in mdstat(guest) and guest.run(f"wipefs --noheadings {paths}").output == ""


@pytest.mark.later
def test_levels_that_sync_before_they_are_measured(guest: Guest) -> None:
    disks = disk_names(guest)
    before = bystander(guest, disks[7])
    asked = ("--rw=randwrite", "--size=2m", "--level=raid5,raid6", "--repeats=1", MEMBER)
    done(guest, "sweep", *asked, *on(disks[:4]))
    runs = kept(guest)
    assert [run["point"] for run in runs] == [{"level": "raid5"}, {"level": "raid6"}]
    for run in runs:
        (array,) = run["environment"]["arrays"]
        # What syncs, or is missing, would be reported: nothing is, the array was whole before fio began.
        assert (array["level"], "sync" in array, "missing" in array) == (run["point"]["level"], False, False)
        assert (run["write"]["ios"], sorted(run["written"])) == (512, sorted(disks[:4]))
        assert min(run["written"].values()) > 0
        assert "remarks" not in run
    assert [title.partition(",")[0] for title in titles(guest)] == [
        "scratch array: raid5",
        "scratch array: raid6",
    ]
    assert nothing_left(guest, disks[:4])
    assert checksum(guest, [disks[7]]) == before


def test_arrays_with_a_bitmap_and_without(guest: Guest) -> None:
    disks = disk_names(guest)[:2]
    asked = ("--rw=randwrite", "--size=1m", "--level=raid1", "--knob=bitmap=none,internal", "--repeats=1")
    done(guest, "sweep", *asked, MEMBER, *on(disks))
    arrays = [run["environment"]["arrays"][0] for run in kept(guest)]
    assert [(array["level"], array.get("bitmap", "none")) for array in arrays] == [
        ("raid1", "none"),
        ("raid1", "internal"),
    ]
    assert nothing_left(guest, disks)


@pytest.mark.later
def test_a_knob_of_the_array_and_a_kill(guest: Guest) -> None:
    """The stripe cache is set on each array when that is there. A killed sweep leaves nothing behind."""
    disks = disk_names(guest)[:3]
    knob = "--knob=stripe-cache-size=128,1024"
    asked = ("--rw=randwrite", "--size=1m", knob, MEMBER, *on(disks))
    assert refused(guest, "sweep", *asked) == (
        "raid10 has no stripe_cache_size: only RAID-4, -5 and -6 have it; choose one of these levels"
    )
    reported = done(guest, "sweep", *asked, "--level=raid5", "--repeats=1").stdout
    assert "  stripe_cache_size: 128, 1024, set on each array once it exists\n" in reported
    assert [run["point"] for run in kept(guest)] == [
        {"stripe_cache_size": "128"},
        {"stripe_cache_size": "1024"},
    ]
    assert titles(guest) == [
        "scratch array: raid5, 3 devices",
        "stripe_cache_size 256 → 128 (999)",
        "stripe_cache_size 128 → 1024 (999)",
    ]
    assert nothing_left(guest, disks)

    killed = begun(guest, "sweep", *asked, "--level=raid5", "--repeats=1", "--runtime=60")
    assert read(guest, CACHE) == "128"
    kill_worker(guest)
    assert read(guest, CACHE) == "128", "nobody is there to take the array apart"
    reported = done(
        guest, "sweep", "--rw=read", "--size=1m", "--bs=64k,128k", "--repeats=1", *on(disks)
    ).stderr
    assert f"Benchmark {killed} was interrupted: what it changed is put back.\n" in reported
    assert [(run["state"], run.get("reason", "")) for run in kept(guest)[2:]] == [
        ("partial", "its worker was killed; the latencies of the whole run are not known"),
        ("whole", ""),
        ("whole", ""),
    ]
    assert titles(guest, killed)[-1] == "scratch array: raid5, 3 devices"
    assert nothing_left(guest, disks)
