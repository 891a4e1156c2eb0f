"""What a plan is made from: devices with what is on them, files, mdadm's version."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from raidtui.host.examine import read_above, read_device
from raidtui.host.md.mdadm import MdadmSilentError
from raidtui.host.md.superblock import read_superblock
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.reading import read_survey
from raidtui.host.tools import output_path
from raidtui.model.answer import AnswerKind, known
from raidtui.model.disk import Disk, Use
from raidtui.model.refuse_silence import AGAIN, refuse_silence
from raidtui.model.survey import Device, Reference, Superblock, Survey
from tests.hosts.trees import host_tree, raid1, snapshot_of

VERSION = output_path(("mdadm", "--version"))
CONF, OTHER_CONF = "/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"
SPEC = raid1(members=("sda2", "sdb2"))
TREE = host_tree(
    SPEC,
    disks={
        "sda": {"model": "INTEL", "serial": "PHWL5184", "wwn": "0x55cd", "size": "1000"},
        "nvme0n1": {"serial": "S3EV", "rotational": "1"},
        "cciss/c0d0": {},
    },
    mdadm=True,
)
EMPTY = snapshot_of(host_tree())
SUPERBLOCK = Superblock(
    uuid=SPEC.array_uuid,
    name="nas:root",
    level="raid1",
    raid_disks=2,
    events=17,
    updated_s=1_795_209_977.0,
)


def examine(device: str) -> str:
    """Return where the output of mdadm --examine is."""
    return output_path(("mdadm", "--examine", "--export", f"/dev/{device}"))


def test_a_survey() -> None:
    root = TREE.root()
    node = "/sys/class/block"
    root.put(VERSION, "exit 0\nmdadm - v4.2 - 2021-12-30\n")
    root.put(CONF, b"# caf\xe9\nHOMEHOST <system>\n")
    root.put("/etc/fstab", "/dev/md/root / ext4 defaults 0 1\n\n")
    root.put("/etc/passwd", "root:x:0:0\n")
    for path, text in {
        "sda/queue/logical_block_size": "4096",
        "sda/queue/optimal_io_size": "262144",
        "sda/queue/discard_max_bytes": "2147450880",
        "sda2/start": "2048",
        "sda2/ro": "1",
        "nvme0n1/ro": "0",
        "nvme0n1/queue/discard_max_bytes": "0",
        "cciss!c0d0/size": "8",
        "cciss!c0d0/queue/logical_block_size": "512",
    }.items():
        root.put(f"{node}/{path}", f"{text}\n")
    snapshot = snapshot_of(TREE)
    sda2 = Device(
        disk=Disk(
            name="sda2",
            disk="sda",
            dev="8:2",
            size_bytes=440401920 * 512,
            model="INTEL",
            serial="PHWL5184",
            wwn="0x55cd",
            rotational=False,
            uses=(Use(kind="signature", what="linux_raid_member"),),
        ),
        superblock=SUPERBLOCK,
        read_only=True,
        sector_bytes=4096,
        start_bytes=1 << 20,
        optimal_bytes=262144,
        discards=True,
        probed=known((Use(kind="signature", what="linux_raid_member"),)),
    )
    nvme = Device(
        disk=Disk(
            name="nvme0n1",
            disk="nvme0n1",
            dev=TREE.files[f"{node}/nvme0n1/dev"].strip(),
            size_bytes=468_862_128 * 512,
            model="SSDSC2BB240G4",
            serial="S3EV",
            wwn="0x55cd2e4s3ev",
            rotational=True,
        ),
        probed=known(()),
    )
    found = read_survey(root, snapshot, ("sda2", "nvme0n1", "cciss/c0d0", "sdz"))
    assert found.mdadm.value == (4, 2)
    slashed = found.devices["cciss/c0d0"]
    assert found == Survey(
        snapshot=snapshot,
        devices={"sda2": sda2, "nvme0n1": nvme, "cciss/c0d0": slashed},
        named=(Reference(path="/etc/fstab", line=1, text="/dev/md/root", devices=("md126",)),),
        texts={CONF: "# caf\xe9\nHOMEHOST <system>\n", "/etc/fstab": "/dev/md/root / ext4 defaults 0 1\n\n"},
        conf_path=CONF,
        mdadm=found.mdadm,
        homehost="nas",
        above={name: found.above[name] for name in ("md126",)},
    )
    assert (slashed.disk.size_bytes, slashed.sector_bytes, slashed.path) == (4096, 512, "/dev/cciss/c0d0")
    assert (sda2.aligned, sda2.path) == (True, "/dev/sda2")


def test_a_survey_of_an_empty_host() -> None:
    found = read_survey(MemoryReader({}), EMPTY)
    assert found.mdadm.kind is AnswerKind.NOT_ASKED
    assert found == Survey(snapshot=EMPTY, conf_path=OTHER_CONF, mdadm=found.mdadm)


@pytest.mark.parametrize(
    ("paths", "conf_path"),
    [
        ((CONF,), CONF),
        ((OTHER_CONF,), OTHER_CONF),
        ((CONF, OTHER_CONF), CONF),
        ((OTHER_CONF, "/etc/debian_version"), OTHER_CONF),
        (("/etc/debian_version",), CONF),
        (("/etc/mdadm/something",), CONF),
        (("/etc/redhat-release",), OTHER_CONF),
    ],
)
def test_where_mdadms_configuration_is(paths: tuple[str, ...], conf_path: str) -> None:
    assert read_survey(MemoryReader(dict.fromkeys(paths, "")), EMPTY).conf_path == conf_path


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ("exit 0\nmdadm - v4.2 - 2021-12-30\n", (4, 2)),
        ("exit 0\nmdadm - v4.4 - 2024-11-07 - Debian 4.4-11\n", (4, 4)),
        ("exit 0\nmdadm - v4.3-rc1 - 2023-12-14\n", (4, 3)),
        ("exit 0\nmdadm - v4.4-15-g21e4efb1 - 2025-01-10\n", (4, 4)),
        ("exit 0\nmdadm - v3.2.5 - 18th May 2012\n", (3, 2)),
        ("exit 0\nmdadm - v10.11 - 2031-01-01\n", (10, 11)),
    ],
)
def test_mdadms_version(output: str, version: tuple[int, ...]) -> None:
    assert read_survey(MemoryReader({VERSION: output}), EMPTY).mdadm.value == version


@pytest.mark.parametrize(
    ("output", "code", "sentence"),
    [
        (
            "exit 0\nmdadm\n",
            "no-answer",
            "mdadm --version prints no version; run it by hand to see what it says: mdadm --version",
        ),
        ("exit 0\nmdadm - v².³\n", "no-answer", None),
        (f"exit 0\nmdadm - v{'9' * 50}.1\n", "no-answer", None),
        (
            "exit 1\nlibudev: not found\n",
            "no-answer",
            "mdadm failed (1): libudev: not found; run it by hand to see what it says: mdadm --version",
        ),
        ("", "no-answer", None),
        (None, "no-answer", "mdadm was not run for this capture; run raidtui as root"),
        (
            "timed-out\nmdadm did not answer within 10 s",
            "no-answer",
            f"mdadm did not answer within 10 s; {AGAIN}",
        ),
        ("refused\n/sbin/mdadm: Permission denied", "no-answer", None),
        ("no-tool\nmdadm is not installed", "no-tool", "mdadm is not installed; apt install mdadm"),
    ],
)
def test_mdadms_version_that_is_not_known(output: str | None, code: str, sentence: str | None) -> None:
    version = read_survey(MemoryReader({} if output is None else {VERSION: output}), EMPTY).mdadm
    refusal = refuse_silence(version, package="mdadm")
    assert refusal is not None
    assert refusal.code == code
    assert sentence in {None, refusal.sentence}


FULL = (
    "exit 0\nMD_LEVEL=raid6\nMD_DEVICES=4\nMD_NAME=nas:backup\nMD_METADATA=1.2\n"
    "MD_UUID=8d0b1f2a:11111111:22222222:33333333\nMD_DEV_UUID=0a0b0c0d:44444444:55555555:66666666\n"
    "MD_UPDATE_TIME=1795209977\nMD_EVENTS=0\n"
)
READ = Superblock(
    uuid="8d0b1f2a:11111111:22222222:33333333",
    name="nas:backup",
    level="raid6",
    raid_disks=4,
    metadata="1.2",
    device_uuid="0a0b0c0d:44444444:55555555:66666666",
    events=0,
    updated_s=1_795_209_977.0,
)


@pytest.mark.parametrize(
    ("output", "found", "label"),
    [
        (FULL, READ, "backup"),
        (FULL.replace("nas:", ""), replace(READ, name="backup"), "backup"),
        (FULL.replace("MD_NAME=nas:backup\n", ""), replace(READ, name=None), "8d0b1f2a"),
        (
            FULL.replace("1795209977", "Sat Nov 21 10:00:00 2026"),
            replace(READ, updated_s=1_795_255_200.0),
            "backup",
        ),
        (FULL.replace("1795209977", "soon"), replace(READ, updated_s=None), "backup"),
        (FULL.replace("MD_DEVICES=4", "MD_DEVICES=²"), replace(READ, raid_disks=None), "backup"),
        (
            "exit 0\nMD_METADATA=imsm\nMD_LEVEL=container\n",
            Superblock(uuid=None, level="container", metadata="imsm"),
            "unknown",
        ),
    ],
)
def test_a_superblock(output: str, found: Superblock, label: str) -> None:
    read = read_superblock(MemoryReader({examine("sda"): output}), "sda")
    assert (read, found.label) == (found, label)


@pytest.mark.parametrize(
    "output",
    [
        None,
        "exit 1\n",
        "exit 1\nmdadm: No md superblock\n",
        "exit 0\n",
        "exit 0\nMD_METADATA=1.2\n",
    ],
)
def test_no_superblock(output: str | None) -> None:
    root = MemoryReader({} if output is None else {examine("sda"): output})
    assert read_superblock(root, "sda") is None


_A_MEMBER = {
    "/sys/class/block/sda/dev": "8:0\n",
    "/sys/class/block/sda/size": "2048\n",
    "/run/udev/data/b8:0": "E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_USAGE=raid\n",
}


@pytest.mark.parametrize("output", ["exit 1\n", "exit 1\ngarbage\n", "exit 0\n", "exit 0\nMD_METADATA=1.2\n"])
def test_a_status_alone_does_not_say_that_there_is_no_superblock(output: str) -> None:
    """Exit status 1 is also that of a device that cannot be opened: blkid is the second witness."""
    with pytest.raises(MdadmSilentError, match="blkid finds a superblock"):
        read_superblock(MemoryReader({**_A_MEMBER, examine("sda"): output}), "sda")


def test_a_device_that_is_gone_has_none() -> None:
    """A job goes on undoing what it did to the others."""
    said = "exit 1\nmdadm: cannot open /dev/sda: No such file or directory\n"
    assert read_superblock(MemoryReader({examine("sda"): said}), "sda") is None


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("exit 0\nx\n", "mdadm printed a line that is not KEY=value: 'x'"),
        ("exit 2\nmdadm: what?\n", "mdadm --examine /dev/sda: mdadm: what?"),
        ("timed-out\nmdadm did not answer within 20 s", "mdadm did not answer within 20 s"),
        ("refused\n/sbin/mdadm: Permission denied", "/sbin/mdadm: Permission denied"),
    ],
)
def test_a_superblock_of_which_mdadm_does_not_speak(output: str, why: str) -> None:
    """That is not "it has none"."""
    with pytest.raises(MdadmSilentError, match=re.escape(why)):
        read_superblock(MemoryReader({examine("sda"): output}), "sda")


@pytest.mark.parametrize(
    ("start", "optimal", "aligned"),
    [
        ("2048", "", True),
        ("63", "", False),
        ("2048", "1048576", True),
        ("2048", "16777216", False),
        ("32768", "16777216", True),
        ("", "", True),
    ],
)
def test_alignment(start: str, optimal: str, *, aligned: bool) -> None:
    root = TREE.root()
    root.put("/sys/class/block/sda2/start", start)
    root.put("/sys/class/block/sda/queue/optimal_io_size", optimal)
    assert read_device(root, "sda2").aligned is aligned


def test_what_is_stacked_on_arrays() -> None:
    """From an array over its partitions and holders to what is mounted at the top; each is read once."""
    block = "/sys/class/block"
    root = MemoryReader({
        **{
            f"{block}/{name}/{key}": text
            for name, number in (("md0", "9:0"), ("dm-0", "253:0"), ("dm-1", "253:1"))
            for key, text in (("dev", number), ("size", "2048"))
        },
        f"{block}/md0/md0p1/partition": "1\n",
        f"{block}/md0p1/partition": "1\n",
        f"{block}/md0p1/dev": "259:0\n",
        f"{block}/md0p1/size": "1024\n",
        f"{block}/md0/holders/dm-0": "",
        f"{block}/dm-0/holders/dm-1": "",
        f"{block}/dm-1/dm/name": "safe\n",
        "/proc/self/mountinfo": "36 35 253:1 / /srv rw - xfs /dev/mapper/safe rw\n"
        "37 35 259:0 / /boot rw - ext4 /dev/md0p1 rw\n",
    })  # fmt: skip
    found = read_above(root, ["md0", "md1"])
    assert sorted(found) == ["dm-0", "dm-1", "md0", "md0p1"]
    assert found["dm-1"].users == "xfs mounted at /srv"
    assert found["dm-0"].users == "held by dm-1 (safe)"
    assert found["md0p1"].users == "ext4 mounted at /boot"
