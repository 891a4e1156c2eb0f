"""Tools that do not end: they are not waited for."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys

import pytest

from raidtui.host import tools
from raidtui.model.answer import AnswerKind


def test_a_tool_that_cannot_be_killed_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits in the kernel for a device that does not answer ends when that does, not by SIGKILL."""
    started: list[subprocess.Popen[bytes]] = []

    def noted(process: subprocess.Popen[bytes]) -> None:
        started.append(process)

    monkeypatch.setattr(subprocess.Popen, "kill", noted)
    monkeypatch.setattr(tools, "_END_S", 0.01)
    done = tools.run_tool(("sleep", "600"), 0.01)
    monkeypatch.undo()
    started[0].kill()
    assert started[0].wait() == -9
    assert (done.status, done.kind, done.why_not) == (
        None,
        AnswerKind.TIMED_OUT,
        "sleep did not answer within 0 s",
    )


def test_what_a_tool_reads_and_prints() -> None:
    assert tools.run_tool(("cat",), 60.0, "words").stdout == "words"


_LEFT = """
import threading
from raidtui.host import tools
threading.Thread(target=tools.run_tool, args=(("sleep", "600"), 600.0), daemon=True).start()
while not tools._UNDER_WAY:
    pass
print(next(iter(tools._UNDER_WAY)).pid)
"""


def test_a_tool_that_nobody_waits_for_any_more_ends_with_raidtui() -> None:
    """Each run of a monitor left one more."""
    pid = int(subprocess.run((sys.executable, "-c", _LEFT), stdout=subprocess.PIPE, check=True).stdout)
    with contextlib.suppress(ProcessLookupError), os.fdopen(os.pidfd_open(pid)) as ended:
        assert select.select([ended], [], [], 60.0)[0]
