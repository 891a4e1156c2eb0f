"""Long texts for people, kept in packaged text files and not in code.

The files lie in a folder ``texts`` beside the module that shows them: ``plans/wizard/texts/steps.txt``.
A file has sections; a line ``# key`` begins one. An empty line ends a paragraph, whose lines are joined to
one. Lines that begin with a blank stay as they are (a list, a table, a command).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

FOLDER = "texts"
_SECTION = "# "


@cache
def read_prose(module_file: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the sections of a text file by key: a line a paragraph, and "" between two of them.

    Args:
        module_file: ``__file__`` of the module that shows the text.
        name: the file's name without ``.txt``.

    Raises:
        OSError: the file is missing.
        ValueError: the file has text before its first section, or a key twice.
    """
    path = Path(module_file).parent / FOLDER / f"{name}.txt"
    sections: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith(_SECTION):
            key = line.removeprefix(_SECTION).strip()
            if key in sections:
                raise ValueError(f"{path}: {key!r} is there twice")
            lines = sections[key] = []
        elif lines is not None:
            lines.append(line)
        elif line.strip():
            raise ValueError(f"{path}: text before the first section")
    return MappingProxyType({key: paragraphs("\n".join(text)) for key, text in sections.items()})


def paragraphs(text: str) -> tuple[str, ...]:
    """Return a text as lines: each paragraph joined to one line, an empty line between two paragraphs."""
    found: list[str] = []
    for part in text.strip("\n").split("\n\n"):
        joined: list[str] = []
        for line in part.split("\n"):
            if line.startswith(" ") or not joined or joined[-1].startswith(" "):
                joined.append(line.rstrip())
            else:
                joined[-1] += f" {line.strip()}"
        found += [*joined, ""]
    return tuple(found[:-1])
