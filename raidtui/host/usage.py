"""What uses a block device: mounts, swap, holders, partitions, signatures."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.host.udev import UdevEntry
from raidtui.model.disk import Use

BLOCK = "/sys/class/block"


class UsageTables:
    """/proc/self/mountinfo and /proc/swaps, by device. Read once for a whole sample."""

    def __init__(self, root: Root) -> None:
        self._mounts: dict[str, list[Use]] = {}
        self.text = (
            root.text("/proc/self/mountinfo", keep=True) or "",
            root.text("/proc/swaps", keep=True) or "",
        )
        for line in self.text[0].split("\n"):
            self._take_mount(line)
        swaps = self.text[1].split("\n")[1:]
        self._swaps = {unescape(line.split()[0]) for line in swaps if line.split()}

    def _take_mount(self, line: str) -> None:
        before, separator, after = line.partition(" - ")
        words, rest = before.split(), after.split()
        if not separator or len(words) < 5 or len(rest) < 2:
            return
        use = Use(kind="mount", what=unescape(words[4]), detail=rest[0])
        self._mounts.setdefault(words[2], []).append(use)
        if words[2].startswith("0:"):  # btrfs and others have a device number of their own
            self._mounts.setdefault(unescape(rest[1]), []).append(use)

    def mounts(self, dev: str | None, paths: tuple[str, ...]) -> list[Use]:
        """Return the mounts of the device with this "major:minor" or one of these paths."""
        found = [use for key in (dev, *paths) if key for use in self._mounts.get(key, ())]
        return list(dict.fromkeys(found))

    def is_swap(self, paths: tuple[str, ...]) -> bool:
        """Whether one of these paths is swapped to."""
        return not self._swaps.isdisjoint(paths)


def read_uses(
    root: Root, name: str, dev: str | None, entry: UdevEntry, tables: UsageTables
) -> tuple[Use, ...]:
    """Return all uses of the block device ``name`` that can be seen without opening it."""
    paths = (f"/dev/{name}", *(f"/dev/{link}" for link in entry.links))
    uses = tables.mounts(dev, paths)
    if tables.is_swap(paths):
        uses.append(Use(kind="swap", what=name))
    for holder in root.names(f"{BLOCK}/{name}/holders"):
        detail = (root.text(f"{BLOCK}/{holder}/dm/name") or "") if holder.startswith("dm-") else ""
        uses.append(Use(kind="holder", what=holder.replace("!", "/"), detail=detail))
    uses += [
        Use(kind="partition", what=child)
        for child in root.names(f"{BLOCK}/{name}")
        if child.startswith(name) and root.text(f"{BLOCK}/{name}/{child}/partition") is not None
    ]
    # udev tells of a partition's disk's table with the partition, too.
    is_partition = root.text(f"{BLOCK}/{name}/partition") is not None
    for key in ("ID_FS_TYPE",) if is_partition else ("ID_FS_TYPE", "ID_PART_TABLE_TYPE"):
        if signature := entry.properties.get(key):
            label = entry.properties.get("ID_FS_LABEL", "") if key == "ID_FS_TYPE" else ""
            uses.append(Use(kind="signature", what=signature, detail=label))
    return tuple(uses)


def unescape(text: str) -> str:
    r"""Undo the octal escapes (\040 for a space) of mountinfo and swaps."""
    if "\\" not in text:
        return text
    parts = text.split("\\")
    out = parts[0]
    for part in parts[1:]:
        octal = part[:3]
        if len(octal) == 3 and all(digit in "01234567" for digit in octal) and int(octal, 8) < 256:
            out += chr(int(octal, 8)) + part[3:]
        else:
            out += "\\" + part
    return out
