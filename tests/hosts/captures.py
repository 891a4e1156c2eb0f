"""The captured texts under tests/fixtures."""

from __future__ import annotations

import json
from functools import cache

from tests.places import FIXTURES

MDSTAT = FIXTURES / "mdstat"
ALL_CAPTURES = tuple(sorted(path.name for path in MDSTAT.glob("*.txt")))


@cache
def capture_text(name: str) -> str:
    """Return a captured /proc/mdstat."""
    return (MDSTAT / name).read_text()


@cache
def expected_verdicts() -> dict[str, dict[str, list[str]]]:
    """Return file -> array -> [health word, finding codes], as reviewed by hand."""
    table: dict[str, dict[str, list[str]]] = json.loads((MDSTAT / "expected.json").read_text())
    return table
