"""What is encrypted on an array that is tried: opened with its key, read-only, and closed with the trial."""

import json
import shlex
import signal

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, checksum
from tests.lab.test_rescue_trial import GEOMETRY, SUMS, filled, inside, left, tried

SECRET = "correct horse"
KEY = "/tmp/luks-key"
WATCHED = """
tool=$(readlink -f /sbin/cryptsetup) && cp $tool /tmp/cryptsetup.real && cat >/tmp/cryptsetup.spy <<'END'
#!/bin/sh
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ >>/tmp/seen 2>/dev/null
exec /tmp/cryptsetup.real "$@"
END
chmod 755 /tmp/cryptsetup.* && mount --bind /tmp/cryptsetup.spy $tool
"""
"""cryptsetup, which notes first what all processes of the guest show of themselves."""


def encrypted(guest: Guest, level: int, names: tuple[str, ...]) -> None:
    """An array with a file system in LUKS 2 on it, and files; stopped."""
    assert guest.run(f"printf %s {shlex.quote(SECRET)} >{KEY}; echo other >{KEY}.other").status == 0
    made = make_array(guest, "data", level, names, chunk=64 if level == 5 else None, extra=["--assume-clean"])
    done = guest.run(
        f"cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file {KEY}"
        f" {made.path} && cryptsetup open --key-file {KEY} {made.path} mine",
        timeout=120,
    )
    assert done.status == 0, done.output
    filled(guest, "/dev/mapper/mine")
    done = guest.run(f"cryptsetup close mine && mdadm --stop {made.path} && udevadm settle")
    assert done.status == 0, done.output


@pytest.mark.later
def test_a_geometry_is_proven_by_what_is_encrypted(guest: Guest) -> None:
    """With the key, with another one, without one; what is found is kept apart."""
    names = disk_names(guest)
    order = (names[1], names[0], names[3], names[2])
    encrypted(guest, 5, order)
    zeroed = guest.run(f"mdadm --zero-superblock {' '.join(f'/dev/{name}' for name in order)}")
    assert zeroed.status == 0, zeroed.output
    before = checksum(guest, order)
    words = ("rebuild-superblocks", *order, "--geometry", GEOMETRY)
    with_key = tried(guest, *words, "--key-file", KEY, "--hashes", SUMS)
    found = [
        (each["place"], each["proof"]["contents"], each["proof"]["check"]) for each in with_key["findings"]
    ]
    assert found == [("", "crypto_LUKS", "clean"), ("luks", "ext4", "clean")]
    assert "luks: mounted read-only, 6 files, 6 have the sums of the list" in with_key["proof"]["sure"]
    for more, said in (
        (("--key-file", f"{KEY}.other"), "the key opens no keyslot: it is another key, or"),
        ((), "encrypted data cannot be proven without the key"),
    ):
        without = tried(guest, *words, *more, status=1)
        assert (without["proof"]["check"], said in without["proof"]["sure"]) == ("no-file-system", True), (
            without
        )
    assert checksum(guest, order) == before


def test_a_passphrase_is_seen_nowhere(guest: Guest) -> None:
    """Typed, or from the standard input: it is in no argument, no environment and no file of the job."""
    names = disk_names(guest)[:2]
    encrypted(guest, 1, names)
    watched = guest.run(WATCHED)
    assert watched.status == 0, watched.output
    try:
        command = shlex.join((*RAIDTUI, "rescue", "try", "start", *names, "--json", "--key-file=-"))
        result = guest.run(f"{command} <{KEY}", timeout=120)
    finally:
        assert guest.run("umount $(readlink -f /sbin/cryptsetup)").status == 0
    assert result.status == 0, result.output
    outcome = json.loads(result.stdout)
    assert [each["place"] for each in outcome["findings"]] == ["", "luks"]
    looked = guest.run(
        f"grep --count --text 'type=luks' /tmp/seen; grep --count --text {shlex.quote(SECRET)} /tmp/seen;"
        f" grep --recursive --text --devices=skip {shlex.quote(SECRET)} {JOBS}; find {JOBS} -type p"
    )
    assert (looked.stdout.split()[0] != "0", looked.stdout.split()[1:]) == (True, ["0"]), looked.output
    assert left(guest) == ""


@pytest.mark.later
def test_a_trial_that_is_killed_while_it_opens_what_is_encrypted_is_cleaned(guest: Guest) -> None:
    names = disk_names(guest)[:1]
    encrypted(guest, 1, disk_names(guest)[:2])
    *rows, last, outcome = inside(guest, f"killed_openings({list(names)!r}, {KEY!r})")
    assert (last[1:], outcome) == ([0, [], "", True], ["clean", ""])
    assert {tuple(map(str, row[1:])) for row in rows} == {(str(-signal.SIGKILL), "[]", "", "True")}, rows
    assert len(rows) == 6  # cryptsetup and e2fsck
