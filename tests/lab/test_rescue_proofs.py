"""What the checks of a trial say of contents of all kinds, on the real kernel, with the real tools."""

import json
import shlex
from typing import Any

import pytest

from tests.extent import WHOLE
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, checksum, raidtui, states
from tests.lab.test_rescue_trial import SUMS, filled, left, tried

CLEAN, ERRORS, NONE, NOT_TRIED = "clean", "errors", "no-file-system", "not-tried"
EXPECTED = {
    "ext4": [("", "ext4", CLEAN, "e2fsck -n -f finds nothing wrong")],
    "ext4 not unmounted": [("", "ext4", CLEAN, "its journal replayed on an overlay")],
    "ext4 not unmounted, without room": [
        ("", "ext4", NOT_TRIED, "the store of its replayed journal is full")
    ],
    "xfs": [("", "xfs", CLEAN, "xfs_repair -n finds nothing wrong")],
    "xfs not unmounted": [("", "xfs", CLEAN, "its journal replayed on an overlay")],
    "xfs with errors": [("", "xfs", ERRORS, "xfs_repair -n finds errors in the xfs file system")],
    "btrfs": [("", "btrfs", CLEAN, "btrfs check --readonly finds nothing wrong")],
    "btrfs not unmounted": [("", "btrfs", CLEAN, "btrfs check --readonly finds nothing wrong")],
    "btrfs with errors": [("", "btrfs", ERRORS, "btrfs check --readonly finds errors")],
    "half of a btrfs": [("", "btrfs", NOT_TRIED, "one of 2 devices of a btrfs")],
    "luks2": [("", "crypto_LUKS", NONE, "both headers of LUKS 2 have the right checksum; that proves")],
    "luks2 without its second header": [("", "crypto_LUKS", ERRORS, "the second header of LUKS 2 is")],
    "luks1": [("", "crypto_LUKS", NONE, "LUKS 1 has one header, without a checksum; that proves")],
    "luks2 with its key": [
        (
            "",
            "crypto_LUKS",
            CLEAN,
            "both headers of LUKS 2 have the right checksum; the key opens it, so its",
        ),
        ("luks", "ext4", CLEAN, "e2fsck"),
    ],
    "luks1 with its key": [
        ("", "crypto_LUKS", CLEAN, "without a checksum; the key opens it, so its header and that keyslot"),
        ("luks", "ext4", CLEAN, "e2fsck"),
    ],
    "luks2 with another key": [
        ("", "crypto_LUKS", NONE, "checksum; the key opens no keyslot: it is another")
    ],
    "luks2 of nothing with its key": [
        ("", "crypto_LUKS", NONE, "that keyslot are whole; luks: blkid does not know its contents"),
        ("luks", "", NONE, "blkid does not know"),
    ],
    "swap": [("", "swap", NONE, "swap space")],
    "noise": [("", "", NONE, "blkid does not know its contents")],
    "gpt with lvm": [
        ("", "gpt", CLEAN, "both headers and tables of the GPT have the right checksum; p1: e2fsck"),
        ("p1", "ext4", CLEAN, "e2fsck"),
        ("p2", "LVM2_member", CLEAN, "metadata text have the right checksums; p2/proofs/data: e2fsck"),
        ("p2/proofs/data", "ext4", CLEAN, "e2fsck"),
    ],
    "gpt cut short": [("", "gpt", ERRORS, "the backup of the GPT is not at the end")],
    "lvm with another text": [("", "LVM2_member", ERRORS, "the checksum of LVM's metadata is wrong")],
}
"""By case: place, contents, verdict, and a part of the sentence that says how sure it is."""
ALWAYS = {
    *(
        "ext4 not unmounted",
        "xfs with errors",
        "btrfs not unmounted",
        "half of a btrfs",
        "luks2 with its key",
    ),
    *("gpt with lvm", "noise"),
}
"""One of each tool; ``make whole`` looks at all of them."""
MADE = [name for name in EXPECTED if WHOLE or name in ALWAYS]
MOUNTED = frozenset(name for name in EXPECTED if not name.endswith("errors"))


@pytest.fixture(scope="module")
def judged(lab: Guest) -> dict[str, Any]:
    """What was said of all of them."""
    script = (
        "import json\nfrom tests.lab.guests.inside import proof_runs\n"
        f"print(json.dumps(proof_runs.judged({MADE!r})))"
    )
    done = lab.run(script, interpreter="python", timeout=400)
    assert done.status == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", MADE)
def test_what_stands_on_it(judged: dict[str, Any], name: str) -> None:
    rows, mounts, same, left = judged[name]
    wanted = EXPECTED[name]
    assert [tuple(row[:3]) for row in rows] == [each[:3] for each in wanted], rows
    for row, each in zip(rows, wanted, strict=True):
        assert each[3] in row[3], rows
    assert not any(mounts) or name not in MOUNTED, mounts
    assert (same, left) == (True, []), rows


def test_files_are_copied_out_and_those_that_cannot_be_read_are_named(guest: Guest) -> None:
    """A mirror of which one half is left, with bad sectors in a file: the others come, and are the same."""
    under, other = disk_names(guest)[:2]
    made = guest.run(
        f"modprobe dm-dust && size=$(($(blockdev --getsz /dev/{under}) - 2048)) &&"
        f" echo 0 $size dust /dev/{under} 2048 512 | dmsetup create dust && udevadm settle &&"
        " basename $(readlink -f /dev/mapper/dust)"
    )
    assert made.status == 0, made.output
    sick = made.stdout.strip()
    array = make_array(guest, "data", 1, (sick, other), extra=["--assume-clean"])
    filled(guest, str(array.path))
    done = guest.run(
        f"block=$(debugfs -R 'blocks file3' {array.path} 2>/dev/null | cut -d' ' -f1) &&"
        ' test -n "$block" &&'
        # dm-dust counts from the start of its disk, and looks at the first sector of a request alone.
        f" sector=$((2048 + 2048 + block * $(blkid -s BLOCK_SIZE -o value {array.path}) / 512)) &&"
        f" mdadm --stop {array.path} && for n in 0 1 2 3 4 5 6 7; do dmsetup message dust 0 addbadblock"
        " $((sector + n)); done; dmsetup message dust 0 enable; udevadm settle; rm -rf /tmp/out"
    )
    assert done.status == 0, done.output
    before = checksum(guest, [under, other])
    words = ("start-degraded", sick, "--hashes", SUMS)
    outcome = tried(guest, *words, "--copy-to", "/tmp/out", status=1)
    sure = outcome["proof"]["sure"]
    assert (outcome["proof"]["check"], "5 have the sums of the list, 1 cannot be read" in sure) == (
        ERRORS,
        True,
    )
    assert "copied to /tmp/out by rsync, but 1 file could not be read: " in sure, sure
    assert "file3" in guest.run(f"cat {sure.rpartition(': ')[2].partition(';')[0]}").stdout
    there = guest.run(f"cd /tmp/out && sha256sum --check --quiet --ignore-missing {SUMS}; ls").stdout
    assert there.split() == ["file1", "file2", "file4", "file5", "file6", "lost+found"]
    assert guest.run("mkdir /tmp/small; mount -t tmpfs -o size=4M tmpfs /tmp/small").status == 0
    full = tried(guest, *words[:2], "--copy-to", "/tmp/small", status=0)
    assert "the copy is incomplete: no space is left in /tmp/small" in full["proof"]["sure"]
    refused = raidtui(guest, "rescue", "try", *words[:2], "--copy-to", "/run/raidtui-rescue-x/out")
    assert (refused.status, "belongs to a trial" in refused.stderr) == (2, True), refused.output
    assert checksum(guest, [under, other]) == before
    assert guest.run("umount /tmp/small").status == 0


THROTTLED = """
tool=$(readlink -f /bin/rsync) && cp $tool /tmp/rsync.real && cat >/tmp/rsync.slow <<'END'
#!/bin/sh
exec /tmp/rsync.real --bwlimit=200 "$@"
END
chmod 755 /tmp/rsync.* && mount --bind /tmp/rsync.slow $tool
"""
"""rsync, which takes minutes for the files of a test."""


@pytest.mark.later
def test_a_copy_out_that_is_cancelled_is_said_to_be_in_part(guest: Guest) -> None:
    """The tool ends with the trial, and leaves no half of a file; what it has copied stays."""
    names = disk_names(guest)[:2]
    array = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    filled(guest, str(array.path))
    done = guest.run(f"mdadm --stop {array.path} && udevadm settle && rm -rf /tmp/out && {THROTTLED.strip()}")
    assert done.status == 0, done.output
    before = checksum(guest, names)
    try:
        command = shlex.join((*RAIDTUI, "rescue", "try", "start", *names, "--copy-to=/tmp/out", "--json"))
        trial = guest.spawn(command)
        wait_until(lambda: "% copied" in guest.run(f"cat {JOBS}/*/journal.jsonl").stdout, what="the copy")
        (job,) = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"]
        cancelled = raidtui(guest, "jobs", "cancel", job["id"])
        assert cancelled.status == 0, cancelled.output
        ended = trial.wait(120)
    finally:
        assert guest.run("umount $(readlink -f /bin/rsync)").status == 0
    outcome = json.loads(ended.stdout)
    words = "cancelled; the copy to /tmp/out was ended (cancelled), and is incomplete"
    assert (ended.status, outcome["proof"]["check"], outcome["void"]) == (1, NOT_TRIED, words)
    assert states(guest) == ["cancelled"]
    assert guest.run("pgrep rsync").stdout == ""
    copied = guest.run(
        f"cd /tmp/out && sha256sum --check --quiet --ignore-missing {SUMS}; ls -A"
    ).stdout.split()
    assert set(copied) < {"lost+found", *(f"file{number}" for number in range(1, 7))}
    assert (left(guest), checksum(guest, names)) == ("", before)
