"""The power is cut at the points of an exchange, and the disk is exchanged while the machine is off.

The files that were synced before each cut are there after it; the exchange is found where it stands, and
brought to its end by what raidtui offers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import fast, make_array, slow
from tests.lab.guests.boot import serial_of
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Program
from tests.lab.guests.inside import pull_step
from tests.lab.guests.jobs import raidtui
from tests.lab.guests.uml import PowerGuest

pytestmark = pytest.mark.later

SETTLE_S, COPY_S, SLOW_KIB_S = 60.0, 180.0, 4_000
OLD, MIRROR, THIRD, NEW, STATE = "ubda", "ubdb", "ubdc", "ubdd", "ubdh"
TABLE = (
    r"label: gpt\nsize=2M, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, name=EFI\n"
    r"type=A19D880F-05FC-4D3B-A006-743F0F84911E\n"
)


class Machine:
    """A machine with a mirror of three disks, "data", a file system on it, and its state on a fourth."""

    def __init__(self, guest: PowerGuest) -> None:
        self.guest = guest
        self._files = 0
        for name in (OLD, MIRROR, THIRD):
            self.run(f"printf '{TABLE}' | sfdisk --quiet /dev/{name} && udevadm settle")
        members = [f"{name}2" for name in (OLD, MIRROR, THIRD)]
        made = make_array(guest, "data", 1, members, bitmap="internal", extra=["--assume-clean"])
        self.uuid = self.run(f"mdadm --detail --export /dev/{made.kernel} | sed -n s/^MD_UUID=//p").strip()
        self.run(f"mkfs.ext4 -q -F /dev/{STATE} && mkfs.ext4 -q -F /dev/{made.kernel} && mkdir -p /mnt/data")
        self.mount()
        self.write()

    def run(self, script: str, timeout: float = 120.0) -> str:
        done = self.guest.run(script, timeout=timeout)
        assert done.status == 0, f"{script}: {done.output}"
        return done.stdout

    @property
    def kernel(self) -> str:
        """The kernel's name of the array."""
        return self.run("readlink -f /dev/md/data").strip().removeprefix("/dev/")

    def mount(self) -> None:
        self.run(f"mkdir -p /var/lib/raidtui /mnt/data && mount /dev/{STATE} /var/lib/raidtui")
        self.run(f"mount /dev/{self.kernel} /mnt/data")

    def write(self) -> None:
        """Write another file, which is on the disks when this returns."""
        self._files += 1
        name = f"file{self._files}"
        self.run(f"cd /mnt/data && head -c 3M /dev/urandom >{name} && sha256sum {name} >>sums && sync -f .")

    def compare(self) -> None:
        """All files are what they were, read from the disks."""
        self.run("sync; echo 3 >/proc/sys/vm/drop_caches; cd /mnt/data && sha256sum --quiet --check sums")
        assert self.run("wc -l </mnt/data/sums").strip() == str(self._files)

    def cut(self, *, out: frozenset[str]) -> None:
        """Cut the power; boot without these disks, as an administrator does where the array is degraded."""
        self.guest.cut()
        (self.guest.folder / "share" / "cut").unlink(missing_ok=True)
        self.guest.out = out
        self.guest.switch_on()
        self.run("udevadm settle; mdadm --incremental --run --scan 2>/dev/null; udevadm settle")
        self.run(
            "test -e /dev/md/data || { mdadm --assemble --scan --run; udevadm settle; }; ls /dev/md/data"
        )
        self.mount()
        self.compare()
        self.write()

    def cut_in_step(self, number: int, *, out: frozenset[str], member: str = "") -> None:
        """Cut the power before that entry of the next job's journal."""
        program = self.guest.spawn(pull_step.words("cut", number, member), timeout=None)
        asked = self.guest.folder / "share" / "cut"
        wait_until(lambda: _is_there(asked.exists(), program), SETTLE_S, f"entry {number}")
        self.cut(out=out)

    def now(self) -> Any:
        """Where the exchange stands."""
        return json.loads(raidtui(self.guest, "pull", "--json").stdout)["pull"]

    def stands(self, stage: str) -> Any:
        """The exchange, which stands there."""
        found = self.now()
        said = "cat /proc/mdstat; mdadm --examine /dev/ubd?2 | grep -E '/dev|Events|State'; dmesg | tail -30"
        assert found["stage"] == stage, f"{found}\n{self.run(said)}"
        return found

    def until(self, stage: str) -> None:
        """Go on, as a person does who opens raidtui again."""
        said = []
        for _ in range(4):
            if self.now()["stage"] == stage:
                return
            said.append(raidtui(self.guest, "pull", "--next", "--start", timeout=COPY_S).output)
        assert self.stands(stage), said

    def waits(self) -> None:
        """It waits for a hand; or mdadm has taken the disk back at the boot, and it leaves once more."""
        self.stands("in service" if self.serves(OLD) else "pull it")
        self.until("pull it")

    def serves(self, disk: str) -> bool:
        """Whether md has a disk."""
        return f"{disk}2[" in self.run("cat /proc/mdstat")

    def take_back(self) -> None:
        """Let md have the old disk again, as mdadm does at a boot where the array is started as it comes."""
        name = f"/dev/{OLD}2"
        self.run(f"mdadm /dev/md/data --re-add {name} && udevadm settle; mdadm --wait /dev/md/data || :")
        assert self.read("degraded") == "0"

    def read(self, attribute: str) -> str:
        return self.run(f"cat /sys/block/{self.kernel}/md/{attribute}").strip()


def _is_there(asked: bool, program: Program) -> bool:  # noqa: FBT001
    if not asked and program.status is not None:
        raise AssertionError(f"the step ended before the point: {program.wait(1).output}")
    return asked


@pytest.fixture(scope="module")
def powered(bytecode: None) -> Iterator[PowerGuest]:
    """The guest whose power can be cut."""
    holder = Laboratory(PowerGuest.boot)
    yield holder.guest()
    holder.close()


@pytest.fixture
def machine(powered: PowerGuest) -> Iterator[Machine]:
    powered.out = frozenset()
    powered.cut()
    powered.switch_on()
    powered.reset()
    try:
        yield Machine(powered)
    finally:
        powered.run("umount /mnt/data /var/lib/raidtui; mdadm --stop --scan")


ADDED_AT = 9
"""The entry of the second job's journal before which mdadm has added the new disk: md copies."""
BEFORE, PULLED, AFTER = frozenset({NEW}), frozenset({NEW, OLD}), frozenset({OLD})


@pytest.mark.parametrize(
    ("out_at", "fill_at"),
    [(5, 4), (1, 1), (8, 9)],
    ids=["failed-table", "before-the-jobs-are-known", "removed-added"],
)
def test_the_power_is_cut_at_each_point_of_an_exchange(machine: Machine, out_at: int, fill_at: int) -> None:
    """While it is taken out, while the disk is waited for, while it is put in, and while md copies."""
    machine.cut(out=BEFORE)
    machine.cut_in_step(out_at, out=BEFORE, member=f"{OLD}2")
    machine.until("pull it")
    found = machine.now()
    assert (found["target"]["serial"], machine.read("degraded")) == (serial_of(OLD), "1")

    machine.cut(out=BEFORE)  # while it waits for a hand
    machine.waits()
    machine.cut(out=PULLED)  # the right one is pulled while the machine is off
    assert machine.stands("left")["target"]["here"] is False
    machine.cut(out=AFTER)  # and the new one pushed in
    found = machine.stands("new disk")
    assert [disk["serial"] for disk in found["new"]] == [serial_of(NEW)]

    slow(machine.guest, SLOW_KIB_S)
    machine.cut_in_step(fill_at, out=AFTER)
    if fill_at < ADDED_AT:  # else md was copying when the power was cut, and may have finished by now
        slow(machine.guest, SLOW_KIB_S)
        machine.guest.begin_command(("pull", "--next", "--start"), timeout=COPY_S)
        wait_until(lambda: machine.read("sync_action") == "recover", SETTLE_S, "md copies")
        machine.write()
        machine.cut(out=AFTER)
    fast(machine.guest)
    machine.until("done")

    found = machine.now()
    assert (found["complete"], found["lost"], machine.read("degraded")) == (True, [], "0")
    assert f"{NEW}2[" in machine.run("cat /proc/mdstat")
    machine.compare()
    same_data(machine, MIRROR, THIRD)
    assert raidtui(machine.guest, "pull", "--cancel").status == 0


def test_the_power_is_cut_while_the_wrong_disk_is_out(machine: Machine) -> None:
    """Pulled while the machine was off, so that no watch saw it leave; then it is pushed back."""
    wrong = BEFORE | {MIRROR}
    machine.cut(out=BEFORE)
    begun = raidtui(machine.guest, "pull", "data", f"{OLD}2", "--start", timeout=COPY_S)
    assert begun.status == 0, begun.output
    machine.stands("pull it")
    for _ in range(2):  # it is found so, whether raidtui has seen it before or not
        machine.cut(out=wrong)
        assert (machine.serves(MIRROR), machine.serves(THIRD)) == (False, True)
        found = machine.stands("in service" if machine.serves(OLD) else "pull it")
        assert found["head"] == "WRONG DISK: push it back"
        assert state_of(found, MIRROR) == "left"
    machine.cut(out=BEFORE)
    if state_of(machine.now(), MIRROR) != "there":  # mdadm may have taken it back by itself, at the boot
        assert state_of(machine.now(), MIRROR) in {"out", "filling"}
        taken = raidtui(machine.guest, "pull", "--next", "--start", timeout=COPY_S)
        assert taken.status == 0, taken.output
    wait_until(lambda: machine.serves(MIRROR), SETTLE_S, "it is a member again")
    machine.run(f"mdadm --wait /dev/{machine.kernel} || :")
    machine.waits()
    assert machine.read("degraded") == "1"
    machine.compare()
    same_data(machine, THIRD)
    assert raidtui(machine.guest, "pull", "--cancel").status == 0


def test_md_takes_back_a_disk_that_was_taken_out(machine: Machine) -> None:
    """At a boot mdadm may add it again, whether its job had ended or not: it has to leave once more."""
    machine.cut(out=BEFORE)
    machine.cut_in_step(8, out=BEFORE, member=f"{OLD}2")
    if machine.read("degraded") == "1":
        machine.take_back()
    assert machine.stands("in service")["head"] == "Do not pull: it is still in service"
    resumed = raidtui(machine.guest, "pull", "--next", "--start", timeout=COPY_S)
    assert (resumed.status, machine.read("degraded")) == (0, "1"), resumed.output
    machine.stands("pull it")

    machine.take_back()
    assert machine.stands("in service")["head"] == "Do not pull: it is in service again"
    again = raidtui(machine.guest, "pull", "--next", "--start", timeout=COPY_S)
    assert (again.status, machine.read("degraded")) == (0, "1"), again.output
    machine.stands("pull it")
    machine.compare()
    same_data(machine, MIRROR)
    assert raidtui(machine.guest, "pull", "--cancel").status == 0


def state_of(found: Any, disk: str) -> str:
    """What an exchange says of a disk that is not to be pulled."""
    return str({each["serial"]: each["state"] for each in found["others"]}[serial_of(disk)])


def same_data(machine: Machine, *leaving: str) -> None:
    """A check finds no difference, and what is left without these disks has all files."""
    machine.run("umount /mnt/data")
    folder = f"/sys/block/{machine.kernel}/md"
    machine.run(f"echo check >{folder}/sync_action; mdadm --wait /dev/{machine.kernel} || :")
    assert machine.read("mismatch_cnt") == "0"
    for name in leaving:
        for verb in ("--fail", "--remove"):
            machine.run(f"mdadm /dev/{machine.kernel} {verb} /dev/{name}2; udevadm settle")
    machine.run(f"mount -o ro /dev/{machine.kernel} /mnt/data")
    machine.compare()
