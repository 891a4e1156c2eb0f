"""What a capture has of arrays that do not run."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from raidtui.command.captured_files import device_files, said_file
from raidtui.features.rescue.session import read_facts
from raidtui.frame.feature import CapturedPart
from raidtui.host.backup_files import BACKUPS
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.noting_reader import NotingReader
from raidtui.host.surface import SURFACES


def capture_members(root: HostReader) -> CapturedPart:
    """Return what ``raidtui rescue`` reads of the devices: superblocks, and whether they can be read."""
    return CapturedPart(files=dict(_members(root)))


def _members(root: HostReader) -> Iterator[tuple[str, bytes]]:
    noting = NotingReader(root)
    facts = read_facts(noting)
    if facts is None:
        return
    for output in noting.outputs:
        if output.argv[:1] == ("mdadm",) and any(word.startswith("--examine") for word in output.argv):
            yield from said_file(output)
    for name in facts.survey.devices:
        if name.startswith(("loop", "ram")):
            yield from device_files(root, name)
    yield BACKUPS, msgspec.json.encode(facts.backups)
    yield SURFACES, msgspec.json.encode(facts.surfaces)
