"""The first frame: the true state of the arrays, some 10 ms after the start, before Textual is imported.

It reads /proc/mdstat and a few small files per visible array, writes one string, and saves the terminal's
modes, so that they are restored whatever happens to the rest of the start.
"""

from __future__ import annotations

import os
import termios
import time

from raidtui.host.md.mdstat import MdstatArray, parse_mdstat
from raidtui.host.mdstat_apart import MDSTAT, read_mdstat
from raidtui.host.regular_files import read_regular
from raidtui.model.geometry import awaited_slots
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS, layout_short, printed_layout
from raidtui.model.verdict import Condition, sync_phase, sync_word, troubles, urgency, verdict
from raidtui.view.array_row import Brief, brief_line, list_width
from raidtui.view.glyphs import to_cells
from raidtui.view.line import Line, counts_line, header_line, rule_line, tab_line
from raidtui.view.palette import choose_theme, colours_in, theme_folders
from raidtui.view.slow_line import slow_baud

TABS = (
    ("1", "Arrays"),
    ("2", "Build"),
    ("3", "Wear"),
    ("4", "Tune"),
    ("5", "Bench"),
    ("6", "Log"),
    ("7", "Advice"),
)
SMALLEST = (60, 15)
# In-band resize, bracketed paste, mouse reporting (four modes), focus, line wrap, keyboard protocol.
_MODES_OFF = b"\x1b[?2048l\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1000l\x1b[?1004l\x1b[?7h\x1b[<u"


class Terminal:
    """The state of the terminal before the first frame."""

    def __init__(self) -> None:
        self.cooked: list[object] | None = None
        self.shown = False
        self.driven = False  # Textual's driver runs and has set modes of its own

    def restore(self) -> None:
        """Restore the terminal. It may be called more than once."""
        shown, self.shown = self.shown, False
        driven, self.driven = self.driven, False
        cooked, self.cooked = self.cooked, None
        try:
            if driven:
                os.write(1, _MODES_OFF)
            if shown or driven:
                os.write(1, b"\x1b[?1049l\x1b[?25h\x1b[0m")
            if cooked is not None:
                termios.tcsetattr(0, termios.TCSANOW, cooked)  # type: ignore[arg-type]
        except (OSError, termios.error):
            return  # the connection is lost: there is no terminal to restore

    def end(self, number: int, frame: object) -> None:
        """End on a signal before the screen starts."""
        del frame
        self.restore()
        os._exit(128 + number)


TERMINAL = Terminal()


def show(root: str = "", asked_theme: str | None = None, *, readonly: bool = False) -> None:
    """Draw the first frame, if standard output is a terminal that is large enough.

    Args:
        root: the folder with the host's files; "" for the live host.
        asked_theme: the theme named on the command line.
        readonly: whether nothing is to be written.
    """
    if not (os.isatty(0) and os.isatty(1)):
        return
    try:
        size = os.get_terminal_size(1)
        cooked = termios.tcgetattr(0)
    except (OSError, termios.error):
        return
    if size.columns < SMALLEST[0] or size.lines < SMALLEST[1]:
        return
    TERMINAL.cooked = list(cooked)
    raw = list(cooked)
    raw[3] &= ~(termios.ECHO | termios.ICANON)  # keys typed from now on are for raidtui
    termios.tcsetattr(0, termios.TCSANOW, raw)
    TERMINAL.shown = True
    theme = choose_theme(asked_theme or _configured_theme())
    try:
        lines = frame(root, size.columns, size.lines, readonly=readonly)
    except TimeoutError:  # nothing is said of arrays that md does not tell
        lines = []
    signs = "ascii" if slow_baud(1) is not None else ""
    os.write(1, to_cells(paint(lines, read_colours(theme), size.columns, size.lines), signs))


def _configured_theme() -> str | None:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    for line in _text(f"{base}/raidtui/config.toml").split("\n"):
        key, _, value = line.partition("=")
        if key.strip() == "theme":
            return value.strip().strip('"') or None
        if line.startswith("["):
            break
    return None


def read_colours(name: str) -> dict[str, str]:
    """Return a theme's colours; {} for an unknown theme. ``raidtui.frame.themes`` validates the file."""
    if not name or "/" in name or name.startswith("."):
        return {}
    for folder in theme_folders():
        try:
            return colours_in(read_regular(f"{folder}/{name}.toml").decode())
        except (OSError, UnicodeDecodeError):
            continue
    return {}


def frame(root: str, columns: int, rows: int, *, readonly: bool = False) -> list[Line]:
    """Return the lines of the first frame: header, tabs, and as many rows of arrays as fit.

    Raises:
        TimeoutError: /proc/mdstat does not answer.
    """
    width = list_width(columns)
    visible_rows = max(3, rows // 3)
    briefs = read_briefs(root, visible_rows)
    counts: dict[tuple[str, str], int] = {}
    for brief in briefs:
        key = (brief.role, brief.word)
        counts[key] = counts.get(key, 0) + 1
    name = _text(f"{root}/proc/sys/kernel/hostname") or ("captured tree" if root else "this host")
    release = _text(f"{root}/proc/sys/kernel/osrelease")
    kernel = f" · Linux {release.partition('-')[0]}" if release else ""
    rights = "capture" if root else "root" if os.geteuid() == 0 and not readonly else "read-only"
    clock = time.strftime("%H:%M")
    lines = [
        header_line(f"{name}{kernel}", counts_line(counts), f"{rights}  {clock}", columns),
        tab_line(TABS, "Arrays", columns),
    ]
    if width < columns:
        lines.append(rule_line(width, "arrays"))
    lines += [brief_line(brief, width) for brief in briefs[:visible_rows]]
    return lines


def read_briefs(root: str, visible_rows: int) -> list[Brief]:
    """Return all arrays, the worst first; sysfs is read for the visible ones. Raises as ``frame``."""
    mdstat = parse_mdstat(_mdstat(root))
    there = _devices(root)
    entries = (*mdstat.arrays, *mdstat.unread)
    looks = [index < visible_rows or bool(_not_there(entry, there)) for index, entry in enumerate(entries)]
    found = [
        (entry, _brief(root, entry, look=look, there=there), look)
        for entry, look in zip(entries, looks, strict=True)
    ]
    found.sort(key=lambda each: each[1].urgency)
    for index, (entry, _, looked) in enumerate(found[:visible_rows]):
        if not looked:
            found[index] = (entry, _brief(root, entry, look=True, there=there), True)
    titles = [brief.title for _, brief, _ in found[:visible_rows]]
    for entry, brief, _ in found[:visible_rows]:
        if titles.count(brief.title) > 1:
            brief.suffix = entry.name  # arrays with the same title
    return [brief for _, brief, _ in found]


def _devices(root: str) -> frozenset[str]:
    """Return the names of all block devices; none where they, or all but arrays, cannot be seen."""
    try:
        names = frozenset(os.listdir(f"{root}/sys/class/block"))
    except OSError:
        return frozenset()
    return names if not root or any(not name.startswith("md") for name in names) else frozenset()


def _not_there(entry: MdstatArray, there: frozenset[str]) -> list[str]:
    """Return members that have not failed by mdstat, and whose devices are not among those that are there."""
    working = [member.name.replace("/", "!") for member in entry.members if "F" not in member.flags]
    return [name for name in working if name not in there] if there else []


def _brief(root: str, entry: MdstatArray, *, look: bool, there: frozenset[str] = frozenset()) -> Brief:
    base = f"{root}/sys/class/block/{entry.name}"
    action = _text(f"{base}/md/sync_action") if look else ""
    condition = _condition(entry, action)
    if look and entry.state:
        _look_for_members(condition, entry, _not_there(entry, there), f"{base}/md")
    if look and entry.state not in {"inactive", ""}:
        _look_closely(condition, entry, f"{base}/md")
    role, word = verdict(condition)
    brief = Brief(_label(root, base) if look else "", role, word)
    brief.title = brief.title or entry.name
    redundant = entry.level is not None and entry.level not in NO_REDUNDANCY
    brief.urgency = urgency(role, word, redundant=redundant, losses_left=condition.losses_left)
    brief.level = entry.level or ""
    brief.layout = layout_short(entry.level, condition.layout)
    brief.chunk_bytes = entry.chunk_kib * 1024 if entry.chunk_kib else None
    brief.size_bytes = (
        entry.blocks_kib * 1024 if entry.blocks_kib and entry.state not in {"inactive", ""} else None
    )
    brief.note = _note(entry, condition)
    sync = entry.sync
    if sync is not None and sync.permille is not None:
        brief.percent = f"{sync.permille // 10}.{sync.permille % 10} %"
        brief.speed_kib_s = sync.speed_kib_s or None
    return brief


def _condition(entry: MdstatArray, action: str) -> Condition:
    """Return the condition of an array by mdstat, and by ``md/sync_action`` where that has been read."""
    external = entry.super.startswith("external:")
    condition = Condition(
        active=entry.state != "inactive",
        container=external and not entry.super.startswith(("external:/", "external:-")),
        level=entry.level,
        layout=printed_layout(entry.level, entry.layout),
        up=entry.up,
    )
    condition.size_kib = entry.blocks_kib
    if entry.up is None and entry.level not in NO_REDUNDANCY:
        condition.lacking = None
        if entry.raid_disks is not None and entry.working is not None:
            condition.lacking = entry.raid_disks - entry.working
    journals = [member for member in entry.members if "J" in member.flags]
    condition.understood = bool(entry.state)
    condition.stale = not entry.state
    condition.broken = entry.state == "broken"
    condition.faulty = any("F" in member.flags and "J" not in member.flags for member in entry.members)
    condition.member_trouble = any(member.foreign for member in entry.members)
    condition.journal_lost = bool(journals) and all("F" in member.flags for member in journals)
    condition.frozen = action == "frozen"
    if (sync := entry.sync) is not None:
        condition.sync = sync_word(sync.word, sync.waiting, action, filling=entry.filling)
        condition.phase = sync_phase(sync.waiting, action)
    spare = any("S" in member.flags and "F" not in member.flags for member in entry.members)
    condition.work_waits = condition.phase in {"pending", "frozen"} or (bool(condition.missing) and spare)
    return condition


def _look_for_members(condition: Condition, entry: MdstatArray, names: list[str], folder: str) -> None:
    """Add the members whose devices are no longer in the kernel, though md has not noticed."""
    states = {name: _text(f"{folder}/dev-{name}/state").split(",") for name in names}
    left = {name: words for name, words in states.items() if words != [""] and "faulty" not in words}
    journals = [name for name, words in left.items() if "journal" in words]
    condition.detached = len(left) > len(journals)
    condition.journal_lost |= bool(journals)
    serving = [name for name, words in left.items() if "in_sync" in words and name not in journals]
    slots = {slot for name in serving for slot in _numbers(f"{folder}/dev-{name}/slot")}
    if slots:  # the replacement of such a member may be whole already
        others = [each.name.replace("/", "!") for each in entry.members if "R" in each.flags]
        whole = [name for name in others if name not in names and _is_whole(f"{folder}/dev-{name}")]
        slots -= {slot for name in whole for slot in _numbers(f"{folder}/dev-{name}/slot")}
    condition.detached_slots = tuple(sorted(slots))


def _is_whole(folder: str) -> bool:
    return "in_sync" in _text(f"{folder}/state").split(",")


def _look_closely(condition: Condition, entry: MdstatArray, folder: str) -> None:
    """Add values that are in sysfs alone, from as few files as the state requires."""
    if condition.level in PARITY_LEVELS:
        condition.awaited = _awaited(condition, entry, folder)
        mismatches = _text(f"{folder}/mismatch_cnt")
        if mismatches.isdigit() and int(mismatches):
            condition.mismatches = int(mismatches)
            condition.last_action = _text(f"{folder}/last_sync_action")
        journals = any("J" in member.flags for member in entry.members)
        condition.journal_lost |= not journals and _text(f"{folder}/consistency_policy") == "journal"
    if entry.sync is None and condition.level not in NO_REDUNDANCY:
        if _text(f"{folder}/reshape_position") not in {"", "none"}:
            condition.sync = "reshape"
        elif condition.frozen and _text(f"{folder}/resync_start") not in {"", "none"}:
            condition.sync = "resync"
        if condition.sync:
            condition.phase = "frozen" if condition.frozen else "pending"
            condition.work_waits = True
    if condition.frozen:
        replacements = (member.name.replace("/", "!") for member in entry.members if "R" in member.flags)
        states = (_text(f"{folder}/dev-{name}/state").split(",") for name in replacements)
        condition.work_waits |= any(state != [""] and "in_sync" not in state for state in states)
    if not troubles(condition) and _has_bad_blocks(folder):
        condition.bad_blocks = True
        condition.data_lost = condition.level in NO_REDUNDANCY


def _awaited(condition: Condition, entry: MdstatArray, folder: str) -> tuple[int, ...]:
    """Return ``Condition.awaited``."""
    if (
        not condition.not_up
        or condition.faulty
        or condition.detached
        or _text(f"{folder}/reshape_position") in {"", "none"}
    ):
        return ()
    (count, *before), layouts = (_numbers(f"{folder}/{name}") or [0] for name in ("raid_disks", "layout"))
    folders = (f"{folder}/dev-{member.name.replace('/', '!')}" for member in entry.members)
    slots = (_numbers(f"{each}/slot") for each in folders if "spare" in _text(f"{each}/state"))
    return awaited_slots(
        condition.level,
        (condition.layout, layouts[0]),
        (before[0] if before else None, count),
        condition.not_up,
        {slot for found in slots for slot in found},
    )


def _numbers(path: str) -> list[int]:
    """Return the numbers of ``4 (3)``."""
    words = _text(path).replace("(", " ").replace(")", " ").split()
    return [int(word) for word in words if word.isdigit() and len(word) < 9]


def _has_bad_blocks(folder: str) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name.startswith("dev-") and _text(f"{folder}/{name}/bad_blocks") for name in names)


def _note(entry: MdstatArray, condition: Condition) -> str:
    up = entry.up or ""
    if entry.state == "inactive":
        return ""  # mdstat does not have the number of slots
    if condition.missing:
        return f"{len(up) - len(condition.not_up)} of {len(up)} in sync"
    if not condition.phase or condition.phase == "running":
        return entry.read_only
    # When a delayed sync begins follows from the others' estimates, which take a sample.
    return condition.sync if condition.phase == "delayed" else f"{condition.sync} waits"


def _label(root: str, base: str) -> str:
    for line in _text(f"{root}/run/udev/data/b{_text(f'{base}/dev')}").split("\n"):
        if line.startswith("E:MD_NAME="):
            return line.partition("=")[2].rpartition(":")[2]
    return ""


def _mdstat(root: str) -> str:
    if root:
        return _text(f"{root}{MDSTAT}")
    try:
        return read_mdstat().decode("utf-8", "replace")
    except TimeoutError:
        raise
    except OSError:
        return ""


def _text(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8", "replace").rstrip("\n")
    except (OSError, ValueError):
        return ""


def paint(lines: list[Line], colours: dict[str, str], columns: int, rows: int) -> str:
    """Return the escape sequences that draw the lines on an empty alternate screen."""
    depth = os.environ.get("COLORTERM", "")
    true_colour = depth in {"truecolor", "24bit"}
    base = ""
    if true_colour and "NO_COLOR" not in os.environ:
        base = _sgr(colours.get("foreground", ""), 38) + _sgr(colours.get("background", ""), 48)
    out = ["\x1b[?1049h\x1b[?25l\x1b[0m", base, "\x1b[2J\x1b[H"]
    for number, line in enumerate(lines[:rows], 1):
        out.append(f"\x1b[{number};1H")
        for text, role in line:
            style = _sgr(colours.get(role, ""), 38) if true_colour and base else ""
            bold = "\x1b[1m" if role in {"strong", "tab"} else ""
            out.append(f"{style}{bold}{text}\x1b[0m{base}" if style or bold else text)
    out.append(f"\x1b[{rows};1H\x1b[0m{base}")
    del columns
    return "".join(out)


def _sgr(colour: str, ground: int) -> str:
    if len(colour) != 7 or colour[0] != "#":
        return ""
    try:
        red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    except ValueError:
        return ""
    return f"\x1b[{ground};2;{red};{green};{blue}m"
