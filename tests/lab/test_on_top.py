"""What goes on top of a new array, on a real kernel: LVM, file systems, and discards that are counted."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, PLAN, apply, plan, raidtui, refusal, states

FSTAB = "/etc/fstab"
SAFELY = "/sys/module/raid456/parameters/devices_handle_discard_safely"
# Plans a new array as somebody wants it who says more than the options of create.
_PLANNED = """
import msgspec, sys, time
from pathlib import Path
from raidtui.plans.create.create_plan import CreateRequest, plan_create
from raidtui.watch.storage import new_file_system_uuid, new_uuid
from raidtui.host.readers.opening import open_root
from raidtui.host.reading import read_survey
from raidtui.jobs.plan_file import save_plan
from raidtui.model.plan import Refusal
from raidtui.monitor.sampler import Sampler

asked = {asked!r}
asked["on_top"]["uuid"] = new_file_system_uuid()
root = open_root("/")
request = msgspec.convert({{"uuid": new_uuid(), **asked}}, CreateRequest)
names = [*request.named, *request.on_top.others]
made = plan_create(request, read_survey(root, Sampler(root).sample(), names, on_top=True))
if isinstance(made, Refusal):
    sys.exit(made.sentence)
data = save_plan(made, host=root.hostname or "", made_s=time.time())
Path({plan!r}).write_bytes(data)
sys.stdout.buffer.write(data)
"""

# A worker that ends by SIGKILL when a tool has done its work, before a word of that is in the journal.
_KILLED = """
import os, signal
from pathlib import Path
from raidtui.host.readers.opening import open_root
from raidtui.jobs import plan_file, store, worker

file = plan_file.load_plan(Path({plan!r}).read_bytes())
job = store.Job.create(file.plan, host=file.host)
print(job.id, flush=True)
real, begun = store.Job.note, []

def note(self, **entry):
    if begun:
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, **entry)
    if entry.get("event") == "begin" and entry["command"].startswith({command!r}):
        begun.append(entry)

store.Job.note = note
raise SystemExit(worker.work_on(open_root("/"), job.folder))
"""


def planned(guest: Guest, *, on_top: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """Save the plan of a new array in the guest."""
    given = {"name": "127", "bitmap": "", **asked, "on_top": on_top}
    made = guest.run(_PLANNED.format(asked=given, plan=PLAN), interpreter="python")
    assert made.status == 0, made.output
    found: dict[str, Any] = json.loads(made.stdout)["plan"]
    return found


def refused(guest: Guest, *, on_top: dict[str, Any], **asked: Any) -> str:
    """The sentence with which the plan of a new array is refused."""
    given = {"name": "127", "bitmap": "", **asked, "on_top": on_top}
    made = guest.run(_PLANNED.format(asked=given, plan=PLAN), interpreter="python")
    assert made.status == 1, made.output
    return made.stderr.rstrip("\n")


@pytest.fixture
def tidy(guest: Guest) -> Iterator[Guest]:
    """The guest; afterwards without its mounts, volume groups and loops, and fstab as it was."""
    assert guest.run(f"rm -rf {JOBS}; cp {FSTAB} /tmp/fstab").status == 0
    yield guest
    guest.run(
        f"umount /srv/data; vgremove -f -y vg127; cp /tmp/fstab {FSTAB}; rm -f /tmp/disk*; rm -rf /srv/data"
        f"; echo N >{SAFELY}"
    )


def loops(guest: Guest, count: int, size_mib: int) -> tuple[str, ...]:
    """Disks that take discards: files in memory. The test's end detaches them."""
    made = guest.run(
        f"for i in $(seq 0 {count - 1}); do truncate -s {size_mib}M /tmp/disk$i"
        " && losetup /dev/loop$i /tmp/disk$i || exit; done"
    )
    assert made.status == 0, made.output
    return tuple(f"loop{index}" for index in range(count))


def shown(guest: Guest, command: str) -> list[list[str]]:
    """The words of what a tool prints, line by line."""
    done = guest.run(command)
    assert done.status == 0, done.output
    return [line.split() for line in done.stdout.split("\n") if line.strip()]


def nothing_left(guest: Guest) -> bool:
    """Whether no group, array, superblock or line of fstab is there any more."""
    left = guest.run(
        f"vgs --noheadings; ls /sys/block | grep ^md; wipefs --noheadings /dev/loop0; cmp {FSTAB} /tmp/fstab"
    )
    return left.stdout == ""


def test_raid10_with_lvm_and_ext4(tidy: Guest) -> None:
    """By the command line: stride and stripe width proven, TRIM tried, and all of it undone again."""
    disks = loops(tidy, 4, 128)
    words = ("create", "--name=127", "--level=raid10", "--chunk=32", "--bitmap=none", "--assume-clean")
    made = plan(tidy, *words, "--lvm=vg127", "--filesystem=ext4", "--mount=/srv/data", *disks)
    assert "TRIM works: raid10 passes discards on, and all members support them." in made["notes"]
    said = apply(tidy, "--confirm=127")
    assert re.search(r"^ +\| the members discarded [0-9.]+ MiB: TRIM passes$", said, re.MULTILINE), said
    found = tidy.run("tune2fs -l /dev/vg127/data").stdout
    assert re.search(r"^RAID stride: +8$", found, re.MULTILINE)
    assert re.search(r"^RAID stripe width: +16$", found, re.MULTILINE)
    assert shown(tidy, "pvs --noheadings --units b -o pe_start /dev/md/127") == [["1048576B"]]
    assert shown(tidy, "findmnt --noheadings -o FSTYPE /srv/data") == [["ext4"]]
    assert refusal(tidy, "create", "--name=126", "--level=raid1", "--lvm=vg127", *disk_names(tidy)[:2]) == (
        "volume group vg127 already exists; choose another name"
    )
    [job] = tidy.run(f"ls {JOBS} | grep create").stdout.split()
    back = raidtui(tidy, "jobs", "rollback", job)
    assert (back.status, states(tidy)) == (0, ["rolled back"]), back.output
    assert nothing_left(tidy)


@pytest.mark.later
def test_striped_over_two_arrays(tidy: Guest) -> None:
    """XFS on LVM's stripes over two arrays; the other one must be empty, and stay so until it is taken."""
    disks = loops(tidy, 4, 600)
    other = make_array(tidy, "126", 0, disks[2:], chunk=32)
    asked: dict[str, Any] = {"level": "raid0", "chunk_kib": 32, "devices": disks[:2]}
    top = {"file_system": "xfs", "mount": "/srv/data", "group": "vg127", "others": [other.kernel]}
    stripes = {**top, "stripes": 2, "stripe_kib": 64, "trim_weekly": True}

    assert tidy.run(f"mkfs.ext4 -q {other.path} && udevadm settle").status == 0
    assert refused(tidy, on_top=stripes, **asked) == (
        f"{other.kernel} is not empty: the ext4 file system;"
        f" if it is no longer needed: wipefs --all /dev/{other.kernel}"
    )
    assert tidy.run(f"wipefs --all {other.path} && udevadm settle").status == 0
    assert refused(tidy, on_top={**stripes, "stripes": 3}, **asked) == (
        "3 stripes need as many physical volumes, and there are 2;"
        " name further devices, or choose fewer stripes"
    )
    made = planned(tidy, on_top=stripes, **asked)
    assert made["notes"][-1] == (
        "systemd is not running here: for a weekly TRIM, run fstrim --fstab from cron"
        " (a script in /etc/cron.weekly)."
    )
    said = apply(tidy, "--confirm=127")
    assert re.search(r"^ +\| the members discarded [0-9.]+ [MG]iB: TRIM passes$", said, re.MULTILINE), said
    lvs = "lvs --noheadings --nosuffix --units k -o segtype,stripes,stripesize vg127/data"
    assert shown(tidy, lvs) == [["striped", "2", "64.00"]]
    assert "sunit=8      swidth=32 blks" in tidy.run("xfs_info /dev/vg127/data").stdout
    assert shown(tidy, "pvs --noheadings --units b -o vg_name,pe_start") == [["vg127", "1048576B"]] * 2


@pytest.mark.later
def test_a_device_that_changed_before_it_joined(tidy: Guest) -> None:
    disks = loops(tidy, 3, 64)
    top = {"group": "vg127", "others": [disks[2]]}
    planned(tidy, on_top=top, level="raid1", devices=disks[:2], bitmap="none", assume_clean=True)
    assert tidy.run(f"mkfs.ext4 -q /dev/{disks[2]} && sync").status == 0
    said = apply(tidy, "--confirm=127", status=1)
    assert f"step 3: {disks[2]} was written to since the plan was made" in said
    assert shown(tidy, f"blkid -o value -s TYPE /dev/{disks[2]}") == [["ext4"]]


@pytest.mark.later
@pytest.mark.parametrize("safely", ["N", "Y"])
def test_trim_through_raid5(tidy: Guest, safely: str) -> None:
    """The members' counters decide; that it does not pass is a finding, and the job is done."""
    disks = loops(tidy, 3, 64)
    assert tidy.run(f"modprobe raid456 && echo {safely} >{SAFELY}").status == 0
    words = ("create", "--name=127", "--level=raid5", "--chunk=64", "--filesystem=ext4")
    made = plan(tidy, *words, "--mount=/srv/data", *disks)
    [reported] = [note for note in made["notes"] if note.startswith("TRIM ")]
    said = apply(tidy, "--confirm=127")
    assert states(tidy) == ["done"]
    if safely == "Y":
        assert reported.startswith("TRIM works: all members support discards, and raid456 relies on them")
        assert re.search(r"^ +\| the members discarded [0-9.]+ MiB: TRIM passes$", said, re.MULTILINE), said
    else:
        assert reported.startswith("TRIM does not work: raid5 drops discards")
        assert (
            'fstrim says "/srv/data: the discard operation is not supported",'
            " and the members discarded nothing: TRIM does not pass\n"
        ) in said


@pytest.mark.later
@pytest.mark.parametrize("command", ["vgcreate", "lvcreate"])
def test_killed_right_after(tidy: Guest, command: str) -> None:
    """What the tool did is found: resumed, the job does it no second time, and ends whole."""
    disks = loops(tidy, 2, 64)
    words = ("create", "--name=127", "--level=raid1", "--bitmap=none", "--assume-clean")
    plan(tidy, *words, "--lvm=vg127", "--filesystem=ext4", *disks)
    killed = tidy.run(_KILLED.format(plan=PLAN, command=command), interpreter="python")
    assert killed.status == -9, killed.output
    assert states(tidy) == ["interrupted"]
    assert shown(tidy, "vgs --noheadings -o vg_name") == [["vg127"]]
    again = raidtui(tidy, "jobs", "resume", killed.stdout.split()[0])
    assert again.status == 0, again.output
    assert shown(tidy, "lvs --noheadings -o vg_name,lv_name,segtype") == [["vg127", "data", "linear"]]
    assert shown(tidy, "blkid -o value -s TYPE /dev/vg127/data") == [["ext4"]]
