"""Advice about mdadm.conf: what it does not name, names wrongly, or keeps mdadm from taking. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.features.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.host.md.configured import ConfiguredArray
from raidtui.model.array import Array
from raidtui.model.finding import Severity
from raidtui.monitor.configured_arrays import stale_lines
from raidtui.view.text import visible
from raidtui.view.units import counted, joined

_TABLES = frozenset({"/etc/fstab", "/etc/crypttab"})
_LEVELS = {"stripe": "raid0", "mirror": "raid1"}
"""Names of levels in mdadm.conf beside the kernel's, and numbers (maps.c, pers)."""


def advise_on_conf(facts: HostFacts) -> Iterator[Advice]:
    """Compare mdadm.conf with the arrays that run; without ARRAY lines, all are started."""
    lines = [each for each in facts.configured if each.file not in _TABLES]
    named = [each for each in lines if not each.ignored]
    arrays = [
        each
        for each in facts.snapshot.arrays
        if each.active and each.uuid is not None and not facts.snapshot.is_trial(each) and not each.container
    ]
    stale = stale_lines(named, tuple(facts.snapshot.arrays))
    known = {line.where for found in stale.values() for line in found}
    doubled = {word: same for word, same in _doubled(named).items() if not known & {*map(_where, same)}}
    yield from (_twice(word, same) for word, same in doubled.items())
    for array in arrays if lines else ():
        own = next((each for each in [*named, *lines] if each.uuid == array.uuid), None)
        own = own or next((each for each in named if _is_called(each, array)), None)
        if own is None and not named:
            continue
        if own is not None and own.ignored:
            yield _ignores(array, own)
        elif own is None:
            yield _missing(named[0].file, array)
        elif own.uuid is not None and own.uuid != array.uuid:
            yield _stale(array, own.where, f"put UUID={array.uuid} there")
        else:
            yield from _refused(facts, own, array)
            if own.given not in doubled:
                yield from _renames(own, array, arrays)
            for line in stale.get(array.key, ()):
                yield _stale(array, line.where, "remove it")
    yield from (_unknown(place, word) for place, word in facts.unknown_words.items())
    yield from _advise_on_device_lines(facts)


def _where(line: ConfiguredArray) -> str:
    return line.where


def _doubled(lines: Sequence[ConfiguredArray]) -> dict[str, list[ConfiguredArray]]:
    """Return the lines that give one node, letter by letter, to arrays (conf_verify_devnames, config.c)."""
    found: dict[str, list[ConfiguredArray]] = {}
    for line in lines:
        if line.given and (line.uuid or line.full_name or line.devices or line.super_minor is not None):
            found.setdefault(line.given, []).append(line)
    return {word: same for word, same in found.items() if len(same) > 1}


def _twice(word: str, same: Sequence[ConfiguredArray]) -> Advice:
    alike = len({line.uuid for line in same}) == 1
    return Advice(
        code=AdviceCode.CONF_LINE_DOUBLED,
        severity=Severity.ATTENTION,
        text=f"{joined([line.where for line in same])} have one and the same name: {visible(word)}",
        why="mdadm --assemble --scan then starts no array at all"
        ' ("Duplicate MD device names in conf file were found.").',
        remedy=f"{'keep one of them' if alike else 'give each its own name'}, then update the initramfs",
        detail=word,
    )


def _renames(line: ConfiguredArray, array: Array, arrays: Sequence[Array]) -> Iterator[Advice]:
    """A line with an array's UUID and the node of another array that runs."""
    other = next((each for each in arrays if line.path in _nodes(each)), array)
    if line.uuid is None or not line.path or line.path in _nodes(array) or other is array:
        return
    yield Advice(
        code=AdviceCode.CONF_LINE_RENAMES,
        severity=Severity.ATTENTION,
        subject=array.title,
        text=f"{line.where} gives {array.title} the name {line.path}, which {other.title} has now",
        why="The next assembly from that file gives it that name: mounts and programs"
        " that use that path then get another array (mdadm.conf(5)).",
        remedy=f"correct the line (mdadm --detail --brief {array.path}), then update the initramfs",
    )


def _nodes(array: Array) -> set[str | None]:
    return {f"/dev/{array.name}", array.path, array.link}


def _ignores(array: Array, line: ConfiguredArray) -> Advice:
    return Advice(
        code=AdviceCode.CONF_LINE_IGNORES,
        severity=Severity.INFO,
        subject=array.title,
        text=f"{line.where} has mdadm ignore {array.title}, which runs",
        why="That file keeps it from being assembled, at boot and as its disks appear (mdadm.conf(5)).",
        remedy=f"if it is wanted, replace the line (mdadm --detail --brief {array.path}),"
        " then update the initramfs",
    )


def _unknown(place: str, word: str) -> Advice:
    is_uuid = "=" in word
    said = '"bad uuid"' if is_uuid else '"Unknown keyword"'
    rest = "only the rest of the line identifies its array" if is_uuid else "the line names no array"
    return Advice(
        code=AdviceCode.CONF_LINE_UNKNOWN,
        severity=Severity.ATTENTION,
        text=f"{place}: {visible(word)} is not a {'UUID' if is_uuid else 'keyword of mdadm'}",
        why=f"mdadm ignores it ({said}): {rest}.",
        remedy="correct the line (mdadm --detail --scan prints the lines of all arrays that run),"
        " then update the initramfs",
        detail=place,
    )


def _missing(file: str, array: Array) -> Advice:
    return Advice(
        code=AdviceCode.CONF_LINE_MISSING,
        severity=Severity.ATTENTION,
        subject=array.title,
        text=f"{file} names arrays, but not {array.title}",
        why="An initramfs gets a copy of that file: an array that it does not name may come up late, under"
        " another number, or only when started by hand (mdadm.conf(5), initramfs-tools).",
        remedy=f"add its line (mdadm --detail --brief {array.path}), then update the initramfs",
    )


def _stale(array: Array, where: str, mend: str) -> Advice:
    return Advice(
        code=AdviceCode.CONF_LINE_STALE,
        severity=Severity.ATTENTION,
        subject=array.title,
        text=f"{where} has another UUID for {array.title} than its members",
        why="That line finds nothing at the next boot: the array comes up under another number, or"
        " not at all (mdadm.conf(5)).",
        remedy=f"{mend}, then update the initramfs",
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
    if line.super_minor is not None and is_now.startswith("1."):
        words.append(f"super-minor={line.super_minor}, which metadata {is_now} does not have")
    if _is_misnamed(line, array):
        words.append(f"name={line.full_name}, but its members have {array.homehost}:{array.label}")
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
            why='mdadm --assemble rejects members that contradict the line ("requires wrong number'
            ' of drives", "has wrong name"): a running host hides it, and the next assembly from'
            " that file fails (mdadm.conf(5)).",
            remedy=f"correct the line (mdadm --detail --brief {array.path}), then update the initramfs",
        )


def _is_misnamed(line: ConfiguredArray, array: Array) -> bool:
    """Whether ``name=`` is another than that in the superblock, whatever the host (name_matches, Assemble.c).

    Only of an array whose name has a host: a label alone may be that of a link. mdadm drops a ``name=`` of
    more than 32 bytes.
    """
    if not (line.full_name and array.homehost and array.label) or (array.metadata or "")[:2] != "1.":
        return False
    same = line.full_name.rpartition(":")[2] == array.label.rpartition(":")[2]
    return not same and len(line.full_name.encode()) <= 32


def _same_version(one: str, other: str) -> bool:
    """Whether versions of metadata are the same: 0.9, 0.90 and 0.91 are."""
    return one == other or (one[:3] == other[:3] == "0.9")


def _advise_on_device_lines(facts: HostFacts) -> Iterator[Advice]:
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
        why='mdadm looks at no other device ("not permitted by mdadm.conf"): where arrays are started'
        " from that file, as in an initramfs, these will be missing (mdadm.conf(5)).",
        remedy="remove DEVICE, or name all members, then update the initramfs",
    )
