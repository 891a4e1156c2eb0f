"""What blkid and wipefs say of the devices of a host in memory: what udev says."""

from __future__ import annotations

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.host.udev import read_udev_entry

_KEYS = {"ID_FS_TYPE": "TYPE", "ID_FS_LABEL": "LABEL", "ID_PART_TABLE_TYPE": "PTTYPE"}


def blkid_output(root: HostReader, argv: tuple[str, ...]) -> ToolOutput | None:
    """Return the output of blkid, or of wipefs that looks for what blkid has not found; None for others."""
    if argv[:2] == ("wipefs", "--no-act"):
        return ToolOutput(argv=argv, status=0, stdout="", stderr="")
    if argv[:2] not in {("blkid", "--probe"), ("blkid", "--cache-file")}:
        return None
    blocks = [_block(root, word) for word in argv if word.startswith("/dev/") and word != "/dev/null"]
    said = "\n".join(filter(None, blocks))
    return ToolOutput(argv=argv, status=0 if blocks[-1] else 2, stdout=said, stderr="")


def _block(root: HostReader, path: str) -> str:
    dev = (root.text(f"/sys/class/block/{path.removeprefix('/dev/')}/dev") or "").strip()
    found = read_udev_entry(root, dev).properties
    rows = [f"{name}={found[key]}\n" for key, name in _KEYS.items() if key in found]
    return "".join((f"DEVNAME={path}\n", *rows)) if rows else ""
