"""Trials on the real kernel: what is tried, what is said of it, and that nothing of it is left."""

import json
import re
import signal
from typing import Any

import pytest

from tests.extent import each, later
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, checksum, last_job, raidtui, states

SUMS = "/tmp/sums"
LEFT = """
dmsetup ls | grep -v -e '^No devices found' -e '^dust' -e '^mine'; losetup --all | grep raidtui
ls -d /run/udev/rules.d/*raidtui* /run/raidtui-rescue* /var/tmp/raidtui-rescue* 2>/dev/null
grep ^md /proc/mdstat; for disk in /sys/block/ubd?; do [ "$(cat $disk/ro)" = 0 ] || echo $disk read-only; done
"""
"""Prints what is left of a trial: nothing."""


@pytest.fixture
def guest(wreck_guest: Guest) -> Guest:
    """The one with small disks: a trial reads all of its members twice, and each test does once more."""
    return wreck_guest


def filled(guest: Guest, path: str, *, kind: str = "ext4", size: str = "") -> None:
    """Make a file system with files on it, whose sums go to a list. ``size``: all of the array, or "200M"."""
    made = guest.run(
        f"mkfs.{kind} -q {path} {size} && mkdir -p /tmp/place && mount {path} /tmp/place && cd /tmp/place &&"
        " for n in 1 2 3 4 5 6; do dd if=/dev/urandom of=file$n bs=1M count=3 status=none || exit 1; done;"
        f" sha256sum file* >{SUMS} && cd / && umount /tmp/place"
    )
    assert made.status == 0, made.output


def two_kicked(guest: Guest) -> tuple[str, ...]:
    """RAID 5 of four: the last member fails, files are written, then the third fails."""
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", 5, names, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(
        f"cd /tmp && mdadm {made.path} --fail /dev/{names[3]} && mount {made.path} /tmp/place &&"
        " dd if=/dev/urandom of=/tmp/place/later bs=1M count=2 status=none &&"
        f" (cd /tmp/place && sha256sum later >>{SUMS}) && umount /tmp/place;"
        f" mdadm {made.path} --fail /dev/{names[2]}; mdadm --stop {made.path} && udevadm settle"
    )
    assert done.status == 0, done.output
    return names


def tried(guest: Guest, *words: str, status: int = 0) -> dict[str, Any]:
    """Try, and return the outcome; nothing of the trial is left."""
    result = raidtui(guest, "rescue", "try", *words, "--json")
    assert result.status == status, result.output
    assert left(guest) == ""
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def left(guest: Guest) -> str:
    """What is left of trials."""
    return guest.run(LEFT).stdout


@pytest.mark.later
def test_two_kicked_are_forced_on_overlays(guest: Guest) -> None:
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "force", *names[:3], "--hashes", SUMS)
    assert outcome["proof"]["check"] == "clean"
    assert outcome["proof"]["contents"] == "ext4"
    assert "7 have the sums of the list" in outcome["proof"]["sure"]
    assert "clearing FAULTY flag for device 2" in outcome["said"]
    assert checksum(guest, names) == before
    again = raidtui(guest, "rescue", "clean")
    assert (again.status, again.stdout) == (0, "Nothing is left of any trial.\n"), again.output


@pytest.mark.later
def test_the_plain_start_is_refused_as_mdadm_refuses_it(guest: Guest) -> None:
    """What the kernel refuses is an answer, not a trial that went wrong."""
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "start", *names, status=1)
    assert (outcome["proof"]["check"], outcome["void"]) == ("not-possible", "")
    assert "mdadm failed" in outcome["proof"]["sure"]
    assert checksum(guest, names) == before


def lost_superblocks(guest: Guest) -> tuple[str, ...]:
    """RAID 5 of four in another order, without superblocks; left-symmetric, 64 KiB, data at sector 2048."""
    names = disk_names(guest)
    order = (names[1], names[0], names[3], names[2])
    made = make_array(guest, "data", 5, order, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path))
    devices = " ".join(f"/dev/{name}" for name in order)
    done = guest.run(f"mdadm --stop {made.path} && mdadm --zero-superblock {devices} && udevadm settle")
    assert done.status == 0, done.output
    return order


GEOMETRY = "level=5,layout=left-symmetric,chunk=64,offset=2048"


@pytest.mark.later
def test_a_geometry_is_tried_without_superblocks_and_without_a_store(guest: Guest) -> None:
    order = lost_superblocks(guest)
    before = checksum(guest, order)
    right = tried(guest, "rebuild-superblocks", *order, "--geometry", GEOMETRY, "--hashes", SUMS)
    assert (right["proof"]["check"], right["store_sectors"]) == ("clean", {})
    assert "6 have the sums of the list" in right["proof"]["sure"]
    three = (*order[:2], "missing", order[3])
    lost = tried(guest, "rebuild-superblocks", *three, "--geometry", GEOMETRY, "--hashes", SUMS)
    assert lost["proof"]["check"] == "clean"
    turned = (order[1], order[0], *order[2:])
    wrong = tried(guest, "rebuild-superblocks", *turned, "--geometry", GEOMETRY, status=1)
    assert wrong["proof"]["check"] in {"errors", "no-file-system"}
    assert checksum(guest, order) == before


@pytest.mark.later
def test_superblocks_are_made_again_and_taken_back_byte_for_byte(guest: Guest) -> None:
    order = lost_superblocks(guest)
    before = checksum(guest, order)
    words = ("rebuild-superblocks", *order, "--geometry", GEOMETRY, "--name", "data", "--hashes", SUMS)
    mapped = tried(guest, *words)
    refused = raidtui(guest, "rescue", "plan", mapped["job"])
    assert (refused.status, "has not rehearsed the command itself" in refused.stderr) == (2, True)
    rehearsed = tried(guest, *words, "--overlays")
    assert rehearsed["proof"]["check"] == "clean"
    assert checksum(guest, order) == before
    applied(guest, rehearsed["job"], "--confirm=data")
    assert guest.run("cat /sys/block/md*/md/array_state").stdout == "readonly\n"
    looked = guest.run(
        "mount -o ro,noload /dev/md/data /tmp/place && cd /tmp/place &&"
        f" sha256sum --check --quiet {SUMS}; cd /; umount /tmp/place"
    )
    assert (looked.status, looked.output) == (0, "")
    assert checksum(guest, order) != before
    back = raidtui(guest, "jobs", "rollback", last_job(guest))
    assert back.status == 0, back.output
    assert (checksum(guest, order), left(guest)) == (before, "")


@pytest.mark.later
def test_the_forced_start_is_carried_out_as_it_was_tried_and_taken_back(guest: Guest) -> None:
    names = two_kicked(guest)
    before = checksum(guest, names)
    outcome = tried(guest, "force", *names[:3])
    result = raidtui(guest, "rescue", "plan", outcome["job"]).stdout
    assert f"{names[2]} is 1 event behind" in result
    assert f"{names[3]} is " in result
    assert "it is left out." in result
    after = applied(guest, outcome["job"], "--confirm=data")
    assert re.match("Afterwards: mount it read-only, copy .* compare .* Only then let anything write", after)
    assert "[4/3] [UUU_]" in guest.run("cat /proc/mdstat").stdout
    back = raidtui(guest, "jobs", "rollback", last_job(guest))
    assert back.status == 0, back.output
    assert (checksum(guest, names), left(guest)) == (before, "")


@pytest.mark.later
@pytest.mark.parametrize("level", [1, 0])
def test_an_array_that_was_written_to_is_not_taken_back(guest: Guest, level: int) -> None:
    """Running or stopped; of RAID 0, that was stopped, nothing says whether it was."""
    names = disk_names(guest)[:2]
    make_array(guest, "data", level, names, chunk=64 if not level else None, extra=["--assume-clean"][:level])
    filled(guest, "/dev/md/data")
    devices = " ".join(f"/dev/{name}" for name in names)
    done = guest.run(f"mdadm --stop /dev/md/data && mdadm --zero-superblock {devices} && udevadm settle")
    assert done.status == 0, done.output
    geometry = "level=1,offset=2048" if level else "level=0,chunk=64,offset=2048"
    words = ("rebuild-superblocks", *names, "--geometry", geometry, "--name", "data", "--overlays")
    outcome = tried(guest, *words)
    before = checksum(guest, names)
    applied(guest, outcome["job"], "--confirm=data")
    if not level:  # what nobody has written to is taken back, and done again
        back = raidtui(guest, "jobs", "rollback", last_job(guest))
        assert (back.status, checksum(guest, names)) == (0, before), back.output
        applied(guest, outcome["job"], "--confirm=data")
    wrote = guest.run(
        "mdadm --readwrite /dev/md/data && mount /dev/md/data /tmp/place && echo new >/tmp/place/new &&"
        " umount /tmp/place"
    )
    assert wrote.status == 0, wrote.output
    job = last_job(guest)
    events = "more: the array was writable since"
    # md notes that it is clean a moment after the last write
    clean = f"until [ $(mdadm --examine {devices} | grep -c 'State : clean') = 2 ]; do sleep 0.1; done"
    for command, why in (
        (
            clean,
            "were written to" if level else "it is not known whether it was written to",
        ),
        ("mdadm --stop /dev/md/data", events if level else "does not run"),
        (
            f"mdadm --assemble --readonly /dev/md/data {devices}",
            events if level else "may have been stopped and started since",
        ),
    ):
        assert guest.run(f"{command} && udevadm settle").status == 0
        before = checksum(guest, names)
        back = raidtui(guest, "jobs", "rollback", job)
        assert (back.status, why in back.output, checksum(guest, names)) == (1, True, before), back.output
        assert states(guest)[-1] == "done"
    again = guest.run("mount -o ro,noload /dev/md/data /tmp/place && cat /tmp/place/new && umount /tmp/place")
    assert (again.status, again.stdout) == (0, "new\n"), again.output


def applied(guest: Guest, job: str, *words: str) -> str:
    """Carry out the plan of what a trial has rehearsed; return what its job says to do next, at its end."""
    made = raidtui(guest, "rescue", "plan", job, "--json", into=PLAN)
    assert made.status == 0, made.output
    after: str = json.loads(guest.run(f"cat {PLAN}").stdout)["plan"]["after"]
    done = raidtui(guest, "apply", PLAN, *words, "--json")
    assert done.status == 0, done.output
    attached = raidtui(guest, "jobs", "attach", json.loads(done.stdout)["job"])
    assert done.stderr.splitlines()[-1] == attached.stdout.splitlines()[-1] == f"done: {after}"
    return after


@pytest.mark.later
def test_what_was_written_to_since_is_not_taken(guest: Guest) -> None:
    names = two_kicked(guest)
    outcome = tried(guest, "force", *names[:3])
    assert guest.run(f"dd if=/dev/urandom of=/dev/{names[0]} bs=512 count=1 seek=900").status == 0
    result = raidtui(guest, "rescue", "plan", outcome["job"])
    assert (result.status, result.stdout) == (2, "")
    assert f"{names[0]} does not read as it did in the trial" in result.stderr


def mirror(guest: Guest) -> list[str]:
    """A mirror with a file system, stopped; one half is behind."""
    names = list(disk_names(guest)[:2])
    made = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    filled(guest, str(made.path))
    done = guest.run(f"mdadm --stop {made.path} && udevadm settle")
    assert done.status == 0, done.output
    return names


@pytest.mark.parametrize(("fault", "pace"), [("killed_at_entry", each(9)), later("killed_in_tool", each(5))])
def test_a_trial_that_is_killed_anywhere_is_cleaned(guest: Guest, fault: str, pace: int) -> None:
    """At the end of it nothing is there, nothing is read-only, and no byte of a member is another one."""
    names = mirror(guest)[:1]
    script = "import json\nfrom tests.lab.guests.inside import runs, trial_runs\n"
    script += f"print(json.dumps(trial_runs.killed_trials({names!r}, runs.{fault}, {pace})))"
    done = guest.run(script, interpreter="python", timeout=900)
    assert done.status == 0, done.output
    *rows, last = json.loads(done.stdout)
    assert last[1:] == [0, [], "", True], done.stderr
    assert {tuple(map(str, row[1:])) for row in rows} == {(str(-signal.SIGKILL), "[]", "", "True")}, rows
    assert len(rows) > 15 // pace


def test_the_real_step_killed_anywhere_is_taken_back(guest: Guest) -> None:
    """Whatever it had written: superblocks are as they were, byte for byte."""
    names = mirror(guest)
    geometry = "level=1,offset=2048"
    words = ("rebuild-superblocks", *names, "--overlays", "--geometry", geometry, "--name", "data")
    outcome = tried(guest, *words)
    made = raidtui(guest, "rescue", "plan", outcome["job"], "--json", into=PLAN)
    assert made.status == 0, made.output
    *rows, last = inside(guest, f"killed_real({names!r}, {each(12)})")
    assert last[1:] == [0, "rolled back", "", True]
    assert len(rows) > 32 // each(12)
    assert {(row[1], row[3], row[4]) for row in rows} == {(-signal.SIGKILL, "", True)}, rows
    assert {row[2] for row in rows} <= {"rolled back", "interrupted", "made"}, rows


def inside(guest: Guest, call: str) -> list[Any]:
    """Call a function of ``trial_runs`` in the guest."""
    script = (
        f"import json\nfrom tests.lab.guests.inside import trial_runs\nprint(json.dumps(trial_runs.{call}))"
    )
    done = guest.run(script, interpreter="python", timeout=300)
    assert done.status == 0, done.output
    found: list[Any] = json.loads(done.stdout)
    return found


def test_a_store_that_fills_makes_the_trial_void(guest: Guest) -> None:
    """It says nothing of the candidate, and ends as any other."""
    names = mirror(guest)
    status, check, void, remains, same = inside(guest, f"full_stores({names!r})")
    assert (status, check, remains, same) == (1, "not-tried", "", True)
    assert void == f"the store of {names[0]} is full, and its overlay is void"


@pytest.mark.later
@pytest.mark.parametrize("entry", [16, 34])
def test_a_member_that_vanishes_makes_the_trial_void(guest: Guest, sd: str, entry: int) -> None:
    """Before its overlay is there, and when the array is."""
    names = [disk_names(guest)[0], sd]
    made = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    done = guest.run(f"mkfs.ext4 -q {made.path}; mdadm --stop {made.path} && udevadm settle")
    assert done.status == 0, done.output
    status, check, void, state, remains, same = inside(guest, f"vanished({names!r}, {sd!r}, {entry})")
    assert (status, check, state, remains, same) == (1, "not-tried", "failed", "", True), void
    assert sd in void


@pytest.mark.later
def test_what_lies_in_partitions_and_volumes_is_found(guest: Guest) -> None:
    """RAID 6, which the device mapper cannot do: a table, a file system in it, and a volume group."""
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", 6, names, chunk=64, extra=["--assume-clean"])
    done = guest.run(
        f"printf 'label: gpt\\nsize=30M\\nsize=60M, type=E6D6D379-F507-44C2-A23C-238F2A3DF928\\n' |"
        f" sfdisk --quiet {made.path} && udevadm settle && md=$(readlink -f {made.path}) &&"
        " mkfs.ext4 -q ${md}p1 && pvcreate -q ${md}p2 && vgcreate -q vg0 ${md}p2 &&"
        " lvcreate -q -y -n first -L 8M vg0 && lvcreate -q -y -n data -L 32M vg0 &&"
        " mkfs.ext4 -q /dev/vg0/data && wipefs -qa /dev/vg0/first && vgchange -an vg0 && udevadm settle &&"
        f" mdadm --stop $md && mdadm --zero-superblock {' '.join(f'/dev/{name}' for name in names)}"
    )
    assert done.status == 0, done.output
    before = checksum(guest, names)
    words = "level=6,layout=left-symmetric,chunk=64,offset=2048"
    outcome = tried(guest, "rebuild-superblocks", *names, "--geometry", words)
    assert [
        (each["place"], each["proof"]["contents"], each["proof"]["check"]) for each in outcome["findings"]
    ] == [
        ("", "gpt", "clean"),
        ("p1", "ext4", "clean"),
        ("p2", "LVM2_member", "clean"),
        ("p2/vg0/data", "ext4", "clean"),
        ("p2/vg0/first", "", "no-file-system"),
    ]
    assert checksum(guest, names) == before


@pytest.mark.later
@pytest.mark.parametrize(
    ("level", "layout", "members", "stored"),
    [
        (10, "n2", 4, False),
        (10, "f2", 4, True),
        (10, "o2", 3, True),
        (0, "", 3, False),
        (4, "", 4, False),
    ],
)
def test_levels_by_the_least_that_can_do(
    guest: Guest, level: int, layout: str, members: int, *, stored: bool
) -> None:
    names = disk_names(guest)[:members]
    clean = ["--assume-clean"] if level else []
    made = make_array(guest, "data", level, names, chunk=64, layout=layout or None, extra=clean)
    filled(guest, str(made.path))
    done = guest.run(
        f"mdadm --stop {made.path}; mdadm --zero-superblock {' '.join(f'/dev/{n}' for n in names)}"
    )
    assert done.status == 0, done.output
    words = f"level={level},chunk=64,offset=2048" + (f",layout={layout}" if layout else "")
    outcome = tried(guest, "rebuild-superblocks", *names, "--geometry", words, "--hashes", SUMS)
    assert outcome["proof"]["check"] == "clean", outcome
    assert bool(outcome["store_sectors"]) is stored


@pytest.mark.parametrize("striped", [False, True])
@pytest.mark.later
def test_a_volume_over_two_arrays_is_checked_where_the_other_one_is_given(
    guest: Guest,
    striped: bool,  # noqa: FBT001
) -> None:
    """The other array runs and is only read; without it, nothing can be said of the volume."""
    names = disk_names(guest)
    one, other = (
        make_array(guest, name, 1, pair, extra=["--assume-clean"])
        for name, pair in (("one", names[:2]), ("other", names[2:4]))
    )
    shape = "-i 2 -I 64" if striped else ""
    made = guest.run(
        f"vgcreate -qq -y rvg {one.path} {other.path} && lvcreate -qq -y -Wn {shape} -l 100%FREE -n data rvg"
        " && mkfs.ext4 -q /dev/rvg/data && vgchange -qq -an rvg"
        f" && mdadm --stop {one.path} && udevadm settle"
        f" && until grep -qx clean /sys/block/{other.kernel}/md/array_state; do sleep 0.1; done"
    )
    assert made.status == 0, made.output
    before = checksum(guest, names[:4])
    alone = raidtui(guest, "rescue", "try", "start", *names[:2], "--json", timeout=200)
    proof = json.loads(alone.stdout)["proof"]
    assert (alone.status, proof["check"]) == (1, "no-file-system")
    assert "the arrays with the others can be given: --beside" in proof["sure"]
    words = ("rescue", "try", "start", *names[:2], "--beside", other.kernel, "--json")
    done = raidtui(guest, *words, timeout=200)
    found = [(each["place"], each["proof"]["check"]) for each in json.loads(done.stdout)["findings"]]
    assert (done.status, found) == (0, [("", "clean"), ("rvg/data", "clean")])
    still = left(guest)
    assert (still.split()[:1], still.count("\n")) == ([other.kernel], 1)
    assert checksum(guest, names[:4]) == before
    guest.run(f"vgchange -qq -an rvg; mdadm --stop {other.path}")


@pytest.mark.later
def test_superblocks_that_suffice_are_used_on_the_members_themselves(guest: Guest) -> None:
    """XFS, whose log is not replayed; a member is absent; the inactive array of the others is let go."""
    names = disk_names(guest)[:6]  # mkfs.xfs wants 300 MB
    made = make_array(guest, "data", 5, names, chunk=64, extra=["--assume-clean"])
    filled(guest, str(made.path), kind="xfs")
    done = guest.run(
        f"mdadm --stop {made.path} && mdadm --zero-superblock /dev/{names[5]} && udevadm settle;"
        f" mdadm --incremental /dev/{names[0]}; cat /proc/mdstat"
    )
    assert "inactive" in done.stdout, done.output
    before = checksum(guest, names)
    outcome = tried(guest, "start-degraded", *names[:5], "--hashes", SUMS, "--verify")
    assert (outcome["proof"]["check"], outcome["proof"]["contents"]) == ("clean", "xfs")
    assert outcome["store_sectors"] == {}
    assert checksum(guest, names) == before


@pytest.mark.later
def test_what_is_held_stays_until_it_is_cleaned(guest: Guest) -> None:
    names = mirror(guest)
    before = checksum(guest, names)
    held = raidtui(guest, "rescue", "try", "force", *names, "--hold")
    assert held.status == 0, held.output
    place = guest.run("grep raidtui-rescue /proc/mounts").stdout.split()
    assert (place[2], place[3].partition(",")[0]) == ("ext4", "ro")
    assert "file1" in guest.run(f"ls {place[1]}").stdout
    refused = raidtui(guest, "rescue", "try", "force", *names)
    assert (refused.status, f"{names[0]} is in use" in refused.stderr) == (2, True), refused.output
    assert raidtui(guest, "rescue", "clean").status == 0
    assert (left(guest), checksum(guest, names)) == ("", before)
