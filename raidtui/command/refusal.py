"""A refusal for the eye, and for programs."""

from __future__ import annotations

import sys

from raidtui.command.streams import print_json
from raidtui.model.plan import Refusal
from raidtui.view.text import visible

FORM = 1


def tell_refusal(refusal: Refusal, *, as_json: bool) -> None:
    """Say why nothing is done on standard error, and as JSON on standard output where that is asked for."""
    if as_json:
        print_json(
            {
                "raidtui_refusal": FORM,
                "code": refusal.code,
                "why": refusal.why,
                "remedy": refusal.remedy or None,
            }
        )
    print(f"raidtui: not possible: {visible(refusal.sentence)}", file=sys.stderr)
