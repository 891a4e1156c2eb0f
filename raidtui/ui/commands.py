"""Commands: one record feeds the key binding, the footer, the help and the palette alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec import Struct
from textual.binding import Binding


class Command(Struct, frozen=True, kw_only=True):
    """Something that a key does.

    Args:
        id: ``pane.verb``, for the user's keymap.
        keys: Textual's key names, comma separated; the first is shown.
        action: the action's name, with its arguments.
        label: a word or two.
        help: a sentence.
        foot: whether the footer shows it.
    """

    id: str
    keys: str
    action: str
    label: str
    help: str
    foot: bool = True
    first: bool = False
    """Whether it is done before the keys behind it go anywhere: it moves the focus, and they are text."""

    @property
    def bindings(self) -> list[Binding]:
        """The key bindings. What comes ``first`` has a second one, for before anything has the focus."""
        plain = Binding(self.keys, self.action, self.label, id=self.id, tooltip=self.help, show=self.foot)
        return [replace(plain, priority=True), plain] if self.first else [plain]

    def shown_key(self, keymap: Mapping[str, str]) -> str:
        """Return the first key as the footer writes it, the user's own where there is one."""
        return shown(keymap.get(self.id, self.keys).split(",")[0])


_KEY_WORDS = {
    "question_mark": "?", "slash": "/", "space": "Space", "enter": "Enter", "escape": "Esc", "left": "←",
    "right": "→", "up": "↑", "down": "↓", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End",
}  # fmt: skip


def shown(key: str) -> str:
    """Return a key as people write it: ^p, ?, ←."""
    key = key.strip()
    if key.startswith("ctrl+"):
        return "^" + key[5:]
    if key.startswith("shift+"):
        return "⇧" + shown(key[6:])
    if key[:1] == "f" and key[1:].isdigit():
        return key.upper()
    return _KEY_WORDS.get(key, key)


CHECK = Command(
    id="arrays.check", keys="c", action="check", label="Check",
    help="Read all members and count what does not match. Changes nothing.",
)  # fmt: skip
CANCEL = Command(
    id="arrays.cancel", keys="x", action="cancel", label="Cancel", foot=False,
    help="End a check or repair for good; the next one starts at the start.",
)  # fmt: skip
PAUSE = Command(
    id="arrays.pause", keys="p", action="pause", label="Pause",
    help="Freeze a resync, recover or reshape, pause a check, or let it go on.",
)  # fmt: skip
LIMITS = Command(
    id="arrays.limits", keys="l", action="limits", label="Limits", first=True,
    help="Go to the sliders: arrows, shift with arrows, digits (MB/s, k for KiB/s), mouse.",
)  # fmt: skip
SCOPE = Command(
    id="arrays.scope", keys="s", action="scope", label="Scope", foot=False,
    help="Let the sliders move this array's limits, or the system's.",
)  # fmt: skip
GIVE_BACK = Command(
    id="arrays.give_back", keys="g", action="give_back", label="Give back", foot=False,
    help="Give this array's limits back to the system: they follow the system's from then on.",
)  # fmt: skip
UNDO = Command(
    id="arrays.undo", keys="u", action="undo", label="Undo", foot=False, help="Put back what was done last."
)  # fmt: skip
REPLACE = Command(
    id="arrays.replace", keys="R", action="repair('replace')", label="Replace",
    help="Copy a member to another device while it still serves: redundancy is never given up.",
)  # fmt: skip
ADD = Command(
    id="arrays.add", keys="A", action="repair('add')", label="Add",
    help="Add a device: a former member (only what changed is copied), a member, or a spare.",
)  # fmt: skip
FAIL = Command(
    id="arrays.fail", keys="F", action="repair('fail')", label="Fail",
    help="Mark a member as failed. Replace is the better verb where it still works.",
)  # fmt: skip
REMOVE = Command(
    id="arrays.remove", keys="M", action="repair('remove')", label="Remove", foot=False,
    help="Take a failed member, or a spare, out of the array.",
)  # fmt: skip
RENAME = Command(
    id="arrays.rename", keys="N", action="repair('rename')", label="Rename",
    help="Give the array another name, in its superblock, mdadm.conf, initramfs and fstab.",
)  # fmt: skip
STOP = Command(
    id="arrays.stop", keys="T", action="repair('stop')", label="Stop", foot=False,
    help="Stop the array; nothing on it is changed.",
)  # fmt: skip
UP = Command(
    id="arrays.up", keys="up,k", action="move(-1)", label="Up", help="The array above.", foot=False
)  # fmt: skip
DOWN = Command(
    id="arrays.down", keys="down,j", action="move(1)", label="Down", help="The array below.", foot=False
)  # fmt: skip
ARRAYS = (
    CHECK, CANCEL, PAUSE, LIMITS, SCOPE, GIVE_BACK, UNDO, REPLACE, ADD, FAIL, REMOVE, RENAME, STOP
)  # fmt: skip

FILTER = Command(
    id="app.filter", keys="slash", action="filter", label="Filter", foot=False, first=True,
    help="Show only what holds a text; Esc ends it.",
)  # fmt: skip
HOLD = Command(
    id="app.hold", keys="space", action="hold", label="Hold", foot=False,
    help="Hold the picture still; the host is watched on.",
)  # fmt: skip
HELP = Command(
    id="app.help", keys="question_mark,f1", action="help", label="Help", help="Keys, and why some are dim."
)  # fmt: skip
PALETTE = Command(
    id="app.palette", keys="ctrl+p", action="command_palette", label="More", help="All commands, by name."
)  # fmt: skip
QUIT = Command(
    id="app.quit", keys="q,ctrl+q", action="leave", label="Quit", foot=False,
    help="Leave. What this session changed for now can be put back.",
)  # fmt: skip
DEMO = Command(
    id="app.demo", keys="d", action="demo", label="Demo", foot=False,
    help="Open the demo host, where no md array is here.",
)  # fmt: skip
BUILD = Command(
    id="app.build", keys="b,2", action="build", label="Build", foot=False,
    help="Build an array: choose devices, level, chunk, bitmap and name; the plan is shown before anything.",
)  # fmt: skip
JOBS = Command(
    id="app.jobs", keys="J", action="jobs", label="Jobs", foot=False,
    help="Jobs that run or were interrupted: follow, resume, roll back.",
)  # fmt: skip
TO_ARRAYS = Command(
    id="app.arrays", keys="1", action="pane('arrays')", label="Arrays", help="The arrays.", foot=False
)  # fmt: skip
TO_LOG = Command(
    id="app.log", keys="6", action="pane('log')", label="Log", help="What happened.", foot=False
)  # fmt: skip
EVERYWHERE = (HELP, PALETTE, TO_ARRAYS, TO_LOG, FILTER, HOLD, BUILD, JOBS, DEMO, QUIT)
