"""EFI system partitions and the firmware's boot entries.

Sources: UEFI specification 2.10, 3.1.3 (load options), 3.3 (variables), 10.3.5 (device paths); efivarfs in
Documentation/filesystems/efivarfs.rst: four bytes of attributes, then the value.
"""

from __future__ import annotations

import struct

from raidtui.host.boot.device_bytes import DeviceBytes
from raidtui.host.boot.fat import Fat
from raidtui.host.boot.grub_image import core_in
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.boot import EfiEntry, EspLoader

EFI, VARIABLES = "/sys/firmware/efi", "/sys/firmware/efi/efivars"
ESP_TYPE = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
FALLBACK = "/EFI/BOOT/BOOTX64.EFI"
_GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
_ACTIVE = 1
_MEDIA, _HARD_DRIVE, _FILE = 4, 1, 4
_MOST_LOADER, _MOST_CONFIG = 4 << 20, 64 << 10
_MOST_LOADERS = 24
_SIGNS = (
    (b"systemd-boot", "systemd-boot"),
    (b".linux\0\0", "linux"),
    (b"\\\0g\0r\0u\0b\0x\0006\0004\0.\0e\0f\0i\0", "shim"),
)


def read_loaders(device: DeviceBytes) -> tuple[EspLoader, ...]:
    """Return the programs in an ESP.

    Raises:
        FatError: it has no file system that the firmware reads.
        DeviceBytesError: it cannot be read.
    """
    fat = Fat(device)
    found: list[EspLoader] = []
    for folder in fat.names("/EFI"):
        inside = fat.names(f"/EFI/{folder.name}") if folder.folder else ()
        for file in inside:
            if file.name.endswith(".EFI") and not file.folder and len(found) < _MOST_LOADERS:
                found.append(_loader(fat, f"/EFI/{folder.name}", file.name))
    return tuple(found)


def _loader(fat: Fat, folder: str, name: str) -> EspLoader:
    data = fat.read(f"{folder}/{name}", _MOST_LOADER) or b""
    if not data.startswith(b"MZ"):
        return EspLoader(path=f"{folder}/{name}", kind="damaged")
    core = core_in(data, wide=True)
    kind = "grub" if core is not None else next((kind for sign, kind in _SIGNS if sign in data), "")
    places = [folder]
    if core is not None and core.prefix.startswith("/"):
        places.insert(0, core.prefix.upper())
    text = next((each for place in places if (each := fat.read(f"{place}/GRUB.CFG", _MOST_CONFIG))), None)
    config = None if text is None else text.decode("utf-8", "replace")
    return EspLoader(path=f"{folder}/{name}", kind=kind, core=core, config=config)


def read_entries(reader: HostReader) -> tuple[EfiEntry, ...] | None:
    """Return the firmware's entries in the order of its attempts; None where they cannot be read."""
    order = _value(reader, "BootOrder")
    if order is None:
        return None if not reader.names(VARIABLES) else ()
    numbers = struct.unpack_from(f"<{len(order) // 2}H", order)
    found = []
    for number in numbers:
        value = _value(reader, f"Boot{number:04X}")
        if value is not None and (entry := parse_entry(f"{number:04X}", value)) is not None:
            found.append(entry)
    return tuple(found)


def _value(reader: HostReader, name: str) -> bytes | None:
    try:
        data = reader.read(f"{VARIABLES}/{name}-{_GLOBAL}")
    except OSError:
        return None
    return data[4:] if len(data) > 4 else None


def parse_entry(number: str, data: bytes) -> EfiEntry | None:
    """Return a load option; None where it is damaged."""
    if len(data) < 8:
        return None
    flags, size = struct.unpack_from("<IH", data)
    end = 6
    while data[end : end + 2] not in {b"\0\0", b""}:
        end += 2
    label = data[6:end].decode("utf-16-le", "replace")
    part_uuid, path = _places(data[end + 2 : end + 2 + size])
    return EfiEntry(number=number, label=label, part_uuid=part_uuid, path=path, active=bool(flags & _ACTIVE))


def _places(nodes: bytes) -> tuple[str, str]:
    """Return the partition's UUID and the file of a device path."""
    part_uuid, path, at = "", "", 0
    while at + 4 <= len(nodes):
        kind, sub, size = struct.unpack_from("<BBH", nodes, at)
        if size < 4:
            break
        body = nodes[at + 4 : at + size]
        if (kind, sub) == (_MEDIA, _HARD_DRIVE) and len(body) >= 38 and body[37] == 2:
            part_uuid = _guid(body[20:36])
        elif (kind, sub) == (_MEDIA, _FILE):
            path += body.decode("utf-16-le", "replace").rstrip("\0").replace("\\", "/")
        at += size
    return part_uuid, path.upper()


def _guid(data: bytes) -> str:
    first, second, third = struct.unpack_from("<IHH", data)
    return f"{first:08x}-{second:04x}-{third:04x}-{data[8:10].hex()}-{data[10:].hex()}"
