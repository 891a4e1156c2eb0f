"""alerts.toml: for root in /etc/raidtui, else in the user's own folder; readable for its owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from raidtui.jobs.state_files import FOLDER_MODE, open_own, own_folder, write_synced
from raidtui.model.alert_setup import CHANNELS


def channels_path() -> Path:
    """Return the path of the file."""
    if os.geteuid() == 0:
        return Path(CHANNELS)
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "raidtui" / "alerts.toml"


def read_channels_text(path: Path) -> str | None:
    """Return the file's text; None where there is none. One that others may read is closed to them first.

    Raises:
        OSError: it cannot be read, or another user could have written it: it names programs to run.
    """
    try:
        file = open_own(path)
    except FileNotFoundError:
        return None
    with file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            os.fchmod(file.fileno(), 0o600)
        return file.read(1 << 20).decode("utf-8", "replace")


def keep_channels_text(path: Path, text: str) -> None:
    """Replace the file; it is mode 0600 at every moment. Without a text it is removed.

    Raises:
        OSError: it cannot be written.
    """
    if not text:
        path.unlink(missing_ok=True)
        return
    own_folder(path.parent, FOLDER_MODE)
    write_synced(path, text.encode())
