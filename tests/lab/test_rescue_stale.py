"""A member that was kicked before files were written, without superblocks: the doubt stands to the end.

Files are overwritten in place, so that a check of the file system finds nothing wrong with the stale member.
"""

import json
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum, raidtui
from tests.lab.test_rescue_search import searched
from tests.lab.test_rescue_trial import SUMS, applied, tried

pytestmark = pytest.mark.later

FILES = 161
MADE = """
mkdir -p /tmp/place && mkfs.ext4 -q -U {seed} -E hash_seed={seed} {path} &&
mount {path} /tmp/place && cd /tmp/place &&
for n in $(seq 20); do mkdir d$n && for m in $(seq 8); do
head -c $((20000 * m)) /dev/urandom >d$n/f$m || exit 1; done; done &&
head -c 40M /dev/urandom >large && cd / && umount /tmp/place && mdadm {path} --fail {member} &&
mount {path} /tmp/place && cd /tmp/place && for n in $(seq 20); do
dd if=/dev/urandom of=d$n/f8 bs=20000 count=8 conv=notrunc status=none || exit 1; done &&
dd if=/dev/urandom of=large bs=1M count=6 seek=20 conv=notrunc status=none &&
find . -type f -exec sha256sum {{}} + >{sums} && cd / && umount /tmp/place &&
mdadm --stop {path} && mdadm --zero-superblock {members} && udevadm settle
"""
SEED = "7d0f3c1e-52a4-4b8e-9c63-1f2a6b9d8e05"
"""The UUID and the seed say in which groups the folders go."""
ENOUGH = "A clean check is not enough here: "


def stale(guest: Guest, level: int, layout: str) -> tuple[str, ...]:
    """An array of four whose second member has missed writes to files; the sums are those of the truth."""
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", level, names, layout=layout, chunk=64, extra=["--assume-clean"])
    members = " ".join(f"/dev/{name}" for name in names)
    script = MADE.format(path=made.path, member=f"/dev/{names[1]}", members=members, sums=SUMS, seed=SEED)
    done = guest.run(script.strip(), timeout=200)
    assert done.status == 0, done.output
    return names


def words(candidate: dict[str, Any]) -> tuple[str, ...]:
    """A candidate, as it is typed."""
    offset, chunk = candidate["data_offset_sectors"], candidate["chunk_bytes"] >> 10
    shape = f"level={candidate['level']},layout={candidate['layout']},chunk={chunk},offset={offset}"
    return ("rebuild-superblocks", *candidate["order"], "--geometry", shape, "--name", "data")


@pytest.mark.parametrize(("level", "layout"), [(5, "left-symmetric"), (10, "n2")])
def test_a_stale_member(wreck_guest: Guest, level: int, layout: str) -> None:
    guest = wreck_guest
    names = stale(guest, level, layout)
    before = checksum(guest, names)
    found = searched(guest, names, status=1)
    whole = found["candidates"][0]
    assert (whole["level"], whole["layout"], whole["order"]) == (level, layout, list(names))
    assert (whole["proof"]["check"], whole["doubts"][0].startswith(ENOUGH)) == ("errors", True)
    without = {
        names[each["order"].index("missing")]: each
        for each in found["candidates"]
        if each["data_offset_sectors"] == whole["data_offset_sectors"] and each["doubts"] and each != whole
    }
    assert set(without) == set(names)
    for name, each in without.items():
        assert f"nothing shows that {name}, which is left out, is the outdated one" in each["doubts"][0]

    # What the kernel's check says of it proves nothing, and is not said to.
    checked = raidtui(guest, "rescue", "search", "--trial", "--json", *names, timeout=200)
    first = json.loads(checked.stdout)["candidates"][0]
    assert (checked.status, first["order"], first["doubts"]) == (1, list(names), whole["doubts"])
    doubtful = tried(guest, *words(whole), "--overlays")
    assert (doubtful["proof"]["check"], doubtful["doubts"][0].startswith(ENOUGH)) == ("clean", True)
    planned = raidtui(guest, "rescue", "plan", doubtful["job"], "--json")
    assert planned.status == 0, planned.output
    assert doubtful["doubts"][0] in json.loads(planned.stdout)["plan"]["grounds"]
    wrong = tried(guest, *words(without[names[0]]), "--hashes", SUMS, status=1)
    assert (wrong["proof"]["check"], " differ from it" in wrong["proof"]["sure"]) == ("errors", True)

    # Compared with the sums, the one without it is right, and gives the files back.
    right = tried(guest, *words(without[names[1]]), "--overlays", "--hashes", SUMS)
    assert f"{FILES} files, {FILES} have the sums of the list" in right["proof"]["sure"]
    compared = ["There is nothing to compare the members with: an outdated one would not show."]
    assert right["doubts"] == (compared if level == 5 else [])
    assert checksum(guest, names) == before
    applied(guest, right["job"], "--confirm=data")
    looked = guest.run(
        "mount -o ro,noload /dev/md/data /tmp/place && cd /tmp/place &&"
        f" sha256sum --check --quiet {SUMS}; cd /; umount /tmp/place"
    )
    assert (looked.status, looked.output) == (0, "")
