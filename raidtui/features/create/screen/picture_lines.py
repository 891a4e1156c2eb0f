"""How the picture of a new array looks: as a panel in a wide window, as two lines in a small one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.model.geometry import losses_left
from raidtui.model.plan import Plan
from raidtui.model.survey import Survey
from raidtui.plans.create.create_notes import first_sync_kib
from raidtui.plans.create.shape import Shape
from raidtui.plans.sync import at_least, least_s
from raidtui.plans.wizard.build_warnings import Gravity, warnings_of
from raidtui.plans.wizard.choices import may_fail
from raidtui.plans.wizard.defaults import completed, component_kib, medium_of_all, slot_names
from raidtui.plans.wizard.picture import Cell, CellKind, RoomUse, room_of, shape_for, stripes, two_losses
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import binary_size, counted, duration, short_binary
from raidtui.view.wrapping import wrap, wrapped

_ROLES = {CellKind.DATA: "strong", CellKind.COPY: "accent", CellKind.PARITY: "warn", CellKind.NOTHING: "dim"}
_WEIGHTS = {Gravity.STOP: ("✖", "bad"), Gravity.WARN: ("!", "warn"), Gravity.NOTE: ("·", "dim")}
_ROWS, _MORE_ROWS, _HIGH = 3, 5, 30
_LEAST_COLUMN, _COLUMN, _WIDEST_COLUMN = 4, 7, 12
_PARTS = (("data", "█", "strong"), ("copies", "▓", "accent"), ("free", "░", "dim"), ("unused", "·", "warn"))
_LABEL = 13
_TWICE, _PARITY = "; the same number: a copy", "; P: parity"
_LEGENDS = {
    "raid1": _TWICE,
    "raid10": _TWICE,
    "raid4": _PARITY,
    "raid5": _PARITY,
    "raid6": "; P, Q: parity",
}


class Preview(Struct, frozen=True, kw_only=True):
    """A draft with its defaults, and what there is to know of it.

    Args:
        draft: with all that was not decided at its default.
        shape: of its array.
        room: how the disks' room is used.
        survey: the host.
    """

    draft: WizardDraft
    shape: Shape
    room: RoomUse
    survey: Survey

    @property
    def slots(self) -> int:
        """The number of slots."""
        return len(self.draft.slots)

    @property
    def title(self) -> str:
        """The array in a few words: RAID 10 near 2 of 4 NVMe disks."""
        medium = str(medium_of_all(self.draft, self.survey))
        disks = medium if medium == "disk" else f"{medium}{'' if medium.endswith('disk') else ' disk'}"
        layout = f" {self.shape.layout}" if self.shape.level == "raid10" else ""
        return f"{self.shape.level}{layout} of {counted(self.slots, disks)}"

    @property
    def fails(self) -> str:
        """What may fail: "any 1; of all pairs 67 %"."""
        words = may_fail(self.shape.level, self.shape.layout_number, self.slots, self._holes)
        pairs = two_losses(self.shape, self.slots) if not self._holes else None
        left = losses_left(self.shape.level, self.shape.layout_number, self.slots, self._holes)
        if pairs is None or left != 1:
            return words
        return f"any 1; of 2 losses {pairs * 100:.0f} % survive" if pairs else "any 1, never 2"

    @property
    def _holes(self) -> tuple[int, ...]:
        return self.draft.request(self.survey).holes

    @property
    def first_sync_kib(self) -> int:
        """What the first sync goes over, KiB; 0 where there is none."""
        return first_sync_kib(self.draft.request(self.survey), self.shape, self.component_kib)

    @property
    def rebuild(self) -> str:
        """How long the rebuild of a member takes, at the present limit."""
        return "none" if self.shape.level == "raid0" else at_least(self.survey, self.component_kib)

    @property
    def component_kib(self) -> int:
        """What each member holds, KiB."""
        return component_kib(self.draft, self.survey)


def preview(draft: WizardDraft, survey: Survey) -> Preview | None:
    """Return what a draft would become by now; None where it can be no array."""
    if not draft.devices:
        return None
    whole = completed(draft, survey)
    shape = shape_for(whole, survey)
    if shape is None:
        return None
    return Preview(draft=whole, shape=shape, room=room_of(whole, shape, survey), survey=survey)


def brief_lines(seen: Preview, width: int) -> list[Line]:
    """Return a rule, a stripe or two, and the figures: three lines."""
    kib = seen.first_sync_kib
    takes = f"at least {duration(least_s(seen.survey, kib))}" if kib else "none"
    words = f"{binary_size(seen.room.data)} · {seen.fails} · first sync {takes}"
    return [[("─" * width, "dim")], _one_line(seen, width), [(fit(words, width), "plain")]]


def _one_line(seen: Preview, width: int) -> Line:
    """Return the first stripes on a line: ``sda 0 2 │ sdb 0 2 │ sdc 1 3 │ sdd 1 3``."""
    rows = [row for block in stripes(seen.shape, seen.slots, 2) for row in block]
    line: Line = []
    for slot, name in enumerate(slot_names(seen.draft)):
        cells = [row[slot] for row in rows]
        parts: Line = [(" │ " if slot else "", "dim"), (visible(name), "plain")]
        parts += [(f" {cell.words}", _ROLES[cell.kind]) for cell in cells if cell.words]
        room = width - sum(cell_width(text) for text, _ in (*line, *parts))
        if room < (0 if slot == seen.slots - 1 else cell_width(" │ …")):
            return [*line, (" │ …", "dim")]
        line += parts
    return line


def panel_lines(seen: Preview, width: int, height: int) -> list[Line]:
    """Return the picture with all that is known, at most ``height`` lines."""
    lines: list[Line] = [[(fit(f"{visible(seen.draft.name)}  {seen.title}", width), "strong")], []]
    lines += _columns(seen, width, _MORE_ROWS if height >= _HIGH else _ROWS)
    lines += [[], *_bar(seen.room, width, copies=seen.shape.level in {"raid1", "raid10"}), []]
    kib = seen.first_sync_kib
    for label, words in (
        ("may fail", seen.fails),
        ("first sync", f"at least {duration(least_s(seen.survey, kib))}" if kib else "none"),
        ("rebuild", seen.rebuild),
    ):
        first, *rest = wrap(words, width - _LABEL) or ("",)
        lines.append([(fit(label, _LABEL), "dim"), (first, "plain")])
        lines += [[(" " * _LABEL, "dim"), (part, "plain")] for part in rest]
    lines += warning_lines(seen, width)
    commands = _commands(seen, width)
    return [*lines, *(commands if len(lines) + len(commands) <= height else [])][:height]


def warning_lines(seen: Preview, width: int, most: int = 9) -> list[Line]:
    """Return what speaks against the array, a blank line before it, at most ``most`` lines."""
    found = warnings_of(seen.draft, seen.survey)
    lines: list[Line] = []
    for each in found:
        mark, role = _WEIGHTS[each.weight]
        for number, part in enumerate(wrap(each.words, width - 2)):
            lines.append([(f"{mark} " if not number else "  ", role), (part, role)])
    if len(lines) > most:
        lines = [*lines[: most - 1], [("  …", "dim")]]
    return [[], *lines] if lines else []


def _columns(seen: Preview, width: int, rows: int) -> list[Line]:
    """Return the disks as columns, with the first ``rows`` chunks of each."""
    names = slot_names(seen.draft)
    widest = max(cell_width(visible(name)) for name in names)
    most = max(1, width // (_LEAST_COLUMN + 1))
    shown = names if len(names) <= most else names[: most - 1]
    column = min(max(_COLUMN, widest), _WIDEST_COLUMN, width // len(shown) - 1)
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    lines: list[Line] = [_row([tail(visible(name), column) for name in shown], column, "dim")]
    blocks = stripes(seen.shape, seen.slots, rows)
    for number, block in enumerate(blocks):
        if number:
            place = {2: "half", 3: "third"}.get(len(blocks), f"{number + 1}th part")
            lines.append([(fit(f"  …  from the next {place} of each member", width), "dim")])
        lines += [_cells(row[: len(shown)], column) for row in block]
    chunk = f"a chunk of {short_binary(seen.shape.chunk_kib << 10)}" if seen.shape.chunk_kib else "a block"
    legend = f"number: {chunk}{_LEGENDS.get(seen.shape.level, '')}{more}"
    return [*lines, *wrapped(legend, width, "dim")]


def _row(words: Sequence[str], column: int, role: str) -> Line:
    return [(" ".join(f"{word:^{column}}" for word in words), role)]


def _cells(row: Sequence[Cell], column: int) -> Line:
    line: Line = []
    for number, cell in enumerate(row):
        line.append((f"{' ' if number else ''}{cell.words:^{column}}", _ROLES[cell.kind]))
    return line


def _bar(room: RoomUse, width: int, *, copies: bool) -> list[Line]:
    """Return how the disks' room is used, as a bar and its figures."""
    sizes = (room.data, room.redundant, room.free, room.wasted)
    total = sum(sizes) or 1
    cells = [round(size / total * width) for size in sizes]
    cells = [max(1, count) if size else 0 for count, size in zip(cells, sizes, strict=True)]
    cells[0] = max(1, width - sum(cells[1:]))
    line: Line = [(mark * count, role) for (_, mark, role), count in zip(_PARTS, cells, strict=True)]
    figures: Line = []
    for (words, mark, role), size in zip(_PARTS, sizes, strict=True):
        if size:
            named = "parity" if words == "copies" and not copies else words
            figures.append((f"{mark} {named} {binary_size(size)}  ", role))
    lines: list[Line] = [line, []]
    for part in figures:
        if sum(cell_width(text) for text, _ in (*lines[-1], part)) > width + 2:
            lines.append([])
        lines[-1].append(part)
    return lines


def _commands(seen: Preview, width: int) -> list[Line]:
    """Return the command that creates the array, and how many others there are."""
    made = plan_draft(seen.draft, seen.survey)
    if not isinstance(made, Plan):
        return []
    words = next(step.argv for step in made.steps if "--create" in step.argv)
    create = " ".join("--uuid=…" if word.startswith("--uuid=") else word for word in words)
    steps = [step for step in made.steps if not step.waits]
    lines: list[Line] = [[], [(f"{counted(len(steps), 'command')}, among them", "dim")]]
    return [*lines, *wrapped(create, width, "plain", hang=2)]
