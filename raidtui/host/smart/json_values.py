"""Values out of decoded JSON of any form: a key of the wrong type is a key that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST_TEXT = 200


def value_at(table: Mapping[str, Any], keys: Sequence[str]) -> Any:  # noqa: ANN401  (JSON)
    """Return the value at a path of keys; None if one of them is missing."""
    found: Any = table
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def table_at(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return an object; an empty one if it is missing."""
    found = value_at(table, keys)
    return found if isinstance(found, dict) else {}


def rows_at(table: Mapping[str, Any], *keys: str) -> list[dict[str, Any]]:
    """Return the objects of an array."""
    found = value_at(table, keys)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def number_at(table: Mapping[str, Any], *keys: str) -> int | None:
    """Return a count >= 0. A count too large for a double is also there as text, as KEY_s."""
    exact = value_at(table, (*keys[:-1], keys[-1] + "_s"))
    if isinstance(exact, str) and exact.isascii() and exact.isdigit() and len(exact) < 40:
        return int(exact)
    found = value_at(table, keys)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def text_at(table: Mapping[str, Any], *keys: str) -> str | None:
    """Return a text without white space at its ends, cut to 200 characters; None where it is empty."""
    found = value_at(table, keys)
    return (found.strip()[:_LONGEST_TEXT] or None) if isinstance(found, str) else None


def flag_at(table: Mapping[str, Any], *keys: str) -> bool | None:
    """Return a boolean."""
    found = value_at(table, keys)
    return found if isinstance(found, bool) else None
