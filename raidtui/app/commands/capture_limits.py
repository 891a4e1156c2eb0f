"""The live host for a capture: whatever hangs there, the capture ends, with what could be read until then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.tools import ToolOutput
from raidtui.model.answer import AnswerKind
from raidtui.view.units import counted

_OFTEN = 2
"""A tool that has not answered so often is not asked again."""


class CaptureReader(FolderReader):
    """The live host, of which no tool is waited for longer than a capture may take.

    Args:
        total_s: after how long no tool is asked any more.
        each_s: how long one call may take at most.
    """

    def __init__(self, *, total_s: float = 40.0, each_s: float = 8.0) -> None:
        super().__init__()
        self._until_s, self._total_s, self._each_s = time.monotonic() + total_s, total_s, each_s
        self.silent: dict[str, list[str]] = {}
        """Tools that have not answered, each with the arguments of those calls."""
        self.unasked: dict[str, int] = {}
        """Tools that were not asked any more, and how often."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``HostReader.ask``: what has hung, or comes too late, is not asked."""
        tool, left_s = argv[0], self._until_s - time.monotonic()
        if left_s <= 0 or len(self.silent.get(tool, ())) >= _OFTEN:
            self.unasked[tool] = self.unasked.get(tool, 0) + 1
            late = f"was not asked: the capture has taken {self._total_s:.0f} s"
            why = f"{tool} {late if left_s <= 0 else 'was not asked again: it does not answer'}"
            return ToolOutput(
                argv=argv, status=None, stdout="", stderr="", why_not=why, silence=AnswerKind.TIMED_OUT
            )
        output = super()._asked(*argv, timeout_s=min(timeout_s, self._each_s, left_s), stdin=stdin)
        if output.kind is AnswerKind.TIMED_OUT:
            self.silent.setdefault(tool, []).append(" ".join(argv[1:]))
        return output

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        """See ``HostReader.pieces``: what is older than could be read in half of the time is left out."""
        half_s = self._until_s - self._total_s / 2
        yield from super().pieces(
            *argv, stall_s=min(stall_s, self._each_s), ended=lambda: ended() or time.monotonic() > half_s
        )
        if time.monotonic() > half_s:
            self.silent.setdefault(argv[0], []).append("to its end")

    def missing(self) -> Iterator[str]:
        """Yield what the capture lacks, a clause for each tool."""
        for tool in sorted({*self.silent, *self.unasked}):
            calls, unasked = self.silent.get(tool, []), self.unasked.get(tool, 0)
            words = [f"{tool} did not answer: {', '.join(calls)}"] if calls else []
            words += [f"{counted(unasked, 'call')} of {tool} left out"] if unasked else []
            yield "; ".join(words)
