"""Advice about mdadm.conf: what it does not name, names wrongly, or keeps mdadm from taking. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.host.md.configured import ConfiguredArray
from raidtui.model.array import Array
from raidtui.model.finding import Severity
from raidtui.monitor.configured_arrays import stale_lines
from raidtui.view.units import counted, joined

_TABLES = frozenset({"/etc/fstab", "/etc/crypttab"})
_LEVELS = {"stripe": "raid0", "mirror": "raid1"}
"""Names of levels in mdadm.conf beside the kernel's, and numbers (maps.c, pers)."""


def of_conf(facts: HostFacts) -> Iterator[Advice]:
    """Compare mdadm.conf with the arrays that run; without ARRAY lines, all are started."""
    lines = [each for each in facts.configured if each.file not in _TABLES]
    named = [each for each in lines if not each.ignored]
    arrays = [
        each
        for each in facts.snapshot.arrays
        if each.active and each.uuid is not None and not facts.snapshot.is_trial(each) and not each.container
    ]
    stale = stale_lines(named, tuple(facts.snapshot.arrays))
    for array in arrays if named else ():
        own = next((each for each in lines if each.uuid == array.uuid), None)
        own = own or next((each for each in named if _is_called(each, array)), None)
        if own is None:
            yield _missing(named[0].file, array)
        elif own.uuid is not None and own.uuid != array.uuid:
            yield _stale(array, own.where, f"put UUID={array.uuid} there")
        else:
            yield from _refused(facts, own, array)
            for line in stale.get(array.key, ()):
                yield _stale(array, line.where, "remove it")
    yield from _of_device_lines(facts)


def _missing(file: str, array: Array) -> Advice:
    return Advice(
        code=AdviceCode.CONF_LINE_MISSING,
        severity=Severity.ATTENTION,
        subject=array.title,
        text=f"{file} names arrays, but not {array.title}",
        why="An initramfs gets that file as it is: what it does not name may come up late, under"
        " another number, or not before somebody starts it (mdadm.conf(5), initramfs-tools).",
        remedy=f"add its line (mdadm --detail --brief {array.path}), then renew the initramfs",
    )


def _stale(array: Array, where: str, mend: str) -> Advice:
    return Advice(
        code=AdviceCode.CONF_LINE_STALE,
        severity=Severity.ATTENTION,
        subject=array.title,
        text=f"{where} has another UUID for {array.title} than its members",
        why="That line finds nothing at the next boot: the array comes up under another number, or"
        " not at all (mdadm.conf(5)).",
        remedy=f"{mend}, then renew the initramfs",
    )


def _is_called(line: ConfiguredArray, array: Array) -> bool:
    return bool(line.label and line.label == array.title) or line.path in {f"/dev/{array.name}", array.path}


def _refused(facts: HostFacts, line: ConfiguredArray, array: Array) -> Iterator[Advice]:
    """Words of an ARRAY line that keep ``mdadm --assemble`` from its members (ident_matches, Assemble.c)."""
    words = []
    if (
        line.raid_disks
        and array.raid_disks
        and line.raid_disks not in {array.raid_disks, array.old_raid_disks}
    ):
        words.append(f"num-devices={line.raid_disks}, but the array has {counted(array.raid_disks, 'slot')}")
    level = _LEVELS.get(line.level, f"raid{line.level}" if line.level.isdigit() else line.level)
    if level and array.level and level != array.level and not array.as_raid4:
        words.append(f"level={line.level}, but it is a {array.level}")
    wanted, is_now = line.metadata, array.metadata or ""
    if wanted[:2] in {"1.", "0."} and is_now[:2] in {"1.", "0."} and not _same_version(wanted, is_now):
        words.append(f"metadata={wanted}, but its members have {is_now}")
    out = facts.not_listed.get(line.where, ())
    mine = [member.name for member in array.members if member.name in out]
    if mine:
        which = (
            "names none of its members" if len(mine) == len(array.members) else f"leaves out {joined(mine)}"
        )
        words.append(f"devices={','.join(line.devices)} {which}")
    if words:
        yield Advice(
            code=AdviceCode.CONF_LINE_REFUSES,
            severity=Severity.ATTENTION,
            subject=array.title,
            text=f"{line.where}: {'; '.join(words)}",
            why='mdadm --assemble takes no member that contradicts the line ("requires wrong number of'
            ' drives"): a host that runs hides it, and the next start by that file fails (mdadm.conf(5)).',
            remedy=f"put the line right (mdadm --detail --brief {array.path}), then renew the initramfs",
        )


def _same_version(one: str, other: str) -> bool:
    """Whether versions of metadata are the same: 0.9, 0.90 and 0.91 are."""
    return one == other or (one[:3] == other[:3] == "0.9")


def _of_device_lines(facts: HostFacts) -> Iterator[Advice]:
    held = {
        member.name
        for array in facts.snapshot.arrays
        if not facts.snapshot.is_trial(array)
        for member in array.members
    }
    out = sorted(held & {*facts.left_out})
    if not out:
        return
    words = f"mdadm.conf: DEVICE {' '.join(facts.device_words)} leaves out {joined(out)}"
    yield Advice(
        code=AdviceCode.CONF_DEVICES,
        severity=Severity.ATTENTION,
        text=f"{words}, {'a member' if len(out) == 1 else 'members'} of arrays that run",
        why='mdadm looks at no other device ("not permitted by mdadm.conf"): where that file is what starts'
        " arrays, as in an initramfs, these will be missing (mdadm.conf(5)).",
        remedy="take DEVICE out, or name all members, then renew the initramfs",
    )
