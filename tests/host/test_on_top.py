"""Facts of LVM, of file systems and of systemd's units, in the tools' own words."""

from __future__ import annotations

import pytest

from raidtui.host.facts import why_not
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.fact import Fact, FactKind

ARRAY, VOLUME = "/dev/md/127", "vg127/data"
EXTENTS = ("pvs", "--noheadings", "--nosuffix", "--units", "b", "--options", "pe_start", ARRAY)
GROUP = ("pvs", "--noheadings", "--options", "vg_name", ARRAY)
STRIPES = (
    *("lvs", "--noheadings", "--nosuffix", "--units", "k", "--separator", ","),
    *("--options", "stripes,stripe_size", VOLUME),
)
TUNE = ("tune2fs", "-l", "/dev/vg127/data")
XFS = ("xfs_info", "/dev/vg127/data")
ENABLED = ("systemctl", "is-enabled", "fstrim.timer")
ACTIVE = ("systemctl", "is-active", "fstrim.timer")


def sentence(argv: tuple[str, ...], output: str | None, kind: FactKind, subject: str, value: str = "") -> str:
    """Return why a fact does not hold where the tool says this; None: it was never run."""
    root = MemoryReader({} if output is None else {output_path(argv): output})
    return why_not(root, Fact(kind=kind, subject=subject, value=value))


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        ("exit 0\n  1048576   \n", "65536", ""),
        ("exit 0\n  1572864\n", "1572864", ""),
        (
            "exit 0\n  1048576\n",
            "1572864",
            "the data on /dev/md/127 start at byte 1048576, which is not a multiple of 1572864",
        ),
        (
            "exit 0\n  1048576\n",
            "0",
            "the data on /dev/md/127 start at byte 1048576, which is not a multiple of 0",
        ),
        ("exit 5\n", "65536", "/dev/md/127 is not a physical volume"),
        ("exit 0\n\n", "65536", "/dev/md/127 is not a physical volume"),
        (None, "65536", "/dev/md/127 cannot be examined: pvs was not run for this capture"),
    ],
)
def test_where_data_begin(output: str | None, value: str, expected: str) -> None:
    assert sentence(EXTENTS, output, FactKind.EXTENTS, ARRAY, value) == expected


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        ("exit 0\n  vg127  \n", "vg127", ""),
        ("exit 0\n         \n", "", ""),
        ("exit 5\n", "", ""),
        ("exit 0\n  vg127\n", "", "/dev/md/127 is in the volume group vg127"),
        ("exit 0\n  vg126\n", "vg127", "/dev/md/127 is in the volume group vg126"),
        ("exit 0\n  \n", "vg127", "/dev/md/127 is in no volume group"),
        ("exit 5\n", "vg127", "/dev/md/127 is in no volume group"),
        (None, "", "/dev/md/127 cannot be examined: pvs was not run for this capture"),
    ],
)
def test_in_which_group(output: str | None, value: str, expected: str) -> None:
    assert sentence(GROUP, output, FactKind.GROUP, ARRAY, value) == expected


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        ("exit 0\n  1,0\n", "linear", ""),
        ("exit 0\n  2,64.00\n", "2x64", ""),
        ("exit 0\n  2,64.00\n  2,64.00\n", "2x64", ""),  # a row for each segment
        ("exit 5\n", "", ""),
        ("exit 0\n  2,64.00\n", "linear", "the volume vg127/data is 2x64"),
        ("exit 0\n  3,4096.00\n", "2x64", "the volume vg127/data is 3x4096"),
        ("exit 0\n  2,64.00\n  1,0\n", "2x64", "the volume vg127/data is 2x64 and linear"),
        ("exit 0\n  1,0\n", "", "the volume vg127/data is linear"),
        ("exit 5\n", "linear", "there is no volume vg127/data"),
        (None, "", "vg127/data cannot be examined: lvs was not run for this capture"),
    ],
)
def test_a_volume(output: str | None, value: str, expected: str) -> None:
    assert sentence(STRIPES, output, FactKind.VOLUME, VOLUME, value) == expected


TUNE2FS = """exit 0
tune2fs 1.47.0 (5-Feb-2023)
Filesystem volume name:   <none>
Last mounted on:          <not available>
Filesystem created:       Sat Nov 21 10:00:00 2026
Journal backup:           inode blocks
RAID stride:              8
RAID stripe width:        16
"""
REPORTED = "stride=8,stripe_width=16"
DEVICE = "/dev/vg127/data"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (TUNE2FS, ""),
        (
            TUNE2FS.replace("16\n", "32\n"),
            "the file system on /dev/vg127/data has stride=8,stripe_width=32",
        ),
        # mke2fs 1.47.3 where it guesses: no width on SSDs
        (
            TUNE2FS.replace("RAID stripe width:        16\n", ""),
            "the file system on /dev/vg127/data has stride=8",
        ),
        ("exit 0\n", "the file system on /dev/vg127/data has no geometry"),
        (
            "exit 1\ntune2fs: Bad magic number\n",
            "/dev/vg127/data cannot be examined: tune2fs: Bad magic number",
        ),
        (None, "/dev/vg127/data cannot be examined: tune2fs was not run for this capture"),
    ],
)
def test_the_geometry_of_ext4(output: str | None, expected: str) -> None:
    assert sentence(TUNE, output, FactKind.GEOMETRY, DEVICE, REPORTED) == expected


XFS_INFO = """exit 0
meta-data=/dev/md127             isize=512    agcount=8, agsize=55912 blks
         =                       sectsz=512   attr=2, projid32bit=1
data     =                       bsize=4096   blocks=447296, imaxpct=25
         =                       sunit=8      swidth=40 blks
naming   =version 2              bsize=4096   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=16384, version=2
         =                       sectsz=512   sunit=8 blks, lazy-count=1
"""


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        (XFS_INFO, "sunit=8,swidth=40", ""),
        (
            XFS_INFO,
            "sunit=8,swidth=16",
            "the file system on /dev/vg127/data has sunit=8,swidth=40",
        ),
        (
            XFS_INFO.replace("sunit=8      swidth=40", "sunit=0      swidth=0"),
            "sunit=8,swidth=16",
            "the file system on /dev/vg127/data has no geometry",
        ),
        ("exit 0\n", "sunit=8,swidth=16", "the file system on /dev/vg127/data has no geometry"),
        (
            "exit 1\nxfs_info: /dev/vg127/data is not a valid XFS filesystem\n",
            "sunit=8,swidth=16",
            "/dev/vg127/data cannot be examined: xfs_info: /dev/vg127/data is not a valid XFS filesystem",
        ),
    ],
)
def test_the_geometry_of_xfs(output: str, value: str, expected: str) -> None:
    assert sentence(XFS, output, FactKind.GEOMETRY, DEVICE, value) == expected


@pytest.mark.parametrize(
    ("argv", "output", "value", "expected"),
    [
        (ENABLED, "exit 0\nenabled\n", "enabled", ""),
        (ENABLED, "exit 1\ndisabled\n", "disabled", ""),
        (ACTIVE, "exit 0\nactive\n", "active", ""),
        (ACTIVE, "exit 3\ninactive\n", "inactive", ""),
        (ENABLED, "exit 1\ndisabled\n", "enabled", "fstrim.timer is disabled"),
        (ACTIVE, "exit 3\nfailed\n", "active", "fstrim.timer is failed"),
        (ENABLED, "exit 1\n", "enabled", "fstrim.timer is not known to systemd"),
        (
            ENABLED,
            None,
            "enabled",
            "the state of fstrim.timer cannot be read: systemctl was not run for this capture",
        ),
    ],
)
def test_a_unit(argv: tuple[str, ...], output: str | None, value: str, expected: str) -> None:
    assert sentence(argv, output, FactKind.UNIT, "fstrim.timer", value) == expected


MOUNTINFO = "36 35 254:0 / /srv/data rw,noatime shared:1 - ext4 /dev/dm-0 rw\n"


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("/srv/data", "", ""),
        ("/srv", "no", ""),
        ("/srv/data", "no", "something is mounted at /srv/data"),
        ("/srv", "", "nothing is mounted at /srv"),
    ],
)
def test_mounted_or_not(place: str, value: str, expected: str) -> None:
    root = MemoryReader({"/proc/self/mountinfo": MOUNTINFO})
    assert why_not(root, Fact(kind=FactKind.MOUNTED, subject=place, value=value)) == expected
