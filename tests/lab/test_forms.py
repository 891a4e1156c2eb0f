"""Forms on real arrays: there at once, filled meanwhile, left by Esc; and what a plan reads of the host."""

import json
import re
import shlex
import sys
from collections.abc import Iterator

import pytest

from tests.extent import later
from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import plan, raidtui
from tests.places import HOUSE

IMSM = "IMSM_NO_PLATFORM=1 IMSM_DEVNAME_AS_SERIAL=1"
ASKED, GO = "/tmp/asked", "/tmp/go"
# mdadm, but that it examines no device before it is let; what it is asked for is written down.
SLOW_MDADM = f"""\
#!/bin/sh
echo "$*" >>{ASKED}
case "$1" in --examine) until [ -e {GO} ]; do read -t 0.05 _ <>/tmp/never; done;; esac
exec /tmp/mdadm "$@"
"""
LOOKS = """
import json, sys
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.md.superblock import read_superblock
from raidtui.host.edges import may_have_superblock, read_edges

root, found = FolderReader(), {}
for name in sys.argv[1:]:
    block = read_superblock(root, name)
    found[name] = [may_have_superblock(read_edges(root, name)), block is not None]
print(json.dumps(found))
"""


@pytest.fixture
def slow_mdadm(guest: Guest) -> Iterator[Guest]:
    """A guest whose mdadm examines no device before GO is there."""
    path = guest.put("slow-mdadm", SLOW_MDADM.encode())
    ready = guest.run(
        f"rm -f {ASKED} {GO} /tmp/never; mkfifo /tmp/never; cp -L $(command -v mdadm) /tmp/mdadm;"
        f" chmod +x {path}; mount --bind {path} $(readlink -f $(command -v mdadm))"
    )
    assert ready.status == 0, ready.output
    try:
        yield guest
    finally:
        guest.run(f"touch {GO}; umount $(readlink -f $(command -v mdadm))")


def asked(guest: Guest) -> list[str]:
    """What mdadm was asked for."""
    return guest.run(f"cat {ASKED} 2>/dev/null; true").stdout.split("\n")[:-1]


def examined(guest: Guest) -> set[str]:
    """Which devices mdadm was asked to examine."""
    return {line.rpartition("/")[2] for line in asked(guest) if line.startswith("--examine")}


def two_at_rest(guest: Guest, disks: list[str]) -> None:
    """Arrays that do not run, so that their members have superblocks."""
    for number, pair in enumerate((disks[:2], disks[2:4])):
        made = make_array(guest, f"old{number}", 1, pair, extra=["--assume-clean"])
        assert guest.run(f"mdadm --stop {made.path}").status == 0


@pytest.mark.later
def test_a_form_is_there_while_its_devices_are_read(slow_mdadm: Guest) -> None:
    """The watching continues, keys that are typed meanwhile go nowhere, and Esc leaves for good."""
    guest = slow_mdadm
    assert guest.run(f"touch {GO}").status == 0
    disks = list(disk_names(guest))
    two_at_rest(guest, disks[:4])
    data = make_array(guest, "data", 1, disks[4:6], extra=["--assume-clean"])
    assert guest.run(f"rm {GO}").status == 0
    with open_console(guest, cols=80, rows=24) as terminal:
        guest.run(f": >{ASKED}")
        terminal.press("A")
        terminal.wait_for("Add which device to data?")
        terminal.wait_for(re.compile(r"\d+ of \d+ devices read …"))
        wait_until(lambda: set(disks[:4]) <= examined(guest), what="the devices are being read")
        fails = guest.run(f"/tmp/mdadm {data.path} --fail /dev/{disks[5]}")
        assert fails.status == 0, fails.output
        terminal.wait_for("1 degraded")  # the header, behind the form
        assert "stale" not in terminal.screen()
        terminal.press("6", "F", "escape")
        terminal.wait_for("nothing was changed")
        assert guest.run(f"touch {GO}").status == 0
        wait_until(lambda: guest.run("pgrep -f [s]low-mdadm").status != 0, what="no mdadm runs")
        terminal.press("6")
        terminal.wait_for(lambda text: "in_sync" not in text)
        terminal.press("1")
        terminal.wait_for("in_sync")
        assert "which device" not in terminal.screen()
        terminal.press("A")
        terminal.wait_for(lambda text: "Add which device" in text and "read …" not in text)
        terminal.press("escape")
        terminal.wait_for(lambda text: "Add which device" not in text)
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.later
def test_a_name_typed_ahead_hits_no_verb(slow_mdadm: Guest) -> None:
    """In one burst, as a slow line brings it; nothing of the host has to be examined for a rename."""
    guest = slow_mdadm
    assert guest.run(f"touch {GO}").status == 0
    make_array(guest, "data", 1, list(disk_names(guest))[:2], extra=["--assume-clean"])
    assert guest.run(f"rm {GO}; : >{ASKED}").status == 0
    with open_console(guest, cols=80, rows=24) as terminal:
        guest.run(f": >{ASKED}")
        terminal.type("NFRT6q")
        terminal.wait_for("A new name for data")
        terminal.wait_for("FRT6q")
        terminal.press("enter")
        terminal.wait_for("rename: data → FRT6q")
        assert examined(guest) == set()
        terminal.press("escape")
        terminal.wait_for("nothing was changed")
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.later
def test_a_plan_reads_what_it_concerns(slow_mdadm: Guest) -> None:
    guest = slow_mdadm
    assert guest.run(f"touch {GO}").status == 0
    disks = list(disk_names(guest))
    two_at_rest(guest, disks[:4])
    make_array(guest, "127", 1, disks[4:6], extra=["--assume-clean"])
    guest.run(f": >{ASKED}")
    for words in (
        ("stop", "127"),
        ("rename", "127", "--to", "new"),
        ("fail", "127", disks[5]),
        ("create", "--name=126", "--level=raid1", *disks[6:8]),  # empty: no magic number is there
    ):
        assert plan(guest, *words)["steps"]
        assert examined(guest) == set(), words
    # What is given up has a name that another array may have.
    assert plan(guest, "create", "--name=126", "--level=raid1", "--destroy=old1", *disks[2:4])["steps"]
    assert examined(guest) >= set(disks[:4])
    guest.run(f": >{ASKED}")
    assert raidtui(guest, "plan", "assemble", *disks[:2]).status == 0
    assert examined(guest) >= set(disks[:4])


@pytest.mark.parametrize(
    "metadata", [later("0.90"), later("1.0"), later("1.1"), later("1.2"), later("ddf"), "imsm"]
)
def test_where_mdadm_finds_a_superblock_it_is_asked(guest: Guest, metadata: str) -> None:
    """Its magic number is in the first or the last MiB, whatever the format and the size of the device."""
    first, second, blank = list(disk_names(guest))[:3]
    external = metadata in {"ddf", "imsm"}  # IMSM takes no partitions
    names = [first, second] if external else [f"{first}1", f"{second}1", f"{first}2", f"{second}2"]
    split = guest.run(
        f"for d in {first} {second}; do printf 'label: gpt\\n,30001K\\n,20M\\n' | sfdisk -q /dev/$d; done;"
        " udevadm settle"
    )
    assert external or split.status == 0, split.output
    if external:
        assert guest.run(f"wipefs -qa /dev/{first} /dev/{second}; udevadm settle").status == 0
    options = "" if external else "--level=1 --assume-clean"
    for number in range(0, len(names), 2):
        one, other = names[number : number + 2]
        made = guest.run(
            f"{IMSM} mdadm --create /dev/md/of{number} --run --metadata={metadata} {options}"
            f" --raid-devices=2 /dev/{one} /dev/{other} </dev/null && udevadm settle"
            f" && mdadm --stop /dev/md/of{number}"
        )
        assert made.status == 0, made.output
    path = guest.put("looks.py", LOOKS.encode())
    result = guest.run(
        f"PYTHONPATH={shlex.quote(str(HOUSE))} {IMSM} {sys.executable} {path} {shlex.join([*names, blank])}"
    )
    assert result.status == 0, result.output
    found = json.loads(result.stdout)
    assert [found[name][0] for name in names] == [True] * len(names)
    assert found[blank] == [False, False]
