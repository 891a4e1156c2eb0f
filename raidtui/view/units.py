"""Quantities as text: bytes, KiB/s, durations. Standard library only."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # as in raidtui/__main__.py: the first frame imports this
if TYPE_CHECKING:
    from collections.abc import Sequence

KIB = 1024
SECTOR_BYTES = 512

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def three_digits(value: float) -> str:
    """Return ``value`` (>= 0) with about three significant digits and no exponent: 0.84, 8.4, 84, 840."""
    if value >= 9.995:
        return f"{value:.0f}" if value >= 99.95 or value == int(value) else f"{value:.1f}"
    if value == int(value) or value < 0.0005:
        return str(int(value))
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2g}"


def short_number(value: float) -> str:
    """Return a number in three digits: 102k, 4.2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{three_digits(value / size)}{letter}"
    return three_digits(value)


def binary_size(size_bytes: int) -> str:
    """Return a size in the binary unit that leaves at most three digits before the point: ``1.4 TiB``."""
    value = float(size_bytes)
    unit = 0
    while value >= 999.5 and unit < len(_BINARY) - 1:
        value /= KIB
        unit += 1
    return f"{three_digits(value)} {_BINARY[unit]}"


def binary_change(before_bytes: int, after_bytes: int) -> str:
    """Return two sizes, ``210 GiB → 214 GiB``; in KiB where they would else read the same."""
    sizes = binary_size(before_bytes), binary_size(after_bytes)
    if sizes[0] == sizes[1] and before_bytes != after_bytes:
        sizes = f"{before_bytes // KIB} KiB", f"{after_bytes // KIB} KiB"
    return " → ".join(sizes)


def short_binary(size_bytes: int) -> str:
    """Return a chunk size as mdadm users write it: ``32K``, ``512K``, ``1M``."""
    for power, letter in ((3, "G"), (2, "M"), (1, "K")):
        unit = KIB**power
        if size_bytes >= unit and size_bytes % unit == 0:
            return f"{size_bytes // unit}{letter}"
    return f"{size_bytes}B"


def short_size(size_bytes: int) -> str:
    """Return a size as lsblk writes it, in at most five cells: ``447G``, ``1.8T``."""
    figure, _, unit = binary_size(size_bytes).partition(" ")
    return figure + unit[0]


def rate_mb_s(speed_kib_s: float) -> str:
    """Return a rate given in KiB/s in decimal MB/s: ``525 MB/s``; below 1 MB/s in KB/s."""
    return " ".join(rate_and_unit(speed_kib_s))


def rate_and_unit(speed_kib_s: float) -> tuple[str, str]:
    """Return the figure and the unit of ``rate_mb_s``."""
    speed_bytes_s = speed_kib_s * KIB
    if 0 < speed_bytes_s < 995_000:
        return three_digits(speed_bytes_s / 1e3), "KB/s"
    return three_digits(speed_bytes_s / 1e6), "MB/s"


def duration(seconds: float) -> str:
    """Return a short duration: ``8 s``, ``3 min``, ``2 h 05``, ``3 d 4 h``; ``?`` where it is not finite."""
    if not math.isfinite(seconds) or seconds < 0:
        return "?"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d}"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def joined(words: Sequence[str]) -> str:
    """Return ``sda, sdb and sdc``."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def counted(number: int, noun: str) -> str:
    """Return ``1 disk`` or ``3 disks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def decimal_size(size_bytes: int) -> str:
    """Return a size as the makers write it: ``12.4 TB``."""
    value, unit = _decimally(size_bytes)
    return f"{three_digits(value)} {unit}"


def amount(size_bytes: int) -> str:
    """Return what something cost, one digit finer below ten: ``1.62 TB``."""
    value, unit = _decimally(size_bytes)
    if value >= 9.995 or size_bytes < 1000:
        return f"{three_digits(value)} {unit}"
    return f"{f'{value:.2f}'.rstrip('0').rstrip('.')} {unit}"


def _decimally(size_bytes: int) -> tuple[float, str]:
    value, unit = float(size_bytes), 0
    while value >= 999.5 and unit < len(_DECIMAL) - 1:
        value /= 1000
        unit += 1
    return value, _DECIMAL[unit]
