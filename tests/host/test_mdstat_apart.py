"""/proc/mdstat through a process of its own: large ones, missing ones, and one that does not answer."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from raidtui.host import mdstat_apart
from raidtui.host.mdstat_apart import MdstatReader


@pytest.mark.parametrize("size", [0, 5, 200_000])
def test_the_whole_file_is_read_as_it_is_now(tmp_path: Path, size: int) -> None:
    file = tmp_path / "mdstat"
    reader = MdstatReader(str(file))
    for byte in (b"a", b"b"):
        file.write_bytes(byte * size)
        assert reader.read() == byte * size


def test_what_is_not_there_or_no_file_is_said_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MdstatReader(str(tmp_path / "none")).read()
    with pytest.raises(IsADirectoryError):
        MdstatReader(str(tmp_path)).read()


def test_a_file_that_does_not_answer_is_asked_once_and_read_again_when_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes to the pipe: the process that opens it waits."""
    asked: list[int] = []
    monkeypatch.setattr(mdstat_apart, "_PATIENCE_S", 0.0)

    def hangs(reader: MdstatReader) -> bool:
        asked.append(reader._pid)
        return True

    monkeypatch.setattr(MdstatReader, "_hangs", hangs)
    pipe = tmp_path / "mdstat"
    os.mkfifo(pipe)
    reader = MdstatReader(str(pipe))
    with pytest.raises(TimeoutError, match=r"it has not answered since \d\d:\d\d"):
        reader.read()
    with pytest.raises(TimeoutError):
        reader.read()
    assert len(set(asked)) == 1
    other = tmp_path / "answered"
    other.write_bytes(b"now")
    with pipe.open("wb") as end:
        other.replace(pipe)
        end.write(b"of the past")
    monkeypatch.setattr(MdstatReader, "_hangs", lambda _: False)
    while True:
        try:
            assert reader.read() == b"now"
            break
        except TimeoutError:
            continue


def test_a_busy_host_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that does not wait in the kernel is waited for: it has not been given the processor."""
    monkeypatch.setattr(mdstat_apart, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(mdstat_apart, "_PACE_S", 0.0)
    file = tmp_path / "mdstat"
    file.write_bytes(b"md")
    assert MdstatReader(str(file)).read() == b"md"


def test_where_there_is_no_other_process_the_file_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was killed, one that ends at once, one that does not start, and no program for it."""
    file = tmp_path / "mdstat"
    file.write_bytes(b"md")
    reader = MdstatReader(str(file))
    reader.read()
    killed = reader._pid
    os.kill(killed, signal.SIGKILL)
    assert (reader.read(), reader.read(), reader._pid != killed) == (b"md", b"md", True)
    monkeypatch.setattr(mdstat_apart, "_LONGEST_S", 0.1)
    for script in ("", "import time; time.sleep(60)"):
        monkeypatch.setattr(mdstat_apart, "_SCRIPT", script)
        assert MdstatReader(str(file)).read() == b"md"
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert MdstatReader(str(file)).read() == b"md"
