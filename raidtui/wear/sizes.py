"""Sizes in the decimal units in which disks are sold and rated."""

from __future__ import annotations

from raidtui.view.units import three_digits

_PREFIXES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def decimal_size(size_bytes: int) -> str:
    """Return a size as the makers write it: ``12.4 TB``."""
    value, unit = _scaled(size_bytes)
    return f"{three_digits(value)} {unit}"


def amount(size_bytes: int) -> str:
    """Return what something cost, one digit finer below ten: ``1.62 TB``."""
    value, unit = _scaled(size_bytes)
    if value >= 9.995 or size_bytes < 1000:
        return f"{three_digits(value)} {unit}"
    return f"{f'{value:.2f}'.rstrip('0').rstrip('.')} {unit}"


def _scaled(size_bytes: int) -> tuple[float, str]:
    value, unit = float(size_bytes), 0
    while value >= 999.5 and unit < len(_PREFIXES) - 1:
        value /= 1000
        unit += 1
    return value, _PREFIXES[unit]
