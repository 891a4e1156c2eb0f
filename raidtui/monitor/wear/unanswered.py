"""What a disk did not say of its health, though smartctl reached it: no answer is not a good news."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import SmartReading, smart_words
from raidtui.monitor.wear.faults import DiskCode, disk_finding

_COMMAND_FAILED = 4  # smartctl(8), EXIT STATUS: also set where an optional log is missing
_VOLUME = re.compile(
    r"^(?:lsi|avago|adaptec|3ware|amcc)\b|raid|logical.?volume|\bperc\b|\bmr\d{4}|\barc-\d{4}|smart.?array",
    re.IGNORECASE,
)
_SEE_DISKS = "raidtui wear --scan lists what smartctl can ask, and --type NAME=megaraid,N keeps it"


def is_volume(reading: SmartReading) -> bool:
    """Whether it is a RAID controller's volume, by its model, and no disk behind it answered."""
    named = reading.kind == "scsi" and bool(_VOLUME.search(reading.model or ""))
    return named and reading.media_errors is None


def unanswered(reading: SmartReading) -> Iterator[Finding]:
    """Yield a finding where a disk's health was not read, wholly or in part."""
    said = "; ".join(reading.errors)
    if is_volume(reading):
        text = "is a volume of a RAID controller: the health of the disks behind it is not visible"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.NO_SMART, text, _SEE_DISKS)
    elif reading.smart_enabled is False and not reading.health_known:
        text = "has SMART disabled: its health is not known"
        remedy = f"smartctl -s on {smart_words(reading.name)}"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.SMART_DISABLED, text, remedy)
    elif not reading.health_known and said:
        text = f"did not answer, so its health is not known: smartctl: {said}"
        remedy = "see the kernel log; a disk that no longer answers may be failing"
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.READ_FAILED, text, remedy)
    elif not reading.health_known:
        text = "reports nothing about its health"
        hidden = reading.protocol == "SCSI" or reading.smart_available is not False
        remedy = (
            f"behind a RAID controller or USB bridge it may need a device type: {_SEE_DISKS}"
            if hidden
            else ""
        )
        yield disk_finding(reading, Severity.ATTENTION, DiskCode.NO_SMART, text, remedy)
    elif said and reading.exit_status & _COMMAND_FAILED:
        grave = reading.passed is None or (reading.protocol == "ATA" and not reading.attributes)
        severity = Severity.ATTENTION if grave else Severity.INFO
        yield disk_finding(
            reading, severity, DiskCode.READ_FAILED, f"did not answer all of smartctl's questions: {said}"
        )
