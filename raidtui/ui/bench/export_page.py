"""The dialog for exporting runs: file and format. An existing file is never overwritten."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.bench.report.export import KINDS, ExportError, default_path, typed_path, write_export
from raidtui.bench.results.run_record import RunRecord, RunSample
from raidtui.session.host_thread import HostThread
from raidtui.ui.frame.screen_shell import later
from raidtui.ui.frame.text_field import TextFieldScreen, field_lines, field_of
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import visible
from raidtui.view.units import counted

_WORDS = {
    "html": "tables, pictures and what explains them, in one page",
    "csv": "a line a run, for a spreadsheet",
    "json": "everything, the samples too, for programs",
}
_MOST = 4096


class Export(TextFieldScreen[Path]):
    """Gives the path of the file that was written, or None.

    Args:
        records: the runs.
        samples: by the runs' numbers.
        by: the figure that the report compares by.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
    ]

    def __init__(
        self,
        records: Sequence[RunRecord],
        samples: Mapping[int, Sequence[RunSample]],
        *,
        by: str = "iops",
    ) -> None:
        self._kind = KINDS[0]
        self._at_s = time.time()
        path = str(default_path(self._kind, self._at_s))
        super().__init__(f"Export {counted(len(records), 'run')}", path, _MOST)
        self._records = tuple(records)
        self._samples = samples
        self._by = by
        self._trouble = ""
        self._writing = False

    def draw(self) -> None:
        """Draw everything."""
        width = self.inner_width
        lines: list[Line] = []
        for kind in KINDS:
            chosen = kind == self._kind
            mark = "(●)" if chosen else "( )"
            lines.append([(f" {mark} {kind.upper():<6}", "strong" if chosen else "plain")])
            lines[-1].append((_WORDS[kind], "plain" if chosen else "dim"))
        lines += [[], [(" to", "dim")], *field_lines(self.line, width), []]
        self.show_body(lines)
        trouble = f"{GLYPHS['warn']} {visible(self._trouble)}" if self._trouble else ""
        self.show_foot(
            ("↑↓", "form"), ("Enter", "write"), ("^u", "clear"), ("Esc", "back"), note=trouble, role="warn"
        )

    def action_move(self, delta: int) -> None:
        """Choose the form above or below; a path that ends so ends as the new one does."""
        before = self._kind
        self._kind = KINDS[max(0, min(len(KINDS) - 1, KINDS.index(before) + delta))]
        text = self.line.text
        if text == str(default_path(before, self._at_s)):
            self.line = field_of(str(default_path(self._kind, self._at_s)), _MOST)
        elif text.endswith(f".{before}"):
            self.line = field_of(text.removesuffix(before) + self._kind, _MOST)
        self._trouble = ""
        self.draw()

    def edited(self) -> None:
        """What was wrong was about another path."""
        self._trouble = ""

    def entered(self) -> None:
        """Write."""
        if self._writing:
            return
        try:
            path = typed_path(self.line.text)
        except ExportError as error:
            self._trouble = str(error)
            return
        self._writing = True
        later(self, partial(self._write, path))

    async def _write(self, path: Path) -> None:
        write = partial(write_export, path, self._kind, self._records, self._samples, self._by)
        thread = HostThread()  # a disk that hangs keeps neither the screen nor the end of raidtui
        try:
            written = await thread.run(write)
        except ExportError as error:
            self._trouble = str(error)
            self.draw()
        else:
            self.dismiss(written)
        finally:
            self._writing = False
            thread.close()

    def action_back(self) -> None:
        """Write nothing; a running export is finished first."""
        if not self._writing:
            self.dismiss(None)
