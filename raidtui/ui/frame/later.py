"""Work that a pane begins beside its messages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.widget import Widget
from textual.worker import Worker


def later(
    widget: Widget, way: Callable[[], Coroutine[Any, Any, None]], *, alone_in: str | None = None
) -> None:
    """Let a way be gone as a worker. Its coroutine is made when it begins: at the end, some never do.

    Args:
        widget: the worker ends with it.
        way: makes the coroutine.
        alone_in: a group; what is under way in it is ended.
    """
    worker: Worker[None] = widget.run_worker(way, group=alone_in or "default", exclusive=alone_in is not None)
    del worker
