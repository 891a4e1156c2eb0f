"""Arrays that die, are stopped, or were never started, on the real kernel: none of them may look well."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.guests.guest import Guest
from tests.lab.guests.watching import watch

RAIDTUI = f"{sys.executable} -m raidtui"
LIMITS = "/proc/sys/dev/raid"


@pytest.fixture
def three(guest: Guest) -> Iterator[tuple[str, str, str]]:
    """Three disks that udev knows and that can be pulled."""
    before = set(guest.run("ls /sys/block").stdout.split())
    options = "per_host_store=1 add_host=3 num_tgts=1 dev_size_mb=32 delay=1"
    made = guest.run(f"modprobe scsi_debug {options} && udevadm settle && ls /sys/block")
    assert made.status == 0, made.output
    a, b, c = sorted(each for each in set(made.stdout.split()) - before if each.startswith("sd"))
    yield a, b, c
    stop = 'for md in /dev/md[0-9]*; do [ -e "$md" ] && mdadm --quiet --stop "$md"; done'
    assert guest.run(f"{stop}; udevadm settle; modprobe -r scsi_debug").status == 0
    guest.run(f"echo 1000 >{LIMITS}/speed_limit_min; echo 200000 >{LIMITS}/speed_limit_max")


def create(guest: Guest, disks: tuple[str, ...], *, clean: bool) -> str:
    """A RAID-5 of the disks; returns the kernel's name."""
    if not clean:
        guest.run(f"echo 100 >{LIMITS}/speed_limit_min; echo 200 >{LIMITS}/speed_limit_max")
    paths = " ".join(f"/dev/{disk}" for disk in disks)
    how = "--assume-clean" if clean else ""
    made = guest.run(
        f"mdadm --create /dev/md/data --quiet --run {how} --homehost=lab --level=5 -n{len(disks)} {paths}"
        " && udevadm settle && readlink -f /dev/md/data"
    )
    assert made.status == 0, made.output
    return made.stdout.strip().rpartition("/")[2]


def status(guest: Guest, exit_status: int, before: str = "true", user: str = "") -> dict[str, Any]:
    """``raidtui status --json``, whose exit status is the given one."""
    found = guest.run(f"{before}; {user} {RAIDTUI} status --json")
    assert found.status == exit_status, found.output
    report: dict[str, Any] = json.loads(found.stdout)
    return report


def test_an_array_whose_member_is_pulled_in_its_first_recovery(
    guest: Guest, three: tuple[str, str, str]
) -> None:
    """Md stops it within a second; it is reported to who watched, and to who looks later."""
    a, b, c = three
    name = create(guest, three, clean=False)
    said = watch(
        guest,
        f"""
sh("echo 1 >/sys/block/{b}/device/delete")
until(lambda: not last.snapshot.arrays, "md stops the array")
print(last.exit_status, counts_of(last))
[gone] = last.snapshot.absent
print(gone.absence.value, gone.path, gone.count_words, [(m.name, m.present) for m in gone.members])
until(lambda: not console.sampler.unsettled, "it settles")
print(last.exit_status, absent())
""",
    )
    assert said[-3:] == [
        "2 {('bad', 'failed'): 1}",
        f"gone /dev/{name} 2 of 3 members present [('{a}', True), ('{b}', False), ('{c}', True)]",
        "2 ['gone']",
    ]
    assert "data: stopped" not in said
    words = f"is gone without having been stopped, 2 of 3 members present ({a}, {c}); not there: {b}"
    assert f"data: failed: {words}" in said
    report = status(guest, 2)
    assert report["arrays"] == []
    [absent] = report["absent"]
    assert (absent["state"], absent["health"], absent["label"]) == ("not-started", "failed", "data")
    assert (absent["level"], absent["raid_disks"], absent["filled"]) == ("raid5", 3, 2)
    assert [member["name"] for member in absent["members"]] == [a, c]
    [finding] = report["findings"]
    assert (finding["code"], finding["severity"], finding["uuid"]) == (
        "not-started",
        "failed",
        absent["uuid"],
    )
    assert finding["sentence"] == f"data is not started: 2 of 3 members present ({a}, {c})"
    metrics = guest.run(f"{RAIDTUI} status --prometheus")
    assert metrics.status == 2
    labels = f'{{array="data",uuid="{absent["uuid"]}",state="not-started"}}'
    assert f"raidtui_md_absent_health{labels} 4\n" in metrics.stdout
    # Without root the superblocks cannot be read: no number is made up.
    user = "setpriv --reuid=65534 --regid=65534 --clear-groups env PYTHONDONTWRITEBYTECODE=1"
    asked = status(guest, 3, user=user)["findings"]
    assert [each["sentence"] for each in asked] == [
        f"data is not started: 2 members present ({a}, {c}); the number of its members is not known"
    ]


@pytest.mark.later
def test_an_array_that_a_person_stops_is_not_an_alarm(guest: Guest, three: tuple[str, str, str]) -> None:
    a, b, c = three
    name = create(guest, three, clean=True)
    said = watch(
        guest,
        f"""
sh("mdadm --stop /dev/{name}; udevadm settle")
until(lambda: absent(), "it is listed")
until(lambda: not console.sampler.unsettled, "it settles")
print(last.exit_status, counts_of(last), last.snapshot.absent[0].count_words)
sh("mdadm --assemble /dev/md/data /dev/{a} /dev/{b} /dev/{c}; udevadm settle")
until(lambda: last.snapshot.arrays and last.snapshot.arrays[0].active, "it runs")
print(last.exit_status, absent())
""",
    )
    assert "1 {('warn', 'stopped'): 1} 3 of 3 members present" in said
    assert said[-1] == "0 []"
    assert "data: stopped" in said
    assert not [line for line in said if "failed" in line or "gone" in line]


@pytest.mark.later
def test_a_rename_is_not_seen_as_a_stopped_array(guest: Guest, three: tuple[str, str, str]) -> None:
    """An array has two seconds to come back."""
    a, b, c = three
    name = create(guest, three, clean=True)
    said = watch(
        guest,
        f"""
sh("mdadm --stop /dev/{name}; udevadm settle")
show(console.refresh())
sh("mdadm --assemble /dev/md/other --name=other --update=name /dev/{a} /dev/{b} /dev/{c}; udevadm settle")
until(lambda: last.snapshot.arrays and last.snapshot.arrays[0].active, "it runs")
""",
    )
    assert not [line for line in said if "not started" in line or "gone" in line]


CONF = "/etc/mdadm/mdadm.conf"
UUID = "11111111:22222222:33333333:44444444"


@pytest.mark.later
def test_what_files_name_and_is_not_there(guest: Guest, three: tuple[str, str, str]) -> None:
    create(guest, three, clean=True)
    uuid = status(guest, 0)["arrays"][0]["uuid"]
    conf = f"ARRAY /dev/md/data UUID={uuid}\\nARRAY /dev/md/old metadata=1.2\\n  UUID={UUID} name=lab:old\\n"
    fstab = "/dev/md/data /srv ext4 defaults 0 2\\n/dev/md/spare /mnt ext4 noauto 0 2\\n"
    keep = f"mkdir -p /tmp/kept /etc/mdadm; cp {CONF} /etc/fstab /tmp/kept"
    put = f"{keep}; printf '{conf}' >{CONF}; printf '{fstab}' >/etc/fstab"
    try:
        report = status(guest, 2, put)
        assert [(each["label"], each["state"], each["health"]) for each in report["absent"]] == [
            ("old", "not-there", "failed"),
            ("spare", "not-there", "attention"),
        ]
        assert report["findings"][0]["sentence"] == (
            f"old does not run, and none of its members was found: {CONF}, line 2 names it"
        )
        # Members of an array that is not to be assembled are passed over.
        ignore = f"mdadm --stop /dev/md/data; printf 'ARRAY <ignore> UUID={uuid}\\n' >{CONF}; : >/etc/fstab"
        assert status(guest, 0, f"{ignore}; udevadm settle")["absent"] == []
    finally:
        guest.run(f"cp /tmp/kept/fstab /etc/fstab; cp /tmp/kept/mdadm.conf {CONF} || rm -f {CONF}")
