"""``raidtui`` and ``python -m raidtui``: the first frame, then everything else."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program and exit with its status."""
    argv = sys.argv[1:]
    from raidtui.cli import run  # noqa: PLC0415

    sys.exit(run(argv))


if __name__ == "__main__":
    main()
