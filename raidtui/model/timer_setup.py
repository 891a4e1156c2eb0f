"""A timer that raidtui brings, as it is on a host."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from raidtui.model.answer import Answer


class TimerSetup(Struct, frozen=True, kw_only=True):
    """A timer of raidtui's, as it is on a host.

    Args:
        timer: its name.
        systemd: whether systemd runs the host.
        enabled: whether it starts with the host.
        active: whether it runs now.
        units: the files that it needs, by path, with the texts that they are to have; none where a package
            has brought them.
        texts: those of them that are there.
    """

    timer: str
    systemd: bool
    enabled: Answer[bool]
    active: Answer[bool]
    units: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
