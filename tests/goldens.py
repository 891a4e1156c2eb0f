"""Accepted texts: ``snapshots/MODULE.txt`` has a section for each, which begins with ``=== NAME``.

A test that finds another text prints the difference. ``--snapshot-update`` accepts it, and takes out what no
test asks for any more; without it, such a section is a failure of a run of all tests of that folder.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import ClassVar

import pytest

from tests.places import HOUSE

SNAPSHOTS = HOUSE / "snapshots"
_HEAD = "=== "


def read_goldens(path: Path) -> dict[str, str]:
    """Return the sections of a file by their names; {} where there is none."""
    if not path.exists():
        return {}
    parts = path.read_text(encoding="utf-8").split(f"\n{_HEAD}")
    parts[0] = parts[0].removeprefix(_HEAD)
    sections = (part.partition("\n") for part in parts)
    return {name: text.rstrip("\n") + "\n" for name, _, text in sections}


def write_goldens(path: Path, sections: dict[str, str]) -> None:
    """Write the sections of a file; without any it goes."""
    if not sections:
        path.unlink(missing_ok=True)
        return
    text = "\n".join(f"{_HEAD}{name}\n{sections[name]}" for name in sorted(sections))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def difference(accepted: str, now: str) -> str:
    """Return how a text differs from the accepted one, as a diff."""
    lines = difflib.unified_diff(accepted.split("\n"), now.split("\n"), "accepted", "now", lineterm="", n=2)
    return "\n".join(lines)


class Goldens:
    """The accepted texts of a module of tests.

    Args:
        request: of one of its tests.
        folder: where they are, below ``snapshots``; "" for itself.
    """

    asked_for: ClassVar[set[tuple[str, str]]] = set()
    """(file, section) of those that were compared."""

    def __init__(self, request: pytest.FixtureRequest, folder: str = "") -> None:
        self._path = SNAPSHOTS / folder / f"{request.path.stem.removeprefix('test_')}.txt"
        self._accepts = bool(request.config.getoption("update_snapshots"))

    def compare(self, name: str, now: str) -> None:
        """Compare a text with the accepted one, or accept it.

        Raises:
            AssertionError: they differ; the difference is in the error.
        """
        self.asked_for.add((str(self._path.relative_to(SNAPSHOTS)), name))
        sections = read_goldens(self._path)
        if self._accepts:
            if sections.get(name) != now:
                write_goldens(self._path, {**sections, name: now})
            return
        assert sections.get(name) == now, difference(sections.get(name, ""), now)


def unused_goldens(folder: str, *, drop: bool) -> list[str]:
    """Return the sections in a folder that no test asked for, and take them out where that is wanted."""
    found = []
    for path in sorted((SNAPSHOTS / folder).glob("*.txt")):
        file, sections = str(path.relative_to(SNAPSHOTS)), read_goldens(path)
        unused = [name for name in sections if (file, name) not in Goldens.asked_for]
        found += [f"{file}: {name}" for name in unused]
        if drop and unused:
            write_goldens(path, {name: text for name, text in sections.items() if name not in unused})
    return found
