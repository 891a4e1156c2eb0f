"""A stock kernel and its modules: found where `make kernel` unpacked one, or where the system's own are.

As a program, `python -m tests.lab.guests.qemu.kernel` ends with status 1 when there is none, and says why.
"""

import lzma
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.lab.guests.boot import LabMissingError

UNPACKED = Path(sys.prefix) / "lab-kernel"
# What the guest cannot do without; Debian's kernel for clouds has no ahci.
NEEDED = ("ahci", "nvme", "overlay", "9p", "9pnet_virtio", "virtio_pci", "virtio_console", "md-mod", "raid10")
SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248  # where the boot protocol's header says what follows it
XZ = b"\xfd7zXZ\0"
ENTRY_NOTE = b"\x12\0\0\0Xen\0"  # XEN_ELFNOTE_PHYS32_ENTRY: QEMU can start it as it is


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel's file and the folder of its modules."""

    image: Path
    modules: Path

    def load_order(self, names: tuple[str, ...]) -> tuple[Path, ...]:
        """The modules' files, each after those that it needs; nothing for what is built in.

        Raises:
            KeyError: there is no such module.
        """
        order: dict[str, None] = {}
        for name in names:
            path = self._paths[_plain(name)]
            order |= dict.fromkeys((*reversed(self._needs.get(path, ())), *((path,) * (path in self._needs))))
        return tuple(self.modules / path for path in order)

    def unpacked(self) -> bytes:
        """The kernel as it runs, where it can be had so: to unpack itself takes the guest three seconds.

        The header is that of Documentation/arch/x86/boot.rst.
        """
        whole = self.image.read_bytes()
        offset, length = struct.unpack_from("<II", whole, PAYLOAD)
        begin = (whole[SETUP_SECTORS] + 1) * 512 + offset
        payload = whole[begin : begin + length]
        if not payload.startswith(XZ):
            return whole
        kernel = lzma.LZMADecompressor().decompress(payload)
        return kernel if ENTRY_NOTE in kernel else whole

    def lacks(self) -> list[str]:
        """The modules that the guest needs and that are not there."""
        return [name for name in NEEDED if _plain(name) not in self._paths]

    @cached_property
    def _needs(self) -> dict[str, list[str]]:
        """modules.dep: each module's path, and the paths of those that it needs, the first needed last."""
        lines = (self.modules / "modules.dep").read_text().splitlines()
        return {path: needs.split() for path, _, needs in (line.partition(":") for line in lines)}

    @cached_property
    def _paths(self) -> dict[str, str]:
        builtin = (self.modules / "modules.builtin").read_text().split()
        return {_plain(Path(path).name.partition(".")[0]): path for path in (*builtin, *self._needs)}


def _plain(name: str) -> str:
    """A module's name; the kernel takes - and _ for the same."""
    return name.replace("-", "_")


def find_kernel(roots: Sequence[Path] = (UNPACKED, Path("/"))) -> Kernel:
    """The newest kernel that has all that the guest needs, below the first root that has one.

    Raises:
        LabMissingError: there is none.
    """
    reasons = []
    for root in roots:
        found = (root / "lib/modules").glob("*/modules.dep")
        for folder in sorted((file.parent for file in found), key=_age):
            kernel = Kernel(image=root / f"boot/vmlinuz-{folder.name}", modules=folder)
            if not os.access(kernel.image, os.R_OK):
                reasons.append(f"{kernel.image} cannot be read")
            elif lacks := kernel.lacks():
                reasons.append(f"{folder.name} has no {', '.join(lacks)}")
            else:
                return kernel
    why = f": {'; '.join(reasons)}" if reasons else ""
    raise LabMissingError(
        f"no kernel for QEMU's guest{why} (as root, make kernel unpacks Debian's linux-image-amd64)"
    )


def _age(folder: Path) -> float:
    return -folder.stat().st_mtime


if __name__ == "__main__":
    try:
        find_kernel()
    except LabMissingError as error:
        sys.exit(str(error))
