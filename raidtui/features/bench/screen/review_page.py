"""The review of a benchmark. Enter alone never starts it; overwriting a device needs its serial number."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from textual import events

from raidtui.features.bench.estimate import estimate_duration
from raidtui.features.bench.forms.known import Candidate
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.offer_checks import SIMULATED_NOTE
from raidtui.features.bench.schedule import AxisKind, Schedule, point_words, value_words
from raidtui.frame.pages import PageScreen
from raidtui.frame.plan_view import step_lines
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Plan
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import binary_size, counted
from raidtui.view.wrapping import wrapped

_LEAST_FIELD = 12
_MOST_TYPED = 128


class BenchReview(PageScreen[Offer]):
    """Gives the offer, or None.

    Args:
        offer: the benchmark to start.
        devices: those that are overwritten.
        confirmed: serial numbers that were typed for the same loss before.

    Attributes:
        confirmed: and those that were typed since.
    """

    def __init__(
        self, offer: Offer, devices: Sequence[Candidate] = (), *, confirmed: tuple[str, ...] = ()
    ) -> None:
        super().__init__(visible(offer.schedule.title))
        self._offer = offer
        self._devices = devices
        self.confirmed = confirmed
        self._typed = ""
        self._said = ""

    def on_mount(self) -> None:
        """Draw."""
        self._body.focus()
        self.draw()

    @property
    def _missing(self) -> tuple[Candidate, ...]:
        """The devices of which no one has typed yet which they are."""
        return tuple(each for each in self._devices if each.word not in self.confirmed)

    def draw(self) -> None:
        """Draw everything."""
        simulated = SIMULATED_NOTE in self._offer.notes
        self.show_head(self._title, "simulated · review" if simulated else "review")
        self._draw_foot()
        self.show_body(offer_lines(self._offer, self._devices, self.inner_width - 1))

    def _draw_foot(self) -> None:
        missing = self._missing
        if not missing:
            self.show_keys(("y", "begin"), ("↑↓", "scroll"), ("Esc", "back"))
            return
        device = missing[0]
        what = "serial number" if device.serial else "name"
        far = f"{len(self._devices) - len(missing) + 1} of {len(self._devices)}"
        typed, word = visible(self._typed) + "▏", visible(device.word)
        notes: list[Line] = [
            [(self._said or f"What is on {visible(device.name)} will be lost. There is no undo.", "warn")],
            [(f"To continue, type its {what}, {word}, and Enter:", "warn")],
            [(f"[{typed:<{max(_LEAST_FIELD, cell_width(word) + 1)}}]", "strong"), (f"  {far}", "dim")],
        ]
        self.show_keys(("Enter", "that is it"), ("↑↓", "scroll"), ("Esc", "back"), notes=notes)

    def on_key(self, event: events.Key) -> None:
        """Take the letter, or the serial number."""
        if not self._missing:
            if event.key != "y":
                return
            self.dismiss(self._offer)
        elif event.key == "enter":
            self._confirm()
        elif event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.is_printable and event.character:
            self._typed = (self._typed + event.character)[:_MOST_TYPED]
        else:
            return
        event.stop()
        event.prevent_default()
        self._draw_foot()

    def on_paste(self, event: events.Paste) -> None:
        """A serial number may come from a label's photograph, or from another window."""
        event.stop()
        if self._missing:
            self._typed = (self._typed + event.text.strip().partition("\n")[0])[:_MOST_TYPED]
            self._draw_foot()

    def _confirm(self) -> None:
        device = self._missing[0]
        if self._typed.strip() != device.word:
            if self._typed:
                self._said = f"That is not {visible(device.name)}."
            return
        self.confirmed = (*self.confirmed, device.word)
        self._typed = self._said = ""
        if not self._missing:
            self.dismiss(self._offer)


_LABEL = 10
_MOST_POINTS = 12
_MODEL = 20
_SERIAL = 10
_TAKEN_BACK = "At the end, also after a crash, settings are put back and arrays are stopped and wiped."


def offer_lines(offer: Offer, devices: Sequence[Candidate], width: int) -> list[Line]:
    """Return an offer in lines of at most ``width`` cells.

    Args:
        offer: the benchmark to start.
        devices: those that are overwritten.
        width: cells of a line.
    """
    schedule = offer.schedule
    lines = _losses(offer, devices, width)
    for label, text in _facts(offer):
        lines += _labelled(label, text, width)
    lines += [[], *_order(schedule, width)]
    for title, plan in _plans(offer):
        lines += [[], *_plan(title, plan, width)]
    if _changes_host(offer):
        lines += [[], *wrapped(_TAKEN_BACK, width, "plain")]
    for text in _array_notes(offer):
        lines += [[], *wrapped(text, width, "plain")]
    for text in offer.notes:
        lines += [[], *wrapped(text, width, "warn")]
    return lines


def _losses(offer: Offer, devices: Sequence[Candidate], width: int) -> list[Line]:
    """Return every device that is overwritten, with its contents; empty ones, too."""
    if not devices:
        return []
    lost = {loss.device: loss.what for loss in offer.losses}
    lines: list[Line] = [[(f"This overwrites {counted(len(devices), 'device')}:", "bad")]]
    room = max(cell_width(visible(each.name)) for each in devices) + 2
    model = min(_MODEL, max(cell_width(visible(each.model)) for each in devices) + 2)
    for each in devices:
        serial = tail(visible(each.serial), _SERIAL)
        size = f"{binary_size(each.size_bytes):>9}"
        start = f"  {fit(visible(each.name), room)}{size}  {fit(visible(each.model), model)}"
        start += fit(serial, _SERIAL + 2)
        what = lost.get(each.name, "")
        parts = textwrap.wrap(
            visible(what or "nothing known"), max(20, width - cell_width(start)), break_on_hyphens=False
        )
        lines.append([(start, "strong"), (parts[0], "bad" if what else "plain")])
        lines += [[(" " * cell_width(start), "plain"), (part, "bad")] for part in parts[1:]]
    return [*lines, []]


def _facts(offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield (label, sentence)."""
    schedule = offer.schedule
    yield "measures", _work(schedule)
    yield "where", schedule.place.words
    yield "writes", offer.cost.sentence
    if offer.room:
        yield "room", offer.room
    yield "runs", _runs(schedule)
    yield "time", estimate_duration(schedule).sentence
    if before := _before(schedule):
        yield "before", before


def _work(schedule: Schedule) -> str:
    if schedule.job_file is not None:
        return f"The job file {schedule.job_file.name}."
    work = schedule.work
    if work is None:
        return ""
    name = f"{schedule.preset}: " if schedule.preset else ""
    each = "each job's file" if schedule.place.directory else "the part that is used"
    if schedule.loads:
        names = ", ".join(schedule.loads)
        return f"{name}{names}; {binary_size(schedule.most_bytes)} ({each}), {work.runtime_s} s each."
    end = f"{work.runtime_s} s" if work.runtime_s else "until the size is done"
    return f"{name}{work.words}, {binary_size(work.size_bytes)} ({each}), {end}, {work.engine}."


def _runs(schedule: Schedule) -> str:
    points, count = len(schedule.points), len(schedule.runs())
    if schedule.conditions.steady:
        return f"At most {count} runs: until five rounds of each point are steady."
    if points == 1 or schedule.repeats == 1:
        return f"{counted(count, 'run')}."
    order = "one point after another" if schedule.grouped else "in random order"
    return f"{count} runs: {points} points, each {schedule.repeats} times, {order}."


def _before(schedule: Schedule) -> str:
    """Return what is done before and between the runs, in sentences."""
    given, each, texts = schedule.conditions, [], []
    if given.precondition:
        texts.append(f"The size is written {counted(given.precondition, 'time')} before all runs.")
    elif schedule.lays_out:
        texts.append("The data is written before it is measured.")
    each += ["free blocks are discarded"] if given.trim else []
    each += [f"{given.cool_s} s of pause"] if given.cool_s else []
    return " ".join([*texts, *([f"Before each run: {', then '.join(each)}."] if each else [])])


def _order(schedule: Schedule, width: int) -> list[Line]:
    """Return the points in the order in which they are run."""
    points = schedule.points
    if len(points) == 1:
        return []
    lines: list[Line] = [[("The points:" if schedule.seed else "The order:", "strong")]]
    shown = points if len(points) <= _MOST_POINTS else points[: _MOST_POINTS - 1]
    for number, point in enumerate(shown, 1):
        lines += wrapped(f"{number:>4}  {point_words(point)}", width, "plain", hang=6)
    if len(shown) < len(points):
        lines.append([(f"      … and {len(points) - len(shown)} more", "dim")])
    if schedule.seed:
        lines.append([("      drawn at random, in blocks that hold each of them twice", "dim")])
    return lines


def _plans(offer: Offer) -> Iterator[tuple[str, Plan | None]]:
    """Yield (what it makes so, plan); no plan where it can only be made later."""
    for plan in offer.arrays:
        yield plan.title, plan
    for axis in offer.schedule.axes:
        for number, value in enumerate(axis.values if axis.kind is AxisKind.KNOB else ()):
            yield (
                f"{axis.label} {value_words(axis.label, value)}",
                (axis.plans[number] if axis.plans else None),
            )


def _plan(title: str, plan: Plan | None, width: int) -> list[Line]:
    lines: list[Line] = [[(fit(visible(title), width).rstrip(), "accent")]]
    if plan is None:
        return [*lines, *wrapped("    set on each array once it exists", width, "plain", hang=4)]
    if not plan.steps:
        return [*lines, [("    already set", "dim")]]
    for number, step in enumerate(plan.steps, 1):
        lines += step_lines(number, step, (), width)
    return lines


def _changes_host(offer: Offer) -> bool:
    return bool(offer.arrays) or any(axis.kind is AxisKind.KNOB for axis in offer.schedule.axes)


def _array_notes(offer: Offer) -> list[str]:
    if offer.schedule.scratch is None:
        return []
    notes = ["Each array gets its own UUID. What is wiped for the first one stays wiped."]
    if any(shape.level in PARITY_LEVELS for shape in offer.schedule.shapes):
        notes.append("The first sync of RAID-4, -5 and -6 comes first and is not included in the time above.")
    return notes


def _labelled(label: str, text: str, width: int) -> list[Line]:
    parts = textwrap.wrap(visible(text), max(20, width - _LABEL), break_on_hyphens=False) or [""]
    lines: list[Line] = [[(fit(label, _LABEL), "dim"), (parts[0], "plain")]]
    return [*lines, *([(" " * _LABEL, "plain"), (part, "plain")] for part in parts[1:])]
