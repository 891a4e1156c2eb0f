"""Prints all that the diagnosis reads in the guest, files and outputs of tools by path, as JSON."""

import json
import sys

import msgspec

from raidtui.features.rescue.session import read_facts
from raidtui.host.backup_files import BACKUPS
from raidtui.host.readers.noting_reader import NotingReader
from raidtui.host.readers.opening import open_root
from raidtui.host.surface import SURFACES
from raidtui.host.tools import output_path

if __name__ == "__main__":
    root = NotingReader(open_root("/"))
    facts = read_facts(root)
    assert facts is not None
    texts = {path: data.decode("utf-8", "replace") for path, data in root.files.items()}
    texts |= {
        output_path(output.argv): f"exit {output.status}\n{output.stdout}{output.stderr}"
        for output in root.outputs
        if output.status is not None
    }
    texts[BACKUPS] = msgspec.json.encode(facts.backups).decode()
    texts[SURFACES] = msgspec.json.encode(facts.surfaces).decode()
    sys.stdout.write(json.dumps(texts))
