"""How a form of rows looks: devices, choices and values, and what is known of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.frame.text_field import TextField
from raidtui.model.survey import Survey
from raidtui.plans.candidates import word_of
from raidtui.plans.contents import array_words
from raidtui.plans.wizard.wizard_draft import WizardChoice, WizardDraft, WizardRow, doomed
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.wrapping import wrapped

_LEAST_REASON = 12
_GAP = " │ "


def beside(left: Sequence[Line], right: Sequence[Line], width: int, height: int) -> list[Line]:
    """Return two columns with a rule between them, in so many lines.

    Args:
        left: its lines have at most ``width`` cells.
        right: the second column.
        width: cells of the first column.
        height: lines that there are.
    """
    lines: list[Line] = []
    for number in range(height):
        start: Line = list(left[number]) if number < len(left) else []
        gap = width - sum(cell_width(text) for text, _ in start)
        end: Line = right[number] if number < len(right) else []
        lines.append([*start, (" " * gap + _GAP, "dim"), *end])
    return lines


def with_note(rows: Sequence[Line], at: int, note: Sequence[Line], height: int, longest: int) -> list[Line]:
    """Return rows, as many as fit, with the chosen one among them, and the note below them.

    Args:
        rows: all rows.
        at: the chosen one.
        note: what is said of it.
        height: lines that there are.
        longest: lines of the longest note, so that rows stay in place when another one is chosen.
    """
    room = max(min(len(rows), 3), height - 1 - max(longest, len(note)))
    return [*rows_in_view(rows, at, room), [], *note][:height]


def rows_in_view(rows: Sequence[Line], at: int, room: int) -> list[Line]:
    """Return the rows near one, as many as there is room for."""
    shown = list(rows)
    if len(rows) > room:
        start = max(0, min(at - room // 2, len(rows) - room))
        shown = list(rows[start : start + room])
        if start > 0:
            shown[0] = [(f"  ↑ {start + 1} more", "dim")]
        if (below := len(rows) - start - room) > 0:
            shown[-1] = [(f"  ↓ {below + 1} more", "dim")]
    return shown


def row_note(row: WizardChoice | WizardRow, width: int) -> list[Line]:
    """Return what is known of a row: why it is not available, or its note."""
    if row.refusal:
        return wrapped(f"not available: {row.refusal}", width, "warn")
    return wrapped(row.note, width)


def old_arrays(draft: WizardDraft, survey: Survey, width: int) -> tuple[list[Line], str]:
    """Return (the arrays that would be destroyed, what to type or press)."""
    found = doomed(draft, survey)
    if not found:
        return [], f"{', '.join(draft.destroys)} will be destroyed. Enter continues."
    lines: list[Line] = []
    for block, paths in found:
        names = ", ".join(path.removeprefix("/dev/") for path in paths)
        belong = "belongs" if len(paths) == 1 else "belong"
        text = f"{names} {belong} to {array_words(block)}, which is not running."
        lines += [*wrapped(text, width, "bad"), []]
    single = all(word_of(block, survey) == block.label for block, _ in found)
    what = "name" if single else "UUID: another array that is not running has that name"
    return lines, f"To destroy it for good, type its {what}. To keep it, press Esc, then a to assemble it."


def pick_lines(picks: Sequence[WizardChoice], at: int, width: int) -> list[Line]:
    """Return rows of which one is chosen."""
    lines: list[Line] = []
    for number, pick in enumerate(picks):
        here = number == at
        role = "dim" if pick.refusal else "key" if here else "plain"
        mark = "(●)" if here and not pick.refusal else "(–)" if pick.refusal else "( )"
        words = f"{pick.words:<15}  {pick.refusal}" if pick.refusal else pick.words
        lines.append([(fit(f"{'▸' if here else ' '}{mark} {visible(words)}", width), role)])
    return lines


def value_lines(rows: Sequence[WizardRow], at: int, width: int, line: TextField | None = None) -> list[Line]:
    """Return rows with a value and its reason each; what is wrong with a typed one stands beside it or below.

    Args:
        rows: the rows.
        at: the chosen one.
        width: cells of a line.
        line: what is being typed into the chosen row.
    """
    lines: list[Line] = []
    label = max((cell_width(visible(row.words)) for row in rows), default=0) + 2
    shown = [
        _value(row, line if number == at else None, here=number == at) for number, row in enumerate(rows)
    ]
    widest = max((cell_width(text) for row, text in zip(rows, shown, strict=True) if row.reason), default=0)
    for number, (row, value) in enumerate(zip(rows, shown, strict=True)):
        here = number == at
        role = "dim" if row.refusal else "key" if here else "plain" if row.usual else "strong"
        head = f"{'▸' if here else ' '} {fit(visible(row.words), label)}"
        trouble = row.trouble if line is None or not here else ""
        if trouble:
            lines += _troubled(head + value, role, trouble, width, cell_width(head) + 2)
        elif row.reason and width >= (room := cell_width(head) + widest + 2) + _LEAST_REASON:
            text = fit(head + value, room)
            lines.append([(text, role), (fit(visible(row.reason), width - room), "dim")])
        else:
            lines.append([(fit(head + value, width), role)])
    return lines


def _value(row: WizardRow, line: TextField | None, *, here: bool) -> str:
    if line is not None and row.typed:
        return f"[ {line.shown} ]"
    value = visible(row.value) or ("…" if row.typed else "")
    if row.typed:
        return f"[ {value} ]" if here else f"  {value}"
    return f"‹ {value} ›" if here and not row.refusal else f"  {value}"


def _troubled(text: str, role: str, trouble: str, width: int, indent: int) -> list[Line]:
    rest = width - cell_width(text)
    beside = f"   {visible(trouble)}"
    if cell_width(beside) <= rest:
        return [[(text, role), (fit(beside, rest), "warn")]]
    return [
        [(fit(text, width), role)],
        *wrapped(trouble, width, "warn", indent=min(indent, width // 2), hang=0),
    ]


def device_lines(picks: Sequence[WizardChoice], at: int, marks: Sequence[str], width: int) -> list[Line]:
    """Return devices as a table, in the whole width, below a line that says what its columns are.

    Args:
        picks: the devices.
        at: the chosen row.
        marks: the sign in the brackets of each.
        width: of the window.
    """
    sizes = _sizes([pick.cells for pick in picks], width)
    lines: list[Line] = [[(fit(f"  slot  {_cells(_COLUMNS, sizes)}", width), "dim")]]
    for number, (pick, mark) in enumerate(zip(picks, marks, strict=True)):
        here = number == at
        role = "dim" if pick.refusal else "key" if here else "strong" if mark.strip() else "plain"
        row = f"{'▸' if here else ' '}[{mark:^3}]  {_cells(pick.cells, sizes)}"
        lines.append([(fit(row, width), role)])
    return lines


_COLUMNS = ("device", "size", "wear", "model", "serial", "what is on it")
_WIDEST, _WIDEST_OF_WIDE = (14, 6, 5, 19, 11), (14, 6, 5, 28, 20)
_WIDE = 110


def _sizes(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the cells of each column but the last; one in which nothing stands has none.

    Serial numbers are whole where a window has the room.
    """
    found = []
    for column, widest in enumerate(_WIDEST_OF_WIDE if width >= _WIDE else _WIDEST):
        most = max((cell_width(visible(row[column])) for row in rows), default=0)
        found.append(min(widest, max(most, len(_COLUMNS[column]))) if most else 0)
    return found


def _cells(cells: Sequence[str], sizes: Sequence[int]) -> str:
    name, size, wear, model, serial = (visible(cell) for cell in cells[:5])
    parts = [fit(name, sizes[0]), fit(size, sizes[1]).strip().rjust(sizes[1])]
    parts += [fit(wear, sizes[2]).strip().rjust(sizes[2])] if sizes[2] else []
    parts += [fit(model, sizes[3])] if sizes[3] else []
    parts += [fit(tail(serial, sizes[4]), sizes[4])] if sizes[4] else []
    return "  ".join((*parts, visible(cells[5])))
