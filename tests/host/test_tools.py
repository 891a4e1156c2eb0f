"""Tools that do not end: they are not waited for."""

from __future__ import annotations

import subprocess

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
