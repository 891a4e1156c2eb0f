"""Opens the screen on a terminal and leaves nothing behind, whatever happens."""

from __future__ import annotations

import os
import sys

from raidtui.config import read_config
from raidtui.first_frame import TERMINAL
from raidtui.host.root import Root
from raidtui.ui.app import RaidApp
from raidtui.ui.driver import QuietDriver


def launch(root: Root, *, theme: str | None, mouse: bool) -> int:
    """Run the console; return the exit status.

    Args:
        root: the host.
        theme: a theme's name, or None for the configured or fitting one.
        mouse: whether the mouse may be used.
    """
    config = read_config()
    app = RaidApp(root, config=config, theme=theme, driver_class=QuietDriver)
    status = app.run(mouse=mouse and config.mouse)
    code = app.return_code or status or 0
    TERMINAL.restore()
    sys.stdout.flush()
    sys.stderr.flush()
    if code == 0 or code > 128:
        os._exit(
            code
        )  # the terminal is restored and every write synced: tearing modules down takes 17 ms more
    return code
