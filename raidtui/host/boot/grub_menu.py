"""What GRUB starts by itself: grub.cfg, its environment, and the entries of the Boot Loader Specification."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from raidtui.host.boot.boot_images import newest
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.boot import BootEntry

FOLDERS = ("/boot/grub", "/boot/grub2")
_ENTRIES = "/boot/loader/entries"
_ITEM = re.compile(r"""\s*(menuentry|submenu)\s+(?:'([^']*)'|"([^"]*)"|(\S+))(.*)""")
_ID = re.compile(r"""(?:--id|\$menuentry_id_option)[ =]+(?:'([^']*)'|"([^"]*)"|(\S+))""")
_DEFAULT = re.compile(r"""\s*set\s+default\s*=\s*["']?([^"']*)["']?\s*""")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_MOST_DEPTH = 8


class _Item(Struct):
    title: str
    ident: str
    kernel: str = ""
    initrd: str = ""
    words: tuple[str, ...] = ()
    items: list[_Item] | None = None


class MenuError(Exception):
    """What boots next cannot be told; the message says why, a clause."""


def menu_path(reader: HostReader) -> str:
    """Return the path of grub.cfg; "" for none."""
    paths = (f"{folder}/grub.cfg" for folder in FOLDERS)
    return next((path for path in paths if reader.text(path) is not None), "")


def read_start(reader: HostReader) -> BootEntry:
    """Return what boots next.

    Raises:
        MenuError: that cannot be told.
    """
    for folder in FOLDERS:
        text = reader.text(f"{folder}/grub.cfg")
        if text is not None:
            environment = _environment(reader.text(f"{folder}/grubenv") or "")
            if re.search(r"^\s*blscfg\b", text, re.MULTILINE):
                return _read_specification(reader, environment)
            return start_of(text, environment)
    raise MenuError("there is no grub.cfg that can be read")


def start_of(text: str, environment: dict[str, str]) -> BootEntry:
    """Return the entry of a grub.cfg that is started without anybody at the keyboard.

    Args:
        text: of grub.cfg.
        environment: of grubenv.

    Raises:
        MenuError: that cannot be told.
    """
    items = _parsed(text)
    wanted = _wanted(text, environment)
    item = _chosen(items, wanted)
    if item is None or item.items is not None or not item.kernel:
        raise MenuError(f"grub.cfg has no entry {wanted}, which is to be started")
    return BootEntry(title=item.title, kernel=item.kernel, initrd=item.initrd, words=item.words)


def _environment(text: str) -> dict[str, str]:
    lines = (line.partition("=") for line in text.split("\n") if not line.startswith("#"))
    return {key: value for key, sign, value in lines if sign}


def _wanted(text: str, environment: dict[str, str]) -> str:
    if environment.get("next_entry") and "next_entry" in text:
        return environment["next_entry"]
    settings = [found[1] for line in text.split("\n") if (found := _DEFAULT.fullmatch(line))]
    value = next((each for each in reversed(settings) if "next_entry" not in each), "0")
    return _VARIABLE.sub(lambda found: environment.get(found[1], ""), value) or "0"


def _parsed(text: str) -> list[_Item]:
    """Return the menu: entries, and submenus with theirs."""
    levels: list[tuple[list[_Item], int]] = [([], 0)]
    depth, current, current_depth = 0, None, 0
    for line in text.split("\n"):
        found = _ITEM.match(line)
        opens = _braces(line)
        if found and "{" in line and len(levels) <= _MOST_DEPTH:
            title = found[2] or found[3] or found[4] or ""
            ident = next((word for each in _ID.finditer(found[5]) for word in each.groups() if word), "")
            item = _Item(title=title, ident=ident)
            levels[-1][0].append(item)
            if found[1] == "submenu":
                item.items = []
                levels.append((item.items, depth))
            else:
                current, current_depth = item, depth
        elif current is not None:
            _command(current, line.split())
        depth += opens
        if current is not None and depth <= current_depth:
            current = None
        while len(levels) > 1 and depth <= levels[-1][1]:
            levels.pop()
    return levels[0][0]


def _braces(line: str) -> int:
    words = line.split()
    if not words or words[0].startswith("#"):
        return 0
    return (1 if words[-1] == "{" else 0) - (1 if words[0] == "}" else 0)


def _command(item: _Item, words: Sequence[str]) -> None:
    if len(words) > 1 and words[0] in {"linux", "linux16", "linuxefi"}:
        item.kernel, item.words = words[1].rpartition("/")[2], tuple(words[2:])
    elif len(words) > 1 and words[0] in {"initrd", "initrd16", "initrdefi"}:
        item.initrd = words[-1].rpartition("/")[2]  # microcode may come before it


def _chosen(items: list[_Item], wanted: str) -> _Item | None:
    """Return the item by its place, its ID or its title; of submenus with > between."""
    exact = _of(items, wanted)
    if exact is not None or ">" not in wanted:
        return exact
    head, _, rest = wanted.partition(">")
    menu = _of(items, head)
    return None if menu is None or menu.items is None else _chosen(menu.items, rest)


def _of(items: list[_Item], word: str) -> _Item | None:
    if word.isascii() and word.isdigit():
        return items[int(word)] if int(word) < len(items) else None
    return next((each for each in items if word and word in {each.ident, each.title}), None)


def _read_specification(reader: HostReader, environment: dict[str, str]) -> BootEntry:
    """Of entries in /boot/loader/entries: the saved one, else the newest."""
    names = [name.removesuffix(".conf") for name in reader.names(_ENTRIES) if name.endswith(".conf")]
    if not names:
        raise MenuError(f"{_ENTRIES} has no entry that can be read")
    saved = environment.get("saved_entry", "")
    name = saved if saved in names else max(names, key=newest)
    lines = (reader.text(f"{_ENTRIES}/{name}.conf") or "").split("\n")
    fields = {key: value.strip() for key, _, value in (line.strip().partition(" ") for line in lines)}
    words = _VARIABLE.sub(lambda found: environment.get(found[1], ""), fields.get("options", ""))
    return BootEntry(
        title=fields.get("title", name),
        kernel=fields.get("linux", "").rpartition("/")[2],
        initrd=fields.get("initrd", "").partition(" ")[0].rpartition("/")[2],
        words=tuple(words.split()),
    )
