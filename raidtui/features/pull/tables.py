"""Partition tables: the one of a neighbour, for a new disk, with identifiers of its own (sfdisk(8)).

What ``sfdisk --dump`` prints is a script for sfdisk. Without ``label-id`` and ``uuid``, sfdisk makes new
ones: two disks with one identifier are one disk to a boot loader, and to whoever mounts by PARTUUID.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from raidtui.host.readers.host_reader import whole_number
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import binary_size

_ESP = frozenset({"C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "EF"})
_BIOS_BOOT = "21686148-6449-6E6F-744E-656564454649"
_EXTENDED = frozenset({"5", "F", "85", "05", "0F"})
_GPT_BACKUP_BYTES = 34 * 512
"""The backup of a GPT with 128 entries, and its header, in sectors of 512 bytes; 5 of 4096 bytes are more."""
_GPT_BACKUP_BYTES_4K = 5 * 4096
_LINE = re.compile(r"^/dev/(?P<name>\S+)\s*:\s*(?P<fields>.*)$")
_FIELD = re.compile(r'\s*(?P<key>[\w-]+)(?:\s*=\s*(?P<value>"[^"]*"|[^,"]*))?\s*(?:,|$)')
_DROPPED = frozenset({"uuid"})


class TablePart(Struct, frozen=True, kw_only=True):
    """A partition of a table.

    Args:
        number: its number.
        start, size: in sectors of the disk.
        kind: its type, upper case: a GUID, or two digits.
        fields: what sfdisk is to be given, in order: start, size, type, name, attrs, bootable.
    """

    number: int
    start: int
    size: int
    kind: str
    fields: tuple[tuple[str, str | None], ...]

    @property
    def is_esp(self) -> bool:
        """Whether firmware looks for boot loaders in it."""
        return self.kind in _ESP

    @property
    def is_bios_boot(self) -> bool:
        """Whether GRUB puts its core image into it."""
        return self.kind == _BIOS_BOOT

    @property
    def is_extended(self) -> bool:
        """Whether it only holds logical partitions: the kernel then reports another size."""
        return self.kind in _EXTENDED


class Table(Struct, frozen=True, kw_only=True):
    """A partition table.

    Args:
        label: gpt or dos.
        sector_bytes: the disk's logical sector size; None where sfdisk (before 2.37) does not say.
        first: the first sector that a partition may have; None for sfdisk's default.
    """

    label: str
    parts: tuple[TablePart, ...]
    sector_bytes: int | None = None
    first: int | None = None

    @property
    def by_number(self) -> Mapping[int, TablePart]:
        """The partitions by number."""
        return {part.number: part for part in self.parts}


def parse_dump(text: str) -> Table | None:
    """Return the table that ``sfdisk --dump`` has printed; None where it is not understood."""
    head: dict[str, str] = {}
    parts: list[TablePart] = []
    for line in text.split("\n"):
        if found := _LINE.match(line):
            part = _part(found["name"], found["fields"], head.get("device", ""))
            if part is None:
                return None
            parts.append(part)
        elif ":" in line:
            key, _, value = line.partition(":")
            head[key.strip()] = value.strip()
    if head.get("label") not in {"gpt", "dos"} or head.get("unit", "sectors") != "sectors" or not parts:
        return None
    sector, first = whole_number(head.get("sector-size")), whole_number(head.get("first-lba"))
    return Table(label=head["label"], parts=tuple(parts), sector_bytes=sector, first=first)


def _part(name: str, text: str, device: str) -> TablePart | None:
    digits = re.search(r"\d+$", name)
    fields: list[tuple[str, str | None]] = []
    at = 0
    while at < len(text):
        found = _FIELD.match(text, at)
        if found is None or found.end() == at:
            return None
        value = found["value"]
        fields.append((found["key"].lower(), None if value is None else value.strip()))
        at = found.end()
    values = dict(fields)
    start, size = whole_number(values.get("start")), whole_number(values.get("size"))
    kind = values.get("type") or values.get("id")
    if digits is None or start is None or size is None or kind is None or not device:
        return None
    kept = tuple((key, value) for key, value in fields if key not in _DROPPED)
    return TablePart(number=int(digits[0]), start=start, size=size, kind=kind.upper(), fields=kept)


def refuse_table(table: Table, *, name: str, size_bytes: int, sector_bytes: int) -> Refusal | None:
    """Return why a disk cannot have a table like this, or None.

    Args:
        table: the table.
        name: the disk.
        size_bytes: its size.
        sector_bytes: its logical sector size: a table counts in these.
    """
    if table.sector_bytes not in {None, sector_bytes}:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{name} has sectors of {sector_bytes} bytes, the table counts in {table.sector_bytes}",
            remedy="choose a disk of the same kind",
        )
    end = max(part.start + part.size for part in table.parts) * sector_bytes
    backup = 0 if table.label != "gpt" else _GPT_BACKUP_BYTES if sector_bytes == 512 else _GPT_BACKUP_BYTES_4K
    if end + backup > size_bytes:
        more = end + backup - size_bytes
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{name} is too small for this table: {size_bytes} bytes, {end + backup} are needed"
            f" ({binary_size(more)} more)",
            remedy="choose a larger disk",
        )
    return None


def table_script(table: Table, disk: str) -> str:
    """Return what sfdisk is given on standard input, so that a disk gets such a table.

    Args:
        table: the table.
        disk: the kernel's name of the disk; the numbers of partitions come from their names.
    """
    joint = "p" if disk[-1:].isdigit() else ""
    first = [f"first-lba: {table.first}"] if table.first is not None and table.label == "gpt" else []
    lines = [f"label: {table.label}", "unit: sectors", *first, ""]
    for part in table.parts:
        words = (f"{key}={value}" if value is not None else key for key, value in part.fields)
        lines.append(f"/dev/{disk}{joint}{part.number} : {', '.join(words)}")
    return "\n".join(lines) + "\n"


def boot_notes(table: Table, disk: str, of: str) -> tuple[str, ...]:
    """Return what of a table boots a machine and is empty on a new disk: to be filled by hand.

    Args:
        table: the table.
        disk: the kernel's name of the new disk.
        of: that of the disk whose table it is.
    """
    joint = "p" if disk[-1:].isdigit() else ""
    notes = []
    for part in table.parts:
        path = f"/dev/{disk}{joint}{part.number}"
        if part.is_esp:
            notes.append(
                f"{path} is an EFI system partition, and empty: mkfs.vfat -F 32 {path}; copy the files of"
                f" that of {of} into it, and enter it in the firmware: efibootmgr --create --disk /dev/{disk}"
                f" --part {part.number} --label LABEL --loader FILE."
            )
        if part.is_bios_boot:
            notes.append(
                f"{path} is a BIOS boot partition, and empty: grub-install /dev/{disk} fills it (Debian keeps"
                " the list of disks: dpkg-reconfigure grub-pc)."
            )
    if table.label == "dos" and any(key == "bootable" for part in table.parts for key, _ in part.fields):
        notes.append(
            f"The table marks a partition bootable, and the boot code before it is not copied:"
            f" grub-install /dev/{disk} writes it."
        )
    return tuple(notes)
