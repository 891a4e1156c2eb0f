"""The search on arrays that mdadm and the kernel have made: their geometry is found by reads alone."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui

pytestmark = pytest.mark.later

FILLED = """
mkdir -p /tmp/place && mount {path} /tmp/place && cd /tmp/place &&
mkdir -p one/two three/four five/d$(seq -s ' five/d' 40) top$(seq -s ' top' 40) &&
head -c 1200k /dev/urandom | split -b 20k - one/two/f &&
for n in $(seq 40); do echo $n >five/d$n/f && echo $n >top$n/f || exit 1; done &&
sync && mkdir top$(seq -s '/more top' 40)/more &&
for n in $(seq 1 40); do echo $n > top$n/more/file || exit 1; done &&
head -c 32M /dev/urandom | split -b 8M - three/four/large && cd / && umount /tmp/place
"""


def made(  # noqa: PLR0917
    guest: Guest,
    level: int,
    layout: str,
    chunk: int,
    order: Sequence[str],
    prepare: str = "mkfs.ext4 -q {path}",
) -> None:
    """Make an array with files, stop it and zero the superblocks; of disks of zeros, parity is right."""
    array = make_array(
        guest,
        "lost",
        level,
        order,
        layout=layout or None,
        chunk=chunk if level != 1 else None,
        extra=["--assume-clean"] if level else [],
    )
    filled = prepare.format(path=array.path)
    if "mount" not in filled:
        filled += f" && {FILLED.format(path=array.path).strip()}"
    done = guest.run(filled, timeout=200)
    assert done.status == 0, done.output
    lost(guest, order)


def lost(guest: Guest, order: Sequence[str]) -> None:
    """Stop the array, and zero its superblocks."""
    members = shlex.join(f"/dev/{name}" for name in order)
    done = guest.run(f"mdadm --stop /dev/md/lost && mdadm --zero-superblock {members} && udevadm settle")
    assert done.status == 0, done.output


def searched(guest: Guest, devices: Sequence[str], *words: str, status: int | None = 0) -> dict[str, Any]:
    """Search; not a byte of the devices is changed. Without a status, a tie is an answer, too."""
    before = checksum(guest, devices)
    result = raidtui(guest, "rescue", "search", "--json", *words, *devices, timeout=300)
    assert result.status in ({0, 1} if status is None else {status}), result.output
    assert checksum(guest, devices) == before
    found: dict[str, Any] = json.loads(result.stdout)
    return found


CASES = [
    pytest.param(0, "", 64, (2, 0, 1), (), id="raid0"),
    pytest.param(1, "", 64, (1, 0), (), id="raid1"),
    pytest.param(4, "", 64, (1, 0, 3, 2), (), id="raid4"),
    pytest.param(5, "left-symmetric", 512, (3, 2, 1, 0), (), id="raid5-ls"),
    pytest.param(5, "left-asymmetric", 128, (2, 0, 3, 1), (), id="raid5-la"),
    pytest.param(5, "right-symmetric", 64, (1, 3, 0, 2), (), id="raid5-rs"),
    pytest.param(5, "right-asymmetric", 32, (0, 2, 1, 3), (2,), id="raid5-ra-one-missing"),
    pytest.param(6, "left-symmetric", 64, (4, 1, 0, 3, 2), (), id="raid6-ls"),
    pytest.param(6, "left-asymmetric", 64, (0, 1, 4, 3, 2), (1,), id="raid6-la-one-missing"),
    pytest.param(6, "right-symmetric", 64, (3, 1, 0, 2), (), id="raid6-rs"),
    pytest.param(6, "right-asymmetric", 64, (1, 0, 2, 3), (), id="raid6-ra"),
    pytest.param(10, "n2", 64, (3, 1, 0, 2), (), id="raid10-n2"),
    pytest.param(10, "f2", 64, (2, 3, 0, 1), (), id="raid10-f2"),
    pytest.param(10, "o2", 64, (1, 0, 3, 2), (), id="raid10-o2"),
    pytest.param(10, "n3", 64, (1, 4, 3, 0, 2), (), id="raid10-n3"),
]


@pytest.mark.parametrize(("level", "layout", "chunk", "places", "dropped"), CASES)
def test_a_lost_geometry_is_found(  # noqa: PLR0917
    guest: Guest, level: int, layout: str, chunk: int, places: tuple[int, ...], dropped: tuple[int, ...]
) -> None:
    disks = disk_names(guest)
    order = [disks[place] for place in places]
    made(guest, level, layout, chunk, order)
    kept = [name for place, name in sorted(zip(places, order, strict=True)) if place not in dropped]
    found = searched(guest, kept, status=None)
    truth = [name if name in kept else "missing" for name in order]
    # The metadata of so few files lie alone in some rows, whose parity is a copy of them then: a tie.
    assert found["alike"] <= 2, found["text"]
    assert found["unique"] is (found["alike"] == 1)
    first = found["candidates"][0]
    assert (first["level"], first["layout"] or "") == (level, layout)
    assert first["chunk_bytes"] == (None if level == 1 else chunk << 10)
    # mdadm leaves room for four chunks where it can
    assert first["data_offset_sectors"] == (4096 if chunk == 512 else 2048)
    assert (first["proof"]["check"], first["proof"]["contents"]) == ("clean", "ext4")
    assert _alike(first["order"], level, layout) == _alike(truth, level, layout)


def _alike(order: Sequence[str], level: int, layout: str) -> list[list[str]]:
    copies = len(order) if level == 1 else 2 if layout == "n2" else 1
    return [sorted(order[slot : slot + copies]) for slot in range(0, len(order), copies)]


def test_xfs(guest: Guest) -> None:
    order = [disk_names(guest)[place] for place in (2, 1, 3, 0)]
    made(guest, 5, "left-symmetric", 64, order, prepare="mkfs.xfs -q -f {path}")
    first = searched(guest, sorted(order))["candidates"][0]
    assert (first["order"], first["chunk_bytes"], first["layout"]) == (order, 65536, "left-symmetric")
    assert (first["proof"]["check"], first["proof"]["contents"]) == ("clean", "xfs")


def test_a_file_system_in_a_partition(guest: Guest) -> None:
    order = [disk_names(guest)[place] for place in (0, 3, 1, 2)]
    prepare = (
        "printf 'label: gpt\\nstart=2048\\n' | sfdisk -q {path} && udevadm settle &&"
        " mkfs.ext4 -q $(readlink -f {path})p1 &&" + FILLED.format(path="$(readlink -f {path})p1").strip()
    )
    made(guest, 5, "left-symmetric", 64, order, prepare=prepare)
    first = searched(guest, sorted(order))["candidates"][0]
    assert (first["order"], first["data_offset_sectors"]) == (order, 2048)
    assert (first["proof"]["check"], first["proof"]["contents"]) == ("clean", "gpt")


def test_a_raid5_that_was_made_again_wrongly(guest: Guest) -> None:
    """Its new superblocks are wrong, and its parity was made again: the content still says the truth."""
    disks = disk_names(guest)[:4]
    order = [disks[place] for place in (2, 0, 3, 1)]
    made(guest, 5, "left-asymmetric", 128, order)
    make_array(guest, "lost", 5, disks, chunk=64)
    done = guest.run("(mdadm --wait /dev/md/lost; true) && mdadm --stop /dev/md/lost", timeout=200)
    assert done.status == 0, done.output
    first = searched(guest, disks)["candidates"][0]
    assert (first["order"], first["layout"], first["chunk_bytes"]) == (order, "left-asymmetric", 128 << 10)


def test_two_superblocks_are_left(guest: Guest) -> None:
    """What is left of them agrees with the content."""
    disks = disk_names(guest)[:4]
    array = make_array(guest, "lost", 5, disks, chunk=64)
    done = guest.run(
        f"(mdadm --wait {array.path}; true) && mkfs.ext4 -q {array.path} && mdadm --stop {array.path} &&"
        f" mdadm --zero-superblock /dev/{disks[1]} /dev/{disks[3]}",
        timeout=200,
    )
    assert done.status == 0, done.output
    first = searched(guest, disks)["candidates"][0]
    assert first["order"] == list(disks)


def test_two_of_four_are_blank(guest: Guest) -> None:
    disks = disk_names(guest)[:4]
    made(guest, 5, "left-symmetric", 64, disks)
    wiped = guest.run(
        f"for disk in {disks[2]} {disks[3]}; do dd if=/dev/zero of=/dev/$disk bs=1M count=128; done; sync"
    )
    assert wiped.status == 0, wiped.output
    found = searched(guest, disks, status=2)
    assert (found["candidates"], found["unique"], found["outcome"]) == ([], False, "impossible")
    assert found["blank"] == list(disks[2:])


def test_nothing_is_here(guest: Guest) -> None:
    found = searched(guest, disk_names(guest)[:3], status=2)
    assert (found["candidates"], found["outcome"]) == ([], "nothing")


def test_in_words_with_the_word_of_the_kernel(guest: Guest) -> None:
    order = [disk_names(guest)[place] for place in (1, 2, 0)]
    made(guest, 5, "left-symmetric", 64, order)
    before = checksum(guest, order)
    result = raidtui(guest, "rescue", "search", "--trial", *sorted(order), timeout=300)
    assert result.status == 0, result.output
    assert " 1. RAID 5, left-symmetric, chunk 64 KiB, data offset 2048 sectors\n" in result.stdout
    assert f"    order: {' '.join(order)}\n" in result.stdout
    assert "    clean: " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert checksum(guest, order) == before
