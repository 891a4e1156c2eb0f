"""From the firmware to the kernel: which loaders are left without a disk, and whether they find /boot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidtui.model.boot import BootSector, Esp, EspLoader, GrubCore, SectorState
from raidtui.model.stack import StackKind
from raidtui.monitor.boot.boot_host import BootHost
from raidtui.monitor.boot.boot_reasons import BootCode, Reason

FALLBACK = "/EFI/BOOT/BOOTX64.EFI"
_DEVICE = re.compile(r"\(([^)]*)\)")
_SECTOR_WORDS = {
    SectorState.TOO_SMALL: "{disk} is too small",
    SectorState.NO_CODE: "{disk} has no boot code",
    SectorState.OTHER_CODE: "{disk} has another boot loader's boot code",
    SectorState.NO_CORE: "GRUB on {disk} is incomplete: its boot code expects a core image at sector {at},"
    " where there is none",
    SectorState.DAMAGED_CORE: "GRUB on {disk} is incomplete: the core image at sector {at} is damaged, or"
    " of an unknown kind",
    SectorState.WHOLE: "GRUB on {disk} loads nothing",
}
_SEARCH = re.compile(r"search(?:\.fs_uuid|\s.*--fs-uuid)\s+(?:\S+=\S+\s+|--\S+\s+)*([0-9A-Fa-f-]{8,})")
_PART = re.compile(r",(?:gpt|msdos)(\d+)")
_TABLES = {"gpt": "part_gpt", "dos": "part_msdos"}
_SYSTEMS = {"ext2": "ext2", "ext3": "ext2", "ext4": "ext2", "xfs": "xfs", "btrfs": "btrfs", "vfat": "fat"}
_REBUILT = {"raid4": "raid5rec", "raid5": "raid5rec", "raid6": "raid6rec"}


def loader_reasons(host: BootHost, lost: str) -> Iterator[Reason]:
    """Yield what is wrong with the way from the firmware to the kernel without a disk."""
    facts = host.facts
    boot = facts.boot.device
    if not boot:
        yield Reason(code=BootCode.ROOT_UNKNOWN, text="the device of /boot is not known", boots=None)
        return
    alive = host.alive(boot, lost)
    if alive is False and host.old_copy(boot, lost):
        return  # GRUB reads what it finds: the kernel's stage says so
    if alive is False:
        yield Reason(code=BootCode.BOOT_LOST, text=f"/boot is on {_title(host, boot)}, which is lost with it")
        return
    if not facts.firmware:
        yield Reason(code=BootCode.NOT_READ, text="the type of firmware is not known", boots=None)
        return
    places = _esps(host, lost) if facts.firmware == "uefi" else _sectors(host, lost)
    yield from _check_places(host, places)


def _check_places(host: BootHost, places: dict[str, Reason | None]) -> Iterator[Reason]:
    """Yield reasons; ``places`` has what is wrong with the loader of each disk that is left."""
    own = host.disks(host.facts.boot.device, host.facts.root.device)
    good = [disk for disk, reason in places.items() if reason is None]
    bad = [reason for disk, reason in places.items() if reason is not None and disk in own]
    if good:
        if any(reason.boots is False for reason in bad):
            words = "; ".join(reason.text for reason in bad if reason.boots is False)
            yield Reason(
                code=BootCode.LOADER_ORDER,
                text="another disk boots the machine, but the firmware may first try one that does not:"
                f" {words}",
                boots=None,
                about=bad[0].about,
            )
        return
    found = [reason for reason in places.values() if reason is not None]
    telling = [reason for reason in found if reason.code not in {BootCode.NO_LOADER, BootCode.NO_ESP}]
    if any(reason.boots is None for reason in found):
        yield from (reason for reason in found if reason.boots is None)
    elif bad or telling:
        yield from bad or telling
    elif host.facts.firmware == "uefi":
        yield Reason(code=BootCode.NO_ESP, text="no other disk has an EFI system partition")
    else:
        yield Reason(code=BootCode.NO_LOADER, text="no other disk has a boot loader")


# -- a PC's firmware


def _sectors(host: BootHost, lost: str) -> dict[str, Reason | None]:
    return {each.disk: _check_sector(host, each) for each in host.facts.sectors if each.disk != lost}


def _check_sector(host: BootHost, sector: BootSector) -> Reason | None:
    if sector.unread:
        return Reason(code=BootCode.NOT_READ, text=sector.unread, boots=None)
    if sector.core is None:
        known = sector.state is not SectorState.OTHER_CODE
        return Reason(
            code=BootCode.NO_LOADER if known else BootCode.LOADER_UNKNOWN,
            text=_SECTOR_WORDS[sector.state].format(disk=sector.disk, at=sector.core_sector),
            boots=False if known else None,
            about=sector.disk,
        )
    return _check_core(host, sector.core, sector.disk)


def _check_core(host: BootHost, core: GrubCore, disk: str) -> Reason | None:
    """Return what keeps GRUB's core image from reading /boot; None where nothing does."""
    missing = _missing(host, core) if core.modules else ()
    if missing:
        return Reason(
            code=BootCode.LOADER_CANNOT_READ,
            text=f"GRUB on {disk} cannot read /boot: its image lacks {', '.join(missing)}",
            about=disk,
        )
    if (found := _SEARCH.search(core.config)) is not None:
        return _check_search(host, found[1], disk)
    device = _DEVICE.match(core.prefix)
    return _check_prefix(host, device[1] if device else "", disk)


def _missing(host: BootHost, core: GrubCore) -> tuple[str, ...]:
    """Return the modules that GRUB needs to read /boot, and does not have."""
    facts = host.facts
    boot, arrays = facts.boot.device, host.arrays_below(facts.boot.device)
    kinds = host.kinds_below(boot)
    needed = []
    if StackKind.PARTITION in kinds:
        needed += sorted(
            {_TABLES[each.table] for each in facts.sectors if each.table and each.disk in host.disks(boot)}
        )
    for array in arrays:
        needed.append("mdraid09" if (array.metadata or "").startswith("0") else "mdraid1x")
        if array.level in _REBUILT:
            needed.append(_REBUILT[array.level])
    if any(kind.startswith("lvm") for kind in kinds):
        needed.append("lvm")
    if StackKind.CRYPT in kinds:
        needed.append("cryptodisk")
    if facts.boot.kind in _SYSTEMS:
        needed.append(_SYSTEMS[facts.boot.kind])
    return tuple(name for name in dict.fromkeys(needed) if name not in core.modules)


def _check_search(host: BootHost, uuid: str, disk: str) -> Reason | None:
    own = host.facts.boot.uuid
    if not own:
        return Reason(code=BootCode.NOT_READ, text="the UUID of /boot is not known", boots=None)
    if uuid.lower() == own.lower():
        return None
    text = f"GRUB on {disk} looks for the file system {uuid}, but /boot is {own}"
    return Reason(code=BootCode.LOADER_STALE, text=text, about=disk)


def _check_prefix(host: BootHost, device: str, disk: str) -> Reason | None:
    facts = host.facts
    boot = facts.boot.device
    if device.startswith("mduuid/"):
        array = host.array_of(device.removeprefix("mduuid/"))
        if array is None or array.name != boot:
            words = "which is not there" if array is None else f"and /boot is on {_title(host, boot)}"
            text = (
                f"GRUB on {disk} looks for its files on the array {device.removeprefix('mduuid/')}, {words}"
            )
            return Reason(code=BootCode.LOADER_STALE, text=text, about=disk)
        return None
    if device.startswith("lvmid/"):
        if device.removeprefix("lvmid/").replace("/", "").replace("-", "") == facts.boot.volume:
            return None
        text = f"GRUB on {disk} looks for its files on another volume than /boot"
        return Reason(code=BootCode.LOADER_STALE, text=text, about=disk)
    if (part := _PART.fullmatch(device)) is not None:
        numbers = dict(facts.numbers)
        if numbers.get(boot) == int(part[1]) and host.disks(boot) == (disk,):
            return None
        place = f"partition {part[1]} of that disk, and /boot is on {_title(host, boot)}"
        text = f"GRUB on {disk} looks for its files in {place}"
        return Reason(code=BootCode.LOADER_STALE, text=text, about=disk)
    text = f"cannot interpret where GRUB on {disk} finds its files: {device or 'without a device'}"
    return Reason(code=BootCode.LOADER_UNKNOWN, text=text, boots=None, about=disk)


# -- UEFI


def good_esps(host: BootHost) -> tuple[Esp, ...]:
    """Return the EFI system partitions that boot the machine, each on its own."""
    return tuple(esp for esp in host.facts.esps if not esp.array and _check_esp(host, esp) is None)


def _esps(host: BootHost, lost: str) -> dict[str, Reason | None]:
    found: dict[str, Reason | None] = {}
    for esp in host.facts.esps:
        if esp.disk != lost and found.get(esp.disk, esp) is not None:
            found[esp.disk] = _check_esp(host, esp)
    for disk in host.disks(host.facts.boot.device, host.facts.root.device):
        if disk != lost and disk not in found:
            text = f"{disk} has no EFI system partition"
            found[disk] = Reason(code=BootCode.NO_ESP, text=text, about=disk)
    return found


def _check_esp(host: BootHost, esp: Esp) -> Reason | None:
    if esp.unread:
        return Reason(code=BootCode.NOT_READ, text=esp.unread, boots=None)
    if esp.array and esp.metadata not in {"", "1.0", "0.90"}:
        text = f"{esp.device} is in {esp.array}, whose metadata {esp.metadata} hides the FAT from firmware"
        return Reason(code=BootCode.ESP_METADATA, text=text)
    by_path = {each.path: each for each in esp.loaders}
    if not by_path:
        text = f"{esp.device}, the EFI system partition of {esp.disk}, has no boot loader"
        return Reason(code=BootCode.ESP_EMPTY, text=text, about=esp.disk)
    entries = host.facts.entries
    tried = [each.path for each in entries if each.active and each.part_uuid == esp.part_uuid]
    chosen = next((by_path[path] for path in (*tried, FALLBACK) if path in by_path), None)
    if chosen is None:
        text = f"the boot loader in {esp.device} is neither {FALLBACK} nor in the firmware's boot order"
        unknown = bool(host.facts.entries_unread)
        return Reason(
            code=BootCode.LOADER_NOT_TRIED, text=text, boots=None if unknown else False, about=esp.disk
        )
    return _check_loader(host, esp, _behind_shim(chosen, by_path))


def _behind_shim(loader: EspLoader, by_path: dict[str, EspLoader]) -> EspLoader:
    if loader.kind != "shim":
        return loader
    return by_path.get(f"{loader.path.rpartition('/')[0]}/GRUBX64.EFI", loader)


def _check_loader(host: BootHost, esp: Esp, loader: EspLoader) -> Reason | None:
    where = f"{esp.device} ({loader.path})"
    if loader.core is None:
        kind = loader.kind or "an unknown loader"
        text = f"cannot interpret what {where} starts: {kind}"
        return Reason(code=BootCode.LOADER_UNKNOWN, text=text, boots=None, about=esp.disk)
    if _DEVICE.match(loader.core.prefix) or _SEARCH.search(loader.core.config):
        return _check_core(host, loader.core, esp.disk)
    if loader.config is None:
        text = f"GRUB in {where} has no grub.cfg there: it stops at its prompt"
        return Reason(code=BootCode.LOADER_NO_CONFIG, text=text, about=esp.disk)
    found = _SEARCH.search(loader.config)
    if found is None:
        text = f"the grub.cfg in {esp.device} cannot be parsed"
        return Reason(code=BootCode.LOADER_UNKNOWN, text=text, boots=None, about=esp.disk)
    return _check_search(host, found[1], esp.disk)


def _title(host: BootHost, device: str) -> str:
    array = host.arrays.get(device)
    node = host.stack.nodes.get(device)
    return f"the array {array.title}" if array is not None else node.title if node is not None else device
