"""The laboratory for tests: one guest for the whole run, clean for each test."""

import compileall
import importlib.util
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.lab.boot import LabMissingError
from tests.lab.guest import Guest
from tests.lab.link import LabError
from tests.lab.terminal import framed

HERE = Path(__file__).parent
PACKAGES = ("raidtui", "textual", "rich", "markdown_it", "pygments", "psutil", "pyudev")
REQUIRE = os.environ.get("RAIDTUI_LAB") == "require"
DIAGNOSIS = """\
cat /proc/mdstat
for array in /sys/block/md*; do [ -e "$array" ] && mdadm --detail "/dev/${array##*/}"; done
mdadm --examine /dev/ubd? 2>/dev/null
dmesg | tail -n 30
"""


class Laboratory:
    """Boots the guest on first use, and again when a test killed it."""

    def __init__(self) -> None:
        self._guest: Guest | None = None
        self._missing: str | None = None

    def guest(self) -> Guest:
        """The running guest; without one the test is skipped, or fails under RAIDTUI_LAB=require."""
        if self._guest is not None and not self._guest.alive:
            self.close()
        if self._guest is None and self._missing is None:
            try:
                self._guest = Guest.boot()
            except (LabMissingError, LabError, OSError) as error:
                self._missing = f"no laboratory: {error}"
        if self._guest is None:
            if REQUIRE:
                pytest.fail(str(self._missing), pytrace=False)
            pytest.skip(str(self._missing))
        return self._guest

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


@pytest.fixture(scope="session")
def laboratory(bytecode: None) -> Iterator[Laboratory]:
    """The holder of the guest, nothing booted yet."""
    holder = Laboratory()
    yield holder
    holder.close()


@pytest.fixture(scope="session")
def lab(laboratory: Laboratory) -> Guest:
    """The guest, as it is; what a test does to it stays."""
    return laboratory.guest()


@pytest.fixture
def guest(laboratory: Laboratory) -> Iterator[Guest]:
    """The guest with empty disks and no arrays; cleaned after the test."""
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
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the guest's state to the report of a failed test."""
    report = yield
    machine = getattr(item, "funcargs", {}).get("guest")
    if call.when == "call" and report.failed and isinstance(machine, Guest):
        report.sections.append(("the laboratory's guest", diagnose(machine)))
    return report


def diagnose(machine: Guest) -> str:
    """Arrays, superblocks, the kernel's last words, and the screens."""
    screens = [f"{terminal.name}:\n{framed(terminal.screen())}\n" for terminal in machine.terminals]
    try:
        return machine.run(DIAGNOSIS, timeout=20).output + "".join(screens)
    except LabError as error:
        return f"{error}\n{''.join(screens)}"
