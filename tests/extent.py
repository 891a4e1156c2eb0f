"""How much is tried of what takes long: all of it by ``make whole``, a part by ``make test``."""

import os
from typing import Any

import pytest

WHOLE = os.environ.get("RAIDTUI_WHOLE") == "yes"
"""Whether tests marked ``later`` run, and every place is tried where something can go wrong."""


def each(count: int) -> int:
    """Return how far the places are apart that are tried: `count`, or 1 where all of them are."""
    return 1 if WHOLE else count


def later(*values: Any, id: str | None = None) -> Any:  # noqa: A002  (as pytest says)
    """Return a case of a test that only ``make whole`` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.later)
