"""Locating a disk: what distinguishes it from its neighbours, and the light of its bay (ledctl(8))."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.model.disk import disk_number
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, Refusal, RunTool, Step
from raidtui.model.survey import Device, Survey
from raidtui.plans.target import needs_root

_BY_PATH = "disk/by-path/"


def slot_of(device: Device) -> str:
    """Return where a device is plugged in, as udev names it (pci-0000:00:17.0-ata-3); "" where not known."""
    return bay_of(device.links)


def bay_of(links: Iterable[str]) -> str:
    """Return the same by the links of a device under /dev."""
    for link in links:
        if link.startswith(_BY_PATH):
            return link.removeprefix(_BY_PATH).partition("-part")[0]
    return ""


def which_disk(device: Device) -> str:
    """Return a sentence that finds the disk in its case: model, serial number, slot."""
    disk = device.disk
    words = [
        disk.model or "unknown model",
        disk_number(disk.serial or "", disk.identity) or "no serial number",
        f"at {slot_of(device)}" if slot_of(device) else "",
    ]
    on = f" (on {disk.disk})" if disk.disk != disk.name else ""
    return f"{disk.name}{on} is: {', '.join(word for word in words if word)}."


def which_disk_notes(survey: Survey, *names: str) -> tuple[str, ...]:
    """Return that sentence for each known device, and its trouble, if any."""
    found = [survey.devices[name] for name in names if name in survey.devices]
    return tuple(text for device in found for text in (which_disk(device), trouble_words(device)) if text)


def trouble_words(device: Device) -> str:
    """Return a sentence on the trouble of a disk or its cable; "" if none is known."""
    return f"{device.disk.name} {device.trouble}." if device.trouble else ""


def plan_locate(survey: Survey, name: str, *, on: bool = True) -> Plan | Refusal:
    """Return the plan that lets the light of a disk's bay blink, or ends that.

    Args:
        survey: the host, with this device.
        name: the device.
        on: False puts the light out.
    """
    if refusal := needs_root(survey.snapshot) or survey.refuse_tool("ledctl"):
        return refusal
    device = survey.devices.get(name)
    if device is None:
        return survey.no_device(name)
    disk = device.disk
    begin, end = _light(device, on=True), _light(device, on=False)
    return Plan(
        title=f"locate light of {disk.disk} {'on' if on else 'off'}",
        subject=disk.disk,
        steps=(begin if on else end,),
        undo=(end if on else begin,),
        notes=(which_disk(device), "Bays without a locate light, or a controller for it, stay dark."),
    )


def _light(device: Device, *, on: bool) -> Step:
    """Without ``--listed-only``, ledctl puts the lights of all other bays out, those of failed disks, too."""
    disk = device.disk
    same = (Fact(kind=FactKind.SERIAL, subject=disk.disk, value=disk.identity),) if disk.identity else ()
    return RunTool(
        argv=("ledctl", "--listed-only", f"{'locate' if on else 'locate_off'}=/dev/{disk.disk}"),
        why="its bay light blinks" if on else "its bay light is off again",
        needs=same,
    )
