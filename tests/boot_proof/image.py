"""Images of whole systems on md, made and changed in a User Mode Linux guest."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from tests.boot_proof.tree import ARRAYS, CRYPTTAB, LUKS_UUID, ROOT_UUID, SRV_UUID
from tests.lab.guests.boot import REPOSITORY, find_parts, furnish, make_sparse
from tests.lab.guests.guest import Result
from tests.lab.guests.uml import UmlGuest

DISK_MIB = 1100
_PLACES = ("/opt", f"/opt/.venv/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
_MAKE_S, _ENTER_S, _COPY_S = 900, 600, 600


class Layout(Struct, frozen=True, kw_only=True):
    """What an image consists of.

    Args:
        name: of the folder with its disks.
        disks: how many.
        level: of the array with the root, as mdadm takes it.
        above: what stands on it: "", "lvm" or "luks".
    """

    name: str
    disks: int = 2
    level: str = "raid1"
    above: str = ""

    @property
    def root_device(self) -> str:
        """What has the root file system."""
        return {"": "/dev/md0", "lvm": "/dev/vg0/root", "luks": "/dev/mapper/safe"}[self.above]


LAYOUTS = {
    each.name: each
    for each in (
        Layout(name="raid1"),
        Layout(name="raid10", disks=4, level="raid10"),
        Layout(name="lvm", above="lvm"),
        Layout(name="luks", above="luks"),
    )
}

_PARTITIONS = """
set -e
letters=$(echo a b c d | cut -d' ' -f1-{disks})
for x in $letters; do
    sgdisk -Z -n 1:2048:+1M -t 1:ef02 -n 2:0:+40M -t 2:ef00 -n 3:0:+{root_mib}M -t 3:fd00 \
        -n 4:0:+64M -t 4:fd00 -n 5:0:-1M -t 5:8300 /dev/ubd$x >/dev/null
done
udevadm settle
mdadm --stop --scan 2>/dev/null || true
n=0
for x in $letters; do
    n=$((n+1))
    mkfs.vfat -F 32 -n ESP$n -i AAAA000$n /dev/ubd${{x}}2 >/dev/null
done
created="--metadata=1.2 --bitmap=none --assume-clean --run"
mdadm --create /dev/md0 --level={level} --raid-devices={disks} $created \
    --homehost=proof --name=root --uuid={root_array} $(for x in $letters; do echo /dev/ubd${{x}}3; done)
mdadm --create /dev/md1 --level=1 --raid-devices={disks} $created \
    --homehost=proof --name=srv --uuid={srv_array} $(for x in $letters; do echo /dev/ubd${{x}}4; done)
"""
_ABOVE = {
    "": "",
    "lvm": """
pvcreate -qq -y /dev/md0
vgcreate -qq vg0 /dev/md0
lvcreate -qq -y -n root -l 100%FREE vg0
""",
    "luks": """
printf proof >/run/key
cryptsetup luksFormat -q --uuid {luks_uuid} --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/md0 /run/key
cryptsetup open --key-file /run/key /dev/md0 safe
""",
}
_OPEN = {
    "": "",
    "lvm": "vgchange -qq -ay vg0; udevadm settle",
    "luks": "printf proof >/run/key; cryptsetup open --key-file /run/key /dev/md0 safe",
}
_CLOSE = {"": "", "lvm": "vgchange -qq -an vg0", "luks": "cryptsetup close safe"}
_FILL = """
mkfs.ext4 -q -m0 -U {root_uuid} {root_device}
mkfs.ext4 -q -m0 -U {srv_uuid} /dev/md1
mkdir -p /run/m
mount {root_device} /run/m
{boot}
cp -a {tree}/. /run/m/
if [ -n "{boot}" ]; then
    sed -i 's, /srv , /boot ,' /run/m/etc/fstab
    mkdir -p /run/m/etc/keys
    printf proof >/run/m/etc/keys/safe.key
    chmod 600 /run/m/etc/keys/safe.key
    echo '{crypttab}' >/run/m/etc/crypttab
    umount /run/m/boot
fi
umount /run/m
{close}
mdadm --stop --scan
"""
_BOOT = "mkdir -p /run/m/boot; mount /dev/md1 /run/m/boot"
_ENTER = """
set -e
udevadm settle
vgchange -qq -an 2>/dev/null || true
mdadm --stop --scan 2>/dev/null || true
mdadm --assemble --run /dev/md0 --uuid={root_array} /dev/ubd[a-d]3
mdadm --assemble --run /dev/md1 --uuid={srv_array} /dev/ubd[a-d]4
udevadm settle
{open}
mkdir -p /run/m
mount {root_device} /run/m
{boot}
mount --bind /dev /run/m/dev
mount --bind /run /run/m/run
mount -t proc proc /run/m/proc
mount -t sysfs sys /run/m/sys
mount --bind /run/lab /run/m/mnt
mount --bind {repository} /run/m/opt
set +e
chroot /run/m /bin/bash -c "$WORDS"
status=$?
set -e
[ -z "{boot}" ] || umount /run/m/boot
umount /run/m/opt /run/m/mnt /run/m/sys /run/m/proc /run/m/run /run/m/dev
umount /run/m
{close}
sync
mdadm --stop --scan
exit $status
"""


class ImageGuest(UmlGuest):
    """A guest whose disks are images that stay."""

    @classmethod
    def on(cls, folder: Path, disks: int) -> Self:
        """Start a guest on the images of a folder, which are made empty where they are not there.

        Raises:
            LabMissingError: this machine lacks something.
            GuestDiedError: the guest did not come up.
        """
        parts = find_parts()
        guest = cls(Path(tempfile.mkdtemp(prefix="raidtui-proof.")), DISK_MIB)
        try:
            guest._parts, guest._mem_mib = parts, 1024
            furnish(guest.folder, parts, disks=0, size_mib=DISK_MIB)
            guest._files = image_files(folder, disks)
            for file in guest._files:
                if not file.exists():
                    make_sparse(file, DISK_MIB)
            guest.switch_on()
        except BaseException:
            guest.shutdown()
            raise
        return guest

    def make(self, layout: Layout, tree: Path) -> None:
        """Make a whole system on the empty disks, without boot loaders.

        Raises:
            AssertionError: a command failed; the text has what it wrote.
        """
        words = _PARTITIONS + _ABOVE[layout.above] + _FILL
        done = self.run(_filled(words, layout, tree=str(tree)), timeout=_MAKE_S)
        assert done.status == 0, done.output

    def enter(self, layout: Layout, script: str, *, timeout: float = _ENTER_S) -> Result:
        """Run a script in the system on the disks, by chroot; this guest's shared folder is its /mnt."""
        words = _filled(_ENTER, layout)
        return self.run(words, timeout=timeout, env={"WORDS": script, "HOME": "/root"})

    def verdict(self, layout: Layout, *, uefi: bool) -> tuple[dict[str, Any], bytes]:
        """Return what `raidtui boot-check --json` says in the system on the disks, and what it has read.

        Raises:
            AssertionError: it says nothing; the text has what it wrote.
        """
        # This guest has no firmware; OVMF's variables are empty, too.
        prepare = "mount -t tmpfs none /sys/firmware; mkdir -p /sys/firmware/efi/efivars" if uefi else ""
        words = (
            f"{prepare}\nexport PYTHONPATH={':'.join(_PLACES)} PYTHONDONTWRITEBYTECODE=1\n"
            "python3 -m raidtui boot-check --json >/mnt/verdict\n"
            "python3 -m tests.boot_proof.noted /mnt/noted\n"
            "umount /sys/firmware 2>/dev/null; true"
        )
        done = self.enter(layout, words)
        assert done.status == 0, done.output
        text = self.get("verdict")
        assert text.startswith(b"{"), done.output
        return json.loads(text), self.get("noted")

    def close(self) -> None:
        """End the guest when all has been written to the images."""
        self.run("mdadm --stop --scan; sync")
        self.flush()
        self.shutdown()


def image_files(folder: Path, disks: int) -> tuple[Path, ...]:
    """Return the paths of the disks' files."""
    return tuple(folder / f"ubd{letter}" for letter in "abcd"[:disks])


def copy_images(source: Path, target: Path, disks: int) -> None:
    """Copy the disks of an image, sparse, in place of what is there."""
    target.mkdir(parents=True, exist_ok=True)
    for old, new in zip(image_files(source, disks), image_files(target, disks), strict=True):
        words = ("--sparse=always", "--reflink=auto", "--", str(old), str(new))
        subprocess.run(("cp", *words), check=True, timeout=_COPY_S)


def _filled(words: str, layout: Layout, **more: str) -> str:
    return words.format(
        disks=layout.disks,
        level=layout.level,
        root_mib=900 if layout.level == "raid1" else 520,
        root_device=layout.root_device,
        root_array=ARRAYS[0],
        srv_array=ARRAYS[1],
        root_uuid=ROOT_UUID,
        srv_uuid=SRV_UUID,
        open=_OPEN[layout.above],
        close=_CLOSE[layout.above],
        boot=_BOOT if layout.above == "luks" else "",
        luks_uuid=LUKS_UUID,
        crypttab=CRYPTTAB,
        repository=str(REPOSITORY),
        **more,
    )
