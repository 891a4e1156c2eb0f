"""Plans and jobs of raidtui in the guest: made, applied, killed on the way."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.digests import digests
from tests.lab.guests.guest import Guest, Result

PLAN = "/tmp/plan.json"
JOBS = "/var/lib/raidtui/jobs"

# A worker that ends by SIGKILL right before its Nth journal entry: between any two of its actions.
_KILLED = """
import os, signal
from pathlib import Path
from raidtui.host.readers.opening import open_root
from raidtui.jobs import plan_file, store, worker

file = plan_file.load_plan(Path({plan!r}).read_bytes())
job = store.Job.create(file.plan, host=file.host)
print(job.id, flush=True)
real, count = store.Job.note, 0

def note(self, **entry):
    global count
    count += 1
    if count == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, **entry)

store.Job.note = note
raise SystemExit(worker.work_on(open_root("/"), job.folder))
"""


def raidtui(guest: Guest, *words: str, timeout: float = 120.0, into: str = "") -> Result:
    """Run raidtui's command line in the guest, where it is imported already: see ``Guest.command``."""
    return guest.command(words, timeout=timeout, into=into)


def started(guest: Guest, *words: str, timeout: float = 120.0) -> Result:
    """Run raidtui's command line in the guest as a person does it: Python starts for it."""
    return guest.run(shlex.join((*RAIDTUI, *words)), timeout=timeout)


def plan(guest: Guest, *words: str) -> dict[str, Any]:
    """Make a plan, and save it in the guest.

    Raises:
        AssertionError: it was refused; the sentence is in the error.
    """
    made = raidtui(guest, "plan", *words, "--json", into=PLAN)
    assert made.status == 0, made.output
    found: dict[str, Any] = json.loads(made.stdout)["plan"]
    return found


def refusal(guest: Guest, *words: str) -> str:
    """The sentence with which a plan is refused."""
    result = raidtui(guest, "plan", *words)
    assert (result.status, result.stdout) == (2, ""), result.output
    return result.stderr.removeprefix("raidtui: not possible: ").rstrip("\n")


def already(guest: Guest, *words: str) -> str:
    """What is so already: the plan has no steps, and applying it changes nothing and makes no job."""
    made = raidtui(guest, "plan", *words, "--json", into=PLAN)
    assert made.status == 0, made.output
    found = json.loads(made.stdout)["plan"]
    assert (found["steps"], found["already"]) == ([], True), found
    before = len(states(guest))
    done = raidtui(guest, "apply", "--json", PLAN)
    result = json.loads(done.stdout)
    assert (done.status, result["changed"], result["job"]) == (0, False, None), done.output
    assert len(states(guest)) == before
    sentence: str = found["notes"][0]
    return sentence


def apply(guest: Guest, *words: str, status: int = 0) -> str:
    """Apply the saved plan; return the output."""
    done = raidtui(guest, "apply", PLAN, *words)
    assert done.status == status, done.output
    return done.output


def do(guest: Guest, *words: str, confirm: str = "") -> str:
    """Make a plan and apply it."""
    plan(guest, *words)
    return apply(guest, *((f"--confirm={confirm}",) if confirm else ()))


def last_job(guest: Guest) -> str:
    """The id of the newest job."""
    found: str = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
    return found


def killed_worker(guest: Guest, number: int) -> tuple[str, int]:
    """Apply the saved plan by a worker that is killed before its Nth journal entry: (job, exit status)."""
    done = guest.run(_KILLED.format(plan=PLAN, number=number), interpreter="python", timeout=120)
    assert done.status in {0, -9}, done.output
    return done.stdout.split()[0], done.status


def results(guest: Guest, case: str, *calls: str) -> list[Any]:
    """Call functions of ``inside`` and ``cases`` in the guest, with one of their cases; return their results.

    Raises:
        AssertionError: one of them failed.
    """
    script = f"import json\nfrom tests.lab.guests.inside.cases import *\ncase = {case}\n"
    script += "\n".join(f"print(json.dumps({call}))" for call in calls)
    done = guest.run(script, interpreter="python", timeout=300)
    assert done.status == 0, f"it ended with status {done.status}:\n{done.output}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def states(guest: Guest) -> list[str]:
    """The states of all jobs, oldest first."""
    rows = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"]
    return [row["state"] for row in rows]


def checksum(guest: Guest, devices: Sequence[str]) -> str:
    """Digests of whole devices: of disks as this machine has them, of others as the guest reads them."""
    disks = [name for name in devices if name in guest.disks]
    others = [f"/dev/{name}" for name in devices if name not in guest.disks]
    read = guest.run(f"sha256sum {shlex.join(others)}") if others else None
    assert read is None or read.status == 0, read.output
    return "\n".join([*map(" ".join, digests(guest, disks).items()), read.stdout if read is not None else ""])


def bystander(guest: Guest, name: str) -> str:
    """Fill a disk that no plan names with noise; its digest."""
    assert guest.run(f"dd if=/dev/urandom of=/dev/{name} bs=1M count=8 conv=fsync").status == 0
    return checksum(guest, [name])
