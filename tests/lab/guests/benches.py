"""Benchmarks in the guest: subcommands, what they leave in the history, and waiting for them."""

import json
import re
from typing import Any

from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Result
from tests.lab.guests.jobs import JOBS, raidtui

HISTORY = "/var/lib/raidtui/bench.sqlite"
REFUSED = 2
_STAT = ("reads", "_", "read_sectors", "_", "writes", "_", "written_sectors", "_", "_", "_", "_",
         "discards", "_", "discarded_sectors")  # fmt: skip


def bench(guest: Guest, *words: str) -> Result:
    """Run a subcommand of bench, without the check for a quiet machine."""
    anyhow = ("--no-quiet-check",) if words[0] in {"run", "sweep"} else ()
    return raidtui(guest, "bench", *words, *anyhow, timeout=240)


def done(guest: Guest, *words: str) -> Result:
    """Run one that succeeds.

    Raises:
        AssertionError: it did not; what it said is in the error.
    """
    result = bench(guest, *words)
    assert result.status == 0, result.output
    return result


def refused(guest: Guest, *words: str) -> str:
    """Return the sentence with which a subcommand is refused."""
    result = bench(guest, *words)
    assert (result.status, result.stdout) == (REFUSED, ""), result.output
    return result.stderr.removeprefix("raidtui: not possible: ").rstrip("\n")


def begun(guest: Guest, *words: str) -> str:
    """Start a benchmark in the background; return its id once it has measured something."""
    ramp = ("--ramp=0",) if any(word.startswith("--runtime") for word in words) else ()
    result = json.loads(done(guest, *words, *ramp, "--detach", "--json").stdout)
    job: str = result["job"]
    two_samples(guest, job)
    return job


def two_samples(guest: Guest, job: str) -> None:
    """Wait until a benchmark has measured something."""
    live = f"{JOBS}/{job}/live.jsonl"
    wait_until(lambda: guest.run(f"test $(grep -c sample {live}) -ge 2").status == 0, 90, "two samples")


def has_ended(guest: Guest) -> bool:
    """Whether a benchmark has ended, done or failed; read from its journal, for raidtui takes long to ask."""
    return guest.run(f'grep -qE \'"event": "(done|failed)"\' {JOBS}/*/journal.jsonl').status == 0


def kill_worker(guest: Guest) -> None:
    """Kill the worker (SIGKILL) with its fio."""
    pid = re.search(r"\(pid (\d+),", read(guest, f"{JOBS}/lock"))
    assert pid is not None
    assert guest.run(f"kill -KILL {pid[1]}").status == 0
    wait_until(lambda: guest.run("pgrep -x fio").status != 0, what="fio's end")


def kept(guest: Guest) -> list[dict[str, Any]]:
    """The history, the oldest run first."""
    found: list[dict[str, Any]] = json.loads(done(guest, "list", "--json").stdout)["runs"]
    return [{"state": "whole", **run} for run in found]  # a value that is its default is left out


def titles(guest: Guest, job: str = "*") -> list[str]:
    """What a benchmark has set, put back or done between its runs."""
    lines = read(guest, f"{JOBS}/{job}/journal.jsonl").splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry["title"] for entry in entries if entry["event"] in {"change", "put back", "doing"}]


def stat(guest: Guest, name: str) -> dict[str, int]:
    """The kernel's own counters of a disk (Documentation/block/stat.rst)."""
    return dict(zip(_STAT, map(int, read(guest, f"/sys/block/{name}/stat").split()), strict=False))


def read(guest: Guest, path: str) -> str:
    """Return the text of a kernel file."""
    return guest.run(f"cat {path}").stdout.strip()


def digests(guest: Guest, name: str, *, first_mib: int, mib: int) -> tuple[str, str]:
    """Digests of a disk's first part, and of the rest of it, as they are on the disk."""

    def part(begin: int, count: int) -> str:
        copy = f"dd if=/dev/{name} bs=1M skip={begin} count={count} iflag=direct status=none"
        return guest.run(f"{copy} | sha256sum").stdout

    return part(0, first_mib), part(first_mib, mib - first_mib)
