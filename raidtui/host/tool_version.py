"""Which version of a tool is there. A tool that is slow to answer is not "not installed"."""

from __future__ import annotations

import re

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, AnswerKind

_VERSION_S = 10.0


def read_version(reader: HostReader, tool: str, form: re.Pattern[str]) -> Answer[tuple[int, ...]]:
    """Return a tool's version; where it does not answer in time, it is asked twice.

    Args:
        reader: the host.
        tool: it is asked with ``--version``.
        form: matches the version in what it prints: a group for each number.
    """
    output = reader.ask(tool, "--version", timeout_s=_VERSION_S)
    if output.kind is AnswerKind.TIMED_OUT:
        output = reader.ask(tool, "--version", timeout_s=_VERSION_S)
    found = form.search(output.stdout + output.stderr)
    if found:
        return output.answer(tuple(map(int, found.groups())))
    if output.kind is AnswerKind.ANSWER:
        return output.silent(AnswerKind.NOT_UNDERSTOOD, f"{tool} --version prints no version")
    return output.silent()
