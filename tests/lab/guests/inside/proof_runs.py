"""Runs in the guest: contents on read-only devices, and what the checks of a trial say of each."""

from __future__ import annotations

import hashlib
from pathlib import Path

from raidtui.features.rescue.trial import trial_opening
from raidtui.features.rescue.trial.trial_checks import Checker
from raidtui.features.rescue.trial.trial_look import mount_read_only
from raidtui.features.rescue.trial.trial_opening import TrialKey
from raidtui.features.rescue.trial.trial_record import TrialFinding, TrialNames
from raidtui.features.rescue.trial.trial_rules import write_hiding_rules
from raidtui.features.rescue.trial.trial_sweep import find_remains, let_go
from raidtui.host.readers.opening import open_root
from tests.lab.guests.inside.runs import sh

PLACE = Path("/var/tmp/proofs")
NAMES = TrialNames(ident="proofs")
# Writes files, forgets some again, and takes the power away in the middle of it: the journal is not empty.
DIRTY = """
cd $MOUNTED && for n in 1 2 3 4 5; do echo $n >f$n; done && cp -r /etc/udev d && sync -f f1 && rm -r d f3
touch z && sync z && cd / && xfs_io -x -c "shutdown -f" $MOUNTED; umount $MOUNTED
"""
ENCRYPTED = (
    f"cryptsetup open --type luks --key-file {PLACE}/key $FILE proofs && mkfs.ext4 -q /dev/mapper/proofs &&"
    " cryptsetup close proofs"
)
CASES = {
    "ext4": ("64M", "mkfs.ext4 -q $FILE"),
    "ext4 not unmounted": ("64M", f"mkfs.ext4 -q $FILE && mount -o loop $FILE $MOUNTED && {DIRTY.strip()}"),
    "ext4 not unmounted, without room": (
        "64M",
        f"mkfs.ext4 -q $FILE && mount -o loop $FILE $MOUNTED && {DIRTY.strip()}",
    ),
    "xfs": ("320M", "mkfs.xfs -q $FILE"),
    "xfs not unmounted": ("320M", f"mkfs.xfs -q $FILE && mount -o loop $FILE $MOUNTED && {DIRTY.strip()}"),
    "xfs with errors": (
        "320M",
        "mkfs.xfs -q $FILE && xfs_db -x -c 'agf 1' -c 'write -d freeblks 1' $FILE >/dev/null",
    ),
    "btrfs": ("128M", "mkfs.btrfs -q $FILE"),
    "btrfs not unmounted": (
        "128M",
        (
            "mkfs.btrfs -q $FILE && mount -o loop $FILE $MOUNTED && cp -r /etc/udev $MOUNTED && sync -f"
            " $MOUNTED && echo z >$MOUNTED/z && sync $MOUNTED/z && cp $FILE $FILE.cut; umount $MOUNTED;"
            " mv $FILE.cut $FILE"
        ),
    ),
    "btrfs with errors": (
        "128M",
        "mkfs.btrfs -q $FILE && dd if=/dev/urandom of=$FILE bs=1M seek=20 count=40 conv=notrunc status=none",
    ),
    "half of a btrfs": (
        "128M",
        (
            "truncate -s 128M $FILE.2 && a=$(losetup -f --show $FILE) && b=$(losetup -f --show $FILE.2) &&"
            " mkfs.btrfs -q -d raid0 $a $b; losetup -d $a $b; rm $FILE.2"
        ),
    ),
    "luks2": ("32M", "$LUKS --type luks2 $FILE"),
    "luks2 without its second header": (
        "32M",
        "$LUKS --type luks2 $FILE && dd if=/dev/zero of=$FILE bs=4k seek=5 count=1 conv=notrunc status=none",
    ),
    "luks1": ("32M", "$LUKS --type luks1 $FILE"),
    "luks2 with its key": ("64M", f"$LUKS --type luks2 $FILE && {ENCRYPTED}"),
    "luks1 with its key": ("64M", f"$LUKS --type luks1 $FILE && {ENCRYPTED}"),
    "luks2 with another key": ("32M", "$LUKS --type luks2 $FILE"),
    "luks2 of nothing with its key": ("32M", "$LUKS --type luks2 $FILE"),
    "swap": ("16M", "mkswap -q $FILE"),
    "noise": ("16M", "dd if=/dev/urandom of=$FILE bs=1M count=16 status=none"),
    "gpt with lvm": (
        "128M",
        (
            "printf 'label: gpt\\nsize=40M\\nsize=60M\\n' | sfdisk -q $FILE &&"
            " d=$(losetup -f --show -P $FILE) && udevadm settle && mkfs.ext4 -q ${d}p1 &&"
            " pvcreate -q ${d}p2 && vgcreate -q proofs ${d}p2 &&"
            " lvcreate -q -y -n data -L 20M proofs && mkfs.ext4 -q /dev/proofs/data &&"
            " vgchange -q -an proofs; udevadm settle; losetup -d $d"
        ),
    ),
    "gpt cut short": (
        "64M",
        (
            "printf 'label: gpt\\nsize=40M\\n' | sfdisk -q $FILE && d=$(losetup -f --show -P $FILE) &&"
            " udevadm settle && mkfs.ext4 -q ${d}p1; losetup -d $d; truncate -s 60M $FILE"
        ),
    ),
    "lvm with another text": (
        "64M",
        (
            "d=$(losetup -f --show $FILE) && pvcreate -q $d && vgcreate -q other $d && vgchange -q -an other;"
            " losetup -d $d; sed -i 's/seqno = 1/seqno = 7/' $FILE"
        ),
    ),
}
LUKS = "cryptsetup luksFormat -q --pbkdf-force-iterations 1000 --key-file /var/tmp/proofs/key"


def judged(names: list[str]) -> dict[str, object]:
    """Make contents, and check them.

    Returns:
        by name: findings (place, contents, check, sure), whether the device is unchanged, what is left.
    """
    found: dict[str, object] = {}
    sh(f"mkdir -p {PLACE} {NAMES.place} /run/udev/rules.d && echo secret >{PLACE}/key")
    sh(f"echo other >{PLACE}/other")
    Path(NAMES.rules).write_text(write_hiding_rules(NAMES))
    sh("udevadm control --reload")
    for name in names:
        size, script = CASES[name]
        file = PLACE / "disk"
        pbkdf = " --pbkdf pbkdf2" if "luks2" in script else ""
        begin = f"set -e; MOUNTED={PLACE}/mounted; FILE={file}; LUKS='{LUKS}{pbkdf}'; mkdir -p $MOUNTED"
        sh(f"{begin}; rm -f $FILE; truncate -s {size} $FILE; set +e; {script}; sync")
        before = hashlib.sha256(file.read_bytes()).hexdigest()
        target = sh(f"losetup --find --show --read-only {file}").strip()
        key = "key" if "its key" in name else "other" if "another key" in name else ""
        vars(trial_opening)["_STORE"] = "16K" if "without room" in name else "1G"
        rows, mounts = looked_at(target, TrialKey(file=f"{PLACE}/{key}") if key else None)
        sh(f"losetup -d {target}")
        same = hashlib.sha256(file.read_bytes()).hexdigest() == before
        left = [each for each in find_remains(open_root("/")) if each not in {NAMES.place, NAMES.rules}]
        found[name] = [rows, mounts, same, left]
    sh(f"rm -rf {PLACE} {NAMES.rules}; rmdir {NAMES.place}; udevadm control --reload")
    return found


def looked_at(target: str, key: TrialKey | None = None) -> tuple[list[tuple[str, str, str, str]], list[str]]:
    """Check a device, and mount what is on it, as a trial does; return the findings, and why not mounted."""
    root = open_root("/")
    checker = Checker(root, PLACE, NAMES, lambda: False, key)
    findings: tuple[TrialFinding, ...] = checker.check(target)
    mounts = [
        mount_read_only(root, path, kind, f"{NAMES.place}/{number}")
        for number, (path, kind) in enumerate(checker.places.values())
    ]
    let_go(root, NAMES, lambda _: None)
    rows = [(each.place, each.proof.contents, str(each.proof.check), each.proof.sure) for each in findings]
    return rows, mounts
