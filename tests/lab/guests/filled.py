"""A mounted file system with a file, whose digest is kept: all of it is compared later."""

from __future__ import annotations

from tests.lab.guests.guest import Guest

PLACE = "/mnt/file"
CHECKS = {"ext4": "fsck.ext4 -fn", "xfs": "xfs_repair -n", "btrfs": "btrfs check"}


def filled(guest: Guest, device: str, kind: str = "ext4", *, mib: int = 8) -> None:
    """Make a file system, mount it, and write a file whose digest is kept."""
    done = guest.run(
        f"mkfs.{kind} -q {device} && mount {device} /mnt"
        f" && dd if=/dev/urandom of={PLACE} bs=1M count={mib} status=none && sha256sum {PLACE} >/tmp/sum"
    )
    assert done.status == 0, done.output


def room_kib(guest: Guest) -> int:
    """How large the mounted file system is."""
    return int(guest.run("df --output=size /mnt | tail -n 1").stdout)


def intact(guest: Guest, device: str, kind: str = "ext4") -> None:
    """The file is what it was, and so is the file system."""
    done = guest.run(
        f"echo 3 >/proc/sys/vm/drop_caches; sha256sum -c /tmp/sum && umount /mnt && {CHECKS[kind]} {device}",
        timeout=300,
    )
    assert done.status == 0, done.output
