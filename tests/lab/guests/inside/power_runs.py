"""Runs in the guest whose power is cut: makes an array and a plan, carries it out, looks at what is left."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

from raidtui.host.facts import kernel_name
from raidtui.host.readers.opening import open_root
from raidtui.jobs import blackbox
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import PlanFile, load_plan
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.worker import work_on
from raidtui.model.plan import Harm
from tests.lab.guests.inside import runs
from tests.lab.guests.inside.cases import Data, clear, digest, speed
from tests.lab.guests.inside.runs import at_each_event, job_of, planned, printed, sh, until

CUT, KEPT = Path("/run/lab/cut"), Path("/run/lab/kept.json")
KINDS = (
    "rename", "create", "replace", "add", "re-add", "fail", "remove", "bitmap", "grow-chunk",
    "zero-superblock", "stop", "rescue-force", "rescue-create", "grow", "convert",
)  # fmt: skip
_STAGED = {"grow", "convert"}
_RESCUES = {"rescue-force", "rescue-create"}
STATE, MOST = "ubdh", 70
SLOW_KIB_S, FAST_KIB_S = 4000, 500_000
LATER = {"done", "failed", "goes on", "interrupted", "made", "rolled back"}


def mount_state(*, new: bool) -> None:
    """The jobs and mdadm's configuration lie on a file system of a disk: what is not synced there is lost."""
    if new:
        sh(f"mkfs.ext4 -q -F /dev/{STATE}")
    sh(f"mkdir -p /var/lib/raidtui && mount /dev/{STATE} /var/lib/raidtui && mkdir -p /var/lib/raidtui/mdadm")
    if new:
        sh("cp -a /etc/mdadm/. /var/lib/raidtui/mdadm/ && sync")
    sh("mount --bind /var/lib/raidtui/mdadm /etc/mdadm")


def prepared(kind: str, rng: random.Random) -> PlanFile:
    """Make an array of noise, and the plan."""
    if kind in _RESCUES:
        return rescued(kind, rng)
    disks = inside_disks()
    shapes = {"rename": ("raid10", 4), "grow-chunk": ("raid5", 3), "grow": ("raid5", 3)}
    level, count = shapes.get(kind, ("raid1", 2))
    data = Data(level, disks[:count], size_mib=16)
    first, free, other = disks[0], disks[4], disks[5]
    if kind == "re-add":
        sh("mdadm --grow /dev/md/127 --bitmap=internal")
    if kind in {"remove", "add", "re-add", "zero-superblock"}:
        sh(f"mdadm /dev/md/127 --fail /dev/{first}; udevadm settle")
    if kind in {"add", "re-add", "zero-superblock"}:
        sh(f"mdadm /dev/md/127 --remove /dev/{first}; udevadm settle")
    if kind == "add":
        clear(first)
    if kind in {"create", "replace"}:
        sh(f"mkfs.ext4 -q -F -L old /dev/{free}; udevadm settle")
    words = {
        "rename": ("127", "--to=126"),
        "create": ("--name=128", "--level=raid1", free, other),
        "replace": ("127", first, "--with", free),
        "add": ("127", first),
        "re-add": ("127", first),
        "fail": ("127", first),
        "remove": ("127", first),
        "bitmap": ("127", "internal"),
        "grow-chunk": ("127", "32"),
        "grow": ("127", "--add", free),
        "convert": ("127", "--level=6", "--add", free, other),
        "zero-superblock": (first,),
        "stop": ("127",),
    }[kind]
    kept = {"kind": kind, "uuid": data.uuid, "digest": data.digest, "bytes": data.bytes}
    KEPT.write_text(json.dumps(kept))
    speed(rng.choice((4000, 16000) if kind in _STAGED else (200, 4000, FAST_KIB_S)))
    made = planned(kind, *words)
    sh("sync")
    return made


def rescued(kind: str, rng: random.Random) -> PlanFile:
    """Make a wreck, try its way back, and make the plan of what was tried."""
    disks = inside_disks()[:4]
    data = Data("raid5", disks, size_mib=16)
    sh("mkfs.ext4 -q -F /dev/md/127 && mkdir -p /run/place && mount /dev/md/127 /run/place")
    sh("dd if=/dev/urandom of=/run/place/file bs=1M count=8 2>/dev/null; umount /run/place; sync")
    kept = {"kind": kind, "uuid": data.uuid, "digest": digest("/dev/md/127")}
    if kind == "rescue-force":
        for disk in reversed(disks[2:]):
            sh(f"mdadm /dev/md/127 --fail /dev/{disk} 2>/dev/null; udevadm settle")
    sh("udevadm settle; mdadm --stop /dev/md/127; udevadm settle")
    words = ["force", *disks[:3]]
    if kind == "rescue-create":
        for disk in disks:
            sh(f"mdadm --zero-superblock /dev/{disk}; udevadm settle")
        geometry = "level=5,layout=left-symmetric,chunk=64,offset=2048,size=32768"
        words = [
            *("rebuild-superblocks", *disks, "--overlays", f"--geometry={geometry}"),
            *("--name=127", f"--uuid={data.uuid}"),
        ]
    KEPT.write_text(json.dumps(kept | {"members": members()}))
    outcome = json.loads(printed("rescue", "try", *words, "--json"))
    speed(rng.choice((200, 4000, FAST_KIB_S)))
    made = load_plan(printed("rescue", "plan", outcome["job"], "--json"))
    sh("sync")
    return made


def members() -> list[str]:
    """Digests of the disks that a rescue is about."""
    return [digest(f"/dev/{disk}") for disk in inside_disks()[:4]]


def inside_disks() -> tuple[str, ...]:
    """The disks for arrays."""
    return tuple(f"ubd{letter}" for letter in "abcdefg")


def carry_out(kind: str, seed: int) -> None:
    """Carry out the plan, and cut the power at the Nth event or a moment later."""
    rng = random.Random(seed)
    file = prepared(kind, rng)
    number, after_s = rng.randrange(1, MOST), rng.choice((0.0, 0.0, rng.uniform(0.0, 0.3)))
    job = job_of(file)
    happenings = 0

    def happens() -> None:
        nonlocal happenings
        happenings += 1
        if happenings == number and after_s:
            threading.Timer(after_s, cut).start()
        elif happenings == number:
            cut()

    at_each_event(happens)
    pid = os.fork()
    if pid == 0:
        os._exit(work_on(open_root("/"), job.folder))
    ends = set() if kind in _STAGED else {"goes on"}  # those with stages do steps afterwards
    until(lambda: os.waitpid(pid, os.WNOHANG)[0] or job.state in ends, "the worker's end")
    Path("/run/lab/ended").write_text(job.state)
    cut()


def cut() -> None:
    """Ask for the power cut and wait for it."""
    CUT.touch()
    while True:
        time.sleep(60)


def look(seed: int) -> list[str]:
    """After the next boot: what is wrong with data, jobs and black box; then resume or roll back."""
    rng = random.Random(seed + 1)
    kept = json.loads(KEPT.read_text())
    if kept["kind"] in _RESCUES:
        return look_at_a_rescue(kept, back=rng.random() < 0.5)
    # An array that was started at boot copies nothing before it is written to; and while a reshape stands
    # still, a read at its place waits for ever (raidtui.model.reshape_place).
    speed(SLOW_KIB_S)
    wrong = assembled(kept)
    jobs = all_jobs()
    for job in jobs:
        wrong += whole(job)
    speed(FAST_KIB_S)
    for job in jobs:
        wrong += brought_to_an_end(job, back=rng.random() < 0.5)
    return wrong + assembled(kept)


def look_at_a_rescue(kept: dict[str, Any], *, back: bool) -> list[str]:
    """As ``look``: taken back, the members are what they were; done, the array has its data."""
    sh("udevadm settle")
    jobs = [job for job in all_jobs() if job.command != "rescue"]
    wrong = [text for job in jobs for text in whole(job)]
    for job in jobs:
        wrong += brought_to_an_end(job, back=back)
    sh("echo 3 >/proc/sys/vm/drop_caches")
    if [job for job in jobs if job.state == "done"]:
        wrong += assembled(kept)
    elif members() != kept["members"]:
        wrong.append(f"the members differ: {[job.state for job in jobs]}")
    return wrong + [line for line in printed("rescue", "clean").decode().splitlines() if "left:" in line]


def assembled(kept: dict[str, Any]) -> list[str]:
    """Start what udev has not started for want of members, make it writable, and compare the data."""
    sh("udevadm settle; mdadm --incremental --run --scan 2>/dev/null; udevadm settle")
    name = kernel_name(open_root("/"), kept["uuid"])
    if name is None:
        sh("mdadm --assemble --scan --run 2>/dev/null || true; udevadm settle")
        name = kernel_name(open_root("/"), kept["uuid"])
    if name is None:
        return [f"the array is gone: {sh('cat /proc/mdstat; mdadm --examine --scan')}"]
    sh(f"mdadm --readwrite /dev/{name} 2>/dev/null; echo 3 >/proc/sys/vm/drop_caches")
    size = Path(f"/sys/block/{name}/size").read_text()
    same = digest(f"/dev/{name}", kept.get("bytes")) == kept["digest"]
    return [] if same else [f"the data of {name} ({size}) differ"]


def whole(job: Job) -> list[str]:
    """What is wrong with a job right after the boot."""
    entries, state = job.entries(), job.state
    begun = any(entry.get("event") == "begin" for entry in entries)
    wrong = []
    if begun and job.plan.harm is Harm.DESTROYS and (damaged := blackbox.damage(job.folder / "blackbox")):
        wrong.append(f"the black box: {damaged}")
    if state not in LATER - {"goes on"}:
        wrong.append(f"the job is {state}")
    ended = Path("/run/lab/ended")
    said = ended.read_text() if ended.exists() else ""
    if said and state != said.replace("goes on", "interrupted"):
        wrong.append(f"the job had said {said}, and is {state}")
    return wrong


def brought_to_an_end(job: Job, *, back: bool) -> list[str]:
    """Resume a job, or roll it back; return what is wrong afterwards."""
    if job.state not in {"made", "interrupted", "failed"}:
        return []
    if back:
        try:
            job.refuse_back()
        except JobError:
            return []
    before = len(job.entries())
    runs.work(job, back=back)
    until(lambda: job.state not in {"goes on", "running"}, "the job's end")
    last = job.entries()[-1]
    good = {"rolled back"} if back else {"done"}
    if job.state in good or str(last.get("event")) == "not begun":
        return []
    keys = ("at_s", "event", "reason", "text")
    events = [[entry[key] for key in keys if key in entry] for entry in job.entries()[before:]]
    left = sh(f"wipefs {' '.join(f'/dev/{name}' for name in inside_disks())}; cat /proc/mdstat")
    return [f"{'rollback' if back else 'resume'} ended as {job.state}: {events}\n{left}"]


if __name__ == "__main__":
    order, kind, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if order == "go":
        mount_state(new=True)
        carry_out(kind, seed)
    mount_state(new=False)
    sys.stdout.write(json.dumps(look(seed)))
