"""A slider for a speed limit: log scale; arrows, digits, mouse; the requested value and the kernel's.

There are two, for min and max of one array, or of the system.
"""

from __future__ import annotations

import math
from typing import ClassVar

from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from raidtui.frame.command import Command
from raidtui.frame.lines import role_styles
from raidtui.frame.text_field import TextField, Typing
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.plans.sync_speed import plan_limits
from raidtui.view.text import fit
from raidtui.view.units import rate_mb_s
from raidtui.watch.watch import Report

LOWEST_KIB_S, HIGHEST_KIB_S = 98, 9_765_625  # 0.1 MB/s, 10 GB/s
_FINE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_COARSE = (1.0, 2.0, 5.0)
_LABEL, _VALUE = 10, 33
_EMPTY = TextField(most=12, only="0123456789.kK")


LESS = Command(id="slider.less", keys="left,h", action="step(-1)", label="Less", help="One step less")
MORE = Command(id="slider.more", keys="right", action="step(1)", label="More", help="One step more")
MUCH_LESS = Command(
    id="slider.much_less", keys="shift+left,H", action="leap(-1)", label="Much less",
    help="1, 2, 5, 10 … downwards",
)  # fmt: skip
MUCH_MORE = Command(
    id="slider.much_more", keys="shift+right,L", action="leap(1)", label="Much more",
    help="1, 2, 5, 10 … upwards",
)  # fmt: skip
APPLY = Command(
    id="slider.apply", keys="enter", action="apply", label="Apply", foot=False,
    help="Take the typed figure, in MB/s",
)  # fmt: skip
FORGET = Command(
    id="slider.forget", keys="escape", action="forget", label="Forget", foot=False,
    help="Forget the typed figure",
)  # fmt: skip

SLIDER = (LESS, MORE, MUCH_LESS, MUCH_MORE, APPLY, FORGET)


class Slider(Typing, Widget, can_focus=True):
    """One limit. ``Slider.Asked`` requests a value; ``show`` sets the kernel's."""

    DEFAULT_CSS = "Slider { height: 1; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [each for command in SLIDER for each in command.bindings]

    class Asked(Message):
        """Another value is requested, in KiB/s."""

        def __init__(self, slider: Slider, kib_s: int) -> None:
            super().__init__()
            self.slider = slider
            self.kib_s = kib_s

    class Refused(Message):
        """What was typed is not a limit; ``text`` says why."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The slider was left: the list gets the focus back."""

        def __init__(self, slider: Slider) -> None:
            super().__init__()
            self.slider = slider

    def __init__(self, word: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.word = word
        self.kernel_kib_s: int | None = None
        self.asked_kib_s: int | None = None
        self._typed_kib_s: int | None = None
        """What was typed in KiB/s last: it stands beside the rate for as long as the kernel has it."""
        self.scope = ""
        self.line: TextField = _EMPTY
        self._locked = False
        self._dragging = False

    def show(self, kernel_kib_s: int | None, scope: str, *, locked: bool) -> None:
        """Show the kernel's value; a request is done when the two agree."""
        before = (self.kernel_kib_s, self.asked_kib_s, self.scope, self._locked)
        self.kernel_kib_s, self.scope, self._locked = kernel_kib_s, scope, locked
        if self.asked_kib_s == kernel_kib_s:
            self.asked_kib_s = None
        if before != (self.kernel_kib_s, self.asked_kib_s, self.scope, self._locked):
            self.refresh()

    def forget_asked(self) -> None:
        """Drop the request: it was refused, or is about another array."""
        if self.asked_kib_s is not None or self.line.text:
            self.asked_kib_s, self.line = None, _EMPTY
            self.refresh()

    @property
    def value_kib_s(self) -> int | None:
        """The requested value, or the kernel's."""
        return self.kernel_kib_s if self.asked_kib_s is None else self.asked_kib_s

    def ask(self, kib_s: int) -> None:
        """Request a value in KiB/s."""
        kib_s = max(1, min(kib_s, 2**31 - 1))
        self.line = _EMPTY
        if kib_s != self.value_kib_s and self.kernel_kib_s is not None:
            self.asked_kib_s = kib_s
            self.refresh()
            self.post_message(self.Asked(self, kib_s))
        else:
            self.refresh()

    def action_step(self, direction: int) -> None:
        """Move one step on the fine scale."""
        self._move(_FINE, direction)

    def action_leap(self, direction: int) -> None:
        """Move one step on the coarse scale."""
        self._move(_COARSE, direction)

    def _move(self, scale: tuple[float, ...], direction: int) -> None:
        if self.value_kib_s is not None:
            self.ask(next_step(self.value_kib_s, scale, direction))

    def action_apply(self) -> None:
        """Request the typed value."""
        typed = self.line.text
        value = typed_kib_s(typed)
        if value is not None:
            self._typed_kib_s = value if typed[-1:] in "kK" else None
            self.ask(value)
        elif typed:
            text = f"{typed} is not a speed limit: type MB/s, or KiB/s with a k at the end"
            self.line = _EMPTY
            self.refresh()
            self.post_message(self.Refused(text))

    def action_forget(self) -> None:
        """Drop the typed value, or leave the slider."""
        if self.line.text:
            self.line = _EMPTY
            self.refresh()
        else:
            self.post_message(self.Left(self))

    def on_key(self, event: events.Key) -> None:
        """Collect digits; k at the end makes them KiB/s. Until one is typed, other keys move the knob."""
        if self.line.text or (event.character and event.character.isdigit()):
            self.edits(event)

    def edited(self) -> None:
        """Draw what is typed."""
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag."""
        self._dragging = True
        self.capture_mouse()
        self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self._dragging:
            self._point(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """End dragging."""
        del event
        self._dragging = False
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move one step."""
        event.stop()
        self.action_step(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move one step."""
        event.stop()
        self.action_step(-1)

    def _point(self, x: int) -> None:
        track = self._track_width()
        inside = x - _LABEL - 1
        if 0 <= inside < track and self.value_kib_s is not None:
            low, high = math.log(LOWEST_KIB_S), math.log(HIGHEST_KIB_S)
            at = math.exp(low + (high - low) * inside / max(1, track - 1))
            self.ask(nearest_step(round(at)))

    def _track_width(self) -> int:
        return max(8, self.size.width - _LABEL - _VALUE - 2)

    def render_line(self, y: int) -> Strip:
        """Draw label, track, value and scope."""
        base = self.rich_style
        if y != 0:
            return Strip.blank(self.size.width, base)
        roles = role_styles(self.app.current_theme)
        style = {role: base + roles[role] for role in ("dim", "key", "asked")}
        marker = "▸" if self.has_focus else " "
        track = self._track_width()
        knob = position(self.value_kib_s, track)
        bar = ["─"] * track
        segments = [Segment(fit(f"{marker}{self.word}", _LABEL), style["dim"])]
        if knob is None:
            segments.append(Segment(f"├{'─' * track}┤", style["dim"]))
        else:
            kernel = position(self.kernel_kib_s, track)
            if kernel is not None and kernel != knob:
                bar[kernel] = "○"
            segments.append(Segment("├" + "".join(bar[:knob]), style["dim"]))
            segments.append(Segment("●", style["key"]))
            segments.append(Segment("".join(bar[knob + 1 :]) + "┤", style["dim"]))
        segments.append(self._value_segment(base, style))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _value_segment(self, base: Style, style: dict[str, Style]) -> Segment:
        if typed := self.line.text:
            unit, number = "KiB/s" if typed[-1:] in "kK" else "MB/s", typed.rstrip("kK")
            shown = replace(self.line, text=number, at=min(self.line.at, len(number))).shown
            return Segment(f" {shown}{unit}, Enter sets it", style["asked"])
        if self.kernel_kib_s is None:
            return Segment(" the kernel shows none", style["dim"])
        if self.asked_kib_s is not None:
            text = f" {rate_mb_s(self.asked_kib_s):>9} asked, is {rate_mb_s(self.kernel_kib_s)}"
            return Segment(text, style["asked"])
        scope = {"local": "this array", "system": "system's"}.get(self.scope, self.scope)
        rate = rate_mb_s(self.kernel_kib_s)
        if self.kernel_kib_s == self._typed_kib_s:
            return Segment(f" {rate:>9} ({self.kernel_kib_s} KiB/s) {scope.removeprefix('this ')}", base)
        return Segment(f" {rate:>9}   {scope}", base)


def position(kib_s: int | None, width: int) -> int | None:
    """Return the knob's cell on a track of ``width`` cells; values beyond the ends rest at them."""
    if kib_s is None:
        return None
    low, high = math.log(LOWEST_KIB_S), math.log(HIGHEST_KIB_S)
    at = (math.log(max(1, kib_s)) - low) / (high - low)
    return round(min(1.0, max(0.0, at)) * (width - 1))


def next_step(kib_s: int, scale: tuple[float, ...], direction: int) -> int:
    """Return the next round figure (in MB/s) above or below, KiB/s."""
    mb_s = max(kib_s, 1) * 1024 / 1e6
    exponent = math.floor(math.log10(mb_s))
    figures = [digit * 10.0**power for power in range(exponent - 1, exponent + 2) for digit in scale]
    if direction > 0:
        wanted = next(figure for figure in figures if figure > mb_s * 1.005)
    else:
        wanted = next(figure for figure in reversed(figures) if figure < mb_s * 0.995)
    return min(HIGHEST_KIB_S, max(LOWEST_KIB_S, round(wanted * 1e6 / 1024)))


def nearest_step(kib_s: int) -> int:
    """Return the round figure nearest to a pointed-at value, KiB/s."""
    below, above = next_step(kib_s, _FINE, -1), next_step(kib_s, _FINE, 1)
    return min((below, above), key=lambda each: abs(math.log(each / max(1, kib_s))))


def typed_kib_s(text: str) -> int | None:
    """Return what typed digits mean, KiB/s: MB/s, or KiB/s with a k at the end; None: no figure above 0."""
    factor = 1.0 if text[-1:] in {"k", "K"} else 1e6 / 1024
    try:
        value = float(text.rstrip("kK"))
    except ValueError:
        return None
    return min(round(value * factor), 2**31 - 1) or None


class LimitSliders:
    """Both sliders, and whose limits they show.

    Attributes:
        low, high: the sliders.
        of_system: whether they show the limits of all arrays that have none of their own.
    """

    def __init__(self) -> None:
        self.low, self.high = Slider("min", id="min"), Slider("max", id="max")
        self.of_system = False
        self._shown: tuple[str, bool] | None = None

    @property
    def both(self) -> tuple[Slider, Slider]:
        """The sliders, min first."""
        return self.low, self.high

    def hide(self) -> None:
        """Show none: no array is chosen that has limits."""
        self.low.display = self.high.display = False

    def show(self, report: Report, array: Array) -> None:
        """Show the limits of an array, or the system's; what was asked for of others is forgotten."""
        limit = array.speed_limit
        if (array.key, self.of_system) != self._shown:
            self._shown = (array.key, self.of_system)
            self.forget_asked()
        self.low.display = self.high.display = limit is not None or self.of_system
        locked = not report.snapshot.host.is_root
        if self.of_system:
            limits = report.snapshot.limits
            self.low.show(limits.min_kib_s, "all arrays", locked=locked)
            self.high.show(limits.max_kib_s, "all arrays", locked=locked)
        elif limit is not None:
            self.low.show(limit.min_kib_s, limit.min_scope or "", locked=locked)
            self.high.show(limit.max_kib_s, limit.max_scope or "", locked=locked)

    def forget_asked(self) -> None:
        """Show the kernel's values, since the request was not carried out."""
        for slider in self.both:
            slider.forget_asked()

    def keep_apart(self, moved: Slider) -> str:
        """Stop a slider where the other one is; return a sentence where that was so, else ""."""
        low_kib_s, high_kib_s = self.low.value_kib_s, self.high.value_kib_s
        if low_kib_s is None or high_kib_s is None or low_kib_s <= high_kib_s:
            return ""
        moved.asked_kib_s = high_kib_s if moved is self.low else low_kib_s
        moved.refresh()
        other = "max" if moved is self.low else "min"
        return f"min cannot be above max: move {other} first (in the kernel, min wins)"

    def plan(self, snapshot: Snapshot, chosen: str | None) -> Plan | Refusal | None:
        """Return the plan of what was asked for, or why not; None where nothing was.

        Args:
            snapshot: the host.
            chosen: the key of the array.
        """
        low_kib_s, high_kib_s = self.low.value_kib_s, self.high.value_kib_s
        if low_kib_s is None or high_kib_s is None:
            return None
        if all(slider.asked_kib_s is None for slider in self.both):
            return None
        return plan_limits(snapshot, None if self.of_system else chosen, low_kib_s, high_kib_s)
