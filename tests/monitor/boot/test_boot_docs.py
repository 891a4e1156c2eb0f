"""docs/boot-check.md has each code."""

from __future__ import annotations

import re

from raidtui.monitor.boot.boot_reasons import BootCode
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "boot-check.md").read_text(encoding="utf-8")


def test_every_code() -> None:
    part = TEXT.partition("## Codes")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)`", part, re.MULTILINE) == list(BootCode)
