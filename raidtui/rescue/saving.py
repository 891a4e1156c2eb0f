"""Where the ends of members are saved before superblocks are written."""

from __future__ import annotations

from raidtui.rescue.real_plan import FOLDER, SavingRoom
from raidtui.rescue.trial.trials import free_bytes


def saving_room() -> SavingRoom:
    """Return the folder for the ends of members that are saved, and its room."""
    folder = FOLDER
    while (room := free_bytes(folder)) is None and folder != "/":
        folder = folder.rpartition("/")[0] or "/"
    return SavingRoom(folder=FOLDER, free_bytes=room or 0)
