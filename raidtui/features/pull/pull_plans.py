"""The plans of an exchange: what has to be read for them, and which is next."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.pull.bays import BayDisk, read_bays
from raidtui.features.pull.boot_parts import has_loader
from raidtui.features.pull.put_in import model_disk, plan_push_back, plan_put_in, plan_return
from raidtui.features.pull.record import PullRecord
from raidtui.features.pull.session import PullLook
from raidtui.features.pull.standing import OtherState, PullStage
from raidtui.features.pull.tables import Table, parse_dump
from raidtui.features.pull.take_out import plan_take_out, record_of, whole_of
from raidtui.host.block import DiskReader
from raidtui.host.controllers import has_lights
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingScope
from raidtui.jobs.journal import who
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.monitor.boot.boot_check import read_boot_loaders
from raidtui.plans.repair import plan_replace


class PullDraft(Struct, frozen=True, kw_only=True):
    """An exchange that has not begun.

    Args:
        record: what is kept from its begin on.
        made: the plan that takes the disk out, or why that is not possible.
        first: the plan that copies the member to a disk that is there, so that no redundancy is lost; None
            where none fits.
        light: whether the light of its bay can be switched: ledctl is there, and finds an enclosure.
    """

    record: PullRecord
    made: Plan | Refusal
    first: Plan | None = None
    light: bool = False


def disk_scope(snapshot: Snapshot, name: str, also: Array | None = None) -> ReadingScope:
    """Return what has to be read before a disk is pulled, by its name or that of a member on it.

    Args:
        snapshot: the host.
        name: the device.
        also: an array whose members are read, too: it may have been a member.
    """
    known = snapshot.disks.get(name)
    disk = known.disk if known is not None else name
    whole = {each: found.disk for each, found in snapshot.disks.items()}
    arrays = [
        array
        for array in snapshot.arrays
        if (also is not None and array.key == also.key)
        or any(whole.get(each.name, each.name) == disk for each in array.members)
    ]
    members = (member.name for array in arrays for member in array.members)
    return ReadingScope(closely=tuple(dict.fromkeys((disk, name, *members))), parts=True, digests=False)


def make_draft(reader: HostReader, survey: Survey, name: str) -> PullDraft | Refusal:
    """Return the exchange of a disk that has not begun, or why nothing can be said of the disk.

    Args:
        reader: the host.
        survey: what ``disk_scope`` has read.
        name: a member, or the whole disk.
    """
    bays = read_bays(reader)
    device = survey.devices.get(name)
    if device is None or device.disk.disk not in {bay.name for bay in bays}:
        return survey.no_device(name)
    installed = survey.refuse_tool("ledctl") is None
    dark = "ledctl finds no enclosure that it controls" if installed and not has_lights(reader) else ""
    light = installed and not dark
    loaders = read_boot_loaders(reader, survey.snapshot, frozenset({device.disk.disk}))
    record = record_of(
        survey,
        name,
        bays,
        light=light,
        dark=dark,
        who=who(),
        now_s=reader.now_s(),
        booted=has_loader(loaders, device.disk.disk),
    )
    return PullDraft(
        record=record,
        made=plan_take_out(survey, name, bays, light=light),
        first=_replacing_first(reader, survey, record, bays),
        light=light,
    )


def _replacing_first(
    reader: HostReader, survey: Survey, record: PullRecord, bays: Sequence[BayDisk]
) -> Plan | None:
    """Return the plan that copies the disk's only member to a spare, or to a free disk that is there."""
    on = record.target.members
    array = next((each for each in survey.snapshot.arrays if on and each.uuid == on[0].uuid), None)
    if len(on) != 1 or array is None:
        return None
    serving = [each for each in array.members if each.slot is not None and each.slot == on[0].slot]
    member = serving[0].name if serving else ""
    spares = [each.name for each in array.members if each.has("spare") and each.slot is None]
    for name in spares:
        made = plan_replace(survey, array, member, name)
        if isinstance(made, Plan):
            return made
    return None if on[0].part else _on_free_disk(reader, survey, array, member, bays)


def _on_free_disk(
    reader: HostReader, survey: Survey, array: Array, member: str, bays: Sequence[BayDisk]
) -> Plan | None:
    disks = DiskReader(reader).read({bay.name for bay in bays})
    taken = {use.what for disk in disks.values() for use in disk.uses}
    for bay in bays:
        disk = disks.get(bay.name)
        if disk is None or disk.uses or bay.name in taken or bay.name in survey.devices:
            continue
        from raidtui.host.examine import read_device  # noqa: PLC0415  (where a disk may be free alone)

        devices = {**survey.devices, bay.name: read_device(reader, bay.name, disks, digest=True)}
        made = plan_replace(replace(survey, devices=devices), array, member, bay.name)
        if isinstance(made, Plan) and not made.losses:
            return made
    return None


def next_scope(snapshot: Snapshot, look: PullLook, chosen: str = "") -> ReadingScope:
    """Return what the next plan of an exchange has to read.

    Args:
        snapshot: the host.
        look: the exchange.
        chosen: the serial number of the new disk; "" for the first one.
    """
    uuids = {each.uuid for disk in (look.record.target, *look.record.others) for each in disk.members}
    members = (each.name for array in snapshot.arrays if array.uuid in uuids for each in array.members)
    subject = _subject(look, chosen)
    names = (*((subject.name,) if subject is not None else ()), *members)
    return ReadingScope(closely=tuple(dict.fromkeys(names)), parts=True, wear=True)


def _subject(look: PullLook, chosen: str) -> BayDisk | None:
    """Return the disk that the next plan is about."""
    found = look.standing
    if out := found.those(OtherState.OUT):
        return BayDisk(name=_now(look, out[0].identity), identity=out[0].identity)
    if found.stage is PullStage.FRESH:
        return next((disk for disk in found.fresh if chosen in {disk.identity, disk.label}), found.fresh[0])
    return found.target


def _now(look: PullLook, identity: str) -> str:
    return look.standing.names.get(identity, "")


def plan_next(
    reader: HostReader, survey: Survey, look: PullLook, *, chosen: str = "", destroys: Collection[str] = ()
) -> Plan | Refusal:
    """Return the next plan of an exchange, or why there is none.

    Args:
        reader: the host: the partition table of a neighbour is read of it.
        survey: what ``next_scope`` has read.
        look: the exchange.
        chosen: the serial number of the new disk; "" for the first one.
        destroys: names of stopped arrays that may be destroyed, as typed.
    """
    found, record = look.standing, look.record
    if found.wrong:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{found.wrong[0].number} is missing, which must not be pulled",
            remedy="push it back first",
        )
    if out := found.those(OtherState.OUT):
        return plan_push_back(survey, out[0], _now(look, out[0].identity))
    if found.stage is PullStage.SERVING and found.target is not None:
        return plan_take_out(survey, found.target.name, read_bays(reader), light=record.light)
    if found.stage is PullStage.BACK and found.target is not None:
        return plan_return(survey, record, found.target.name)
    if found.stage is PullStage.FRESH:
        fresh = next((disk for disk in found.fresh if chosen in {disk.identity, disk.label}), None)
        if chosen and fresh is None:
            return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no new disk with the serial {chosen}")
        return _plan_fresh(reader, survey, record, fresh or found.fresh[0], destroys)
    return Refusal(
        code=RefusalCode.NOTHING_TO_DO,
        why=f"{look.words.head}: there is no plan for that",
        remedy=look.words.text[-1],
    )


def plan_put_back(survey: Survey, look: PullLook) -> Plan | Refusal:
    """Return the plan that takes the disk back into its arrays instead of pulling it, or why not."""
    target = look.standing.target
    if target is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{look.record.target.number} is no longer there")
    return plan_return(survey, look.record, target.name)


def _plan_fresh(
    reader: HostReader, survey: Survey, record: PullRecord, fresh: BayDisk, destroys: Collection[str]
) -> Plan | Refusal:
    table: Table | Refusal | None = None
    of = ""
    if any(member.part for member in record.target.members):
        model = model_disk(survey, record.target)
        of = model if isinstance(model, str) else ""
        table = model if isinstance(model, Refusal) else read_table(reader, model)
    boot = read_boot_loaders(reader, survey.snapshot, _member_disks(survey, record)) if of else None
    return plan_put_in(survey, record, fresh.name, table, of=of, boot=boot, destroys=destroys)


def _member_disks(survey: Survey, record: PullRecord) -> frozenset[str]:
    uuids = {member.uuid for member in record.target.members}
    arrays = (array for array in survey.snapshot.arrays if array.uuid in uuids)
    return frozenset(whole_of(survey, member.name) for array in arrays for member in array.members)


def read_table(reader: HostReader, disk: str) -> Table | Refusal:
    """Return the partition table of a disk, or why it is not known."""
    output = reader.ask("sfdisk", "--dump", f"/dev/{disk}")
    if output.why_not or output.status != 0:
        why = output.why_not or output.stderr.strip() or f"sfdisk failed ({output.status})"
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why=f"the partition table of {disk} cannot be read: {why}",
            remedy="partition the new disk by hand, then add (A) each partition",
        )
    return parse_dump(output.stdout) or Refusal(
        code=RefusalCode.UNSUPPORTED,
        why=f"the partition table of {disk} is neither GPT nor MBR, or cannot be parsed",
        remedy="partition the new disk by hand, then add (A) each partition",
    )
