"""Plans and records that raidtui has written before its steps said what they are: read as they were meant."""

from __future__ import annotations

from typing import Any

import msgspec

from raidtui.jobs.state_files import checksum

FIRST_FORM = 1
_LISTS, _NAMES = frozenset({"steps", "undo"}), {"loses": "loss_sentences"}


def with_types(value: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    """Return JSON of the first form in that of the second: each step says in ``do`` what it is.

    The first form told them apart by what they have: a tool, a content, facts that end a wait, or none.
    """
    if isinstance(value, list):
        return [with_types(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        _NAMES.get(key, key): [_typed(each) for each in part]
        if key in _LISTS and isinstance(part, list)
        else with_types(part)
        for key, part in value.items()
    }


def _typed(step: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    found = with_types(step)
    if not isinstance(found, dict) or "do" in found:
        return found
    if found.get("argv"):
        path, text = found.pop("path", None), found.pop("text", None)
        return {**found, "do": "run", **({"sets": [path, text]} if path and text else {})}
    if "ends" in found or "lasts" in found:
        until, as_long_as = found.pop("ends", []), found.pop("lasts", [])
        return {**found, "do": "wait", "until": until, "as_long_as": as_long_as}
    return {**found, "do": "put file" if "content" in found else "write"}


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    raidtui_plan: int


def is_first_form(plan: bytes) -> bool:
    """Whether a saved plan is of the first form; one that cannot be read is of none."""
    try:
        return msgspec.json.decode(plan, type=_Head).raidtui_plan == FIRST_FORM
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def is_as_written(head: dict[str, Any]) -> bool:
    """Whether the checksum of a record of the first form, where it has one, is that of all the rest of it."""
    rest = {key: value for key, value in head.items() if key != "checksum"}
    sums = (
        checksum(msgspec.json.encode(each)) for each in (rest, {**head, "checksum": ""})
    )  # plans, records
    found = head.get("checksum", "")
    return found == "" or any(found == each for each in sums)
