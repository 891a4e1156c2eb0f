"""The cases: an image that is as it should be, and ways to break it."""

from collections.abc import Mapping

from msgspec import Struct, field

from tests.boot_proof.tree import ARRAYS, CRYPTTAB, DRACUT, MAKER, MDADM_CONF


class Case(Struct, frozen=True, kw_only=True):
    """One image.

    Args:
        layout: by its name.
        uefi: the firmware that boots it.
        initramfs: which one it has.
        script: what is done to the healthy image, by chroot; the shared folder is /mnt.
        inside: what is done once after that on the machine that boots, whose firmware's variables stay.
    """

    layout: str = "raid1"
    uefi: bool = False
    initramfs: str = "plain"
    script: str = ""
    inside: str = ""


class Variant(Struct, frozen=True, kw_only=True):
    """An initramfs: what is in the tree when it is made, and what its last hook does."""

    files: Mapping[str, str] = field(default_factory=dict)
    hook: str = ""
    maker: tuple[str, ...] = MAKER


LOADERS = """
set -e
number=0
for disk in $(ls /dev/ubd? | sort); do
    grub-install --target=i386-pc --modules=part_gpt $disk
    mkdir -p /run/esp
    mount -t vfat ${disk}2 /run/esp
    grub-install --target=x86_64-efi --efi-directory=/run/esp --no-nvram --removable --modules=part_gpt
    umount /run/esp
done
update-grub
"""
"""GRUB on every disk. In this guest GRUB does not find out by itself which partition table it has to read."""

_OTHER = "99999999:88888888:77777777:66666666"
_STALE_CONF = MDADM_CONF.replace(ARRAYS[0], _OTHER).replace("name=proof:root", "name=proof:old")
_ONE_CONF = "".join(line for line in MDADM_CONF.splitlines(keepends=True) if "md1" not in line)
VARIANTS = {
    "plain": Variant(),
    "stale": Variant(files={"etc/mdadm/mdadm.conf": _STALE_CONF}),
    "no-auto": Variant(files={"etc/mdadm/mdadm.conf": _STALE_CONF + "AUTO -all\n"}),
    "no-lines": Variant(
        files={"etc/mdadm/mdadm.conf": "HOMEHOST proof\nMAILADDR root\n"},
        hook="echo HOMEHOST proof >etc/mdadm/mdadm.conf",
    ),
    "foreign": Variant(files={"etc/mdadm/mdadm.conf": _ONE_CONF}),
    "no-module": Variant(hook="rm usr/lib/modules/*/kernel/drivers/md/raid1.ko"),
    "no-script": Variant(hook="rm scripts/local-block/mdadm"),
    "dracut": Variant(maker=DRACUT),
    "no-mdadm": Variant(hook="rm usr/sbin/mdadm"),
    "no-lvm": Variant(hook="rm usr/sbin/lvm usr/sbin/vgchange"),
    "luks": Variant(
        files={
            "etc/crypttab": f"{CRYPTTAB}\n",
            "etc/keys/safe.key": "proof",
            "etc/cryptsetup-initramfs/conf-hook": "KEYFILE_PATTERN=/etc/keys/*.key\nUMASK=0077\n",
        }
    ),
}

_OTHER_CORE = """
set -e
mkdir -p /root/other
grub-mkimage -O {format} -o /root/other/core -p '(mduuid/99999999888888887777777766666666)/boot/grub' \
    part_gpt diskfilter mdraid1x ext2 {more}
"""
_RAIDTUI = """
set -e
printf '/opt\\n%s\\n' /opt/.venv/lib/python3.*/site-packages >/usr/lib/python3/dist-packages/proof.pth
mv /usr/sbin/grub-install /usr/sbin/grub-install.own
printf '#!/bin/sh\\nexec /usr/sbin/grub-install.own --modules=part_gpt "$@"\\n' >/usr/sbin/grub-install
chmod 755 /usr/sbin/grub-install
mend() {
    python3 -m raidtui plan boot "$@" --json >/run/plan.json
    python3 -m raidtui apply /run/plan.json
}
"""
"""raidtui's own plans in an image; GRUB does not find out by itself there which partition table it reads."""

_BROUGHT = """
mkdir -p /usr/local/lib/proof
cp -a /opt/raidtui /usr/local/lib/proof/
cd /opt/.venv/lib/python3.*/site-packages
for name in *; do
    case $name in mypy*|ruff*|hypothesis*|pip*|ansible*|cryptography*|apprise*|*.so) continue ;; esac
    cp -a "$name" /usr/local/lib/proof/
done
rm -f /usr/local/lib/proof/*.pth
"""
"""raidtui and what it needs, in the image: the machine that boots has no other host's folders."""
TO_RUN_INSIDE = """
set -e
install -m 755 /mnt/inside /usr/local/sbin/proof-inside
cat >/usr/local/sbin/proof-begin <<'END'
#!/bin/sh
exec >/dev/ttyS0 2>&1
once=/usr/local/sbin/proof-inside
if [ -x $once ]; then
    sh $once
    rm $once
    sync
fi
efibootmgr | grep "^Boot"
END
chmod 755 /usr/local/sbin/proof-begin
cat >/etc/systemd/system/proof-begin.service <<'END'
[Unit]
DefaultDependencies=no
After=local-fs.target
Before=boot-proof.service
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/proof-begin
END
ln -s ../proof-begin.service /etc/systemd/system/sysinit.target.wants/
"""
"""/mnt/inside is run once by the machine that boots; at each boot it prints the firmware's entries."""
_MENDED_INSIDE = """
export PYTHONPATH=/usr/local/lib/proof PYTHONDONTWRITEBYTECODE=1
mountpoint -q /sys/firmware/efi/efivars || mount -t efivarfs efivarfs /sys/firmware/efi/efivars
efibootmgr
python3 -m raidtui boot-check --json
python3 -m raidtui plan boot loader vdb --json >/run/plan.json && python3 -m raidtui apply /run/plan.json
efibootmgr --verbose
python3 -m raidtui boot-check --json
"""
_ROOTDELAY = "sed -i 's,root=[^ ]*,& rootdelay={},' /boot/grub/grub.cfg"
CASES: dict[str, Case] = {
    "healthy": Case(),
    "no-boot-code": Case(script="dd if=/dev/zero of=/dev/ubdb bs=440 count=1 conv=notrunc"),
    "uefi-empty-esp": Case(
        uefi=True, script="mount -t vfat /dev/ubdb2 /media && rm -r /media/EFI; umount /media"
    ),
    "core-cannot-read": Case(script=LOADERS.replace("--modules=part_gpt", "")),
    "core-damaged": Case(
        script=_OTHER_CORE.format(format="i386-pc", more="biosdisk")
        + "cp /usr/lib/grub/i386-pc/boot.img /root/other/; cd /usr/lib/grub/i386-pc\n"
        "./grub-bios-setup --directory=/root/other --core-image=core --skip-fs-probe /dev/ubdb\n"
        "dd if=/dev/zero of=/dev/ubda1 bs=1M count=1 conv=notrunc"
    ),
    "uefi-stale-loader": Case(
        uefi=True,
        script=_OTHER_CORE.format(format="x86_64-efi", more="fat")
        + "mount -t vfat /dev/ubdb2 /media; cp /root/other/core /media/EFI/BOOT/BOOTX64.EFI; umount /media\n"
        "dd if=/dev/zero of=/dev/ubda2 bs=1M count=4 conv=notrunc",
    ),
    "esp-in-fstab": Case(script="sed -i 's/,nofail,x-systemd.device-timeout=5s//' /etc/fstab"),
    "no-auto": Case(initramfs="no-auto"),
    "mended": Case(
        initramfs="no-auto",
        script="dd if=/dev/zero of=/dev/ubdb bs=440 count=1 conv=notrunc\n"
        "sed -i 's/,nofail,x-systemd.device-timeout=5s//' /etc/fstab\n"
        + _RAIDTUI
        + "mend loader ubdb\nmend fstab 2\nmend initramfs $(ls /lib/modules)",
    ),
    "stale-conf": Case(initramfs="stale"),
    "degraded": Case(
        script="mdadm /dev/md0 --fail /dev/ubdb3; udevadm settle; mdadm /dev/md0 --remove /dev/ubdb3"
    ),
    "stale-conf-by-name": Case(
        initramfs="stale", script="sed -i 's,root=UUID=[^ ]*,root=/dev/md0,' /boot/grub/grub.cfg"
    ),
    "no-degraded-start": Case(initramfs="no-script"),
    "no-module": Case(initramfs="no-module"),
    "luks": Case(layout="luks", initramfs="luks"),
    "luks-rootdelay": Case(
        layout="luks",
        initramfs="luks",
        script=_ROOTDELAY.format(180),
    ),
    "rootdelay": Case(script=_ROOTDELAY.format(40)),
    "lvm-rootdelay": Case(layout="lvm", script=_ROOTDELAY.format(40)),
    "data-on-one": Case(
        script="mkfs.ext4 -q -U 99999999-aaaa-4bbb-cccc-dddddddddddd /dev/ubda5; mkdir /data\n"
        "echo 'UUID=99999999-aaaa-4bbb-cccc-dddddddddddd /data ext4 defaults 0 2' >>/etc/fstab"
    ),
    "foreign-array": Case(
        initramfs="foreign",
        script="sed -i '/md1/d' /etc/mdadm/mdadm.conf; mdadm --stop /dev/md1\n"
        "mdadm --assemble /dev/md1 --update=name --name=srv --homehost=elsewhere /dev/ubd[ab]4\n"
        "mdadm --detail --export /dev/md1",
    ),
    "lvm": Case(layout="lvm"),
    "raid10": Case(layout="raid10"),
    "uefi-healthy": Case(uefi=True),
    "uefi-mended": Case(
        uefi=True,
        script="mount -t vfat /dev/ubdb2 /media && rm -r /media/EFI; umount /media\n"
        + _RAIDTUI
        + "mount -t tmpfs none /sys/firmware; mkdir -p /sys/firmware/efi/efivars\n"
        "mend loader ubdb\numount /sys/firmware",
    ),
    "uefi-entered": Case(
        uefi=True,
        script="mount -t vfat /dev/ubdb2 /media && rm -r /media/EFI; umount /media\n" + _BROUGHT,
        inside=_MENDED_INSIDE,
    ),
    "swap-on-one": Case(
        script="mkswap -U 88888888-9999-4aaa-bbbb-cccccccccccc /dev/ubda5\n"
        "echo 'UUID=88888888-9999-4aaa-bbbb-cccccccccccc none swap sw 0 0' >>/etc/fstab"
    ),
    "lvm-without-lvm": Case(layout="lvm", initramfs="no-lvm"),
    "no-lines": Case(initramfs="no-lines"),
    "dracut": Case(initramfs="dracut", script="sed -i 's,root=UUID=[^ ]*,& rd.auto=1,' /boot/grub/grub.cfg"),
    "dracut-no-rd-auto": Case(initramfs="dracut"),
}
"""In the order in which they are booted."""
