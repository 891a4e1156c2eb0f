"""What a console says while md acts, on the real kernel: no sentence is false, and nothing is in md's way."""

import pytest

from tests.lab.guests.arrays import make_array, make_ram_disks
from tests.lab.guests.guest import Guest
from tests.lab.guests.watching import watch


def test_a_recovery_that_ends_while_another_slot_is_empty(guest: Guest) -> None:
    """RAID-6 with two failed members, and one added."""
    disks = make_ram_disks(guest, 5)
    md = make_array(guest, "s", 6, disks[:4], extra=("--assume-clean",)).kernel
    said = watch(
        guest,
        f"""
sh("mdadm /dev/{md} --fail /dev/ram0 --fail /dev/ram1")
show(console.refresh())
limit("1000")
sh("mdadm /dev/{md} --add /dev/ram4")
until(lambda: last.snapshot.arrays[0].sync is not None, "the recovery runs")
limit("200000")
until(lambda: "s: recover ended" in said, "the recovery ends")
until(lambda: idle("{md}"), "all is quiet")
""",
    )
    assert "s: member ram4: rebuilding → in_sync" in said
    assert not [line for line in said if "interrupted" in line]


@pytest.mark.later
def test_a_member_that_is_failed_and_removed_between_two_looks(guest: Guest) -> None:
    disks = make_ram_disks(guest, 2)
    md = make_array(guest, "m", 1, disks, extra=("--assume-clean",)).kernel
    said = watch(
        guest,
        f"""
sh("mdadm /dev/{md} --fail /dev/ram1")
until_done("mdadm /dev/{md} --remove /dev/ram1")
show(console.refresh())
""",
    )
    assert said[1:3] == ["m: member ram1 failed", "m: member ram1 removed"]


@pytest.mark.later
def test_a_frozen_reshape_has_not_ended(guest: Guest) -> None:
    """Frozen, let go, frozen again, stopped, and assembled read-only: it is unfinished all the while."""
    disks = make_ram_disks(guest, 4)
    md = make_array(guest, "r", 5, disks[:3], extra=("--assume-clean",)).kernel
    said = watch(
        guest,
        f"""
limit("100")
sh("mdadm /dev/{md} --add /dev/ram3 && mdadm --grow /dev/{md} --raid-devices=4")
until(lambda: "r: reshape started" in " ".join(said), "it begins")
action = "/sys/block/{md}/md/sync_action"
sh("echo frozen >" + action)
until(lambda: "r: reshape frozen" in said, "it is frozen")
sh("echo idle >" + action)
until(lambda: last.snapshot.syncing, "it continues")
print("now")
said.clear()
sh("echo frozen >" + action)
until(lambda: "r: reshape frozen" in said, "it is frozen again")
sh("mdadm --stop /dev/{md} && mdadm --assemble --readonly /dev/md/r /dev/ram0 /dev/ram1 /dev/ram2 /dev/ram3")
until(lambda: last.snapshot.arrays and last.snapshot.arrays[0].read_only, "it is there, read-only")
print(last.exit_status, [str(finding.code) for finding in last.findings])
""",
    )
    assert said[-1] == "1 ['reshape-waits', 'read-only']"
    assert not [line for line in said if line.startswith("r: reshape ended")]
    assert "r: optimal" not in said[said.index("now") :]


@pytest.mark.later
def test_an_array_with_mismatches_is_not_optimal_while_it_is_stopped(guest: Guest) -> None:
    disks = make_ram_disks(guest, 3)
    make_array(guest, "m", 5, disks, extra=("--assume-clean",))
    spoil = "dd if=/dev/urandom of=/dev/ram1 bs=64k seek=100 count=4 conv=notrunc,fsync status=none"
    said = watch(
        guest,
        f"""
sh("{spoil}")
for turn in range(8):
    md = next(line.split()[0] for line in open("/proc/mdstat") if line.startswith("md"))
    sh(f"echo check >/sys/block/{{md}}/md/sync_action")
    until(lambda: idle(md) and last.snapshot.arrays[0].mismatch_count, "the check ends")
    said.clear()
    stopping = subprocess.Popen(["mdadm", "--quiet", "--stop", f"/dev/{{md}}"])
    while stopping.poll() is None:
        show(console.refresh())
    until(lambda: not last.snapshot.arrays, "it is stopped")
    assert not any(line.endswith(": optimal") for line in said), said
    sh("mdadm --assemble /dev/md/m /dev/ram0 /dev/ram1 /dev/ram2; udevadm settle")
    until(lambda: last.snapshot.arrays and last.snapshot.arrays[0].active, "it is there again")
print("never optimal")
""",
    )
    assert said[-1] == "never optimal"


@pytest.mark.later
def test_members_that_are_gone_are_not_kept(guest: Guest) -> None:
    """What a console that watched all the while shows is what a fresh look shows."""
    disks = make_ram_disks(guest, 3)
    md = make_array(guest, "m", 1, disks, extra=("--assume-clean",)).kernel
    said = watch(
        guest,
        f"""
sh("mdadm /dev/{md} --fail /dev/ram1")
def members(console):
    return [(m.name, m.slot, m.states) for m in console.refresh().snapshot.arrays[0].members]
for turn in range(200):
    show(console.refresh())
until(lambda: members(console) == members(HostWatch(FolderReader())), "the slot is taken away")
print(members(console)[-1])
until_done("mdadm /dev/{md} --remove /dev/ram1")
for turn in range(50):
    show(console.refresh())
until(lambda: members(console) == members(HostWatch(FolderReader())), "the folder goes")
print([name for name, _, _ in members(console)])
""",
    )
    assert "('ram1', None, ('faulty',))" in said
    assert said[-1] == "['ram0', 'ram2']"


def test_no_array_is_opened(guest: Guest) -> None:
    """While an array is open, mdadm can neither stop it nor make it read-only: nothing here opens one."""
    make_ram_disks(guest, 2)
    said = watch(
        guest,
        """
opened = []
def hook(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith("/dev/md"):
        opened.append(args[0])
    if event == "subprocess.Popen":
        opened.extend(word for word in map(str, args[1]) if word.startswith("/dev/md"))
sys.addaudithook(hook)
for turn in range(6):
    made = subprocess.Popen("mdadm --create /dev/md77 --quiet --run --assume-clean --level=1 -n2 /dev/ram0"
                            " /dev/ram1 && udevadm settle && mdadm --stop /dev/md77", shell=True)
    while made.poll() is None:
        show(console.refresh())
    assert made.returncode == 0
print(opened)
""",
    )
    assert said[-1] == "[]"
