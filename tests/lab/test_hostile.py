"""Another user of the host, full and foreign folders, clocks that jump: what is said, and nothing is lost."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest

from tests.extent import later
from tests.lab.guests.arrays import disk_names, make_array, mdstat
from tests.lab.guests.console import NOBODY, RAIDTUI, open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Program
from tests.lab.guests.jobs import JOBS, PLAN, apply, last_job, plan, raidtui, refusal, started, states
from tests.torture.races import race

STATE = "/var/lib/raidtui"
NOT_NOTED = f"raidtui: journal {STATE}/journal.jsonl: {{}}; this change will not be noted there\n"


@pytest.fixture
def mirror(guest: Guest) -> Iterator[Guest]:
    """The array 127 of two disks in sync, and neither state nor settings of an earlier test."""
    undone = (
        f"umount -l {STATE} /etc 2>/dev/null; rm -rf {STATE} /run/raidtui /etc/raidtui /tmp/end /tmp/other"
    )
    guest.run(undone)
    make_array(guest, "127", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    guest.run(f"echo 128 >/sys/block/{disk_names(guest)[0]}/queue/read_ahead_kb")
    yield guest
    guest.run(undone)


def tune(guest: Guest, value: int) -> tuple[int, str, str]:
    """Set the read-ahead of the first disk: (exit status, what it said on standard error, the value then)."""
    disk = disk_names(guest)[0]
    done = raidtui(guest, "tune", "set", disk, f"read_ahead_kb={value}")
    now = guest.run(f"cat /sys/block/{disk}/queue/read_ahead_kb").stdout.strip()
    return done.status, done.stderr, now


def limits(guest: Guest) -> list[str]:
    """The limits of the mirror."""
    return guest.run("cat /sys/block/md127/md/sync_speed_{min,max}").stdout.splitlines()


def copying(guest: Guest) -> tuple[str, int, Program]:
    """Replace a member, slowly: (the job, the process of its worker, ``apply``, which follows it)."""
    guest.run("echo 500 | tee /sys/block/md127/md/sync_speed_{max,min}")
    plan(guest, "replace", "127", disk_names(guest)[0], "--with", disk_names(guest)[2])
    following = guest.begin_command(("apply", PLAN), timeout=240)
    wait_until(lambda: states(guest)[-1:] == ["goes on"], 60, "md copies")
    job = last_job(guest)
    works = guest.run(f"grep -h '\"work\"' {JOBS}/{job}/journal.jsonl").stdout.splitlines()
    return job, json.loads(works[-1])["pid"], following


def full_speed(guest: Guest) -> None:
    guest.run("echo 200000 | tee /sys/block/md127/md/sync_speed_{max,min}")


# -- a second user


def test_a_lock_of_another_user_holds_nobody_up(mirror: Guest) -> None:
    """Neither what is set and undone, nor jobs, nor the keys of the console."""
    guest, (disk, _, one, other, *_) = mirror, disk_names(mirror)
    assert tune(guest, 256) == (0, "", "256")
    holder = held(guest)
    try:
        assert tune(guest, 512) == (0, "", "512")
        assert raidtui(guest, "tune", "undo").status == 0
        assert guest.run(f"cat /sys/block/{disk}/queue/read_ahead_kb").stdout == "256\n"
        kept = raidtui(
            guest, "tune", "keep", disk, "read_ahead_kb=512", "--dry-run", "--json", into="/tmp/plan.json"
        )
        assert kept.status == 0, kept.output
        assert apply(guest).endswith("done\n")
        plan(guest, "create", "--name=new", "--level=raid1", one, other)
        assert apply(guest, "--confirm=new").endswith("done\n")
        with open_console(guest, cols=100, rows=30) as terminal:
            terminal.press("l")
            terminal.wait_for("Give back")
            terminal.press("5", "enter")
            terminal.wait_for(re.compile(r"max .*5\.0 MB/s +this array"))
            terminal.resize(90, 28)
            terminal.wait_for(re.compile(r"^ *raidtui.{50,70}root"))
            terminal.press("escape")
            terminal.wait_for("l Limits")
            terminal.press("q")
            terminal.wait_for("estore")
    finally:
        guest.run("echo >/tmp/end")
        holder.wait(60)


def held(guest: Guest) -> Program:
    """Let nobody hold the lock of /run/raidtui, until a word comes in /tmp/end."""
    holding = "id -u >/tmp/other/held; read -r _ </tmp/end"
    holder = guest.spawn(
        "mkdir -m 777 /tmp/other; mkfifo -m 666 /tmp/end"
        f" && exec {' '.join(NOBODY)} flock --exclusive /run/raidtui sh -c '{holding}'"
    )
    wait_until(lambda: guest.run("cat /tmp/other/held").stdout == "65534\n", what="it is held")
    return holder


@pytest.mark.later
def test_no_other_host_tells_fio_what_to_do(guest: Guest) -> None:
    """A server of fio could have asked its client for any file of root's, and written one."""
    done = raidtui(guest, "bench", "run", "--hosts", "127.0.0.1", "--directory", "/tmp", "--rw", "randread")
    assert done.status == 64
    assert "unrecognized arguments: --hosts 127.0.0.1" in done.stderr


@pytest.mark.later
def test_races_of_another_user(mirror: Guest) -> None:
    """See ``tests/torture/races.py``, which runs them for hours."""
    race(mirror, seed=1, umask=0o000, times=2)


# -- folders that cannot be written, or are another user's


def said_of(guest: Guest, confirm: str) -> list[tuple[int, str]]:
    """How it ends to set, to undo and to apply the saved plan, and what is said last."""
    disk = disk_names(guest)[0]
    orders = (
        ("tune", "set", disk, "read_ahead_kb=300"),
        ("tune", "undo"),
        ("apply", "--confirm", confirm, PLAN),
    )
    done = [raidtui(guest, *words) for words in orders]
    return [(each.status, each.stderr) for each in done]


@pytest.mark.later
@pytest.mark.parametrize(
    ("made", "why"),
    [
        (
            f"mount -t tmpfs -o size=300k t {STATE}; dd if=/dev/zero of={STATE}/fill bs=4k",
            "No space left on device",
        ),
        (f"mount --bind {STATE} {STATE} && mount -o remount,ro,bind {STATE}", "Read-only file system"),
    ],
    ids=["full", "read-only"],
)
def test_a_state_folder_that_cannot_be_written(mirror: Guest, made: str, why: str) -> None:
    """What is set is not noted, and that is said; no job is begun."""
    guest, (_, _, *free) = mirror, disk_names(mirror)
    plan(guest, "create", "--name=new", "--level=raid1", *free[:2])
    guest.run(f"mkdir -p {STATE}; {made}")
    note = NOT_NOTED.format(why)
    no_job = f"raidtui: a job cannot be created in {JOBS}: {why}; nothing was started\n"
    assert said_of(guest, "new") == [(0, note), (0, note), (2, no_job)]
    advice = raidtui(guest, "advice")
    assert (advice.status, advice.output.count("Traceback")) == (3, 0)
    assert f"not known: how much advice there is cannot be kept: {why}" in advice.output
    alert = raidtui(guest, "alert", "--event", "Fail", "/dev/md127")
    assert (alert.status, alert.stderr) == (1, f"raidtui: the alert cannot be kept: {why}; it is sent once\n")
    assert states(guest) == []
    assert mdstat(guest).count("active") == 1


@pytest.mark.later
def test_too_little_room_is_known_before_anything_is_made(mirror: Guest) -> None:
    """Too little for the journal, and too little for the black box."""
    guest, (_, _, *free) = mirror, disk_names(mirror)
    plan(guest, "create", "--name=new", "--level=raid1", *free[:2])
    for left_kib, status, said in (
        (40, 2, f"a job cannot be created in {JOBS}: No space left on device; nothing was started"),
        (140, 1, "failed: the black box cannot be saved in "),
    ):
        fill = f"dd if=/dev/zero of={STATE}/fill bs=1k count={300 - left_kib}"
        guest.run(f"mkdir -p {STATE}; mount -t tmpfs -o size=300k t {STATE}; {fill}")
        assert said in apply(guest, "--confirm=new", status=status)
        guest.run(f"umount {STATE}")
        assert mdstat(guest).count("active") == 1
        assert guest.run(f"wipefs --noheadings /dev/{free[0]} /dev/{free[1]}").stdout == ""


@pytest.mark.later
def test_a_read_only_etc(mirror: Guest) -> None:
    guest, (disk, _, *free) = mirror, disk_names(mirror)
    plan(guest, "create", "--name=new", "--level=raid1", *free[:2])
    guest.run("mount --bind /etc /etc && mount -o remount,ro,bind /etc")
    why = (
        "is on a file system that is read-only; make it writable first: mount -o remount,rw; then plan again"
    )
    said = f"the plan writes a file, and {{}} {why}"
    assert f"{said.format('/etc/mdadm')}; nothing was started" in apply(guest, "--confirm=new", status=2)
    assert refusal(guest, "create", "--name=new", "--level=raid1", *free[:2]) == said.format("/etc/mdadm")
    kept = raidtui(guest, "tune", "keep", disk, "read_ahead_kb=512")
    assert kept.stderr == f"raidtui: not possible: {said.format('/etc/udev/rules.d')}\n"
    assert mdstat(guest).count("active") == 1


@pytest.mark.later
@pytest.mark.parametrize("what", ["the state folder", "a link to one of theirs", "the folder of jobs"])
def test_a_folder_of_another_user(mirror: Guest, what: str) -> None:
    """It is said by each command; no job in it is listed or begun."""
    guest, (_, _, *free) = mirror, disk_names(mirror)
    plan(guest, "create", "--name=new", "--level=raid1", *free[:2])
    make = {
        "the state folder": f"mkdir {STATE}; chown 65534 {STATE}",
        "a link to one of theirs": f"mkdir /tmp/other; chown 65534 /tmp/other; ln -s /tmp/other {STATE}",
        "the folder of jobs": f"mkdir -m 777 -p {STATE} {JOBS}/20260101-000000-x; chown -R 65534 {JOBS}",
    }
    guest.run(f"rm -rf {STATE}; {make[what]}; touch {JOBS}/20260101-000000-x/plan.json")
    folder = JOBS if what == "the folder of jobs" else STATE
    whose = f"{folder} belongs to user 65534, not to root"
    warning = f"raidtui: {whose}; check what is in it, then give it to root\n"
    for words in (("status",), ("jobs",), ("wear",)):
        assert raidtui(guest, *words).stderr.startswith(warning)
    noted = "" if folder == JOBS else NOT_NOTED.format(whose)
    assert tune(guest, 300)[:2] == (0, warning + noted)
    done = raidtui(guest, "apply", "--confirm=new", PLAN)
    said = f"{warning}raidtui: a job cannot be created in {JOBS}: {whose}; nothing was started\n"
    assert (done.status, done.stderr) == (2, said)
    assert mdstat(guest).count("active") == 1


# -- jobs under way


@pytest.mark.later
def test_a_job_that_is_edited_while_it_runs(mirror: Guest) -> None:
    """The worker goes by the plan that it has read; nobody resumes or takes back another one."""
    guest = mirror
    job, *_ = copying(guest)
    guest.run(f"echo garbage >{JOBS}/{job}/plan.json; printf '\\0\\0\\0' >>{JOBS}/{job}/journal.jsonl")
    full_speed(guest)
    wait_until(lambda: states(guest) == ["interrupted"], 60, "its worker has ended")
    for order, status in (("resume", 1), ("rollback", 2)):
        done = raidtui(guest, "jobs", order, job)
        assert done.status == status
        assert "not a plan: JSON is malformed" in done.output


@pytest.mark.later
def test_a_job_whose_folder_is_removed_while_it_runs(mirror: Guest) -> None:
    guest = mirror
    job, worker, following = copying(guest)
    guest.run(f"rm -r {JOBS}/{job}")
    full_speed(guest)
    done = following.wait(260)
    assert done.status == 1
    assert done.stdout.endswith(
        f"Job {job} no longer exists: its folder was removed. To see what md does: raidtui status\n"
    )
    wait_until(lambda: guest.run(f"test -d /proc/{worker}").status != 0, 60, "its worker has ended")
    assert states(guest) == []


def test_whatever_the_clock_is_set_to(mirror: Guest) -> None:
    """A worker is known, stopped or not; what was set last is undone first; a killed one is resumed."""
    guest = mirror
    job, worker, _ = copying(guest)
    disk = disk_names(guest)[0]
    now = int(guest.run("date +%s").stdout)
    guest.run(f"kill -STOP {worker}")
    try:
        for value, at_s in ((300, now - 400 * 86400), (304, now + 4000 * 86400), (308, 86400)):
            guest.run(f"date -s @{at_s}")
            assert states(guest) == ["goes on"]
            assert tune(guest, value) == (0, "", str(value))
            assert raidtui(guest, "status").status == 0
        for value in (304, 300):
            assert raidtui(guest, "tune", "undo").status == 0
            assert guest.run(f"cat /sys/block/{disk}/queue/read_ahead_kb").stdout == f"{value}\n"
        cancelled = raidtui(guest, "jobs", "cancel", job)
        assert cancelled.stderr.endswith(f"to end that: raidtui jobs rollback {job}\n")
    finally:
        guest.run(f"date -s @{now}; kill -CONT {worker}; kill -KILL {worker}")
    wait_until(lambda: states(guest) == ["interrupted"], 60, "its worker is gone")
    full_speed(guest)
    done = raidtui(guest, "jobs", "resume", job)
    assert (done.status, states(guest)) == (0, ["done"]), done.output


@pytest.mark.later
def test_lent_limits_stay_with_their_process_over_a_jump_of_the_clock(mirror: Guest) -> None:
    guest = mirror
    before = limits(guest)
    guest.run("echo 1000 >/proc/sys/dev/raid/speed_limit_max; echo check >/sys/block/md127/md/sync_action")
    assert started(guest, "pace", "127", "--latency", "200").status == 0
    wait_until(lambda: "local" in "".join(limits(guest)), 60, "limits are lent")
    try:
        guest.run("date -s @$(($(date +%s) + 86400))")
        back = raidtui(guest, "pace", "--restore")
        assert back.stdout.endswith(" has its limits and is at work\n"), back.output
        assert "local" in "".join(limits(guest))
    finally:
        guest.run("date -s @$(($(date +%s) - 86400)); echo idle >/sys/block/md127/md/sync_action")
    wait_until(lambda: states(guest) == ["done"], 60, "it has ended")
    guest.run("echo 200000 >/proc/sys/dev/raid/speed_limit_max")
    assert limits(guest) == before


# -- words and tools


@pytest.mark.later
def test_hostile_words_of_an_alert_stay_in_their_line(mirror: Guest) -> None:
    guest = mirror
    guest.run(
        "mkdir /tmp/other; printf '#!/bin/sh\\ncat >>/tmp/other/mail\\n' >/tmp/other/sendmail"
        " && chmod +x /tmp/other/sendmail"
        " && mkdir /etc/raidtui && cat >/etc/raidtui/alerts.toml <<'END'\n"
        '[channels.x]\nsendmail = "root"\nprogram = "/tmp/other/sendmail"\nEND'
    )
    raidtui(guest, "alert", "--event", "Fail\nBcc: evil@x\n", "/dev/md127\x1b[2J", "/dev/ubda\r\nX: y")
    raidtui(guest, "alert", "--event", "Fail", "/dev/md127", "A" * 100_000)
    smart = "SMARTD_ADDRESS='|sh' SMARTD_FAILTYPE=$'x\\nBcc: e' SMARTD_DEVICE=$'/dev/sda\\x1b[2J'"
    smart += " SMARTD_MESSAGE=$'a\\nBcc: evil\\n\\x1b[2J'"
    guest.run(f"{smart} {' '.join(RAIDTUI)} alert --smartd")
    raidtui(guest, "alert", "--send")
    wait_until(lambda: mail(guest).count("\nSubject:") == 3, 60, "three alerts are sent")
    heads = re.findall(r"(?im)^(to|bcc|x|subject):", mail(guest))
    assert heads == ["To", "Subject"] * 3
    assert "\x1b" not in mail(guest)


def mail(guest: Guest) -> str:
    """What the program that sends was given."""
    return guest.run("cat /tmp/other/mail").stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exec sleep 1000", "it does not answer"),
        later("exit 0", "mdadm --examine says nothing about it"),
        later("echo garbage; exit 1", "garbage"),
    ],
    ids=["hangs", "silent", "garbage"],
)
def test_an_mdadm_that(mirror: Guest, text: str, why: str) -> None:
    """An array at rest is not taken for none, nor its members for free; no process is left."""
    guest, (one, other, free, *_) = mirror, disk_names(mirror)
    guest.run(
        "mdadm --stop /dev/md127; udevadm settle"
        f" && printf '#!/bin/sh\\n{text}\\n' >/tmp/mdadm && chmod +x /tmp/mdadm"
    )
    guest.run("mount --bind /tmp/mdadm $(readlink -f /usr/sbin/mdadm)")
    try:
        create = ("plan", "create", "--name=n", "--level=raid1", one, free)
        begun = [guest.spawn(shlex.join((*RAIDTUI, *words))) for words in (("rescue",), ("status",), create)]
        rescue, *others = [each.wait(240) for each in begun]
        for done in (rescue, *others):
            assert done.status == 3, done.output
            assert "Traceback" not in done.output
        assert f"raidtui: what is on {other} is not known: " in rescue.output
        assert why in rescue.output
        assert guest.run("pgrep -f '[u]sr/sbin/mdadm'").stdout == ""
    finally:
        guest.run("umount -l $(readlink -f /usr/sbin/mdadm)")
