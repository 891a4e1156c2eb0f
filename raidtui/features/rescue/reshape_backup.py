"""What the backup file of a reshape is worth for an array. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.rescue.saved_ends import FOLDER
from raidtui.host.backup_files import ReshapeBackup


def backup_of(backups: Sequence[ReshapeBackup], uuid: str) -> ReshapeBackup | None:
    """Return the newest backup file of an array; None where there is none.

    Args:
        backups: those that were found.
        uuid: the array's, in mdadm's form 8:8:8:8.
    """
    digits = uuid.replace(":", "")
    words = [digits[at : at + 8] for at in range(0, len(digits), 8)]
    swapped = "".join(
        "".join(word[at : at + 2] for at in (6, 4, 2, 0)) for word in words
    )  # 0.90: of the host
    found = [each for each in backups if digits and each.uuid in {digits, swapped}]
    return max(found, key=lambda each: each.written_s, default=None)


def is_needed(backup: ReshapeBackup, position_kib: int) -> bool:
    """Whether mdadm uses the file (Grow_restart): it holds what is not behind the recorded place."""
    return any(end >= position_kib * 2 for _, end in backup.parts)


def new_backup(uuid: str) -> str:
    """Return the path of a new backup file for an array."""
    return f"{FOLDER}/backup-{uuid[:8] or 'new'}"
