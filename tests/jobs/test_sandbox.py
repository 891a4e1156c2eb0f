"""The launcher of a sandbox with real tools: what holds, what is said, and how it ends; as root or not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from raidtui.jobs import sandbox as module
from raidtui.jobs.sandbox import (
    PARTS,
    WITHOUT_ROOT,
    Kept,
    Sandbox,
    free_uid,
    missing_parts,
    started,
)
from raidtui.jobs.sandbox_launcher import NOT_STARTED, OPTIONAL
from tests.lab.guests.deadline import wait_until
from tests.places import HOUSE

OPEN = (*WITHOUT_ROOT, "limits")
"""Without these it needs neither root nor a kernel that allows namespaces."""


def ended(sandbox: Sandbox, *argv: str) -> tuple[int, str, str, Kept]:
    with started(sandbox, argv) as (process, kept):
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode(), kept()


def test_a_tool_in_its_folder(tmp_path: Path) -> None:
    status, out, _, kept = ended(Sandbox(folder=str(tmp_path), without=OPEN), "/bin/sh", "-c", "pwd; exit 3")
    assert (status, out) == (3, f"{tmp_path}\n")
    assert {*kept.held} - OPTIONAL == {"nnp"}
    assert set(kept.missing) - OPTIONAL == {*OPEN}


def test_the_environment_is_a_fixed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    _, out, _, _ = ended(Sandbox(without=OPEN), "/usr/bin/env")
    assert sorted(line.partition("=")[0] for line in out.splitlines()) == ["LC_ALL", "PATH", "TMPDIR"]


def test_no_new_privileges_and_no_core(tmp_path: Path) -> None:
    sandbox = Sandbox(without=WITHOUT_ROOT, file_bytes=4096)
    _, out, _, _ = ended(sandbox, "/bin/cat", "/proc/self/status", "/proc/self/limits")
    assert "NoNewPrivs:\t1" in out
    lines = [line.split() for line in out.splitlines() if line.startswith(("Max core", "Max file size"))]
    assert [line[3:6] if line[1] == "file" else line[4:6] for line in lines] == [
        ["4096", "4096", "bytes"],
        ["0", "0"],
    ]


def test_no_process_is_started() -> None:
    """By the filter of system calls, on the machines that it is known for."""
    status, _, err, kept = ended(Sandbox(without=OPEN), "/bin/sh", "-c", "/bin/true; exit 0")
    assert ("seccomp" in kept.held) == ("fork" in err.lower()), err
    assert (status == 0) == ("seccomp" not in kept.held)


def test_a_part_that_does_not_hold() -> None:
    """Nothing is started, and it is said which part it is; without it, if somebody says so, it is."""
    bare = Sandbox(without=tuple(part for part in OPEN if part != "mount"), calls=False)
    inner = "import sys; from tests.jobs.test_sandbox import inner; inner(sys.argv[1])"
    outer = Sandbox(without=tuple(part for part in OPEN if part != "caps" or os.geteuid()), calls=False)
    for without, expected in ((bare.without, NOT_STARTED), (OPEN, 0)):
        argv = (sys.executable, "-c", inner, ",".join(without))
        status, out, err, _ = ended(Sandbox(folder=str(HOUSE), without=outer.without, calls=False), *argv)
        assert status == expected, (out, err)
        assert ("sandbox: mount: " in out) == (expected == NOT_STARTED)


def inner(without: str) -> None:
    """In a process that may not unshare: open a sandbox as root would."""
    module.WITHOUT_ROOT = ()
    status, _, err, kept = ended(Sandbox(without=tuple(without.split(",")), calls=False), "/bin/true")
    sys.stdout.write(f"{err}{kept.missing}")
    sys.exit(status)


def test_signals() -> None:
    with started(Sandbox(without=OPEN, calls=False), ("/bin/sleep", "60")) as (process, kept):
        assert kept().held
        wait_until(lambda: "sleep" in _below(process.pid), what="the tool")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT


def test_it_ends_with_its_context() -> None:
    with started(Sandbox(without=OPEN, calls=False), ("/bin/sleep", "60")) as (process, _):
        wait_until(lambda: "sleep" in _below(process.pid), what="the tool")
        tree = psutil.Process(process.pid).children(recursive=True)
    assert process.returncode == 128 + signal.SIGKILL
    assert not any(_runs(each) for each in tree)


def _below(pid: int) -> list[str]:
    return [each.name() for each in psutil.Process(pid).children(recursive=True)]


def test_it_ends_with_whoever_started_it() -> None:
    """Also where that one is killed: the tool is told by the kernel."""
    code = (
        "import time\nfrom tests.jobs.test_sandbox import started, OPEN, Sandbox\n"
        "with started(Sandbox(without=OPEN, calls=False), ('/bin/sleep', '60')): time.sleep(60)"
    )
    with subprocess.Popen((sys.executable, "-c", code), stdout=subprocess.PIPE, cwd=HOUSE) as starter:
        wait_until(lambda: "sleep" in _below(starter.pid), what="the tool")
        tree = psutil.Process(starter.pid).children(recursive=True)
        starter.kill()
    wait_until(lambda: not any(_runs(each) for each in tree), what="its end")


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_no_program(tmp_path: Path) -> None:
    status, _, err, _ = ended(Sandbox(without=OPEN), str(tmp_path / "none"))
    assert (status, err) == (NOT_STARTED, "sandbox: No such file or directory\n")


def test_a_user_of_its_own() -> None:
    first = free_uid("a job")
    assert first == free_uid("a job")
    assert first in range(61184, 65520)
    assert {free_uid(str(number)) for number in range(50)} - {first}


def test_what_a_host_does_not_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked once; what is a second layer is no reason, and without root nothing is missing."""
    monkeypatch.setattr(module, "_read_kept", lambda _: Kept(missing={"net": "no", "landlock": "no"}))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    module._refused_parts.cache_clear()
    assert missing_parts() == {"net": "no"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert missing_parts() == {}
    module._refused_parts.cache_clear()


def test_silence_is_not_that_all_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is said, or not in time, it is not known, and asked again."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    module._refused_parts.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_read_kept", lambda _: Kept())
        assert missing_parts() == {"all": "what sets them up ended without a message"}
        patch.setattr(module, "_PROBE_S", 0.0)
        assert missing_parts() == {"all": "they could not be set up within 0 s"}
    monkeypatch.setattr(module, "_read_kept", lambda _: Kept(held=("net",)))
    assert missing_parts() == {}
    module._refused_parts.cache_clear()


def test_all_parts_have_names() -> None:
    assert {*WITHOUT_ROOT} <= {*PARTS}
    assert not {*PARTS} & OPTIONAL
