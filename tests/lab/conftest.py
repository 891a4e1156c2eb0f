"""The laboratory for tests: one guest of each kind for the whole run, clean for each test."""

import compileall
import importlib.util
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import pytest

from tests.lab.guests.benches import HISTORY
from tests.lab.guests.boot import LabMissingError
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS
from tests.lab.guests.link import LabError
from tests.lab.guests.qemu.guest import QemuGuest
from tests.lab.guests.terminal import framed
from tests.lab.guests.uml import UmlGuest
from tests.lab.guests.wrecks.wreck import DISK_MIB, DISKS

HERE = Path(__file__).parent
PACKAGES = ("raidtui", "textual", "rich", "markdown_it", "pygments", "psutil", "pyudev")
REQUIRE = os.environ.get("RAIDTUI_LAB") == "require"
# What processes wait in, and what each job noted last, come first: they say what hangs.
DIAGNOSIS = """\
jobs=%s
for folder in /proc/[0-9]*; do
    [ $folder = /proc/$$ ] && continue
    words=$(tr '\\0' ' ' <$folder/cmdline) && read -r stat <$folder/stat && state=${stat##*) } || continue
    case ${state%%%% *}$words in
    D*|*"-m raidtui"*|*mdadm*|*e2fsck*|*dmsetup*)
        echo "${folder#/proc/} ${state%%%% *} $(cat $folder/wchan) $(cat $folder/comm) $words" | cut -c 1-200
        head -n 8 $folder/stack ;;
    esac
done 2>/dev/null
for journal in $jobs/*/journal.jsonl; do
    [ -e "$journal" ] && echo "$journal:" && tail -n 4 "$journal" | cut -c 1-300
done
cat /proc/mdstat
for array in /sys/block/md*; do [ -e "$array" ] && mdadm --detail "/dev/${array##*/}"; done
mdadm --examine /dev/ubd? /dev/sd? /dev/nvme?n1 2>/dev/null
dmesg | tail -n 30
"""


Kind = TypeVar("Kind", bound=Guest)


class Laboratory(Generic[Kind]):
    """Boots the guest on first use, and again when a test killed it."""

    def __init__(self, boot: Callable[[], Kind], *, required: bool = REQUIRE) -> None:
        self._boot = boot
        self._guest: Kind | None = None
        self._missing = ""
        self._broken = ""
        self._required = required

    def guest(self) -> Kind:
        """The running guest.

        What this machine cannot have is skipped, or fails under RAIDTUI_LAB=require. What it has must boot.
        """
        if self._guest is not None and not self._guest.alive:
            self.close()
        if self._guest is None and not self._missing and not self._broken:
            try:
                self._guest = self._boot()
            except LabMissingError as error:
                self._missing = f"no laboratory: {error}"
            except (LabError, OSError) as error:
                self._broken = f"the laboratory does not boot: {error}"
        if self._guest is not None:
            return self._guest
        if self._broken or self._required:
            pytest.fail(self._broken or self._missing, pytrace=False)
        pytest.skip(self._missing)

    def close(self) -> None:
        """End the guest."""
        if self._guest is not None:
            self._guest.shutdown()
            self._guest = None


@pytest.fixture(scope="session")
def bytecode() -> None:
    """Compiled here, because the guest cannot keep what it compiles: else each start there takes seconds."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in spec.submodule_search_locations or () if spec is not None else ():
            compileall.compile_dir(place, quiet=2)
    compileall.compile_dir(HERE / "guests", quiet=2)


@pytest.fixture(scope="session")
def laboratory(bytecode: None) -> Iterator[Laboratory[UmlGuest]]:
    """The holder of the guest, nothing booted yet."""
    holder = Laboratory(UmlGuest.boot)
    yield holder
    holder.close()


@pytest.fixture(scope="session")
def lab(laboratory: Laboratory[UmlGuest]) -> Guest:
    """The guest, as it is; what a test does to it stays."""
    return laboratory.guest()


@pytest.fixture
def guest(laboratory: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """The guest with empty disks and no arrays; cleaned after the test."""
    yield from clean(laboratory)


@pytest.fixture(scope="session")
def wreck_laboratory(bytecode: None) -> Iterator[Laboratory[UmlGuest]]:
    """The holder of the guest for wrecks, nothing booted yet: small disks are filled and read quickly."""
    holder = Laboratory(lambda: UmlGuest.boot(disks=DISKS, size_mib=DISK_MIB))
    yield holder
    holder.close()


@pytest.fixture
def wreck_guest(wreck_laboratory: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """A guest with eight small disks, all of them empty; cleaned after the test."""
    yield from clean(wreck_laboratory)


@pytest.fixture(scope="session")
def qemu_laboratory(bytecode: None) -> Iterator[Laboratory[QemuGuest]]:
    """The holder of the guest with hardware, nothing booted yet."""
    holder = Laboratory(QemuGuest.boot)
    yield holder
    holder.close()


@pytest.fixture
def qemu(qemu_laboratory: Laboratory[QemuGuest]) -> Iterator[QemuGuest]:
    """The guest with four SATA and two NVMe disks, all empty and healthy; cleaned after the test."""
    yield from clean(qemu_laboratory)


@pytest.fixture
def no_benchmarks(guest: Guest) -> Iterator[None]:
    """No history and no jobs; and no fio is left over."""
    assert guest.run(f"rm -rf {JOBS} {HISTORY}").status == 0
    yield
    assert guest.run('pkill -x fio; test -z "$(pgrep -x fio)"').status == 0


@pytest.fixture
def sd(guest: Guest) -> Iterator[str]:
    """A disk with a queue depth that can be written, and discards: in memory, 10 ms a request."""
    before = set(guest.run("ls /sys/block").stdout.split())
    options = "per_host_store=1 add_host=1 num_tgts=1 dev_size_mb=32 delay=1 max_queue=64 lbpu=1"
    made = guest.run(f"modprobe scsi_debug {options} && udevadm settle && ls /sys/block")
    assert made.status == 0, made.output
    (name,) = [each for each in set(made.stdout.split()) - before if each.startswith("sd")]
    yield name
    assert guest.run("udevadm settle; modprobe -r scsi_debug").status == 0


def clean(laboratory: Laboratory[Kind]) -> Iterator[Kind]:
    """Hand the guest to one test, and clean it afterwards."""
    machine = laboratory.guest()
    yield machine
    if not machine.alive:
        return
    try:
        machine.reset()
    except LabError:
        laboratory.close()  # the next test gets a fresh guest
        raise


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("lab")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """End the guest with hardware after its last test: it takes a quarter of a processor to do nothing."""
    holder = getattr(item, "funcargs", {}).get("qemu_laboratory")
    result = yield
    if holder is not None and "qemu_laboratory" not in getattr(nextitem, "fixturenames", ()):
        holder.close()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the guest's state to the report of a failed test."""
    report = yield
    if call.when == "call" and report.failed:
        machines = (getattr(item, "funcargs", {}).get(name) for name in ("guest", "wreck_guest", "qemu"))
        for machine in machines:
            if isinstance(machine, Guest):
                report.sections.append(("the laboratory's guest", diagnose(machine)))
    return report


def diagnose(machine: Guest) -> str:
    """What hangs, arrays, superblocks, the kernel's last words, and the screens."""
    screens = [f"{terminal.name}:\n{framed(terminal.screen())}\n" for terminal in machine.terminals]
    try:
        return machine.run(DIAGNOSIS % JOBS, timeout=20).output + "".join(screens)
    except LabError as error:
        return f"{error}\n{''.join(screens)}"
