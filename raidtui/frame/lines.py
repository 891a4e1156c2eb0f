"""Lines of coloured text of which only those that changed are drawn; nearly every pane consists of them.

Textual's DataTable and Static repaint as a whole, which matters at one change a second over ssh. Of a line
that changed, the driver sends the cells that differ (``screen_difference``). Text is given as spans (text,
role) and is never read as markup.

Measured with the same rows, 11 at 80x24 and 40 at 120x40 (Textual 8.2, median of five runs): one changed
cell costs 51 B and 1.3 ms at either size, with DataTable 6.2 kB and 11 ms, and 18.4 kB and 27 ms; mounting
takes 13 to 19 ms instead of 72 to 77 ms, and 0.2 to 0.3 MiB instead of 2.1 to 3.6 MiB. So the tables of Wear,
Tune and Bench are ``ScrollLines``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

from raidtui.frame.painting import PaintingScreen
from raidtui.frame.textual_private import mark_dirty
from raidtui.view.line import Line

if TYPE_CHECKING:
    _Base = Widget
else:
    _Base = object  # a mixin: Textual takes styles from one line of base classes alone


NO_LINES = range(0)


class LineBox(_Base):
    """Lines, scrolling or not."""

    _lines: list[Line]
    _selected: range
    _styles_by_role: dict[str, Style]
    _paper: Color | None

    def _prepare(self) -> None:
        self._lines = []
        self._selected, self._paper = NO_LINES, None
        self._styles_by_role = {}

    @property
    def lines(self) -> list[Line]:
        """The lines that are shown."""
        return self._lines

    @property
    def text(self) -> str:
        """The lines without colours."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self._lines)

    @property
    def top(self) -> int:
        """The number of the first line in view."""
        return self.scroll_offset.y

    def show(self, lines: Sequence[Line], *, selected: int | range | None = None) -> None:
        """Show lines; only those that differ from what was shown before are drawn.

        Args:
            lines: all lines.
            selected: the number of the line with the cursor's background, or of several; None for none.
        """
        before, self._lines = self._lines, list(lines)
        if not isinstance(selected, range):
            selected = NO_LINES if selected is None else range(selected, selected + 1)
        was_selected, self._selected = self._selected, selected
        if before == self._lines and was_selected == selected:
            return
        if len(before) != len(self._lines):
            self.count_changed()
            if self.styles.is_auto_height:
                self.refresh(layout=True)
                return
        top, (width, height) = self.top, self.size
        if not height:  # not in view: what was drawn before must not come back
            mark_dirty(self)
            return
        chosen = {*was_selected, *selected} if was_selected != selected else set()
        pairs = zip_longest(before[top : top + height], self._lines[top : top + height])
        regions = [
            Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if old != new or y + top in chosen
        ]
        if regions:
            screen = self.screen
            if not (isinstance(screen, PaintingScreen) and screen.gather(self, regions)):
                self.refresh(*regions)

    def count_changed(self) -> None:
        """Called when the number of lines has changed."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines."""
        del container, viewport, width
        return max(1, len(self._lines))

    def role_style(self, role: str) -> Style:
        """Return the style of a role upon this widget's background."""
        style = self._styles_by_role.get(role)
        if style is None:
            style = self.rich_style + role_styles(self.app.current_theme).get(role, PLAIN)
            self._styles_by_role[role] = style
        return style

    def notify_style_update(self) -> None:
        """Forget the styles: the theme or this widget's state has changed."""
        self._styles_by_role.clear()
        self._paper = None
        super().notify_style_update()

    def _chosen(self, role: str, over: Style) -> Style:
        """Return the style of a role in the chosen line; reversed, a colour would be the bar's."""
        own = self.role_style(role)
        return self.role_style("selected") + Style(bold=own.bold) if over.reverse else own + over

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw visible lines. One alone, which has changed, needs none of Textual's borders and opacities."""
        if crop.height != 1:
            return super().render_lines(crop)
        if self._paper is None:
            self._paper = self.background_colors[1]
        strip = self.render_line(crop.y)
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self._paper)
        return [strip.crop(*crop.column_span)]

    def render_line(self, y: int) -> Strip:
        """Draw one visible line."""
        number = y + self.top
        width = self.size.width
        if not 0 <= number < len(self._lines):
            return Strip.blank(width, self.role_style("plain"))
        line = self._lines[number]
        if number in self._selected:
            base = self.role_style("selected")
            over = role_styles(self.app.current_theme)["selected"]
            segments = [Segment(text, self._chosen(role, over)) for text, role in line if text]
        else:
            base = self.role_style("plain")
            segments = [Segment(text, self.role_style(role)) for text, role in line if text]
        return Strip(segments).adjust_cell_length(width, base).simplify()


class Lines(LineBox, Widget):
    """Lines that are all in view."""

    DEFAULT_CSS = "Lines { width: 1fr; height: auto; }"

    def __init__(self, *, id: str | None = None, lines: Sequence[Line] = ()) -> None:  # noqa: A002
        super().__init__(id=id)
        self._prepare()
        self._lines = list(lines)


class ScrollLines(LineBox, ScrollView):
    """Lines that scroll where they do not fit."""

    DEFAULT_CSS = """
    ScrollLines {
        width: 1fr; overflow-x: hidden; overflow-y: auto;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._prepare()
        self._kept: tuple[int, int] | None = None

    def count_changed(self) -> None:
        """Set the scrolled height. A change costs a layout, so it is at least the height of the widget."""
        fitting = Size(self.size.width, max(len(self._lines), self.size.height))
        if self.virtual_size != fitting:
            self.virtual_size = fitting

    def on_resize(self) -> None:
        """Set the scrolled height anew, and scroll the line of ``keep_in_view`` into view."""
        self.count_changed()
        if self._kept is not None and self._kept[0] < len(self._lines):
            self.keep_in_view(*self._kept)

    def keep_in_view(self, number: int, last: int | None = None) -> None:
        """Scroll as little as needed to show a line, or those up to the last, now and after a resize."""
        end = number if last is None else last
        self._kept = (number, end)
        height = max(1, self.size.height)
        if number < self.top:
            self.scroll_to(y=number, animate=False, force=True)
        elif end >= self.top + height:
            self.scroll_to(y=min(number, end - height + 1), animate=False, force=True)


_COLOUR_OF = {
    "dim": "dim",
    "strong": "strong",
    "ok": "ok",
    "warn": "warn",
    "unknown": "warn",
    "asked": "warn",
    "bad": "bad",
    "accent": "accent",
    "tab": "accent",
    "key": "accent",
}
HEAT = ("#002090", "#4a5568", "#3f9fa0", "#b9b48c", "#fee838")
"""The steps of a heat map, low to high: each is lighter than the one before, from blue to yellow, so that no
kind of colour blindness and no background takes an end of it for the other; with sixteen colours, too."""
_ON_DARK, _ON_LIGHT, _FIRST_LIGHT = "#ffffff", "#000000", 2
_BOLD = frozenset({"strong", "bad", "tab", "key", "asked"})
PLAIN = Style.null()


def role_styles(theme: Theme) -> Mapping[str, Style]:
    """Return the style of each role, to be laid over a widget's own.

    Args:
        theme: one of ``raidtui.frame.themes``; with another one, roles differ in weight alone.
    """
    return _styles(tuple(sorted(theme.variables.items())))


def _of_heat(*, with_colours: bool) -> dict[str, Style]:
    """Return the styles of a heat map: fields, figures, best ones. The terminal's own have no ramp."""
    styles: dict[str, Style] = {}
    for step, ground in enumerate(HEAT):
        ink = _ON_LIGHT if step >= _FIRST_LIGHT else _ON_DARK
        coloured = Style(color=ink, bgcolor=ground) if with_colours else PLAIN
        styles[f"figure{step}"] = coloured
        styles[f"best{step}"] = coloured + Style(bold=True)
        styles[f"field{step}"] = Style(color=ground, bgcolor=ground) if with_colours else PLAIN
    return styles


@lru_cache(maxsize=8)
def _styles(variables: tuple[tuple[str, str], ...]) -> Mapping[str, Style]:
    values = dict(variables)

    def colour(name: str) -> Color | None:
        value = values.get(f"r-{name}")
        return Color.parse(value) if value else None

    styles = {"plain": PLAIN}
    for role, name in _COLOUR_OF.items():
        found = colour(name)
        is_dim = role == "dim" and values.get("dim-style") == "dim"
        styles[role] = Style(
            color=found.rich_color if found else None, bold=role in _BOLD or None, dim=is_dim or None
        )
    styles.update(_of_heat(with_colours=values.get("dim-style") != "dim"))
    chosen = colour("selected")
    is_reverse = values.get("selected-style") == "reverse"
    styles["selected"] = Style(bgcolor=chosen.rich_color if chosen else None, reverse=is_reverse or None)
    return styles
