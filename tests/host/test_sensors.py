"""Temperatures by hwmon, and frequencies: whose they are, and what is none."""

from __future__ import annotations

import pytest

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.sensors import find_thermometers, policy_words, read_celsius, read_mhz

HWMON = "/sys/class/hwmon"
POLICIES = "/sys/devices/system/cpu/cpufreq"
DISKS = ("sda", "sdb", "nvme0n1", "nvme1n1", "nvme2n3", "sdc")


def host(**temperatures: str) -> MemoryReader:
    """Two SATA disks, three NVMe as three kernels show them, and a processor's sensor."""
    files = {
        "hwmon0/name": "coretemp\n",
        "hwmon0/temp1_input": "61000\n",
        "hwmon0/device/block/sdc/dev": "8:32\n",
        "hwmon1/name": "drivetemp\n",
        "hwmon1/device/block/sda/dev": "8:0\n",
        "hwmon2/name": "drivetemp\n",
        "hwmon2/device/block/sdb/dev": "8:16\n",
        "hwmon3/name": "nvme\n",
        "hwmon3/device/nvme0n1/dev": "259:0\n",
        "hwmon3/device/nvme0n2/dev": "259:1\n",
        "hwmon3/device/hwmon3/name": "nvme\n",
        # Before Linux 5.12 it belongs to the PCI device.
        "hwmon4/name": "nvme\n",
        "hwmon4/device/nvme/nvme1/nvme1n1/dev": "259:2\n",
        # One of two controllers of a disk that has two paths to it.
        "hwmon5/name": "nvme\n",
        "hwmon5/device/nvme2c4n3/dev": "259:3\n",
        "hwmon6/name": "drivetemp\n",  # its disk has just been pulled
    }
    root = MemoryReader({f"{HWMON}/{path}": text for path, text in files.items()})
    for chip, text in temperatures.items():
        root.put(f"{HWMON}/{chip}/temp1_input", text)
    return root


def test_whose_thermometer() -> None:
    assert find_thermometers(host(), DISKS) == {
        "sda": f"{HWMON}/hwmon1/temp1_input",
        "sdb": f"{HWMON}/hwmon2/temp1_input",
        "nvme0n1": f"{HWMON}/hwmon3/temp1_input",
        "nvme1n1": f"{HWMON}/hwmon4/temp1_input",
        "nvme2n3": f"{HWMON}/hwmon5/temp1_input",
    }
    assert list(find_thermometers(host(), ("nvme0n2", "sda"))) == ["nvme0n2", "sda"]
    assert find_thermometers(MemoryReader({}), DISKS) == {}


def test_degrees() -> None:
    root = host(hwmon1="41000\n", hwmon2="-5500\n", hwmon3="38850\n")
    assert read_celsius(root, find_thermometers(root, DISKS)) == {"sda": 41.0, "sdb": -5.5, "nvme0n1": 38.9}


@pytest.mark.parametrize("text", ["", "unknown", "-273150", "4e4", "²", "999999999999"])
def test_what_is_no_temperature(text: str) -> None:
    root = host(hwmon1=text)
    assert read_celsius(root, {"sda": f"{HWMON}/hwmon1/temp1_input"}) == {}


def processors(*khz: str) -> MemoryReader:
    files = {f"{POLICIES}/policy{number}/scaling_cur_freq": f"{text}\n" for number, text in enumerate(khz)}
    return MemoryReader({**files, f"{POLICIES}/boost": "1\n"})


@pytest.mark.parametrize(
    ("khz", "mhz"),
    [
        (("1200000", "3400123", "800000"), (800, 3400)),
        (("2600000",), (2600, 2600)),
        (("<unknown>", "2600000"), (2600, 2600)),
        (("<unknown>",), None),
        ((), None),
    ],
)
def test_frequencies(khz: tuple[str, ...], mhz: tuple[int, int] | None) -> None:
    assert read_mhz(processors(*khz)) == mhz


def test_words_of_policies() -> None:
    root = processors("1", "2")
    root.put(f"{POLICIES}/policy1/scaling_governor", "powersave\n")
    assert policy_words(root, "scaling_governor") == ("powersave",)
    assert policy_words(root, "scaling_cur_freq") == ("1", "2")
