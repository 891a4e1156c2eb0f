"""What a disk says of itself in ``smartctl --json``: its verdict, SCSI's exceptions, its limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidtui.host.smart.json_values import flag_at, number_at

_FAILING = 8
"""smartctl(8), EXIT STATUS: the disk's own verdict is that it fails."""
_SCSI_WARNING, _SCSI_TEST = 0x0B, (0x5D, 0xFF)
"""ASC of warnings; ASC and ASCQ of a failure prediction that the TEST bit asked for (SPC, ASC/ASCQ codes)."""
_LEAST_LIMIT_C = 40
"""No disk is made for less: a lower figure is no limit."""


def exception_code(whole: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return ASC and ASCQ of SCSI's informational exception."""
    asc, ascq = (number_at(whole, "smart_status", "scsi", key) for key in ("asc", "ascq"))
    return None if asc is None or ascq is None else (asc, ascq)


def verdict(whole: Mapping[str, Any], exception: tuple[int, int] | None) -> bool | None:
    """Return whether the disk's own verdict is PASSED; None where there is none.

    For SCSI smartctl prints ``false`` with every exception, with warnings and tests, too (scsiprint.cpp).

    Args:
        whole: smartctl's output.
        exception: ``exception_code`` of that.
    """
    if exception is not None and (exception[0] == _SCSI_WARNING or exception == _SCSI_TEST):
        return None
    said = flag_at(whole, "smart_status", "passed")
    failing = (number_at(whole, "smartctl", "exit_status") or 0) & _FAILING
    return False if said is None and failing else said


def temperature_limits_c(whole: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the highest temperature that the disk is made for, and the critical one, degrees Celsius.

    ATA's are those of the SCT status for continuous operation and at all, SCSI's its trip temperature, NVMe's
    WCTEMP and CCTEMP, which smartctl prints since 7.5.
    """
    limits = (
        number_at(whole, "temperature", "op_limit_max"),
        number_at(whole, "temperature", "limit_max"),
        number_at(whole, "scsi_temperature", "drive_trip"),
        number_at(whole, "temperature", "drive_trip"),
    )
    known = [each for each in limits if each is not None and each >= _LEAST_LIMIT_C]
    limit = known[0] if known else None
    critical = number_at(whole, "temperature", "critical_limit_max")
    if critical is None and limit is not None:
        critical = next((each for each in limits[1:2] if each is not None and each > limit), None)
    return limit, critical if critical is not None and critical >= _LEAST_LIMIT_C else None
