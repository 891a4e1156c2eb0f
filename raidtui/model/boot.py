"""What the next boot is made of: boot loaders, kernels with their initramfs, and what fstab wants."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class GrubCore(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """GRUB's core image: what it can read, and where it looks for the rest.

    Args:
        prefix: as in the image: "(mduuid/1111...)/boot/grub", "/EFI/debian"; "" for none.
        config: the commands that are built in.
        modules: names of the modules in it.
    """

    prefix: str = ""
    config: str = ""
    modules: tuple[str, ...] = ()


class SectorState(StrEnum):
    """What a boot sector is, and what it loads."""

    TOO_SMALL = "too-small"  # the disk
    NO_CODE = "no-code"
    OTHER_CODE = "other-code"  # of another boot loader
    NO_CORE = "no-core"  # GRUB's, which wants a core image where there is none
    DAMAGED_CORE = "damaged-core"  # GRUB's, with a core image that is not understood
    WHOLE = "whole"  # GRUB's


class BootSector(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the firmware of a PC finds on a disk.

    Args:
        disk: kernel name.
        table: of the partitions: gpt or dos; "" for none.
        marked: whether it ends with 55 AA: the firmware tries it then.
        grub: whether it begins with GRUB's code.
        core: what that loads; None where it is not there.
        state: what it is.
        core_sector: where the core image begins, by GRUB's code.
        unread: why nothing is known; "" where it was read.
    """

    disk: str
    table: str = ""
    marked: bool = False
    grub: bool = False
    core: GrubCore | None = None
    state: SectorState = SectorState.NO_CODE
    core_sector: int = 0
    unread: str = ""


class EspLoader(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program for EFI in an ESP.

    Args:
        path: upper case, with slashes: /EFI/BOOT/BOOTX64.EFI.
        kind: grub, shim, systemd-boot, linux (a kernel with all it needs) or "".
        core: of GRUB.
        config: the text of the grub.cfg that it reads in this ESP; None where it looks for none here, or
            there is none.
    """

    path: str
    kind: str = ""
    core: GrubCore | None = None
    config: str | None = None


class Esp(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An EFI system partition.

    Args:
        device: the partition's kernel name.
        disk: the disk's.
        part_uuid: lower case.
        array: kernel name of the array that it is a member of; "" for none.
        metadata: of that array.
        place: where it is mounted; "" for nowhere.
        number: the partition's; None where it is not known.
        has_fat: whether it has a file system that the firmware reads.
        size_bytes: None where the kernel does not say.
        unread: why nothing is known of what is in it.
    """

    device: str
    disk: str
    part_uuid: str = ""
    array: str = ""
    metadata: str = ""
    place: str = ""
    number: int | None = None
    has_fat: bool = True
    size_bytes: int | None = None
    loaders: tuple[EspLoader, ...] = ()
    unread: str = ""


class EfiEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the firmware's boot order (UEFI specification, 3.1.3).

    Args:
        number: four hexadecimal digits.
        part_uuid: of the partition, lower case; "" where it names none.
        path: upper case, with slashes.
        active: whether the firmware tries it.
    """

    number: str
    label: str = ""
    part_uuid: str = ""
    path: str = ""
    active: bool = True


class Initramfs(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An initramfs, as far as it matters for md.

    Args:
        path: of the file.
        maker: initramfs-tools, dracut, mkinitcpio; "" where that is not known.
        modules: names of the kernel's modules in it.
        programs: of mdadm, lvm, cryptsetup those that are in it.
        conf: mdadm.conf in it; None where there is none.
        left_out: members of arrays that run, and that DEVICE in that file leaves out, by kernel name.
        crypttab: names that it opens.
        words: of the kernel's command line that it adds itself (dracut: /etc/cmdline.d).
        starts_degraded: whether it has what starts an array without all its members.
        modified_s: when it was written.
        unread: why what is in it is not known.
    """

    path: str
    maker: str = ""
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    conf: str | None = None
    left_out: tuple[str, ...] = ()
    crypttab: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    starts_degraded: bool = False
    modified_s: float | None = None
    unread: str = ""


class BootKernel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An installed kernel.

    Args:
        version: its release.
        built_in: names of modules that are a part of it, as far as they matter here.
        initramfs: None where there is none.
    """

    version: str
    built_in: tuple[str, ...] = ()
    initramfs: Initramfs | None = None


class BootEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What GRUB starts without anyone at the keyboard.

    Args:
        title: of the menu entry.
        kernel: the file's name, without its folder.
        initrd: the same; "" for none.
        words: of the kernel's command line.
    """

    title: str
    kernel: str
    initrd: str = ""
    words: tuple[str, ...] = ()


class TableLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of fstab or crypttab.

    Args:
        file: its path.
        line: from 1.
        spec: the device, as it is written.
        place: the mount point; "none" for swap; of crypttab the name.
        kind: the file system's type; "crypt" in crypttab.
        options: those.
        devices: kernel names of what has this name or tag now.
    """

    file: str
    line: int
    spec: str
    place: str
    kind: str
    options: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


class FoundIn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a folder of the host lies.

    Args:
        device: kernel name; "" where it is not known.
        kind: the file system's type.
        uuid: the file system's.
        volume: the ids of an LVM volume and its group, 64 letters; "" for others.
        others: kernel names of the further devices of a btrfs.
    """

    device: str = ""
    kind: str = ""
    uuid: str = ""
    volume: str = ""
    others: tuple[str, ...] = ()


class BootFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read for a boot check.

    Args:
        firmware: bios or uefi; "" where that is not known.
        root, boot: where / and /boot lie.
        sectors: of the disks below those.
        esps: all that were found.
        entries: of the firmware, in their order.
        entries_unread: why they are not known.
        start: what boots next; None where that is not known.
        start_unread: why not.
        menu: the path of grub.cfg; "" for none.
        named: what root= and resume= of it name here: (the word, kernel names of what has this name or tag).
        kernels: the newest first.
        lines: of fstab and crypttab.
        numbers: of partitions: (kernel name, number on its disk).
        names: of arrays in their superblocks: (kernel name, "host:name" or "name").
        former: of devices with a superblock that no array holds: (kernel name, the array's UUID).
        conf_modified_s: when mdadm.conf was written; None where that is not known.
        home_host: the host's name for arrays: HOMEHOST of mdadm.conf, or the hostname.
    """

    firmware: str = ""
    root: FoundIn = FoundIn()
    boot: FoundIn = FoundIn()
    sectors: tuple[BootSector, ...] = ()
    esps: tuple[Esp, ...] = ()
    entries: tuple[EfiEntry, ...] = ()
    entries_unread: str = ""
    start: BootEntry | None = None
    start_unread: str = ""
    menu: str = ""
    named: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kernels: tuple[BootKernel, ...] = ()
    lines: tuple[TableLine, ...] = ()
    numbers: tuple[tuple[str, int], ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    former: tuple[tuple[str, str], ...] = ()
    conf_modified_s: float | None = None
    home_host: str = ""
