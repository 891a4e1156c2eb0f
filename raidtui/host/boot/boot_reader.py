"""All that a boot check reads of a host; nothing is mounted, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.boot.boot_images import read_kernels
from raidtui.host.boot.device_bytes import DeviceBytes, DeviceBytesError
from raidtui.host.boot.efi import EFI, ESP_TYPE, read_entries, read_loaders
from raidtui.host.boot.fat import FatError
from raidtui.host.boot.grub_image import read_boot_sector
from raidtui.host.boot.grub_menu import MenuError, menu_path, read_start
from raidtui.host.device_paths import DevicePaths
from raidtui.host.md.conf_devices import device_words, left_out
from raidtui.host.md.configured import conf_entries, conf_files, entries_in
from raidtui.host.mounts import mount_of, unescape
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.udev import read_udev_entry
from raidtui.model.array import Array
from raidtui.model.boot import BootFacts, BootKernel, BootSector, Esp, FoundIn, TableLine
from raidtui.model.stack import Stack, StackKind, StackNode

KEPT = "/.raidtui/boot.json"
"""In a capture: what was found on its host."""
_FSTAB, _CRYPTTAB = "/etc/fstab", "/etc/crypttab"
_MOST_DISKS = 64
_OPTIONS = frozenset({"noauto", "nofail", "x-systemd.automount", "degraded"})
_TIMEOUT = "x-systemd.device-timeout="
_WORDS = (
    "root=", "rootdelay=", "rootflags=", "rd.md", "rd.auto", "resume=", "module_blacklist=",
    "md_mod.start_dirty_degraded=", "md-mod.start_dirty_degraded=",
)  # fmt: skip
_TAGS = ("UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID=", "/dev/")


class BootReader:
    """Reads a host's boot.

    Args:
        reader: the host.
        stack: its layers.
        arrays: md's, by kernel name.
    """

    def __init__(self, reader: HostReader, stack: Stack, arrays: Mapping[str, Array]) -> None:
        self._reader = reader
        self._stack = stack
        self._arrays = arrays

    def read(self) -> BootFacts:
        """Return what was found; of a capture, what was found when it was made."""
        reader = self._reader
        if (kept := self._kept()) is not None:
            return kept
        start, why = None, ""
        try:
            start = read_start(reader)
            start = replace(start, words=tuple(word for word in start.words if word.startswith(_WORDS)))
        except MenuError as error:
            why = str(error)
        return replace(
            self.read_loaders(),
            root=self._found_in("/"),
            boot=self._found_in("/boot"),
            start=start,
            start_unread=why,
            menu=menu_path(reader),
            named=tuple(self._named(start.words if start is not None else ())),
            kernels=tuple(self._kernels()),
            lines=tuple(self._lines()),
            names=tuple(self._names()),
            former=tuple(self._former()),
            conf_modified_s=self._conf_modified_s(),
            home_host=self._home_host(),
        )

    def read_loaders(self, disks: frozenset[str] | None = None) -> BootFacts:
        """Return the firmware's kind, and the boot loaders on disks, alone.

        Args:
            disks: those; None for all. Others are not opened, so that none of them wakes up.
        """
        if (kept := self._kept()) is not None:
            return kept
        firmware = self._firmware()
        entries = read_entries(self._reader) if firmware == "uefi" else ()
        return BootFacts(
            firmware=firmware,
            sectors=tuple(self._sector(name) for name in self._disks() if disks is None or name in disks),
            esps=tuple(self._esps(disks)) if firmware != "bios" else (),
            entries=entries or (),
            entries_unread="" if entries is not None else "the firmware's entries cannot be read",
            numbers=tuple(self._numbers()),
        )

    def _kept(self) -> BootFacts | None:
        if not self._reader.live:
            with suppress(OSError, msgspec.DecodeError):
                return msgspec.json.decode(self._reader.read(KEPT), type=BootFacts)
        return None

    def _firmware(self) -> str:
        if self._reader.is_there(EFI):
            return "uefi"
        return "bios" if self._reader.live or self._reader.is_there("/sys/firmware") else ""

    def _kernels(self) -> Iterator[BootKernel]:
        names = [member.name for array in self._arrays.values() for member in array.members]
        for kernel in read_kernels(self._reader):
            image = kernel.initramfs
            if image is not None and image.conf:
                out = left_out(self._reader, device_words(entries_in(image.conf)), names)
                yield replace(kernel, initramfs=replace(image, left_out=out))
            else:
                yield kernel

    def _disks(self) -> list[str]:
        nodes = self._stack.nodes
        return [name for name, node in nodes.items() if node.kind is StackKind.DISK and not node.parents][
            :_MOST_DISKS
        ]

    def _device(self, name: str) -> DeviceBytes:
        return DeviceBytes(self._reader, name)

    def _sector(self, disk: str) -> BootSector:
        try:
            return read_boot_sector(self._device(disk), disk)
        except DeviceBytesError as error:
            return BootSector(disk=disk, unread=str(error))

    def _esps(self, disks: frozenset[str] | None) -> Iterator[Esp]:
        for node in self._stack.nodes.values():
            known = self._known(node)
            if node.kind is not StackKind.PARTITION or known.get("ID_PART_ENTRY_TYPE") not in {
                ESP_TYPE,
                "0xef",
            }:
                continue
            if disks is not None and disks.isdisjoint({node.name, *node.parents}):
                continue
            array = next((each.name for each in self._stack.on(node.name) if each.kind is StackKind.MD), "")
            esp = Esp(
                device=node.name,
                disk=node.parents[0] if node.parents else node.name,
                part_uuid=known.get("ID_PART_ENTRY_UUID", "").lower(),
                array=array,
                metadata=(self._arrays[array].metadata or "") if array in self._arrays else "",
                place=next(iter(node.file_system.mounts), ""),
                number=whole_number(self._reader.text(f"{_node(node.name)}/partition")),
                size_bytes=self._size(node.name),
            )
            yield self._with_loaders(esp)

    def _with_loaders(self, esp: Esp) -> Esp:
        try:
            return replace(esp, loaders=read_loaders(self._device(esp.device)))
        except FatError:
            return replace(esp, has_fat=False)
        except DeviceBytesError as error:
            return replace(esp, unread=str(error))

    def _size(self, name: str) -> int | None:
        sectors = whole_number(self._reader.text(f"{_node(name)}/size"))
        return None if sectors is None else sectors * 512

    def _known(self, node: StackNode) -> Mapping[str, str]:
        return read_udev_entry(self._reader, node.dev).properties

    def _found_in(self, folder: str) -> FoundIn:
        mount = mount_of(self._reader, folder)
        if mount is None:
            return FoundIn()
        nodes = self._stack.nodes.values()
        node = next((each for each in nodes if each.dev == mount.dev), None)
        if node is None and mount.source.startswith("/dev/"):
            names = DevicePaths(self._reader).find(mount.source)
            node = next((each for each in nodes if each.name in names), None)
        if node is None:
            return FoundIn(kind=mount.kind)
        volume = (self._reader.text(f"{_node(node.name)}/dm/uuid") or "").strip()
        uuid = self._known(node).get("ID_FS_UUID", "")
        parts = DevicePaths(self._reader).find(f"UUID={uuid}") if mount.kind == "btrfs" and uuid else ()
        return FoundIn(
            device=node.name,
            kind=mount.kind,
            uuid=uuid,
            others=tuple(name for name in parts if name != node.name),
            volume=volume.removeprefix("LVM-") if volume.startswith("LVM-") else "",
        )

    def _numbers(self) -> Iterator[tuple[str, int]]:
        for node in self._stack.nodes.values():
            if node.kind is StackKind.PARTITION:
                number = whole_number(self._reader.text(f"{_node(node.name)}/partition"))
                if number is not None:
                    yield node.name, number

    def _names(self) -> Iterator[tuple[str, str]]:
        for name in self._arrays:
            node = self._stack.nodes.get(name)
            if node is not None and (full := self._known(node).get("MD_NAME")):
                yield name, full

    def _former(self) -> Iterator[tuple[str, str]]:
        for node in self._stack.nodes.values():
            known = self._known(node)
            held = any(each.kind is StackKind.MD for each in self._stack.on(node.name))
            if known.get("ID_FS_TYPE") == "linux_raid_member" and not held:
                yield node.name, known.get("ID_FS_UUID", "")

    def _lines(self) -> Iterator[TableLine]:
        paths = DevicePaths(self._reader)
        for number, words in _table(self._reader.text(_FSTAB)):
            if len(words) > 2 and words[0].startswith(_TAGS):
                yield TableLine(
                    file=_FSTAB,
                    line=number,
                    spec=words[0],
                    place=words[1],
                    kind=words[2],
                    options=_options(words),
                    devices=paths.find(words[0]),
                )
        for number, words in _table(self._reader.text(_CRYPTTAB)):
            if len(words) > 1 and words[1].startswith(_TAGS):
                yield TableLine(
                    file=_CRYPTTAB,
                    line=number,
                    spec=words[1],
                    place=words[0],
                    kind="crypt",
                    options=_options(words),
                    devices=paths.find(words[1]),
                )

    def _named(self, words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        paths = DevicePaths(self._reader)
        for word in words:
            key, _, spec = word.partition("=")
            if key in {"root", "resume"} and spec.startswith(_TAGS):
                yield word, paths.find(spec)

    def _conf_modified_s(self) -> float | None:
        return _modified_s(conf_files(self._reader)[0]) if self._reader.live else None

    def _home_host(self) -> str:
        """Return HOMEHOST of mdadm.conf (mdadm.conf(5)), or the host's name."""
        for words in conf_entries(self._reader)[1]:
            if words[0].lower() == "homehost" and len(words) > 1 and not words[1].startswith("<"):
                return words[1]
        return self._reader.hostname or ""


def _node(name: str) -> str:
    return f"{BLOCK}/{name.replace('/', '!')}"


def _modified_s(path: str) -> float | None:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return None


def _options(words: list[str]) -> tuple[str, ...]:
    """Return of a line's options those that matter to a boot; others may be anything."""
    given = words[3].split(",") if len(words) > 3 else []
    return tuple(word for word in given if word in _OPTIONS or word.startswith(_TIMEOUT))


def _table(text: str | None) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate((text or "").split("\n"), start=1):
        words = [unescape(word) for word in line.split()]
        if words and not words[0].startswith("#"):
            yield number, words
