"""LVM's dm-writecache over md is written back and taken away while it is in use, with its data compared."""

import json

import pytest

from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui
from tests.lab.test_cache_knobs import applied
from tests.lab.test_stack import ok, over_md  # noqa: F401  (a fixture)

pytestmark = pytest.mark.later

_FILL = """\
dd if=/dev/urandom of=/dev/vc/data bs=4k count=1000 oflag=direct status=none
md5sum </dev/vc/data >/tmp/sum
"""
_SAME = "echo 3 >/proc/sys/vm/drop_caches; md5sum </dev/vc/data | cmp - /tmp/sum"


def held(guest: Guest) -> int:
    """How many blocks of the cache are not written back."""
    words = ok(guest, "dmsetup status --noflush vc-data").split()
    return int(words[4]) - int(words[5])


def table(guest: Guest) -> list[str]:
    """The volume's target and its options, but for the devices."""
    words = ok(guest, "dmsetup table vc-data").split()
    return [words[2], *words[6:]]


def test_written_back_and_detached(over_md: Guest) -> None:  # noqa: F811
    """It caches again after a flush; then it goes, comes back by the job's undo, and goes for good."""
    ok(
        over_md,
        "lvcreate -q -y -n data -L32M vc /dev/md/slow; lvcreate -q -y -n log -L16M vc /dev/md/fast\n"
        "lvchange -q -an vc/log\n"
        "lvconvert -q -y --type writecache --cachevol log --cachesettings high_watermark=90 vc/data\n"
        f"udevadm settle; {_FILL}",
    )
    cached = ["writecache", "4096", "2", "high_watermark", "90"]
    assert held(over_md) > 0
    applied(over_md, "cache-flush", "vc/data")
    assert (held(over_md), table(over_md)) == (0, cached)
    ok(over_md, f"{_SAME}\n{_FILL}")
    assert held(over_md) > 0

    applied(over_md, "cache-detach", "/dev/vc/data")
    assert table(over_md)[0] == "linear"
    ok(over_md, f"{_SAME}; lvs vc/log")
    jobs = json.loads(raidtui(over_md, "jobs", "--json").stdout)["jobs"]
    back = raidtui(over_md, "jobs", "rollback", *(each["id"] for each in jobs if "detached" in each["title"]))
    assert back.status == 0, back.output
    assert table(over_md) == cached
    ok(over_md, f"{_SAME}\n{_FILL}")

    applied(over_md, "cache-detach", "vc/data", "--delete")
    assert table(over_md)[0] == "linear"
    ok(over_md, f"{_SAME}; ! lvs vc/log 2>/dev/null")
