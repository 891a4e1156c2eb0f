"""The layers as a tree: from each file system down to its disks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from raidtui.model.stack import VOLUMES, Stack, StackKind, StackNode
from raidtui.monitor.stack.load import is_metadata

_DEEPEST = 24
_ORIGIN, _CACHE = "origin", "cache"


class TreeRow(Struct, frozen=True, kw_only=True):
    """A row: a layer, or the file system on one.

    Args:
        branch: what is drawn before it.
        node: the layer.
        mount: whether the row is that of the file system on it.
        part: what it is for the row above: origin or cache; "" for nothing special.
        again: whether it was drawn before: what it stands on is not drawn again.
    """

    branch: str
    node: StackNode
    mount: bool = False
    part: str = ""
    again: bool = False


def tree_rows(stack: Stack, focus: str = "") -> tuple[TreeRow, ...]:
    """Return the rows of all trees.

    Args:
        stack: the layers.
        focus: a device; then only what stands on it, with all that stands beneath that.
    """
    tops = [top for top in _tops(stack) if not focus or top.name == focus or focus in stack.below(top.name)]
    tops.sort(key=_order)
    drawer = _Drawer(stack)
    return tuple(row for top in tops for row in drawer.tree(top))


def _tops(stack: Stack) -> list[StackNode]:
    """Return what nothing stands on; of an inner volume what it stands on, unless something else does, too.

    LVM makes such a volume on each thin pool, to keep others from using it.
    """
    tops = list(stack.tops())
    outer = [top for top in tops if not top.hidden]
    held = {name for top in outer for name in stack.below(top.name)}
    inner = [stack.nodes[name] for top in tops if top.hidden for name in top.parents if name not in held]
    return [*outer, *inner]


def _order(top: StackNode) -> tuple[bool, bool]:
    """What is mounted comes first, then what stands on something."""
    return not top.file_system.mounts, not top.parents


class _Drawer:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._drawn: set[str] = set()

    def tree(self, top: StackNode) -> Iterator[TreeRow]:
        if is_used(top):
            yield TreeRow(branch="", node=top, mount=True)
            yield from self._node(top, "└─ ", "   ", "", 1)
        else:
            yield from self._node(top, "", "", "", 0)

    def _node(self, node: StackNode, own: str, further: str, part: str, depth: int) -> Iterator[TreeRow]:
        below = self._below(node)
        again = bool(below) and node.name in self._drawn
        self._drawn.add(node.name)
        yield TreeRow(branch=own, node=node, part=part, again=again)
        if again or depth > _DEEPEST:
            return
        for number, (child, word) in enumerate(below):
            last = number == len(below) - 1
            yield from self._node(
                child,
                further + ("└─ " if last else "├─ "),
                further + ("   " if last else "│  "),
                word,
                depth + 1,
            )

    def _below(self, node: StackNode) -> list[tuple[StackNode, str]]:
        """Return what a row stands on: inner volumes of inner ones, and metadata, are passed over."""
        found: dict[str, tuple[StackNode, str]] = {}
        cache = node.cache
        for parent in node.parents:
            each = self._stack.nodes[parent]
            if is_metadata(each) and node.kind in VOLUMES and len(node.parents) > 1:
                continue
            word = ""
            if cache is not None and cache.devices:
                word = _CACHE if parent in cache.devices else _ORIGIN if parent == cache.backing else ""
            for lower in self._outer(each) if node.hidden else (each,):
                found.setdefault(lower.name, (lower, word))
        order = {_ORIGIN: 0, "": 1, _CACHE: 2}
        return sorted(found.values(), key=lambda pair: order[pair[1]])

    def _outer(self, node: StackNode) -> Iterator[StackNode]:
        if not node.hidden:
            yield node
            return
        for parent in node.parents:
            yield from self._outer(self._stack.nodes[parent])


def is_used(node: StackNode) -> bool:
    """Whether a file system on it is mounted, or it is swapped to."""
    return bool(node.file_system.mounts) or node.file_system.swap


def kind_word(node: StackNode) -> str:
    """Return what a layer is, in a word or two."""
    if node.kind is StackKind.MD:
        return node.level or "md"
    return node.kind.removeprefix("lvm-") if node.kind in VOLUMES else str(node.kind)
