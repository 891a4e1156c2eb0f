"""Devices that look free and are not: opened by somebody, named for the next boot, gone and come again."""

import pytest

from tests.extent import later
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import apply, plan, refusal, states

HELD = "exec 3<>/dev/{0}; read -r _ <{1}"
"""A shell that has a device open until it is asked to end."""
OLD = (
    "mkfifo /tmp/end1 /tmp/end2 && mdadm --create /dev/md/old --run --level=1 --raid-devices=2 --bitmap=none"
    " --assume-clean --metadata=1.2 /dev/{0} missing && mdadm --stop /dev/md/old && udevadm settle"
)
MOUNTED = "mkfs.ext4 -q /dev/{0} && losetup /dev/loop0 /dev/{0} && mkdir -p /mnt/x && mount /dev/loop0 /mnt/x"
REMEDY = "find out by what: lsblk /dev/{0}; fuser -v /dev/{0}"
NAMED = (
    "mkfs.ext4 -q -L 'my data' /dev/{0} && udevadm settle && ln -sfn /dev/{0} /tmp/link"
    " && blkid -o value -s UUID /dev/{0} && cat /sys/block/{0}/dev"
)
NEXT_BOOT = "remove that line first if the device is no longer used"


def test_what_somebody_has_open_is_not_taken(guest: Guest) -> None:
    """By a mounted loop device, or a process; for no verb; and not by a job whose plan was made before."""
    looped, held, free, *_ = disks = disk_names(guest)
    make_array(guest, "data", 1, disks[4:6], extra=["--assume-clean"])
    assert guest.run(OLD.format(disks[6])).status == 0
    create = ("create", "--name=130", "--level=raid1", held, free)
    made = plan(guest, *create)
    assert [fact["kind"] for fact in made["steps"][0]["needs"] if fact["subject"] == held][1] == "appearance"
    assert guest.run(MOUNTED.format(looped)).status == 0
    holder = guest.spawn(HELD.format(held, "/tmp/end1"))
    other = guest.spawn(HELD.format(disks[6], "/tmp/end2"))
    try:
        pids = [f"bash (pid {found})" for found in holders(guest, held, disks[6])]
        loop = "loop0 is set up on it (ext4 mounted at /mnt/x)"
        for name, words in ((looped, loop), (held, f"{pids[0]} has it open")):
            said = f"{name}: {words}; {REMEDY.format(name)}"
            for verb in (
                ("create", "--name=130", "--level=raid1", name, free),
                ("add", "data", name),
                ("replace", "data", disks[4], "--with", name),
            ):
                assert refusal(guest, *verb) == said
        said = f"{disks[6]} is in use: {pids[1]} has it open"
        assert refusal(guest, "zero-superblock", disks[6], "--destroy=old") == said
        assert f"failed: step 1: {held}: {pids[0]} has it open" in apply(guest, "--confirm=130", status=1)
        assert states(guest)[-1] == "failed"
    finally:
        assert guest.run("echo >/tmp/end1; echo >/tmp/end2; umount /mnt/x; losetup -D").status == 0
        assert (holder.wait(60).status, other.wait(60).status) == (0, 0)
    plan(guest, *create)
    assert apply(guest, "--confirm=130").endswith("done\n")


def holders(guest: Guest, *names: str) -> list[str]:
    """The processes that have these devices open, in their order, as soon as they have."""
    find = "find /proc/[0-9]*/fd -lname /dev/{0} 2>/dev/null | cut -d/ -f3 | head -n 1"
    script = f'until pid=$({find}); [ -n "$pid" ]; do :; done; echo $pid'
    return [guest.run(script.format(name), timeout=20).stdout.strip() for name in names]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        later("/etc/fstab", r"LABEL=my\040data /srv ext4 noauto 0 0"),
        later("/etc/fstab", 'UUID="{uuid}" /srv ext4 noauto 0 0'),
        later("/etc/fstab", "/dev/block/{number} /srv ext4 noauto 0 0"),
        later("/etc/fstab", "/dev/./{name} /srv ext4 noauto 0 0"),
        later("/etc/fstab", "/tmp/link /srv ext4 noauto 0 0"),
        later("/etc/crypttab", "safe /dev/disk/../{name} none noauto"),
        ("/etc/systemd/system/srv.mount", "What=/dev/disk/by-uuid/{uuid}"),
        later("/etc/systemd/system/x.swap", "What=UUID={uuid}"),
    ],
)
def test_what_the_next_boot_wants_is_not_taken(guest: Guest, file: str, line: str) -> None:
    name, other = disk_names(guest)[:2]
    made = guest.run(NAMED.format(name))
    assert made.status == 0, made.output
    uuid, number = made.stdout.split()
    guest.run(f"mkdir -p /etc/systemd/system; [ -e {file} ] && cp {file} /run/before-the-test")
    try:
        text = line.format(uuid=uuid, number=number, name=name)
        assert guest.run(f"cat >{file} <<'END'\n# x\n{text}\nEND").status == 0
        why = f"{name} is named in {file}, line 2; {NEXT_BOOT}"
        assert refusal(guest, "create", "--name=127", "--level=raid1", name, other) == why
    finally:
        guest.run(f"rm -f {file} /tmp/link; [ -e /run/before-the-test ] && mv /run/before-the-test {file}")
    assert plan(guest, "create", "--name=127", "--level=raid1", name, other)["loss_sentences"] != []


STALE = (
    "udevadm control --stop-exec-queue; printf secret | cryptsetup luksFormat --type luks1"
    " --pbkdf-force-iterations 1000 -q /dev/{0} - && mkfs.btrfs -q -f /dev/{1}"
)


def test_what_udev_has_not_seen_is_not_empty(guest: Guest) -> None:
    """LUKS and btrfs were listed as empty, and destroyed. They are looked at before the first step, too."""
    luks, btrfs, free, late, *_ = disk_names(guest)
    made = ("create", "--name=130", "--level=raid1", free, late)
    try:
        assert guest.run(STALE.format(luks, btrfs)).status == 0
        said = f"{luks} holds encrypted data (LUKS); if it is no longer needed: wipefs --all /dev/{luks}"
        assert refusal(guest, "create", "--name=130", "--level=raid1", luks, free) == said
        said = f"{btrfs} holds btrfs, and udev says nothing; let udev look again, then plan again: "
        assert refusal(guest, "create", "--name=130", "--level=raid1", btrfs, free).startswith(said)
        plan(guest, *made)
        assert guest.run(f"mkswap -q /dev/{late}").status == 0
        assert "failed: step 1: " in apply(guest, "--confirm=130", status=1)
        found = guest.run(f"for disk in {luks} {btrfs} {late}; do blkid -p -o value -s TYPE /dev/$disk; done")
        assert found.stdout.split() == ["crypto_LUKS", "btrfs", "swap"]
    finally:
        assert guest.run("udevadm control --start-exec-queue; udevadm settle").status == 0
    assert guest.run(f"udevadm trigger --settle /dev/{btrfs}").status == 0
    assert plan(guest, "create", "--name=130", "--level=raid1", btrfs, free)["losses"] == [
        {"device": btrfs, "what": "the btrfs file system"}
    ]
