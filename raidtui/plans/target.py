"""What every plan checks and how a step names its array."""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.plan import Refusal, Step
from raidtui.model.snapshot import Snapshot

_BLOCK = "/sys/class/block"


def needs_root(snapshot: Snapshot) -> Refusal | None:
    """Return the refusal that holds for every change, if one does."""
    host = snapshot.host
    if host.is_root:
        return None
    if host.source:
        return Refusal(code="not-here", why=f"{host.source} is a capture: it is only looked at")
    return Refusal(code="not-root", why="needs root", remedy="run it as: sudo raidtui")


def base_of(array: Array) -> str:
    """Return the array's md folder in sysfs."""
    return f"{_BLOCK}/{array.name}/md"


def array_step(array: Array, attribute: str, text: str, why: str) -> Step:
    """Return a write to an md attribute, bound to the array's UUID: mdN may have moved meanwhile."""
    base = base_of(array)
    identity = (f"{base}/uuid", array.uuid) if array.uuid else None
    return Step(path=f"{base}/{attribute}", text=text, why=why, identity=identity)
