"""What a capture says of itself: when it was made, what tools said, which links it had."""

from __future__ import annotations

from raidtui.host.roots.root import Root
from raidtui.host.tools import ToolOutput, output_path

LINKS = "/.raidtui/links"
"""A capture's links to folders: path, tab, target."""
_END_OF_TIME_S = 1 << 36  # some 2000 years; calendars end at the year 9999


def captured_output(root: Root, argv: tuple[str, ...]) -> ToolOutput:
    """Return a tool's output from a capture. The first line is "exit N", what follows is its output."""
    text = root.text(output_path(argv))
    if text is None:
        return ToolOutput(
            argv=argv, status=None, stdout="", stderr="", why_not=f"{argv[0]} was not run for this capture"
        )
    head, _, body = text.partition("\n")
    status = head.removeprefix("exit ")
    return ToolOutput(
        argv=argv,
        status=int(status) if status.isascii() and status.isdigit() and len(status) < 4 else None,
        stdout=body,
        stderr="",
        why_not="",
    )


def captured_links(root: Root) -> dict[str, str]:
    """Return a capture's links to what it holds as folders: an archive has one of both by one name."""
    lines = (line.partition("\t") for line in (root.text(LINKS) or "").split("\n"))
    return {path: target for path, _, target in lines if target}


def captured_time(root: Root) -> float | None:
    """Return when a capture was made, epoch seconds."""
    text = root.text("/.raidtui/taken_s") or ""
    try:
        taken_s = float(text)
    except ValueError:
        return None
    return taken_s if 0 < taken_s < _END_OF_TIME_S else None  # NaN is neither
