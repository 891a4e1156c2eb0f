"""Whether an array that md fills for the first time was created over something older.

Its devices are opened once, in a thread of its own, when such a sync is first seen. Only what carries a date
of its own counts: an ext file system that begins where a member's data may. Silence claims nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.thread_pool import ThreadPool
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.view.units import SECTOR_BYTES, joined

_LOOK_S, _WAIT_S = 5.0, 2.0
_FILLS = frozenset({"resync", "recover"})


class OriginWatch:
    """Looks at each array once.

    Args:
        reader: the host.
        once: whether the answer is waited for, for two seconds at most.
    """

    def __init__(self, reader: HostReader, *, once: bool) -> None:
        apart = reader.thread_safe_copy()
        self._reader = apart or reader
        self._crew = ThreadPool(threads=apart is not None, limit_s=_WAIT_S)
        self._once = once
        self._found: dict[str, str] = {}

    def see(self, arrays: Sequence[Array]) -> Mapping[str, str]:
        """Return what is older, a clause, by the keys of the arrays; only of those that are filled now.

        Args:
            arrays: md's.
        """
        if not self._reader.live or os.geteuid() != 0:
            return {}
        filled = [array for array in arrays if is_filled(array)]
        for array in filled:
            if array.key not in self._found:
                self._found[array.key] = ""
                self._crew.put(array.key, partial(self._look, array))
        if self._once:
            self._crew.wait(lambda: not self._crew.open)
        return {array.key: words for array in filled if (words := self._found[array.key])}

    def _look(self, array: Array) -> None:
        from raidtui.host.md.mdadm import MdadmError  # noqa: PLC0415  (a console without a resync does without)
        from raidtui.host.md.superblock import read_examined  # noqa: PLC0415
        from raidtui.host.surface import read_surface  # noqa: PLC0415

        made: dict[str, float] = {}
        created_s = None
        for member in array.members:
            if not member.has("in_sync"):  # what a new member held is not the array's
                continue
            try:
                block = read_examined(self._reader, member.name, whole=True)
            except MdadmError:
                continue
            if block is not None and not block.young:
                return  # nor are the others
            if block is None or block.slot is None:
                continue
            created_s = block.created_s
            surface = read_surface(
                self._reader, member.name, _LOOK_S, (block.offset_sectors or 0) * SECTOR_BYTES
            )
            if surface is not None and surface.filesystem_s is not None:
                made[member.name] = surface.filesystem_s
        self._found[array.key] = older_words(created_s, made)


def older_words(created_s: float | None, made: Mapping[str, float]) -> str:
    """Return what is older than an array, a clause; "" for nothing.

    Args:
        created_s: when the array was created, epoch seconds; None where that is not known.
        made: when the file system on a member was made, by the member's name.
    """
    from raidtui.view.moments import moment  # noqa: PLC0415

    older = {name: at_s for name, at_s in made.items() if created_s is not None and at_s < created_s}
    if created_s is None or not older:
        return ""
    return (
        f"was created {moment(created_s)}, and the file system on {joined(sorted(older))} is older:"
        f" {moment(min(older.values()))}"
    )


def is_filled(array: Array) -> bool:
    """Whether a resync or a recovery runs."""
    sync = array.sync
    return sync is not None and sync.phase is Phase.RUNNING and sync.action in _FILLS
