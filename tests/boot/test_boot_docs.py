"""docs/boot-check.md has each code."""

from __future__ import annotations

import re
from pathlib import Path

from raidtui.monitor.boot.boot_reasons import BootCode

TEXT = (Path(__file__).parents[2] / "docs" / "boot-check.md").read_text(encoding="utf-8")


def test_every_code() -> None:
    part = TEXT.partition("## Codes")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)`", part, re.MULTILINE) == list(BootCode)
