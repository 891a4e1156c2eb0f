"""What stands on an array that gets another shape; journals; workers and mdadm, killed meanwhile."""

import json
import re

import pytest

from tests.extent import later
from tests.lab.guests.arrays import Made, disk_names, fast, make_array, make_ram_disks, slow
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.filled import PLACE, filled, intact, room_kib
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import apply, do, killed_worker, plan, raidtui, refusal, states

KEY = "/tmp/key"


def made_of(
    guest: Guest, level: int, count: int, *, chunk: int | None = 64, more: tuple[str, ...] = ()
) -> Made:
    """An array of the first disks, nothing on it."""
    return make_array(
        guest,
        "125",
        level,
        disk_names(guest)[:count],
        chunk=chunk if level != 1 else None,
        extra=("--assume-clean", *more) if level else more,
    )


def attribute(guest: Guest, made: Made, name: str) -> str:
    return guest.run(f"cat /sys/block/{made.kernel}/md/{name}").stdout.strip()


@pytest.mark.later
def test_a_mounted_file_system_takes_the_room(wreck_guest: Guest) -> None:
    """When the reshape has ended, not before."""
    guest = wreck_guest
    made = made_of(guest, 5, 3)
    filled(guest, str(made.path))
    before = room_kib(guest)
    assert do(guest, "grow", "125", "--add", disk_names(guest)[3]).endswith("done\n")
    assert room_kib(guest) > before * 1.4
    intact(guest, str(made.path))


@pytest.mark.later
def test_larger_members_under_lvm(wreck_guest: Guest) -> None:
    """The array, the physical volume, the volume that is named, and its file system."""
    guest = wreck_guest
    made = made_of(guest, 1, 2, more=("--size=24M",))
    built = guest.run(
        f"pvcreate -q --yes {made.path} && vgcreate -q vglab {made.path}"
        " && lvcreate -q --yes -l 4 -n home vglab"
    )
    assert built.status == 0, built.output
    filled(guest, "/dev/vglab/home")
    before = room_kib(guest)
    assert refusal(guest, "grow", "125", "--size=max", "--extend=vglab/none") == (
        "no active volume vglab/none is on 125; name it as GROUP/VOLUME"
    )
    found = plan(guest, "grow", "125", "--size=max", "--extend=vglab/home")
    assert [step["argv"][0] for step in found["steps"] if "argv" in step] == [
        "mdadm",
        "pvresize",
        "lvextend",
        "resize2fs",
    ]
    assert apply(guest).endswith("done\n")
    assert room_kib(guest) > before * 2
    intact(guest, "/dev/vglab/home")
    assert guest.run("vgremove -q --force --yes vglab && pvremove -q --yes /dev/md/125").status == 0


@pytest.mark.later
def test_members_are_replaced_by_larger_ones(wreck_guest: Guest) -> None:
    """One after the other while the file system serves; with a bitmap, and what was there is there."""
    guest = wreck_guest
    small = make_ram_disks(guest, 3, size_mib=32)
    made = make_array(
        guest, "125", 5, small, chunk=64, bitmap="internal", extra=("--assume-clean", "--data-offset=2M")
    )
    filled(guest, str(made.path))
    before = room_kib(guest)
    names = disk_names(guest)[:3]
    assert refusal(guest, "grow", "125", "--larger", *names[:2]) == (
        "ram2 would stay, without room after the data; name 3 larger devices"
    )
    assert do(guest, "grow", "125", "--larger", *names).endswith("done\n")
    found = [attribute(guest, made, name) for name in ("raid_disks", "degraded", "sync_action")]
    assert found == ["3", "0", "idle"]
    assert guest.run(f"cd /sys/block/{made.kernel}/slaves && echo *").stdout.split() == sorted(names)
    assert room_kib(guest) > before * 1.4
    intact(guest, str(made.path))
    # the next start finds nothing of the old ones
    again = guest.run(f"mdadm --stop {made.path} && mdadm --assemble --scan && udevadm settle")
    assert again.output.endswith("has been started with 3 drives.\n"), again.output
    assert guest.run(f"cd /sys/block/{made.kernel}/slaves && echo *").stdout.split() == sorted(names)


@pytest.mark.later
def test_larger_members_under_encryption(wreck_guest: Guest) -> None:
    guest = wreck_guest
    made = made_of(guest, 1, 2, more=("--size=32M",))
    built = guest.run(
        f"printf secret >{KEY} && cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000"
        f" {made.path} {KEY} && cryptsetup open --key-file {KEY} {made.path} safe"
    )
    assert built.status == 0, built.output
    filled(guest, "/dev/mapper/safe")
    before = room_kib(guest)
    assert do(guest, "grow", "125", "--size=max").endswith("done\n")
    assert room_kib(guest) > before * 1.5
    intact(guest, "/dev/mapper/safe")
    assert guest.run("cryptsetup close safe").status == 0


def test_a_file_system_is_made_smaller_first(wreck_guest: Guest) -> None:
    guest = wreck_guest
    made = made_of(guest, 5, 4)
    filled(guest, str(made.path))
    assert refusal(guest, "shrink", "125", "--devices=3") == (
        "the file system at /mnt shrinks only while it is not mounted; umount /mnt"
    )
    assert guest.run("umount /mnt").status == 0
    assert do(guest, "shrink", "125", "--devices=3").endswith("done\n")
    assert guest.run(f"mount {made.path} /mnt").status == 0
    intact(guest, str(made.path))
    # the place is found again at the next start, and the array says how large it is by itself
    size = guest.run(f"cat /sys/block/{made.kernel}/size").stdout
    again = guest.run(
        f"mdadm --stop {made.path} && mdadm --assemble --scan && udevadm settle"
        f" && cat /sys/block/$(basename $(readlink -f {made.path}))/size"
    )
    assert again.stdout.split("\n")[-2] == size.strip(), again.output


@pytest.mark.later
def test_a_journal_comes_and_goes(wreck_guest: Guest) -> None:
    """Without it the array is written to, and is assembled; the device is free again."""
    guest = wreck_guest
    names = disk_names(guest)
    made = made_of(guest, 5, 3)
    filled(guest, str(made.path))
    assert refusal(guest, "journal", "125", "--add", names[3]).startswith(
        "125 is in use: ext4 mounted at /mnt"
    )
    assert guest.run("umount /mnt").status == 0
    assert do(guest, "journal", "125", "--add", names[3]).endswith("done\n")
    assert attribute(guest, made, "consistency_policy") == "journal"
    assert attribute(guest, made, "array_state") in {"clean", "active"}
    # it is away during a reshape, and there again afterwards
    assert do(guest, "grow", "125", "--add", names[4]).endswith("done\n")
    found = [attribute(guest, made, name) for name in ("raid_disks", "degraded", "consistency_policy")]
    assert found == ["4", "0", "journal"]
    assert do(guest, "journal", "125", "--remove").endswith("done\n")
    assert attribute(guest, made, "consistency_policy") == "resync"
    assert guest.run(f"mdadm --examine /dev/{names[3]}").status != 0
    again = guest.run(f"mdadm --stop {made.path} && mdadm --assemble --scan && udevadm settle")
    assert again.output.endswith("has been started with 4 drives.\n"), again.output
    assert guest.run(f"mount {made.path} /mnt").status == 0
    intact(guest, str(made.path))


@pytest.mark.later
def test_a_journal_is_taken_back(wreck_guest: Guest) -> None:
    guest = wreck_guest
    made = made_of(guest, 6, 4)
    assert do(guest, "bitmap", "125", "internal").endswith("done\n")
    assert do(guest, "journal", "125", "--add", disk_names(guest)[4]).endswith("done\n")
    job = raidtui(guest, "jobs").stdout.split("\n")[-2].split()[0]
    back = raidtui(guest, "jobs", "rollback", job)
    assert back.status == 0, back.output
    assert [attribute(guest, made, name) for name in ("consistency_policy", "bitmap/location")] == [
        "bitmap",
        "+8",
    ]


@pytest.mark.later
def test_a_partial_parity_log_comes_and_goes(wreck_guest: Guest) -> None:
    """Where the log of bad blocks lies where mdadm puts it, that is said; else it is one call."""
    guest = wreck_guest
    made = made_of(guest, 5, 3)
    assert refusal(guest, "journal", "125", "--policy=ppl") == (
        f"the log of bad blocks of {disk_names(guest)[0]} lies where mdadm puts a partial parity log; stop"
        " 125, and assemble it with mdadm --assemble --update=no-bbl"
    )
    paths = " ".join(f"/dev/{name}" for name in disk_names(guest)[:3])
    again = guest.run(
        f"mdadm --stop {made.path} && mdadm --assemble {made.path} --update=no-bbl {paths}"
        f" && mdadm --readwrite {made.path} && udevadm settle"
    )
    assert again.status == 0, again.output
    filled(guest, str(made.path))
    assert do(guest, "journal", "125", "--policy=ppl").endswith("done\n")
    assert do(guest, "convert", "125", "--layout=right-symmetric").endswith("done\n")
    assert [attribute(guest, made, name) for name in ("layout", "consistency_policy")] == ["3", "ppl"]
    intact(guest, str(made.path))
    for policy in ("resync", "ppl"):
        assert do(guest, "journal", "125", f"--policy={policy}").endswith("done\n")
        assert attribute(guest, made, "consistency_policy") == policy


@pytest.mark.parametrize("number", [later(5), 12])
def test_a_chain_whose_worker_is_killed(wreck_guest: Guest, number: int) -> None:
    """1 to 5 to 6, killed between two entries: resumed, no stage is done twice (more: `make torture`)."""
    guest = wreck_guest
    names = disk_names(guest)
    made = made_of(guest, 1, 2)
    filled(guest, str(made.path))
    plan(guest, "convert", "125", "--level=6", "--only-array", "--add", names[2], names[3])
    job, status = killed_worker(guest, number)
    assert status == -9
    again = raidtui(guest, "jobs", "resume", job)
    assert (again.status, states(guest)[-1]) == (0, "done"), again.output
    found = [attribute(guest, made, name) for name in ("level", "raid_disks", "layout", "degraded")]
    assert found == ["raid6", "4", "2", "0"]
    intact(guest, str(made.path))


@pytest.mark.later
def test_a_raid0_is_paused_and_stopped_while_it_grows(wreck_guest: Guest) -> None:
    """No mdadm is there that would take it for the end, and fail the new member: the plan has ended it."""
    guest = wreck_guest
    made = made_of(guest, 0, 2)
    filled(guest, str(made.path))
    slow(guest, 2000)
    plan(guest, "grow", "125", "--add", disk_names(guest)[2])
    assert raidtui(guest, "apply", "/tmp/plan.json", "--detach").status == 0
    wait_until(lambda: states(guest)[0] == "goes on", what="the job waits")
    assert attribute(guest, made, "level") == "raid4"
    assert guest.run("! pgrep -x mdadm").status == 0
    folder = f"/sys/block/{made.kernel}/md"
    assert guest.run(f"echo frozen >{folder}/sync_action").status == 0
    wait_until(lambda: attribute(guest, made, "sync_action") == "frozen", what="the pause")
    assert "faulty" not in guest.run(f"cat {folder}/dev-*/state").stdout
    # what is written where the reshape stands waits for it: nothing is unmounted during the pause
    assert guest.run(f"echo idle >{folder}/sync_action && umount /mnt").status == 0
    assert do(guest, "stop", "125").endswith("done\n")
    wait_until(lambda: states(guest)[0] != "goes on", what="the job's end")
    # udev may have started it meanwhile
    again = guest.run(f"mdadm --assemble --scan; udevadm settle; mdadm --readwrite {made.path}")
    assert attribute(guest, made, "level") == "raid4", again.output
    fast(guest)
    job = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][0]["id"]
    resumed = raidtui(guest, "jobs", "resume", job)
    assert (resumed.status, states(guest)[0]) == (0, "done"), resumed.output
    found = [attribute(guest, made, name) for name in ("level", "raid_disks")]
    assert found == ["raid0", "3"]
    assert guest.run(f"mount {made.path} /mnt").status == 0
    intact(guest, str(made.path))


@pytest.mark.later
def test_a_job_that_waits_is_cancelled(wreck_guest: Guest) -> None:
    """The reshape continues in the kernel; what would have followed does not."""
    guest = wreck_guest
    made = made_of(guest, 5, 3)
    filled(guest, str(made.path))
    before = room_kib(guest)
    slow(guest, 2000)
    plan(guest, "grow", "125", "--add", disk_names(guest)[3])
    assert raidtui(guest, "apply", "/tmp/plan.json", "--detach").status == 0
    wait_until(lambda: states(guest)[-1] == "goes on", what="the job waits")
    row = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]
    assert (row["waits_for"], row["percent"] < 100) == ("md moves every block", True)
    assert raidtui(guest, "jobs", "cancel", row["id"]).status == 0
    assert states(guest)[-1] == "cancelled"
    refused = raidtui(guest, "jobs", "rollback", row["id"])
    said = "cannot be rolled back: the way back, where there is one, is another plan"
    assert refused.output.rstrip().endswith(said)
    fast(guest)
    wait_until(lambda: attribute(guest, made, "reshape_position") == "none", what="the end of the reshape")
    assert room_kib(guest) == before
    assert raidtui(guest, "jobs", "resume", row["id"]).status == 0
    assert room_kib(guest) > before
    intact(guest, str(made.path))


@pytest.mark.later
def test_no_room_beside_the_data(wreck_guest: Guest) -> None:
    """A file is asked for, and where it must not lie."""
    guest = wreck_guest
    made = made_of(guest, 5, 3, more=("--data-offset=72K",))
    filled(guest, str(made.path))
    words = ("grow", "125", "--add", disk_names(guest)[3])
    assert "mdadm needs a backup file; give --backup-file=PATH" in refusal(guest, *words)
    ends = "; name a file that is not there yet, on a disk that the array does not use"
    for path, why in (
        ("/mnt/backup", "/mnt is on 125 itself"),
        ("/run/backup", "/run is in memory: after a crash the file would be gone"),
        (PLACE, "it is there already"),
        ("/none/backup", "there is no folder /none"),
    ):
        said = refusal(guest, *words, f"--backup-file={path}")
        assert said == f"the backup file cannot be {path}: {why}{ends}"
    other = disk_names(guest)[7]
    assert guest.run(f"mkfs.ext4 -q /dev/{other} && mkdir -p /srv && mount /dev/{other} /srv").status == 0
    assert do(guest, *words, "--backup-file=/srv/backup").endswith("done\n")
    assert guest.run("umount /srv").status == 0
    assert attribute(guest, made, "raid_disks") == "4"
    intact(guest, str(made.path))


@pytest.mark.later
def test_no_room_for_another_chunk(wreck_guest: Guest) -> None:
    """In place it is refused, and named so; with less used of each member there is room, as is said."""
    guest = wreck_guest
    made = made_of(guest, 5, 3, more=("--data-offset=72K",))
    filled(guest, str(made.path))
    for words in ((), ("--backup-file=/srv/backup",)):
        said = refusal(guest, "convert", "125", "--chunk=128", *words)
        assert "in place, a power cut at any moment loses data" in said
        assert "raidtui plan shrink --size" in said
    assert guest.run("umount /mnt").status == 0
    assert do(guest, "shrink", "125", "--size=61440").endswith("done\n")
    assert guest.run(f"mount {made.path} /mnt").status == 0
    assert do(guest, "convert", "125", "--chunk=128").endswith("done\n")
    assert attribute(guest, made, "chunk_size") == str(128 << 10)
    intact(guest, str(made.path))


@pytest.mark.later
def test_another_shape_by_keys(wreck_guest: Guest) -> None:
    """From key G to the job's end: a device, a place for the backup file that will not do, one that will.

    The array's spare stays one.
    """
    guest = wreck_guest
    *disks, new, _, _, other = disk_names(guest)
    more = ("--assume-clean", "--data-offset=72K", "--size=16M")
    made = make_array(guest, "125", 5, disks, chunk=64, spares=1, extra=more)
    filled(guest, str(made.path))
    before = room_kib(guest)
    assert guest.run(f"mkfs.ext4 -q /dev/{other} && mkdir -p /srv && mount /dev/{other} /srv").status == 0
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("G")
        terminal.wait_for("no device is chosen yet")
        terminal.press("down", "down", "down", "space")
        terminal.wait_for(re.compile(rf"backup file  +/[\s\S]*\[ 1 \]  {new}"))
        terminal.press("up")
        for path, said in (("/mnt/b", "/mnt is on 125 itself"), ("/srv/b", "grow: 3 → 4 devices")):
            terminal.press("space", "ctrl+u")
            terminal.type(path)
            terminal.press("enter")
            terminal.wait_for(said)
        assert f"[ 1 ]  {new}" in terminal.screen()
        terminal.press("enter")
        terminal.wait_for("--backup-file=/srv/b")
        terminal.press("y")
        terminal.wait_for(re.compile(r"resize2fs /dev/md125 [\s\S]*│ done +│"))
        terminal.press("escape")
        terminal.wait_for("grow: 3 → 4 devices: done")
        terminal.press("q")
        assert terminal.wait_exit() == 0
    names = "level raid_disks layout chunk_size degraded sync_action reshape_position"
    # After a reshape this short, mdadm 4.2 may wait for one that has ended, with the backup file open.
    left = "pkill -x mdadm; umount /srv"
    wait_until(lambda: guest.run(left).status == 0, what="the file is left")
    found = guest.run(f"cd /sys/block/{made.kernel}/md && cat {names} dev-{{{disks[3]},{new}}}/state")
    assert found.output.split() == ["raid5", "4", "2", "65536", "0", "idle", "none", "spare", "in_sync"]
    assert room_kib(guest) > before * 1.4
    intact(guest, str(made.path))
