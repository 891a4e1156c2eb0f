"""Hostile job files, given to fio past the list of options: the kernel refuses what they are after."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidtui.jobs.sandbox import PARTS
from tests.extent import later
from tests.lab.guests.arrays import disk_names
from tests.lab.guests.guest import Guest

FOLDER, GIVEN = "/run/hostile", "/run/given"
HEAD = "[a]\nsize=1m\nbs=64k\n"
# They are after a command, another disk, a file, names elsewhere, a setting of the host, the disk itself.
HOSTILE = {
    "include": f"rw=read\ninclude:{FOLDER}/inc\n",
    "exec_prerun": f"rw=read\nexec_prerun=touch {FOLDER}/ran; echo 3 >/proc/sys/vm/drop_caches\n",
    "exec": f"ioengine=exec\nprogram=/usr/bin/touch\narguments={FOLDER}/ran\n",
    "mem": f"rw=read\nmem=mmap:{FOLDER}/precious\n",
    "mem of a disk": "rw=read\nmem=mmapshared:OTHER\n",
    "filename": "rw=write\nfilename=OTHER\n",
    "filename above": "rw=write\nfilename=../../../../OTHER\n",
    "a file": f"rw=write\nfilename={FOLDER}/precious\n",
    "unlink": f"rw=read\nunlink=1\nfilename={FOLDER}/precious\n",
    "opendir": f"rw=write\nopendir={FOLDER}\n",
    "directory": f"rw=write\ndirectory={FOLDER}\n",
    "write_iolog": f"rw=read\nwrite_iolog={FOLDER}/precious\n",
    "write_bw_log": f"rw=read\nwrite_bw_log={FOLDER}/log\n",
    "aux": f"rw=write\nverify=crc32c\nverify_state_save=1\nfilename={FOLDER}/x\n",
    "ioscheduler": "rw=read\nioscheduler=none\n",
    "uid": "rw=write\nuid=0\ngid=0\nfilename=OTHER\n",
    "trim": "rw=trim\nfilename=OTHER\n",
    "net": "ioengine=net\nhostname=127.0.0.1\nport=8765\nrw=write\n",
    "write": "rw=write\n",
    "fill": "rw=write\nsize=64m\nbs=1m\n",
}
_INSIDE = """
import hashlib, json, os, shutil, sys, time
from pathlib import Path
from raidtui.features.bench.run.fio_process import fio_argv, run_fio
from raidtui.jobs.sandbox import Sandbox, free_uid, missing_parts

given = json.loads({given!r})
folder, elsewhere, target, other = (Path(each) for each in given["paths"])

def digest(path, size=1 << 21):
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(size)).hexdigest()[:12]
    except OSError as error:
        return str(error)

def state():
    scheduler = Path("/sys/block", target.name, "queue/scheduler")
    return {{
        "other": digest(other), "precious": digest(elsewhere / "precious"), "target": digest(target),
        "names": sorted(os.listdir(elsewhere)), "scheduler": scheduler.read_text(),
    }}

def run(job, **more):
    shutil.rmtree(elsewhere, ignore_errors=True)
    elsewhere.mkdir()
    (elsewhere / "precious").write_bytes(b"precious" * 20000)
    (elsewhere / "inc").write_text(f"exec_prerun=touch {{elsewhere}}/ran\\n")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(0o700)
    uid = free_uid("x")
    os.chown(folder, uid, uid)
    before = state()
    names = [] if "device" in more else ["--directory=/work"] if not given["without"] else []
    names += [f"--filename={{target}}"] if "device" in more else []
    more.setdefault("folder", "" if "device" in more else str(folder))
    sandbox = Sandbox(uid=uid, file_bytes=4 << 20, without=tuple(given["without"]), **more)
    until_s = time.monotonic() + 10  # without its processes, the engine exec waits for ever
    argv = fio_argv([*names, "-"], read_only=False)
    end = run_fio(argv, sandbox, lambda _: None, lambda: time.monotonic() > until_s, job_file=job)
    after = state()
    changed = sorted(key for key in before if before[key] != after[key])
    sizes = sum(path.stat().st_size for path in folder.iterdir())
    kept = end.kept.held
    return {{"status": end.status, "changed": changed, "sizes": sizes, "kept": kept, "said": end.said}}

found = {{name: run(text, **given["how"]) for name, text in given["jobs"].items()}}
print(json.dumps({{"missing": missing_parts(), "found": found}}))
"""


def tried(guest: Guest, jobs: dict[str, str], *, without: tuple[str, ...] = (), **how: Any) -> dict[str, Any]:
    """Run jobs one after another in sandboxes; return what each changed elsewhere, and how it ended."""
    target, other = (f"/dev/{disk}" for disk in disk_names(guest)[:2])
    how = {name: target if value == "target" else value for name, value in how.items()}
    texts = {name: (HEAD + text).replace("OTHER", other) for name, text in jobs.items()}
    given = json.dumps(
        {"paths": [GIVEN, FOLDER, target, other], "jobs": texts, "how": how, "without": without}
    )
    result = guest.run(_INSIDE.format(given=given), interpreter="python", timeout=240)
    assert result.status == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["missing"] == {}, "the guest's kernel has all that is needed"
    found: dict[str, Any] = answer["found"]
    return found


def changed(found: dict[str, Any]) -> dict[str, list[str]]:
    """Return what was changed, by the jobs that changed something."""
    return {name: row["changed"] for name, row in found.items() if row["changed"]}


def test_without_a_sandbox_they_do_harm(guest: Guest) -> None:
    """What the others are compared with: the same runner, without its parts."""
    jobs = {name: HOSTILE[name] for name in ("exec_prerun", "a file")}
    found = tried(guest, jobs, without=PARTS, calls=False)
    assert found["exec_prerun"]["changed"] == ["names"]
    assert found["a file"]["changed"] == ["precious"]


def test_in_a_folder(guest: Guest) -> None:
    found = tried(guest, HOSTILE)
    assert changed(found) == {}
    assert {tuple(sorted({*each["kept"]} & {*PARTS})) for each in found.values()} == {tuple(sorted(PARTS))}
    assert (found["write"]["status"], found["write"]["sizes"]) == (0, 1 << 20), "an honest one works"
    assert found["fill"]["sizes"] <= 4 << 20


@pytest.mark.later
def test_without_the_second_layer(guest: Guest) -> None:
    """As on a kernel that has neither Landlock nor a filter for system calls."""
    found = tried(guest, HOSTILE, without=("landlock",), calls=False)
    assert changed(found) == {}
    assert not {"landlock", "seccomp"} & {part for each in found.values() for part in each["kept"]}


@pytest.mark.parametrize(
    "engine", [later("psync"), later("libaio"), "io_uring", later("mmap"), later("posixaio")]
)
def test_engines(guest: Guest, engine: str) -> None:
    depth = 1 if engine in {"psync", "mmap"} else 8
    job = {engine: f"ioengine={engine}\nrw=randrw\niodepth={depth}\nnumjobs=2\n"}
    (found,) = tried(guest, job).values()
    assert (found["status"], found["said"]) == (0, []), found


@pytest.mark.later
def test_a_device_that_is_read(guest: Guest) -> None:
    found = tried(guest, {**HOSTILE, "read": "rw=read\ndirect=1\n"}, device="target")
    assert changed(found) == {}
    assert (found["read"]["status"], found["write"]["status"]) == (0, 1)


def test_a_device_that_is_written(guest: Guest) -> None:
    found = tried(guest, HOSTILE, device="target", writes=True)
    assert {each for row in changed(found).values() for each in row} == {"target"}
    assert (found["write"]["status"], found["write"]["changed"]) == (0, ["target"])
