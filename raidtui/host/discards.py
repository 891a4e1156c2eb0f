"""How much each device has discarded, from /proc/diskstats (Documentation/admin-guide/iostats.rst)."""

from __future__ import annotations

from collections.abc import Collection

from raidtui.host.roots.root import Root

_READS, _WRITES, _DISCARDED = 3, 7, 16


def read_discards(root: Root, names: Collection[str]) -> dict[str, int]:
    """Return the discarded sectors of 512 bytes, by kernel name.

    A device for which nothing was ever counted is left out: its queue does not count (queue/iostats), or the
    kernel is older than 4.18 and does not count discards.
    """
    found: dict[str, int] = {}
    if not names:
        return found
    for line in (root.text("/proc/diskstats") or "").split("\n"):
        words = line.split()
        if len(words) <= _DISCARDED or words[2] not in names:
            continue
        try:
            reads, writes, discarded = (int(words[place]) for place in (_READS, _WRITES, _DISCARDED))
        except ValueError:
            continue  # a line that is none of the kernel's
        if reads or writes or discarded:
            found[words[2]] = discarded
    return found
