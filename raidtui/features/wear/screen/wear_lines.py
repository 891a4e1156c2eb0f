"""Pane 3's table: a disk a row. The names of columns, their cells, and the line below."""

from __future__ import annotations

import time
from typing import NamedTuple

from raidtui.frame.pages import OLD_S, stamp
from raidtui.frame.pane import SEVERITY_ROLES
from raidtui.model.finding import Severity
from raidtui.model.self_test import RunningSelfTest
from raidtui.model.smart import Unread
from raidtui.monitor.wear.costs import life_share, share_figure
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.endurance import FigureSource
from raidtui.monitor.wear.readings import WearLook
from raidtui.monitor.wear.witnesses import Confidence
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import cell_width, fit, tail, visible
from raidtui.view.units import decimal_size

WIDE = 100
ASLEEP = frozenset({Unread.STANDBY, Unread.POWER_UNKNOWN})
_NAME, _LEFT, _BY, _AMOUNT, _RATE, _ENDS = 10, 6, 11, 10, 8, 8
_SERIAL, _AGE, _TEMPERATURE = 16, 7, 7
_LITTLE_LEFT = 10
_NARROW = 72
_SHORT = {
    FigureSource.NVME_LOG: "health log",
    FigureSource.STATISTICS: "statistics",
    FigureSource.SCSI_INDICATOR: "endurance",
    FigureSource.SMARTCTL: "smartctl",
}
_HOURS_A_YEAR = 8766


class NameCells(NamedTuple):
    """How many cells models and serial numbers get, with the blank behind them.

    Args:
        serial: 0 where there is no room for them.
    """

    model: int
    serial: int


def name_cells(look: WearLook, width: int) -> NameCells:
    """Return the columns of what disks are called: what the models leave free, long serial numbers have."""
    wide = width >= WIDE
    room = width - _NAME - _LEFT - 3 - _BY - _AMOUNT - _rate_width(width) - _ENDS - 2
    if not wide:
        return NameCells(max(6, min(32, room)), 0)
    room -= _AGE + _TEMPERATURE
    model = max((cell_width(_model(disk, look)) + 1 for disk in look.disks), default=0)
    longest = max((cell_width(_serial(disk, look)) + 1 for disk in look.disks), default=0)
    serial = max(_SERIAL, min(longest, room - model))
    return NameCells(max(6, min(32, room - serial)), serial)


def _model(disk: DiskWear, look: WearLook) -> str:
    known = look.known.get(disk.name)
    return visible((disk.reading and disk.reading.model) or (known and known.model) or "")


def _serial(disk: DiskWear, look: WearLook) -> str:
    known = look.known.get(disk.name)
    return visible((disk.reading and disk.reading.serial) or (known and known.serial) or "")


def _rate_width(width: int) -> int:
    """In a narrow window there is no room for what a day takes."""
    return _RATE if width >= _NARROW else 0


def head_line(cells: NameCells, width: int, *, since: bool = False) -> Line:
    """Return the names of the columns; of those of what was written, since the mark or ever."""
    amount, rate = ("since mark", "life") if since else ("written", "daily")
    wide = f"{'serial':<{cells.serial}}{'age':>{_AGE}}{'temp.':>{_TEMPERATURE}}" if cells.serial else ""
    of_rate = f"{rate:>{_RATE}}" if _rate_width(width) else ""
    text = (
        f" {'disk':<{_NAME}}{fit('model', cells.model)}{wide}{'left':>{_LEFT}}   "
        f"{'worn by':<{_BY}}{amount:>{_AMOUNT}}{of_rate}{'ends':>{_ENDS}}"
    )
    return [(fit(text, width), "dim")]


def disk_line(disk: DiskWear, look: WearLook, cells: NameCells, width: int, *, since: bool = False) -> Line:
    """Return a disk's row in ``width`` cells.

    Args:
        disk: its wear.
        look: for what was written since the mark, and what udev calls one that said nothing itself.
        cells: of model and serial number, see ``name_cells``.
        width: of the window.
        since: whether that is shown, instead of what was written ever.
    """
    reading, role = disk.reading, role_of(disk, odd=disk.name in odd_names(look))
    base = "plain" if reading is not None else "dim"
    glyph = "" if role == "plain" else GLYPHS[role]
    name = visible(disk.name)
    room = _NAME - 2 - cell_width(name)
    left, left_role = _left(disk)
    amount, rate = _since(disk, look) if since else (_written(disk), _per_day(disk))
    line: Line = [
        (f" {fit(name, min(cell_width(name), _NAME - 2))} ", base),
        (glyph or " ", role if glyph else base),
        (" " * max(0, room), base),
        (fit(_model(disk, look), cells.model), base),
    ]
    if cells.serial:
        serial = tail(_serial(disk, look), cells.serial - 1)
        warm = "" if reading is None or reading.temperature_c is None else f"{reading.temperature_c} °C"
        line.append((f"{fit(serial, cells.serial)}{_age(disk):>{_AGE}}{warm:>{_TEMPERATURE}}", base))
    line.append((f"{left:>{_LEFT}}", left_role))
    ends = _ends(disk, wide=bool(cells.serial))
    rate = f"{rate:>{_RATE}}" if _rate_width(width) else ""
    line.append((f"   {fit(worn_by(disk), _BY)}{amount:>{_AMOUNT}}{rate}{ends:>{_ENDS}}", base))
    return line


def odd_names(look: WearLook) -> frozenset[str]:
    """Return the disks that are out of line in one of their arrays."""
    return frozenset(name for array in look.arrays for name in array.odd)


def role_of(disk: DiskWear, *, odd: bool = False) -> str:
    """Return the role of a disk's glyph: its worst finding's, ``unknown`` where no one knows its life.

    Args:
        disk: its wear.
        odd: whether it is out of line in an array.
    """
    if disk.unread is not None:
        return "plain" if disk.unread.why in ASLEEP else "unknown"
    worst = max((each.severity for each in disk.findings), default=Severity.INFO)
    worst = max(worst, Severity.ATTENTION) if odd else worst
    if worst > Severity.INFO:
        return SEVERITY_ROLES[worst]
    rotates = disk.reading is not None and disk.reading.rotates
    return "unknown" if disk.percent.percent is None and not rotates else "plain"


def running_self_test(disk: DiskWear) -> RunningSelfTest | None:
    """Return the self-test that a disk runs."""
    tests = disk.reading.self_tests if disk.reading is not None else None
    return tests.running if tests is not None else None


def _left(disk: DiskWear) -> tuple[str, str]:
    if disk.reading is None:
        return "·", "dim"
    used = disk.percent.percent
    if used is None:
        return ("–", "plain") if disk.reading.rotates else ("?", "unknown")
    left = max(0, 100 - used)
    return f"{left} %", "bad" if left == 0 else "warn" if left <= _LITTLE_LEFT else "plain"


def worn_by(disk: DiskWear) -> str:
    """Return where the figure comes from, or why there is none; while a self-test runs, how far it is."""
    if disk.unread is not None:
        return "asleep" if disk.unread.why in ASLEEP else "not read"
    if (test := running_self_test(disk)) is not None:
        return "testing" if test.left_percent is None else f"testing {100 - test.left_percent}%"
    percent = disk.percent
    if percent.percent is None:
        return "rotates" if disk.reading is not None and disk.reading.rotates else "unknown"
    if percent.attribute is None and percent.confidence is Confidence.ASSUMED:
        return "assumed"
    if percent.attribute is None:
        return next((short for source, short in _SHORT.items() if source == percent.source), "")
    if percent.confidence is Confidence.ASSUMED:
        return f"{percent.attribute} assumed"
    return f"{percent.attribute} {'norm.' if percent.normalized else 'raw'}"


def _written(disk: DiskWear) -> str:
    if disk.reading is None:
        return "·"
    if disk.written.size_bytes is None:
        return "?" if disk.written.source else "·"
    about = "~" if disk.written.confidence is Confidence.ASSUMED else ""
    return about + decimal_size(disk.written.size_bytes)


def _per_day(disk: DiskWear) -> str:
    rate = disk.forecast.per_day_bytes if disk.forecast is not None else None
    return "·" if rate is None else decimal_size(rate)


def _since(disk: DiskWear, look: WearLook) -> tuple[str, str]:
    size = look.since.get(disk.name)
    if size is None:
        return "·", "·"
    share = share_figure([life_share(disk, size)], less="<") if size else "0 %"
    return decimal_size(size), share or "·"


def _ends(disk: DiskWear, *, wide: bool) -> str:
    found = disk.forecast
    if found is None:
        return "·"
    if found.over:
        return "over"
    if found.ends_s is None:
        return ">50 y"
    return time.strftime("%Y-%m" if wide else "%Y", time.gmtime(found.ends_s))


def _age(disk: DiskWear) -> str:
    hours = disk.reading.power_on_hours if disk.reading is not None else None
    return "" if hours is None else f"{hours / _HOURS_A_YEAR:.1f} y"


def _day(at_s: float, now_s: float) -> str:
    form = "%d %b" if now_s - at_s < OLD_S else "%Y-%m-%d"
    return time.strftime(form, time.localtime(at_s)).lstrip("0")


def read_words(look: WearLook | None, *, since: bool = False, busy: bool = False) -> tuple[str, ...]:
    """Return what the rule says: the time of the reading, and of the mark.

    Args:
        look: None before the first reading.
        since: whether the table is about what was written since the mark.
        busy: whether the disks are being read.
    """
    if busy or look is None:
        return ("reading the disks",) if busy else ()
    read = f"read {time.strftime('%H:%M', time.localtime(look.at_s))}"
    if since and look.mark is not None:
        named = f' "{visible(look.mark.what)}"' if look.mark.what else ""
        return read, f"since the mark{named} of {stamp(look.mark.at_s, look.at_s)}"
    if look.known_since_s is not None:
        return read, f"history since {_day(look.known_since_s, look.at_s)}"
    return (read, "no history yet") if any(disk.entry is not None for disk in look.disks) else (read,)
