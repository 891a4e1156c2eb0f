"""What this process does to the real host, as Python's own audit hook reports it (PEP 578)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEEDS = frozenset(
    {
        "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
        "os.truncate", "shutil.copyfile", "shutil.move", "sqlite3.connect", "subprocess.Popen", "os.system",
        "os.exec", "os.posix_spawn", "os.fork", "socket.connect",
    }
)  # fmt: skip
_watches: list[list[str]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watches:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & _WRITES and isinstance(path, str | bytes):
            _note(f"open {os.fsdecode(path)}")
    elif event in _DEEDS:
        _note(f"{event} {arguments[0]}")


def _note(text: str) -> None:
    if "__pycache__" not in text and not text.startswith("open /dev/null"):
        for deeds in _watches:
            deeds.append(text)


sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Gather what is written, made, removed, run or connected to meanwhile, whoever does it."""
    deeds: list[str] = []
    _watches.append(deeds)
    try:
        yield deeds
    finally:
        _watches.remove(deeds)


def check_watch(folder: Path) -> None:
    """Called by the test that rests on it: nothing seen must mean nothing done."""
    with watched() as deeds:
        (folder / "file").write_text("x")
        (folder / "sub").mkdir()
        os.close(os.open(folder / "other", os.O_RDWR | os.O_CREAT))
        (folder / "file").read_text()
    assert len(deeds) == 3, deeds
