"""Debian's tree, made once: debootstrap, then what each image has in common, by chroot."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.lab.guests.boot import LabMissingError, which

PACKAGES = (
    *("systemd-sysv", "udev", "dbus", "mdadm", "initramfs-tools", "linux-image-cloud-amd64", "kmod", "zstd"),
    *("grub-pc-bin", "grub-efi-amd64-bin", "grub2-common", "efibootmgr", "dosfstools"),
    *("lvm2", "cryptsetup-initramfs", "python3", "dracut-core"),
)
RELEASE = "bookworm"
ROOT_UUID, SRV_UUID = "55555555-6666-4777-8888-999999999999", "66666666-7777-4888-9999-aaaaaaaaaaaa"
ARRAYS = ("11111111:22222222:33333333:44444444", "11111111:22222222:33333333:55555555")
_DEBOOTSTRAP_S, _CHROOT_S = 1800, 600
_NOT_NEEDED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "var/cache/apt", "var/lib/apt/lists")
_MODULES = ("virtio_pci", "virtio_blk", "ext4", "dm_mod", "dm_crypt", "aesni_intel", "xts")

MAKER = ("mkinitramfs", "-o", "/initramfs")
DRACUT = ("dracut", "--force", "--no-hostonly", "--add", "mdraid", "--mdadmconf", "/initramfs")
DONE = "BOOT-PROOF-UP"
"""What an image writes to its serial line when it has come up: past what can end in emergency mode."""

LUKS_UUID = "77777777-8888-4999-aaaa-bbbbbbbbbbbb"
CRYPTTAB = f"safe UUID={LUKS_UUID} /etc/keys/safe.key luks,initramfs"
MDADM_CONF = f"""\
HOMEHOST proof
MAILADDR root
ARRAY /dev/md0 metadata=1.2 UUID={ARRAYS[0]} name=proof:root
ARRAY /dev/md1 metadata=1.2 UUID={ARRAYS[1]} name=proof:srv
"""
FSTAB = f"""\
UUID={ROOT_UUID} / ext4 errors=remount-ro 0 1
UUID=AAAA-0001 /boot/efi vfat umask=0077,nofail,x-systemd.device-timeout=5s 0 1
UUID={SRV_UUID} /srv ext4 defaults 0 2
"""
_FILES = {
    "etc/hostname": "proof\n",
    "etc/fstab": FSTAB,
    "etc/mdadm/mdadm.conf": MDADM_CONF,
    "etc/default/grub": """\
GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_RECORDFAIL_TIMEOUT=0
GRUB_CMDLINE_LINUX_DEFAULT=""
GRUB_CMDLINE_LINUX="console=ttyS0 quiet loglevel=3 systemd.show_status=0 mitigations=off nokaslr"
GRUB_TERMINAL=serial
GRUB_SERIAL_COMMAND="serial --unit=0 --speed=115200"
GRUB_DISABLE_OS_PROBER=true
GRUB_DISABLE_RECOVERY=true
""",
    "etc/systemd/system.conf.d/proof.conf": "[Manager]\nDefaultDeviceTimeoutSec=60\n",
    "etc/systemd/system/boot-proof.service": """\
[Unit]
Description=says that the boot has come this far
DefaultDependencies=no
Requires=local-fs.target
After=local-fs.target swap.target cryptsetup.target
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/boot-proof
[Install]
WantedBy=sysinit.target
""",
    "usr/local/sbin/boot-proof": f"""\
#!/bin/sh
{{
    echo
    echo "{DONE} root=$(findmnt -no SOURCE /) srv=$(findmnt -rno TARGET /srv)"
    grep -A1 ^md /proc/mdstat
}} >/dev/ttyS0
systemctl poweroff --no-block
""",
}
_MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer"),
    *(
        "systemd-timesyncd.service",
        "e2scrub_reap.service",
        "serial-getty@ttyS0.service",
        "getty@tty1.service",
    ),
    *("systemd-logind.service", "systemd-random-seed.service", "systemd-journal-flush.service"),
    *("systemd-update-utmp.service", "systemd-user-sessions.service", "systemd-pstore.service"),
    *("mdmonitor.service", "mdcheck_start.timer", "mdcheck_continue.timer"),
)


def make_tree(folder: Path) -> Path:
    """Return the tree; it is made where it is not there, which takes some minutes and a mirror of Debian.

    Raises:
        LabMissingError: debootstrap is not installed.
        CalledProcessError: it failed; the output says why.
    """
    tree, stamp = folder / "tree", folder / "tree-made"
    if stamp.exists():
        return tree
    if which("debootstrap") is None:
        raise LabMissingError("debootstrap is not installed (Debian: apt install debootstrap)")
    if not (tree / "usr/sbin/mdadm").exists() and not (tree / "sbin/mdadm").exists():
        shutil.rmtree(tree, ignore_errors=True)
        words = ("--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, str(tree))
        subprocess.run(("debootstrap", *words), check=True, timeout=_DEBOOTSTRAP_S)
    _configure(tree)
    stamp.touch()
    return tree


def _configure(tree: Path) -> None:
    for name in _NOT_NEEDED:
        shutil.rmtree(tree / name, ignore_errors=True)
        (tree / name).mkdir(parents=True)
    for path, text in _FILES.items():
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tree / "usr/local/sbin/boot-proof").chmod(0o755)
    units = tree / "etc/systemd/system"
    for unit in _MASKED:
        link = units / unit
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
    wants = units / "sysinit.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "boot-proof.service").unlink(missing_ok=True)
    (wants / "boot-proof.service").symlink_to("../boot-proof.service")
    conf = tree / "etc/initramfs-tools/initramfs.conf"
    text = conf.read_text().replace("MODULES=most", "MODULES=list")
    conf.write_text(text)
    (tree / "etc/initramfs-tools/modules").write_text("".join(f"{name}\n" for name in _MODULES))
    for folder in ("boot/efi", "srv"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
    subprocess.run(("chroot", str(tree), "passwd", "--lock", "root"), check=True, timeout=_CHROOT_S)


def make_initramfs(
    folder: Path, name: str, files: Mapping[str, str], hook: str = "", maker: tuple[str, ...] = MAKER
) -> Path:
    """Return an initramfs that Debian's own tool makes of the tree; it is made where it is not there.

    Args:
        folder: of the tree.
        name: of the file.
        files: what is in the tree meanwhile, by path.
        hook: commands that run at its end, in the folder that becomes the initramfs.
        maker: the command that makes /initramfs of the tree.

    Raises:
        CalledProcessError: it failed.
    """
    target = folder / "initramfs" / name
    if target.exists():
        return target
    target.parent.mkdir(exist_ok=True)
    tree = folder / "tree"
    put = dict(files)
    if hook:
        put["etc/initramfs-tools/hooks/zz-proof"] = f"{_HOOK}cd $DESTDIR\n{hook}\n"
    old = {path: (tree / path).read_text() if (tree / path).exists() else None for path in put}
    try:
        for path, text in put.items():
            (tree / path).parent.mkdir(exist_ok=True)
            (tree / path).write_text(text)
            (tree / path).chmod(0o755 if path.endswith("zz-proof") else 0o600)
        subprocess.run(("mount", "-t", "proc", "proc", str(tree / "proc")), check=True, timeout=_CHROOT_S)
        try:
            subprocess.run(("chroot", str(tree), *maker, kernel_of(tree)), check=True, timeout=_CHROOT_S)
        finally:
            subprocess.run(("umount", str(tree / "proc")), check=True, timeout=_CHROOT_S)
        shutil.move(tree / "initramfs", target)
    finally:
        for path, before in old.items():
            if before is None:
                (tree / path).unlink()
            else:
                (tree / path).write_text(before)
    return target


_HOOK = '#!/bin/sh\n[ "$1" = prereqs ] && exit 0\nset -e\n'


def kernel_of(tree: Path) -> str:
    """Return the release of the tree's kernel."""
    return next((tree / "boot").glob("vmlinuz-*")).name.removeprefix("vmlinuz-")
