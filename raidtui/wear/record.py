"""The record of one disk's wear."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.finding import Finding
from raidtui.model.smart import NoReading, SmartReading
from raidtui.wear.endurance import Percent, Written
from raidtui.wear.entries import Entry
from raidtui.wear.faults import Fault
from raidtui.wear.forecast import Forecast
from raidtui.wear.trouble import Trouble
from raidtui.wear.units import Kind, UnitVerdict


class DiskWear(Struct, frozen=True, kw_only=True):
    """What there is to say of one disk.

    Args:
        name: the kernel's name, or where the text came from.
        reading: what it said; None where it said nothing: ``unread`` says why.
        percent, written: its figures, the unit corrected where it was measured.
        promised: its counter with the unit that its name promises: what the ledger keeps.
        verdict: what comparing with the kernel says of that unit.
        rated_bytes: what its maker lets be written to it, where the user said so.
        faults: the counts of bad sectors and failed transfers that are not 0.
        entry: for the ledger; None where the disk has no serial number and no WWN.
    """

    name: str
    reading: SmartReading | None = None
    unread: NoReading | None = None
    percent: Percent = Percent(percent=None)
    written: Written = Written(size_bytes=None)
    promised: Written = Written(size_bytes=None)
    verdict: UnitVerdict = UnitVerdict(kind=Kind.OPEN, unit_bytes=None)
    rated_bytes: int | None = None
    trouble: Trouble | None = None
    faults: tuple[Fault, ...] = ()
    forecast: Forecast | None = None
    findings: tuple[Finding, ...] = ()
    entry: Entry | None = None
