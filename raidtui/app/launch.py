"""Runs the console on a terminal, and restores the terminal whatever happens."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from textual.driver import Driver

from raidtui.app.app import RaidApp
from raidtui.app.crash import CRASHED, crash_text, report_crash, serials_of
from raidtui.config import read_config
from raidtui.first_frame import TERMINAL
from raidtui.frame.stock import STOCK
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.state_files import keep_nothing


def _driver() -> type[Driver] | None:
    """Return the driver of the terminal; None for Textual's."""
    if STOCK:
        TERMINAL.restore()  # Textual's driver knows nothing of the first frame
        return None
    from raidtui.frame.driver import QuietDriver  # noqa: PLC0415

    return QuietDriver


def launch(reader: HostReader, *, theme: str | None, mouse: bool) -> NoReturn:
    """Run the console, and end the program with its exit status.

    Args:
        reader: the host.
        theme: a theme's name, or None for the configured or fitting one.
        mouse: whether the mouse may be used.
    """
    report = ""
    code = CRASHED
    try:
        config = read_config()
        if config.readonly or reader.readonly:
            reader.readonly = True
            keep_nothing()
        app = RaidApp(reader, config=config, theme=theme, driver_class=_driver())
        status = app.run(mouse=mouse and config.mouse)
        report = app.crash
        code = app.return_code or status or 0
    except Exception as error:  # noqa: BLE001  (a defect: the terminal is restored first, then it is reported)
        report = crash_text(error, secrets=serials_of(reader))
    TERMINAL.restore()
    if report:
        code = CRASHED
        report_crash(report)
    with contextlib.suppress(OSError, ValueError):  # the line may have been cut
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # all is restored and synced; tearing modules down takes 17 ms more
