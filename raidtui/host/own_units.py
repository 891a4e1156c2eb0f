"""The units that raidtui brings: what they are to say on this host, and whether they are there already."""

from __future__ import annotations

import shlex
from pathlib import Path

import raidtui
from raidtui.built import lasting_command, lasting_environment
from raidtui.host.on_top import runs_systemd
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.system_units import SYSTEM_UNITS, UNIT_FOLDERS, unit_state
from raidtui.model.answer import Answer
from raidtui.model.timer_setup import TimerSetup

_EXEC = "ExecStart=raidtui "


def own_unit_text(name: str) -> str:
    """Return a unit of raidtui's as this host needs it."""
    return with_own_command((Path(raidtui.__file__).parent / "systemd" / name).read_text(encoding="utf-8"))


def with_own_command(text: str) -> str:
    """Return a unit that starts the raidtui that runs now."""
    own = "".join(f'Environment="{key}={value}"\n' for key, value in lasting_environment().items())
    return text.replace(_EXEC, f"{own}ExecStart={shlex.join(lasting_command())} ")


def read_timer(reader: HostReader, stem: str) -> TimerSetup:
    """Return a timer of raidtui's and its service as they are on a host.

    Args:
        reader: the host.
        stem: their name without its ending: raidtui-wear.
    """
    names = (f"{stem}.service", f"{stem}.timer")
    brought = all(
        any(reader.is_there(f"{folder}/{name}") for folder in UNIT_FOLDERS if folder != SYSTEM_UNITS)
        for name in names
    )
    units = {} if brought else {f"{SYSTEM_UNITS}/{name}": own_unit_text(name) for name in names}
    systemd = runs_systemd(reader)
    return TimerSetup(
        timer=names[1],
        systemd=systemd,
        enabled=read_enabled(reader, names[1]),
        units=units,
        texts={path: text for path in units if (text := reader.byte_text(path)) is not None},
    )


def read_enabled(reader: HostReader, unit: str) -> Answer[bool]:
    """Return whether a unit is enabled, as systemctl says; one that is not there is not."""
    word = unit_state(reader, "is-enabled", unit)
    enabled = word.value == "enabled" if word.is_known else None
    return Answer(kind=word.kind, value=enabled, source=word.source, why=word.why)
