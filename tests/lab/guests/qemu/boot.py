"""What QEMU's guest is made of: the kernel, an archive that it starts from, a folder with disks, an argv.

Pure preparation: files are written into a folder of ours, nothing is started.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.guests.boot import (
    GUEST_TOOLS,
    check_machine,
    check_tools,
    find_udevd,
    make_sparse,
    second_half,
    which,
)
from tests.lab.guests.qemu import acpi, initramfs
from tests.lab.guests.qemu.disks import BUS_ID, Disk
from tests.lab.guests.qemu.kernel import Kernel, find_kernel

QEMU = "qemu-system-x86_64"
HARDWARE_TOOLS = {QEMU: "qemu-system-x86", "smartctl": "smartmontools"}
PROCESSORS = 2
PORT_NAME = "lab.agent"
AGENT_PORT = f"/dev/virtio-ports/{PORT_NAME}"
GOVERNORS = ("powersave", "ondemand", "conservative", "userspace")
MODULES = (
    *("ahci", "sd_mod", "nvme", "virtio_scsi", "virtio_console", "virtio_rng"),
    *("md-mod", "raid1", "raid10"),  # mdadm gets the other levels
    *("acpi-cpufreq", *(f"cpufreq_{name}" for name in GOVERNORS)),
)
# Modules for hardware that is not there, and fast code that is slow here.
UNWANTED = (
    *("kvm", "kvm_amd", "kvm_intel", "powernow_k8", "ccp", "iTCO_wdt", "i2c_i801", "psmouse", "pcspkr"),
    *(
        "joydev",
        "evdev",
        "aesni_intel",
        "ghash_clmulni_intel",
        "sha512_ssse3",
        "crc32_pclmul",
        "crct10dif_pclmul",
    ),
)

# The second line's save a fifth of all that it does.
KERNEL_WORDS = (
    *("console=ttyS0", "quiet", "loglevel=4", "panic=-1", "nokaslr", "random.trust_cpu=on", "nowatchdog"),
    *("mitigations=off", "init_on_alloc=0", "apparmor=0", "audit=0", "rcupdate.rcu_expedited=1"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What this machine offers: QEMU, a kernel with its modules, udev's daemon."""

    qemu: Path
    kernel: Kernel
    udevd: Path


def find_parts() -> Parts:
    """Look for everything that a guest needs.

    Raises:
        LabMissingError: something is not installed.
    """
    check_machine("QEMU's guest")
    check_tools({**GUEST_TOOLS, **HARDWARE_TOOLS})
    return Parts(qemu=Path(which(QEMU) or QEMU), kernel=find_kernel(), udevd=find_udevd())


def furnish(folder: Path, parts: Parts, *, disks: Sequence[Disk], size_mib: int) -> None:
    """Write the kernel, the archive, the ACPI table, the shared folder and the sparse disks into `folder`."""
    share = folder / "share"
    share.mkdir()
    (folder / "kernel").write_bytes(parts.kernel.unpacked())
    (folder / "initramfs").write_bytes(initramfs.build(parts.kernel))
    (folder / "cpufreq.aml").write_bytes(acpi.table(PROCESSORS))
    start = second_half(
        modules=parts.kernel.modules,
        udevd=parts.udevd,
        names=MODULES,
        begin="",
        line=AGENT_PORT,
        end="echo o >/proc/sysrq-trigger; sleep 60",
    )
    (share / "start").write_text(start)
    for disk in disks:
        make_sparse(disk.file, size_mib)


def command_line(
    folder: Path,
    parts: Parts,
    *,
    disks: Sequence[Disk],
    mem_mib: int,
    cpufreq: bool,
    lines: Mapping[str, int],
) -> tuple[str, ...]:
    """QEMU's argv; `lines` says which open file carries which line (con0, agent, con1, con2, qmp)."""
    return (
        str(parts.qemu),
        # A /dev/kvm may exist and not work. One thread for all processors is twice as quick as one for each,
        # which wait for each other. This model has cpufreq, and is the fastest.
        *("-accel", "tcg,thread=single", "-M", "q35", "-cpu", "Nehalem", "-smp", str(PROCESSORS)),
        *("-m", str(mem_mib), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-kernel", str(folder / "kernel"), "-initrd", str(folder / "initramfs")),
        *("-append", " ".join((*KERNEL_WORDS, f"modprobe.blacklist={','.join(UNWANTED)}"))),
        *(("-acpitable", f"file={folder / 'cpufreq.aml'}") if cpufreq else ()),
        *(word for line, number in lines.items() for word in ("-chardev", f"socket,id={line},fd={number}")),
        *("-serial", "chardev:con0", "-mon", "chardev=qmp,mode=control"),
        *_folder(initramfs.HOST, Path("/"), "readonly=on,multidevs=remap"),
        *_folder(initramfs.SHARE, folder / "share", "multidevs=remap"),
        *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
        *("-device", f"virtserialport,chardev=agent,name={PORT_NAME}"),
        *("-device", "virtconsole,chardev=con1", "-device", "virtconsole,chardev=con2"),
        *(("-device", f"virtio-scsi-pci,id={BUS_ID}") if any(disk.bus == "scsi" for disk in disks) else ()),
        *(word for disk in disks for word in _disk(disk)),
    )


def _folder(tag: str, path: Path, options: str) -> tuple[str, ...]:
    return (
        *("-fsdev", f"local,id={tag},path={path},security_model=none,{options}"),
        *("-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
    )


def _disk(disk: Disk) -> tuple[str, ...]:
    nodes = tuple(("-blockdev", json.dumps(node)) for node in (disk.file_node, disk.raw_node()))
    devices = tuple(
        ("-device", json.dumps(device)) for device in (disk.port, disk.device) if device is not None
    )
    return tuple(word for pair in (*nodes, *devices) for word in pair)
