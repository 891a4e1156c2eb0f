"""A boot of an image in QEMU, on a PC's firmware, some of its disks left out; the images are not changed."""

import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from tests.boot_proof.tree import DONE
from tests.lab.guests.boot import LabMissingError, which

# Its clock counts instructions: however busy this machine is, no timeout ends early. Waits take their time:
# with sleep=off the clock jumps to the next timer while a disk is read, and some did end early ("luks").
ICOUNT = ("-icount", "shift=1,sleep=on")
QEMU = "qemu-system-x86_64"
OVMF = Path("/usr/share/OVMF")
CODE, VARIABLES = OVMF / "OVMF_CODE_4M.fd", OVMF / "OVMF_VARS_4M.fd"
MOST_S, SILENT_S = 1200.0, 120.0
"""How long a boot may take in all; and until the kernel's first line: emulation on a busy machine is slow."""


class End(StrEnum):
    """How a boot ended."""

    UP = "up"
    EMERGENCY = "emergency"  # systemd's emergency shell
    INITRAMFS = "initramfs"  # the initramfs gave up: no root
    LOADER = "loader"  # GRUB's shell, or GRUB's error
    FIRMWARE = "firmware"  # the firmware found nothing to boot
    SILENT = "silent"  # no kernel after SILENT_S
    STUCK = "stuck"  # nothing of these after MOST_S
    PANIC = "panic"


_SIGNS = (
    (End.UP, re.compile(rf"{DONE} .*\n")),
    (
        End.EMERGENCY,
        re.compile(r"You are in emergency mode|emergency\.target.*Reached|Reached target.*Emergency Mode"),
    ),
    (
        End.INITRAMFS,
        re.compile(r"ALERT!  .* does not exist|\(initramfs\) |Gave up waiting for|rdsosreport|dracut:/#"),
    ),
    (End.PANIC, re.compile(r"Kernel panic")),
    (End.LOADER, re.compile(r"grub rescue>|grub> |error: .*\n(?:.*\n)*?.*Entering rescue mode")),
    (End.FIRMWARE, re.compile(r"No bootable device|UEFI Interactive Shell|startup\.nsh|Shell> ")),
)
_KERNEL = re.compile(r"Linux version |Loading Linux|EFI stub")


class Boot(Struct, frozen=True, kw_only=True):
    """What a boot has shown.

    Args:
        end: how it ended.
        seconds: how long it took.
    """

    end: End
    seconds: float

    @property
    def up(self) -> bool:
        """Whether the machine came up."""
        return self.end is End.UP


def find_qemu(*, uefi: bool) -> None:
    """Look for what a boot needs.

    Raises:
        LabMissingError: something is not installed.
    """
    if which(QEMU) is None:
        raise LabMissingError(f"{QEMU} is not installed (Debian: apt install qemu-system-x86)")
    if uefi and not (CODE.exists() and VARIABLES.exists()):
        raise LabMissingError("OVMF is not installed (Debian: apt install ovmf)")


def boot(
    files: Sequence[Path], log: Path, *, uefi: bool, variables: Path | None = None, keeps: bool = False
) -> Boot:
    """Boot with these disks, in this order.

    Args:
        files: the images of the disks that are there.
        log: where what comes over the serial line is written, as it comes.
        uefi: whether the firmware is OVMF, else SeaBIOS.
        variables: OVMF's, of a machine that has been in use: it boots in the order of its own entries. Where
            the file is not there, the machine is new.
        keeps: whether what is written to disks and variables stays.
    """
    find_qemu(uefi=uefi)
    folder = Path(tempfile.mkdtemp(prefix="raidtui-boot."))
    store = folder / "variables"
    try:
        known = variables is not None and variables.exists()
        shutil.copyfile(variables if variables is not None and known else VARIABLES, store)
        ended = _watched(_argv(files, store, uefi=uefi, keeps=keeps, known=known), log)
        if keeps and variables is not None:
            shutil.copyfile(store, variables)
        return ended
    finally:
        shutil.rmtree(folder)


def _argv(files: Sequence[Path], store: Path, *, uefi: bool, keeps: bool, known: bool) -> tuple[str, ...]:
    flash = (
        *("-drive", f"if=pflash,format=raw,readonly=on,file={CODE}"),
        *("-drive", f"if=pflash,format=raw,file={store}"),
    )
    return (
        which(QEMU) or QEMU,
        # Without graphics, SeaBIOS writes to the serial line.
        *(
            "-machine",
            "q35,graphics=off",
            "-accel",
            "tcg,thread=single",
            *ICOUNT,
            "-cpu",
            "Nehalem",
            "-m",
            "768",
        ),
        *("-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot"),
        *("-no-user-config", "-device", "virtio-rng-pci", *(() if keeps else ("-snapshot",))),
        *(flash if uefi else ()),
        *(word for number, file in enumerate(files) for word in _disk(number, file, known=known)),
    )


def _disk(number: int, file: Path, *, known: bool) -> tuple[str, ...]:
    place = "" if known else f",bootindex={number}"  # which would come before the firmware's own entries
    return (
        *("-drive", f"if=none,id=disk{number},format=raw,cache=unsafe,file={file}"),
        *("-device", f"virtio-blk-pci,drive=disk{number},serial=PROOF-{file.name[-1].upper()}{place}"),
    )


def _watched(argv: Sequence[str], log: Path) -> Boot:
    begun = time.monotonic()
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    text = ""
    try:
        while True:
            seconds = time.monotonic() - begun
            limit = MOST_S if _KERNEL.search(text) else SILENT_S
            ready, _, _ = select.select([descriptor], [], [], max(0.0, limit - seconds))
            data = os.read(descriptor, 1 << 16) if ready else b""
            text += re.sub(r"\x1b\[[0-9;?=]*[a-zA-Z]", "", data.decode("utf-8", "replace")).replace("\r", "")
            log.write_text(text)
            found = next((end for end, sign in _SIGNS if sign.search(text)), None)
            if found is not None or not data:
                late = End.STUCK if limit == MOST_S else End.SILENT
                return Boot(end=found or late, seconds=time.monotonic() - begun)
    finally:
        process.kill()
        process.wait()
