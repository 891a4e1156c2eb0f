"""Answers of hosts, in the form of ``raidtui status --json --wear``, as short as that form allows."""

from __future__ import annotations

import json
from typing import Any

NOW_S = 1_795_600_000.0


def array(label: str = "data", health: str = "optimal", **more: Any) -> dict[str, Any]:
    return {"name": "md127", "label": label, "health": health, **more}


def resync(fraction: float | None, eta_s: float | None, **more: Any) -> dict[str, Any]:
    return {"action": "resync", "phase": "running", "fraction": fraction, "eta_s": eta_s, **more}


def finding(severity: str, sentence: str) -> dict[str, Any]:
    return {"severity": severity, "code": "x", "sentence": sentence, "remedy": None}


def saying(*arrays: dict[str, Any], status: int = 0, **more: Any) -> str:
    """What a host with these arrays says."""
    whole = {
        "format_version": 1,
        "raidtui_version": "0.1.0",
        "taken_s": NOW_S,
        "exit_status": status,
        "host": {"name": "there"},
        "arrays": list(arrays),
        "absent": [],
        "findings": [],
        "wear": None,
        **more,
    }
    return json.dumps(whole)
