"""What a package asks before its files are exchanged: whether any worker lives, whatever its job says."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raidtui.jobs.lock import boot_id, started_s
from tests.places import HOUSE

FUNCTIONS = HOUSE / "release" / "packaged" / "functions.sh"
REFUSED = "raidtui: a job is running; wait for its end, or cancel it: raidtui jobs\n"


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives; its name is not easy to read past."""
    process = subprocess.Popen(("/bin/sh", "-c", "printf ') Z 1' >/proc/self/comm; read -r line"), stdin=-1)
    yield process
    process.communicate()


def guarded(folder: Path, said: str = "", **work: object) -> tuple[int, str]:
    """Ask, with a job whose worker is this one, and with a raidtui that says this of its jobs."""
    job, tools = folder / "jobs" / "20260101-1", folder / "bin"
    job.mkdir(parents=True)
    tools.mkdir()
    entries = [{"at_s": 1.0, "who": "root", "event": "made"}, {"at_s": 1.0, "who": "root", **work}]
    entries.append({"at_s": 2.0, "who": "root", "event": "goes on", "reason": "md"})
    (job / "journal.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in entries))
    (tools / "raidtui").write_text(f"#!/bin/sh\necho '{said}'\n")
    (tools / "raidtui").chmod(0o755)
    text = FUNCTIONS.read_text().replace("/var/lib/raidtui/jobs", str(folder / "jobs"))
    script = f"set -e\nPATH={tools}:$PATH\n{text}\nrefuse_running\n"
    done = subprocess.run(("/bin/sh", "-c", script), capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_worker_that_lives(tmp_path: Path, worker: subprocess.Popen[bytes]) -> None:
    """Whatever the journal says last; the raidtui that is there need not answer."""
    begun = started_s(worker.pid)
    asked = guarded(tmp_path, event="work", pid=worker.pid, started_s=begun, boot=boot_id())
    assert asked == (1, REFUSED)


@pytest.mark.parametrize("other", [{"started_s": 0.01}, {"boot": "another"}, {"pid": 1 << 22}])
def test_another_process_with_its_number(
    tmp_path: Path, worker: subprocess.Popen[bytes], other: dict[str, Any]
) -> None:
    work: dict[str, Any] = {"pid": worker.pid, "started_s": started_s(worker.pid), "boot": boot_id()}
    assert guarded(tmp_path, event="work", **work | other) == (0, "")


@pytest.mark.parametrize(("state", "status"), [("running", 1), ("goes on", 1), ("interrupted", 0)])
def test_what_raidtui_says(tmp_path: Path, state: str, status: int) -> None:
    said = json.dumps({"jobs": [{"id": "1", "state": state}]})
    assert guarded(tmp_path, said) == (status, REFUSED if status else "")


def test_both_packages_ask_before_files_go() -> None:
    release = FUNCTIONS.parents[1]
    assert "@FUNCTIONS@\nrefuse_running\n" in (release / "debian" / "prerm").read_text()
    spec = (release / "rpm" / "raidtui.spec").read_text()
    for section in ("%pre\n", "%preun\n"):
        assert "refuse_running" in spec.partition(section)[2].partition("\n%")[0]
