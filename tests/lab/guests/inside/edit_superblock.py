"""Changes fields of a superblock 1.2 in place, and its checksum: `edit_superblock.py DEVICE events=+20000`.

Runs in the guest on the bare standard library. Fields are as struct mdp_superblock_1 of md_p.h has them.
"""

import os
import struct
import sys

MAGIC = 0xA92B4EFC
FIELDS = {"ctime": (64, "<Q"), "layout": (76, "<I"), "utime": (192, "<Q"), "events": (200, "<Q")}
CHECKSUM, MAX_DEV = 216, 220


def checksum(block: bytes) -> int:
    """As calc_sb_1_csum of md.c has it."""
    size = 256 + 2 * struct.unpack_from("<I", block, MAX_DEV)[0]
    total: int = sum(struct.unpack_from(f"<{size // 4}I", block))
    total -= struct.unpack_from("<I", block, CHECKSUM)[0]
    if size % 4:
        total += struct.unpack_from("<H", block, size - 2)[0]
    return (total & 0xFFFFFFFF) + (total >> 32) & 0xFFFFFFFF


def main() -> None:
    """Change the superblock at 4 KiB; "checksum=wrong" leaves its checksum as it was."""
    device = os.open(sys.argv[1], os.O_RDWR)
    block = bytearray(os.pread(device, 4096, 4096))
    if struct.unpack_from("<I", block)[0] != MAGIC:
        sys.exit(f"{sys.argv[1]} has no superblock 1.2")
    right = True
    for change in sys.argv[2:]:
        name, _, value = change.partition("=")
        if name == "checksum":
            right = False
            continue
        offset, form = FIELDS[name]
        old = struct.unpack_from(form, block, offset)[0]
        struct.pack_into(form, block, offset, old + int(value) if value[0] in "+-" else int(value))
    if right:
        struct.pack_into("<I", block, CHECKSUM, checksum(bytes(block)))
    os.pwrite(device, block, 4096)
    os.fsync(device)


if __name__ == "__main__":
    main()
