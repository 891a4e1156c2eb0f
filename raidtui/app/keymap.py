"""The user's own keys: unknown commands are named, and two commands on one key are refused."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from raidtui.features.arrays.screen.arrays_pane import ArraysPane
from raidtui.features.arrays.screen.slider import SLIDER
from raidtui.frame.command import Command, shown
from raidtui.frame.commands import EVERYWHERE
from raidtui.frame.feature import Feature
from raidtui.frame.pane import Pane


def check_keymap(
    keys: Mapping[str, str], rooms: Sequence[Sequence[Command]]
) -> tuple[dict[str, str], list[str]]:
    """Return the entries that can be used, and a sentence on each other one.

    Args:
        keys: command id -> keys, comma separated.
        rooms: the commands that can be used at the same time, a sequence for each pane.
    """
    known = {command.id: command for room in rooms for command in room}
    kept = {name: each for name, each in keys.items() if name in known and all(_split(each))}
    troubles = [_why_not(name, keys[name], known) for name in keys if name not in kept]
    while (clash := next(_clashes(kept, rooms), None)) is not None:
        key, refused, other = clash
        entry = f'[keys] "{refused}" = "{kept.pop(refused)}"'
        troubles.append(f"{entry} is ignored: {shown(key)} is the key of {other} already")
    return kept, troubles


def rooms_of(features: Sequence[Feature]) -> tuple[Sequence[Command], ...]:
    """Return the commands that can be used at the same time: with each pane, and on a slider."""
    panes: list[type[Pane]] = [ArraysPane]
    panes += [feature.pane() for feature in features if feature.pane is not None]
    return (*((*EVERYWHERE, *pane.COMMANDS) for pane in panes), (*EVERYWHERE, *SLIDER))


def _split(keys: str) -> list[str]:
    return [each.strip() for each in keys.split(",")]


def _why_not(name: str, keys: str, known: Mapping[str, Command]) -> str:
    if name in known:
        return f'[keys] "{name}" = "{keys}" is ignored: a key is missing'
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else "docs/configuration.md lists all"
    return f'[keys] "{name}" is ignored: there is no such command; {hint}'


def _clashes(kept: Mapping[str, str], rooms: Sequence[Sequence[Command]]) -> Iterator[tuple[str, str, str]]:
    """Yield (key, the user's entry that is to go, the other command); the last entry goes."""
    order = list(kept)
    for room in rooms:
        takers: dict[str, str] = {}
        for command in sorted(room, key=lambda each: order.index(each.id) if each.id in kept else -1):
            for key in _split(kept.get(command.id, command.keys)):
                other = takers.setdefault(key, command.id)
                if other != command.id and command.id in kept:
                    yield key, command.id, other
