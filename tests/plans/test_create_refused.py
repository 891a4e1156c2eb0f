"""Create: every refusal. mdadm would refuse much of this too, but only after the devices are wiped."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest
from tests.hosts.specs import raid1, raid10
from tests.plans.goldens import accepted
from tests.plans.new_array import FOUR, GPT, MOUNT, UUID, device, plain, request, survey
from tests.plans.running import NO_MDADM

DATA = raid10(members=("sdm", "sdn", "sdo", "sdp"))


def asked(wanted: CreateRequest) -> Plan | Refusal:
    return plan_create(wanted, survey())


test_requests = accepted(
    {
        "level: linear": plain("linear"),
        "name: with a blank": request(name="a b"),
        "uuid: none": request(uuid="x"),
        "metadata: 0.90": request(metadata="0.90"),
        "number: too large": request(number=1 << 20),
        "few: raid0": plain("raid0", "sda2"),
        "few: raid1": plain("raid1", "sda2"),
        "few: raid4": plain("raid4", "sda2"),
        "few: raid5": plain("raid5", "sda2"),
        "few: raid6": plain("raid6", *FOUR[:3]),
        "few: raid10": plain("raid10", "sda2"),
        "many: raid6": plain("raid6", *(f"sd{number}" for number in range(257))),
        "missing: raid0": plain("raid0", "sda2", "missing"),
        "missing: raid1": plain("raid1", "missing", "missing"),
        "missing: raid5": plain("raid5", "sda2", "missing", "missing"),
        "missing: raid6": plain("raid6", "sda2", *["missing"] * 3),
        "missing: raid10": plain("raid10", "sda2", "sdb2", "missing", "missing"),
        "missing: a spare": plain("raid1", "sda2", "sdb2", spares=("missing",)),
        "missing: a journal": plain("raid5", journal="missing"),
        "layout: raid10 x2": plain("raid10", layout="x2"),
        "layout: raid10 n1": plain("raid10", layout="n1"),
        "layout: raid10 ls": plain("raid10", layout="ls"),
        "layout: raid10 n3 of two": plain("raid10", "sda2", "sdb2", layout="n3"),
        "layout: raid5 n2": plain("raid5", layout="n2"),
        "layout: raid1": plain("raid1", layout="n2"),
        "layout: raid4": plain("raid4", layout="ls"),
        "chunk: raid1": plain("raid1", chunk_kib=64),
        "chunk: raid5, 2": plain("raid5", chunk_kib=2),
        "chunk: raid5, negative": plain("raid5", chunk_kib=-64),
        "chunk: raid5, 96": plain("raid5", chunk_kib=96),
        "chunk: raid0, 6": plain("raid0", chunk_kib=6),
        "chunk: larger than a member": plain("raid0", "sda2", "sdb2", chunk_kib=1 << 27),
        "bitmap: raid0": plain("raid0", bitmap="internal"),
        "bitmap: a file": plain("raid1", bitmap="/file"),
        "bitmap: none of raid5": plain("raid5", bitmap="none"),
        "policy: raid0": plain("raid0", consistency_policy="resync"),
        "policy: unknown": plain("raid5", consistency_policy="x"),
        "policy: resync of raid6": plain("raid6", consistency_policy="resync"),
        "policy: ppl of raid6": plain("raid6", consistency_policy="ppl"),
        "policy: ppl and a bitmap": plain("raid5", consistency_policy="ppl", bitmap="internal"),
        "policy: bitmap without one": plain("raid1", consistency_policy="bitmap", bitmap="none"),
        "policy: resync with a bitmap": plain("raid1", consistency_policy="resync", bitmap="internal"),
        "policy: journal without one": plain("raid5", consistency_policy="journal"),
        "journal: raid10": plain("raid10", journal="sde"),
        "journal: with a bitmap": plain("raid5", journal="sde", bitmap="internal"),
        "journal: with ppl": plain("raid5", journal="sde", consistency_policy="ppl"),
        "clean: raid5": plain("raid5", assume_clean=True),
        "clean: raid0": plain("raid0", assume_clean=True),
        "spares: raid0": plain("raid0", "sda2", "sdb2", spares=("sdc2",)),
        "size: raid0": plain("raid0", size_kib=4096),
        "size: negative": plain("raid1", size_kib=-1),
        "size: less than a chunk": plain("raid1", size_kib=32),
        "size: more than there is": plain("raid1", size_kib=100 * 1024**2),
        "write-mostly: raid10": plain("raid10", write_mostly=("sda2",)),
        "write-mostly: no member": plain("raid1", write_mostly=("sde",)),
        "write-mostly: with spares": plain("raid1", write_mostly=("sda2",), spares=("sde",)),
        "write-mostly: all": plain("raid1", "sda2", "missing", write_mostly=("sda2",)),
        "failfast: raid5": plain("raid5", failfast=True),
        "twice: a member": plain("raid1", "sda2", "sda2"),
        "twice: a spare": plain("raid1", "sda2", "sdb2", spares=("sda2",)),
        "twice: a journal": plain("raid5", journal="sda2"),
        "device: not there": plain("raid1", "sda2", "sdz2"),
    },
    asked,
)


def mirror(found: Device) -> Plan | Refusal:
    return plan_create(plain("raid1", "sda2", "sdb2"), survey(found, device("sdb2")))


test_devices_that_cannot_be_taken = accepted(
    {
        "device: mounted": device("sda2", MOUNT),
        "device: swap": device("sda2", Use(kind="swap", what="sda2")),
        "device: held": device("sda2", Use(kind="holder", what="dm-0", detail="vg-lv")),
        "device: used by something": device("sda2", busy="something uses it"),
        "device: read-only": device("sda2", read_only=True),
        "device: too small": device("sda2", size_bytes=4 << 20),
        "device: of unknown size": replace(
            device("sda2"), disk=replace(device("sda2").disk, size_bytes=None)
        ),
        "device: larger sectors": device("sda2", sector_bytes=4096),
    },
    mirror,
)

WHOLE = device("sda", GPT, Use(kind="partition", what="sda2"))


def whole(*devices: Device, second: str = "sdb2", **more: Any) -> Plan | Refusal:
    return plan_create(plain("raid1", "sda", second), survey(WHOLE, *devices, **more))


def taken(host: Survey | None = None, **more: Any) -> Plan | Refusal:
    """Another array, on a host that has one."""
    return plan_create(request(**more), host or survey(arrays=(DATA,)))


def formerly(uuid: str | None, name: str) -> Plan | Refusal:
    block = Superblock(uuid=uuid, name=name)
    devices = (device("sda2", superblock=block), *(device(each) for each in FOUR[1:]))
    return taken(survey(*devices, arrays=(DATA,)), name="new")


test_hosts = accepted(
    {
        "whole disk: and its partition": lambda: whole(device("sda2"), second="sda2"),
        "whole disk: its partition is mounted": lambda: whole(device("sda2", MOUNT), device("sdb2")),
        "whole disk: its partition is a member": lambda: whole(
            device("sdb2"), arrays=(raid1(members=("sda2", "sdc2")),)
        ),
        "taken: a former member": lambda: formerly(DATA.array_uuid, "nas:data"),
        "taken: a member": lambda: taken(
            survey(arrays=(raid10(members=("sda2", "sdn", "sdo", "sdp")),)), name="new"
        ),
        "taken: the name, a number": lambda: taken(name="127"),
        "taken: the name": lambda: taken(name="data"),
        "taken: the number": lambda: taken(name="new", number=127),
        "taken: the UUID": lambda: taken(name="new", uuid=DATA.array_uuid),
        "taken: the UUID, by a member": lambda: formerly(UUID, ""),
        "host: not root": lambda: taken(survey(writable=False)),
        "host: no mdadm": lambda: taken(survey(mdadm=NO_MDADM)),
    }
)
