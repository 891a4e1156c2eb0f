"""What a trial makes is hidden from udev, from LVM and from automatic assembly, as long as it lasts."""

import json
import shlex

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, checksum, raidtui
from tests.lab.test_rescue_faults import inside
from tests.lab.test_rescue_trial import left

RULES = "ls /run/udev/rules.d/ 2>/dev/null | grep raidtui-rescue"
SHOWN = """
ls -d /dev/beside /dev/disk/by-uuid/* /dev/disk/by-id/md-* /dev/disk/by-id/lvm-* 2>/dev/null
dmsetup ls | grep beside; grep ^md /proc/mdstat | cut -d' ' -f1
"""
"""Links to what is on disks, volumes that are active, arrays."""


def triggered(guest: Guest) -> None:
    """All block devices are announced again, and udev has handled that."""
    done = guest.run("udevadm trigger --subsystem-match=block --action=add && udevadm settle", timeout=120)
    assert done.status == 0, done.output


def test_nothing_takes_what_a_trial_has_made(guest: Guest) -> None:
    """A mirror with a volume group is held, and another one is at rest; without the rules, both are taken."""
    tried_names, others = disk_names(guest)[:2], disk_names(guest)[2:4]
    held = make_array(guest, "data", 1, tried_names, extra=["--assume-clean"])
    other = make_array(guest, "other", 1, others, extra=["--assume-clean"])
    done = guest.run(
        f"pvcreate -q {held.path} && vgcreate -q beside {held.path} && lvcreate -q -y -n one -L 20M beside &&"
        " mkfs.ext4 -q /dev/beside/one && vgchange -q -an beside && udevadm settle &&"
        f" mdadm --stop {held.path} && mdadm --stop {other.path} && udevadm settle &&"
        # as after a boot: pvscan takes a volume that is noted with another array's number for a duplicate
        " rm -f /run/lvm/pvs_online/* /run/lvm/vgs_online/*"
    )
    assert done.status == 0, done.output
    assert guest.run(RULES).stdout == ""
    before = checksum(guest, (*tried_names, *others))
    trial = raidtui(guest, "rescue", "try", "force", *tried_names, "--hold", "--files")
    assert trial.status == 0, trial.output
    triggered(guest)
    assert len(guest.run(RULES).stdout.split()) == 1
    assert guest.run(SHOWN).stdout.split() == ["md300"]
    cleaned = raidtui(guest, "rescue", "clean")
    assert (cleaned.status, guest.run(RULES).stdout, left(guest)) == (0, "", ""), cleaned.output
    assert checksum(guest, (*tried_names, *others)) == before
    triggered(guest)
    wait_until(
        lambda: "/dev/beside" in guest.run(SHOWN).stdout, what="the volume group, which udev activates"
    )
    arrays = guest.run("grep ^md /proc/mdstat").stdout
    assert all(name in arrays for name in (*tried_names, *others)), arrays
    assert guest.run(f"vgchange -q -an beside; mdadm --stop {shlex.quote(str(held.path))}").status == 0


LOST = """
real=$(command -v udevadm) && mv $real $real.real && cat >$real <<'END' && chmod 755 $real
#!/bin/sh
rule=$(ls /run/udev/rules.d/01-raidtui-rescue-*.rules 2>/dev/null)
if [ "$1 $2" = "control --reload" ] && [ "$rule" ] && mkdir /run/lost 2>/dev/null; then
    mv $rule /run/lost/ && $0.real control --reload && mv /run/lost/* $rule
    exit
fi
exec $0.real "$@"
END
"""
"""The first request to read a trial's rules does nothing, and succeeds; udev has looked for changes then."""
FOUND = "real=$(command -v udevadm) && mv $real.real $real && rmdir /run/lost"


def mirror(guest: Guest, names: tuple[str, ...]) -> None:
    """Make a mirror with a file system, and stop it."""
    array = make_array(guest, "data", 1, names, extra=["--assume-clean"])
    done = guest.run(
        f"mkfs.ext4 -q {array.path} && udevadm settle && mdadm --stop {array.path} && udevadm settle"
    )
    assert done.status == 0, done.output


@pytest.mark.later
def test_udev_takes_no_map_where_a_reload_is_lost(guest: Guest) -> None:
    """Systemd 252 ignores one of some hundred requests ("Invalid sender uid 65534"), and udevadm succeeds.

    By the rules as they were, udev would run ``mdadm --incremental`` on the overlay, which is a member.
    """
    names = disk_names(guest)[:2]
    mirror(guest, names)
    before = checksum(guest, names)
    made = guest.run(LOST)
    assert made.status == 0, made.output
    try:
        trial = raidtui(guest, "rescue", "try", "force", *names, "--overlays", "--json")
    finally:
        assert guest.run(FOUND).status == 0, "no reload was lost"
    outcome = json.loads(trial.stdout)
    assert (outcome["proof"]["check"], outcome["void"]) == ("clean", ""), outcome
    assert "Merging" not in outcome["said"]
    assert (left(guest), checksum(guest, names)) == ("", before)


@pytest.mark.later
def test_where_udev_does_not_follow_the_rules_nothing_is_made(guest: Guest) -> None:
    """It has a folder of rules of its own, as in a container; udev says that it has read its rules."""
    names = disk_names(guest)[:2]
    mirror(guest, names)
    before = checksum(guest, names)
    words = shlex.join((*RAIDTUI, "rescue", "try", "force", *names, "--overlays", "--json"))
    trial = guest.run(
        "mkdir -p /run/udev/rules.d && unshare --mount sh -c"
        f" {shlex.quote(f'mount -t tmpfs tmpfs /run/udev/rules.d && exec {words}')}",
        timeout=120,
    )
    assert trial.stdout, trial.output
    outcome = json.loads(trial.stdout)
    assert outcome["proof"]["check"] == "not-tried"
    assert outcome["void"].endswith("udev does not follow the rules that hold it off"), outcome
    made = guest.run(f"grep -c 'setro\\|dmsetup create' {JOBS}/{outcome['job']}/journal.jsonl")
    assert made.stdout == "0\n", made.output
    assert (left(guest), checksum(guest, names)) == ("", before)


@pytest.mark.later
def test_who_has_taken_the_maps_is_named_and_stopped(guest: Guest) -> None:
    """Another program assembles an overlay right before the trial does: that shows nothing of the members."""
    names = disk_names(guest)[:2]
    mirror(guest, names)
    check, void, state, remains, same = inside(guest, f"taken({names!r})")
    assert (check, state, remains, same) == ("not-tried", "failed", "", True), void
    assert void.startswith("another program has taken raidtui-rescue-")
    assert void.endswith(f"-{names[0]}: md127 stands on it")
