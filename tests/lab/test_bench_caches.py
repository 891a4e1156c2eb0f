"""Benchmarks over caches: their state and hits are kept, and equal to what the kernel and fio say."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import done, kept, read
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest

pytestmark = [pytest.mark.later, pytest.mark.usefixtures("no_benchmarks")]
# Twice the same requests, until the size is done: how fast this machine is plays no part.
_HOT_SPOTS = ("run", "--preset=hot-spots", "--size=12m", "--runtime=0", "--repeats=2")
_STATS = ("cache_hits", "cache_misses", "cache_bypass_hits", "cache_bypass_misses")
_STOP_BCACHE = """\
for each in /sys/block/bcache*/bcache/stop; do echo 1 >$each; done
for each in /sys/fs/bcache/*-*/stop; do echo 1 >$each; done
for n in $(seq 100); do
    ls -d /sys/block/bcache* /sys/fs/bcache/*-* 2>/dev/null | grep -q . || break; sleep 0.1
done
"""


def ok(guest: Guest, script: str) -> str:
    """Run commands that must not fail; return what they print."""
    result = guest.run(f"set -e\n{script}")
    assert result.status == 0, result.output
    return result.stdout


@pytest.fixture
def slow(guest: Guest) -> Iterator[tuple[Guest, str]]:
    """The guest with a mirror, and the name of a disk for a cache; what is made on them is taken away."""
    disks = disk_names(guest)
    make_array(guest, "slow", 1, disks[:2], extra=("--assume-clean",))
    try:
        yield guest, disks[2]
    finally:
        guest.run(f"vgremove -q -f -y vc\n{_STOP_BCACHE}")


def counted(run: dict[str, Any]) -> tuple[int, int]:
    """Hits and misses of a run's cache."""
    (cache,) = run["caches"]
    return cache.get("hits", 0), cache.get("misses", 0)


def test_hot_spots_on_lvmcache(slow: tuple[Guest, str]) -> None:
    """Each request of fio is a hit or a miss; the states are those of dmsetup; a cold start is said."""
    guest, disk = slow
    ok(
        guest,
        "modprobe -a dm-mod dm-cache dm-cache-smq\n"
        f"vgcreate -q vc /dev/md/slow /dev/{disk}\n"
        f"lvcreate -q -y -n slow -L64M vc /dev/md/slow; lvcreate -q -y -n fast -L48M vc /dev/{disk}\n"
        "lvconvert -q -y --type cache --cachevol fast --cachemode writethrough --chunksize 32k vc/slow\n"
        "udevadm settle",
    )
    said = done(guest, *_HOT_SPOTS, "--device=/dev/vc/slow").stdout
    words = ok(guest, "dmsetup status --noflush vc-slow").split()[3:]
    report = json.loads(done(guest, "report", "1", "2", "--json=-").stdout)
    first, second = report["runs"]
    for run in (first, second):
        (cache,) = run["caches"]
        before, after = cache["before"], cache["after"]
        moved = {key: after[key] - before[key] for key in ("hits", "misses")}
        assert counted(run) == (moved["hits"], moved["misses"])
        assert sum(counted(run)) == run["read"]["ios"] > 0
        assert (cache["label"], cache["kind"], before["mode"]) == ("vc/slow", "lvm-cache", "writethrough")
        assert before["block_bytes"] == 32 << 10
    last = second["caches"][0]["after"]
    assert [last[key] for key in ("read_hits", "read_misses", "write_hits", "write_misses")] == [
        int(word) for word in words[4:8]
    ]
    assert last["total_bytes"] == int(words[3].split("/")[1]) * (32 << 10)
    assert first["caches"][0]["cold"] is True  # udev alone has read from it
    assert "vc/slow is a cache (lvm-cache, writethrough, cold: the first run fills it)" in said
    assert "            vc/slow: lvm-cache, writethrough, used " in said
    assert "Published for hot-spots (strugglers.net, July 2017" in said
    readings = [each for sample in report["samples"]["2"] for each in sample.get("caches", ())]
    assert len(readings) > 1
    ends = [reading["counts"][0] for reading in (readings[0], readings[-1])]
    assert (ends[1]["hits"] - ends[0]["hits"], ends[1]["misses"] - ends[0]["misses"]) == counted(second)


def test_hot_spots_on_bcache(slow: tuple[Guest, str]) -> None:
    """Its own counters lag: reads that do not reach the backing device are its hits."""
    guest, disk = slow
    ok(
        guest,
        "modprobe bcache\n"
        f"make-bcache --block 4k --bucket 64k --wipe-bcache -C /dev/{disk} -B /dev/md/slow\n"
        f"udevadm settle; for each in {disk} md/slow; do\n"
        "    echo /dev/$each >/sys/fs/bcache/register || :\n"
        "done\n"
        "until [ -e /sys/block/bcache0/bcache/cache ]; do sleep 0.1; done; udevadm settle\n"
        "for each in /sys/fs/bcache/*-*/congested_*_threshold_us; do echo 0 >$each; done",
    )
    backing = ok(guest, "basename $(readlink -f /dev/md/slow)").strip()
    reads = int(read(guest, f"/sys/class/block/{backing}/stat").split()[0])
    own = by_bcache(guest)
    said = done(guest, *_HOT_SPOTS, "--device=/dev/bcache0").stdout
    reached = int(read(guest, f"/sys/class/block/{backing}/stat").split()[0]) - reads
    first, second = kept(guest)
    for run in (first, second):
        (cache,) = run["caches"]
        assert (cache["kind"], cache["by_requests"], cache["before"]["mode"]) == (
            "bcache",
            True,
            "writethrough",
        )
        assert (cache["before"]["backing"], cache["before"]["devices"]) == (backing, [disk])
        assert sum(counted(run)) == run["read"]["ios"] > 0
    assert 0 < counted(first)[1] <= reached
    assert counted(second)[1] < counted(first)[1]
    assert counted(first)[1] + counted(second)[1] <= reached
    assert first["caches"][0]["cold"] is True
    assert "bcache0 is a cache (bcache, writethrough, cold: the first run fills it)" in said
    own = [new - old for new, old in zip(by_bcache(guest), own, strict=True)]
    assert own == [sum(each) for each in zip(counted(first), counted(second), strict=True)]


def by_bcache(guest: Guest) -> list[int]:
    """Hits and misses by bcache's own counters, once these have all that was read from it."""
    block = "/sys/class/block/bcache0"

    def counters() -> list[int]:
        return [int(read(guest, f"{block}/bcache/stats_total/{name}")) for name in _STATS]

    reads = int(read(guest, f"{block}/stat").split()[0])
    wait_until(lambda: sum(counters()) >= reads, 60, "bcache's counters")
    hits, misses, passed_hits, passed_misses = counters()
    return [hits + passed_hits, misses + passed_misses]
