"""Plans carried out on real arrays: what was there before is there after."""

import json
import re
from collections.abc import Sequence

import pytest

from raidtui.plans.member_partition import RAID_TYPE
from tests.extent import later
from tests.lab.guests.arrays import Made, disk_names, make_array, make_ram_disks, mdstat
from tests.lab.guests.console import RAIDTUI, kernel_text, open_console, shows_row
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import (
    JOBS,
    already,
    apply,
    bystander,
    checksum,
    do,
    killed_worker,
    plan,
    raidtui,
    refusal,
    states,
)
from tests.lab.guests.terminal import Terminal

CONF = "/etc/mdadm/mdadm.conf"


@pytest.fixture
def data(guest: Guest) -> Made:
    """A RAID-10 of four disks, in sync, with a file system and a file."""
    made = make_array(
        guest, "127", 10, disk_names(guest)[:4], layout="n2", chunk=32, extra=["--assume-clean"]
    )
    filled = guest.run(
        f"rm -rf {JOBS} && mkfs.ext4 -q {made.path} && mount {made.path} /mnt"
        " && dd if=/dev/urandom of=/mnt/file bs=1M count=20 status=none"
        " && sha256sum /mnt/file >/tmp/sum && umount /mnt"
    )
    assert filled.status == 0, filled.output
    return made


def intact(guest: Guest, device: str) -> bool:
    """Whether the file is there as it was written, and the file system in order."""
    done = guest.run(
        f"fsck.ext4 -fn {device} && mount -o ro {device} /mnt"
        " && sha256sum -c /tmp/sum; s=$?; umount /mnt; exit $s"
    )
    return done.status == 0


def detail(guest: Guest, path: str) -> dict[str, str]:
    """`mdadm --detail --export`."""
    lines = guest.run(f"mdadm --detail --export {path}").stdout.split("\n")
    return dict(line.split("=", 1) for line in lines if "=" in line)


def in_sync(guest: Guest, name: str, *devices: str) -> None:
    """Wait until these devices are in sync."""

    def all_there() -> bool:
        states = guest.run(
            f"cat {' '.join(f'/sys/block/{name}/md/dev-{each}/state' for each in devices)}"
        ).stdout
        return states.split() == ["in_sync"] * len(devices)

    wait_until(all_there, 60, f"{', '.join(devices)} in sync")


def test_rename(guest: Guest, data: Made) -> None:
    before = bystander(guest, disk_names(guest)[7])
    guest.run(
        f"mount {data.path} /mnt && cp /etc/fstab /tmp/fstab"
        f" && echo '{data.path} /srv ext4 defaults 0 2' >>/etc/fstab"
        f" && echo '{data.path}p1 none swap sw 0 0' >>/etc/fstab"
        " && mkdir -p /etc/default/grub.d && echo A=root=/dev/md127p2 >/etc/default/grub.d/lab.cfg"
    )
    assert refusal(guest, "rename", "127", "--to=126") == (
        "127 is in use: ext4 mounted at /mnt; unmount or release it first"
    )
    guest.run("umount /mnt")
    uuid = detail(guest, str(data.path))["MD_UUID"]
    more = f"UUID={uuid} name=lab:127 spare-group=g devices=/dev/ubd? level=raid10 # mine"
    guest.run(f"echo 'ARRAY /dev/md/127 metadata=1.2 {more}' >>{CONF}")
    made = plan(guest, "rename", "127", "--to=126", "--references")
    reported = (
        "/etc/default/grub.d/lab.cfg, line 1 names the old path; change it by hand, then run update-grub."
    )
    assert reported in made["notes"]
    guest.run("rm /etc/default/grub.d/lab.cfg")
    assert [step.get("argv", [step.get("path")])[:2] for step in made["steps"]] == [
        ["mdadm", "--stop"],
        ["mdadm", "--assemble"],
        [CONF],
        ["/etc/fstab"],
    ]
    assert apply(guest).endswith("done\n")
    assert detail(guest, "/dev/md/126")["MD_NAME"].endswith(":126")
    conf = guest.run(f"grep ARRAY {CONF}").stdout
    assert conf == f"ARRAY /dev/md/126 metadata=1.2 {more.replace('lab:127', 'lab:126')}\n"
    fstab = guest.run("cat /etc/fstab; cp /tmp/fstab /etc/fstab").stdout
    assert fstab.endswith("\n/dev/md/126 /srv ext4 defaults 0 2\n/dev/md/126p1 none swap sw 0 0\n")
    # As at boot: with a line that does not fit its superblock, an array is not assembled.
    again = guest.run("mdadm --stop /dev/md/126 && mdadm --assemble --scan && udevadm settle")
    assert again.output.endswith("/dev/md/126 has been started with 4 drives.\n"), again.output
    assert intact(guest, "/dev/md/126")
    assert already(guest, "rename", "126", "--to=126") == "it is already named 126"
    assert do(guest, "rename", "126", "--to=data").endswith("done\n")
    assert guest.run(f"grep -c ARRAY {CONF}; ls {CONF}.*.bak | wc -l").stdout.split() == ["1", "2"]
    assert intact(guest, "/dev/md/data")
    assert checksum(guest, [disk_names(guest)[7]]) == before


@pytest.mark.later
def test_rename_where_the_configuration_cannot_be_written(guest: Guest, data: Made) -> None:
    """A full file system is refused; with too little room the array comes back under its old name."""
    full = guest.run(
        f"(cat {CONF}; printf '# %5000s\\n' long) >/tmp/conf && mount -t tmpfs -o size=16k tmpfs /etc/mdadm"
        f" && cp /tmp/conf {CONF}"
        " && dd if=/dev/zero of=/etc/mdadm/filler bs=1k status=none; test -s /etc/mdadm/filler"
    )
    assert full.status == 0, full.output
    assert refusal(guest, "rename", "127", "--to=126") == (
        "the plan writes a file, and the file system of /etc/mdadm is full; make room there first; then plan"
        " again"
    )
    assert guest.run("truncate --size=4k /etc/mdadm/filler").status == 0
    plan(guest, "rename", "127", "--to=126")
    said = apply(guest, status=1)
    assert f"step 3: {CONF} cannot be written: No space left on device" in said
    assert states(guest) == ["rolled back"]
    assert detail(guest, str(data.path))["MD_NAME"].endswith(":127")
    left = guest.run(f"cmp {CONF} /tmp/conf && ls -A /etc/mdadm; umount /etc/mdadm").stdout.split()
    assert left == ["filler", "mdadm.conf"]
    assert intact(guest, str(data.path))


def test_members(guest: Guest, data: Made) -> None:
    """Replace, remove, fail, add; the file is there all the time."""
    disks = disk_names(guest)
    before = bystander(guest, disks[7])
    assert (
        refusal(guest, "remove", "127", disks[0]) == f"{disks[0]} is in service; replace it, or fail it first"
    )
    assert "All steps can be undone" in do(guest, "replace", "127", disks[0], "--with", disks[4])
    in_sync(guest, data.kernel, disks[4])
    do(guest, "remove", "127", disks[0])
    do(guest, "fail", "127", disks[1])
    assert refusal(guest, "fail", "127", disks[4]) == (
        f"{disks[4]} holds the last copy of part of 127; add a disk, or replace it"
    )
    assert refusal(guest, "re-add", "127", disks[5]) == f"{disks[5]} was not a member of 127; add it"
    do(guest, "remove", "127", disks[1])
    assert refusal(guest, "re-add", "127", disks[1]) == (
        "127 has no bitmap, so what changed is not known; add it: the whole disk is copied (127M)"
    )
    plan(guest, "add", "127", disks[1])
    assert apply(guest, status=2) == "raidtui: not done: it destroys data: to confirm, give --confirm=127\n"
    apply(guest, "--confirm=127")
    in_sync(guest, data.kernel, disks[4], disks[1], disks[2], disks[3])
    assert guest.run(f"wipefs --noheadings /dev/{disks[0]}").stdout.strip() != ""
    do(guest, "zero-superblock", disks[0], confirm="127")
    assert guest.run(f"wipefs --noheadings /dev/{disks[0]}").stdout.strip() == ""
    assert intact(guest, str(data.path))
    assert checksum(guest, [disks[7]]) == before
    box = guest.run(f"ls {JOBS}/*zero-superblock/blackbox").stdout.split()
    assert f"edges-{disks[0]}.bin" in box
    assert {"lsblk.json", "mdstat.txt", f"examine-{disks[0]}.txt"} <= set(box)


@pytest.mark.later
def test_re_add_copies_what_changed(guest: Guest) -> None:
    disks = disk_names(guest)
    made = make_array(guest, "128", 1, disks[:2], bitmap="internal", extra=["--assume-clean"])
    guest.run(f"rm -rf {JOBS}")
    do(guest, "fail", "128", disks[1])
    do(guest, "remove", "128", disks[1])
    assert refusal(guest, "add", "128", disks[1]) == (
        f"{disks[1]} was a member, and the bitmap records what has changed since;"
        " re-add it; where that fails, zero its superblock and add it"
    )
    do(guest, "re-add", "128", disks[1])
    in_sync(guest, made.kernel, *disks[:2])


@pytest.mark.later
def test_stop_and_assemble(guest: Guest, data: Made) -> None:
    disks = disk_names(guest)[:4]
    do(guest, "stop", "127")
    assert refusal(guest, "assemble", *disks[:3]) == (
        "127 has 4 members, and only 3 of those given are up to date; name all of them, or start it"
        " degraded with --run"
    )
    do(guest, "assemble", *disks, "--read-only")
    assert intact(guest, str(data.path))
    do(guest, "stop", "127")
    do(guest, "assemble", *disks[:3], "--run")
    assert detail(guest, str(data.path))["MD_DEVICES"] == "4"
    assert intact(guest, str(data.path))


def test_what_changed_between_plan_and_run_stops_it(guest: Guest, data: Made) -> None:
    disks = disk_names(guest)
    before = checksum(guest, disks[:4])
    plan(guest, "replace", "127", disks[0], "--with", disks[5])
    guest.run(f"mkfs.ext4 -q /dev/{disks[5]} && sync")
    said = apply(guest, status=1)
    assert f"step 1: {disks[5]} was written to since the plan was made" in said
    assert states(guest) == ["rolled back"]
    plan(guest, "replace", "127", disks[0], "--with", disks[6])
    entry = guest.run(f"echo /run/udev/data/b$(cat /sys/block/{disks[6]}/dev)").stdout.strip()
    assert guest.run(f"cp {entry} /tmp/entry && echo E:ID_SERIAL_SHORT=ANOTHER-DISK >>{entry}").status == 0
    said = apply(guest, status=1)
    assert f"step 1: {disks[6]} is another disk now: ANOTHER-DISK" in said
    guest.run(f"cp /tmp/entry {entry}")
    plan(guest, "stop", "127")
    guest.run(f"mount {data.path} /mnt")
    assert "step 1: md127 is in use: ext4 mounted at /mnt" in apply(guest, status=1)
    guest.run("umount /mnt")
    assert checksum(guest, disks[:4]) != ""
    assert intact(guest, str(data.path))
    assert before.count("\n") == 4


@pytest.mark.later
def test_one_job_at_a_time(guest: Guest, data: Made) -> None:
    plan(guest, "stop", "127")
    holder = guest.spawn(
        "from pathlib import Path\nimport time\nfrom raidtui.jobs.lock import only_worker\n"
        f"Path({JOBS!r}).mkdir(parents=True, exist_ok=True)\n"
        f"with only_worker(Path({JOBS!r}), 'other'):\n    Path('/tmp/held').touch()\n    time.sleep(60)",
        interpreter="python",
    )
    wait_until(lambda: guest.run("test -e /tmp/held").status == 0, what="the lock is held")
    assert "raidtui: another job is running: other" in apply(guest, status=75)
    holder.kill()
    holder.wait(60)
    wait_until(
        lambda: json.loads(raidtui(guest, "jobs", "--json").stdout) is not None, what="jobs are listed"
    )
    assert apply(guest).endswith("done\n")


def test_the_worker_outlives_its_terminal(guest: Guest, data: Made) -> None:
    plan(guest, "rename", "127", "--to=126")
    said = raidtui(guest, "apply", "/tmp/plan.json", "--detach")
    assert said.status == 0
    assert "raidtui jobs attach" in said.stdout
    wait_until(lambda: states(guest) == ["done"], 60, "the job is done")
    assert raidtui(guest, "jobs", "attach", "rename").stdout.endswith("done\n")
    assert intact(guest, "/dev/md/126")


@pytest.mark.later
def test_who_may_not(guest: Guest, data: Made) -> None:
    plan(guest, "stop", "127")
    guest.run(
        'chmod 644 /tmp/plan.json && sed -i \'/checksum/d; s/"host": "lab"/"host": "else"/\' /tmp/plan.json'
    )
    assert apply(guest, status=2) == "raidtui: not done: the plan was made on else, this is lab\n"
    assert mdstat(guest).count("active") == 1


@pytest.mark.later
def test_replaced_and_renamed_from_the_screen(guest: Guest, data: Made) -> None:
    """By keys alone; what cannot be chosen says why, and Enter alone never does anything."""
    disks = disk_names(guest)
    guest.run(f"mkfs.ext4 -q /dev/{disks[4]}")
    with open_console(guest, cols=100, rows=30) as terminal:
        terminal.press("R")
        terminal.wait_for(f"{disks[0]}       slot 0   in_sync")
        terminal.press("enter")
        terminal.wait_for(f"Replace {disks[0]} with which device?")
        terminal.press("up", "up", "up", "up", "enter")  # the first one has a file system: it may be wiped
        terminal.wait_for(re.compile(rf"{disks[4]} .*the ext4 file system"))
        terminal.press("enter")
        terminal.wait_for("To continue, type 127 and Enter:")
        terminal.press("1", "2", "enter", "escape")
        terminal.wait_for("nothing was changed")
        assert guest.run(f"blkid -o value -s TYPE /dev/{disks[4]}").stdout == "ext4\n"

        terminal.press("R")
        terminal.wait_for("Replace which member of 127?")
        terminal.press("enter")
        terminal.wait_for(f"Replace {disks[0]} with which device?")
        terminal.press("down", "enter")
        terminal.wait_for(f"mdadm --manage /dev/md127 --replace /dev/{disks[0]} --with /dev/{disks[5]}")
        terminal.press("enter")
        terminal.press("y")
        terminal.wait_for(re.compile(r"2  done(?s:.*)\bdone\b(?s:.*)Esc back"))
        terminal.press("escape")
        in_sync(guest, data.kernel, disks[5])
        terminal.wait_for(re.compile(rf"0 +A +{disks[5]} .*in_sync"))

        terminal.press("N")
        terminal.wait_for("A new name for 127")
        terminal.press(*"126", "enter")
        terminal.wait_for("mdadm --assemble /dev/md/126 --name=126 --update=name")
        terminal.press("y")
        terminal.wait_for(re.compile(r"3  done(?s:.*)\bdone\b(?s:.*)Esc back"))
        terminal.press("escape")
        terminal.wait_for(shows_row("126", "optimal"))
    assert intact(guest, "/dev/md/126")


@pytest.mark.later
def test_an_interrupted_job_is_offered_on_the_screen(guest: Guest, data: Made) -> None:
    plan(guest, "rename", "127", "--to=126")
    assert killed_worker(guest, 5)[1] == -9
    with open_console(guest, argv=RAIDTUI, cols=100, rows=30) as terminal:
        terminal.wait_for("rename: 127 → 126 was interrupted; J shows it")
        terminal.press("J")
        terminal.wait_for(re.compile(r"interrupted +\d+ \w+ \d\d:\d\d +rename: 127 → 126"))
        terminal.press("enter")
        terminal.wait_for("nothing is lost")
        terminal.press("r")
        terminal.wait_for(re.compile(r"3  done(?s:.*)\bdone\b(?s:.*)Esc back"))
        terminal.press("escape")
        terminal.wait_for(shows_row("126", "optimal"))
    assert intact(guest, "/dev/md/126")


LEVELS = {
    "raid10": ("--layout=n2", "--chunk=32", "--bitmap=none"),
    "raid1": ("--bitmap=none",),
    "raid5": ("--chunk=64", "--bitmap=internal"),
    "raid6": ("--chunk=64", "--bitmap=internal"),
    "raid0": ("--chunk=64",),
    "raid10 far": ("--layout=f2", "--chunk=64", "--bitmap=none"),
    "raid10 offset": ("--layout=o2", "--chunk=64", "--bitmap=none"),
}


@pytest.mark.later
@pytest.mark.parametrize("case", LEVELS)
def test_create(guest: Guest, case: str) -> None:
    disks = disk_names(guest)
    before = bystander(guest, disks[7])
    guest.run(f"rm -rf {JOBS}")
    level = case.split(maxsplit=1)[0]
    made = plan(guest, "create", "--name=127", f"--level={level}", *LEVELS[case], *disks[:4])
    assert (made["harm"], made["confirm"], made["devices"]) == (2, "127", list(disks[:4]))
    assert "give --confirm=127" in apply(guest, "--confirm=126", status=2)
    assert mdstat(guest).count("active") == 0
    assert apply(guest, "--confirm=127").endswith("done\n")
    found = detail(guest, "/dev/md/127")
    assert (found["MD_LEVEL"], found["MD_DEVICES"]) == (level, "4")
    assert found["MD_NAME"] == "lab:127"
    assert f"ARRAY /dev/md/127 metadata=1.2 UUID={found['MD_UUID']}" in guest.run(f"cat {CONF}").stdout
    assert guest.run("mkfs.ext4 -q /dev/md/127").status == 0
    if "--bitmap=internal" in LEVELS[case]:
        assert kernel_text(guest, "/sys/block/md127/md/bitmap/location") == "+8"
    assert checksum(guest, [disks[7]]) == before


def test_create_over_what_was_there(guest: Guest) -> None:
    """A stopped array's members and a file system: named, wiped, and only when the name was typed."""
    disks = disk_names(guest)
    make_array(guest, "old", 1, disks[:2], extra=["--assume-clean"])
    guest.run(
        f"rm -rf {JOBS}; mdadm --stop /dev/md/old; mkfs.ext4 -q -L games /dev/{disks[2]}; udevadm settle"
    )
    words = ("create", "--name=127", "--level=raid5", *disks[:3])
    why = refusal(guest, *words)
    assert why.startswith(f'{disks[0]}, {disks[1]} are members of the array "old" (raid1, 2 members, '), why
    assert why.endswith(
        f"assemble it instead? raidtui plan assemble /dev/{disks[0]} /dev/{disks[1]};"
        " to destroy it for good, give its name: --destroy=old"
    )
    made = plan(guest, *words, "--destroy=old")
    assert any('array "old"' in text for text in made["loss_sentences"]), made["loss_sentences"]
    assert any("games" in text for text in made["loss_sentences"]), made["loss_sentences"]
    assert apply(guest, "--confirm=127").endswith("done\n")
    in_sync(guest, "md127", *disks[:3])
    box = set(guest.run(f"ls {JOBS}/*/blackbox").stdout.split())
    assert {f"edges-{name}.bin" for name in disks[:3]} <= box
    assert refusal(guest, "create", "--name=128", "--level=raid1", *disks[:2]) == (
        f"{disks[0]} is a member of 127; choose a free device"
    )


def turn_to(terminal: Terminal, label: str, value: str) -> None:
    """Wait until the cursor is at a row, and press → until that has a value."""
    terminal.wait_for(re.compile(rf"▸ {label} +‹"))
    for _ in range(12):
        now = re.search(rf"▸ {label} +‹ (.*) ›", terminal.screen())
        assert now is not None, terminal.screen()
        if now[1] == value:
            return
        terminal.press("right")
        terminal.wait_for(re.compile(rf"▸ {label} +‹ (?!{re.escape(now[1])} ›)"))
    raise AssertionError(f"{value} never came:\n{terminal.screen()}")


def build_by_keys(terminal: Terminal, disks: Sequence[str]) -> None:
    """Go through the wizard: RAID-10 near 2 on partitions, 32 KiB, LVM, ext4, /srv/data, 127."""
    terminal.press("b")
    terminal.wait_for("free devices of one kind")
    terminal.press(*["left", "down"] * 8, "home")
    terminal.wait_for("Space: a member, by slot")
    terminal.press(*["space", "down"] * 4)
    terminal.wait_for(re.compile(rf"\[ 3 \] +{disks[3]} "))
    terminal.press("enter")
    terminal.wait_for(re.compile(r"▸\(●\) safe and fast +raid10 near 2"))
    terminal.press("enter")
    terminal.wait_for("3 of 3: its name?")
    terminal.press("ctrl+u", *"127", "enter")
    terminal.wait_for("all of it")
    terminal.press("down")
    turn_to(terminal, "chunk", "32 KiB")
    terminal.press("down", "down")
    turn_to(terminal, "on the disks", "partition, 10 % free")
    terminal.press("down")
    turn_to(terminal, "on top", "LVM and ext4")
    terminal.press("down", "space", "ctrl+u", *"/srv/data", "enter", "enter")


def test_built_from_the_screen(guest: Guest) -> None:
    """The wizard by keys at 80x24; Enter alone never gets past the plan."""
    disks = disk_names(guest)
    guest.run(
        f"rm -rf {JOBS}; mkfs.ext4 -q -L games /dev/{disks[1]}; udevadm settle; cp /etc/fstab /tmp/fstab"
    )
    before = bystander(guest, disks[7])
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.wait_for("b builds one")
        build_by_keys(terminal, disks)
        terminal.wait_for(re.compile(rf'{disks[1]} .*the ext4 file system "games"'))
        terminal.press("enter", "enter", "enter")
        terminal.wait_for("To continue, type 127 and Enter:")
        assert mdstat(guest).count("active") == 0
        terminal.press(*"127", "enter")
        terminal.wait_for(
            re.compile(r"write /etc/mdadm/mdadm.conf(?s:.*)done\s(?s:.*)\bdone\b(?s:.*)Esc back"), timeout=60
        )
        terminal.press("escape")
        terminal.wait_for(shows_row("127"))
    reported = guest.run("mdadm --detail /dev/md/127").stdout
    for words in ("Raid Level : raid10", "Layout : near=2", "Chunk Size : 32K", "Name : lab:127"):
        assert words in reported
    assert "Intent Bitmap" not in reported
    table = json.loads(guest.run(f"sfdisk --json /dev/{disks[0]}").stdout)["partitiontable"]
    assert (table["label"], [part["type"] for part in table["partitions"]]) == ("gpt", [RAID_TYPE])
    assert table["partitions"][0]["start"] == 2048
    assert table["partitions"][0]["size"] == (128 * 9 // 10 - 1) * 2048
    found = guest.run("tune2fs -l /dev/vg127/data").stdout
    assert re.search(r"^RAID stride: +8$", found, re.MULTILINE)
    assert re.search(r"^RAID stripe width: +16$", found, re.MULTILINE)
    uuid = guest.run("blkid -o value -s UUID /dev/vg127/data").stdout.strip()
    assert f"UUID={uuid} /srv/data ext4 defaults,nofail 0 2\n" in guest.run("cat /etc/fstab").stdout
    assert "ARRAY /dev/md/127 metadata=1.2 UUID=" in guest.run(f"cat {CONF}").stdout
    filled = guest.run(
        "dd if=/dev/urandom of=/srv/data/file bs=1M count=20 && sha256sum /srv/data/file >/tmp/sum"
    )
    assert filled.status == 0, filled.output
    assert refusal(guest, "rename", "127", "--to=126").startswith("127 is in use: held by dm-")
    guest.run("umount /srv/data && vgchange -an vg127")
    assert do(guest, "rename", "127", "--to=126").endswith("done\n")
    again = guest.run("vgchange -ay vg127 && mount /srv/data && sha256sum -c /tmp/sum")
    assert again.status == 0, again.output
    guest.run("umount /srv/data; vgremove -f -y vg127; pvremove -ff -y /dev/md126; cp /tmp/fstab /etc/fstab")
    assert checksum(guest, [disks[7]]) == before


@pytest.mark.later
def test_a_disk_that_vanished_between_plan_and_run(guest: Guest, data: Made) -> None:
    [gone] = make_ram_disks(guest, 1, size_mib=256)
    plan(guest, "replace", "127", disk_names(guest)[0], "--with", gone)
    assert guest.run("rmmod brd").status == 0
    assert f"step 1: {gone} is gone" in apply(guest, status=1)
    assert states(guest) == ["rolled back"]
    assert intact(guest, str(data.path))


@pytest.mark.parametrize("begun", [later(False), True])
def test_what_is_cancelled_before_its_first_step_wipes_nothing(guest: Guest, begun: bool) -> None:  # noqa: FBT001
    """While the worker is being started, and while it looks at the devices once more."""
    disks = disk_names(guest)[:2]
    assert guest.run(f"rm -rf {JOBS}; mkfs.ext4 -q /dev/{disks[0]} && udevadm settle").status == 0
    plan(guest, "create", "--name=127", "--level=raid1", *disks)
    before = checksum(guest, disks)
    # Step 1 waits for udev, where that has the device open.
    held = f"cp /bin/sleep /tmp/udevd; exec 9</dev/{disks[0]}; touch /tmp/held; exec /tmp/udevd 300"
    holder = guest.spawn(held)
    wait_until(lambda: guest.run("test -e /tmp/held").status == 0, what="it is held")
    assert raidtui(guest, "apply", "/tmp/plan.json", "--confirm=127", "--detach").status == 0
    if begun:
        wait_until(lambda: guest.run(f"grep -q work {JOBS}/*/journal.jsonl").status == 0, what="it works")
    said = raidtui(guest, "jobs", "cancel", "create").output
    assert "cancelled: cancelled before step 1" in said
    assert states(guest) == ["cancelled"]
    holder.kill()
    holder.wait(60)
    assert checksum(guest, disks) == before
    assert guest.run(f"blkid -p -s TYPE -o value /dev/{disks[0]}").stdout == "ext4\n"
