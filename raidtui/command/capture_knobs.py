"""What a capture holds of knobs and of what sets them: just what their reader looks at, and no more of it.

Of files that belong to the whole host (udev's rules, sysctl.d, the kernel's command line) only the lines that
the reader goes by are taken; the others are left empty, so that lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from raidtui.host.knobs.disk_knobs import IDENTITY_WORDS, MODULES
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.knobs.setter_services import COMM_LENGTH, SERVICES
from raidtui.host.knobs.setters import BOOT_WORDS
from raidtui.host.knobs.udev_rules import writing_rules
from raidtui.host.roots.noting_root import NotingRoot
from raidtui.host.roots.root import Root
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.snapshot import Snapshot

Part = Callable[[str, str], str]
"""Returns what is taken of a file, of its path and its text; "" where that is nothing."""


def knob_files(root: Root, snapshot: Snapshot) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files and the links by which ``KnobReader`` reads the same of a capture as of the host."""
    noting = NotingRoot(root)
    KnobReader(noting).read(snapshot)
    files = {path: _taken(path, data) for path, data in noting.files.items()}
    return {path: data for path, data in files.items() if data is not None}, noting.links


def _taken(path: str, data: bytes) -> bytes | None:
    """Return what is taken of a file, None for nothing."""
    part = next((part for pattern, part in _PARTS if pattern.fullmatch(path)), None)
    if part is None or not data or path in OUR_FILES.values():
        return data
    return part(path, data.decode("latin-1")).encode("latin-1") or None


def _lines(*words: str) -> Part:
    """Take the lines that hold one of these words, and are no comments."""

    def part(path: str, text: str) -> str:
        del path
        found = (
            line if any(word in line for word in words) and not line.lstrip().startswith(("#", ";")) else ""
            for line in text.split("\n")
        )
        taken = "\n".join(found)
        return taken if taken.strip() else ""

    return part


def _rules(path: str, text: str) -> str:
    """Take rules that write to files of devices; a comment is a line without words."""
    if not writing_rules(text, path):
        return ""
    lines = text.split("\n")
    return "\n".join("#" if line.lstrip().startswith("#") else line for line in lines)


def _boot_words(path: str, text: str) -> str:
    """Of the kernel's command line the words that set knobs; others may be anything."""
    del path
    return " ".join(word for word in text.split() if word.partition("=")[0] in BOOT_WORDS)


def _process(path: str, text: str) -> str:
    """A process's name, where it is PID 1 or one of the services."""
    known = {name[:COMM_LENGTH] for name in SERVICES}
    return text if path == "/proc/1/comm" or text.strip() in known else ""


def _identity(path: str, text: str) -> str:
    """Of what a disk says of itself no serial number and no name."""
    del path
    words = (word if number in IDENTITY_WORDS else "0000" for number, word in enumerate(text.split()))
    return " ".join(words)


_PARTS: tuple[tuple[re.Pattern[str], Part], ...] = tuple(
    (re.compile(pattern), part)
    for pattern, part in (
        (r"/proc/cmdline", _boot_words),
        (r"/proc/[0-9]+/comm", _process),
        (r"/sys/class/ata_device/[^/]+/id", _identity),
        (r"/lib/modules/.+/modules\.(dep|builtin)", _lines(*(f"/{file}" for file in MODULES.values()))),
        (r"/.+/udev/rules\.d/.+", _rules),
        (r"/.+/sysctl\.d/.+", _lines("raid")),
        (r"/.+/tmpfiles\.d/.+|/etc/rc\.local|/etc/rc\.d/rc\.local", _lines("/sys/", "/proc/")),
        (r"/.+/modprobe\.d/.+", _lines("libata")),
        (r"/etc/(default|sysconfig)/.+|/.+/tuned/.+\.conf", _lines("=", "[")),
        (r"/etc/(sysfs|tlp|auto-cpufreq|cpupower-service)(\.d/.+)?\.conf", _lines("=", "[")),
    )
)
