"""The images of `make boot-proof`, as a boot check has read them, and how they booted."""

from __future__ import annotations

import json
from typing import Any

from raidtui.host.readers.memory_reader import MemoryReader
from tests.boot_proof.fixtures import BASE, FILE, applied

TAKEN_S = 1_795_579_200.0
_TEXT: dict[str, Any] = json.loads(FILE.read_text())
ENDS: dict[str, dict[str, str]] = {name: case["ends"] for name, case in _TEXT["cases"].items()}
"""By case and disk that was left out: how the boot ended."""


class Image(MemoryReader):
    """A host that is one of the images; plans are made as on a live one."""

    @property
    def writable(self) -> bool:
        """As root is."""
        return True


def image_root(name: str = BASE) -> MemoryReader:
    """A host that is one of the images."""
    case = _TEXT["cases"][name]
    files = applied(_TEXT["base"]["files"], case["files"])
    links = applied(_TEXT["base"]["links"], case["links"])
    return Image(
        {path: text.encode("latin-1") for path, text in files.items()},
        links=links,
        taken_s=TAKEN_S,
        still=True,
    )
