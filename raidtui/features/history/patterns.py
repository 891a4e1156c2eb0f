"""The kinds of lines that matter: ``patterns.tsv`` has for each an expression, a weight, and our words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct


class Weight(IntEnum):
    """How much a line weighs, ordered."""

    DETAIL = 0
    """Shown with its incident alone."""
    NOTE = 1
    WARNING = 2
    ERROR = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        """The word for programs."""
        return self.name.lower()


class Pattern(Struct, frozen=True, kw_only=True):
    """One kind of line.

    Args:
        family: whose lines it is tried on: md, ata, nvme, scsi, usb, block, boot, mdadm, smartd, udev or
            journal.
        code: its name, for programs: docs/history.md lists them all.
        regex: matches the line from its start. Groups: ``md`` an array, ``d`` a device, ``p`` an ATA port,
            ``c`` an NVMe controller, ``h`` a SCSI address, others for the words alone.
        words: what it means, with the groups in braces.
    """

    family: str
    code: str
    weight: Weight
    regex: str
    words: str


@cache
def patterns() -> Mapping[str, Pattern]:
    """Return all patterns by their code, in the order in which they are tried."""
    text = Path(__file__).with_name("patterns.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {
        code: Pattern(family=family, code=code, weight=Weight[weight.upper()], regex=regex, words=words)
        for family, code, weight, regex, words in rows
    }


@lru_cache(maxsize=512)
def compiled(regex: str) -> re.Pattern[str]:
    """Return the expression of a pattern."""
    return re.compile(regex)


def groups_of(pattern: Pattern, text: str) -> dict[str, str]:
    """Return what the groups of a pattern hold in a line; "" for those that are not there."""
    match = compiled(pattern.regex).match(text)
    return match.groupdict(default="") if match is not None else {}
