"""A capture shows the same knobs as its host, and who sets them, without what is nobody's business."""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.features.tune.session import Tuner
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.opening import open_root
from raidtui.jobs.journal import Journal
from raidtui.jobs.undo_record import RECORD, UndoRecord
from raidtui.model.knob import By, Tuning
from raidtui.model.plan import Plan
from raidtui.monitor.sampler import Sampler
from raidtui.plans.tune.keep import KeepItem, plan_keep
from raidtui.plans.tune.now import AskedValue, plan_set
from tests.app.test_capture import content
from tests.hosts.specs import raid5
from tests.hosts.trees import Tree
from tests.hosts.tune_host import CPUS, FOUR, INTEL, RULES, SYSCTL, TuneHost, parity, udev

SERIALS = {
    "sda": "S2R5NX0H812345",
    "sdb": "S2R5NX0H812346",
    "sdc": "S2R5*NX0H912001",
    "sdd": "S2R5NX0H912002",
}
GONE = "S2R5NX0H777777"
WANTS = "/etc/systemd/system/multi-user.target.wants"
OTHERS = """\
# sda is S2R5NX0H777777, bought in May
KERNEL=="sd*", ENV{ID_SERIAL}=="Samsung_SSD_850*", ATTR{queue/rq_affinity}="2"
# of the first one
ENV{ID_SERIAL_SHORT}=="S2R5NX0H812345|S2R5NX0H777777", \\
  # in between
  ATTR{device/queue_depth}="8"
ENV{ID_SERIAL}=="?*", ATTR{queue/read_ahead_kb}="256"
ATTR{device/wwid}=="naa.5002538d40c0fff*", ATTR{queue/nr_requests}="32"
"""
FILES = {
    "/etc/udev/rules.d/60-ssd.rules": OTHERS,
    "/etc/udev/rules.d/70-net.rules": 'SUBSYSTEM=="net", ATTR{address}=="00:11:22:33:44:55", NAME="lan0"',
    "/etc/sysctl.d/10-own.conf": "kernel.domainname = secret.example\ndev.raid.speed_limit_max = 300000",
    "/usr/lib/sysctl.d/50-default.conf": "# dev.raid is md's\nkernel.sysrq = 16",
    "/etc/tmpfiles.d/own.conf": "w /etc/secret - - - - hunter2\nw /sys/block/sda/queue/iosched - - - - 1",
    "/etc/modprobe.d/own.conf": "options secret key=hunter2\noptions libata force=3:noncq",
    "/etc/rc.local": "#!/bin/sh\nsecret-daemon\necho 64 > /sys/block/sdb/queue/nr_requests",
    "/etc/default/cpupower": "# governor='secret'\ngovernor='performance'",
    "/etc/tuned/active_profile": "mine",
    "/etc/tuned/mine/tuned.conf": "[cpu]\n# secret\ngovernor=powersave",
    f"{WANTS}/tuned.service": "",
    f"{WANTS}/secret.service": "",
    "/proc/cmdline": "root=UUID=secret rd.password=hunter2 intel_pstate=active",
    "/proc/55/comm": "power-profiles-",
    "/proc/77/comm": "secret-daemon",
    "/lib/modules/7.2.13/modules.dep": "kernel/block/bfq.ko.xz:\nkernel/drivers/secret/secret.ko.xz:",
    "/sys/class/ata_device/dev1.0/id": " ".join(
        {10: "5332", 11: "5235", 75: "001f", 76: "0100"}.get(number, "beef") for number in range(256)
    ),
    "/sys/class/scsi_host/host0/can_queue": "32",
    f"{CPUS}/intel_pstate/hwp_dynamic_boost": "0",
}


def rich(files: Mapping[str, str] | None = None) -> TuneHost:
    """A host with serial numbers in all places, and with files that are partly nobody's business."""
    own = dict(FILES)
    for number, (name, serial) in enumerate(SERIALS.items()):
        wwn = f"0x5002538d40c0fff{number}"
        own[udev(name)] = (
            f"S:disk/by-id/ata-Samsung_SSD_850_{serial}\nE:ID_SERIAL=Samsung_SSD_850_{serial}\n"
            f"E:ID_SERIAL_SHORT={serial}\nE:ID_WWN={wwn}\n"
        )
        own[f"/sys/class/block/{name}/device/wwid"] = f"naa.{wwn[2:]}"
    parts = raid5(members=("sde", "sdf", "sdg"), attributes=parity())
    host = TuneHost(FOUR, parts, cpus=INTEL, nodes={"nvme0n1": {}}, files=own | dict(files or {}))
    for name in SERIALS:
        host.links_too[f"/sys/class/block/{name}"] = f"../../devices/pci0000:00/ata1/host0/block/{name}"
    host.show(host._tree(), after_s=0)
    return host


def tuning_of(root: HostReader) -> Tuning:
    return KnobReader(root).read(Sampler(root).sample())


def captured(host: HostReader, folder: Path, *, with_serials: bool = False) -> Path:
    target = folder / "host.tar.gz"
    write_capture(host, target, with_serials=with_serials)
    return target


def test_the_same_knobs(tmp_path: Path) -> None:
    host = rich()
    before = tuning_of(host)
    assert before.subjects[0].kind == "sata"
    assert before.subjects[0].values["queue_depth"].default == "32"
    after = tuning_of(open_root(str(captured(host, tmp_path, with_serials=True))))
    assert after == before


def test_the_same_knobs_with_other_serial_numbers(tmp_path: Path) -> None:
    """A rule for a disk is still one for this disk, also where it has wildcards."""
    host = rich()
    before, after = tuning_of(host), tuning_of(open_root(str(captured(host, tmp_path))))
    hashes = {}
    for old, new in zip(before.subjects, after.subjects, strict=True):
        hashes[old.identity] = new.identity
        if old.match is not None and new.match is not None:
            hashes[old.match[1]] = new.match[1]
    text = msgspec.json.encode(before).decode()
    for old_word in sorted(filter(None, hashes), key=len, reverse=True):
        text = text.replace(old_word, hashes[old_word])
    assert msgspec.json.decode(text) == msgspec.json.decode(msgspec.json.encode(after))
    depth, requests = (after.subjects[0].values[knob] for knob in ("queue_depth", "nr_requests"))
    assert [(each.where, each.value) for each in depth.others if each.by is By.UDEV] == [
        ("/etc/udev/rules.d/60-ssd.rules:4", "8")
    ]
    assert [each.value for each in requests.others] == ["32"]
    assert [each.value for each in after.subjects[1].values["rq_affinity"].others] == ["2"]


def test_what_is_nobodys_business_is_not_in_it(tmp_path: Path) -> None:
    text = content(captured(rich(), tmp_path))
    for word in (
        "secret",
        "hunter2",
        "00:11:22",
        "beef beef",
        "5332 5235",
        "bought",
        *SERIALS.values(),
        GONE,
    ):
        assert word not in text, word
    assert "intel_pstate=active" in text
    assert re.search(r'ENV\{ID_SERIAL_SHORT\}=="h[0-9a-f]{12}\|h[0-9a-f]{12}"', text)


def test_what_raidtui_keeps_is_still_kept(tmp_path: Path) -> None:
    """Of a disk with a sign in its serial number that rules cannot have; what is kept of one that is gone."""
    host = rich()
    plan = plan_keep(
        host.snapshot(), host.tuning(), [KeepItem(subject="sdc", knob="scheduler", value="none")]
    )
    assert isinstance(plan, Plan)
    (rule,) = (step.content for step in plan.steps if step.content)
    assert '"Samsung_SSD_850_S2R5?NX0H912001"' in rule
    gone = rule.split("\n")[-3:-1]
    lost = "\n".join(gone).replace("S2R5?NX0H912001", GONE).replace("S2R5*NX0H912001", GONE)
    assert lost.count(GONE) == 2
    host = rich(files={RULES: f"{rule}{lost}\n", SYSCTL: "# Written by me\ndev.raid.speed_limit_max = 9\n"})
    path = captured(host, tmp_path)
    assert GONE not in content(path)
    before, after = tuning_of(host), tuning_of(open_root(str(path)))
    assert after.subjects[2].values["scheduler"].kept == "none"
    assert after.texts[SYSCTL] == before.texts[SYSCTL]
    assert len(after.texts[RULES].split("\n")) == len(before.texts[RULES].split("\n"))


def test_what_was_set_for_now(tmp_path: Path) -> None:
    """The record of it is taken along without who did it, and without the way back."""
    host = rich(files={"/proc/sys/kernel/random/boot_id": "4f1d"})
    place = tmp_path / "tune.json"
    tuner = Tuner(host, record=UndoRecord(host, place), journal=Journal(None))
    snapshot = host.snapshot()
    before = tuner.read(snapshot)
    plan = plan_set(snapshot, before, [AskedValue(subject="sda", knob="scheduler", value="none")])
    assert isinstance(plan, Plan)
    tuner.carry_out(plan, snapshot, before)
    host.extra[RECORD] = place.read_text()
    host.show(host._tree(), after_s=0)
    path = captured(host, tmp_path)
    with tarfile.open(path) as archive:
        file = archive.extractfile(RECORD[1:])
        assert file is not None
        (done,) = msgspec.json.decode(file.read())["done"]
    assert (done["who"], done["undo"]["steps"]) == ("", [])
    root = open_root(str(path))
    value = Tuner(root).read(Sampler(root).sample()).subjects[0].values["scheduler"]
    assert (value.text, value.set_by.by, value.at_boot) == ("none", By.NOW, "mq-deadline")


@pytest.mark.parametrize("unpacked", [True, False])
def test_a_capture_that_was_unpacked_and_one_of_a_capture(tmp_path: Path, *, unpacked: bool) -> None:
    first = captured(rich(), tmp_path)
    expected = tuning_of(open_root(str(first)))
    if unpacked:
        (tmp_path / "host").mkdir()
        subprocess.run(("tar", "-xzf", first, "-C", tmp_path / "host"), check=True)  # noqa: S607
        assert tuning_of(open_root(str(tmp_path / "host"))) == expected
    else:
        second = tmp_path / "second.tar.gz"
        write_capture(open_root(str(first)), second, with_serials=True)
        assert tuning_of(open_root(str(second))) == expected


def test_a_folder_that_is_empty(tmp_path: Path) -> None:
    """Where sysctl.d is there, keeping a value in it does not make it first."""
    host = rich()
    Tree(files=host._tree().files, links={}).write_to(tmp_path / "host")
    (tmp_path / "host/etc/tmpfiles.d/own.conf").unlink()
    (tmp_path / "host/etc/empty.d").mkdir()
    root = FolderReader(str(tmp_path / "host"))
    assert root.is_there("/etc/empty.d")
    assert not root.is_there("/etc/nothing.d")
    before = tuning_of(root)
    assert before.folders == {"/etc/udev/rules.d", "/etc/sysctl.d", "/etc/tmpfiles.d"}
    assert tuning_of(open_root(str(captured(root, tmp_path)))).folders == before.folders
