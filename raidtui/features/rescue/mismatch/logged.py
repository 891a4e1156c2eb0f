"""Where the kernel's log says that a check met mismatches. Only raid4, raid5 and raid6 print it.

drivers/md/raid5.c (handle_parity_checks5, handle_parity_checks6): at most ten lines in five seconds, so the
log has all of them only where they are few.
"""

from __future__ import annotations

import re

from raidtui.features.rescue.mismatch.compared_array import ComparedArray, Span
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, known
from raidtui.view.units import SECTOR_BYTES

_LINE = re.compile(r"\b(md\S+): mismatch sector in range ([0-9]{1,18})-([0-9]{1,18})$", re.MULTILINE)
_TOOL_S = 20.0


def logged_spans(root: HostReader, array: ComparedArray) -> Answer[list[Span]]:
    """Return the parts of an array's walk that the kernel's log names, in order; [] for none.

    Args:
        root: the host.
        array: with parity: the log counts sectors of the members' data.
    """
    if not array.parity:
        return known([])
    output = root.ask("dmesg", timeout_s=_TOOL_S)
    return output.answer(parse_logged(output.stdout, array)) if output.status == 0 else output.silent()


def parse_logged(text: str, array: ComparedArray) -> list[Span]:
    """Return the same of a text of the kernel's log.

    Lines before the last stop of an array of that name are of another array, or of an earlier start: the name
    alone says nothing (drivers/md/md.c, do_md_stop: "md: md127 stopped.").

    Args:
        text: the log.
        array: the array.
    """
    begin, end = array.walk
    found = sorted(
        (int(row[2]) * SECTOR_BYTES, int(row[3]) * SECTOR_BYTES)
        for row in _LINE.finditer(text.rpartition(f"md: {array.name} stopped.\n")[2])
        if row[1] == array.name
    )
    spans: list[Span] = []
    for first, last in found:
        first, last = max(begin, first), min(end, last)  # noqa: PLW2901
        if spans and first <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(last, spans[-1][1])
        elif first < last:
            spans.append((first, last))
    return spans
