"""A reader runs what only asks, and nothing else."""

from __future__ import annotations

import pytest

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.questions import RULES, only_asks
from raidtui.model.step_rules import TOOLS

CHANGES = (
    "mdadm --stop /dev/md0", "mdadm --zero-superblock /dev/sda", "mdadm /dev/md0 --fail /dev/sda", "mdadm",
    "smartctl -t short /dev/sda", "smartctl -s off /dev/sda", "smartctl -x --test=long /dev/sda",
    "smartctl --json -x -o on /dev/sda", "dmsetup create x", "dmsetup remove x", "dmsetup message x 0 y",
    "systemctl stop mdmonitor", "journalctl --rotate", "wipefs --all /dev/sda", "wipefs /dev/sda",
    "sfdisk --quiet /dev/sda",
    "sfdisk --delete /dev/sda", "tune2fs -L x /dev/sda", "xfs_db -x /dev/sda", "xfs_io -c pwrite /x",
    "debugfs -w -f - /dev/sda", "dmesg --clear", "dmesg -C", "journalctl --vacuum-size=1",
    "ledctl locate=/dev/sda", "blockdev --setro /dev/sda", "blockdev --flushbufs /dev/sda", "blkid -g",
    "blkid --cache-file /etc/x /dev/sda",
    "lvmconfig --file /etc/x", "lvremove --yes x", "rm -f /x", "sh -c x", "udevadm settle", "losetup --find",
    "fio --filename=/dev/sda", "mount /x", "cryptsetup open /dev/sda x", "/usr/sbin/mdadm --detail /dev/md0",
)  # fmt: skip
ASKS = (
    "mdadm --detail --export /dev/md0", "mdadm --examine /dev/sda", "smartctl --json -x -n never /dev/sda",
    "smartctl --scan-open", "dmsetup status --noflush", "systemctl is-enabled fstrim.timer", "fio --version",
    "wipefs --no-act --noheadings /dev/sda", "sfdisk --json /dev/sda", "dmesg --raw", "lsblk --json",
    "blkid --probe --output export /dev/sda",
    "blkid --cache-file /dev/null /dev/sda", "ledctl --log=/dev/null --list-controllers", "mke2fs --version",
)  # fmt: skip


@pytest.mark.parametrize("words", CHANGES)
@pytest.mark.parametrize("host", [FolderReader("/"), MemoryReader({})], ids=["live", "memory"])
def test_a_change_is_refused(host: HostReader, words: str) -> None:
    with pytest.raises(ValueError, match="a reader does not run this"):
        host.ask(*words.split())
    with pytest.raises(ValueError, match="a reader does not run this"):
        list(host.pieces(*words.split(), stall_s=1, ended=lambda: False))


@pytest.mark.parametrize("words", ASKS)
def test_a_question(words: str) -> None:
    assert only_asks(words.split())


def test_what_plans_may_run_is_refused_unless_it_is_a_question() -> None:
    assert {tool for tool in TOOLS if only_asks((tool,))} <= RULES.keys()
    for tool in sorted(TOOLS - RULES.keys()):
        assert not only_asks((tool, "--help"))
