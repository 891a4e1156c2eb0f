"""Whether the array that is to be created is there: same name, shape and members, as far as given."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.geometry import MISSING
from raidtui.model.plan import NothingToDo, Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.member_partition import partition_name
from raidtui.plans.persist import own_lines
from raidtui.plans.target import needs_root
from raidtui.view.units import KIB, joined


def created_already(
    request: CreateRequest, survey: Survey, *, partitions: bool = False
) -> NothingToDo | Refusal | None:
    """Return that the array is there as requested, or how the one of this name differs; None: there is none.

    Args:
        request: the array; its UUID does not matter.
        survey: the host.
        partitions: whether whole disks were to be given a partition.
    """
    shape = shape_of(request)
    if isinstance(shape, Refusal) or needs_root(survey.snapshot) is not None:
        return None
    found = [array for array in survey.snapshot.arrays if array.label == request.name]
    if len(found) != 1:
        return None
    array = found[0]
    differs = _differences(_on_partitions(request, array) if partitions else request, shape, array)
    if not own_lines(survey.texts.get(survey.conf_path, ""), array.uuid or ""):
        differs += ["it has no line in mdadm.conf"]
    differs += _on_top(request, survey, array)
    if not differs:
        return NothingToDo(why=f"{array.name} is {request.name}, {shape.level} of {_names(array)}")
    return Refusal(
        code=RefusalCode.TAKEN,
        why=f"{array.path} is already named {request.name}, and differs: {joined(differs)}",
        remedy="choose another name",
    )


def _names(array: Array) -> str:
    return joined([member.name for member in array.members])


def _on_partitions(request: CreateRequest, array: Array) -> CreateRequest:
    """Return the request with the partition in place of each disk whose partition is a member."""
    held = {member.name for member in array.members}

    def part(name: str) -> str:
        found = partition_name(name) if name not in {"", MISSING} else name
        return found if found in held else name

    return replace(
        request,
        devices=tuple(map(part, request.devices)),
        spares=tuple(map(part, request.spares)),
        write_mostly=tuple(map(part, request.write_mostly)),
        journal=part(request.journal),
    )


def _differences(request: CreateRequest, shape: Shape, array: Array) -> list[str]:
    """Return what of an array is not as requested, a clause each. mdadm's own choices are not compared."""
    slots = len(request.devices)
    facts = (
        (not array.active, "it does not run"),
        (array.level != shape.level, f"it is {array.level or 'of an unknown level'}"),
        (array.metadata != request.metadata, f"its metadata is {array.metadata or 'not known'}"),
        (array.raid_disks != slots, f"it has {array.raid_disks} slots"),
        (bool(request.layout) and array.layout != shape.layout_number, "its layout differs"),
        (
            bool(request.chunk_kib) and array.chunk_bytes != request.chunk_kib * KIB,
            f"its chunk is {(array.chunk_bytes or 0) // KIB} KiB",
        ),
        (
            bool(request.bitmap) and (array.bitmap is not None) != (request.bitmap == "internal"),
            "it has a bitmap" if array.bitmap is not None else "it has no bitmap",
        ),
        (
            bool(request.consistency_policy) and array.consistency_policy != request.consistency_policy,
            f"its consistency policy is {array.consistency_policy or 'not known'}",
        ),
        (
            bool(request.size_kib) and array.component_kib != request.size_kib,
            f"it uses {array.component_kib} KiB of each member",
        ),
    )
    return [*(words for is_so, words in facts if is_so), *_other_members(request, array)]


def _other_members(request: CreateRequest, array: Array) -> list[str]:
    found = []
    ill = [each.name for each in array.members if each.has("faulty") or each.present is False]
    if ill:
        found.append(f"{joined(ill)} {'has' if len(ill) == 1 else 'have'} failed, or left")
    journal = [each.name for each in array.members if each.has("journal")]
    slots = [each.name for each in array.members if each.slot is not None and each.name not in journal]
    spares = [each.name for each in array.members if each.role == "spare"]
    for words, wanted, held in (
        ("members", request.devices, slots),
        ("spares", request.spares, spares),
        ("journal", (request.journal,), journal),
    ):
        asked = sorted(name for name in wanted if name not in {"", MISSING})
        if not _fits(asked, sorted(held), more=MISSING in wanted or words == "spares"):
            found.append(f"its {words} {'is' if words == 'journal' else 'are'} {joined(held) or 'none'}")
    return found


def _fits(asked: Sequence[str], held: Sequence[str], *, more: bool) -> bool:
    """Whether these are the devices; more may be there since: spares, and members in slots left empty."""
    return set(asked) <= set(held) if more else list(asked) == list(held)


def _on_top(request: CreateRequest, survey: Survey, array: Array) -> list[str]:
    """Return what was to be put on the array and is not known to be there, a clause each."""
    wanted = request.on_top
    disk = survey.snapshot.disks.get(array.name) or survey.above.get(array.name)
    uses = disk.uses if disk is not None else ()
    found = []
    if wanted.group:
        found.append("LVM's volumes on it are not compared")
    elif wanted.mount and not any(
        use.kind == "mount" and use.what == wanted.mount and use.detail == wanted.file_system for use in uses
    ):
        found.append(f"no {wanted.file_system} on it is mounted at {wanted.mount}")
    elif wanted.file_system and not any(wanted.file_system in {use.what, use.detail} for use in uses):
        found.append(f"no {wanted.file_system} was found on it")
    return found
