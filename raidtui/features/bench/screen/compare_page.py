"""Runs side by side: a table with verdicts, curves over time, the heat map; and their export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.features.bench.export import write_export
from raidtui.features.bench.results.compare import HITS, METRICS, measures_of, series_of, table
from raidtui.features.bench.results.published import cache_remarks, heat_maps
from raidtui.features.bench.results.run_record import RunRecord
from raidtui.features.bench.results.run_store import RunFiles
from raidtui.features.bench.screen.curves import MOST, curve_lines, drawn_of, has_braille, two_charts
from raidtui.features.bench.screen.heat_map import (
    NO_MAP,
    Layer,
    Window,
    heat_map_lines,
    next_layer,
    window_of,
)
from raidtui.features.bench.screen.run_table import comparison_lines, head_of, paragraph
from raidtui.frame.export_form import ExportForm
from raidtui.frame.pages import PageScreen, rule
from raidtui.frame.screen_shell import later
from raidtui.view.line import Line, rule_line
from raidtui.view.text import cell_width, fit, visible
from raidtui.view.units import counted

_LEAST_CURVE, _MOST_CURVE = 14, 26
"""Lines of the curves below the table, where there are so many."""
_VIEWS = {"table": "Table", "time": "Over time", "heat": "Heat map"}
"""Terminals whose fonts lack the dots; the same that have the theme for few colours."""


class Comparison(PageScreen[None]):
    """See the module.

    Args:
        records: the runs.
        files: their samples, of which missing ones are reported, and fio's own JSON.
        title: the title of the comparison.
        start: the view that comes first: table, time or heat.
        by: the measure that comes first, one of ``METRICS``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "view(1)", show=False),
        Binding("shift+tab", "view(-1)", show=False),
        Binding("m", "measure", show=False),
        Binding("l", "layer", show=False),
        Binding("n", "next_map", show=False),
        Binding("e", "export", show=False),
        Binding("q", "back", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("left", "aside(-1)", show=False),
        Binding("right", "aside(1)", show=False),
    ]

    def __init__(
        self,
        records: tuple[RunRecord, ...],
        files: RunFiles,
        title: str,
        *,
        start: str = "table",
        by: str = "iops",
    ) -> None:
        super().__init__(visible(title))
        self._records = records
        self._files = files
        self.view = start
        self.measure = by
        self._layer = Layer.BOTH
        self._series = series_of(records)
        self._maps = heat_maps(records)
        self._map = 0
        self._left = self._top = 0
        self._first = 0

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    def draw(self) -> None:
        """Draw everything."""
        self._draw_head()
        self._draw_foot()
        views: dict[str, Callable[[], list[Line]]] = {
            "table": self._table,
            "time": partial(self._over_time, self.inner_height),
            "heat": self._heat,
        }
        self.show_body(views[self.view]())

    def _draw_head(self) -> None:
        width = self.inner_width
        tabs: Line = [(f"  {words}", "tab" if view == self.view else "dim") for view, words in _VIEWS.items()]
        used = sum(cell_width(text) for text, _ in tabs)
        self._head.show([[(fit(self._title, width - used), "strong"), *tabs], rule(width)])

    def _draw_foot(self) -> None:
        keys = [("Tab", "view")]
        if self.view != "heat":
            keys.append(("m", f"measure: {head_of(self.measure)}"))
        elif self._maps:
            seen, heat = self._window(), self._maps[self._map]
            keys.append(("l", f"layer: {self._layer}"))
            keys += [("n", "next map")] if len(self._maps) > 1 else []
            keys += [("←→", "sizes")] if seen.columns < len(heat.columns) else []
        keys += [("e", "export"), ("Esc", "back"), ("↑↓", "scroll")]
        self.show_keys(*keys)

    # -- the views

    def _table(self) -> list[Line]:
        measure = METRICS[self.measure]
        width = self.inner_width - 1
        lines = comparison_lines(table(self._series, measure), measure, width)
        for remark in cache_remarks(self._series):
            lines += paragraph(remark, width)
        free = self.inner_height - len(lines) - 2
        drawn = any(self._files.samples.get(run.id) for each in self._series for run in each.runs)
        if drawn and len(self._series) <= MOST and free >= _LEAST_CURVE:
            lines += [[], rule_line(width + 1, "over time"), *self._over_time(min(free, _MOST_CURVE))]
        return lines

    def _over_time(self, height: int) -> list[Line]:
        count = len(self._series)
        self._first = max(0, min(self._first, count - MOST))
        series = self._series[self._first : self._first + MOST]
        shown = drawn_of(series, self._files.samples, self.measure, before=self._first)
        width = self.inner_width - 1
        lines: list[Line] = []
        if count > MOST:
            words = f"series {self._first + 1} to {self._first + len(shown)} of {count}: ↑↓ shows others"
            lines = paragraph(words, width, "accent")
        braille = has_braille()
        if self.measure == "iops":
            hits = drawn_of(series, self._files.samples, HITS, before=self._first)
            return lines + two_charts(shown, hits, width, height - len(lines), braille=braille)
        return lines + curve_lines(shown, self.measure, width, height - len(lines), braille=braille)

    def _heat(self) -> list[Line]:
        if not self._maps:
            return paragraph(NO_MAP, self.inner_width)
        heat, seen = self._maps[self._map], self._window()
        self._left, self._top = seen.left, seen.top
        width, height = self.inner_width, self.inner_height
        return heat_map_lines(heat, width, height, layer=self._layer, left=seen.left, top=seen.top)

    def _window(self) -> Window:
        heat, width, height = self._maps[self._map], self.inner_width, self.inner_height
        return window_of(heat, width, height, layer=self._layer, left=self._left, top=self._top)

    # -- keys

    def action_view(self, delta: int) -> None:
        """Show the next view."""
        views = list(_VIEWS)
        self.view = views[(views.index(self.view) + delta) % len(views)]
        self._body.scroll_to(y=0, animate=False)
        self.draw()

    def action_measure(self) -> None:
        """Compare by the next measure."""
        if self.view != "heat":
            names = measures_of(self._series)
            self.measure = names[(names.index(self.measure) + 1) % len(names)]
            self.draw()

    def action_layer(self) -> None:
        """Show yours with the published figures, yours alone, or the one in percent of the other."""
        if self.view == "heat":
            self._layer = next_layer(self._layer)
            self.draw()

    def action_next_map(self) -> None:
        """Show the map of the next kind of I/O."""
        if self.view == "heat" and self._maps:
            self._map = (self._map + 1) % len(self._maps)
            self._left = self._top = 0
            self.draw()

    def action_move(self, delta: int) -> None:
        """Scroll: lines, curves, or rows of the map."""
        if self.view == "table":
            self.action_scroll(delta)
        elif self.view == "time":
            self._first += delta
            self.draw()
        else:
            self._top += delta
            self.draw()

    def action_page(self, pages: int) -> None:
        """Scroll by what is in view."""
        if self.view == "table":
            super().action_page(pages)
        else:
            self.action_move(pages * MOST)

    def action_aside(self, delta: int) -> None:
        """Show block sizes further to the right, or to the left."""
        if self.view == "heat":
            self._left += delta
            self.draw()

    def action_export(self) -> None:
        """Write these runs to a file."""
        later(self, partial(self._export, Export(self._records, self._files, by=self.measure)))

    async def _export(self, dialog: Export) -> None:
        path = await self.app.push_screen_wait(dialog)
        if path is not None:
            self.draw()
            words = f"{counted(len(self._records), 'run')} written to {path}"
            self._foot.show(
                [self._foot.lines[0], *paragraph(words, self.inner_width, "ok"), self._foot.lines[-1]]
            )


STEM = "raidtui-bench"
_WORDS = {
    "html": "tables, pictures and what explains them, in one page",
    "md": "the same without pictures, for an issue or a mail",
    "csv": "a line a run, for a spreadsheet",
    "json": "everything, the samples too, for programs",
}


class Export(ExportForm):
    """Gives the path of the file that was written, or None.

    Args:
        records: the runs.
        files: what is kept beside them.
        by: the figure that the report compares by.
    """

    def __init__(
        self,
        records: Sequence[RunRecord],
        files: RunFiles,
        *,
        by: str = "iops",
    ) -> None:
        runs = tuple(records)

        def write(path: Path, kind: str) -> Path:
            return write_export(path, kind, runs, files, by)

        super().__init__(f"Export {counted(len(runs), 'run')}", STEM, _WORDS, write)
