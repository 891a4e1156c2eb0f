"""A trial writes to what bears its name, and to nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs.trial_writer import TrialWriter

BLOCK, OWN = "/sys/class/block", "raidtui-rescue-k"
FILES = {
    f"{BLOCK}/md300/slaves/dm-0/x": "",
    f"{BLOCK}/dm-0/dm/name": f"{OWN}-sda\n",
    f"{BLOCK}/md0/slaves/sda/x": "",
    f"{BLOCK}/loop1/loop/backing_file": f"/var/tmp/{OWN}/sda\n",
    f"{BLOCK}/loop2/loop/backing_file": "/srv/image\n",
}


class Host(SimulatedReader):
    """Notes what is done to it."""

    def __init__(self) -> None:
        super().__init__(FILES)
        self.did: list[str] = []

    def take_value(self, path: str, text: str) -> None:
        self.did.append(f"{path}={text}")

    def take_tool(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        self.did.append(" ".join(argv))
        return ToolOutput(argv=argv, status=0, stdout="", stderr="")


@pytest.mark.parametrize(
    "words",
    [
        f"mkdir -m 700 /run/{OWN}/1",
        f"rm -f /run/udev/rules.d/01-{OWN}.rules",
        f"mount -t xfs -o ro /dev/mapper/{OWN}-on-1 /run/{OWN}/1",
        f"dmsetup create {OWN}-on-1 --readonly --table x",
        f"dmsetup remove --retry {OWN}-on-1",
        f"losetup --find --show /var/tmp/{OWN}/journal-1",
        "losetup --detach /dev/loop1",
        "mdadm --stop /dev/md300",
    ],
)
def test_its_own(words: str) -> None:
    host = Host()
    assert TrialWriter(host).run(*words.split()).status == 0
    assert host.did == [words]


@pytest.mark.parametrize(
    "words",
    [
        "rm -rf /srv",
        "rm -rf",
        f"rm -rf /run/{OWN}/../../srv",
        f"rm -rf /run/{OWN} /srv",
        "rm -f /run/udev/rules.d/63-md-raid-arrays.rules",
        f"mkdir {OWN}",
        "umount /srv",
        f"mount /dev/mapper/{OWN}-on-1 /srv",
        f"dmsetup remove --retry x-{OWN}",
        "dmsetup message x 0 y",
        f"losetup --find --show /srv/{OWN}.img/../x",
        "losetup --detach /dev/loop2",
        "losetup --detach-all",
        "mdadm --stop /dev/md0",
        "mdadm --stop /dev/md9",
        f"mdadm --zero-superblock /dev/mapper/{OWN}-sda",
        "sh -c x",
        "udevadm trigger",
    ],
)
def test_what_is_not_its_own(words: str) -> None:
    host = Host()
    with pytest.raises(ValueError, match="this is not a trial's"):
        TrialWriter(host).run(*words.split())
    assert host.did == []


def test_attributes() -> None:
    host = Host()
    TrialWriter(host).write("md300", "sync_max", "max")
    assert host.did == ["/sys/block/md300/md/sync_max=max"]
    for array, attribute in (("md0", "sync_max"), ("md300", "reshape_position"), ("md300", "../ro")):
        with pytest.raises(ValueError, match="this is not a trial's"):
            TrialWriter(host).write(array, attribute, "max")


def reading(name: str, array: str) -> subprocess.Popen[bytes]:
    """Start a process that is called so, with the path of an array, and reads a line."""
    words = (name, "-c", "print(flush=True); input()", f"/dev/{array}")
    process = subprocess.Popen(
        words, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.parametrize(("array", "ended"), [("md300", True), ("md0", False), ("md9", False)])
def test_who_watches_a_reshape(array: str, *, ended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all processes, mdadm alone is killed, and only where it was started with the array of a trial."""
    killed: list[int] = []
    with reading("mdadm", array) as mdadm, reading("other", array) as other:
        with monkeypatch.context() as patched:
            patched.setattr("os.kill", lambda pid, _: killed.append(pid))
            TrialWriter(Host()).end_watchers(array)
        assert killed == ([mdadm.pid] if ended else [])
        for process in (mdadm, other):
            process.communicate(b"\n")
