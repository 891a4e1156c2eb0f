"""Streams that fio 3.33 printed, as they came: rate-limited runs of less than a second."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from raidtui.features.bench.run.fio_stream import Dump, StreamParser

STREAMS = Path(__file__).parent / "streams"
MIXED = (STREAMS / "mixed.json").read_bytes()
"""70/30, two jobs as one group: four objects."""
TWO_JOBS = (STREAMS / "two-jobs.json").read_bytes()
"""A reader and a writer, side by side."""
IN_TURN = (STREAMS / "one-after-another.json").read_bytes()
"""A reader, then (stonewall) a writer."""
STOPPED = (STREAMS / "ramp-stopped.json").read_bytes()
"""A ramp time of 0.6 s, then SIGINT."""
NO_SPACE = (STREAMS / "no-space.json").read_bytes()
"""A file system of 1 MiB that runs full."""
ALL = (MIXED, TWO_JOBS, IN_TURN, STOPPED, NO_SPACE)


def dumps_of(data: bytes) -> list[Dump]:
    """Return all objects of a stream."""
    parser = StreamParser()
    return parser.feed(data) + parser.close()


def objects(data: bytes) -> list[dict[str, Any]]:
    """Return the same as Python's own JSON reads it."""
    return [json.loads(text) for text in re.findall(rb"^\{$.*?^\}$", data, re.DOTALL | re.MULTILINE)]
