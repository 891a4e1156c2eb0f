"""Mismatches that a check has counted: who disagrees, what lies there, what a repair makes of it."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.lab.guests.arrays import Made, disk_names, make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import do, raidtui

# Each of its 4 KiB has a word of its own, by which a part of it is found on the members.
FILLED = """
import os
for name in ("a/b/the file", "gone"):
    os.makedirs(os.path.dirname("{top}/" + name), exist_ok=True)
    with open("{top}/" + name, "wb") as stream:
        for number in range({blocks}):
            stream.write(b"<%s %06d>" % (name.encode(), number) + os.urandom(4096 - 9 - len(name)))
        os.fsync(stream.fileno())
os.link("{top}/a/b/the file", "{top}/second")
os.unlink("{top}/gone")
os.sync()
"""
FILE = re.compile(r"There: file /(second|a/b/the file) \(and 1 other name\) \(inode \d+\), ext4 on md")
SMALL_XFS = "TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1 mkfs.xfs -q -f"  # xfsprogs wants 300 MB else


def run(guest: Guest, script: str) -> str:
    """Run a script that has to succeed."""
    done = guest.run(script, timeout=200)
    assert done.status == 0, done.output
    return done.stdout


def filled(guest: Guest, device: str, blocks: int = 512) -> None:
    """Mount a file system, and fill it."""
    run(guest, f"mkdir -p /tmp/top && mount {device} /tmp/top")
    done = guest.run(FILLED.format(top="/tmp/top", blocks=blocks), interpreter="python")
    assert done.status == 0, done.output


def places(guest: Guest, members: Sequence[str], word: str) -> dict[str, int]:
    """Return the members that hold a block, and the byte of the device at which it begins, the last one.

    This machine looks for it in their files: that takes the guest seconds for each.
    """
    guest.flush()
    files = dict(zip(guest.disks, guest.disk_files, strict=True))
    ends = {name: files[name].read_bytes().rfind(f"<{word}>".encode()) for name in members}
    found = {name: byte for name, byte in ends.items() if byte >= 0}
    assert found, f"{word} is on no member"
    return found


def spoil(guest: Guest, device: str, byte: int, sectors: int = 1) -> None:
    """Write noise over sectors of a member, past md."""
    run(
        guest,
        f"dd if=/dev/urandom of=/dev/{device} bs=512 seek={byte // 512} count={sectors} oflag=direct"
        " conv=notrunc status=none",
    )


def synced(guest: Guest, array: Made, action: str = "check") -> int:
    """Let the kernel check or repair an array; return what it has counted."""
    folder = f"/sys/block/{array.kernel}/md"
    return int(
        run(
            guest,
            f"(mdadm --wait {array.path}; true); echo {action} >{folder}/sync_action; (mdadm --wait"
            f" {array.path}; true); cat {folder}/mismatch_cnt",
        )
    )


def compared(guest: Guest, array: Made, *words: str, status: int = 1) -> dict[str, Any]:
    """Compare the members."""
    result = raidtui(guest, "rescue", "mismatches", "--json", *words, array.kernel, timeout=300)
    assert result.status == status, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def digests(guest: Guest, devices: Sequence[str]) -> str:
    """Digests of as much of the devices as an array of 16 MiB a member can have touched."""
    return run(guest, "\n".join(f"head -c 24M /dev/{name} | sha256sum" for name in devices))


def wrong(stretch: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the members that disagree, and where."""
    return [(part["device"], part["first_sector"]) for part in stretch["members"] if part["agrees"] is False]


@pytest.fixture
def unmounted(guest: Guest) -> Any:
    """Whatever the test mounts and activates is taken down before the guest is cleaned."""
    yield
    guest.run("umount /tmp/top; vgchange -an -q; true")


@pytest.mark.later
def test_raid6_names_the_member_and_the_file(guest: Guest, unmounted: None) -> None:
    disks = disk_names(guest)[:5]
    array = make_array(guest, "data", 6, disks, chunk=64, extra=["--size=16M"])
    synced(guest, array)
    run(guest, f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {array.path}")
    filled(guest, str(array.path))

    before = run(guest, "sha256sum '/tmp/top/a/b/the file'")
    ((name, byte),) = places(guest, disks, "a/b/the file 000300").items()
    spoil(guest, name, byte + 1024, 2)
    ((other, far),) = places(guest, disks, "gone 000200").items()
    spoil(guest, other, far)
    assert synced(guest, array) == 16

    members = digests(guest, disks)
    found = compared(guest, array)
    assert digests(guest, disks) == members
    assert (found["level"], found["mismatch_count"], found["sectors"]) == ("raid6", 16, 3)
    by_file = {each["contents"][0]["kind"]: each for each in found["stretches"]}
    assert set(by_file) == {"file", "free"}
    there = by_file["file"]
    assert (there["verdict"], there["sectors"]) == ("by-p-and-q", 2)
    assert wrong(there) == [(name, (byte + 1024) // 512)]
    (lies,) = there["contents"]
    assert sorted(lies["paths"]) == ["/a/b/the file", "/second"]
    assert (lies["file_system"], lies["device"], lies["mounted"]) == ("ext4", array.kernel, "/tmp/top")
    assert wrong(by_file["free"]) == [(other, far // 512)]
    assert by_file["free"]["verdict"] == "by-p-and-q"

    # the kernel's log is a hint where to look
    logged = compared(guest, array, "--logged")
    assert logged["stretches"] == found["stretches"]
    assert logged["total_bytes"] == 2 * 8 * 512 * 3
    p = next(part for part in there["members"] if part["role"] == "p")
    spoil(guest, p["device"], (p["first_sector"] + 16) * 512)
    result = raidtui(guest, "rescue", "mismatches", array.kernel)
    assert result.status == 1, result.output
    assert result.stdout.startswith("4 sectors do not match, in 3 stretches; "), result.output
    assert f"{p['device']} disagrees: it holds P; the data and Q agree." in result.stdout, result.output
    assert re.search(
        rf"^   {name} sectors {(byte + 1024) // 512} to .*, DISAGREES$", result.stdout, re.MULTILINE
    )
    assert max(map(len, result.stdout.splitlines())) <= 80

    # a repair keeps the wrong data, and nothing shows it any more
    synced(guest, array, "repair")
    clean = compared(guest, array, status=0)
    assert (clean["stretches"], clean["compared_bytes"]) == ([], clean["total_bytes"])
    run(guest, "umount /tmp/top && mount /dev/md/data /tmp/top")
    assert run(guest, "sha256sum '/tmp/top/a/b/the file'") != before


def test_the_key_shows_member_sectors_and_file(guest: Guest, unmounted: None) -> None:
    """It is a job: its page is left and found again, and its members are read and not written."""
    disks = disk_names(guest)[:5]
    array = make_array(guest, "data", 6, disks, chunk=64, extra=["--size=16M"])
    synced(guest, array)
    run(guest, f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {array.path}")
    filled(guest, str(array.path))
    ((name, byte),) = places(guest, disks, "a/b/the file 000300").items()
    spoil(guest, name, byte + 1024, 2)
    members = digests(guest, disks)
    first = (byte + 1024) // 512

    with open_console(guest, cols=120, rows=40) as terminal:
        terminal.press("m")
        terminal.wait_for("2 sectors do not match, in 1 stretch; ", timeout=90)
        terminal.wait_for(f"{name} disagrees: P and Q both say that its data should differ.")
        terminal.wait_for(re.compile(rf"{name} sectors {first} to {first + 1}, array sectors .*, DISAGREES"))
        terminal.wait_for(FILE)
        terminal.wait_for("mounted on /tmp/top")
        terminal.press("escape")
        terminal.wait_for("nothing was changed")

        # another program shows what this one has found, and compares anew
        assert len(jobs_of(guest)) == 1
        terminal.press("m")
        terminal.wait_for("n compares again.")
        terminal.wait_for(FILE)
        terminal.press("n")
        wait_until(lambda: jobs_of(guest) == ["done", "done"], 90, "a second comparison")
        terminal.wait_for(f"{name} disagrees")
    assert digests(guest, disks) == members


def jobs_of(guest: Guest) -> list[str]:
    """The states of the jobs that compare, the oldest first."""
    found = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"]
    return [each["state"] for each in found if each["title"].startswith("compare: ")]


@pytest.mark.later
def test_a_comparison_ends_when_a_member_fails_and_is_no_mismatch(guest: Guest) -> None:
    """Slow enough that it is under way: a job that other jobs do not wait for."""
    disks = disk_names(guest)[:3]
    array = make_array(guest, "data", 5, disks, chunk=64, extra=["--size=40M"])
    synced(guest, array)
    run(guest, f"echo 512 >/sys/block/{array.kernel}/md/sync_speed_max")
    run(guest, f"echo 512 >/sys/block/{array.kernel}/md/sync_speed_min")
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("m")
        terminal.wait_for(re.compile(r"[1-9]%  "), timeout=90)
        terminal.press("escape")
        terminal.wait_for("data is being compared: m shows it")
        assert jobs_of(guest) == ["running"]
        do(guest, "fail", array.kernel, disks[1])
        terminal.press("m")
        terminal.wait_for(
            re.compile(rf"It ended, as the members of\s+{array.kernel} have changed"), timeout=30
        )
        terminal.wait_for("All members match; ")


@pytest.mark.later
def test_others_at_work_are_seen(guest: Guest) -> None:
    disks = disk_names(guest)[:2]
    array = make_array(guest, "data", 1, disks, extra=["--size=16M"])
    synced(guest, array)
    asked = guest.run(
        f"""
import subprocess
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.features.rescue.mismatch.member_windows import OthersAtWork
others = OthersAtWork(FolderReader(), {array.kernel!r}, {list(disks)!r})
print(others(0))
subprocess.run(["dd", "if={array.path}", "of=/dev/null", "bs=1M", "count=8", "iflag=direct"], check=True)
print(others(0))
print(others(0))
""",
        interpreter="python",
    )
    assert (asked.status, asked.stdout.split()) == (0, ["False", "True", "False"]), asked.output


@pytest.mark.later
def test_most_of_three_copies_below_lvm_and_xfs(guest: Guest, unmounted: None) -> None:
    disks = disk_names(guest)[:3]
    array = make_array(guest, "data", 1, disks, extra=["--size=80M"])
    synced(guest, array)
    run(
        guest,
        f"pvcreate -q {array.path} && vgcreate -q vg-x {array.path} && lvcreate -q -Zn -Wn -y -L 64M -n da-ta"
        f" vg-x && udevadm settle && {SMALL_XFS} /dev/vg-x/da-ta && udevadm settle",
    )
    filled(guest, "/dev/vg-x/da-ta")
    where = places(guest, disks, "a/b/the file 000100")
    assert set(where) == set(disks)
    first = disks[0]
    spoil(guest, first, where[first])
    spoil(guest, disks[2], places(guest, disks, "gone 000100")[disks[2]])
    spoil(guest, disks[1], 70 << 20)  # beyond the volume

    for mounted in ("/tmp/top", None):
        stretches = compared(guest, array)["stretches"]
        assert [each["verdict"] for each in stretches] == ["majority"] * 3
        kinds = {each["contents"][0]["kind"]: each for each in stretches}
        whose = {each["contents"][0]["text"]: wrong(each) for each in stretches}
        file = next(each for each in stretches if each["contents"][0]["kind"] == "file")
        (lies,) = file["contents"]
        assert set(kinds) == {"file", "free"}, whose
        assert wrong(file) == [(first, where[first] // 512)]
        assert lies["paths"][0] in {"/a/b/the file", "/second"}  # xfs_db knows one name of each file
        assert (lies["volumes"], lies["file_system"]) == (["volume vg-x/da-ta"], "xfs")
        assert lies["mounted"] == mounted
        assert whose["free space of the volume group vg-x"] == [(disks[1], (70 << 20) // 512)]
        assert [name for name, _ in whose["free space of the file system"]] == [disks[2]]
        if mounted:
            assert sorted(lies["paths"]) == ["/a/b/the file", "/second"]
            run(guest, "umount /tmp/top")
    assert file["repair"].startswith(
        f"A repair copies {first}, the first copy, over the others: it is the one"
    )
    synced(guest, array, "repair")
    assert "<a/b/the file 000100>" not in run(
        guest,
        f"dd if=/dev/{disks[1]} iflag=direct bs=512 skip={where[first] // 512} count=1 status=none | strings",
    )


@pytest.mark.later
def test_two_copies_and_partitions_cannot_be_known(guest: Guest, unmounted: None) -> None:
    disks = disk_names(guest)[:2]
    array = make_array(guest, "data", 1, disks, extra=["--size=44M"])
    synced(guest, array)
    run(
        guest,
        f"printf 'label: gpt\\nstart=2048,size=65536\\n' | sfdisk -q {array.path} && udevadm settle &&"
        f" mkfs.ext4 -q /dev/{array.kernel}p1 && udevadm settle",
    )
    filled(guest, f"/dev/{array.kernel}p1")
    run(guest, "umount /tmp/top")
    byte = places(guest, disks, "a/b/the file 000007")[disks[1]]
    spoil(guest, disks[1], byte)
    spoil(guest, disks[0], (40 << 20) + 4096)
    file, outside = compared(guest, array)["stretches"]
    assert (file["verdict"], wrong(file)) == ("not-known", [])
    assert [(part["device"], part["first_sector"], part["version"]) for part in file["members"]] == [
        (disks[0], byte // 512, "A"),
        (disks[1], byte // 512, "B"),
    ]
    assert file["text"].startswith("There is no way to know which copy is right.")
    (lies,) = file["contents"]
    assert (lies["volumes"], lies["device"]) == ([f"partition {array.kernel}p1"], f"{array.kernel}p1")
    assert "/a/b/the file" in lies["paths"]
    assert outside["contents"][0]["text"] == "outside of all partitions"
    refused = raidtui(guest, "rescue", "mismatches", "nothing")
    assert (refused.status, refused.stdout) == (2, "")


@pytest.mark.later
def test_far_copies(guest: Guest, unmounted: None) -> None:
    disks = disk_names(guest)[:4]
    array = make_array(guest, "data", 10, disks, layout="f2", chunk=64, extra=["--size=16M"])
    synced(guest, array)
    run(guest, f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {array.path} && udevadm settle")
    filled(guest, str(array.path))
    where = places(guest, disks, "a/b/the file 000200")
    assert len(where) == 2
    name, byte = max(where.items(), key=lambda each: each[1])
    spoil(guest, name, byte)
    assert synced(guest, array) > 0
    (stretch,) = compared(guest, array)["stretches"]
    assert {part["device"]: part["first_sector"] for part in stretch["members"]} == {
        device: at // 512 for device, at in where.items()
    }
    assert stretch["verdict"] == "not-known"
    assert "/a/b/the file" in stretch["contents"][0]["paths"]
