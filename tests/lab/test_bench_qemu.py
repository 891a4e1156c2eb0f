"""Benchmarks where there are governors and thermometers: on QEMU's guest."""

import re
from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import make_array
from tests.lab.guests.benches import HISTORY, done, kept, read
from tests.lab.guests.jobs import JOBS
from tests.lab.guests.qemu.acpi import FREQUENCIES_MHZ
from tests.lab.guests.qemu.guest import QemuGuest

pytestmark = pytest.mark.later

QEMU_CELSIUS = 49.9  # 323 kelvin, always
POLICIES = "/sys/devices/system/cpu/cpufreq/policy*"


@pytest.fixture(autouse=True)
def no_benchmarks(qemu: QemuGuest) -> Iterator[None]:
    """No history and no jobs; and no fio is left over."""
    assert qemu.run(f"rm -rf {JOBS} {HISTORY}").status == 0
    yield
    assert qemu.run('pkill -x fio; test -z "$(pgrep -x fio)"').status == 0


def test_governors_and_what_surrounds_the_runs(qemu: QemuGuest) -> None:
    """Each is set for its run alone. Frequencies, temperatures and the array are kept with the figures."""
    nvme = qemu.kernel_name(qemu.nvme[0])  # QEMU's SATA disks are none that drivetemp knows
    disks = [disk.path for disk in (qemu.sata[0], qemu.nvme[0])]
    made = make_array(qemu, "data", 1, disks, extra=["--assume-clean"])
    before = read(qemu, f"{POLICIES}/scaling_governor")
    asked = ("--rw=randread", "--size=4m", "--runtime=3", f"--device={made.kernel}", "--repeats=1")
    reported = done(qemu, "sweep", *asked, "--knob=governor=powersave,performance").stdout
    runs = kept(qemu)
    assert [run["environment"]["cpu"]["governor"] for run in runs] == ["powersave", "performance"]
    low, high = min(FREQUENCIES_MHZ), max(FREQUENCIES_MHZ)
    assert [run["during"]["mhz"] for run in runs] == [[low, low], [high, high]]
    assert [run["during"]["celsius"] for run in runs] == [{nvme: QEMU_CELSIUS}] * 2
    assert [run.get("remarks") for run in runs] == [None, None], "nothing came over the array"
    for governor, mhz in (("powersave", low), ("performance", high)):
        line = rf"^ {{12}}{mhz} MHz {governor}  {nvme} 50 °C  data (clean|active)$"
        assert re.search(line, reported, re.MULTILINE), reported
    assert read(qemu, f"{POLICIES}/scaling_governor") == before
