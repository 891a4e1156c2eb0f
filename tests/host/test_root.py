"""Files of a host: a real folder with kept descriptors, and a tree held in memory."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.host import tools as tools_module
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import captured_words
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput, output_path, run_tool, tool_path
from raidtui.model.answer import AnswerKind


@pytest.fixture
def live() -> Iterator[FolderReader]:
    root = FolderReader("/")
    yield root
    root.close()


def test_kept_descriptor_reads_what_is_there_now(live: FolderReader, tmp_path: Path) -> None:
    path = tmp_path / "mdstat"
    path.write_text("first\n")
    assert live.text(str(path), keep=True) == "first"
    moved = tmp_path / "moved"
    path.rename(moved)  # a path that is opened again would not be found
    moved.write_text("second, and longer\n")
    assert live.text(str(path), keep=True) == "second, and longer"
    assert live.text(str(path)) == "second, and longer"


def test_forget_closes(live: FolderReader, tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text("clean\n")
    live.read(str(path), keep=True)
    path.unlink()
    assert live.text(str(path)) == "clean"
    live.forget(str(tmp_path))
    assert live.text(str(path)) is None


def test_long_files_are_read_whole(live: FolderReader, tmp_path: Path) -> None:
    path = tmp_path / "diskstats"
    data = b"x" * 200_000
    path.write_bytes(data)
    assert live.read(str(path), keep=True) == data
    assert live.read(str(path), keep=True) == data


@pytest.mark.parametrize(("number", "again"), [(errno.ENODEV, True), (errno.EIO, False)])
def test_array_that_was_stopped_and_made_again(
    live: FolderReader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    again: bool,  # noqa: FBT001
) -> None:
    """A stopped array's open files fail with ENODEV for ever; the new array's must be opened."""
    path = tmp_path / "array_state"
    path.write_text("clean\n")
    live.read(str(path), keep=True)
    path.unlink()
    path.write_text("active\n")
    genuine, failures = os.pread, [OSError(number, os.strerror(number))]

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        if failures:
            raise failures.pop()
        return genuine(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    assert live.text(str(path), keep=True) == ("active" if again else None)
    assert live.text(str(path), keep=True) == "active"


def test_array_that_was_stopped(live: FolderReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "array_state"
    path.write_text("clean\n")
    live.read(str(path), keep=True)
    path.unlink()

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(os, "pread", pread)
    with pytest.raises(FileNotFoundError):
        live.read(str(path), keep=True)


@pytest.fixture
def sysfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose open files fail with ENODEV once they are removed, as sysfs's do."""
    genuine = os.pread

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        if os.fstat(descriptor).st_nlink == 0:
            raise OSError(errno.ENODEV, "No such device")
        return genuine(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", pread)
    return tmp_path


def test_many_at_once_with_kept_descriptors(live: FolderReader, sysfs: Path) -> None:
    state, errors = sysfs / "state", sysfs / "errors"
    state.write_bytes(b"in_sync\n")
    errors.write_bytes(b"\xff\n")
    paths = (str(state), str(sysfs / "nothing"), str(errors), "/no\0path")
    assert live.read_many(paths) == (b"in_sync\n", None, b"\xff\n", None)
    state.rename(sysfs / "moved")  # a path that is opened again would not be found
    (sysfs / "moved").write_bytes(b"faulty\n")
    assert live.read_many(paths) == (b"faulty\n", None, b"\xff\n", None)
    assert live.read_many(()) == ()


def test_many_at_once_where_one_goes_and_comes_back(live: FolderReader, sysfs: Path) -> None:
    state, errors = sysfs / "state", sysfs / "errors"
    state.write_bytes(b"in_sync\n")
    errors.write_bytes(b"0\n")
    paths = (str(state), str(errors))
    assert live.read_many(paths) == (b"in_sync\n", b"0\n")
    state.unlink()
    assert live.read_many(paths) == (None, b"0\n")
    assert live.read_many(paths) == (None, b"0\n")
    state.write_bytes(b"spare\n")
    assert live.read_many(paths) == (b"spare\n", b"0\n")
    state.unlink()
    state.write_bytes(b"in_sync\n")  # gone and there again between two readings
    assert live.read_many(paths) == (b"in_sync\n", b"0\n")
    live.forget(str(sysfs))
    errors.unlink()
    assert live.read_many(paths) == (b"in_sync\n", None)


def test_many_at_once_of_another_host(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "state").write_text("clean\n")
    assert FolderReader(str(tmp_path)).read_many(("/sys/state", "/sys/none")) == (b"clean\n", None)
    held = MemoryReader({"/sys/state": "clean\n"})
    assert held.read_many(("/sys/state", "/sys/none")) == (b"clean\n", None)
    held.forget("/sys/")  # nothing is kept open
    assert held.read_many(("/sys/state",)) == (b"clean\n",)


def test_folder_that_is_another_host(tmp_path: Path) -> None:
    (tmp_path / "proc" / "sys" / "kernel").mkdir(parents=True)
    (tmp_path / "proc" / "sys" / "kernel" / "hostname").write_text("nas\n")
    (tmp_path / ".raidtui").mkdir()
    (tmp_path / ".raidtui" / "taken_s").write_text("1795209900.5")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "data").symlink_to("../md127")
    root = FolderReader(str(tmp_path))
    assert (root.live, root.source, root.writable) == (False, str(tmp_path), False)
    assert (root.still, FolderReader(str(tmp_path / "proc")).still) == (True, False)
    assert (root.hostname, root.kernel, root.now_s()) == ("nas", None, 1795209900.5)
    assert (root.names("/"), root.names("/nothing")) == ((".raidtui", "dev", "proc"), ())
    assert (root.link("/dev/data"), root.link("/proc")) == ("../md127", None)
    assert [root.exists(path) for path in ("/proc", "/proc/sys/kernel/hostname", "/nothing")] == [
        True,
        True,
        False,
    ]
    assert root.ask("mdadm", "--version") == ToolOutput(
        argv=("mdadm", "--version"),
        status=None,
        stdout="",
        stderr="",
        why_not="mdadm was not run for this capture",
        silence=AnswerKind.NOT_ASKED,
    )


@pytest.mark.parametrize("text", ["nan", "inf", "-5", "0", "1e300", "", "soon"])
def test_time_of_a_capture_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 77.0)
    assert MemoryReader({"/.raidtui/taken_s": text}).now_s() == 77.0


def test_memory() -> None:
    root = MemoryReader({"/a/b/c": "1\n", "/a/d": b"\xff\n"}, links={"/a/e": "../x"}, taken_s=5.0)
    assert root.names("/a") == root.names("/a/") == ("b", "d", "e")
    assert (root.text("/a/b/c"), root.text("/a/d"), root.text("/a")) == ("1", "\ufffd", None)
    assert (root.link("/a/e"), root.link("/a/d"), root.now_s()) == ("../x", None, 5.0)
    root.put("/a/b/f", "2")
    root.drop("/a/b/c")
    assert (root.names("/a/b"), root.text("/a/b/c")) == (("f",), None)
    root.drop("/a/b")
    assert (root.names("/a"), root.names("/a/b"), root.text("/a/b/f")) == (("d", "e"), (), None)
    root.put("/a/b/g", "3")
    assert root.names("/a") == ("b", "d", "e")


@pytest.mark.parametrize(
    ("held", "status", "stdout"),
    [
        ("exit 0\nMD_LEVEL=raid1\n", 0, "MD_LEVEL=raid1"),
        ("exit 2\n", 2, ""),
    ],
)
def test_captured_output(held: str, status: int | None, stdout: str) -> None:
    argv = ("mdadm", "--detail", "--export", "/dev/md/data")
    assert output_path(argv) == "/.raidtui/run/mdadm_--detail_--export_-dev-md-data.txt"
    root = MemoryReader({output_path(argv): held})
    assert root.ask(*argv) == ToolOutput(argv=argv, status=status, stdout=stdout, stderr="")


@pytest.mark.parametrize(
    ("held", "kind", "why"),
    [
        ("exit ²\n", AnswerKind.NOT_UNDERSTOOD, "the capture's output of lvs is damaged"),
        ("what", AnswerKind.NOT_UNDERSTOOD, "the capture's output of lvs is damaged"),
        ("timed-out\nlvs did not answer within 5 s", AnswerKind.TIMED_OUT, "lvs did not answer within 5 s"),
        ("no-tool\nlvs is not installed", AnswerKind.NO_TOOL, "lvs is not installed"),
    ],
)
def test_a_captured_silence(held: str, kind: AnswerKind, why: str) -> None:
    found = MemoryReader({output_path(("lvs",)): held}).ask("lvs")
    assert (found.status, found.kind, found.why_not) == (None, kind, why)
    if kind is not AnswerKind.NOT_UNDERSTOOD:
        assert captured_words(found) == held


def test_tool_runs_without_input_in_the_c_locale() -> None:
    script = 'read line || echo "no input, $LC_ALL"; echo trouble >&2; exit 3'
    assert run_tool(("sh", "-c", script), 20) == ToolOutput(
        argv=("sh", "-c", script), status=3, stdout="no input, C\n", stderr="trouble\n"
    )


def test_tools_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_tool(("no-such-tool",), 20).why_not == "no-such-tool is not installed"
    assert run_tool(("sleep", "20"), 0.01).why_not == "sleep did not answer within 0 s"
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    monkeypatch.setattr(tools_module, "_TOOL_FOLDERS", (str(tmp_path),))
    assert tool_path("broken") == str(broken)
    assert run_tool(("broken",), 20) == ToolOutput(
        argv=("broken",), status=None, stdout="", stderr="", why_not=f"{broken}: Exec format error"
    )


def test_tools_are_never_looked_for_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "no-such-tool"
    trap.write_text("#!/bin/sh\necho trapped\n")
    trap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_tool(("no-such-tool",), 20).why_not == "no-such-tool is not installed"


def test_links_that_lead_out_of_a_captured_folder_are_not_followed(tmp_path: Path) -> None:
    """To a file, and by a folder on the way; a link within the folder is one of the host's."""
    host, outside = tmp_path / "host", tmp_path / "host-and-more"
    for each in (host / "etc", host / "run", outside):
        each.mkdir(parents=True)
    (outside / "secret").write_text("of this machine")
    (host / "etc/own").write_text("of the host")
    (host / "etc/file").symlink_to(outside / "secret")
    (host / "etc/folder").symlink_to(outside)
    (host / "run/own").symlink_to("../etc/own")
    root = FolderReader(str(host))
    assert root.read("/run/own") == b"of the host"
    for path in ("/etc/file", "/etc/folder/secret", "/../host-and-more/secret"):
        with pytest.raises(OSError, match="leads out of this folder"):
            root.read(path)
