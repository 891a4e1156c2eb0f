"""The live samples in a benchmark's folder: written by its worker, read by whoever follows.

JSON lines: the record of a run as it begins, then its samples, and between them what surrounds it. They are
not synced: what the kernel has is there also when the worker is killed, and a measurement is not disturbed by
its own notes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from raidtui.bench.results.run_record import RunRecord, RunSample
from raidtui.bench.surroundings import Surroundings

NAME = "live.jsonl"


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: a run that begins; or a sample of the run before, or what surrounds it."""

    begins: RunRecord | None = None
    sample: RunSample | None = None
    surroundings: Surroundings | None = msgspec.field(default=None, name="around")


class LiveFile:
    """Appends to the file; what cannot be written is lost, and hinders nothing.

    Args:
        folder: the benchmark's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._number = os.open(self._path, flags, 0o600)

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
            os.write(self._number, msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._number)


def read_live(folder: Path, offset: int = 0) -> tuple[list[Line], int]:
    """Return the lines from a place in the file on, and the place to read from next time.

    A last line without an end is left for the next time; one that is none is passed over.
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
    """Return the run that began last, and its samples since fio last began to count anew."""
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
    """Return all that was seen around the run that began last, since fio last began to count anew."""
    found: list[Surroundings] = []
    for line in lines:
        if line.begins is not None or (line.sample is not None and line.sample.anew):
            found = []
        elif line.surroundings is not None:
            found.append(line.surroundings)
    return found
