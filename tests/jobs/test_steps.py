"""One step: files put in place whole or not at all, tools that fail, proofs that are waited for."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs import runner
from raidtui.jobs.runner import do_step, first_trouble, holds
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import PutFile, RunTool, Write

ACTION = "/sys/class/block/md127/md/sync_action"
IDLE = Fact(kind=FactKind.TEXT, subject=ACTION, value="idle")
CHECK = Fact(kind=FactKind.TEXT, subject=ACTION, value="check")
STOP = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="x", stdin="y\n", timeout_s=7.0)


class Host(SimulatedReader):
    """Takes writes, and has one answer for all tools."""

    def __init__(self, *, status: int | None = 0, stdout: str = "", stderr: str = "", no: str = "") -> None:
        super().__init__({ACTION: "idle\n"})
        self.output = ToolOutput(argv=(), status=status, stdout=stdout, stderr=stderr, why_not=no)
        self.did: list[tuple[object, ...]] = []

    def take_value(self, path: str, text: str) -> None:
        self.did.append((path, text))

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        self.did.append((argv, timeout_s, stdin))
        return self.output


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """All pauses that were made; the clock moves by them alone."""
    made: list[float] = []
    monkeypatch.setattr("raidtui.jobs.runner.time.sleep", made.append)
    monkeypatch.setattr("raidtui.jobs.runner.time.monotonic", lambda: 1000.0 + sum(made))
    monkeypatch.setattr(runner, "_PROOF_S", 0.2)
    return made


@pytest.fixture
def said() -> list[str]:
    """What tools printed."""
    return []


def put(path: Path, content: str, *, backup: str = "job.bak") -> str:
    """Do a step that puts a file in place."""
    return do_step(Host(), PutFile(path=str(path), content=content, why="x"), lambda _: None, backup=backup)


def held(folder: Path) -> dict[str, bytes]:
    """All files in a folder, hidden ones too."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert put(tmp_path / "mdadm.conf", "ARRAY é\n") == ""
    finally:
        os.umask(before)
    assert held(tmp_path) == {"mdadm.conf": b"ARRAY \xe9\n"}
    assert stat.S_IMODE((tmp_path / "mdadm.conf").stat().st_mode) == 0o644


def test_all_bytes_pass(tmp_path: Path) -> None:
    whole = bytes(range(256))
    assert put(tmp_path / "fstab", whole.decode("latin-1")) == ""
    assert held(tmp_path) == {"fstab": whole}


def test_the_old_ones_owner_mode_and_content_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda _, user, group: owners.append((user, group)))
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    conf.chmod(0o640)
    before = conf.stat()
    assert put(conf, "new\n") == ""
    assert held(tmp_path) == {"mdadm.conf": b"new\n", "mdadm.conf.job.bak": b"old\n"}
    assert (stat.S_IMODE(conf.stat().st_mode), owners) == (0o640, [(before.st_uid, before.st_gid)])
    assert (tmp_path / "mdadm.conf.job.bak").stat().st_ino == before.st_ino


def test_a_job_that_writes_twice_keeps_what_was_there_first(tmp_path: Path) -> None:
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    assert [put(conf, "new\n"), put(conf, "newer\n")] == ["", ""]
    assert held(tmp_path) == {"mdadm.conf": b"newer\n", "mdadm.conf.job.bak": b"old\n"}


def test_without_a_backups_name_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mdadm.conf").write_text("old\n")
    assert put(tmp_path / "mdadm.conf", "", backup="") == ""
    assert held(tmp_path) == {"mdadm.conf": b""}


def test_a_link_goes_on_pointing_to_the_file(tmp_path: Path) -> None:
    """/etc/mdadm.conf may be a link to mdadm/mdadm.conf: both names are read."""
    (tmp_path / "mdadm").mkdir()
    (tmp_path / "mdadm" / "mdadm.conf").write_text("old\n")
    (tmp_path / "mdadm.conf").symlink_to("mdadm/mdadm.conf")
    assert put(tmp_path / "mdadm.conf", "new\n") == ""
    assert (tmp_path / "mdadm.conf").readlink() == Path("mdadm/mdadm.conf")
    assert held(tmp_path / "mdadm") == {"mdadm.conf": b"new\n", "mdadm.conf.job.bak": b"old\n"}


def refuse(code: int) -> Callable[..., None]:
    """Return a system call that fails."""

    def call(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


@pytest.mark.parametrize(
    ("call", "code", "left"),
    [
        ("fsync", errno.ENOSPC, {}),
        ("fchmod", errno.EPERM, {}),
        ("fchown", errno.EPERM, {}),
        ("link", errno.EROFS, {}),
        ("replace", errno.EIO, {"mdadm.conf.job.bak": b"old\n"}),
    ],
)
def test_whole_or_not_at_all(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    code: int,
    left: dict[str, bytes],
) -> None:
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    monkeypatch.setattr(os, call, refuse(code))
    assert put(conf, "new\n") == f"{conf} cannot be written: {os.strerror(code)}"
    assert held(tmp_path) == {"mdadm.conf": b"old\n", **left}


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    monkeypatch.setattr("raidtui.jobs.host_writer.tempfile.mkstemp", refuse(errno.EROFS))
    assert put(conf, "new\n") == f"{conf} cannot be written: Read-only file system"
    assert held(tmp_path) == {"mdadm.conf": b"old\n"}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    conf = tmp_path / "mdadm" / "mdadm.conf"
    assert put(conf, "new\n") == f"{conf} cannot be written: No such file or directory"
    assert held(tmp_path) == {}


def test_a_character_that_no_byte_stands_for(tmp_path: Path) -> None:
    conf = tmp_path / "mdadm.conf"
    conf.write_text("old\n")
    assert put(conf, "new → x\n") == f"{conf} cannot be written: it holds '→', which is not a byte"
    assert held(tmp_path) == {"mdadm.conf": b"old\n"}


@pytest.mark.parametrize(
    ("host", "reason", "printed"),
    [
        (Host(), "", []),
        (Host(stdout="one\ntwo\n", stderr="hm\n"), "", ["one\ntwo\n", "hm\n"]),
        (
            Host(status=1, stderr="mdadm: first\nmdadm: last\n"),
            "mdadm failed (1): mdadm: last",
            ["mdadm: first\nmdadm: last\n"],
        ),
        (Host(status=2, stdout="said here\n"), "mdadm failed (2): said here", ["said here\n"]),
        (Host(status=-9), "mdadm failed (-9)", []),
        (
            Host(status=None, no="mdadm did not answer within 7 s"),
            "mdadm did not answer within 7 s",
            [],
        ),
    ],
)
def test_a_tool(host: Host, reason: str, printed: list[str], said: list[str]) -> None:
    assert do_step(host, STOP, said.append) == reason
    assert said == printed
    assert host.did == [(STOP.argv, 7.0, "y\n")]


def test_a_need_that_does_not_hold(tmp_path: Path, said: list[str]) -> None:
    host = Host()
    for step in (
        Write(path=ACTION, text="idle", why="x", needs=(IDLE, CHECK)),
        RunTool(argv=("mdadm",), why="x", needs=(IDLE, CHECK)),
        PutFile(path=str(tmp_path / "x"), content="x", why="x", needs=(IDLE, CHECK)),
    ):
        assert do_step(host, step, said.append) == f"{ACTION} reads 'idle'"
    assert (host.did, said, held(tmp_path)) == ([], [], {})


def test_all_facts_and_the_first_that_does_not_hold() -> None:
    host = Host()
    other = Fact(kind=FactKind.TEXT, subject="/none", value="x")
    assert (holds(host, ()), first_trouble(host, ())) == (True, "")
    assert (holds(host, (IDLE,)), first_trouble(host, (IDLE,))) == (True, "")
    assert holds(host, (IDLE, other)) is False
    assert first_trouble(host, (IDLE, other, CHECK)) == "/none reads None"


class Slow(Host):
    """What was written can be read after some pauses."""

    def __init__(self, pauses: list[float], *, after: int) -> None:
        super().__init__()
        self.pauses = pauses
        self.after = after

    def read(self, path: str, *, keep: bool = False) -> bytes:
        return b"check\n" if self.did and len(self.pauses) >= self.after else super().read(path, keep=keep)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_proof_is_waited_for(pauses: list[float], after: int) -> None:
    host = Slow(pauses, after=after)
    step = Write(path=ACTION, text="check", why="x", needs=(IDLE,), proves=(CHECK,))
    assert do_step(host, step, lambda _: None) == ""
    assert (host.did, pauses) == ([(ACTION, "check")], [0.05] * after)


def test_a_proof_that_never_comes(pauses: list[float]) -> None:
    host = Host()
    step = Write(path=ACTION, text="check", why="x", proves=(IDLE, CHECK))
    assert do_step(host, step, lambda _: None) == f"the step ran, but {ACTION} reads 'idle'"
    assert host.did == [(ACTION, "check")]
    assert 0.2 <= sum(pauses) < 0.3


def test_what_failed_proves_nothing(pauses: list[float]) -> None:
    step = RunTool(argv=("mdadm",), why="x", proves=(CHECK,))
    assert do_step(Host(status=1), step, lambda _: None) == "mdadm failed (1)"
    assert pauses == []


class BusyAtFirst(Host):
    """A host on which udev has the array open for the first calls of a tool."""

    def __init__(self, *, busy: int) -> None:
        super().__init__()
        self.busy = busy

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)
        calls = sum(did[0] == STOP.argv for did in self.did)
        if argv == STOP.argv and calls <= self.busy:
            return ToolOutput(argv=argv, status=1, stdout="", stderr="mdadm: busy")
        return ToolOutput(argv=argv, status=0, stdout="", stderr="")


def test_a_patient_step(pauses: list[float], said: list[str]) -> None:
    """It is tried again while what it needs holds, and udev settles in between."""
    host = BusyAtFirst(busy=2)
    assert do_step(host, replace(STOP, patient=True, needs=(IDLE,)), said.append) == ""
    settle = ("udevadm", "settle", "--timeout=5")
    assert [did[0] for did in host.did] == [STOP.argv, settle, STOP.argv, settle, STOP.argv]
    assert (said, len(pauses)) == (["mdadm: busy"] * 2, 2)


def test_patience_has_an_end(pauses: list[float], said: list[str]) -> None:
    host = BusyAtFirst(busy=10_000)
    assert do_step(host, replace(STOP, patient=True), said.append) == "mdadm failed (1): mdadm: busy"
    assert sum(pauses) >= 15.0
    gone = BusyAtFirst(busy=10_000)
    assert do_step(gone, STOP, said.append) == "mdadm failed (1): mdadm: busy"
    assert [did[0] for did in gone.did] == [STOP.argv]


class Changing(Host):
    """Its state changes when a tool has been run so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if len(self.did) + 1 == self.times:
            self.put(ACTION, "check\n")
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


@pytest.mark.parametrize(
    ("repeats", "times", "runs"), [(True, 1, 1), (True, 3, 3), (False, 3, 1), (True, 9, 5)]
)
def test_a_step_that_is_repeated_until_its_proof_holds(
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
    *,
    repeats: bool,
    times: int,
    runs: int,
) -> None:
    """Each second, and not for ever."""
    monkeypatch.setattr(runner, "_PROOF_S", 4.5)
    host = Changing(times)
    why = "" if runs == times else f"the step ran, but {ACTION} reads 'idle'"
    assert do_step(host, replace(STOP, proves=(CHECK,), repeats=repeats), lambda _: None) == why
    assert len(host.did) == runs
    assert sum(pauses) < 5.0


def test_a_tool_that_fails_is_not_repeated(pauses: list[float]) -> None:
    host = Host(status=1, stderr="no udev")
    step = replace(STOP, proves=(CHECK,), repeats=True)
    assert do_step(host, step, lambda _: None) == "mdadm failed (1): no udev"
    assert (len(host.did), pauses) == (1, [])


def test_what_a_refused_write_means() -> None:
    path, readonly = "/sys/class/block/sda/queue/scheduler", OSError(errno.EROFS, "Read-only file system")
    words = "/sys is mounted read-only here, as in a container"
    assert runner._meaning(FolderReader("/"), readonly, path) == words
    assert runner._meaning(Host(), readonly, path) == "a captured tree is never written to"
