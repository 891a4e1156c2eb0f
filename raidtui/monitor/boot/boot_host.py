"""One host's layers and boot facts, asked about a lost disk."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.model.array import Array
from raidtui.model.boot import BootFacts
from raidtui.model.stack import Stack, StackKind
from raidtui.monitor.stack.survival import Survival


class BootHost:
    """What the stages of a boot are judged by.

    Args:
        facts: of the boot.
        stack: the layers.
        arrays: md's, by kernel name.
    """

    def __init__(self, facts: BootFacts, stack: Stack, arrays: Mapping[str, Array]) -> None:
        self.facts = facts
        self.stack = stack
        self.arrays = arrays
        self._survival = Survival(stack, arrays)

    @property
    def usr(self) -> tuple[str, ...]:
        """What /usr of fstab lies on: the initramfs mounts it before init runs, nofail or not."""
        lines = (line for line in self.facts.lines if line.place == "/usr" and line.file == "/etc/fstab")
        return next((line.devices for line in lines), ())

    @property
    def early(self) -> tuple[str, ...]:
        """The devices that the initramfs has to reach: those of the root file system, and of /usr."""
        root = self.facts.root
        return tuple(dict.fromkeys(filter(None, (root.device, *root.others, *self.usr))))

    @property
    def early_arrays(self) -> tuple[Array, ...]:
        """The arrays below these."""
        below = [array for device in self.early for array in self.arrays_below(device)]
        return tuple({array.name: array for array in below}.values())

    @property
    def early_kinds(self) -> frozenset[StackKind]:
        """The kinds of the layers below these."""
        return frozenset(kind for device in self.early for kind in self.kinds_below(device))

    def alive(self, device: str, lost: str) -> bool | None:
        """Whether a device has its data without a disk; None where that is not known."""
        return self._survival.alive(device, frozenset({lost}))

    def disks(self, *devices: str) -> tuple[str, ...]:
        """Return the disks under some devices."""
        return self._survival.disks(devices)

    def arrays_below(self, device: str) -> tuple[Array, ...]:
        """Return the arrays that a device stands on, itself included."""
        names = (device, *self.stack.below(device))
        return tuple(self.arrays[name] for name in names if name in self.arrays)

    def kinds_below(self, device: str) -> frozenset[StackKind]:
        """Return the kinds of the layers under a device, its own included."""
        nodes = self.stack.nodes
        return frozenset(nodes[name].kind for name in (device, *self.stack.below(device)) if name in nodes)

    def degraded_by(self, array: Array, lost: str) -> bool:
        """Whether a disk carries a member of an array that is in sync."""
        members = {member.name for member in array.members if member.has("in_sync")}
        return any(lost in self.disks(name) for name in members)

    def array_of(self, uuid: str) -> Array | None:
        """Return the array with this UUID, in any form."""
        wanted = _digits(uuid)
        return next(
            (each for each in self.arrays.values() if each.uuid and _digits(each.uuid) == wanted), None
        )

    def old_copy(self, device: str, lost: str) -> str:
        """Return a former member, on another disk, of an array below a device; "" for none.

        It failed or was removed, and its superblock does not know: without the others md starts it alone.
        """
        for array in self.arrays_below(device):
            failed = [member.name for member in array.members if member.has("faulty")]
            left = [name for name, uuid in self.facts.former if _digits(uuid) == _digits(array.uuid or "-")]
            found = next((name for name in (*failed, *left) if lost not in self.disks(name)), "")
            if found and array.redundant:
                return found
        return ""

    def in_initramfs(self, device: str) -> bool:
        """Whether an initramfs is needed to get at a device."""
        return bool(self.arrays_below(device)) or self.kinds_below(device) > {
            StackKind.DISK,
            StackKind.PARTITION,
        }


def _digits(uuid: str) -> str:
    return uuid.replace(":", "").replace("-", "").lower()
