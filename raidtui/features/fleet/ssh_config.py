"""The hosts that ssh_config names, for patterns such as ``db*``: ssh itself lists none (ssh_config(5))."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

USER_CONFIG, SYSTEM_CONFIG = "~/.ssh/config", "/etc/ssh/ssh_config"
_LINE = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*?)\s*$", re.ASCII)
_WORD = re.compile(r'"([^"]*)"|(\S+)')
_DEEPEST = 16
_LARGEST = 4 << 20


def configured_hosts(config: str = "") -> tuple[str, ...]:
    """Return the names of ``Host`` lines without wildcards, in their order.

    Args:
        config: the file that is read instead of the user's and the system's.
    """
    files = (config,) if config else (USER_CONFIG, SYSTEM_CONFIG)
    found = [
        name for file in files for name in _names(Path(file).expanduser(), 0, is_system=file == SYSTEM_CONFIG)
    ]
    return tuple(dict.fromkeys(found))


def matching(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that a pattern with ``*`` and ``?`` means."""
    return tuple(name for name in names if fnmatchcase(name, pattern))


def _names(path: Path, depth: int, *, is_system: bool) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        words = [quoted or plain for quoted, plain in _WORD.findall(found[2])]
        keyword = found[1].lower()
        if keyword == "host":
            yield from (word for word in words if not set(word) & set("*?!"))
        elif keyword == "include" and depth < _DEEPEST:
            base = "/etc/ssh" if is_system else os.path.expanduser("~/.ssh")  # noqa: PTH111  (glob takes text)
            for word in words:
                whole = os.path.join(base, os.path.expanduser(word))  # noqa: PTH111, PTH118
                for each in sorted(glob.glob(whole)):  # noqa: PTH207
                    yield from _names(Path(each), depth + 1, is_system=is_system)
