"""What stands on what, on a real kernel: volumes and caches over md, with figures equal to the kernel's."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest

_UNDO = """\
umount -q /mnt/stack
for map in $(dmsetup ls --target crypt 2>/dev/null | cut -f1); do dmsetup remove --retry "$map"; done
vgremove -q -f -y vc
"""
_BLOCK = "/sys/class/block"


@pytest.fixture
def over_md(guest: Guest) -> Iterator[Guest]:
    """The guest with a RAID 5, a RAID 1 and a group of volumes over both and a disk; taken away again."""
    disks = disk_names(guest)
    make_array(guest, "slow", 5, disks[:3], chunk=64, extra=("--assume-clean",))
    make_array(guest, "fast", 1, disks[3:5], extra=("--assume-clean",))
    done = guest.run(
        "modprobe -a dm-mod dm-cache dm-cache-smq dm-writecache"
        f" && vgcreate -q vc /dev/md/slow /dev/md/fast /dev/{disks[5]}"
    )
    try:
        assert done.status == 0, done.output
        yield guest
    finally:
        guest.run(_UNDO)


def ok(guest: Guest, script: str) -> str:
    """Run commands that must not fail; return what they print."""
    done = guest.run(f"set -e\n{script}")
    assert done.status == 0, done.output
    return done.stdout


# Reads the layers twice with the product's reader, does some work in between, and reads what the kernel says
# in the same moments: nothing else uses these devices.
_MEASURED = """
import json, subprocess, sys, time
from raidtui.host.readers.opening import open_root
from raidtui.features.stack.cli import stack_dict
from raidtui.monitor.sampler import Sampler
from raidtui.features.stack.session import StackReader

def stats():
    found = {{}}
    for line in open("/proc/diskstats"):
        words = line.split()
        found[words[2]] = [int(word) for word in words[3:14]]
    return found

def iostat():
    said = subprocess.run(("iostat", "-d", "-k", "-o", "JSON"), capture_output=True, text=True, check=True)
    disks = json.loads(said.stdout)["sysstat"]["hosts"][0]["statistics"][0]["disk"]
    return {{each["disk_device"]: (each["kB_read"], each["kB_wrtn"]) for each in disks}}

def said():
    return subprocess.run(("dmsetup", "status", "--noflush"), capture_output=True, text=True).stdout

def settled():
    # md notes in the superblocks that an array is clean 0.2 s after its last write: that is a write, too.
    subprocess.run("sync; udevadm settle", shell=True, check=True)
    then, rounds = None, 0
    while then != (now := stats()) and rounds < 20:
        then, rounds = now, rounds + 1
        time.sleep(0.5)

root = open_root("/")
arrays = {{array.name: array for array in Sampler(root).sample().arrays}}
reader = StackReader(root)
settled()
reader.look(arrays, wait=True)
before, before_kb = stats(), iostat()
subprocess.run({work!r}, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
settled()
# A cache writes back on its own: what is compared is a moment at which it has not.
status, then = said(), None
while status != then:
    then = status
    look = reader.look(arrays, wait=True)
    status = said()
after, after_kb = stats(), iostat()
iostats = {{
    name: [new - old for new, old in zip(kb, before_kb.get(name, (0, 0)))] for name, kb in after_kb.items()
}}
found = {{"before": before, "after": after, "status": status, "iostat": iostats}}
json.dump({{"stack": stack_dict(look), **found}}, sys.stdout)
"""


def measured(guest: Guest, work: str) -> dict[str, Any]:
    """What the product and the kernel say of some work."""
    done = guest.run(_MEASURED.format(work=work), interpreter="python", timeout=120)
    assert done.status == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def node(found: dict[str, Any], name: str) -> dict[str, Any]:
    """A layer by its label or its name."""
    (each,) = [each for each in found["stack"]["nodes"] if name in {each["name"], each["label"]}]
    assert isinstance(each, dict)
    return each


def sectors(found: dict[str, Any], name: str) -> tuple[int, int]:
    """What a device has read and written in that time, in sectors, by /proc/diskstats."""
    before, after = found["before"][name], found["after"][name]
    return after[2] - before[2], after[6] - before[6]


def iostats_shares(found: dict[str, Any], *names: str) -> dict[str, float]:
    """The share of each of these devices in what all of them wrote, by iostat(1)."""
    written = {name: found["iostat"][name][1] for name in names}
    return {name: each / sum(written.values()) for name, each in written.items()}


_WRITE = "fio --name=w --filename=/dev/vc/{} --rw=write --bs=64k --size=8M --direct=1"


@pytest.mark.later
def test_a_linear_volume(over_md: Guest) -> None:
    """The load of each layer is what /proc/diskstats and iostat say; all of it is on one array."""
    ok(
        over_md,
        "lvcreate -q -y -n lin -L16M vc /dev/md/slow; lvextend -q -y -L+16M vc/lin /dev/md/fast\n"
        "udevadm settle",
    )
    found = measured(over_md, _WRITE.format("lin"))
    slow, fast = node(found, "slow")["name"], node(found, "fast")["name"]
    volume = node(found, "vc/lin")
    assert volume["kind"] == "lvm-linear"
    assert sorted(volume["parents"]) == sorted([slow, fast])
    for name in (volume["name"], slow, fast, "ubda", "ubdd"):
        load = node(found, name)["load"]
        read, written = sectors(found, name)
        assert (load["read_bytes"], load["written_bytes"]) == (read * 512, written * 512), name
    assert volume["load"]["written_bytes"] == 8 << 20
    assert volume["share"][slow]["writes"] > 0.98
    by_iostat = iostats_shares(found, slow, fast)
    assert {name: share["writes"] for name, share in volume["share"].items()} == pytest.approx(
        by_iostat, abs=1e-3
    )


@pytest.mark.later
def test_the_stack_by_keys(over_md: Guest) -> None:
    """Key v on an array: what stands on it, and while it is written to, which array serves that."""
    ok(
        over_md,
        "lvcreate -q -y -n lin -L16M vc /dev/md/slow; lvextend -q -y -L+16M vc/lin /dev/md/fast\n"
        "mkfs.ext4 -q /dev/vc/lin && mkdir -p /mnt/stack && mount /dev/vc/lin /mnt/stack; udevadm settle",
    )
    with open_console(over_md) as terminal:
        terminal.press("v")
        terminal.wait_for(
            re.compile(r"/mnt/stack +ext4[\s\S]*vc/lin +linear [\s\S]*fast +raid1[\s\S]*slow +raid5")
        )
        terminal.press("a")
        terminal.wait_for(re.compile(rf"{disk_names(over_md)[7]} +disk"))

        def seen() -> bool:
            """Whether the last seconds are in the balance, while it is written to."""
            ok(over_md, _WRITE.format("lin").replace("/dev/vc/lin", "/mnt/stack/file"))
            shares = r"(fast|slow) +[0-9.]+% r +[0-9.]+% w"
            return re.search(rf"vc/lin, linear[\s\S]*{shares}", terminal.screen()) is not None

        wait_until(seen, what="the share of each array")
        terminal.press("escape")
        terminal.wait_for(lambda text: "vc/lin" not in text and "in_sync" in text)
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.later
def test_a_striped_volume(over_md: Guest) -> None:
    """The shares are what /proc/diskstats and iostat say of the two arrays; both have about a half."""
    ok(over_md, "lvcreate -q -y -n str -i2 -I64k -L32M vc /dev/md/slow /dev/md/fast; udevadm settle")
    found = measured(over_md, _WRITE.format("str"))
    slow, fast = node(found, "slow")["name"], node(found, "fast")["name"]
    volume = node(found, "vc/str")
    assert volume["kind"] == "lvm-striped"
    assert volume["segments"][0]["chunk_sectors"] == 128
    written = {name: sectors(found, name)[1] for name in (slow, fast)}
    assert volume["share"][slow]["writes"] == pytest.approx(written[slow] / sum(written.values()))
    assert 0.4 < volume["share"][slow]["writes"] < 0.6
    by_iostat = iostats_shares(found, slow, fast)
    assert {name: share["writes"] for name, share in volume["share"].items()} == pytest.approx(
        by_iostat, abs=1e-3
    )


def _words(found: dict[str, Any], name: str) -> list[str]:
    """The words of a map's status, after the target."""
    status = str(found["status"])
    return next(line for line in status.split("\n") if line.startswith(f"{name}: ")).split()[4:]


_MIXED = "fio --name={0} --filename=/dev/vc/{0} --rw=randrw --bs=4k --size=4M --direct=1 --randseed=7"


def test_a_cache(over_md: Guest) -> None:
    """Hits, dirty blocks and promotions are those of dmsetup and lvs; writeback on one disk is said."""
    disk = disk_names(over_md)[5]
    ok(
        over_md,
        f"lvcreate -q -y -n slow -L64M vc /dev/md/slow; lvcreate -q -y -n fast -L24M vc /dev/{disk}\n"
        "lvconvert -q -y --type cache --cachevol fast --cachemode writeback --chunksize 64k vc/slow\n"
        "udevadm settle",
    )
    found = measured(over_md, "; ".join([_MIXED.format("slow")] * 2))
    cache, words = node(found, "vc/slow")["cache"], _words(found, "vc-slow")
    assert [cache[key] for key in ("read_hits", "read_misses", "write_hits", "write_misses")] == [
        int(word) for word in words[4:8]
    ]
    assert (cache["demotions"], cache["promotions"]) == (int(words[8]), int(words[9]))
    assert cache["dirty_bytes"] == int(words[10]) * 65536
    assert cache["hits"] > 0
    used, total = (int(word) for word in words[3].split("/"))
    assert (cache["used_bytes"], cache["total_bytes"]) == (used * 65536, total * 65536)
    assert (cache["mode"], cache["alone"]) == ("writeback", True)
    said = ok(
        over_md,
        "lvs --noheadings --nosuffix --units b --separator , -o cache_read_hits,cache_read_misses vc/slow",
    )
    assert said.strip() == f"{cache['read_hits']},{cache['read_misses']}"
    codes = [(each["code"], each["node"], each["severity"]) for each in found["stack"]["findings"]]
    assert ("cache-alone", node(found, "vc/slow")["name"], "failed") in codes
    assert found["stack"]["unknown"] == []


@pytest.mark.later
def test_a_write_cache(over_md: Guest) -> None:
    """What is not written back, and hits, are those of dmsetup; on a mirror it is not said to be alone."""
    ok(
        over_md,
        "lvcreate -q -y -n data -L32M vc /dev/md/slow; lvcreate -q -y -n log -L16M vc /dev/md/fast\n"
        "lvchange -q -an vc/log; lvconvert -q -y --type writecache --cachevol log vc/data; udevadm settle",
    )
    found = measured(over_md, _MIXED.format("data"))
    log, words = node(found, "vc/data")["cache"], _words(found, "vc-data")
    assert log["dirty_bytes"] == (int(words[1]) - int(words[2])) * 4096 > 0
    assert (log["read_hits"], log["mode"], log["alone"]) == (int(words[5]), "writeback", False)
    assert "cache-alone" not in [each["code"] for each in found["stack"]["findings"]]


@pytest.mark.later
def test_a_suspended_volume_holds_nothing_up(over_md: Guest) -> None:
    """What reads it would hang for ever; the reading of the layers comes back and says so."""
    ok(over_md, "lvcreate -q -y -n lin -L16M vc /dev/md/slow; udevadm settle; dmsetup suspend vc-lin")
    try:
        found = json.loads(over_md.run(_COMMAND, interpreter="python", timeout=60).stdout)
    finally:
        over_md.run("dmsetup resume vc-lin")
    volume = node({"stack": found}, "vc/lin")
    assert volume["suspended"] is True
    assert ("suspended", volume["name"]) in [(each["code"], each["node"]) for each in found["findings"]]


_COMMAND = """
import sys
from raidtui.app.cli import run_line
sys.exit(run_line(["stack", "--json", "--over", "0"]))
"""


@pytest.fixture
def bcache(guest: Guest) -> Iterator[Guest]:
    """The guest; afterwards without bcache."""
    yield guest
    guest.run(
        "for each in /sys/block/bcache*/bcache/stop; do echo 1 >$each; done\n"
        "for each in /sys/fs/bcache/*-*/stop; do echo 1 >$each; done\n"
        "for n in $(seq 100); do\n"
        "    ls -d /sys/block/bcache* /sys/fs/bcache/*-* 2>/dev/null | grep -q . || break; sleep 0.1\n"
        "done"
    )


@pytest.mark.later
def test_bcache_over_md(bcache: Guest) -> None:
    """Mode, state, dirty data and hits are those of its files; bcache0 is no disk."""
    disks = disk_names(bcache)
    make_array(bcache, "slow", 1, disks[:2], extra=("--assume-clean",))
    ok(
        bcache,
        "modprobe bcache\n"
        f"make-bcache --block 4k --bucket 64k --wipe-bcache -C /dev/{disks[2]} -B /dev/md/slow --writeback\n"
        f"udevadm settle; for each in {disks[2]} md/slow; do\n"
        "    echo /dev/$each >/sys/fs/bcache/register || :\n"
        "done\n"
        "until [ -e /sys/block/bcache0/bcache/cache ]; do sleep 0.1; done; udevadm settle",
    )
    found = measured(bcache, "dd if=/dev/urandom of=/dev/bcache0 bs=4k count=300 oflag=direct")
    cached = node(found, "bcache0")
    assert cached["kind"] == "bcache"
    array = node(found, "slow")["name"]
    assert (cached["cache"]["backing"], cached["cache"]["devices"]) == (array, [disks[2]])
    files = f"{_BLOCK}/bcache0/bcache"
    state, dirty = ok(bcache, f"cat {files}/state {files}/dirty_data").split()
    assert cached["cache"]["mode"] == "writeback"
    assert (cached["cache"]["state"], state) == ("dirty", "dirty")
    assert cached["cache"]["dirty_bytes"] == int(float(dirty.removesuffix("M")) * (1 << 20))
    assert cached["cache"]["alone"] is True
    assert ("cache-alone", "bcache0") in [(each["code"], each["node"]) for each in found["stack"]["findings"]]
    assert sectors(found, "bcache0")[1] * 512 == cached["load"]["written_bytes"] == 300 * 4096
