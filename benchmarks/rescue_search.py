"""What a search for a lost geometry reads and how long it takes, against candidates and size of the members.

``python -m benchmarks.rescue_search [--seed N]``: images in a temporary folder; sparse, so that members of
4 TiB take no room. The content is the same at all sizes: what grows with the size would show here.
"""

import argparse
import random
import tempfile
from pathlib import Path

from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.session_search import search_geometry
from tests.features.rescue.images import ext4
from tests.features.rescue.striping import MIB, write_members

SIZES = {"32 MiB": 32 * MIB, "1 GiB": 1 << 30, "64 GiB": 64 << 30, "4 TiB": 4 << 40}
CASES = (
    ("RAID 5 of 4", 5, "left-symmetric", 4, ()),
    ("RAID 5 of 4, one missing", 5, "left-symmetric", 4, (1,)),
    ("RAID 5 of 8", 5, "left-symmetric", 8, ()),
    ("RAID 6 of 6, two missing", 6, "left-symmetric", 6, (0, 3)),
    ("RAID 10 o2 of 4", 10, "o2", 4, ()),
    ("RAID 0 of 3", 0, "", 3, ()),
)


def main() -> None:
    """Print a line for each case and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the order of the members and of the places")
    seed = parser.parse_args().seed
    print(f"{'array':<26} {'members':>8} {'geometries':>10} {'read':>9} {'time':>7}  outcome")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        content = ext4(base)
        for name, level, layout, slots, dropped in CASES:
            order = list(range(slots))
            random.Random(seed).shuffle(order)
            paths = write_members(base, content, level=level, layout=layout, order=order)
            kept = [str(path) for number, path in enumerate(paths) if number not in dropped]
            for words, size in SIZES.items():
                for path in paths:
                    with path.open("r+b") as stream:
                        stream.truncate(size)
                result = search_geometry(kept, SearchRequest(seed=seed))
                print(
                    f"{name:<26} {words:>8} {result.tested:>10} {result.bytes_read / MIB:>5.0f} MiB"
                    f" {result.seconds:>5.1f} s  {result.outcome}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
