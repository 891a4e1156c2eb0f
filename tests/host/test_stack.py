"""What the host offers for the layers on top: volume groups, TRIM, systemd; and what was discarded."""

from __future__ import annotations

import json

import pytest

from raidtui.host.diskstats import read_discards
from raidtui.host.on_top import (
    read_groups,
    read_issue_discards,
    read_raid456_discards,
    read_trim_timer,
    runs_systemd,
)
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.reading import read_survey
from raidtui.host.tools import output_path
from raidtui.model.survey import Survey
from tests.hosts.trees import host_tree, snapshot_of

VGS = ("vgs", "--reportformat", "json", "--options", "vg_name")
LVMCONFIG = ("lvmconfig", "--typeconfig", "full", "devices/issue_discards")
TIMER = ("systemctl", "is-enabled", "fstrim.timer")
PID_1 = "/proc/1/comm"
PARAMETER = "/sys/module/raid456/parameters/devices_handle_discard_safely"


def vgs(*names: str) -> str:
    """What vgs prints."""
    return "exit 0\n" + json.dumps({"report": [{"vg": [{"vg_name": name} for name in names]}]}, indent=4)


def root(argv: tuple[str, ...], output: str | None, **files: str) -> MemoryReader:
    return MemoryReader({**files, **({} if output is None else {output_path(argv): output})})


@pytest.mark.parametrize(
    ("output", "groups"),
    [
        (vgs(), ()),
        (vgs("root", "vg127"), ("root", "vg127")),
        ("exit 5\n", None),
        ("timed-out\nvgs did not answer within 10 s", None),
        ('exit 0\n{"report": []}\n', None),
        ('exit 0\n{"report": [{"vg": [{"name": "x"}]}]}\n', None),
        ("exit 0\n[]\n", None),
        (None, ()),
    ],
)
def test_groups(output: str | None, groups: tuple[str, ...] | None) -> None:
    assert read_groups(root(VGS, output)).value == groups


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("exit 0\nissue_discards=0\n", False),
        ("exit 0\nissue_discards=1\n", True),
        ("exit 0\nissue_discards=yes\n", None),
        ("exit 5\n", None),
        (None, None),
    ],
)
def test_issue_discards(output: str | None, *, found: bool | None) -> None:
    assert read_issue_discards(root(LVMCONFIG, output)) is found


@pytest.mark.parametrize(
    ("comm", "output", "systemd", "timer"),
    [
        ("systemd\n", "exit 0\nenabled\n", True, "enabled"),
        ("systemd\n", "exit 1\ndisabled\n", True, "disabled"),
        ("systemd\n", "exit 1\nmasked\n", True, "masked"),
        ("systemd\n", "exit 4\nnot-found\n", True, ""),
        ("systemd\n", "exit 1\n", True, ""),
        ("systemd\n", None, True, ""),
        ("init\n", "exit 0\nenabled\n", False, ""),  # what is installed does not run
    ],
)
def test_the_timer(comm: str, output: str | None, *, systemd: bool, timer: str) -> None:
    host = root(TIMER, output)
    host.put(PID_1, comm)
    assert (runs_systemd(host), read_trim_timer(host)) == (systemd, timer)


@pytest.mark.parametrize(("text", "found"), [("Y\n", True), ("N\n", False), ("", None)])
def test_raid456(text: str, *, found: bool | None) -> None:
    assert read_raid456_discards(MemoryReader({PARAMETER: text})) is found
    assert read_raid456_discards(MemoryReader({})) is None


def test_in_a_survey_where_it_is_asked_for() -> None:
    """LVM and systemd are not asked for what does not need them: a sick disk would hold up its repair."""
    snapshot = snapshot_of(host_tree())
    host = MemoryReader(
        {
            output_path(VGS): vgs("vg127"),
            output_path(LVMCONFIG): "exit 0\nissue_discards=1\n",
            output_path(TIMER): "exit 0\nenabled\n",
            PID_1: "systemd\n",
            PARAMETER: "N\n",
            "/dev/mapper/control": "",
        }
    )
    conf_path = "/etc/mdadm.conf"
    found, on_top = read_survey(host, snapshot), read_survey(host, snapshot, on_top=True)
    assert found == Survey(
        snapshot=snapshot, conf_path=conf_path, systemd=True, raid456_discards=False, mdadm=found.mdadm
    )
    assert on_top == Survey(
        mdadm=on_top.mdadm,
        snapshot=snapshot,
        conf_path=conf_path,
        groups=on_top.groups,
        nodes=("mapper",),
        issue_discards=True,
        systemd=True,
        trim_timer="enabled",
        raid456_discards=False,
    )


STATS = """\
   7       0 loop0 412 0 11486 161 88 265 17168 1414 0 210 1577 5 0 483264 0 29 0
   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 1 0 8 0 0 0 0 0 0 1 1 0 0 0 0 0 0
   8      16 sdb 1 0 8 0 0 0 0 0 0 1 1
   8      32 sdc 1 0 8 0 0 0 0 0 0 1 1 0 0 many 0 0 0
   8      48 sdd 1 0 8 0 0 0 0 0 0 1 1 0 0 7 0 0 0

"""


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("loop0", "sda"), {"loop0": 483264, "sda": 0}),
        (("loop1",), {}),  # its queue counts nothing
        (("sdb",), {}),  # before kernel 4.18
        (("sdc",), {}),
        (("sdd", "sdz"), {"sdd": 7}),
        ((), {}),
    ],
)
def test_discards(names: tuple[str, ...], found: dict[str, int]) -> None:
    assert read_discards(MemoryReader({"/proc/diskstats": STATS}), names) == found
    assert read_discards(MemoryReader({}), names) == {}
