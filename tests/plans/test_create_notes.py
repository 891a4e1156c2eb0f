"""Create: what is said before it is done."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.survey import Device
from raidtui.plans.create.create_request import CreateRequest
from tests.plans.goldens import accepted
from tests.plans.new_array import GIB, device, plain, plan, survey

CONF = "/etc/mdadm/mdadm.conf"


def notes(level: str, *devices: Device) -> tuple[str, ...]:
    """Of an array on these devices alone."""
    return plan(plain(level, *(each.disk.name for each in devices)), survey(*devices)).notes


def of(name: str, *, rotational: bool | None = False, **disk: str | None) -> Device:
    """An SSD."""
    found = device(name)
    return replace(found, disk=replace(found.disk, rotational=rotational, **disk))


def said(asked: CreateRequest) -> tuple[str, ...]:
    return plan(asked).notes


def looks(conf: str) -> tuple[str, ...]:
    """What is said of where mdadm looks for members."""
    found = plan(plain("raid1", "sda2", "sdb2"), survey(texts={CONF: conf})).notes
    return tuple(note for note in found if "mdadm looks" in note)


ONE, OLD = device("sda2"), "Samsung SSD 850"
test_requests = accepted(
    {
        "raid0": plain("raid0"),
        "raid1": plain("raid1", "sda2", "sdb2"),
        "raid1, one of two missing": plain("raid1", "sda2", "missing"),
        "raid1, one of three missing": plain("raid1", "sda2", "sdb2", "missing"),
        "raid1, assumed clean": plain("raid1", "sda2", "sdb2", assume_clean=True),
        "raid1, metadata 1.0": plain("raid1", "sda2", "sdb2", metadata="1.0"),
        "raid1, whole disks": plain("raid1", "sde", "sdf"),
        "raid1, a whole disk": plain("raid1", "sda2", "sdf"),
        "raid5": plain("raid5"),
        "raid5, one missing": plain("raid5", "sda2", "missing", "sdc2"),
        "raid5, a spare": plain("raid5", "sda2", "sdb2", "sdc2", spares=("sdd2",)),
        "raid6": plain("raid6"),
        "raid6, one missing": plain("raid6", "sda2", "sdb2", "sdc2", "missing"),
        "raid6, two missing": plain("raid6", "sda2", "sdb2", "missing", "missing"),
        "raid6, 1 GiB of each": plain("raid6", size_kib=1024**2),
        "raid10 f2": plain("raid10", layout="f2"),
        "raid10 o3": plain("raid10", layout="o3"),
        "raid10, a long name": plain("raid10", name="a" * 28),
        "raid10, a name and a number": plain("raid10", name="data", number=9),
    },
    said,
)
test_devices = accepted(
    {
        "devices: one disk on two paths": lambda: notes("raid1", ONE, of("sdb2", serial="S-sda")),
        "devices: a larger one": lambda: notes("raid1", ONE, device("sdc2", size_bytes=120 * GIB)),
        "devices: a larger one, raid0": lambda: notes("raid0", ONE, device("sdc2", size_bytes=120 * GIB)),
        "devices: a little larger one": lambda: notes(
            "raid1", ONE, device("sdb2", size_bytes=100 * GIB + (1 << 20))
        ),
        "devices: two of one disk": lambda: notes("raid1", ONE, device("sda3", size_bytes=50 * GIB)),
        "devices: one is not aligned": lambda: notes("raid1", ONE, device("sdd2", start_bytes=63 * 512)),
        "models: one model": lambda: notes("raid1", of("sda2", model=OLD), of("sdb2", model=OLD)),
    }
)
test_where_mdadm_looks = accepted(
    {
        "mdadm looks at some": "# mine\nDEVICE /dev/sd[ab]1\n",
        "mdadm looks at one": "MAILADDR root\ndevice /dev/sda1 # old\n",
        "mdadm looks everywhere": "DEVICE partitions containers\n",
        "mdadm looks everywhere, as the line is a comment": "# DEVICE /dev/sda1\n",
    },
    looks,
)


def test_models_that_do_not_age_alike() -> None:
    """Of different models, of models that are not known; and hard disks."""
    for pair in (
        (of("sda2", model=OLD), of("sdb2", model="Micron 7400")),
        (of("sda2", model=OLD), of("sdb2", model=None)),
        (of("sda2", model=None), of("sdb2", model=None)),
        (of("sda2", model=OLD, rotational=True), of("sdb2", model=OLD, rotational=True)),
    ):
        assert not any("tend to fail" in text for text in notes("raid1", *pair))
