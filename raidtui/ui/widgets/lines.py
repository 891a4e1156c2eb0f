"""Lines of coloured text that repaint only the cells that changed: what nearly every pane is made of.

Textual's DataTable and Static repaint as a whole; at one change a second over ssh that is what counts. Text
is given as spans (text, role) and never goes through markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from raidtui.model.brief import Line
from raidtui.model.text import cell_width

ROLES = frozenset(
    {"plain", "dim", "strong", "ok", "warn", "bad", "accent", "tab", "key", "selected", "title"}
)


class Lines(ScrollView):
    """Shows lines. ``show`` replaces them; lines and cells that are equal are not sent again.

    With ``height: auto`` it is as high as it has lines, else it scrolls.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in ROLES}
    DEFAULT_CSS = """
    Lines {
        width: 1fr; height: auto; overflow-x: hidden; overflow-y: hidden;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0;
    }
    """
    can_focus = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._styles_by_role: dict[str, Style] = {}
        self._selected: int | None = None

    @property
    def lines(self) -> list[Line]:
        """What is shown, for tests and for the screen reader's text."""
        return self._lines

    @property
    def text(self) -> str:
        """The lines without colours."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self._lines)

    def show(self, lines: Sequence[Line], *, selected: int | None = None) -> None:
        """Show ``lines``; the line with index ``selected`` gets the cursor's background."""
        before, self._lines = self._lines, list(lines)
        was_selected, self._selected = self._selected, selected
        if len(before) != len(self._lines) and self.styles.is_auto_height:
            self.virtual_size = Size(self.size.width, len(self._lines))
            self.refresh(layout=True)
            return
        self._fit_virtual_size()
        length = max(len(before), len(self._lines))
        before += [[]] * (length - len(before))
        after = self._lines + [[]] * (length - len(self._lines))
        top, height = self.scroll_offset.y, self.size.height
        regions: list[Region] = []
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            if not top <= number < top + height:
                continue
            if was_selected != selected and number in {was_selected, selected}:
                regions.append(Region(0, number - top, self.size.width, 1))
            elif old != new and (span := _changed_cells(old, new)) is not None:
                regions.append(Region(span[0], number - top, span[1] - span[0], 1))
        if regions:
            self.refresh(*regions)

    def on_resize(self) -> None:
        """A new height needs a new scrolled height."""
        self._fit_virtual_size()

    def _fit_virtual_size(self) -> None:
        """Set the scrolled height. A new one costs a layout, so lines that fit all have the same."""
        fitting = Size(self.size.width, max(len(self._lines), self.size.height))
        if self.virtual_size != fitting:
            self.virtual_size = fitting

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as lines."""
        del container, viewport, width
        return max(1, len(self._lines))

    def role_style(self, role: str) -> Style:
        """Return the style of a role upon this widget's background."""
        style = self._styles_by_role.get(role)
        if style is None:
            style = self.rich_style + self.get_component_rich_style(f"lines--{role}", partial=True)
            self._styles_by_role[role] = style
        return style

    def notify_style_update(self) -> None:
        """The theme, or this widget's state, is another."""
        self._styles_by_role.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Draw one visible line."""
        number = y + self.scroll_offset.y
        base = self.role_style("plain")
        width = self.size.width
        if not 0 <= number < len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[number]
        if number == self._selected:
            base = self.role_style("selected")
            over = self.get_component_rich_style("lines--selected", partial=True)
            segments = [Segment(text, self.role_style(role) + over) for text, role in line if text]
        else:
            segments = [Segment(text, self.role_style(role)) for text, role in line if text]
        return Strip(segments).adjust_cell_length(width, base).simplify()


def _changed_cells(old: Line, new: Line) -> tuple[int, int] | None:
    """Return the first and last+1 cell in which two lines differ, or None where they look alike."""
    before, after = _cells(old), _cells(new)
    if before == after:
        return None
    length = max(len(before), len(after))
    blank = (" ", "plain")
    before += [blank] * (length - len(before))
    after += [blank] * (length - len(after))
    first = next(index for index in range(length) if before[index] != after[index])
    last = next(index for index in range(length - 1, -1, -1) if before[index] != after[index])
    return first, last + 1


def _cells(line: Line) -> list[tuple[str, str]]:
    cells: list[tuple[str, str]] = []
    for text, role in line:
        if text.isascii():
            cells += [(char, role) for char in text]
        else:
            for char in text:
                cells.append((char, role))
                if cell_width(char) == 2:
                    cells.append(("", role))
    return cells
