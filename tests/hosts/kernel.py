"""A host that can be written to: it remembers every write, and does what md would do about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from tests.hosts.specs import ArraySpec, Syncing
from tests.hosts.trees import Stage, host_tree

_CHECKS = ("check", "repair")


class Kernel(Stage):
    """A stage with root's rights.

    Args:
        *arrays: what is there.
        writable: whether we are root.
        **more: for ``host_tree``.

    Attributes:
        writes: (path, text) of every write that reached the kernel, refused ones included.
        refuses: end of a path -> errno that a write to it gives.
        deaf: writes are taken, and nothing comes of them.
        on_write: called before each write.
    """

    def __init__(self, *arrays: ArraySpec, writable: bool = True, **more: Any) -> None:
        self.arrays = {array.name: array for array in arrays}
        self.more = {"limits": (1000, 200_000), **more}
        self.writes: list[tuple[str, str]] = []
        self.refuses: dict[str, int] = {}
        self.deaf = False
        self.on_write: Callable[[str, str], None] | None = None
        self._may_write = writable
        self._waiting: dict[str, Syncing] = {}
        super().__init__(self._tree())

    def _tree(self) -> Any:
        return host_tree(*self.arrays.values(), **self.more)

    @property
    def writable(self) -> bool:
        """See ``HostReader.writable``."""
        return self._may_write

    def change(self, *arrays: ArraySpec, after_s: float = 1.0, **more: Any) -> None:
        """Show other arrays, some time later."""
        self.arrays = {array.name: array for array in arrays}
        self.more |= more
        self.show(self._tree(), after_s=after_s)

    def take_value(self, path: str, text: str) -> None:
        """See ``HostReader.write``."""
        if self.on_write is not None:
            self.on_write(path, text)
        self.writes.append((path, text))
        for end, code in self.refuses.items():
            if path.endswith(end):
                raise OSError(code, os.strerror(code), path)
        self.read(path)  # ENOENT where there is no such file
        if not self.deaf:
            self._take(path, text)
            self.show(self._tree(), after_s=0)

    def _take(self, path: str, text: str) -> None:
        name, _, attribute = path.rpartition("/")
        if attribute.startswith("speed_limit_"):
            low, high = self.more["limits"]
            self.more["limits"] = (int(text), high) if attribute.endswith("min") else (low, int(text))
            return
        array = self.arrays[name.split("/")[-2]]
        if attribute.startswith("sync_speed_"):
            value = None if text == "system" else int(text)
            low, high = array.limits
            array = replace(array, limits=(value, high) if attribute.endswith("min") else (low, value))
        elif attribute == "sync_min":
            array = replace(array, sync_min=int(text))
        elif attribute == "sync_action":
            array = self._act(array, text)
        self.arrays[array.name] = array

    def _act(self, array: ArraySpec, text: str) -> ArraySpec:
        if text in _CHECKS:
            return replace(
                array, sync=Syncing(action=text, done_kib=array.sync_min // 2, speed_kib_s=200_000)
            )
        if text == "frozen":
            if array.sync is not None:
                self._waiting[array.name] = array.sync
            return replace(array, sync=None, frozen=True, resync_start="1024" if array.sync else "none")
        if array.frozen:
            return replace(array, sync=self._waiting.pop(array.name, None), frozen=False, resync_start="none")
        if array.sync is not None and array.sync.action in _CHECKS:
            return replace(
                array, sync=None, last_sync_action=array.sync.action, sync_min=array.sync.done_kib * 2
            )
        return array


def ends(writes: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return (array/attribute, text) of writes below /sys/class/block, other paths whole."""
    return [(path.removeprefix("/sys/class/block/").replace("/md/", "/"), text) for path, text in writes]
