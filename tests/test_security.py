"""What SECURITY.md says of the tools that looking starts is held against the source."""

from __future__ import annotations

from pathlib import Path

import raidtui
from raidtui.host.logs.journald import journal_argv
from raidtui.host.logs.ring import ARGV as RING
from raidtui.host.readers import questions

SOURCE = Path(raidtui.__file__).parent
SECURITY = (SOURCE.parent / "SECURITY.md").read_text(encoding="utf-8")


def test_the_tools_that_only_read_are_named() -> None:
    assert {name for name in questions.RULES if f"`{name}" not in SECURITY} == set()


def test_the_tools_that_read_logs_are_named() -> None:
    assert f"`{journal_argv()[0]}`, `{' '.join(RING)}`" in SECURITY
