"""Folders of configuration whose files mask each other by name, as systemd's tools and udev read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from raidtui.host.readers.host_reader import HostReader


def drop_ins(reader: HostReader, folders: Iterable[str], suffix: str) -> tuple[str, ...]:
    """Return the files that are in effect, by name.

    Args:
        reader: the host.
        folders: a file in one of them masks those of the same name in the folders after it.
        suffix: of the names.
    """
    found: dict[str, str] = {}
    for folder in folders:
        for name in reader.names(folder):
            if name.endswith(suffix):
                found.setdefault(name, f"{folder}/{name}")
    return tuple(found[name] for name in sorted(found))


def assigned_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, key, value) of ``KEY=value`` lines, without comments and quotes."""
    for number, line in enumerate(text.split("\n"), start=1):
        key, sign, value = line.partition("=")
        if sign and not line.lstrip().startswith(("#", ";")):
            yield number, key.strip(), _bare(value)


def _bare(text: str) -> str:
    word = text.strip()
    for quote in "\"'":
        if word.startswith(quote):
            return word[1:].partition(quote)[0]
    return word.partition("#")[0].strip()
