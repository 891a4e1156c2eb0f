"""Makes the files that wrecks are filled with, always the same: `wreck_tree.py FOLDER`.

Runs in the guest on the bare standard library. Files smaller than a chunk, files over many, text, zeros; none
has two blocks that are equal, but for the zeros: a block in the wrong place is always seen.
"""

import random
import sys
from pathlib import Path

SEED = 14
LARGE_MIB = (8, 5, 3)


def main() -> None:
    """Make the tree."""
    tree = Path(sys.argv[1])
    rng = random.Random(SEED)
    for folder in ("large", "small", "text/deep/er"):
        (tree / folder).mkdir(parents=True)
    (tree / "block.bin").write_bytes(rng.randbytes(4 << 20))
    for number, mib in enumerate(LARGE_MIB):
        (tree / f"large/{number}.bin").write_bytes(rng.randbytes(mib << 20))
    for number in range(40):
        (tree / f"small/{number}.bin").write_bytes(rng.randbytes(rng.randrange(1, 150_000)))
    for number in range(8):
        lines = (f"{number} {line} {rng.random()}\n" for line in range(rng.randrange(100, 8000)))
        (tree / f"text/deep/er/{number}.txt").write_text("".join(lines))
    (tree / "zeros.bin").write_bytes(bytes(1 << 20))


if __name__ == "__main__":
    main()
