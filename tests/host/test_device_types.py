"""Device types are kept by a disk's identity, and every smartctl uses them."""

from __future__ import annotations

import json

import pytest

from raidtui.host.block import read_identity
from raidtui.host.smart.device_types import (
    PATH,
    asked_names,
    device_words,
    is_behind_controller,
    read_types,
    types_text,
    why_not_type,
)
from raidtui.host.smart.smart_reader import SmartReader, read_smart
from raidtui.model.answer import AnswerKind
from raidtui.model.smart import SmartReading, smart_node, smart_type, smart_words
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.readings import WearReader
from tests.hosts.specs import raid1
from tests.monitor.wear.hosts import TB, WearHost, evo

DATA = raid1("md127", "data", members=("sda1", "sdb1"))


def _host(types: object, **said: str) -> WearHost:
    host = WearHost(DATA, said=said)
    host.put(PATH, types if isinstance(types, str) else json.dumps(types))
    return host


def _identity(host: WearHost, name: str) -> str:
    return read_identity(host, name).identity


def test_without_a_file_there_are_no_types() -> None:
    host = WearHost(DATA)
    assert read_types(host).value == {}
    assert asked_names(host, ("sda", "sdb")) == ("sda", "sdb")
    assert device_words(host, "sda") == ("/dev/sda",)


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"S1": "sat"}', '{"S1": ["jmb39x,0"]}', '{"S1": ["-x"]}'])
def test_a_file_that_is_not_understood_is_said_and_not_used(text: str) -> None:
    host = _host(text)
    answer = read_types(host)
    assert (answer.kind, answer.value) == (AnswerKind.NOT_UNDERSTOOD, None)
    assert answer.why.startswith(f"{PATH}: ")
    assert asked_names(host, ("sda",)) == ("sda",)


def test_a_type_goes_with_the_disk_and_not_with_its_name() -> None:
    blank = WearHost(DATA)
    host = _host({_identity(blank, "sdb"): ["sat"], "an absent disk": ["megaraid,0"]}, sdb=evo("sdb", TB))
    found = SmartReader(host).read(("sda", "sdb"))
    assert list(found) == ["sda", "sdb"]
    assert [argv[5:] for argv in host.asked] == [("/dev/sda",), ("-d", "sat", "/dev/sdb")]
    assert isinstance(found["sdb"].result, SmartReading)


def test_the_disks_behind_a_volume_are_asked_one_by_one() -> None:
    blank = WearHost(DATA)
    host = _host({_identity(blank, "sdb"): ["megaraid,0", "megaraid,1"]}, sdb=evo("sdb", TB))
    host.wrote(sdb=5 * TB)
    found = SmartReader(host).read(("sdb",))
    assert list(found) == ["sdb megaraid,0", "sdb megaraid,1"]
    assert [argv[5:] for argv in host.asked] == [
        ("-d", "megaraid,0", "/dev/sdb"),
        ("-d", "megaraid,1", "/dev/sdb"),
    ]
    one = found["sdb megaraid,1"]
    assert (one.low_bytes, one.high_bytes) == (None, None)  # the kernel counts the volume's writes
    (array,) = WearReader(host).look(Sampler(host).sample()).arrays
    assert sorted(array.disks) == ["sda", "sdb megaraid,0", "sdb megaraid,1"]


def test_the_second_call_uses_the_type_too() -> None:
    """Smartctl before 7.2 knows one status of -n alone, and is asked again."""
    blank = WearHost(DATA)
    said = json.dumps({"smartctl": {"exit_status": 1, "messages": [{"string": "INVALID ARGUMENT TO -n"}]}})
    host = _host({_identity(blank, "sdb"): ["sat"]}, sdb=said)
    read_smart(host, "sdb")
    assert [argv[-3:] for argv in host.asked] == [("-d", "sat", "/dev/sdb")] * 2


def test_an_areca_controller_is_asked_at_its_own_device() -> None:
    host = _host({})
    host.put("/sys/class/scsi_generic/sg2/device/type", "3\n")
    host.put("/sys/class/scsi_generic/sg2/device/vendor", "Areca   \n")
    assert device_words(host, "sdb areca,3") == ("-d", "areca,3", "/dev/sg2")


@pytest.mark.parametrize(
    "kind", ["sat", "sat,12", "sat+megaraid,3", "areca,3/1", "usbjmicron,x,0", "hpt,1/2/3"]
)
def test_types_that_are_taken(kind: str) -> None:
    assert why_not_type(kind) == ""


@pytest.mark.parametrize("kind", ["", "-d", "a b", "jmb39x,0,force", "sat;reboot", "x" * 60])
def test_types_that_are_not_taken(kind: str) -> None:
    assert why_not_type(kind)


def test_names_of_disks_behind_a_controller() -> None:
    assert (smart_node("sdb megaraid,3"), smart_type("sdb megaraid,3")) == ("sdb", "megaraid,3")
    assert (smart_words("sdb megaraid,3"), smart_words("sda")) == ("-d megaraid,3 /dev/sdb", "/dev/sda")
    assert is_behind_controller("sdb sat+megaraid,3")
    assert not is_behind_controller("sdb sat")


def test_the_file_is_read_as_it_was_written() -> None:
    types = {"S1": ("megaraid,0", "megaraid,1"), "0x5000": ("sat",)}
    assert read_types(_host(types_text(types).decode())).value == types
