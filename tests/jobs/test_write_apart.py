"""Writes to md by processes of their own: one that md does not take keeps nobody, nor is it repeated."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.jobs import write_apart as module
from raidtui.jobs.write_apart import may_wait, unanswered_since, write_apart


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of an array's files."""
    made = tmp_path / "md9" / "md"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def hung(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file that nobody takes from: a pipe without a reader waits as md does."""
    path = folder / "sync_action"
    os.mkfifo(path)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    yield str(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    for process, _ in module._waiting.values():
        process.wait()
    module._waiting.clear()
    os.close(reader)


def test_what_is_taken_is_written(folder: Path) -> None:
    (folder / "sync_action").write_text("idle\n")
    write_apart(str(folder / "sync_action"), "check")
    assert (folder / "sync_action").read_text() == "check"
    assert unanswered_since("md9") is None


def test_what_the_kernel_refuses_has_its_number(folder: Path) -> None:
    with pytest.raises(OSError, match="Is a directory") as caught:
        write_apart(str(folder), "idle")
    assert caught.value.errno == errno.EISDIR
    with pytest.raises(FileNotFoundError):
        write_apart(str(folder / "none"), "idle")


def test_what_is_not_taken_is_given_up_and_not_written_twice(hung: str) -> None:
    with pytest.raises(TimeoutError, match="md has not taken it for 0 s, and may do it later") as caught:
        write_apart(hung, "frozen")
    assert caught.value.errno == errno.ETIMEDOUT
    assert unanswered_since("md9") is not None
    assert unanswered_since("md8") is None
    with pytest.raises(TimeoutError, match=r"md has not taken a write to it since \d\d:\d\d"):
        write_apart(hung, "idle")


def test_when_it_is_taken_after_all_it_is_answered(hung: str) -> None:
    with pytest.raises(TimeoutError):
        write_apart(hung, "frozen")
    process, _ = module._waiting["md9"]
    reader = os.open(hung, os.O_RDONLY | os.O_NONBLOCK)
    process.wait()
    assert os.read(reader, 64) == b"frozen"
    os.close(reader)
    assert unanswered_since("md9") is None


def test_which_files_may_wait() -> None:
    assert may_wait("/sys/class/block/md9/md/sync_action")
    assert may_wait("/sys/class/block/md9/md/dev-sda/state")
    assert not may_wait("/sys/class/block/md9/md/sync_speed_max")
    assert not may_wait("/proc/sys/dev/raid/speed_limit_max")
