"""The serial number that is printed on a disk's label: one place decides which of several numbers that is.

udev's ``ID_SERIAL_SHORT`` is the label's number of SATA, NVMe and virtual disks (ata_id(8), sysfs), and that
of the adapter of a disk on USB. Of a SCSI or SAS disk it is what scsi_id(8) took from page 0x83, as a rule
the WWN; the label has the unit serial number, page 0x80: ``SCSI_IDENT_SERIAL`` (sg3-utils),
``ID_SCSI_SERIAL`` (scsi_id), ``vpd_pg80`` (sysfs). What is in none of these is not known, and no other number
is shown in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.host.readers.host_reader import HostReader

_UNIT_SERIAL = ("SCSI_IDENT_SERIAL", "ID_SCSI_SERIAL")
_OF_PAGE_80 = "S"
"""How scsi_id's ``ID_SERIAL`` begins where a disk has no page 0x83: the short form is page 0x80."""
_PAGE, _HEAD = 0x80, 4


def label_serial(reader: HostReader, node: str, known: Mapping[str, str]) -> str | None:
    """Return the serial number on the label of a whole disk; None where it is not known.

    Args:
        reader: the host.
        node: the disk's folder in /sys/class/block.
        known: its properties in udev's database, or those of one of its partitions.
    """
    short = serial_word(known.get("ID_SERIAL_SHORT"))
    unit = next(filter(None, (serial_word(known.get(key)) for key in _UNIT_SERIAL)), None)
    if known.get("ID_BUS") == "scsi":
        own = short if known.get("ID_SERIAL", "").startswith(_OF_PAGE_80) else None
        return unit or own or _page_80(reader, node)
    return (
        short
        or unit
        or serial_word(reader.text(f"{node}/device/serial"))
        or serial_word(reader.text(f"{node}/serial"))
    )


def serial_word(text: str | None) -> str | None:
    """Return what a file or property says; None where it says nothing."""
    word = (text or "").strip(" \t\n\0")
    return None if word in {"", "(null)"} else word


def page_80_serial(page: bytes) -> str | None:
    """Return the unit serial number of a vital product data page 0x80 (SPC-5, 7.7.19); None for none."""
    if len(page) < _HEAD or page[1] != _PAGE:
        return None
    text = page[_HEAD : _HEAD + int.from_bytes(page[2:_HEAD], "big")]
    return serial_word(text.decode("ascii", "replace"))


def _page_80(reader: HostReader, node: str) -> str | None:
    try:
        return page_80_serial(reader.read(f"{node}/device/vpd_pg80"))
    except OSError:
        return None
