"""Runs in the guest: rename, create and replace, done again and again on small arrays; see ``inside``."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from raidtui.jobs.lock import JobError, worker_of
from raidtui.jobs.plan_file import PlanFile, save_plan
from raidtui.jobs.spawn import cancel
from raidtui.jobs.store import Job
from tests.lab.guests.inside import runs
from tests.lab.guests.inside.runs import (
    Case,
    break_mdadm,
    everywhere,
    failing,
    full_everywhere,
    job_of,
    outlived,
    planned,
    sh,
    small_var,
    until,
    work,
)

__all__ = [
    "Case", "Create", "Data", "Rename", "Replace", "back", "break_mdadm", "checked", "copied",
    "everywhere", "failing", "filled", "full_everywhere", "job_of", "outlived", "planned", "runs", "save",
    "sh", "small_var", "stopped_outside", "taken_back", "until", "work",
]  # fmt: skip

RENAME = "Rename(Data('raid10', ('ubda', 'ubdb', 'ubdc', 'ubdd')))"
CREATE = "Create(('ubda', 'ubdb'))"
REPLACE = "Replace(Data('raid1', ('ubda', 'ubdb'), 32), 'ubde')"
"""How the host asks for them: see ``tests.lab.guests.jobs.results``."""

CONF = Path("/etc/mdadm/mdadm.conf")
_BLOCK = Path("/sys/block")


def exports(path: str) -> dict[str, str]:
    """`mdadm --detail --export`."""
    lines = sh(f"mdadm --detail --export {path}").split("\n")
    return dict(line.split("=", 1) for line in lines if "=" in line)


def digest(path: str, most: int | None = None) -> str:
    """Return a digest of a device, of its first ``most`` bytes where it has become larger.

    It is read without a buffer of the device's size: page faults cost much here.
    """
    with Path(path).open("rb") as file:
        if most is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        found = hashlib.sha256()
        while most > 0 and (piece := file.read(min(1 << 18, most))):
            found.update(piece)
            most -= len(piece)
    return found.hexdigest()


def state_of(kernel: str, device: str) -> str | None:
    """A member's words in sysfs; None for no member."""
    with contextlib.suppress(OSError):
        return (_BLOCK / kernel / "md" / f"dev-{device}" / "state").read_text().strip()
    return None


def speed(kib_s: int) -> None:
    """The least and the most for every resync."""
    sh(f"cd /proc/sys/dev/raid; echo {kib_s} >speed_limit_min; echo {kib_s} >speed_limit_max")


def clear(*disks: str) -> None:
    """Empty disks, as they were at first: nothing but zeros where anybody looks."""
    for disk in disks:
        with Path(f"/dev/{disk}").open("r+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            for place in (0, end - (1 << 20)):
                file.seek(place)
                file.write(bytes(1 << 20))
            os.fsync(file.fileno())
    sh("udevadm settle")


class Data:
    """An array full of noise, in sync; of each disk, so much is used."""

    def __init__(self, level: str, disks: tuple[str, ...], size_mib: int = 8) -> None:
        self.disks = list(disks)
        self.name, self.kernel = "127", "md127"
        words = f"--level={level} --raid-devices={len(disks)} --size={size_mib << 10} --assume-clean"
        chunk = "" if level == "raid1" else "--chunk=64"
        paths = " ".join(f"/dev/{disk}" for disk in disks)
        sh(
            f"mdadm --create /dev/md/127 --run --homehost=lab --metadata=1.2 --bitmap=none {words} {chunk}"
            f" {paths} 2>/dev/null; udevadm settle"
            # no noise at its beginning: one in 256 is a partition table (ADFS)
            "; dd if=/dev/zero of=/dev/md/127 bs=1M count=1 2>/dev/null"
            "; dd if=/dev/urandom of=/dev/md/127 bs=1M seek=1 2>/dev/null; sync"
        )
        self.digest = digest("/dev/md/127")
        self.bytes = 512 * int((_BLOCK / "md127" / "size").read_text())
        self.uuid = exports("/dev/md/127")["MD_UUID"]

    def changed(self) -> str:
        """Return how the data differ, or ""."""
        sh("echo 3 >/proc/sys/vm/drop_caches")
        return "" if digest(f"/dev/md/{self.name}") == self.digest else "the data differ"


class Rename:
    """127 becomes 126, and 127 again."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._plans: dict[str, PlanFile] = {}
        line = f"ARRAY /dev/md/127 metadata=1.2 UUID={data.uuid} spare-group=g"
        CONF.write_text(f"HOMEHOST lab\nMAILADDR root\n{line}\n")

    @property
    def _other(self) -> str:
        return "126" if self._data.name == "127" else "127"

    def prepare(self) -> None:
        """Nothing: it works in both directions."""

    def plan(self) -> PlanFile:
        """See ``Case``."""
        name = self._data.name
        if name not in self._plans:
            self._plans[name] = planned("rename", name, f"--to={self._other}")
        return self._plans[name]

    def settle(self) -> None:
        """Return its present name."""
        self._data.name = self._other

    def wrong(self, *, done: bool) -> str:
        """See ``Case``."""
        del done
        name, conf = self._data.name, CONF.read_text()
        if (found := exports(f"/dev/md/{name}")["MD_NAME"]) != f"lab:{name}":
            return f"it is called {found}"
        own = [line for line in conf.split("\n") if line.startswith("ARRAY")]
        if [line.split()[1] for line in own] != [f"/dev/md/{name}"] or not own[0].endswith(" spare-group=g"):
            return conf
        return self._data.changed()


class Create:
    """A mirror of two disks, made again and again; the resync takes long."""

    def __init__(self, disks: tuple[str, str]) -> None:
        speed(100)
        self._disks = disks
        self._paths = " ".join(f"/dev/{disk}" for disk in disks)
        self._plan: PlanFile | None = None

    def prepare(self) -> None:
        """Empty disks, no array, nothing in mdadm.conf."""
        CONF.write_text("MAILADDR root\n")
        sh("mdadm --stop --scan 2>/dev/null; udevadm settle")
        clear(*self._disks)

    def plan(self) -> PlanFile:
        """See ``Case``."""
        words = ("create", "--name=127", "--level=raid1", "--bitmap=none", *self._disks)
        self._plan = self._plan or planned(*words)
        return self._plan

    def settle(self) -> None:
        """Nothing: the resync need not end."""

    def wrong(self, *, done: bool) -> str:
        """See ``Case``."""
        arrays, conf = sh("grep ^md /proc/mdstat || true"), CONF.read_text()
        if done:
            uuid = exports("/dev/md/127")["MD_UUID"]
            line = f"ARRAY /dev/md/127 metadata=1.2 UUID={uuid}\n"
            return "" if arrays.count("active") == 1 and conf == f"MAILADDR root\n{line}" else arrays + conf
        signs = sh(f"wipefs --noheadings {self._paths}")
        return "" if (arrays, conf, signs) == ("", "MAILADDR root\n", "") else arrays + conf + signs


class Replace:
    """A member replaced by a free disk, which is then the one that is replaced, and so on."""

    def __init__(self, data: Data, new: str) -> None:
        self._data = data
        self.old, self.new = data.disks[0], new
        self._plans: dict[str, PlanFile] = {}

    def prepare(self) -> None:
        """Slow the copy down."""
        clear(self.new)
        speed(100)

    def plan(self) -> PlanFile:
        """See ``Case``."""
        if self.old not in self._plans:
            words = ("replace", self._data.name, self.old, "--with", self.new)
            self._plans[self.old] = planned(*words)
        return self._plans[self.old]

    def settle(self) -> None:
        """Wait until the copy is complete; the old member is free then."""
        speed(500_000)
        kernel = self._data.kernel
        until(lambda: state_of(kernel, self.new) == "in_sync", f"{self.new} in sync")
        until(lambda: "faulty" in (state_of(kernel, self.old) or "faulty"), f"{self.old} out of service")
        sh(f"mdadm /dev/md/127 --remove /dev/{self.old} 2>/dev/null || true")
        clear(self.old)
        self._data.disks[self._data.disks.index(self.old)] = self.new
        self.old, self.new = self.new, self.old

    def wrong(self, *, done: bool) -> str:
        """See ``Case``."""
        del done
        kernel = self._data.kernel
        md = _BLOCK / kernel / "md"
        states = {disk: state_of(kernel, disk) for disk in (*self._data.disks, self.new)}
        wanted = {**dict.fromkeys(self._data.disks, "in_sync"), self.new: None}
        if states != wanted or (md / "degraded").read_text().strip() != "0":
            return f"{states}, degraded {(md / 'degraded').read_text()}"
        until(lambda: (md / "sync_action").read_text().strip() == "idle", "rest")
        if signs := sh(f"udevadm settle; wipefs --noheadings /dev/{self.new}"):
            return signs
        return self._data.changed()


def back(job: Job) -> tuple[int, str, str]:
    """Roll a job back: (exit status, state, reason)."""
    status = work(job, back=True)
    return status, job.state, runs.last_reason(job)


def seen(data: Data, *others: str) -> tuple[dict[str, str | None], str]:
    """What the members are, and what the array does."""
    action = (_BLOCK / data.kernel / "md/sync_action").read_text().strip()
    return {disk: state_of(data.kernel, disk) for disk in (*data.disks, *others)}, action


def taken_back(level: str, disks: tuple[str, ...], new: str, *, spare: bool) -> dict[str, object]:
    """A replace whose copy continues when its job is rolled back."""
    sh("mdadm --stop --scan 2>/dev/null; udevadm settle")
    clear(*disks, new)
    data = Data(level, disks, size_mib=20)
    if spare:
        sh(f"mdadm --manage /dev/{data.kernel} --add-spare /dev/{new} 2>/dev/null; udevadm settle")
    speed(100)
    job = job_of(planned("replace", data.name, disks[0], "--with", new))
    work(job)
    found: dict[str, object] = {"while it was copied": seen(data, new), "rollback": back(job)}
    md = _BLOCK / data.kernel / "md"
    sh("udevadm settle")
    found["then"] = seen(data, new)
    found["signatures"] = bool(sh(f"wipefs --noheadings /dev/{new}"))
    found["degraded"] = (md / "degraded").read_text().strip()
    speed(500_000)
    (md / "sync_action").write_text("check")
    until(lambda: (md / "sync_action").read_text().strip() == "idle", "the end of the check")
    found["mismatches"] = (md / "mismatch_cnt").read_text().strip()
    found["data"] = data.changed()
    return found


def copied(disks: tuple[str, ...], new: str) -> dict[str, object]:
    """A replace whose copy is whole when its job is rolled back."""
    data = Data("raid10", disks)
    speed(500_000)
    job = job_of(planned("replace", data.name, disks[0], "--with", new))
    work(job)
    until(lambda: state_of(data.kernel, new) == "in_sync", f"{new} in sync")
    until(lambda: seen(data)[1] == "idle", "the end of the recovery")
    until(lambda: job.state == "done", "the job's end")
    return {"rollback": back(job), "then": seen(data, new), "data": data.changed()}


def stopped_outside(disks: tuple[str, ...], new: str) -> list[object]:
    """A replace whose array is stopped by somebody else, and started again: what its job says."""
    sh("mdadm --stop --scan 2>/dev/null; udevadm settle")
    data = Data("raid10", disks, size_mib=20)
    speed(100)
    job = job_of(planned("replace", data.name, disks[0], "--with", new))
    work(job)
    found: list[object] = [(job.state, runs.last_reason(job)), lets_others(job)]
    sh(f"mdadm --stop /dev/{data.kernel}; udevadm settle")
    until(lambda: job.state == "failed", "the job has seen it")
    found += [runs.last_reason(job), back(job)[:2], runs.last_reason(job).partition(": ")[2]]
    found.append((work(job), job.state))
    speed(500_000)
    sh(f"mdadm --assemble /dev/md/127 {' '.join(f'/dev/{name}' for name in (*disks, new))}; udevadm settle")
    # Nothing is copied before the first write; after one, mdadm finds that it is not read-only.
    sh(f"mdadm --readwrite /dev/md/127 2>/dev/null || ! grep read /sys/block/{data.kernel}/md/array_state")
    found.append(work(job))
    until(lambda: job.state == "done", "the copy's end")
    until(lambda: seen(data)[1] == "idle", "the end of the recovery")
    return [*found, seen(data, new), data.changed()]


def lets_others(job: Job) -> tuple[bool, bool]:
    """Whether another job could begin while this one continues, and whether this one can be cancelled."""
    try:
        cancel(job)
    except JobError:
        return worker_of(job.folder.parent) is None, False
    return worker_of(job.folder.parent) is None, True


def filled(verb: str, disks: tuple[str, ...]) -> list[object]:
    """A member added, or a chunk grown: the job continues as long as the kernel does, and no longer."""
    sh("mdadm --stop --scan 2>/dev/null; udevadm settle")
    level, given = ("raid1", disks[:2]) if verb == "add" else ("raid5", disks[:3])
    data = Data(level, given, size_mib=20)
    if verb == "add":
        sh(f"mdadm /dev/md/127 --fail /dev/{given[1]} --remove /dev/{given[1]} && udevadm settle")
        clear(given[1])
    speed(100)
    words = ("add", "127", given[1]) if verb == "add" else ("grow-chunk", "127", "32")
    job = job_of(planned(*words))
    work(job)
    md = _BLOCK / data.kernel / "md"
    found: list[object] = [job.state, runs.last_reason(job), (md / "sync_action").read_text().strip()]
    speed(500_000)
    until(lambda: job.state != "goes on", "the job's end")
    found += [job.state, (md / "degraded").read_text().strip(), (md / "reshape_position").read_text().strip()]
    return [*found, data.changed()]


def checked(disks: tuple[str, ...]) -> tuple[object, ...]:
    """A check that is rolled back while it runs."""
    data = Data("raid10", disks, size_mib=32)
    speed(100)
    job = job_of(planned("check", data.name))
    work(job)
    running = (job.state, seen(data)[1])
    md = _BLOCK / data.kernel / "md"
    return running, back(job), (seen(data)[1], (md / "sync_min").read_text().strip())


def save(path: str, case: Case) -> None:
    """Save a case's plan."""
    file = case.plan()
    Path(path).write_bytes(save_plan(file.plan, host=file.host, made_s=file.made_s))
