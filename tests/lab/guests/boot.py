"""What a User Mode Linux guest is made of: kernel, modules, a folder with disks, an init script, an argv.

Pure preparation: files are written into a folder of ours, nothing is started. What each kind of guest needs,
the second half of its init script above all, is here too.
"""

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from tests.lab.guests import launch

REPOSITORY = Path(__file__).resolve().parents[3]
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHARE = Path("/run/lab")  # where the guest sees the shared folder
HOSTNAME = "lab"
MDADM_CONF = f"HOMEHOST {HOSTNAME}\nMAILADDR root\n"
MODULES = ("md-mod", "linear", "raid0", "raid1", "raid10", "raid456", "loop")
UDEVD_PATHS = ("/usr/lib/systemd/systemd-udevd", "/lib/systemd/systemd-udevd", "/sbin/udevd")
# What the guests' tests run, and the Debian package of each; Makefile's target system installs these.
GUEST_TOOLS = {
    "mdadm": "mdadm",
    "udevadm": "udev",
    "modprobe": "kmod",
    "pivot_root": "util-linux",
    "mount": "mount",
    "pgrep": "procps",
    "pvcreate": "lvm2",
    "make-bcache": "bcache-tools",
    "sfdisk": "fdisk",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.vfat": "dosfstools",
    "systemd-tmpfiles": "systemd",
    "fio": "fio",
    "ddrescue": "gddrescue",
    "rsync": "rsync",
    "btrfs": "btrfs-progs",
    "cryptsetup": "cryptsetup-bin",
    "iostat": "sysstat",
    "ledctl": "ledmon",
}

# First half, on the host's root, read-only: an overlay in memory becomes the root. (Not by chroot: udevadm
# refuses to work in one.)
INIT = Template("""\
#!/bin/sh
export PATH=$path
$tunables
mount -t tmpfs -o mode=755 overlay /run || exit 1
mkdir /run/upper /run/work /run/root
insmod $modules/kernel/fs/overlayfs/overlay.ko || exit 1
mount -t overlay -o lowerdir=/,upperdir=/run/upper,workdir=/run/work overlay /run/root || exit 1
cd /run/root || exit 1
mount -t proc proc proc
mount -t sysfs sys sys
mount -t devtmpfs dev dev
mount -t tmpfs -o mode=755 run run
mkdir run/lab run/old
mount -t hostfs -o $share lab run/lab || exit 1
pivot_root . run/old || exit 1
exec chroot . /bin/sh /run/lab/start </dev/console >/dev/console 2>&1
""")

# Second half, on the overlay. When the host hangs up, the agent ends, and with it the guest.
START = Template("""\
$tunables
$begin
cd /
export PATH=$path HOME=/root LANG=C.UTF-8 LANGUAGE=C PYTHONPATH=$repository PYTHONDONTWRITEBYTECODE=1
unset LC_ALL
$wrappers
echo 1 >/proc/sys/kernel/printk
echo $hostname >/proc/sys/kernel/hostname
echo $hostname >/etc/hostname
for place in /tmp /var/tmp /var/lib /var/log /root; do
    case $kept in *":$$place/"*) continue ;; esac
    [ -d $$place ] || mkdir -p $$place
    mount -t tmpfs tmpfs $$place
done
chmod 1777 /tmp /var/tmp
mkdir -p /dev/pts /dev/shm /run/udev /run/lock /run/jobs /lib/modules /etc/mdadm
mount -t devpts -o ptmxmode=666 pts /dev/pts
mount -t tmpfs shm /dev/shm
ln -sf /proc/self/fd /dev/fd
ln -sfn $modules /lib/modules/$release
printf '%s' $mdadm_conf >/etc/mdadm/mdadm.conf
ip link set lo up 2>/dev/null
modprobe -a $names 2>/dev/null
$udevd --daemon 2>/dev/null
udevadm trigger --subsystem-match=block --subsystem-match=virtio-ports --action=add
udevadm settle --timeout=20
$python -I -S -B $agent $line
sync
$end
""")


# Tools whose starter makes their environment (ctypes, udev, raidtui, the kernel that wants a module) get the
# tunables, where the processor needs them, from a program in their place. Without them printf goes wrong,
# libblkid finds signatures that are not there, and modules are not found. The tools keep their names, by
# which the kernel calls their processes.
WRAPPERS = Template("""\
mkdir -p /usr/lab
for tool in /sbin/ldconfig /sbin/mdadm /sbin/mdmon /sbin/wipefs /sbin/sfdisk /sbin/blkid /sbin/dmsetup \
    /bin/lsblk /sbin/xfs_spaceman /sbin/xfs_db /sbin/xfs_io /sbin/xfs_growfs /sbin/xfs_repair /sbin/losetup \
    /sbin/blockdev /bin/fio /bin/journalctl /bin/btrfs /bin/rsync /bin/ddrescue /sbin/cryptsetup /sbin/lvm \
    /sbin/mke2fs /sbin/mkfs.xfs /sbin/tune2fs /sbin/fstrim /bin/mount /bin/umount /sbin/e2fsck /sbin/debugfs \
    /sbin/dumpe2fs
do
    [ -e $$tool ] || continue
    mv $$tool /usr/lab/
    printf '$head/usr/lab/%s' $${tool##*/} >$$tool
    chmod 755 $$tool
done
printf '$head/sbin/modprobe' >/run/modprobe
chmod 755 /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe""")


class LabMissingError(Exception):
    """This machine cannot run the laboratory; the text says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What this machine offers: the kernel, the folder of its modules, udev's daemon."""

    kernel: Path
    modules: Path
    udevd: Path


def find_parts() -> Parts:
    """Look for everything that a guest needs.

    Raises:
        LabMissingError: something is not installed.
    """
    check_machine("User Mode Linux")
    kernel = which("linux.uml") or which("linux")
    if kernel is None:
        raise LabMissingError("linux.uml is not installed (Debian: apt install user-mode-linux)")
    found = sorted(Path("/usr/lib/uml/modules").glob("*/modules.dep"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise LabMissingError("no modules for linux.uml under /usr/lib/uml/modules")
    udevd = find_udevd()
    check_tools(GUEST_TOOLS)
    return Parts(kernel=Path(kernel), modules=found[-1].parent, udevd=udevd)


def check_machine(what: str) -> None:
    """Whether this is x86-64 Linux.

    Raises:
        LabMissingError: it is not.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise LabMissingError(f"{what} runs on x86-64 Linux only")


def which(tool: str) -> str | None:
    """A tool's path, in the folders for root's tools as well."""
    return shutil.which(tool, path=f"{os.environ.get('PATH', '')}:{DEFAULT_PATH}")


def find_udevd() -> Path:
    """Where udev's daemon is.

    Raises:
        LabMissingError: nowhere.
    """
    udevd = next((Path(name) for name in UDEVD_PATHS if Path(name).exists()), None)
    if udevd is None:
        raise LabMissingError("systemd-udevd is not installed (Debian: apt install udev)")
    return udevd


def check_tools(tools: Mapping[str, str]) -> None:
    """Whether all these tools are there; each is given with its Debian package.

    Raises:
        LabMissingError: some are not; the text says what to install.
    """
    missing = [tool for tool in tools if which(tool) is None]
    if missing:
        packages = " ".join(dict.fromkeys(tools[tool] for tool in missing))
        raise LabMissingError(f"not installed: {', '.join(missing)} (Debian: apt install {packages})")


def disk_names(count: int) -> tuple[str, ...]:
    """The kernel's names of the guest's disks: ubda, ubdb, ..."""
    return tuple(f"ubd{chr(ord('a') + index)}" for index in range(count))


def serial_of(disk: str) -> str:
    """The serial number of one of the guest's disks: ubda has LAB-UBDA-0001, and so on."""
    return f"LAB-{disk.upper()}-{ord(disk[-1]) - ord('a') + 1:04}"


def furnish(folder: Path, parts: Parts, *, disks: int, size_mib: int) -> tuple[Path, ...]:
    """Write the scripts, the shared folder and the sparse disks into `folder`; returns the disks' files."""
    share = folder / "share"
    share.mkdir()
    tunables = f"export GLIBC_TUNABLES={launch.TUNABLES}" if launch.needed() else ""
    init = INIT.substitute(
        tunables=tunables,
        path=DEFAULT_PATH,
        modules=shlex.quote(str(parts.modules)),
        share=shlex.quote(str(share)),
    )
    start = second_half(
        modules=parts.modules,
        udevd=parts.udevd,
        names=MODULES,
        tunables=tunables,
        wrappers=WRAPPERS.substitute(head=octal(launch.program_head())) if launch.needed() else "",
        begin="umount -l /run/old && rmdir /run/old",
        line="/dev/ttyS0",
        end="halt -f || echo o >/proc/sysrq-trigger",
    )
    (folder / "init").write_text(init)
    (folder / "init").chmod(0o755)
    (share / "start").write_text(start)
    files = tuple(folder / name for name in disk_names(disks))
    for file in files:
        make_sparse(file, size_mib)
    return files


def octal(data: bytes) -> str:
    """Bytes as the format of a shell's printf."""
    return "".join(f"\\{byte:03o}" for byte in data)


def make_sparse(file: Path, size_mib: int) -> None:
    """Create a disk's file, sparse."""
    file.touch()
    os.truncate(file, size_mib << 20)


def second_half(
    *,
    modules: Path,
    udevd: Path,
    names: Sequence[str],
    begin: str,
    line: str,
    end: str,
    tunables: str = "",
    wrappers: str = "",
) -> str:
    """The script that a guest runs on its overlay: modules loaded by name, udev, the agent on its line.

    `begin` and `end` are what only one kind of guest does first and last.
    """
    return START.substitute(
        begin=begin,
        end=end,
        tunables=tunables,
        wrappers=wrappers,
        line=line,
        path=DEFAULT_PATH,
        modules=shlex.quote(str(modules)),
        release=modules.name,
        repository=shlex.quote(str(REPOSITORY)),
        hostname=HOSTNAME,
        # A tmpfs must not hide the checkout or the environment.
        kept=shlex.quote("".join(f":{place}/" for place in (REPOSITORY, sys.prefix, sys.base_prefix))),
        mdadm_conf=shlex.quote(MDADM_CONF),
        names=" ".join(names),
        udevd=udevd,
        python=shlex.quote(sys.executable),
        agent=shlex.quote(str(Path(__file__).with_name("agent.py"))),
    )


def command_line(
    folder: Path,
    parts: Parts,
    *,
    files: tuple[Path, ...],
    out: Collection[str] = (),
    mem_mib: int,
    lines: Mapping[str, int],
) -> tuple[str, ...]:
    """The kernel's argv; `lines` says which open file carries which line (con0, con1, ssl0).

    Disks in `out` are not plugged in; the others keep their names.
    """
    launcher = (sys.executable, "-I", "-S", str(Path(launch.__file__))) if launch.needed() else ()
    return (
        *launcher,
        str(parts.kernel),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={folder / 'init'}", "quiet"),
        *(f"mem={mem_mib}M", f"uml_dir={folder}/", "umid=uml"),
        *(
            f"ubd{index}={file},,{serial_of(file.name)}"
            for index, file in enumerate(files)
            if file.name not in out
        ),
        *("con=null", "ssl=null", *(f"{line}=fd:{number},fd:{number}" for line, number in lines.items())),
    )
