"""LVM's caches are written back and taken away, with their data compared; what LVM alone notes.

LVM takes its time: ``make whole`` runs it.
"""

import json
import re

import pytest

from tests.lab.guests.arrays import disk_names
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.test_cache_knobs import WAIT_S, applied, leave, opened
from tests.lab.test_stack import ok, over_md  # noqa: F401  (a fixture)

pytestmark = pytest.mark.later
# Without migrations, what is written to blocks of the cache stays dirty until the table is loaded again.
_FILL = """\
for n in 1 2 3; do
    fio --name=r --filename=/dev/vc/slow --rw=randrw --bs=4k --size=4M --direct=1 --randseed=7 >/dev/null
done
dmsetup message vc-slow 0 migration_threshold 0
fio --name=w --filename=/dev/vc/slow --rw=randwrite --bs=4k --size=4M --direct=1 --randseed={0} >/dev/null
md5sum </dev/vc/slow >/tmp/sum
"""
_SAME = "echo 3 >/proc/sys/vm/drop_caches; md5sum </dev/vc/slow | cmp - /tmp/sum"


def with_cache(guest: Guest, mode: str = "writeback") -> None:
    """A volume on a RAID 5, cached on one disk, with dirty blocks in writeback mode."""
    disk = disk_names(guest)[5]
    ok(
        guest,
        f"lvcreate -q -y -n slow -L64M vc /dev/md/slow; lvcreate -q -y -n fast -L24M vc /dev/{disk}\n"
        f"lvconvert -q -y --type cache --cachevol fast --cachemode {mode} --chunksize 64k vc/slow\n"
        f"udevadm settle\n{_FILL.format(1) if mode == 'writeback' else ''}",
    )


def dirty(guest: Guest) -> int:
    """How many blocks of the cache are dirty."""
    return int(ok(guest, "dmsetup status --noflush vc-slow").split()[13])


def target(guest: Guest) -> str:
    """What the volume is for the kernel."""
    return ok(guest, "dmsetup table vc-slow").split()[2]


def volumes(guest: Guest) -> set[str]:
    """The visible volumes of the group."""
    return set(ok(guest, "lvs --noheadings -o lv_name vc").split())


def test_written_back_and_detached(over_md: Guest) -> None:  # noqa: F811
    """Mode and policy are what they were; then the cache goes, comes back by the job's undo, and goes."""
    with_cache(over_md)
    assert dirty(over_md) > 0
    applied(over_md, "cache-flush", "vc/slow")
    words = ok(over_md, "dmsetup status --noflush vc-slow").split()
    assert ("writeback" in words, words[13]) == (True, "0")
    ok(over_md, f"{_SAME}\n{_FILL.format(2)}")
    assert dirty(over_md) > 0

    applied(over_md, "cache-detach", "/dev/vc/slow")
    assert (target(over_md), volumes(over_md)) == ("linear", {"slow", "fast"})
    ok(over_md, _SAME)

    jobs = json.loads(raidtui(over_md, "jobs", "--json").stdout)["jobs"]
    (job,) = [each["id"] for each in jobs if "detached" in each["title"]]
    back = raidtui(over_md, "jobs", "rollback", job)
    assert back.status == 0, back.output
    assert target(over_md) == "cache"
    said = ok(over_md, "lvs --noheadings --separator , -o cache_mode,cache_policy,chunk_size vc/slow")
    assert said.strip() == "writeback,smq,64.00k"
    ok(over_md, f"{_SAME}\n{_FILL.format(3)}")

    applied(over_md, "cache-detach", "vc/slow", "--delete")
    assert (target(over_md), volumes(over_md)) == ("linear", {"slow"})
    ok(over_md, _SAME)


def test_a_policy_that_the_kernel_does_not_take(over_md: Guest) -> None:  # noqa: F811
    """This LVM notes cleaner, and gives the kernel mq: that is said, and LVM has smq again."""
    with_cache(over_md, "writethrough")
    with opened(over_md, "vc/slow") as terminal:
        terminal.press("tab", "right")
        terminal.wait_for(re.compile(r"cache_policy of vc/slow is not set to cleaner"), WAIT_S)
        terminal.wait_for(re.compile(r"the kernel has\s+policy\s+smq\s+for\s+vc-slow"), WAIT_S)
        assert ok(over_md, "lvs --noheadings -o cache_policy vc/slow").strip() == "smq"
        leave(terminal)


def test_a_hanging_lvm_does_not_block_the_screen(over_md: Guest) -> None:  # noqa: F811
    """Somebody holds the group's lock: the panes answer meanwhile; the value comes when it is free."""
    with_cache(over_md, "writethrough")
    ok(
        over_md,
        "mkdir -p /run/lock/lvm; (flock -x 9; exec sleep 600) 9>/run/lock/lvm/V_vc >/dev/null 2>&1 &\n"
        "echo $! >/tmp/holder; until ! flock -n /run/lock/lvm/V_vc true; do sleep 0.1; done",
    )
    with opened(over_md, "vc/slow") as terminal:
        terminal.press("tab", "tab", "right")
        terminal.wait_for("lvchange --yes --cachesettings migration_threshold=4096 vc/slow …", WAIT_S)
        terminal.press("1")
        terminal.wait_for(re.compile(r"^ ● slow +raid5", re.MULTILINE), WAIT_S)
        terminal.press("4")
        assert ok(over_md, "dmsetup status vc-slow").split().count("2048") == 1
        ok(over_md, "kill $(cat /tmp/holder)")
        terminal.wait_for("migration_threshold 2048 → 4096 (vc/slow) · u undoes it", WAIT_S)
        leave(terminal)
