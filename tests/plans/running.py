"""A host whose arrays run, and plans that must be plans, or refusals."""

from __future__ import annotations

from typing import Any

from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.array import Array
from raidtui.model.disk import Use, contents_value
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal, RunTool, Step
from raidtui.model.survey import Device, Superblock, Survey
from tests.hosts.kernel import Kernel
from tests.hosts.specs import COMPONENT_KIB, ArraySpec
from tests.plans.new_array import device

BIG = COMPONENT_KIB * 1024 + (1 << 20)
RAID = Use(kind="signature", what="linux_raid_member")
OTHER = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
KERNEL_WORDS = ("mounts", "holders", "swaps", "writable", "hostname")
NO_MDADM = Answer[Any](kind=AnswerKind.NO_TOOL, source="mdadm --version", why="mdadm is not installed")


def host(*arrays: ArraySpec, devices: tuple[Device, ...] = (), **more: Any) -> Survey:
    """A host with these arrays and free devices; mounts, holders, swaps and writable as for ``Kernel``."""
    seen = {word: more.pop(word) for word in KERNEL_WORDS if word in more}
    return Survey(
        snapshot=Kernel(*arrays, **seen).sampler().sample(),
        devices={each.disk.name: each for each in devices},
        **{"mdadm": known((4, 2)), "groups": known(()), "homehost": "nas", **more},
    )


def first(survey: Survey) -> Array:
    """The first array."""
    return survey.snapshot.arrays[0]


def planned(found: Plan | Refusal) -> Plan:
    """The plan, which must be one."""
    assert isinstance(found, Plan), found
    return found


def refused(found: Plan | Refusal) -> str:
    """The refusal's sentence."""
    assert isinstance(found, Refusal), found
    return found.sentence


def fact(kind: FactKind, subject: str, value: str = "") -> Fact:
    return Fact(kind=kind, subject=subject, value=value)


def former(uuid: str | None = OTHER, name: str | None = "nas:old", **more: Any) -> Superblock:
    """The superblock of an array that does not run."""
    return Superblock(uuid=uuid, name=name, **more)


def same(device: Device, *, untouched: bool = True) -> tuple[Fact, ...]:
    """What holds of a free device that is still the one that was looked at."""
    name = device.disk.name
    facts = (
        fact(FactKind.SERIAL, name, f"S-{name.rstrip('0123456789')}"),
        fact(FactKind.SIZE, name, str(device.disk.size_bytes)),
        fact(FactKind.FREE, name),
    )
    holds = contents_value(device.disk.uses)
    seen = (fact(FactKind.UNTOUCHED, name, f"digest of {name}"), fact(FactKind.CONTENTS, name, holds))
    return (*facts, *seen) if untouched else facts


def manage(
    array: ArraySpec,
    words: str,
    why: str,
    *,
    needs: tuple[Fact, ...] = (),
    proves: str,
    undo: tuple[Step, ...] = (),
) -> Step:
    """A step of ``mdadm --manage``; ``proves`` is "sda faulty"."""
    member, _, states = proves.partition(" ")
    return RunTool(
        argv=("mdadm", "--manage", f"/dev/{array.name}", *words.split()),
        why=why,
        needs=(fact(FactKind.ARRAY, array.name, array.array_uuid), *needs),
        proves=(fact(FactKind.MEMBER, f"{array.name}/{member}", states),),
        undo=undo,
    )


def serial(name: str) -> Fact:
    """That a member lies on the disk that was meant."""
    return fact(FactKind.SERIAL, name, f"S{name.rstrip('0123456789').upper()}0001")


def was(array: ArraySpec) -> Device:
    """A device that was a member of an array."""
    return device("sdz", RAID, size_bytes=BIG, superblock=former(array.array_uuid, f"nas:{array.label}"))
