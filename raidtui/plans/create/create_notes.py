"""What there is to know of a new array before it is made, a sentence each."""

from __future__ import annotations

from raidtui.model.geometry import MISSING, capacity_kib, loss_sentence, separate_groups, slots_words
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.create.shape import Shape
from raidtui.plans.sync import at_least
from raidtui.plans.target import long_name_note
from raidtui.view.units import KIB, binary_size, counted

_UNEQUAL = 0.01
_RAID10 = {
    "n": "RAID 10 near {copies}: the {copies} copies of a chunk lie side by side on neighbouring devices.",
    "f": "RAID 10 far {copies}: the copies of a chunk lie far apart; all devices serve a single reader.",
    "o": "RAID 10 offset {copies}: the copies of a chunk lie one stripe and one device further on.",
}


def create_notes(
    request: CreateRequest,
    shape: Shape,
    survey: Survey,
    devices: tuple[Device, ...],
    usable_kib: tuple[int, ...],
) -> tuple[str, ...]:
    """Return the notes of a plan.

    Args:
        request: the array.
        shape: the options for mdadm.
        survey: the host.
        devices: devices and spares in order, without empty slots.
        usable_kib: what of each can hold data.
    """
    return (
        _capacity(request, shape, usable_kib),
        *_survives(request, shape),
        *([_RAID10[shape.layout[0]].format(copies=shape.layout[1:])] if shape.level == "raid10" else []),
        _first_sync(request, shape),
        *_after_a_crash(shape),
        *_metadata(request),
        *_old_arrays(devices),
        *(text + "." for text in long_name_note(survey.homehost, request.name)),
        *_link(request, shape),
        *_device_line(survey),
        *_sizes(shape, devices),
        *_disks(devices),
        *sync_time_note(request, shape, survey, _component_kib(request, shape, usable_kib)),
    )


def _component_kib(request: CreateRequest, shape: Shape, usable_kib: tuple[int, ...]) -> int:
    step = shape.chunk_kib or 1
    return request.size_kib // step * step or min(usable_kib)


def array_kib(request: CreateRequest, shape: Shape, usable_kib: tuple[int, ...]) -> int:
    """Return what fits on the array, KiB."""
    if shape.level == "raid0":
        return sum(usable_kib)
    component = _component_kib(request, shape, usable_kib)
    return capacity_kib(shape.level, shape.layout_number, component, len(request.devices))


def _capacity(request: CreateRequest, shape: Shape, usable_kib: tuple[int, ...]) -> str:
    kib = array_kib(request, shape, usable_kib)
    spares = f", and {counted(len(request.spares), 'spare')}" if request.spares else ""
    return f"{binary_size(kib * KIB)} on {counted(len(request.devices), 'device')}{spares}."


def _survives(request: CreateRequest, shape: Shape) -> tuple[str, ...]:
    count = len(request.devices)
    text = loss_sentence(shape.level, shape.layout_number, count, request.holes)
    sets = separate_groups(shape.level, shape.layout_number, count)
    named = "; ".join(
        f"{slots_words(slots)}: {' '.join(request.devices[slot] for slot in slots)}" for slots in sets
    )
    first = text[:1].upper() + text[1:]
    return (f"{first} ({named})." if len(sets) > 1 else f"{first}.",)


def _first_sync(request: CreateRequest, shape: Shape) -> str:
    """Return a sentence on the first sync (Create.c of mdadm: spares; raid1.c and raid10.c: resync)."""
    present = [name for name in request.devices if name != MISSING]
    holes = len(request.holes)
    if shape.level == "raid0":
        return "There is no first sync."
    if request.assume_clean:
        return "The first sync is skipped: until everything has been written once, a check counts mismatches."
    if shape.level in {"raid4", "raid5"}:
        if holes:
            return "It starts degraded; nothing is synced until the missing device is added."
        return (
            f"It is degraded until the first sync has built {present[-1]} from the others;"
            f" this is normal for {shape.level}."
        )
    if shape.level == "raid6" and holes:
        if holes == 2:
            return "It starts degraded; nothing is synced until a missing device is added."
        return f"It starts degraded: the first sync reads all other devices and writes all of {present[-1]}."
    degraded = f"It starts degraded, without {counted(holes, 'device')}; " if holes else ""
    if len(present) == 1:
        return f"{degraded}nothing is synced until another device is added."
    text = {
        "raid1": "the first sync reads one device and writes all of the others",
        "raid10": "the first sync reads everything and writes only where copies differ",
        "raid6": "the first sync reads everything and writes parity where it does not match",
    }[shape.level]
    return f"{degraded}{text}." if degraded else f"{text[:1].upper()}{text[1:]}."


def _after_a_crash(shape: Shape) -> tuple[str, ...]:
    if shape.level == "raid0":
        return ()
    if shape.journal:
        text = (
            "The journal closes the write hole: after a crash, incomplete writes are completed from it."
            " Without its device the array is read-only. Use an SSD with power-loss"
            " protection."
        )
        return (text,)
    if shape.bitmap == "none" and not shape.ppl:
        return ("No bitmap: writes are faster, but after a crash the whole array is resynced.",)
    if shape.level in PARITY_LEVELS and not shape.ppl:
        text = (
            "The bitmap shortens the resync after a crash. It does not close the write hole: a member lost"
            " before that resync ends can mean lost data."
        )
        return (text,)
    return ()


def _metadata(request: CreateRequest) -> tuple[str, ...]:
    if request.metadata != "1.0":
        return ()
    return ("The superblock of 1.0 is at the end: a single member looks like a plain file system.",)


def _old_arrays(devices: tuple[Device, ...]) -> tuple[str, ...]:
    found: dict[str, tuple[str, list[str]]] = {}
    for device in devices:
        if (old := device.superblock) is not None and old.uuid:
            found.setdefault(old.uuid, (old.label, []))[1].append(device.path)
    return tuple(
        f'The array "{label}" is not running; to keep it, assemble it instead:'
        f" raidtui plan assemble {' '.join(paths)} (and its other members)."
        for label, paths in found.values()
    )


def _link(request: CreateRequest, shape: Shape) -> tuple[str, ...]:
    """A node given by number gets its link only when the array is assembled again (mdadm 4.2 to 4.6)."""
    if shape.node == f"/dev/md/{request.name}":
        return ()
    return (f"/dev/md/{request.name} appears at the next assembly; until then the device is {shape.node}.",)


def _device_line(survey: Survey) -> tuple[str, ...]:
    """mdadm.conf can limit where mdadm looks for members: an array elsewhere does not start at boot."""
    for number, line in enumerate(survey.texts.get(survey.conf_path, "").split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if words[:1] and words[0].lower() == "device" and not {"partitions", "containers"} & set(words[1:]):
            text = (
                f"{survey.conf_path}, line {number}, limits where mdadm looks for members"
                f" ({' '.join(words)}): make sure that these devices are among them."
            )
            return (text,)
    return ()


def _sizes(shape: Shape, devices: tuple[Device, ...]) -> tuple[str, ...]:
    sizes = [device.disk.size_bytes or 0 for device in devices]
    least, most = min(sizes), max(sizes)
    if most - least <= most * _UNEQUAL:
        return ()
    small, large = devices[sizes.index(least)].disk.name, devices[sizes.index(most)].disk.name
    if shape.level == "raid0":
        return (
            f"{small} is smaller than {large}: the space beyond its end lies on fewer devices and is slower.",
        )
    return (f"{binary_size(most - least)} of {large} stays unused: {small} is the smallest.",)


def _disks(devices: tuple[Device, ...]) -> tuple[str, ...]:
    notes = []
    by_disk: dict[str, list[str]] = {}
    by_identity: dict[str, list[str]] = {}
    for device in devices:
        by_disk.setdefault(device.disk.disk, []).append(device.disk.name)
        known = by_identity.setdefault(device.disk.identity, [])
        if device.disk.disk not in known:
            known.append(device.disk.disk)
    notes += [
        f"{', '.join(names)} are on one disk, {disk}: when it fails, all of them are lost."
        for disk, names in by_disk.items()
        if len(names) > 1
    ]
    notes += [
        f"{', '.join(names)} have the same serial number {identity}: they may be one disk on two paths."
        for identity, names in by_identity.items()
        if identity and len(names) > 1
    ]
    models = {device.disk.model for device in devices if device.disk.rotational is False}
    if len(devices) > 1 and len(models) == 1 and None not in models:
        model = devices[0].disk.model
        notes.append(f"All are {model}: SSDs of one model and age tend to fail within days of each other.")
    notes += [
        f"{device.disk.name} starts at byte {device.start_bytes}, not at a whole MiB: this costs speed."
        for device in devices
        if not device.aligned
    ]
    whole = [device.disk.name for device in devices if _may_get_a_table(device)]
    if whole:
        be = "is a whole disk" if len(whole) == 1 else "are whole disks"
        notes.append(
            f"{', '.join(whole)} {be}: other systems may treat a disk without a partition table"
            " as empty and write one over the superblock. A partition of type Linux RAID is safer."
        )
    return tuple(notes)


def _may_get_a_table(device: Device) -> bool:
    return device.disk.disk == device.disk.name and not device.disk.name.startswith(("md", "dm-", "loop"))


def first_sync_kib(request: CreateRequest, shape: Shape, component_kib: int) -> int:
    """Return what md counts in the first sync of a new array; 0 where there is none.

    RAID-10 counts the array, all others count a member (md.c, md_do_sync).
    """
    count, holes = len(request.devices), len(request.holes)
    if shape.level == "raid0" or request.assume_clean:
        return 0
    if shape.level in {"raid4", "raid5"} and holes:
        return 0
    if (shape.level == "raid6" and holes == 2) or count - holes < 2:
        return 0
    if shape.level == "raid10":
        return capacity_kib(shape.level, shape.layout_number, component_kib, count)
    return component_kib


def sync_time_note(
    request: CreateRequest, shape: Shape, survey: Survey, component_kib: int
) -> tuple[str, ...]:
    """Return the time that a new array takes, as a note."""
    kib = first_sync_kib(request, shape, component_kib)
    if not kib or all(name == MISSING for name in request.devices):
        return ("The commands take seconds.",)
    return (f"The commands take seconds, the first sync {at_least(survey, kib)}.",)
