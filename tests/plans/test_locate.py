"""Which disk is it: words and a light."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.plans.locate import plan_locate, slot_of, which_disk
from tests.plans.goldens import accepted
from tests.plans.new_array import device
from tests.plans.running import host

LINKS = ("disk/by-id/ata-X", "disk/by-path/pci-0000:00:17.0-ata-3-part2", "disk/by-path/other")
PLUGGED = device("sda2", links=LINKS)
NAMED = replace(PLUGGED, disk=replace(PLUGGED.disk, model="Samsung SSD 850"))
PLAIN = device("sdb")
NO_SERIAL = replace(PLAIN, disk=replace(PLAIN.disk, serial=None))
WWN = replace(NO_SERIAL, disk=replace(NO_SERIAL.disk, wwn="0x5002"))
HOST = host(devices=(NAMED,))

test_plans = accepted(
    {
        "on": lambda: plan_locate(HOST, "sda2"),
        "off": lambda: plan_locate(HOST, "sda2", on=False),
        "no ledctl": lambda: plan_locate(host(devices=(NAMED,), missing=("ledctl",)), "sda2"),
        "no device": lambda: plan_locate(host(), "sda2"),
        "no root": lambda: plan_locate(host(writable=False), "sda2"),
        "words: model and slot": lambda: which_disk(NAMED),
        "words: a serial number": lambda: which_disk(PLAIN),
        "words: a WWN": lambda: which_disk(WWN),
        "words: neither": lambda: which_disk(NO_SERIAL),
    }
)


def test_slot() -> None:
    assert (slot_of(PLUGGED), slot_of(device("sda"))) == ("pci-0000:00:17.0-ata-3", "")
