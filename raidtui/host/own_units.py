"""The units that raidtui brings: what they are to say on this host, and whether they are there already."""

from __future__ import annotations

import shlex
from pathlib import Path

import raidtui
from raidtui.built import lasting_command, lasting_environment
from raidtui.host.on_top import runs_systemd
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.system_units import SYSTEM_UNITS, UNIT_FOLDERS, unit_state
from raidtui.model.answer import Answer, known
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
    texts = {path: text for path in units if (text := reader.byte_text(path)) is not None}
    enabled, active = read_timer_state(reader, names[1], is_there=brought or len(texts) == len(units))
    return TimerSetup(
        timer=names[1],
        systemd=runs_systemd(reader),
        enabled=enabled,
        active=active,
        units=units,
        texts=texts,
    )


def read_timer_state(reader: HostReader, timer: str, *, is_there: bool) -> tuple[Answer[bool], Answer[bool]]:
    """Return whether a timer starts with the host, and runs now: neither where its files are not there."""
    if not is_there:
        return known(False), known(False)
    return read_enabled(reader, timer), _read_unit_is(reader, "is-active", timer, "active")


def read_enabled(reader: HostReader, unit: str) -> Answer[bool]:
    """Return whether a unit is enabled, as systemctl says; one that is not there is not."""
    return _read_unit_is(reader, "is-enabled", unit, "enabled")


def _read_unit_is(reader: HostReader, verb: str, unit: str, state: str) -> Answer[bool]:
    """Return whether systemctl says so of a unit.

    Args:
        reader: the host.
        verb: is-enabled or is-active.
        unit: its name.
        state: the word that means it.
    """
    word = unit_state(reader, verb, unit)
    is_so = word.value == state if word.is_known else None
    return Answer(kind=word.kind, value=is_so, source=word.source, why=word.why)
