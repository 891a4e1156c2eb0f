"""Where the ends of members are saved before superblocks are written."""

from __future__ import annotations

import os

from raidtui.features.rescue.saved_ends import FOLDER, SavingRoom
from raidtui.features.rescue.trial.trials import free_bytes
from raidtui.host.mounts import mount_of
from raidtui.host.readers.opening import open_root

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def saving_room(folder: str = "") -> SavingRoom:
    """Return the folder for the ends of members that are saved, and its room.

    Args:
        folder: an absolute path that was named; "" for the usual one.
    """
    wanted = folder or FOLDER
    if folder and free_bytes(folder) is None:
        return SavingRoom(folder=folder, free_bytes=0, why_not=f"there is no folder {folder}")
    place = wanted
    while (room := free_bytes(place)) is None and place != "/":
        place = place.rpartition("/")[0] or "/"
    return SavingRoom(folder=wanted, free_bytes=room or 0, in_memory=_kind_of(place) in _IN_MEMORY)


def _kind_of(folder: str) -> str:
    """Return the type of the file system that a folder is on."""
    mount = mount_of(open_root("/"), os.path.realpath(folder))
    return mount.kind if mount is not None else ""
