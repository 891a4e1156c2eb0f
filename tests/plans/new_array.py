"""A host with free devices, requests for new arrays, and what is planned of them."""

from __future__ import annotations

from typing import Any

from raidtui.model.answer import known
from raidtui.model.disk import Disk, Use
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec

GIB = 1 << 30
UUID = "01234567:89abcdef:01234567:89abcdef"
FOUR = ("sda2", "sdb2", "sdc2", "sdd2")
GPT = Use(kind="signature", what="gpt")
MOUNT = Use(kind="mount", what="/srv", detail="ext4")


def device(name: str, *uses: Use, size_bytes: int = 100 * GIB, **more: Any) -> Device:
    """A free partition of a disk of its own, or a whole disk, by its name."""
    whole = name.rstrip("0123456789")
    disk = Disk(name=name, disk=whole, size_bytes=size_bytes, serial=f"S-{whole}", uses=uses)
    part = {"start_bytes": 1 << 20} if whole != name else {}
    probed = known(tuple(use for use in uses if use.kind == "signature"))
    return Device(disk=disk, **{"digest": f"digest of {name}", "probed": probed, **part, **more})


def survey(
    *devices: Device, arrays: tuple[ArraySpec, ...] = (), writable: bool = True, **more: Any
) -> Survey:
    """A host with these devices, or sda2 to sdd2 and all of sde and sdf."""
    found = devices or tuple(device(name) for name in (*FOUR, "sde", "sdf"))
    return Survey(
        snapshot=Kernel(*arrays, writable=writable).sampler().sample(),
        devices={each.disk.name: each for each in found},
        **{"mdadm": known((4, 2)), "groups": known(()), "homehost": "nas", **more},
    )


def request(**more: Any) -> CreateRequest:
    """The array of the brief: RAID-10 near 2, chunk 32 KiB, no bitmap."""
    given = {"name": "127", "uuid": UUID, "level": "raid10", "devices": FOUR, "chunk_kib": 32, **more}
    return CreateRequest(**given)


def plain(level: str, *devices: str, **more: Any) -> CreateRequest:
    """An array with nothing said but its level and devices."""
    return request(**{"level": level, "devices": devices or FOUR, "chunk_kib": 0, **more})


def plan(asked: CreateRequest, host: Survey | None = None) -> Plan:
    """The plan, which must be one."""
    found = plan_create(asked, host or survey())
    assert isinstance(found, Plan), found
    return found


def argv(asked: CreateRequest, host: Survey | None = None) -> tuple[str, ...]:
    """The command that creates."""
    return next(step.argv for step in plan(asked, host).steps if "--create" in step.argv)


def refused(asked: CreateRequest, host: Survey | None = None) -> str:
    """The refusal's sentence."""
    found = plan_create(asked, host or survey())
    assert isinstance(found, Refusal), found
    return found.sentence


def fact(kind: FactKind, subject: str, value: str = "") -> Fact:
    return Fact(kind=kind, subject=subject, value=value)


def same(name: str, *, untouched: bool = True, holds: str = "") -> tuple[Fact, ...]:
    """What holds of a device that is still the one that was looked at."""
    facts = (
        fact(FactKind.SERIAL, name, f"S-{name.rstrip('0123456789')}"),
        fact(FactKind.SIZE, name, str(100 * GIB)),
        fact(FactKind.FREE, name),
    )
    seen = (fact(FactKind.UNTOUCHED, name, f"digest of {name}"), fact(FactKind.CONTENTS, name, holds))
    return (*facts, *seen) if untouched else facts
