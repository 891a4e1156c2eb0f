"""What there is to know at each step of the wizard before one decides. Pure."""

from __future__ import annotations

from raidtui.plans.wizard.evidence import SOURCE, table_lines
from raidtui.view.prose import read_prose


def why(step: str) -> tuple[str, ...]:
    """Return the page of a step: paragraphs, a line each, and tables, whose lines begin with a blank."""
    lines: list[str] = []
    for line in read_prose(__file__, "steps")[step]:
        lines += table_lines() if line == "{table}" else [line.replace("{source}", SOURCE)]
    return tuple(lines)
