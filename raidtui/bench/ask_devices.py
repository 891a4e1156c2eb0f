"""Devices that shall be written to: the checks of a new array, and a serial number that somebody typed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.bench.course import Scratch
from raidtui.bench.place import Place, below, find_device
from raidtui.bench.scratch import plan_scratch, survey_of
from raidtui.host.roots.root import Root
from raidtui.model.geometry import capacity_kib, raid10_layout, usable_kib
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import device_facts, loss_of
from raidtui.plans.target import needs_root
from raidtui.view.units import KIB

_CHUNK_KIB = 512


class Site(Struct, frozen=True, kw_only=True):
    """Where somebody may measure.

    Args:
        scratch: what arrays are made of, if so.
        loses: what is gone afterwards, a sentence each.
        arrays: the plans that make the arrays.
    """

    place: Place
    scratch: Scratch | None = None
    loses: tuple[str, ...] = ()
    arrays: tuple[Plan, ...] = ()


def offer_device(root: Root, name: str, *, write: bool, confirmed: Sequence[str]) -> Site | Refusal:
    """Return a device as a place, with what is lost; or why it is none."""
    place = find_device(root, name)
    if isinstance(place, Refusal):
        return place
    if not write:
        return Site(place=place)
    survey = survey_of(root, (name,))
    device = survey.devices.get(name)
    if device is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no block device {name}")
    refusal = (
        needs_root(survey.snapshot)
        or _refuse((device,), survey)
        or _unconfirmed((device,), survey, confirmed)
    )
    if refusal:
        return refusal
    loses = tuple(text for text in (loss_of(device, survey),) if text)
    return Site(place=replace(place, writes=True, needs=device_facts(device)), loses=loses)


def offer_scratch(
    root: Root, scratch: Scratch, shapes: Sequence[Scratch], confirmed: Sequence[str]
) -> Site | Refusal:
    """Return the devices of scratch arrays as a place, with what is lost; or why there can be no such arrays.

    Args:
        root: the host.
        scratch: devices and what all arrays have in common.
        shapes: all arrays that will be made.
        confirmed: what somebody typed.
    """
    survey = survey_of(root, scratch.devices)
    if refusal := needs_root(survey.snapshot):
        return refusal
    devices = []
    for name in scratch.devices:
        device = survey.devices.get(name)
        if device is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no block device {name}")
        devices.append(device)
    refusal = _refuse(devices, survey)
    arrays = []
    for shape in dict.fromkeys(shapes):
        made = plan_scratch(shape, survey) if shape.level else None
        if isinstance(made, Refusal):
            refusal = refusal or made
        elif made is not None:
            arrays.append(made[1])
    if refusal := refusal or _unconfirmed(devices, survey, confirmed):
        return refusal
    disks = tuple(dict.fromkeys(disk for name in scratch.devices for disk in below(root, name)[0]))
    loses = tuple(text for device in devices if (text := loss_of(device, survey)))
    needs = tuple(fact for device in devices for fact in device_facts(device))
    place = Place(disks=disks, members=scratch.devices)
    least = min((_array_bytes(shape, devices) for shape in shapes), default=0)
    made_of = replace(scratch, needs=needs, least_bytes=least)
    return Site(place=place, scratch=made_of, loses=loses, arrays=tuple(arrays))


def _array_bytes(shape: Scratch, devices: Sequence[Device]) -> int:
    """Return how large a scratch array will be; a device by itself is as large as it is."""
    sizes = [device.disk.size_bytes or 0 for device in devices]
    if not shape.level:
        return sizes[0]
    layout = raid10_layout(shape.layout or "n2") if shape.level == "raid10" else None
    usable = usable_kib(sizes, chunk_kib=shape.chunk_kib or _CHUNK_KIB)
    member = min((shape.size_kib or usable[0], *usable))
    return capacity_kib(shape.level, layout, member, len(devices)) * KIB


def _refuse(devices: Sequence[Device], survey: Survey) -> Refusal | None:
    for device in devices:
        if refusal := refuse_device(device, survey):
            return refusal
    return refuse_old_arrays(devices, survey)


def _unconfirmed(devices: Sequence[Device], survey: Survey, confirmed: Sequence[str]) -> Refusal | None:
    """Nothing is overwritten before somebody has typed which disks these are."""
    missing = [device for device in devices if confirm_word(device) not in confirmed]
    if not missing:
        return None
    lost = [loss_of(device, survey) or f"{device.disk.name}: nothing that is known" for device in devices]
    words = " ".join(f"--confirm={confirm_word(device)}" for device in missing)
    return Refusal(
        code=RefusalCode.NEEDS_CONFIRMATION,
        why=f"it destroys what is on the devices ({'; '.join(lost)})",
        remedy=f"if that is what you want, give their serial numbers: {words}",
    )


def confirm_word(device: Device) -> str:
    """Return what must be typed for a device: its serial number or WWN, or its name where it has none."""
    return device.disk.identity or device.disk.name
