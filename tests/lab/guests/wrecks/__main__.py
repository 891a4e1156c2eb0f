"""`python -m tests.lab.guests.wrecks [ID...]`: makes wrecks, and keeps what their diagnosis reads."""

import json
import sys

from tests.hosts.wrecks import KEPT, WRECKED
from tests.lab.guests.boot import REPOSITORY
from tests.lab.guests.uml import UmlGuest
from tests.lab.guests.wrecks.making import make
from tests.lab.guests.wrecks.table import WRECKS
from tests.lab.guests.wrecks.wreck import DISK_MIB, DISKS


def main() -> None:
    """Make them, one after the other."""
    guest = UmlGuest.boot(disks=DISKS, size_mib=DISK_MIB)
    wanted = [wreck for wreck in WRECKS if wreck.id in sys.argv[1:] or not sys.argv[1:]]
    WRECKED.mkdir(exist_ok=True)
    try:
        for wreck in wanted:
            make(guest, wreck)
            result = guest.run(f"cd {REPOSITORY} && {sys.executable} -m tests.lab.guests.inside.noted_tree")
            assert result.status == 0, result.output
            texts = {path: text for path, text in json.loads(result.stdout).items() if path.startswith(KEPT)}
            file = WRECKED / f"{wreck.id}.json"
            file.write_text(json.dumps(texts, indent=0, sort_keys=True, ensure_ascii=False) + "\n")
            guest.reset()
    finally:
        guest.shutdown()


if __name__ == "__main__":
    main()
