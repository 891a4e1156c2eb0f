"""Signs in the entries of an incident: what speaks for the link, for the disk itself, or for neither.

The texts of additional sense are those of SPC (drivers/scsi/sense_codes.h), masks those of ``enum
ata_completion_errors`` (include/linux/libata.h).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from raidtui.features.history.entries import (
    ATTENTION,
    REFUSED,
    Entry,
    controller_of,
    disk_of,
    group_of,
    unanswered,
)
from raidtui.features.history.wiring import Wiring
from raidtui.view.units import joined

Codes = dict[str, list[Entry]]
"""The entries of an incident by their code, oldest first."""

FAILED = frozenset({"member-failed", "raid0-failed", "failing-member", "array-lost"})
NOT_READY = frozenset({"ata-not-ready", "ata-slow"})
"""The link is up, and the disk does not get ready (ata_wait_ready in libata-core.c): nothing of the link."""
_SERR_LINK = 0x07F8_0000 | 0x0001_0000 | 0x0000_0F00
"""SError bits of the link (SATA 3.x, table of the SError register): not the disk's own errors."""
_TRANSPORT = re.compile(
    r"(?:information unit )?iuCRC error|Data phase CRC error|Scsi parity error|Protocol service CRC error"
    r"|Ack/nak timeout|Nak received|Initiator response timeout|Connection lost",
    re.IGNORECASE,
)
"""Additional sense 47h and 4Bh: of the way between controller and disk."""
_FAILURE_PREDICTED = "failure prediction threshold exceeded"
_OPTIONAL = frozenset({
    "SMART", "READ LOG EXT", "READ LOG DMA EXT", "SET FEATURES", "DATA SET MANAGEMENT", "CHECK POWER MODE",
    "STANDBY IMMEDIATE", "IDLE", "SLEEP", "TRUSTED RECEIVE", "TRUSTED SEND", "DOWNLOAD MICROCODE",
})  # fmt: skip
"""ATA commands that a disk may not support, and answers with ABRT (ACS): they read or write no data."""


def select_codes(codes: Codes, wanted: frozenset[str]) -> list[Entry]:
    """Return the entries of these codes."""
    return [entry for code in sorted(wanted & codes.keys()) for entry in codes[code]]


def disk_at(entry: Entry, wiring: Wiring) -> str:
    """Return the disk that an entry is about, or the port where that is not known."""
    return disk_of(entry.device) or wiring.disk(entry.port) or entry.port


def then_failed(codes: Codes, signs: Sequence[Entry], wiring: Wiring) -> str:
    """Return which members md failed on the disks that have the signs; "" for none."""
    disks = {disk_at(entry, wiring) for entry in signs}
    disks |= {controller for disk in disks if (controller := controller_of(disk))}
    failed = dict.fromkeys(
        entry.device
        for entry in select_codes(codes, FAILED)
        if disks & {disk_of(entry.device), controller_of(disk_of(entry.device))} - {""}
    )
    return f", then md failed {joined(list(failed))}" if failed else ""


def link_errors(codes: Codes) -> list[Entry]:
    """Return what the link itself, or the controller at its end, reported."""
    signs = select_codes(codes, frozenset({"ata-serror"}))
    signs += [e for e in codes.get("ata-exception", ()) if number(group_of(e, "s")) & _SERR_LINK]
    signs += [e for e in codes.get("ata-error", ()) if "ICRC" in group_of(e, "f")]
    signs += [e for e in codes.get("ata-result", ()) if group_of(e, "n") == "ATA bus error"]
    return signs + [e for e in codes.get("scsi-sense-more", ()) if _TRANSPORT.match(group_of(e, "n"))]


def link_signs(codes: Codes) -> list[Entry]:
    """Return ``link_errors``, and that it was slowed or could not be reset.

    Neither is a sign where a disk did not get ready, or was gone: resets fail by that, and libata lowers the
    speed for the next one.
    """
    signs = link_errors(codes)
    if not (NOT_READY | {"ata-detached"}) & codes.keys():
        signs += select_codes(codes, frozenset({"ata-limited", "ata-reset-failed"}))
    return signs


def number(text: str) -> int:
    """Return a hexadecimal number; 0 for what is none."""
    try:
        return int(text, 16)
    except ValueError:
        return 0


def unread(codes: Codes) -> list[Entry]:
    """Return what disks themselves say of sectors that they cannot read."""
    signs = select_codes(codes, frozenset({"medium-error", "smart-pending"}))
    signs += [e for e in codes.get("ata-error", ()) if "UNC" in group_of(e, "f")]
    return signs + [e for e in codes.get("scsi-sense", ()) if group_of(e, "n") == "Medium Error"]


def timeouts(codes: Codes) -> list[Entry]:
    """Return what says that an ATA disk did not answer in time."""
    return [*(e for e in codes.get("ata-exception", ()) if unanswered(e)), *codes.get("ata-timeout", ())]


def refused(codes: Codes) -> list[Entry]:
    """Return where a disk refused a command that it need not support: no fault of the disk."""
    more = codes.get("scsi-sense-more", ())
    beyond = {e.port for e in more if group_of(e, "n").startswith("Logical block address out of range")}
    signs = [e for e in codes.get("scsi-sense", ()) if group_of(e, "n") == REFUSED and e.port not in beyond]
    for entry in codes.get("ata-error", ()):
        asked = {group_of(e, "n").strip() for e in codes.get("ata-command", ()) if e.port == entry.port}
        if asked and asked <= _OPTIONAL and group_of(entry, "f").split() == ["ABRT"]:
            signs.append(entry)
    return signs


def own_errors(codes: Codes) -> list[Entry]:
    """Return the errors that disks report of themselves.

    None is a refused command, nor Unit Attention: that the disk was reset or changed, unless it predicts
    that it fails.
    """
    more = codes.get("scsi-sense-more", ())
    failing = {e.port for e in more if group_of(e, "n").lower().startswith(_FAILURE_PREDICTED)}
    no_faults = refused(codes)
    for entry in codes.get("scsi-sense", ()):
        key = group_of(entry, "n")
        if key == REFUSED or (key == ATTENTION and entry.port not in failing):
            no_faults.append(entry)
    signs = select_codes(codes, frozenset({"ata-error", "scsi-sense"}))
    return [entry for entry in signs if entry not in no_faults]
