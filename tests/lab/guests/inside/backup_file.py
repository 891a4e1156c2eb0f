"""Writes a backup file as mdadm does (Grow.c): `backup_file.py MD FILE FIRST COUNT`.

Runs in the guest on the bare standard library.
"""

import struct
import sys
import time
from pathlib import Path

SECTOR, START = 512, 8


def main() -> None:
    """Write it, from what the array holds."""
    array, file, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    uuid = Path(f"/sys/block/{Path(array).name}/md/uuid").read_text()
    place = struct.pack("<4Q", int(time.time()), START, first, count)
    head = b"md_backup_data-1" + bytes.fromhex(uuid.strip().replace("-", "")) + place
    checksum = 0
    for _ in head:
        checksum = (checksum << 3) + head[0] & 0xFFFFFFFF  # bsb_csum adds the first byte each time
    with Path(array).open("rb") as source:
        source.seek(first * SECTOR)
        held = source.read(count * SECTOR)
    Path(file).write_bytes((head + struct.pack("<I", checksum)).ljust(START * SECTOR, b"\0") + held)


if __name__ == "__main__":
    main()
