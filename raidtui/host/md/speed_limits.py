"""The system's speed limits, KiB/s: /proc/sys/dev/raid/speed_limit_{min,max}."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.model.snapshot import SystemLimits

FOLDER = "/proc/sys/dev/raid"


def read_limits(root: Root) -> SystemLimits:
    """Return the limits; None where md is not loaded. The kernel accepts any integer here, also < 0."""
    return SystemLimits(
        min_kib_s=_integer(root.text(f"{FOLDER}/speed_limit_min", keep=True)),
        max_kib_s=_integer(root.text(f"{FOLDER}/speed_limit_max", keep=True)),
    )


def _integer(text: str | None) -> int | None:
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None
