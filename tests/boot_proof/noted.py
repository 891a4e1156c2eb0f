"""`python -m tests.boot_proof.noted FILE`: all that a boot check reads of this host, for a fixture."""

import json
import sys
from pathlib import Path

import msgspec

from raidtui.host.block import BLOCK
from raidtui.host.boot.boot_reader import KEPT
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.noting_reader import NotingReader
from raidtui.host.tools import output_path
from raidtui.monitor.boot.boot_check import check_boot


def main(target: Path) -> None:
    """Write the files, the links and the tools' outputs as JSON; bytes as characters."""
    root = NotingReader(FolderReader())
    facts = check_boot(root).facts
    files = {path: data.decode("latin-1") for path, data in root.files.items() if path.startswith(_NEEDED)}
    files[KEPT] = msgspec.json.encode(facts).decode()
    for name in root.names(BLOCK):
        for other in root.names(f"{BLOCK}/{name}/slaves"):
            files[f"{BLOCK}/{name}/slaves/{other}"] = ""
    for output in root.outputs:
        if output.status is not None:
            files[output_path(output.argv)] = f"exit {output.status}\n{output.stdout}"
    target.write_text(json.dumps({"files": files, "links": root.links}, indent=1, sort_keys=True))


_NEEDED = ("/proc/", "/sys/", "/run/udev/", "/etc/mdadm", "/etc/fstab", "/etc/crypttab")

if __name__ == "__main__":
    main(Path(sys.argv[1]))
