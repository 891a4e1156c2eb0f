"""A geometry as it is typed: level=5,layout=left-symmetric,chunk=64,offset=2048,metadata=1.2. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.search.results import RescueGeometry

_LEVELS = frozenset({0, 1, 4, 5, 6, 10})
_METADATA = frozenset({"0.90", "1.0", "1.1", "1.2"})
_KEYS = ("level", "layout", "chunk", "offset", "metadata", "size")


def read_geometry(text: str, order: Sequence[str]) -> RescueGeometry:
    """Return the geometry that words say.

    Args:
        text: the words: chunk in KiB, offset and size in sectors of 512 bytes.
        order: kernel names by slot, or "missing".

    Raises:
        ValueError: they say none; the message says why.
    """
    words: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key not in _KEYS or not equals or key in words:
            raise ValueError(f"--geometry: {part!r} is not one of {', '.join(_KEYS)}, each once")
        words[key] = value
    level = _number(words, "level")
    if "level" not in words or level not in _LEVELS:
        raise ValueError("--geometry needs level=0, 1, 4, 5, 6 or 10")
    metadata = words.get("metadata", "1.2")
    if metadata not in _METADATA:
        raise ValueError(f"--geometry: metadata {metadata!r} is not one of {', '.join(sorted(_METADATA))}")
    if level != 1 and not words.get("chunk"):
        raise ValueError("--geometry needs chunk=KIB: a default is a guess")
    if level in {5, 6, 10} and not words.get("layout"):
        raise ValueError("--geometry needs layout=: a default is a guess")
    if not metadata.startswith("0") and metadata != "1.0" and "offset" not in words:
        raise ValueError("--geometry needs offset=SECTORS: a default is a guess")
    return RescueGeometry(
        level=level,
        order=tuple(order),
        layout=words.get("layout", ""),
        chunk_bytes=_number(words, "chunk") << 10,
        data_offset_sectors=_number(words, "offset"),
        metadata=metadata,
        size_sectors=_number(words, "size") or None,
    )


def _number(words: dict[str, str], key: str) -> int:
    word = words.get(key, "0")
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise ValueError(f"--geometry: {key}={word} is not a number")
    return int(word)
