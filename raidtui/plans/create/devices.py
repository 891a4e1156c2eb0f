"""The devices of a new array: which can be taken together, and what of each holds data."""

from __future__ import annotations

from raidtui.model.geometry import usable_kib
from raidtui.model.plan import Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.request import CreateRequest
from raidtui.plans.create.shape import Shape
from raidtui.plans.devices import refuse_device, refuse_old_arrays


def chosen(request: CreateRequest, survey: Survey) -> tuple[Device, ...] | Refusal:
    """Return the devices and spares in order, or why they cannot be taken."""
    names = request.named
    if twice := [name for name in names if names.count(name) > 1]:
        return Refusal(code="invalid", why=f"{twice[0]} is named twice", remedy="name each device once")
    found = []
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        if device.disk.disk != name and device.disk.disk in names:
            return Refusal(
                code="ambiguous",
                why=f"{name} is a part of {device.disk.disk}, and both are named",
                remedy="name one of them",
            )
        found.append(device)
    for device in found:
        if refusal := refuse_device(device, survey):
            return refusal
    first = found[0]
    for device in found:
        if device.sector_bytes != first.sector_bytes:
            return Refusal(
                code="unsupported",
                why=f"{first.disk.name} has sectors of {first.sector_bytes} bytes and {device.disk.name} of"
                f" {device.sector_bytes}: what is made on one kind may not be readable on the other",
                remedy="use devices of one kind",
            )
    return refuse_old_arrays(found, survey, request.destroys) or tuple(found)


def refuse_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> Refusal | None:
    """Return why the devices are too small for what is asked, or None."""
    usable = component_sizes(request, shape, devices)
    for device, kib in zip(devices, usable, strict=True):
        if kib <= 0:
            return Refusal(
                code="too-small",
                why=f"{device.disk.name} has no room for a chunk of {shape.chunk_kib} KiB",
                remedy="choose smaller chunks, or a larger device",
            )
        if request.size_kib > kib:
            return Refusal(
                code="too-small",
                why=f"{device.disk.name} has {kib} KiB for data, {request.size_kib} KiB are asked for",
                remedy="choose a smaller size",
            )
    if 0 < request.size_kib < (shape.chunk_kib or 64):
        return Refusal(
            code="too-small",
            why=f"{request.size_kib} KiB of each member are less than a chunk",
            remedy="choose a larger size",
        )
    return None


def component_sizes(request: CreateRequest, shape: Shape, devices: tuple[Device, ...]) -> tuple[int, ...]:
    """Return what of each device can hold data, KiB."""
    return usable_kib(
        [device.disk.size_bytes or 0 for device in devices],
        metadata=request.metadata,
        chunk_kib=shape.chunk_kib,
        ppl=shape.ppl,
    )
