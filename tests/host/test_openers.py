"""Who has a device open: loop devices, also on a captured tree, and this machine's processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from raidtui.host import examine, facts, openers
from raidtui.host.facts import why_not
from raidtui.host.openers import open_words
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.reading import read_survey
from raidtui.model.fact import Fact, FactKind
from tests.hosts.trees import host_tree, snapshot_of

NODE = "/sys/class/block"
NUMBER = "250:7"
Process = subprocess.Popen[bytes]
HOLD = "import os, sys; os.open(sys.argv[1], {}); print(flush=True); sys.stdin.read()"


def host(backing: str) -> MemoryReader:
    """Sdz with sdz1, and loop3, which is mounted."""
    root = host_tree(disks={"sdz": {}, "sdz1": {}, "loop3": {}}).root()
    for name, number in (("sdz", "65:144"), ("sdz1", "65:145"), ("loop3", "7:3")):
        root.put(f"{NODE}/{name}/dev", number)
    root.put(f"{NODE}/sdz/sdz1/partition", "1")
    root.put(f"{NODE}/sdz1/partition", "1")
    root.put("/sys/block/loop3/loop/backing_file", backing + "\n")
    root.put("/sys/block/loop3/ro", "0\n")
    root.put("/proc/self/mountinfo", "1 2 7:3 / /srv rw - ext4 /dev/loop3 rw\n")
    return root


@pytest.mark.parametrize("backing", ["/dev/sdz", "/dev/./sdz", "/dev/sdz (deleted)"])
def test_a_loop_device(backing: str) -> None:
    words = "loop3 is set up on it (ext4 mounted at /srv)"
    assert open_words(host(backing), ("sdz", "sdz1")) == {"sdz": words, "sdz1": words}
    assert open_words(host("/dev/sdz1"), ("sdz", "sdz1")) == {"sdz": words, "sdz1": words}
    assert open_words(host("/srv/file"), ("sdz", "sdz1")) == {}
    fact = Fact(kind=FactKind.FREE, subject="sdz1")
    assert why_not(host(backing), fact) == f"sdz1: {words}"


def test_a_partition_beside_a_loop_device_that_only_reads() -> None:
    root = host("/dev/sdz")
    root.put("/sys/block/loop3/ro", "1\n")
    assert set(open_words(root, ("sdz", "sdz1"))) == {"sdz"}


def test_a_survey_says_it() -> None:
    root = host("/dev/sdz")
    found = read_survey(root, snapshot_of(host_tree()), ("sdz",))
    assert found.devices["sdz"].busy == "loop3 is set up on it (ext4 mounted at /srv)"


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FolderReader:
    """This machine, where a file of ours counts as the block device "sdz"."""
    file = tmp_path / "device"
    file.touch()
    real = os.stat

    def number(path: str, away: tuple[str, ...]) -> str:
        try:
            same = real(path).st_ino == file.stat().st_ino
        except OSError:
            same = False
        return NUMBER if same else ""

    monkeypatch.setattr(openers, "_block_number", number)
    monkeypatch.setattr(
        openers, "_related", lambda _, name: ((NUMBER,), "") if name == "sdz" else ((), NUMBER)
    )
    return FolderReader("/")


@pytest.fixture
def holder(tmp_path: Path, live: FolderReader, request: pytest.FixtureRequest) -> Iterator[Process]:
    """A process that has it open, as the parameter says."""
    flags = getattr(request, "param", "os.O_RDONLY")
    argv = (sys.executable, "-S", "-c", HOLD.format(flags), str(tmp_path / "device"))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def said(process: Process) -> str:
    name = Path(f"/proc/{process.pid}/comm").read_text().strip()
    return f"{name} (pid {process.pid}) has it open"


@pytest.mark.parametrize("holder", ["os.O_RDONLY", "os.O_RDWR"], indirect=True)
def test_a_process(live: FolderReader, holder: Process, request: pytest.FixtureRequest) -> None:
    """Of a partition's disk, one that reads is no hindrance, one that writes is."""
    writes = "RDWR" in request.node.name
    words = said(holder)
    found = open_words(live, ("sdz", "sdz1"), patience_s=0)
    assert found == ({"sdz": words, "sdz1": words} if writes else {"sdz": words})


def test_one_that_goes(live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only looked is gone when it is looked again."""

    def pause(_: float) -> None:
        holder.kill()
        holder.wait()

    monkeypatch.setattr("raidtui.host.openers.time.sleep", pause)
    assert open_words(live, ("sdz",), patience_s=60) == {}


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("stays", [True, False])
def test_udev_and_what_it_starts(
    live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch, *, own: bool, stays: bool
) -> None:
    """It is waited for longer than others; one that stays is named as udev's."""
    name = Path(f"/proc/{holder.pid}/comm").read_text().strip()

    def pause(_: float) -> None:
        if not stays:
            holder.kill()
            holder.wait()

    monkeypatch.setattr("raidtui.host.openers.time.sleep", pause)
    monkeypatch.setattr(openers, "_UDEV_S", 0.0 if stays else 60.0)
    monkeypatch.setattr(openers, "_UDEV", frozenset({name}) if own else frozenset())
    monkeypatch.setattr(openers, "_is_udev", lambda _: True)
    who = "udev's worker" if own else name
    words = f"{who} (pid {holder.pid}){'' if own else ', which udev has started,'} has it open"
    assert open_words(live, ("sdz",), patience_s=0) == ({"sdz": words} if stays else {})


def test_what_udev_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    monkeypatch.setattr(openers, "_UDEV", frozenset({parent}))
    assert openers._is_udev(os.getpid())
    monkeypatch.setattr(openers, "_UDEV", frozenset({"udevd"}))
    assert not openers._is_udev(os.getpid())


@pytest.mark.parametrize("settles", [True, False])
def test_a_device_that_udev_holds_is_waited_for(monkeypatch: pytest.MonkeyPatch, *, settles: bool) -> None:
    """Such as by its mdadm --incremental, which opens it exclusively."""
    root = host_tree(disks={"sdz": {}}).root()
    root.put("/run/udev/queue", "")
    answers = iter(("something uses it", "something uses it", ""))
    monkeypatch.setattr(examine, "why_busy", lambda *_: next(answers) if settles else "something uses it")
    monkeypatch.setattr(examine, "_UDEV_S", 60.0 if settles else 0.0)
    monkeypatch.setattr("raidtui.host.examine.time.sleep", lambda _: None)
    assert examine.read_device(root, "sdz").busy == ("" if settles else "something uses it")


def test_a_worker_of_udev_that_ends_meanwhile(
    live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was called "a process": its name, or its parent, could not be read any more."""
    assert open_words(live, ("sdz",), patience_s=0) == {"sdz": said(holder)}

    def gone(pid: int) -> None:
        raise psutil.NoSuchProcess(pid)

    with monkeypatch.context() as patch:
        patch.setattr(psutil, "Process", gone)
        assert open_words(live, ("sdz",), patience_s=0) == {}
    name = f"/proc/{holder.pid}/comm"
    text = live.text
    monkeypatch.setattr(live, "text", lambda path, **more: None if path == name else text(path, **more))
    assert open_words(live, ("sdz",), patience_s=0) == {}


@pytest.mark.parametrize(("readers", "counts"), [(True, False), (False, True)])
def test_a_tool_that_reads_for_this_process_is_nobody(
    live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch, *, readers: bool, counts: bool
) -> None:
    """Such as mdadm --examine of a survey; another program that this process has started counts."""
    name = Path(f"/proc/{holder.pid}/comm").read_text().strip()
    monkeypatch.setattr(openers, "_READERS", frozenset({name} if readers else {"mdadm"}))
    assert bool(open_words(live, ("sdz",), patience_s=0)) is counts


def test_the_mdadm_of_another_process_counts(
    live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Path(f"/proc/{holder.pid}/comm").read_text().strip()
    monkeypatch.setattr(openers, "_READERS", frozenset({name}))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert open_words(live, ("sdz",), patience_s=0) == {"sdz": said(holder)}


def test_what_cannot_be_looked_at(live: FolderReader, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if path == "/proc/1/fd":
            raise PermissionError
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    assert open_words(live, ("sdz",)) == {"sdz": "only root can see which processes have it open"}


def test_files_that_may_hang_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = "1 2 0:9 / /srv/a\\040b rw - nfs4 x:/ rw\n1 2 0:8 / /mnt rw - ext4 /dev/sda rw\n"
    assert openers._remote_mounts(MemoryReader({"/proc/self/mountinfo": mounts})) == ("/srv/a b/",)
    asked: list[Any] = []
    monkeypatch.setattr(os, "readlink", lambda _: "/srv/a b/file")
    monkeypatch.setattr(os, "stat", asked.append)
    assert (openers._block_number("/proc/1/fd/3", ("/srv/a b/",)), asked) == ("", [])


def test_right_before_a_step(live: FolderReader, holder: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opened it since the plan was made stops the step."""
    monkeypatch.setattr(facts, "why_busy", lambda *_: "")
    monkeypatch.setattr(
        facts, "_disk", lambda *_: examine.read_device(host_tree(disks={"sdz": {}}).root(), "sdz").disk
    )
    monkeypatch.setattr(facts, "_PATIENCE_S", 0)
    assert why_not(live, Fact(kind=FactKind.FREE, subject="sdz")) == f"sdz: {said(holder)}"
