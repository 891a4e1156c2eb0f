"""``raidtui`` and ``python -m raidtui``: the first frame, then everything else."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # what type checkers know by its name; importing it takes longer than the first frame
if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the program and exit with its status."""
    os.umask(os.umask(0o077) | 0o022)  # what it creates, no one else writes to
    argv = sys.argv[1:]
    if None in (sys.stdin, sys.stdout, sys.stderr):  # closed by whoever started this
        from raidtui.command.streams import guard  # noqa: PLC0415

        guard()
    live = _opens_console(argv)
    if live is not None:
        sys.exit(_open_console(*live))
    from raidtui.app.cli import run_line  # noqa: PLC0415

    sys.exit(run_line(argv))


def _opens_console(argv: list[str]) -> tuple[str, str | None, bool, bool] | None:
    """Return (root, theme, mouse, readonly) where the arguments open the console on a host or folder."""
    root, theme, mouse, readonly = "", None, True, False
    rest = iter(argv)
    for word in rest:
        if word == "--no-mouse":
            mouse = False
        elif word == "--readonly":
            readonly = True
        elif word in {"--root", "--theme"}:
            value = next(rest, "")
            if not value or value.startswith("-"):
                return None
            if word == "--theme":
                theme = value
            else:
                root = value.rstrip("/")
        else:
            return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return None
    if root and not os.access(f"{root}/proc/mdstat", os.R_OK):
        return None
    return root, theme, mouse, readonly


def _open_console(root: str, theme: str | None, mouse: bool, readonly: bool) -> int:  # noqa: FBT001
    """Draw the first frame, then load and run the rest. The terminal is restored in any case."""
    from raidtui.first_frame import TERMINAL, show  # noqa: PLC0415

    try:
        show(root, theme, readonly=readonly)
        _prepare_imports(TERMINAL.end)
        from raidtui.app.palette_later import import_app  # noqa: PLC0415
        from raidtui.host.readers.opening import open_root  # noqa: PLC0415

        import_app()
        from raidtui.app.launch import launch  # noqa: PLC0415

        sys.modules.pop("ssl", None)
        host = open_root(root or "/")
        host.readonly = readonly
        return launch(host, theme=theme, mouse=mouse)
    except KeyboardInterrupt:
        return 130
    finally:
        TERMINAL.restore()


def _prepare_imports(end: Callable[[int, object], None]) -> None:
    """Thousands of objects are about to be made that all stay, and asyncio's TLS is never used."""
    import gc  # noqa: PLC0415
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    gc.disable()
    sys.modules["ssl"] = None  # type: ignore[assignment]


if __name__ == "__main__":
    main()
