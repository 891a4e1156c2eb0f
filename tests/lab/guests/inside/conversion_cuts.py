"""Runs in the guest whose power is cut: a conversion up to a point, and after the boot what is left of it.

On the array is a file system. While md moves the data, files are written to it and synced; of each, the host
has its digest. After the boot, what raidtui offers brings the conversion to its end.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import shlex
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raidtui.host.facts import kernel_name
from raidtui.host.readers.opening import open_root
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import load_plan
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.worker import work_on
from tests.lab.guests.inside import runs
from tests.lab.guests.inside.cases import exports, speed
from tests.lab.guests.inside.conversion_table import BACKUP, TABLE, Conversion
from tests.lab.guests.inside.power_runs import FAST_KIB_S, SLOW_KIB_S, cut, inside_disks, mount_state
from tests.lab.guests.inside.runs import job_of, planned, printed, sh

KEPT, WRITTEN, MET = Path("/run/lab/kept.json"), Path("/run/lab/written"), Path("/run/lab/met")
FILLED_MIB = 16
SHAPE = ("level", "raid_disks", "layout", "chunk_size", "degraded", "sync_action", "reshape_position")
PLACE = Path("/srv")
_PATIENCE_S = 400.0
_SETTLED_S = 30
_STEPS_EVENTS = 10
"""How many events a step has, about: entries of the journal that are synced, and tools."""
_PERCENT = re.compile(r"= *([0-9.]+)%")
_MOST_FILES = 24


def until(predicate: Callable[[], object], what: str) -> None:
    """Wait for a state, as long as a loaded machine may take; see ``runs.until``."""
    runs.until(predicate, what, _PATIENCE_S)


def attribute(kernel: str, name: str) -> str:
    """Return a file of md, "" where it is not there."""
    with contextlib.suppress(OSError):
        return Path(f"/sys/block/{kernel}/md/{name}").read_text().strip()
    return ""


class Going:
    """A conversion up to its point.

    Args:
        conversion: which.
        point: one of ``POINTS``.
        rng: of the seed.
    """

    def __init__(self, conversion: Conversion, point: str, rng: random.Random) -> None:
        self._conversion = conversion
        self._point = point
        self._rng = rng
        self._disks = tuple(f"{name}1" for name in inside_disks())
        self._seen = False

    def go(self) -> None:
        """Do it, and cut the power at the point."""
        self._make()
        words = (word.format(*self._disks) for word in self._conversion.words)
        file = planned(*words)
        self._slow()
        job = job_of(file)
        sh("sync")
        if self._point == "first":
            self._meet("nothing is begun")
        waits = [number for number, step in enumerate(file.plan.steps) if step.waits]
        if not waits and self._point.isdecimal():
            self._cut_at_event(len(file.plan.steps))
        if not any(word == "shrink" for word in self._conversion.words):
            threading.Thread(target=write_on, args=(self._rng.randrange(1 << 30),), daemon=True).start()
        pid = os.fork()
        if pid == 0:
            os._exit(work_on(open_root("/"), job.folder))
        until(lambda: self._is_met(job, waits), "the point")
        ended = os.waitpid(pid, os.WNOHANG)[0]
        if job.state == "failed":
            raise RuntimeError(f"the job failed: {runs.last_reason(job)}")
        if self._point.isdecimal():
            time.sleep(self._rng.choice((0.0, self._rng.uniform(0.0, 0.1))))
        self._meet(f"{self._far(job, waits):.3f}{' the worker had ended' if ended else ''}: {job.state}")

    def _make(self) -> None:
        conversion = self._conversion
        for name in inside_disks():
            sh(f"echo 2048,{2 * conversion.part_kib} | sfdisk --quiet /dev/{name}; udevadm settle")
        devices = self._disks[: conversion.disks]
        bitmap = "internal" if conversion.level in {5, 6, 10} else "none"
        words = [f"--level={conversion.level}", f"--raid-devices={len(devices)}"]
        words += [f"--bitmap={bitmap}", f"--size={FILLED_MIB}M", "--assume-clean"] if conversion.level else []
        words += ["--chunk=64"] if conversion.level != 1 else []
        paths = " ".join(f"/dev/{name}" for name in devices)
        Path(BACKUP).parent.mkdir(parents=True, exist_ok=True)
        sh(
            "mdadm --create /dev/md/125 --run --homehost=lab --metadata=1.2"
            f" {' '.join((*words, *conversion.extra))} {paths} 2>/dev/null; udevadm settle"
            f"; mkfs.ext4 -q -F /dev/md/125 && mkdir -p {PLACE} && mount /dev/md/125 {PLACE}"
        )
        place = os.statvfs(PLACE)
        noise = random.Random(self._rng.randrange(1 << 30))
        digest = hashlib.sha256()
        with (PLACE / "noise").open("wb") as file:
            for _ in range(place.f_bavail * place.f_bsize * 2 // 5 >> 16):
                piece = noise.randbytes(1 << 16)
                digest.update(piece)
                file.write(piece)
        uuid = exports("/dev/md/125")["MD_UUID"]
        KEPT.write_text(json.dumps({"uuid": uuid, "noise": digest.hexdigest()}))
        sh(f"sync{f'; umount {PLACE}' if conversion.words[0] == 'shrink' else ''}")

    def _slow(self) -> None:
        """Let all that moves take some seconds."""
        filled = FILLED_MIB << 10
        kib = filled if self._conversion.level else self._conversion.part_kib
        if "--size=max" in self._conversion.words:
            kib = self._conversion.part_kib - filled
        speed(int(kib / self._rng.uniform(5.0, 12.0)))

    def _cut_at_event(self, steps: int) -> None:
        """Nothing moves: cut at an event of the job, which is as far in it as the point says."""
        number, happenings = max(1, int(self._point) * steps * _STEPS_EVENTS // 100), 0
        parent = os.getpid()

        def happens() -> None:
            nonlocal happenings
            happenings += os.getpid() != parent
            if happenings == number:
                self._meet(f"event {number}")

        runs.at_each_event(happens)

    def _is_met(self, job: Job, waits: list[int]) -> bool:
        if job.state in {"done", "failed"}:
            return True
        if self._point == "last":
            return False
        if self._point != "over":
            return bool(waits) and self._far(job, waits) >= int(self._point) / 100
        moving = percent() is not None
        self._seen = self._seen or (moving and self._far(job, waits) > 1 - 1 / len(waits))
        return self._seen and not moving

    def _far(self, job: Job, waits: list[int]) -> float:
        """Return the part of all that moves which is done."""
        if not waits:
            return 1.0
        done, _ = job.done_steps()
        over = len(done & set(waits))
        begun = over < len(waits) and waits[over] - 1 in done  # a resync of another kind is none of it
        return (over + ((percent() or 0.0) if begun else 0.0)) / len(waits)

    def _meet(self, words: str) -> None:
        mdstat = sh("cat /proc/mdstat; grep -H . /sys/block/md125/md/reshape_position || true")
        MET.write_text(f"{words}\n{mdstat}")
        cut()


def percent() -> float | None:
    """Return how far md is, from 0 to 1; None where nothing moves."""
    found = _PERCENT.search(Path("/proc/mdstat").read_text())
    return float(found[1]) / 100 if found else None


def write_on(seed: int) -> None:
    """Write files without end, each of them synced, and then noted on the host with its digest."""
    rng, number = random.Random(seed), 0
    with WRITTEN.open("a") as notes:

        def note(words: str) -> None:
            notes.write(f"{words}\n")
            notes.flush()
            os.fsync(notes.fileno())

        while True:
            number += 1
            place = os.statvfs(PLACE)
            if number > _MOST_FILES or place.f_bavail * place.f_bsize < 1 << 20:
                old = max(1, number - _MOST_FILES)
                if (PLACE / f"file-{old}").exists():
                    note(f"- {old}")
                    (PLACE / f"file-{old}").unlink()
            data = rng.randbytes(rng.randrange(1 << 12, 1 << 16))
            with contextlib.suppress(OSError), (PLACE / f"file-{number}").open("wb", buffering=0) as file:
                if file.write(data) == len(data):
                    os.fsync(file.fileno())
                    folder = os.open(PLACE, os.O_RDONLY)
                    os.fsync(folder)
                    os.close(folder)
                    note(f"+ {number} {hashlib.sha256(data).hexdigest()}")
            time.sleep(rng.uniform(0.0, 0.05))


class Looking:
    """What is left after the boot, and the way to the end.

    Args:
        conversion: which.
    """

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion
        self._kept: dict[str, Any] = json.loads(KEPT.read_text())
        self.wrong: list[str] = []
        self.notes: list[str] = []

    def look(self) -> None:
        """Bring it to its end by what raidtui offers; note what is wrong, and what was done."""
        settled = boot()
        kernel = self._found()
        if kernel is None:
            return
        if not settled:
            self.notes.append("udev waits for the array")
            if attribute(kernel, "reshape_position") == "none":
                self.wrong.append("udev waits for an array that is not reshaped")
        speed(SLOW_KIB_S)
        if attribute(kernel, "array_state") in {"read-auto", "readonly"}:
            self.notes.append("read-write")
            try:
                self._carried_out("read-write", kernel)
            except RuntimeError as error:  # refused: what it says is done
                self.notes.append(str(error))
                self._carried_out("stop", kernel)
                sh("udevadm settle")
                if (kernel := self._found()) is None:
                    return
                if attribute(kernel, "array_state") in {"read-auto", "readonly"}:
                    self._carried_out("read-write", kernel)
        self._compared(kernel, "after the boot", keep=True)
        for job in [each for each in all_jobs() if each.command != "rescue" and each.plan.arrays]:
            self._resumed(job)
        kernel = kernel_name(open_root("/"), self._kept["uuid"]) or kernel
        speed(FAST_KIB_S)
        until(lambda: is_at_rest(kernel), "the end of all that moves")
        sh("udevadm settle")
        found = [word for name in SHAPE for word in attribute(kernel, name).split()]
        if found[0] == "raid0" and found[2] == "-1":
            found[2] = "0"  # its superblock has no layout, which only zones of unequal members need
        if found != self._conversion.wanted.split():
            self.wrong.append(f"it is {' '.join(found)}")
        self._compared(kernel, "at the end", keep=False)
        if attribute(kernel, "sync_action") == "idle":
            Path(f"/sys/block/{kernel}/md/sync_action").write_text("check")
            until(lambda: attribute(kernel, "sync_action") == "idle", "the end of the check")
            if (count := attribute(kernel, "mismatch_cnt")) != "0":
                self.wrong.append(f"{count} sectors of copies or parity differ")

    def _found(self) -> str | None:
        """Return the kernel's name of the array, which is started by what raidtui offers."""
        uuid = self._kept["uuid"]
        said = printed_anyhow("status", "--json")
        if uuid not in said and uuid.replace(":", "") not in said:
            self.notes.append("not in status")
        if (kernel := running(uuid)) is not None:
            return kernel
        report = json.loads(printed_anyhow("rescue", "--json"))
        array = next((each for each in report["arrays"] if each["uuid"] == uuid), None)
        if array is None:
            self.wrong.append(f"the array is not found: {sh('cat /proc/mdstat')}{report}")
            return None
        ways = [way for way in array["ways"] if way["possible"] and way["code"] in WAYS]
        for way in sorted(ways, key=lambda each: WAYS.index(each["code"])):
            self.notes.append(f"rescue {way['code']}")
            try:
                self._rescued(way)
            except (RuntimeError, JobError) as error:
                self.notes.append(str(error))
            if (kernel := running(uuid)) is not None:
                return kernel
        self.wrong.append(f"no way starts the array: {array['ways']}\n{sh('cat /proc/mdstat')}")
        return None

    def _rescued(self, way: dict[str, Any]) -> None:
        """Try a way back on overlays, and do what was tried."""
        outcome = json.loads(printed_anyhow("rescue", "try", way["code"], *way["devices"], "--json"))
        if "job" not in outcome:
            raise RuntimeError(f"refused: {outcome}")
        if outcome["proof"]["check"] != "clean":  # nobody goes on with what the trial has shown to be damaged
            raise RuntimeError(f"not clean: {outcome['proof']}")
        file = load_plan(printed("rescue", "plan", outcome["job"], "--json"))
        self._ended(job_of(file))

    def _carried_out(self, *words: str) -> None:
        self._ended(job_of(planned(*words)))

    def _resumed(self, job: Job) -> None:
        state = job.state
        self.notes.append(f"the job is {state}")
        if state in {"made", "interrupted", "failed"}:
            self._ended(job, fast=True)
        elif state != "done":
            self.wrong.append(f"the job is {state}")

    def _ended(self, job: Job, *, fast: bool = False) -> None:
        """Work on a job to its end; ``fast`` is md when the job waits for it."""
        before = len(job.entries())
        runs.work(job)  # while md is slow: it may have to end a resync before a step
        if fast:
            speed(FAST_KIB_S)
        until(lambda: job.state not in {"goes on", "running"}, "the job's end")
        if job.state != "done":
            keys = ("event", "step", "reason", "text", "command")
            events = [[entry[key] for key in keys if key in entry] for entry in job.entries()[before:]]
            self.wrong.append(f"{job.plan.title} ended as {job.state}: {events}\n{sh('cat /proc/mdstat')}")

    def _compared(self, kernel: str, when: str, *, keep: bool) -> None:
        """Compare all files; then the array is as it was: in use, where it was in use."""
        sh("echo 3 >/proc/sys/vm/drop_caches")
        if not PLACE.is_mount():
            PLACE.mkdir(exist_ok=True)
            sh(f"mount /dev/{kernel} {PLACE}")
        if hashed(PLACE / "noise") != self._kept["noise"]:
            self.wrong.append(f"{when}: the noise differs")
        wanted: dict[str, str] = {}
        for line in WRITTEN.read_text().splitlines() if WRITTEN.exists() else []:
            sign, number, *rest = line.split(" ")
            if sign == "+":
                wanted[number] = rest[0]
            else:
                wanted.pop(number, None)
        bad = [number for number, digest in wanted.items() if hashed(PLACE / f"file-{number}") != digest]
        if bad:
            self.wrong.append(f"{when}: of {len(wanted)} files these differ: {' '.join(bad)}")
        if not keep or self._conversion.words[0] == "shrink":
            sh(f"umount {PLACE}")
        if not keep:
            checked = sh(f"e2fsck -fn /dev/{kernel} 2>&1 || echo status $?")
            if "status " in checked:
                self.wrong.append(f"{when}: e2fsck: {checked}")


WAYS = (
    "start", "continue-reshape", "degraded", "continue-reshape-without-backup", "force",
)  # fmt: skip
"""The ways back, from harmless to drastic."""


def boot() -> bool:
    """Do what systemd does on Debian after udev: mdadm-last-resort@.service for arrays that were not started.

    Returns whether udev has ended. Where a reshape stands still, Linux 6 does not answer a read at its place
    until it goes on; as a boot does, this goes on without udev then.
    """
    sh(f"udevadm settle --timeout={_SETTLED_S} || true")
    for md in Path("/sys/block").glob("md*/md"):
        if not (md / "sync_action").exists() and attribute(md.parent.name, "array_state") == "inactive":
            sh(f"mdadm --run /dev/{md.parent.name} 2>&1 || true")
    return "waits" not in sh(f"udevadm settle --timeout={_SETTLED_S} || echo waits")


def running(uuid: str) -> str | None:
    """Return the kernel's name of an array that runs."""
    kernel = kernel_name(open_root("/"), uuid)
    if kernel is None or attribute(kernel, "array_state") in {"", "inactive", "clear"}:
        return None
    return kernel


def is_at_rest(kernel: str) -> bool:
    """Whether nothing of an array is under way, or waits."""
    return (
        attribute(kernel, "sync_action") in {"", "idle"}
        and attribute(kernel, "reshape_position") in {"", "none"}
        and attribute(kernel, "degraded") in {"", "0"}
        and percent() is None
    )


def hashed(path: Path) -> str:
    """Return a file's digest, or why there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error)


def printed_anyhow(*words: str) -> str:
    """Return what raidtui prints, whatever it ends with."""
    return sh(f"{shlex.join((sys.executable, '-m', 'raidtui', *words))} || true")


def main() -> None:
    """``go NAME POINT SEED``, or ``look NAME``; look prints JSON: wrong, notes."""
    order, name, *rest = sys.argv[1:]
    if order == "go":
        mount_state(new=True)
        Going(TABLE[name], rest[0], random.Random(int(rest[1]))).go()
    looking = Looking(TABLE[name])
    try:
        mount_state(new=False)
        looking.look()
    except Exception:  # noqa: BLE001  (whatever it is, the report has to have it)
        looking.wrong.append(traceback.format_exc())
    if looking.wrong:
        looking.notes.append(sh("cat /proc/mdstat; dmesg | tail -n 25"))
    sys.stdout.write(json.dumps({"wrong": looking.wrong, "notes": looking.notes}))


if __name__ == "__main__":
    main()
