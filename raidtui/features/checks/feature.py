"""The plan that has arrays checked regularly."""

from __future__ import annotations

from raidtui.frame.feature import Feature, Verbs


def _verbs() -> Verbs:
    from raidtui.features.checks.cli_plan import VERBS

    return VERBS


FEATURE = Feature(name="checks", verbs=_verbs)
