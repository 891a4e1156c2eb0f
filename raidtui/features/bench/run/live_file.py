"""The live samples in a benchmark's folder: written by its worker, read by those that follow it.

JSON lines: the record of a run as it starts, then its samples, and between them its surroundings. They are
not synced: they survive when the worker is killed, and do not disturb the measurement.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from raidtui.features.bench.results.run_record import RunRecord, RunSample
from raidtui.features.bench.surroundings import Surroundings
from raidtui.jobs.state_files import append_to

NAME = "live.jsonl"


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: a run that starts, or a sample or the surroundings of the run before it."""

    begins: RunRecord | None = None
    sample: RunSample | None = None
    surroundings: Surroundings | None = msgspec.field(default=None, name="around")


class LiveFile:
    """Appends to the file; errors are ignored.

    Args:
        folder: the benchmark's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file = append_to(self._path)

    def begin(self, record: RunRecord) -> None:
        """Write that a run begins."""
        self._write(Line(begins=record))

    def add(self, sample: RunSample) -> None:
        """Write a sample."""
        self._write(Line(sample=sample))

    def add_surroundings(self, surroundings: Surroundings) -> None:
        """Write what surrounds the run."""
        self._write(Line(surroundings=surroundings))

    def _write(self, line: Line) -> None:
        with contextlib.suppress(OSError):
            self._file.write(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_live(folder: Path, offset: int = 0) -> tuple[list[Line], int]:
    """Return the lines from an offset on, and the offset for the next call.

    A last line without a newline is left for the next call; a damaged line is skipped.
    """
    try:
        with (folder / NAME).open("rb") as file:
            file.seek(offset)
            data = file.read()
    except OSError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    found = []
    for text in whole.split(b"\n"):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.append(msgspec.json.decode(text, type=Line))
    return found, offset + len(whole)


def last_run(lines: Sequence[Line]) -> tuple[RunRecord | None, list[RunSample]]:
    """Return the last run that was started, and its samples since fio last reset its counters."""
    record: RunRecord | None = None
    samples: list[RunSample] = []
    for line in lines:
        if line.begins is not None:
            record, samples = line.begins, []
        elif line.sample is not None:
            if line.sample.anew:
                samples = []
            samples.append(line.sample)
    return record, samples


def surroundings_of_last(lines: Sequence[Line]) -> list[Surroundings]:
    """Return the surroundings of the last run since fio last reset its counters."""
    found: list[Surroundings] = []
    for line in lines:
        if line.begins is not None or (line.sample is not None and line.sample.anew):
            found = []
        elif line.surroundings is not None:
            found.append(line.surroundings)
    return found
