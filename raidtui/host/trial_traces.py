"""Traces of rescue trials on a host: what they make has names of its own."""

from __future__ import annotations

import re

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.snapshot import TrialTrace

PREFIX = "raidtui-rescue-"
"""All that a trial makes has a name that begins so, and then the trial's own letters."""
RUN, RULES = "/run", "/run/udev/rules.d"
_ARRAY_RULES = "63-md-raid-arrays.rules"
_VENDORS = ("/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d")
SHADOW = f"{RULES}/{_ARRAY_RULES}"
"""While a trial continues a reshape, this goes before mdadm's own file of that name."""
SHADOW_MARK = (
    "# A rescue trial of raidtui is under way; raidtui rescue clean removes this file, which shadows mdadm's."
)
_ARRAY = re.compile(r'KERNEL=="(md\d+)\|')


def rules_mark(ident: str) -> str:
    """Return the property that udev notes of /dev/null once it follows the rules of a trial."""
    return f"RAIDTUI_RESCUE_{ident}"


def rules_path(ident: str) -> str:
    """Return the file of udev's rules of a trial."""
    return f"{RULES}/01-{PREFIX}{ident}.rules"


def read_array_rules(reader: HostReader) -> str:
    """Return mdadm's rules of udev for arrays; "" where there are none, or an admin's file replaces them."""
    if reader.is_there(f"/etc/udev/rules.d/{_ARRAY_RULES}") or (
        reader.is_there(SHADOW) and not is_shadowed(reader)
    ):
        return ""
    return next((text for folder in _VENDORS if (text := reader.text(f"{folder}/{_ARRAY_RULES}"))), "")


def is_shadowed(reader: HostReader) -> bool:
    """Whether a trial's file goes before mdadm's rules."""
    return (reader.text(SHADOW) or "").startswith(SHADOW_MARK)


def read_trials(reader: HostReader) -> tuple[TrialTrace, ...]:
    """Return the trials of which something is there: they run, or are held, or were cut short."""
    idents = [name.removeprefix(PREFIX) for name in reader.names(RUN) if name.startswith(PREFIX)]
    return tuple(TrialTrace(ident=ident, array=_array(reader, ident)) for ident in sorted(idents))


def _array(reader: HostReader, ident: str) -> str:
    found = _ARRAY.search(reader.text(rules_path(ident)) or "")
    return found[1] if found is not None else ""
