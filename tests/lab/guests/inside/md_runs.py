"""Runs in the guest: random md operations; after each, raidtui's report is compared with the oracle's."""

import argparse
import json
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raidtui.features.arrays.cli_json import report_dict
from raidtui.host.readers.opening import open_root
from raidtui.monitor.kernel_watch import KernelWatch
from raidtui.watch.watch import HostWatch, Report
from tests.lab.guests.inside import oracle
from tests.lab.guests.inside.oracle import mdadm

PATIENCE_S = 8.0  # in which what raidtui says and what is must have met, at rest
SPEED = Path("/proc/sys/dev/raid")
HEALTHS = {
    "whole": {"optimal", "attention", "degraded"},
    "degraded": {"degraded", "failed"},
    "failed": {"failed"},
    "inactive": {"failed", "attention", "unknown"},
}
_WHOLE_AND_DEGRADED = {"frozen-with-work", "journal-missing"}
"""Findings by which an array with all its members is degraded all the same: nothing heals it by itself."""


class Watched:
    """A console that has been watching since before the first operation."""

    def __init__(self) -> None:
        root = open_root("/")
        self.console, self.watch = HostWatch(root), KernelWatch(root)
        trouble = self.watch.start_udev()
        assert trouble is None, trouble
        self.report = self.console.refresh()

    def look(self, wait_s: float) -> Report:
        """Wait for an event, at most so long, and read."""
        self.watch.follow(self.report.snapshot)
        if select.select([self.watch.fileno()], [], [], min(wait_s, self.report.next_s))[0]:
            self.console.take_uevents(self.watch.drain()[1])
        self.report = self.console.refresh()
        return self.report


class Operations:
    """What may be done next; each is (what it is called, what is run)."""

    def __init__(self, rng: random.Random, disks: list[str]) -> None:
        self._rng = rng
        self._disks = disks
        self._count = 0

    def next(self) -> str:
        """Carry out an operation; return its name and its result."""
        rng, running = self._rng, oracle.arrays()
        used = {each for array in running.values() for each in array["members"]}
        free = [disk for disk in self._disks if disk not in used]
        doings: list[Callable[[], str]] = []
        if len(free) >= 2:
            doings += [lambda: self._create(free)] * 4
            doings += [lambda: self._assemble(free)] * 3
            doings += [lambda: _run("--zero-superblock", f"/dev/{rng.choice(free)}")]
            doings += [lambda: _run("--incremental", f"/dev/{rng.choice(free)}")]
        for name, array in running.items():
            doings += [lambda n=name, a=array: self._change(n, a, free)] * 6  # type: ignore[misc]
        doings += [self._speed]
        said = rng.choice(doings)()
        subprocess.run(["/usr/bin/udevadm", "settle", "--timeout=30"], check=False)
        return said

    def _create(self, free: list[str]) -> str:
        rng = self._rng
        level = rng.choice(["0", "1", "1", "4", "5", "5", "6", "10", "10", "10"])
        least = {"0": 2, "1": 2, "4": 3, "5": 3, "6": 4, "10": 2}[level]
        most = min(len(free), 6)
        if most < least:
            return "create: too few disks are free"
        chosen = rng.sample(free, rng.randint(least, most))
        spares = rng.choice([0, 0, 0, 1]) if level != "0" and len(chosen) > least else 0
        self._count += 1
        words = [
            f"--level={level}", f"--raid-devices={len(chosen) - spares}", f"--spare-devices={spares}",
            f"--metadata={rng.choice(['1.2', '1.2', '1.2', '1.0', '1.1', '0.90'])}",
        ]  # fmt: skip
        if level == "10":
            layouts = [
                f"{kind}{copies}" for kind in "nfo" for copies in (2, 3) if copies <= len(chosen) - spares
            ]
            words.append(f"--layout={rng.choice(layouts)}")
        if level in {"5", "6"}:
            words.append(f"--layout={rng.choice(['la', 'ra', 'ls', 'rs'])}")
        if level != "1":
            words.append(f"--chunk={rng.choice([4, 16, 64])}")
        if level != "0":
            words.append(f"--bitmap={rng.choice(['none', 'internal'])}")
        if rng.random() < 0.5:
            words.append("--assume-clean")
        members = [f"/dev/{disk}" for disk in chosen]
        if level != "0" and not spares and rng.random() < 0.15:
            members[rng.randrange(len(members))] = "missing"
        return _run("--create", f"/dev/md/t{self._count}", "--run", "--homehost=lab", *words, *members)

    def _assemble(self, free: list[str]) -> str:
        rng = self._rng
        found = oracle.members_on(free)
        if not found:
            return "assemble: nothing is there"
        uuid = rng.choice(sorted(found))
        members = sorted(found[uuid])
        if len(members) > 1 and rng.random() < 0.3:
            members.remove(rng.choice(members))
        self._count += 1
        words = rng.choice([[], [], ["--run"], ["--readonly"]])
        return _run("--assemble", f"/dev/md/t{self._count}", *words, *(f"/dev/{disk}" for disk in members))

    def _change(self, name: str, array: dict[str, Any], free: list[str]) -> str:
        rng, path, md = self._rng, f"/dev/{name}", oracle.BLOCK / name / "md"
        members = sorted(array["members"]) or ["none"]
        one = f"/dev/{rng.choice(members)}"
        other = f"/dev/{rng.choice(free)}" if free else one
        faulty = [each for each, (_, state) in array["members"].items() if "faulty" in state]
        doings: list[Callable[[], str]] = [
            lambda: _run(path, "--fail", one),
            lambda: _run(path, "--fail", one, "--remove", one),
            lambda: _run(path, "--remove", f"/dev/{rng.choice(faulty)}" if faulty else "detached"),
            lambda: _run(path, "--add", other),
            lambda: _run(path, "--re-add", other),
            lambda: _run(path, "--add-spare", other),
            lambda: _run(path, "--replace", one, "--with", other) if array["active"] else "",
            lambda: _run("--readonly", path),
            lambda: _run("--readwrite", path),
            lambda: _run("--stop", path),
            lambda: _run("--run", path),
            lambda: _run("--grow", path, f"--bitmap={rng.choice(['none', 'internal'])}"),
            lambda: _run(
                "--grow", path, f"--raid-devices={(array['raid_disks'] or 2) + rng.choice([-1, 1])}"
            ),
            lambda: _write(md / "sync_action", rng.choice(["check", "repair", "idle", "frozen", "idle"])),
            lambda: _write(md / "sync_speed_max", rng.choice(["system", "100", "100000"])),
            lambda: self._scribble(path, rng.choice(members)),
        ]
        return rng.choice(doings)()

    def _scribble(self, path: str, member: str) -> str:
        """Write noise to a member directly, so that a check finds mismatches; or through md."""
        target = rng_choice(self._rng, f"/dev/{member}", path)
        words = [
            "dd",
            "if=/dev/urandom",
            f"of={target}",
            "bs=64k",
            "count=2",
            f"seek={self._rng.randint(96, 140)}",
        ]
        return _said(words, subprocess.run(words, capture_output=True, text=True, check=False))

    def _speed(self) -> str:
        kib_s = self._rng.choice(["100", "2000", "500000"])
        _write(SPEED / "speed_limit_min", kib_s)
        return _write(SPEED / "speed_limit_max", kib_s)


def rng_choice(rng: random.Random, one: str, other: str) -> str:
    """One of two."""
    return rng.choice((one, other))


def _run(*words: str) -> str:
    status, said = mdadm(*words)
    return f"mdadm {' '.join(words)} -> {status} {said.strip().splitlines()[-1:]}"


def _said(words: list[str], done: "subprocess.CompletedProcess[str]") -> str:
    return f"{' '.join(words)} -> {done.returncode}"


def _write(path: Path, word: str) -> str:
    try:
        path.write_text(word)
    except OSError as error:
        return f"{word} >{path}: {error.strerror}"
    return f"{word} >{path}"


def view(report: Report) -> dict[str, dict[str, Any]]:
    """What raidtui says of the arrays that run, in the oracle's form."""
    reported = report_dict(report)
    codes: dict[str, set[str]] = {}
    for finding in reported["findings"]:
        codes.setdefault(finding["array"], set()).add(finding["code"])
    found = {}
    for each in reported["arrays"]:
        if not each["members"] and each["array_state"] is None:
            continue  # not running: see ``unstarted``
        fields = ("active", "level", "chunk_bytes", "metadata", "raid_disks", "degraded", "uuid", "label",
                  "consistency_policy", "mismatch_count", "read_only")  # fmt: skip
        found[each["name"]] = {
            **{field: each[field] for field in fields},
            "has_bitmap": each["bitmap"] is not None,
            "members": dict(sorted((m["name"], (m["slot"], m["state"])) for m in each["members"])),
            "health": each["health"],
            "codes": codes.get(each["name"], set()),
        }
    return found


def differences(said: dict[str, dict[str, Any]], true: dict[str, dict[str, Any]]) -> list[str]:
    """Return each field that is wrong, and how many fields were compared."""
    if said.keys() != true.keys():
        return [f"arrays: {sorted(said)}, in truth {sorted(true)}"]
    wrong = []
    for name, is_so in true.items():
        reported = said[name]
        for field, value in is_so.items():
            if field in {"test", "sync_action", "sets", "broken"}:
                continue
            if not same(field, reported[field], value, is_so):
                wrong.append(f"{name} {field}: {reported[field]!r}, in truth {value!r}")
        test = is_so["test"]
        fits = test is None or reported["health"] in HEALTHS[test]
        if is_so["broken"]:
            fits = reported["health"] == "failed"  # mdadm calls it clean, and every write fails
        elif test == "whole" and reported["health"] == "degraded":
            fits = bool(reported["codes"] & _WHOLE_AND_DEGRADED)
        if not fits:
            wrong.append(
                f"{name} health: {reported['health']} {sorted(reported['codes'])}, mdadm --test: {test}"
            )
    return wrong


def same(field: str, reported: Any, value: Any, array: dict[str, Any]) -> bool:
    """Whether a field is as it must be. What the kernel does not say of a level or state is not compared."""
    if field == "label" and array["metadata"].startswith("0.9"):
        return True  # there is none in this metadata (0.91 in a reshape); mdadm makes one up
    if not array["active"] and field in {"level", "label", "raid_disks", "degraded", "consistency_policy"}:
        return reported is None or value is None or reported == value
    if field == "read_only" and not array["active"]:
        return True
    return bool(reported == value)


def compare(read: Callable[[float], Report], counted: list[int]) -> list[str]:
    """Compare until nothing differs, or until what differs has lasted."""
    give_up = time.monotonic() + PATIENCE_S
    wrong: list[str] = []
    while True:
        before = oracle.arrays()
        report = read(0.2)
        said = view(report)
        after = oracle.arrays()
        if before == after:
            wrong = differences(said, after)
            if not wrong:
                counted[0] += sum(len(each) + 2 * len(each["members"]) for each in after.values())
                return []
        if time.monotonic() > give_up:
            return wrong


def read_once(_: float) -> Report:
    """Return the report of a newly started raidtui."""
    console = HostWatch(open_root("/"))
    try:
        return console.refresh()
    finally:
        console.close()


def main() -> int:
    """Do operations; print what was done, and end with 1 at the first difference that lasts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--operations", type=int, required=True)
    parser.add_argument("--disks", nargs="+", required=True)
    chosen = parser.parse_args()
    operations = Operations(random.Random(chosen.seed), chosen.disks)
    watched, counted, done = Watched(), [0], []
    for _ in range(chosen.operations):
        done.append(operations.next())
        for who, read in (("watching", watched.look), ("once", read_once)):
            if wrong := compare(read, counted):
                report = json.dumps({"done": done, "who": who, "wrong": wrong}, indent=1)
                sys.stdout.write(f"{report}\n{Path('/proc/mdstat').read_text()}")
                return 1
    sys.stdout.write(json.dumps({"fields": counted[0], "done": done}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
