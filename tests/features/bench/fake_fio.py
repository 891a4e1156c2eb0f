"""A fio that is a script: it prints what it is given, and does what its file says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.jobs import sandbox as sandbox_module
from raidtui.jobs.sandbox import PARTS, WITHOUT_ROOT, Kept, Sandbox

_SCRIPT = """#!{python}
import os, signal, sys, time
from pathlib import Path
here = Path({folder!r})
(here / "argv").write_text("\\n".join(sys.argv))
(here / "stdin").write_bytes(sys.stdin.buffer.read())
(here / "cwd").write_text(os.getcwd())
(here / "pid").write_text(str(os.getpid()))
data = (here / "stream").read_bytes()
os.write(1, data)
os.write(2, (here / "errors").read_bytes())
behaviour = (here / "behaviour").read_text()
if behaviour in ("waits", "asks"):
    def end(number, frame):
        os.write(1, (here / "last").read_bytes())
        os._exit(128)
    signal.signal(signal.SIGINT, end)
    (here / "ready").touch()
    if behaviour == "asks":
        starter = Path(f"/proc/{{os.getppid()}}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(starter), signal.SIGTERM)  # of what has started fio
    while True:
        time.sleep(0.05)
if behaviour == "deaf":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    (here / "ready").touch()
    while True:
        time.sleep(0.05)
if behaviour == "parent":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.fork()
    if not child:
        os.setsid()
        while True:
            time.sleep(0.05)
    (here / "child").write_text(str(child))
    (here / "ready").touch()
    while True:
        time.sleep(0.05)
if behaviour == "works":
    if not os.fork():
        while time.process_time() < 0.3:
            pass
        os._exit(0)
    while time.process_time() < 0.1:
        pass
    os.wait()
    behaviour = ""
if behaviour == "dies":
    os.kill(os.getpid(), signal.SIGSEGV)
sys.exit(int(behaviour or 0))
"""


class FakeFio:
    """A fio in a folder.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "fio"
        folder.mkdir()
        self.path.write_text(_SCRIPT.format(python=sys.executable, folder=str(folder)))
        self.path.chmod(0o755)
        self.does()

    def does(
        self, stream: bytes = b"", *, behaviour: str = "", errors: bytes = b"", last: bytes = b""
    ) -> None:
        """Say what it prints, and what it does then.

        Args:
            stream: what it prints.
            behaviour: an exit status; waits (for SIGINT); asks (its parent to end, and waits); deaf; dies;
                works (uses 0.4 s of CPU time, 0.3 s of it in a child); parent (deaf, with a child in a
                session of its own).
            errors: what it prints as errors.
            last: what it prints when it is asked to end.
        """
        for name, data in (("stream", stream), ("errors", errors), ("last", last)):
            (self.folder / name).write_bytes(data)
        (self.folder / "behaviour").write_text(behaviour)

    def in_place(self, monkeypatch: pytest.MonkeyPatch) -> FakeFio:
        """Stand where fio is, in a sandbox without the parts that would hide it or need root; return it."""
        real = sandbox_module._command

        def opened(sandbox: Sandbox, argv: Sequence[str], say: int) -> tuple[str, ...]:
            return real(replace(sandbox, without=WITHOUT_ROOT, calls=False), argv, say)

        monkeypatch.setattr("raidtui.features.bench.run.fio_process.tool_path", self.find)
        monkeypatch.setattr("raidtui.jobs.sandbox._command", opened)
        monkeypatch.setattr("raidtui.jobs.sandbox._read_kept", lambda _: Kept(held=PARTS))
        return self

    @property
    def argv(self) -> list[str]:
        """What it was called with."""
        return (self.folder / "argv").read_text().split("\n")[1:]

    @property
    def job_file(self) -> str:
        """What it was given on its standard input."""
        return (self.folder / "stdin").read_text()

    @property
    def ready(self) -> bool:
        """Whether it waits."""
        return (self.folder / "ready").exists()

    def find(self, name: str) -> str | None:
        """Stand for ``tool_path``: there is this fio, and nothing else."""
        return str(self.path) if name == "fio" else None
