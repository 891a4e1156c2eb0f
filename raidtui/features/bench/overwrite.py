"""Devices that are overwritten: the checks of a new array, typed serial numbers, and scratch arrays."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import refuse
from raidtui.features.bench.place import Place, below, find_device
from raidtui.features.bench.schedule import Scratch
from raidtui.host.block import BLOCK, candidate_names
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import read_survey
from raidtui.model.geometry import capacity_kib, raid10_layout, usable_kib
from raidtui.model.plan import Harm, Loss, Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.monitor.sampler import Sampler
from raidtui.plans.candidates import refuse_device, refuse_old_arrays
from raidtui.plans.contents import contents_of, device_facts, losses_of
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.target import needs_root
from raidtui.view.units import KIB, counted

_CHUNK_KIB = 512


class Site(Struct, frozen=True, kw_only=True):
    """Where to measure, after all checks.

    Args:
        scratch: what arrays are made of, if so.
        losses: what is lost, by device.
        arrays: the plans that make the arrays.
    """

    place: Place
    scratch: Scratch | None = None
    losses: tuple[Loss, ...] = ()
    arrays: tuple[Plan, ...] = ()


def offer_device(
    reader: HostReader, name: str, *, write: bool, confirmed: Sequence[str] | None
) -> Site | Refusal:
    """Return a device as a place, with what is lost, or why it cannot be used."""
    place = find_device(reader, name)
    if isinstance(place, Refusal):
        return place
    if not write:
        return Site(place=place)
    survey = survey_of(reader, (name,))
    device = survey.devices.get(name)
    if device is None:
        return refuse(f"there is no block device {name}", code=RefusalCode.NOT_FOUND)
    refusal = (
        needs_root(survey.snapshot)
        or _refuse((device,), survey)
        or _unconfirmed((device,), survey, confirmed)
    )
    if refusal:
        return refusal
    losses = losses_of((device,), survey)
    return Site(place=replace(place, writes=True, needs=device_facts(device)), losses=losses)


def offer_scratch(
    reader: HostReader, scratch: Scratch, shapes: Sequence[Scratch], confirmed: Sequence[str] | None
) -> Site | Refusal:
    """Return the devices of scratch arrays as a place, with what is lost; or why there can be no such arrays.

    Args:
        reader: the host.
        scratch: devices and what all arrays have in common.
        shapes: all arrays that will be made.
        confirmed: the typed words; None where it is only shown.
    """
    survey = survey_of(reader, scratch.devices)
    if refusal := needs_root(survey.snapshot):
        return refusal
    devices = []
    for name in scratch.devices:
        device = survey.devices.get(name)
        if device is None:
            return refuse(f"there is no block device {name}", code=RefusalCode.NOT_FOUND)
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
    disks = tuple(dict.fromkeys(disk for name in scratch.devices for disk in below(reader, name)[0]))
    losses = losses_of(devices, survey)
    needs = tuple(fact for device in devices for fact in device_facts(device))
    place = Place(disks=disks, members=scratch.devices)
    least = min((_array_bytes(shape, devices) for shape in shapes), default=0)
    made_of = replace(scratch, needs=needs, least_bytes=least)
    return Site(place=place, scratch=made_of, losses=losses, arrays=tuple(arrays))


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


def _unconfirmed(
    devices: Sequence[Device], survey: Survey, confirmed: Sequence[str] | None
) -> Refusal | None:
    """Nothing is overwritten before the identities of the disks were typed; None: nothing is done at all."""
    if confirmed is None:
        return None
    missing = [device for device in devices if confirm_word(device) not in confirmed]
    if not missing:
        return None
    lost = [f"{device.disk.name}: {contents_of(device, survey) or 'nothing known'}" for device in devices]
    words = " ".join(f"--confirm={confirm_word(device)}" for device in missing)
    return refuse(
        f"it destroys what is on the devices ({'; '.join(lost)})",
        f"if that is what you want, give their serial numbers: {words}",
        code=RefusalCode.NEEDS_CONFIRMATION,
        part="device",
        form_remedy="the devices are not those of when the form was opened: leave it and open it again",
    )


def confirm_word(device: Device) -> str:
    """Return the word to type for a device: its serial number or WWN, or its name where it has none."""
    return device.disk.identity or device.disk.name


_NUMBERS = range(999, 899, -1)
_CLEAN = frozenset({"raid1", "raid10"})
_LOOK_S = 0.1
_IDLE_S = 10.0


def survey_of(reader: HostReader, names: Collection[str]) -> Survey:
    """Return a survey with these devices and their partitions."""
    parts = [each for each in candidate_names(reader) if each.startswith(tuple(names))] if names else []
    return read_survey(reader, Sampler(reader).sample(), tuple(dict.fromkeys((*names, *parts))))


def plan_scratch(scratch: Scratch, survey: Survey) -> tuple[str, Plan] | Refusal:
    """Return the kernel's name of a scratch array and the plan that makes it, or why it cannot be made.

    mdadm.conf and the initramfs are left alone: the array is gone again soon. Undoing
    the plan stops it and wipes its superblocks.

    Args:
        scratch: the array.
        survey: the host, read just now.
    """
    number = _free_number(survey.snapshot)
    name = str(number)
    request = CreateRequest(
        name=name,
        uuid=canonical_uuid(uuid.uuid4().hex) or "",
        level=scratch.level,
        devices=scratch.devices,
        layout=scratch.layout,
        chunk_kib=0 if scratch.level == "raid1" else scratch.chunk_kib,
        bitmap=scratch.bitmap or ("" if scratch.level in {"raid0", "raid5", "raid6", "raid4"} else "none"),
        size_kib=scratch.size_kib,
        assume_clean=scratch.level in _CLEAN,
    )
    plan = plan_create(request, survey)
    if isinstance(plan, Refusal):
        return plan
    create = next(place for place, step in enumerate(plan.steps) if step.argv[:2] == ("mdadm", "--create"))
    return f"md{number}", replace(
        plan,
        title=f"scratch array: {scratch_words(scratch)}",
        steps=plan.steps[: create + 1],
        harm=Harm.REDUCES,  # what was on the devices before the schedule is in its black box already
        rolls_back=True,
    )


def scratch_words(scratch: Scratch) -> str:
    """Return an array in words: raid10 n2, chunk 32K, 4 devices."""
    if not scratch.level:
        return scratch.devices[0]
    shape = f"{scratch.level} {scratch.layout}".rstrip()
    chunk = f", chunk {scratch.chunk_kib}K" if scratch.chunk_kib else ""
    bitmap = f", bitmap {scratch.bitmap}" if scratch.bitmap else ""
    return f"{shape}{chunk}{bitmap}, {counted(len(scratch.devices), 'device')}"


def wait_for_sync(reader: HostReader, name: str, stopped: Callable[[], bool]) -> str:
    """Wait until an array's first sync is done or a stop is requested; return why it did not end, or "".

    A sync that is wanted begins a moment after the array runs; until then sync_action is idle, too.
    """

    def word(file: str) -> str:
        return (reader.text(f"{BLOCK}/{name}/md/{file}") or "").strip()

    idle_s: float | None = None
    while not stopped():
        if word("sync_action") not in {"", "idle", "frozen"}:
            idle_s = None
        elif word("degraded") in {"", "0"} and word("resync_start") in {"", "none"}:
            return ""
        elif idle_s is None:
            idle_s = time.monotonic()
        elif time.monotonic() - idle_s > _IDLE_S:
            return f"the first sync of {name} stopped early: a partly synced array is not measured"
        time.sleep(_LOOK_S)
    return ""


def _free_number(snapshot: Snapshot) -> int:
    taken = {array.name for array in snapshot.arrays} | {f"md{array.label}" for array in snapshot.arrays}
    return next(number for number in _NUMBERS if f"md{number}" not in taken)
