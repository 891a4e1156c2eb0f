"""Processes of mdadm that wait for the end of a reshape, by their command line in /proc.

``mdadm --grow`` leaves one behind, and ``mdadm --assemble`` of an array in the middle of one; or systemd runs
``mdadm --grow --continue`` in its place (mdadm-grow-continue@.service). It takes a pause, or a stopped array,
for the end (Grow.c, wait_reshape).
"""

from __future__ import annotations

from raidtui.host.readers.host_reader import HostReader

_COMM = "mdadm"
_MODES = frozenset({"--grow", "--assemble", "-G", "-A"})


def waiting_mdadm(reader: HostReader, name: str) -> tuple[int, ...]:
    """Return the process IDs of mdadm that wait for a reshape of an array.

    Args:
        reader: the host.
        name: the array's kernel name, md127.
    """
    found = []
    for folder in reader.names("/proc"):
        if not folder.isdigit() or (reader.text(f"/proc/{folder}/comm") or "").strip() != _COMM:
            continue
        words = (reader.text(f"/proc/{folder}/cmdline") or "").split("\0")
        if not _MODES.isdisjoint(words) and any(_is_node(reader, word, name) for word in words[1:]):
            found.append(int(folder))
    return tuple(found)


def _is_node(reader: HostReader, path: str, name: str) -> bool:
    """Whether a path is the array's node, or udev's link to it."""
    if path in {name, f"/dev/{name}"}:
        return True
    return path.startswith("/dev/md/") and (reader.link(path) or "").rpartition("/")[2] == name
