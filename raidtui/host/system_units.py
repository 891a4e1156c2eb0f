"""Units of systemd: their texts, and what systemctl says of them."""

from __future__ import annotations

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer

SYSTEM_UNITS = "/etc/systemd/system"
UNIT_FOLDERS = (SYSTEM_UNITS, "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
"""From the first that is looked in to the last."""
_TOOL_S = 10.0


def unit_text(reader: HostReader, unit: str) -> str | None:
    """Return a unit's file without its drop-ins; None where there is none."""
    return next((text for each in UNIT_FOLDERS if (text := reader.text(f"{each}/{unit}")) is not None), None)


def started_by(service: str) -> str:
    """Return what a service starts, in one line, of its text."""
    lines = (line.strip() for line in service.split("\n"))
    return " ".join(line for line in lines if line.startswith("ExecStart"))


def unit_state(reader: HostReader, verb: str, unit: str) -> Answer[str]:
    """Return the word that systemctl prints; it exits with 1 or more where it is not enabled, or not active.

    Args:
        reader: the host.
        verb: is-enabled or is-active.
        unit: its name.
    """
    output = reader.ask("systemctl", verb, unit, timeout_s=_TOOL_S)
    word = output.stdout.strip()
    return output.answer(word) if word and output.status is not None else output.silent()
