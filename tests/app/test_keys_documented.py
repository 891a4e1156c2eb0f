"""docs/keys.md names every key that has a command."""

from __future__ import annotations

from raidtui.app.registry import FEATURES
from raidtui.features.arrays.screen.array_commands import ARRAYS
from raidtui.frame.command import Command
from raidtui.frame.commands import EVERYWHERE
from tests.places import HOUSE


def written(command: Command) -> str:
    """Return a command's key as the documents write it."""
    key = command.shown_key({})
    return f"`Ctrl+{key[1:].upper()}`" if key.startswith("^") else f"`{key}`"


def test_each_key_of_a_command_is_documented() -> None:
    panes = [feature.pane() for feature in FEATURES if feature.pane is not None]
    commands = [*EVERYWHERE, *ARRAYS, *(command for pane in panes for command in pane.COMMANDS)]
    text = (HOUSE / "docs" / "keys.md").read_text(encoding="utf-8")
    assert {command.id for command in commands} > {"app.quit", "wear.mark", "tune.keep", "log.jump"}
    assert [command.id for command in commands if written(command) not in text] == []
