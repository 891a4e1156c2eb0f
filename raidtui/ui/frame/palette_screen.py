"""The palette: Textual's, that runs one command and closes, and moves over its list where there is one."""

from __future__ import annotations

from typing import ClassVar

from textual.command import CommandList, CommandPalette
from textual.message import Message
from textual.widgets import Input, OptionList

from raidtui.ui.frame.dialog import ClosesOnce


class Palette(ClosesOnce, CommandPalette):
    """The palette."""

    CSS = """
    Palette #--container, Palette #--input, Palette #--results, Palette CommandList { min-width: 20; }
    """  # a list without width cannot be wrapped
    INPUTS: ClassVar[tuple[type[Message], ...]] = (
        *ClosesOnce.INPUTS,
        Input.Submitted,
        OptionList.OptionSelected,
    )

    def _action_command_list(self, action: str) -> None:
        """Move over the list, or take a line; a window of a few lines has no room for any of it."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
