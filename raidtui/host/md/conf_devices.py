"""Which devices mdadm.conf lets mdadm look at: its DEVICE lines (mdadm.conf(5), config.c of mdadm 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.udev import read_udev_entry

_KEYWORD = "devices"
_ALL = "partitions"


def device_words(entries: Iterable[Collection[str]]) -> tuple[str, ...]:
    """Return the words of all DEVICE lines; () where there is none, or all devices are looked at.

    Args:
        entries: the words of each entry of mdadm.conf.
    """
    found: list[str] = []
    for keyword, *words in entries:
        if len(keyword) > 2 and _KEYWORD.startswith(keyword.lower()):
            found += words
    return () if any(word.lower() == _ALL for word in found) else tuple(found)


def left_out(reader: HostReader, words: Collection[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the devices that no word fits, neither by /dev/NAME nor by a link of udev's.

    Args:
        reader: the host.
        words: of DEVICE lines, or of ``devices=``; () fit all.
        names: kernel names of devices.
    """
    return tuple(name for name in dict.fromkeys(names) if words and not _is_named(reader, words, name))


def _is_named(reader: HostReader, words: Collection[str], name: str) -> bool:
    node = name.replace("/", "!")
    links = read_udev_entry(reader, reader.text(f"{BLOCK}/{node}/dev")).links
    paths = (f"/dev/{name}", *(f"/dev/{link}" for link in links))
    return any(_fits(word, path) for word in words for path in paths)


def _fits(word: str, path: str) -> bool:
    """Whether a pattern fits; its ``*`` stands for no slash (fnmatch(3), FNM_PATHNAME)."""
    parts, own = word.split("/"), path.split("/")
    return len(parts) == len(own) and all(map(fnmatchcase, own, parts))
