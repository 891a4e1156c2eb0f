"""What boot checks have read of the images, and how these booted: the fixtures of `make test`.

Each case is kept as what differs from the healthy image of the table's first line.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.lab.guests.boot import REPOSITORY
from tests.places import FIXTURES

FILE = FIXTURES / "boot" / "images.json"
BASE = "healthy"
_FOLDER = re.compile(r"/tmp/raidtui-proof\.\w+")


def keep(state: Path, outcomes: Mapping[str, Mapping[str, Any]], names: list[str]) -> None:
    """Write the fixtures of the cases that were booted; those of other cases stay."""
    base = _noted(state, BASE)
    whole = _whole()
    for name in names:
        ends = {
            key.partition(" without ")[2]: row["end"] for key, row in outcomes.items() if _case(key) == name
        }
        if ends and (state / "cases" / name / "noted.json").exists():
            whole[name] = {**whole.get(name, ({}, {}))[0], **ends}, _noted(state, name)
    cases = {
        name: {"ends": ends, **{part: _difference(base[part], noted[part]) for part in base}}
        for name, (ends, noted) in whole.items()
    }
    FILE.write_text(json.dumps({"base": base, "cases": cases}, indent=0, sort_keys=True) + "\n")


def _whole() -> dict[str, tuple[dict[str, str], dict[str, dict[str, str]]]]:
    """Return the cases of the file: how each booted, and all that was noted of it."""
    old = json.loads(FILE.read_text()) if FILE.exists() else {"base": {}, "cases": {}}
    base = old["base"]
    return {
        name: (case["ends"], {part: applied(base[part], case[part]) for part in base})
        for name, case in old["cases"].items()
    }


def _case(key: str) -> str:
    return key.partition(" without ")[0]


def _noted(state: Path, name: str) -> dict[str, dict[str, str]]:
    text = (state / "cases" / name / "noted.json").read_text()
    for checkout in {str(REPOSITORY), str(state.parent)}:
        text = text.replace(checkout, "/opt/raidtui")
    noted: dict[str, dict[str, str]] = json.loads(_FOLDER.sub("/tmp/raidtui-proof", text))
    noted["files"] = {path: text for path, text in noted["files"].items() if not _passing(path)}
    return noted


def _passing(path: str) -> bool:
    """Whether a file differs from minute to minute, and no verdict depends on it."""
    return path.endswith(("/stat", "/proc/diskstats", "/diskseq", "boot_id", "/uptime"))


def _difference(base: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str | None]:
    changed: dict[str, str | None] = {path: text for path, text in other.items() if base.get(path) != text}
    return changed | dict.fromkeys(path for path in base if path not in other)


def applied(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return what a case has, by what it differs in."""
    merged = {**base, **changes}
    return {path: text for path, text in merged.items() if text is not None}
