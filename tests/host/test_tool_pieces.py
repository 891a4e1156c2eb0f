"""Tools whose output is taken as it comes: real processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tool_pieces import PiecesError, tool_pieces
from raidtui.host.tools import output_path
from raidtui.model.answer import AnswerKind


def pieces(*argv: str, stall_s: float = 60.0) -> bytes:
    return b"".join(tool_pieces(argv, stall_s=stall_s, ended=lambda: False))


def test_all_of_it() -> None:
    assert pieces("seq", "200000") == "".join(f"{n}\n" for n in range(1, 200_001)).encode()


def test_one_that_is_not_there() -> None:
    with pytest.raises(PiecesError, match=r"^nosuch is not installed$") as error:
        pieces("nosuch")
    assert error.value.kind is AnswerKind.NO_TOOL


def test_one_that_fails_says_why() -> None:
    with pytest.raises(
        PiecesError, match=r"^ls exited with status 2: .*ls: cannot access '/nosuch'"
    ) as error:
        pieces("ls", "/nosuch")
    assert error.value.kind is AnswerKind.FAILED


def test_one_that_hangs_is_killed(tmp_path: Path) -> None:
    """It prints something, and then nothing more."""
    script = f"echo $$ >{tmp_path}/pid; echo first; exec sleep 1000"
    taken: list[bytes] = []
    asked = tool_pieces(("sh", "-c", script), stall_s=1.0, ended=lambda: False)
    with pytest.raises(PiecesError, match=r"^sh printed nothing for 1 s and was ended$") as error:
        taken.extend(asked)
    assert error.value.kind is AnswerKind.TIMED_OUT
    assert taken == [b"first\n"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGCONT)


def test_one_that_closes_its_output_and_stays() -> None:
    with pytest.raises(PiecesError, match=r"^sh did not end within 1 s and was killed$"):
        pieces("sh", "-c", "exec >&-; exec sleep 1000", stall_s=1.0)


def test_whoever_stops_early_leaves_nothing_behind(tmp_path: Path) -> None:
    """By a flag, and by not asking for more."""
    script = f"echo $$ >{tmp_path}/pid; while :; do echo x; done"
    seen: list[bytes] = []
    for piece in tool_pieces(("sh", "-c", script), stall_s=60.0, ended=lambda: len(seen) > 2):
        seen.append(piece)  # noqa: PERF402
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGCONT)
    asked = tool_pieces(("sh", "-c", script), stall_s=60.0, ended=lambda: False)
    assert next(asked)
    asked.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGCONT)


def test_the_c_locale_and_no_input() -> None:
    assert pieces("sh", "-c", "cat; echo $LC_ALL $HOME").strip() == b"C"


def test_roots(tmp_path: Path) -> None:
    captured = MemoryReader({output_path(("lsblk", "2")): "exit 0\n1\n2\n"})
    assert list(captured.pieces("lsblk", "2", stall_s=1, ended=lambda: False)) == [b"1\n2"]
    with pytest.raises(PiecesError, match="was not run for this capture"):
        list(captured.pieces("lsblk", "3", stall_s=1, ended=lambda: False))
    (tmp_path / "a").write_text("text")
    folder = FolderReader(str(tmp_path))
    with folder.open("/a") as file:
        assert file.read() == b"text"
    assert folder.may_read("/a")
    assert not folder.may_read("/b")
    assert folder.modified_s("/a") == (tmp_path / "a").stat().st_mtime
    assert folder.modified_s("/b") is None
    with pytest.raises(PiecesError):
        list(folder.pieces("lsblk", "2", stall_s=1, ended=lambda: False))
    asked = FolderReader().pieces("lsblk", "--version", stall_s=60, ended=lambda: False)
    assert b"".join(asked).startswith(b"lsblk from util-linux")
