"""Versions of installed tools."""

from __future__ import annotations

import re

from raidtui.host.roots.root import Root

_VERSION = re.compile(r"fio-([0-9]{1,3})\.([0-9]{1,4})")


def read_fio_version(root: Root) -> tuple[int, int] | None:
    """Return fio's version, (3, 33); None where it is not installed or prints no version."""
    found = _VERSION.search(root.run("fio", "--version", timeout_s=10.0).stdout)
    return (int(found[1]), int(found[2])) if found else None
