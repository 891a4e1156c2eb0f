"""Pieces of a capture that its own command and features put in: devices, and what tools said."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader, captured_words
from raidtui.host.tools import ToolOutput, output_path
from raidtui.model.answer import AnswerKind

_DISK = (
    "dev", "size", "start", "ro", "removable", "partition", "wwid", "serial", "dm/name", "diskseq",
    "device/model", "device/vendor", "device/serial", "device/timeout", "device/queue_depth",
    "device/vpd_pg80", "queue/rotational", "queue/scheduler", "queue/nr_requests", "queue/logical_block_size",
    "queue/physical_block_size", "queue/optimal_io_size", "queue/discard_max_bytes",
)  # fmt: skip


def device_files(reader: HostReader, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of what is captured of a block device."""
    node = f"{BLOCK}/{name}"
    for attribute in _DISK:
        yield from file_of(reader, f"{node}/{attribute}")
    for folder in ("holders", "slaves"):
        for other in reader.names(f"{node}/{folder}"):
            yield f"{node}/{folder}/{other}", b""
    for child in reader.names(node):
        if child.startswith(name):
            yield from file_of(reader, f"{node}/{child}/partition")
    if dev := reader.text(f"{node}/dev"):
        yield from file_of(reader, f"/run/udev/data/b{dev}")


def file_of(reader: HostReader, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of a file, if it can be read."""
    try:
        yield path, reader.read(path)
    except OSError:
        return  # a file that is not there, or not for us, is not part of the capture either


def said_file(output: ToolOutput) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of what a tool said, if it was asked."""
    if output.kind is not AnswerKind.NOT_ASKED:
        yield output_path(output.argv), captured_words(output).encode()
