"""Knobs of disks, arrays and the system: values, ranges, what the kernel begins with."""

from __future__ import annotations

import pytest

from raidtui.host.block import kind_of
from raidtui.host.knobs.disk_knobs import default_read_ahead, ncq_depth
from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import By, ChangedValue, Value
from tests.hosts.specs import raid0, raid5
from tests.hosts.tune_host import BLOCK, TuneHost, parity, udev

pytestmark = pytest.mark.usefixtures("host_or_capture")

SCHEDULER = f"{BLOCK}/sda/queue/scheduler"


def known(value: Value) -> tuple[str, str | None, int | None, int | None]:
    """Value, default and range."""
    return value.text, value.default, value.low, value.high


def test_a_sata_disk() -> None:
    disk = TuneHost().subject("sda")
    assert (disk.kind, disk.identity, disk.model, disk.tags) == ("sata", "SSDA0001", "SSDSC2BB240G4", 32)
    assert {name: known(value) for name, value in disk.values.items()} == {
        "scheduler": ("mq-deadline", "mq-deadline", None, None),
        "queue_depth": ("32", None, 1, 32),
        "nr_requests": ("64", "64", 4, 2048),
        "read_ahead_kb": ("128", "128", 0, None),
        "rq_affinity": ("1", "1", None, None),
        "wbt_lat_usec": ("2000", "2000", 0, None),
        "rotational": ("0", None, None, None),
        "discard_max_bytes": ("2147450880", "2147450880", 0, 2147450880),
        "timeout": ("30", "30", 1, 3600),
    }
    unexplained = {"queue_depth", "rotational"}
    assert {name for name, value in disk.values.items() if value.unexplained} == unexplained
    assert {value.set_by.words for name, value in disk.values.items() if name not in unexplained} == {
        "kernel"
    }
    assert all(value.survives for name, value in disk.values.items() if name not in unexplained)
    assert disk.needs == (Fact(kind=FactKind.SERIAL, subject="sda", value="SSDA0001"),)
    assert disk.absent == {}


def test_an_nvme_disk_says_why_it_has_no_queue_depth() -> None:
    disk = TuneHost(raid0(members=("nvme0n1", "nvme1n1"))).subject("nvme0n1")
    assert disk.kind == "nvme"
    assert known(disk.values["scheduler"]) == ("none", "none", None, None)
    assert known(disk.values["nr_requests"]) == ("1023", "1023", 4, 1023)
    assert disk.absent["queue_depth"] == (
        "an NVMe disk has no queue_depth: it has its own queues, of nr_requests each"
        " (nvme.io_queue_depth on the kernel command line)"
    )
    assert disk.absent["timeout"] == (
        "an NVMe disk has no timeout of its own: nvme_core.io_timeout applies to all of them"
    )


def test_a_virtio_disk_says_why_it_has_no_ncq() -> None:
    host = TuneHost(raid0(members=("vda", "vdb")), nodes={"vda": {"device/queue_depth": "-"}})
    assert host.subject("vda").absent["queue_depth"] == (
        "a virtio disk has no NCQ: the hypervisor has its queue"
    )


def test_the_schedulers_that_are_modules() -> None:
    """Reading lists those that are loaded; a write loads the others."""
    assert TuneHost().knob("sda", "scheduler").choices == ("none", "mq-deadline")
    modules = {
        "/lib/modules/7.2.13/modules.dep": "kernel/block/bfq.ko:\nkernel/block/kyber-iosched.ko.xz:",
        "/lib/modules/7.2.13/modules.builtin": "kernel/block/mq-deadline.ko",
    }
    host = TuneHost(files=modules, nodes={"sda": {"queue/scheduler": "[none]"}})
    value = host.knob("sda", "scheduler")
    assert (value.text, value.choices) == ("none", ("none", "mq-deadline", "kyber", "bfq"))


@pytest.mark.parametrize(
    ("words", "depth"),
    [
        ({75: "001f", 76: "0706"}, 32),
        ({75: "001e", 76: "0106"}, 31),
        ({75: "001f", 76: "0006"}, 1),  # no NCQ
        ({76: "ffff"}, 1),  # word 76 is not used by this disk
        ({75: "zz"}, None),
    ],
)
def test_what_a_disk_says_of_its_queue(words: dict[int, str], depth: int | None) -> None:
    """Words 75 and 76 of IDENTIFY DEVICE, as /sys/class/ata_device shows them, eight to a line."""
    table = [words.get(number, "0000") for number in range(256)]
    lines = "\n".join(" ".join(table[start : start + 8]) for start in range(0, 256, 8))
    host = TuneHost(files={"/sys/class/ata_device/dev1.0/id": lines})
    link = "../../devices/pci0000:00/0000:00:06.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"
    assert ncq_depth(host, link) == depth
    value = host.knob("sda", "queue_depth")
    assert (value.default, value.high) == (None if depth is None else str(depth), depth or 32)


def test_kinds() -> None:
    pci = "../../devices/pci0000:00/0000:00:1f.2"
    assert kind_of("sda", f"{pci}/ata3/host2/target2:0:0/2:0:0:0/block/sda") == "sata"
    assert kind_of("sdb", f"{pci}/host2/port-2:0/end_device-2:0/block/sdb") == "scsi"
    assert kind_of("sdc", f"{pci}/usb1/1-1/1-1:1.0/host3/target3:0:0/3:0:0:0/block/sdc") == "usb"
    assert kind_of("vda", "../../devices/pci0000:00/virtio0/block/vda") == "virtio"
    assert kind_of("nvme0n1", f"{pci}/nvme/nvme0/nvme0n1") == "nvme"
    assert kind_of("ubda", "../devices/platform/uml-blkdev.0/block/ubda") == "other"


@pytest.mark.parametrize(("optimal", "kib"), [(None, "128"), (0, "128"), (65536, "128"), (524288, "1024")])
def test_the_read_ahead_that_the_kernel_begins_with(optimal: int | None, kib: str) -> None:
    assert default_read_ahead(optimal) == kib


def test_requests_without_a_scheduler_are_the_drivers() -> None:
    host = TuneHost(nodes={"sda": {"queue/scheduler": "[none] mq-deadline", "queue/nr_requests": "32"}})
    assert known(host.knob("sda", "nr_requests")) == ("32", "32", 4, 32)


def test_what_udev_knows_a_disk_by() -> None:
    host = TuneHost(
        files={
            udev("sda"): "E:ID_SERIAL=Samsung_SSD_S1\nE:ID_SERIAL_SHORT=S1\nE:ID_WWN=0x5002",
            udev("sdb"): "E:ID_WWN=0x5003",
            udev("sdc"): "E:ID_MODEL=nothing",
            udev("sdd"): "E:ID_SERIAL=Samsung_SSD_S1\nE:ID_SERIAL_SHORT=S4\nE:ID_WWN=0x5005",
            f"{BLOCK}/sdc/wwid": "naa.5004",
        }
    )
    # The serial number of sda and sdd is the same, as behind a bad bridge: their WWNs are not.
    assert host.subject("sda").match == ("ENV{ID_WWN}", "0x5002")
    assert host.subject("sdd").match == ("ENV{ID_WWN}", "0x5005")
    assert host.subject("sdb").match == ("ENV{ID_WWN}", "0x5003")
    assert host.subject("sdc").match == ("ATTR{wwid}", "naa.5004")
    host = TuneHost(files={udev(name): "E:ID_SERIAL=Bridge_0" for name in ("sda", "sdd")})
    assert (host.subject("sda").match, host.subject("sda").no_match) == (
        None,
        "sda and sdd have the same serial number: a rule would match all of them",
    )
    host = TuneHost(files={udev("sda"): "E:ID_MODEL=nothing"})
    disk = host.subject("sda")
    assert disk.match is None
    assert disk.no_match == "sda has neither a serial number nor a WWN that a udev rule could match"
    assert disk.needs == (Fact(kind=FactKind.TEXT, subject=f"{BLOCK}/sda/diskseq", value="9"),)


def test_a_raid5() -> None:
    host = TuneHost(
        raid5(attributes=parity(stripe_cache_size="4096"), bitmap=(0, 1), limits=(None, 500_000)),
        files={f"{BLOCK}/md125/queue/read_ahead_kb": "2048"},
    )
    array = host.subject("md125")
    assert {name: known(value) for name, value in array.values.items()} == {
        "read_ahead_kb": ("2048", None, 0, None),
        "stripe_cache_size": ("4096", "256", 17, 32768),
        "group_thread_cnt": ("0", "0", 0, 8192),
        "preread_bypass_threshold": ("1", "1", 0, 4096),
        "bitmap": ("internal", None, None, None),
        "sync_speed_min": ("system", "system", 1, 2**31 - 1),
        "sync_speed_max": ("500000", "system", 1, 2**31 - 1),
    }
    assert array.values["stripe_cache_size"].set_by.by is By.UNKNOWN
    assert array.values["stripe_cache_size"].at_boot == "256"
    assert array.guard is not None
    assert array.match == ("ATTR{md/uuid}", host.text(f"{BLOCK}/md125/md/uuid"))


def test_a_level_without_stripes_or_redundancy() -> None:
    array = TuneHost(raid0(members=("sda", "sdb"))).subject("md123")
    assert array.absent["stripe_cache_size"] == (
        "raid0 has no stripe_cache_size: only RAID 4, 5 and 6 have a stripe cache"
    )
    assert array.absent["sync_speed_max"] == "raid0 has no redundancy, so nothing is synced"


def test_the_system() -> None:
    assert known(TuneHost().knob("system", "speed_limit_max")) == ("200000", "200000", 1, 2**31 - 1)
    system = TuneHost(limits=None).tuning().subject("system")
    assert system is not None
    assert system.absent["speed_limit_max"] == "md is not loaded; modprobe md_mod loads it"


def test_members_come_first_array_by_array() -> None:
    host = TuneHost(disks={"sde": {}}, nodes={"sde": {}, "nvme0n1": {}})
    tuning = host.tuning()
    names = [disk.name for disk in tuning.of(tuning.subjects[0].scope)]
    assert names == ["sda", "sdb", "sdc", "sdd", "nvme0n1", "sde"]
    key = host.snapshot().arrays[0].key
    assert [disk.name for disk in tuning.members(key)] == ["sda", "sdb", "sdc", "sdd"]


def test_what_this_run_changed() -> None:
    host = TuneHost(nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}})
    changed = {SCHEDULER: ChangedValue(path=SCHEDULER, before="mq-deadline", value="none")}
    value = host.tuning(changed).subjects[0].values["scheduler"]
    assert (value.set_by.words, value.at_boot, value.survives) == ("this run", "mq-deadline", False)
    # Somebody else has written since.
    host.by_hand(SCHEDULER, "none mq-deadline [bfq]")
    value = host.tuning(changed).subjects[0].values["scheduler"]
    assert (value.set_by.words, value.text) == ("not known", "bfq")


def test_a_host_without_cpufreq_says_so() -> None:
    tuning = TuneHost(files={"/proc/cmdline": "quiet elevator=noop"}).tuning()
    assert tuning.lacks == (
        "This host has no cpufreq: the hypervisor or the firmware decides how fast the processors run.",
        "elevator=noop on the kernel command line is ignored since Linux 5.0.",
    )
    assert tuning.subject("cpu") is None
