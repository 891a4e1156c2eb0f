"""What is on a device: what would be lost with it, whose it is, and what clears it for good.

Identity is the disk's serial number, the kernel's count of its appearances, its size, and a digest of its
ends; never its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from raidtui.model.disk import Disk, Use, contents_value
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Loss, RunTool, Step
from raidtui.model.survey import Device, Superblock, Survey

_TABLES = {"gpt": "GPT", "dos": "MBR"}
_CONTENTS = {
    "crypto_LUKS": ("", "encrypted data (LUKS)"),
    "LVM2_member": ("an", "LVM physical volume"),
    "linux_raid_member": ("an", "md superblock"),
    "swap": ("", "swap space"),
    "zfs_member": ("a", "part of a ZFS pool"),
    "bcache": ("a", "part of a bcache"),
    "drbd": ("a", "part of a DRBD volume"),
    "ceph_bluestore": ("a", "part of a Ceph store"),
    "mpath_member": ("a", "path of a multipath device"),
    "isw_raid_member": ("a", "part of an Intel RAID (IMSM)"),
    "ddf_raid_member": ("a", "part of a controller's RAID (DDF)"),
}
_FOREIGN = frozenset(_CONTENTS) - {"linux_raid_member", "swap"}


def device_facts(device: Device, *, free: bool = True, untouched: bool = True) -> tuple[Fact, ...]:
    """Return the facts to check right before a device is written to."""
    name, disk = device.disk.name, device.disk
    facts = list(same_disk(name, disk, device))
    if disk.size_bytes is not None:
        facts.append(Fact(kind=FactKind.SIZE, subject=name, value=str(disk.size_bytes)))
    if free:
        facts.append(Fact(kind=FactKind.FREE, subject=name))
    if untouched and device.digest:
        facts.append(Fact(kind=FactKind.UNTOUCHED, subject=name, value=device.digest))
    if untouched and device.probed.value is not None:
        facts.append(Fact(kind=FactKind.CONTENTS, subject=name, value=contents_value(device.probed.value)))
    return tuple(facts)


def same_disk(name: str, disk: Disk, device: Device | None) -> tuple[Fact, ...]:
    """Return what shows that a name still belongs to the disk, as far as that is known."""
    seen = device.appearance if device is not None else ""
    return (
        *((Fact(kind=FactKind.SERIAL, subject=name, value=disk.identity),) if disk.identity else ()),
        *((Fact(kind=FactKind.APPEARANCE, subject=name, value=seen),) if seen else ()),
    )


def losses_of(devices: Iterable[Device], survey: Survey) -> tuple[Loss, ...]:
    """Return the contents of devices and their partitions; empty devices are left out."""
    found = ((device.disk.name, contents_of(device, survey)) for device in devices)
    return tuple(Loss(device=name, what=what) for name, what in found if what)


def contents_of(device: Device, survey: Survey) -> str:
    """Return the contents of a device and its partitions as a phrase; "" for an empty one."""
    return ", ".join(map(_phrase, _contents(device, survey)))


def short_contents(device: Device, survey: Survey) -> str:
    """Return the same without the first article, for the cell of a table."""
    first, *rest = _contents(device, survey) or [("", "")]
    return ", ".join((first[1], *map(_phrase, rest)))


_Noun = tuple[str, str]
"""An article, "" for none, and a noun."""


def _phrase(noun: _Noun) -> str:
    return " ".join(filter(None, noun))


def _contents(device: Device, survey: Survey) -> list[_Noun]:
    """Return each thing that is on a device."""
    nouns = _own_contents(device)
    for use in device.disk.uses:
        if use.kind == "partition":
            part = survey.devices.get(use.what)
            inside = " and ".join(map(_phrase, _own_contents(part))) if part is not None else ""
            nouns.append(("the", f"partition {use.what}" + (f" with {inside}" if inside else "")))
    return nouns


def _own_contents(device: Device) -> list[_Noun]:
    block = device.superblock
    parts = [("a", f"member of {array_words(block)}")] if block is not None else []
    return parts + [_use(use) for use in signatures(device)]


def signatures(device: Device) -> tuple[Use, ...]:
    """Return what is on a device itself, by udev or by looking at it.

    What md says of its superblock is more than a signature.
    """
    uses = {
        use.what: use for use in (*device.disk.uses, *(device.probed.value or ())) if use.kind == "signature"
    }
    if device.superblock is not None:
        uses.pop("linux_raid_member", None)
    return tuple(uses.values())


def foreign_use(device: Device) -> Use | None:
    """Return the signature of another storage system, whose data raidtui cannot see."""
    for use in signatures(device):
        if use.what in _FOREIGN or _is_other_raid(use.what):
            return use
    return None


def with_parts(device: Device, survey: Survey) -> tuple[Device, ...]:
    """Return the partitions of a device that are known, and the device itself, last."""
    names = [use.what for use in device.disk.uses if use.kind == "partition"]
    return (*(survey.devices[name] for name in names if name in survey.devices), device)


def array_words(block: Superblock) -> str:
    """Return the array of a superblock: its name, shape, UUID and last change."""
    shape = [
        block.level or "",
        f"{block.raid_disks} members" if block.raid_disks else "",
        block.uuid or "no UUID",
    ]
    when = ""
    if block.updated_s is not None:
        when = f", last changed {datetime.fromtimestamp(block.updated_s, UTC):%Y-%m-%d %H:%M} UTC"
    return f'the array "{block.label}" ({", ".join(word for word in shape if word)}){when}'


def use_words(use: Use) -> str:
    """Return a signature as what it means: the ext4 file system "root"."""
    return _phrase(_use(use))


def _use(use: Use) -> _Noun:
    """Return the article, "" for none, and the noun of what a signature means."""
    if use.what in _TABLES:
        return "the", f"{_TABLES[use.what]} partition table"
    label = f' "{use.detail}"' if use.detail else ""
    article, noun = _CONTENTS.get(use.what, ("the", f"{use.what} file system"))
    if use.what not in _CONTENTS and _is_other_raid(use.what):
        article, noun = "a", f"part of another RAID ({use.what.removesuffix('_raid_member')})"
    return article, f"{noun}{label}"


def _is_other_raid(signature: str) -> bool:
    """Whether a signature is of a RAID other than md."""
    return signature.endswith("_raid_member") and signature != "linux_raid_member"


def wipe_steps(device: Device, survey: Survey) -> tuple[Step, ...]:
    """Return the steps that clear a device, so that no signature reappears; none for an empty one.

    Partitions are cleared one by one before the table that they are in: what is left in the middle of a disk
    shows up again as soon as a partition begins there.
    """
    *parts, whole = with_parts(device, survey)
    steps = [step for part in parts for step in _wipe_one(part)]
    has_parts = any(use.kind == "partition" for use in device.disk.uses)
    return (*steps, *_wipe_one(whole, forced=has_parts, untouched=not steps))


def _wipe_one(device: Device, *, forced: bool = False, untouched: bool = True) -> tuple[Step, ...]:
    name, old = device.disk.name, device.superblock
    steps = []
    needs = device_facts(device, untouched=untouched)
    if old is not None:
        none = Fact(kind=FactKind.SUPERBLOCK, subject=name)
        was = (Fact(kind=FactKind.SUPERBLOCK, subject=name, value=old.uuid),) if old.uuid else ()
        zero = RunTool(
            argv=("mdadm", "--zero-superblock", device.path),
            why=f"{name} no longer belongs to {old.label}",
            needs=(*needs, *was),
            proves=(none,),
            destroys=True,
        )
        steps.append(zero)
        # It was written to, by us: what holds now is that it has no superblock.
        needs = (*device_facts(device, untouched=False), none)
    if old is not None or forced or signatures(device):
        wipe = RunTool(
            argv=("wipefs", "--all", device.path),
            why=f"clears all signatures of {name}, so that none reappears",
            needs=needs,
            proves=(Fact(kind=FactKind.CLEAN, subject=name),),
            destroys=True,
        )
        steps.append(wipe)
    return tuple(steps)


def cleared_facts(device: Device, survey: Survey) -> tuple[Fact, ...]:
    """Return the facts to check right before a device is taken, after a wipe."""
    facts = device_facts(device, untouched=not wipe_steps(device, survey))
    if device.superblock is not None:
        return (*facts, Fact(kind=FactKind.SUPERBLOCK, subject=device.disk.name))
    return facts
