"""Compare the arrays that mdadm.conf, fstab and crypttab name with those that run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.host.md.configured import ConfiguredArray
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.array import Array
from raidtui.model.snapshot import StaleLine


class RunningArrays:
    """The arrays of /proc/mdstat, by UUID, name and path."""

    def __init__(self, reader: HostReader, arrays: tuple[Array, ...], running: set[str]) -> None:
        self._reader = reader
        self._uuids = running
        self._unknown = any(array.uuid is None for array in arrays)
        self._nameless = any(
            not array.active and array.label is None and not array.is_container for array in arrays
        )
        self._paths = _by_path(arrays)
        self._names: set[str] = set()
        for array in arrays:
            if array.label:
                self._names |= {array.label, f"{array.homehost}:{array.label}"}

    def has(self, named: ConfiguredArray) -> bool:
        """Whether an array runs, or may run: nothing is reported missing without certainty."""
        if named.uuid is not None:
            here = self._at(named.path)
            old = here is not None and (here.uuid is None or here.metadata == "0.90")
            return named.uuid in self._uuids or old or (self._unknown and not named.path)
        if named.full_name and named.full_name in self._names:
            return True
        if named.full_name.rpartition(":")[2] in self._names:
            return True
        if self._at(named.path) is not None or self._nameless:
            return True
        # A link of udev's leads to a device; a node with the kernel's own name may be a leftover.
        return re.fullmatch(r"/dev/md[0-9]+", named.path) is None and self._reader.is_there(named.path)

    def _at(self, path: str) -> Array | None:
        for own, array in self._paths.items():
            between = "p" if own[-1:].isdigit() else "p?"
            if path == own or re.fullmatch(f"{re.escape(own)}{between}[0-9]+", path, re.ASCII):
                return array
        return None

    def has_other_at(self, named: ConfiguredArray) -> bool:
        """Whether the path of an ARRAY line is that of an array that runs, whatever UUID the line has."""
        return named.path in self._paths


def _by_path(arrays: tuple[Array, ...]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for array in arrays:
        own = [array.path, array.link, f"/dev/md/{array.label}" if array.label else None]
        found |= {path: array for path in own if path}
    return found


def stale_lines(
    lines: Sequence[ConfiguredArray], arrays: tuple[Array, ...]
) -> dict[str, tuple[StaleLine, ...]]:
    """Return the lines that give the name of an array that runs a UUID that no array has, by its key.

    Args:
        lines: those that name arrays.
        arrays: those of /proc/mdstat.
    """
    paths, uuids = _by_path(arrays), {array.uuid for array in arrays}
    if None in uuids:
        return {}
    found: dict[str, tuple[StaleLine, ...]] = {}
    for line in lines:
        array = paths.get(line.path)
        if line.uuid is None or line.uuid in uuids or array is None or not array.active:
            continue
        doubled = any(each.uuid == array.uuid for each in lines)
        found[array.key] = (*found.get(array.key, ()), StaleLine(where=line.where, doubled=doubled))
    return found


def with_names(
    found: Sequence[AbsentArray], expected: Sequence[ConfiguredArray], running: RunningArrays
) -> list[AbsentArray]:
    """Add the files that name arrays, and the arrays that are named and were not found.

    Args:
        found: arrays that do not run.
        expected: the arrays that files name.
        running: the arrays that run.
    """
    arrays = list(found)
    for named in expected:
        if running.has(named):
            continue
        index = next((i for i, each in enumerate(arrays) if _is_meant(each, named)), None)
        if index is None and running.has_other_at(named):
            continue  # a stale line: see ``stale_lines``
        if index is None:
            arrays.append(
                AbsentArray(
                    absence=Absence.NOT_THERE,
                    path=named.path or f"/dev/md/{named.label or (named.uuid or '')[:8]}",
                    uuid=named.uuid,
                    label=named.label or None,
                    raid_disks=named.raid_disks,
                    named_by=(named.where,),
                    wanted=named.at_boot,
                )
            )
            continue
        each = arrays[index]
        link = each.absence is not Absence.GONE and named.path and not each.named_by
        arrays[index] = replace(
            each,
            path=named.path if link else each.path,
            uuid=each.uuid or named.uuid,
            raid_disks=each.raid_disks or named.raid_disks,
            named_by=(*each.named_by, named.where),
            wanted=each.wanted or named.at_boot,
        )
    return arrays


def _is_meant(array: AbsentArray, named: ConfiguredArray) -> bool:
    if named.uuid is not None and array.uuid is not None:
        return named.uuid == array.uuid
    if named.path and named.path == array.path:
        return True
    return bool(named.label) and named.label == array.label
