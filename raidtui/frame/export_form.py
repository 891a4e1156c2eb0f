"""The dialog for an export: file and form. An existing file is never overwritten."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.frame.screen_shell import later
from raidtui.frame.text_field import TextFieldScreen, field_lines, field_of
from raidtui.jobs.new_files import ExportError, new_path, typed_path
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import visible
from raidtui.watch.host_thread import HostThread

_MOST = 4096


class ExportForm(TextFieldScreen[Path]):
    """Gives the path of the file that was written, or None.

    Args:
        title: what is exported.
        stem: how the file's name begins.
        forms: what each form holds, by the ending of its file.
        write: writes a form to a new file, in a thread; raises ``ExportError``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
    ]

    def __init__(
        self, title: str, stem: str, forms: Mapping[str, str], write: Callable[[Path, str], Path]
    ) -> None:
        self._kinds = tuple(forms)
        self._kind = self._kinds[0]
        self._words = forms
        self._stem = stem
        self._at_s = time.time()
        super().__init__(title, self._path(self._kind), _MOST)
        self._write_form = write
        self._trouble = ""
        self._writing = False

    def _path(self, kind: str) -> str:
        return str(new_path(self._stem, kind, self._at_s))

    def draw(self) -> None:
        """Draw everything."""
        width = self.inner_width
        lines: list[Line] = []
        for kind in self._kinds:
            chosen = kind == self._kind
            mark = "(●)" if chosen else "( )"
            lines.append([(f" {mark} {kind.upper():<6}", "strong" if chosen else "plain")])
            lines[-1].append((self._words[kind], "plain" if chosen else "dim"))
        lines += [[], [(" to", "dim")], *field_lines(self.line, width), []]
        self.show_body(lines)
        trouble = f"{GLYPHS['warn']} {visible(self._trouble)}" if self._trouble else ""
        self.show_foot(
            ("↑↓", "form"), ("Enter", "write"), ("^u", "clear"), ("Esc", "back"), note=trouble, role="warn"
        )

    def action_move(self, delta: int) -> None:
        """Choose the form above or below; a path that ends so ends as the new one does."""
        before = self._kind
        at = self._kinds.index(before) + delta
        self._kind = self._kinds[max(0, min(len(self._kinds) - 1, at))]
        text = self.line.text
        if text == self._path(before):
            self.line = field_of(self._path(self._kind), _MOST)
        elif text.endswith(f".{before}"):
            self.line = field_of(text.removesuffix(before) + self._kind, _MOST)
        self._trouble = ""
        self.draw()

    def edited(self) -> None:
        """What was wrong was about another path."""
        self._trouble = ""
        super().edited()

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
        write = partial(self._write_form, path, self._kind)
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
