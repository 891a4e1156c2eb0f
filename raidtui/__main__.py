"""``raidtui`` and ``python -m raidtui``: the first frame, then everything else."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the program and exit with its status."""
    argv = sys.argv[1:]
    plain = _opens_live_console(argv)
    if plain is not None:
        from raidtui.first_frame import TERMINAL, show  # noqa: PLC0415

        show(*plain)
        gc.disable()  # thousands of objects are about to be made that all stay
        try:
            from raidtui.cli import run  # noqa: PLC0415

            status = run(argv)
        finally:
            TERMINAL.restore()
        sys.exit(status)
    from raidtui.cli import run  # noqa: PLC0415

    sys.exit(run(argv))


def _opens_live_console(argv: list[str]) -> tuple[str, str | None] | None:
    """Return (root, theme) where the arguments open the console on a host or a folder, else None."""
    root, theme = "", None
    rest = iter(argv)
    for word in rest:
        if word in {"--root", "--theme"}:
            value = next(rest, None)
            if value is None:
                return None
            if word == "--theme":
                theme = value
            else:
                root = value.rstrip("/")
        elif word != "--no-mouse":
            return None
    if root:
        import os  # noqa: PLC0415

        if not os.access(f"{root}/proc/mdstat", os.R_OK):
            return None
    return root, theme


if __name__ == "__main__":
    main()
