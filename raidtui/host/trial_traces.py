"""Traces of rescue trials on a host: what they make has names of its own."""

from __future__ import annotations

import re

from raidtui.host.roots.root import Root
from raidtui.model.snapshot import TrialTrace

PREFIX = "raidtui-rescue-"
"""All that a trial makes has a name that begins so, and then the trial's own letters."""
RUN, RULES = "/run", "/run/udev/rules.d"
_ARRAY = re.compile(r'KERNEL=="(md\d+)\|')


def rules_path(ident: str) -> str:
    """Return the file of udev's rules of a trial."""
    return f"{RULES}/01-{PREFIX}{ident}.rules"


def read_trials(root: Root) -> tuple[TrialTrace, ...]:
    """Return the trials of which something is there: they run, or are held, or were cut short."""
    idents = [name.removeprefix(PREFIX) for name in root.names(RUN) if name.startswith(PREFIX)]
    return tuple(TrialTrace(ident=ident, array=_array(root, ident)) for ident in sorted(idents))


def _array(root: Root, ident: str) -> str:
    found = _ARRAY.search(root.text(rules_path(ident)) or "")
    return found[1] if found is not None else ""
