"""The kernel's ring buffer, from ``dmesg --raw``: this boot alone, and its newest lines if it has wrapped."""

from __future__ import annotations

import re

from raidtui.host.logs.journald import whole_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.log_line import LogGap, LogLine, LogTrouble, Writer

ARGV = ("dmesg", "--raw")
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_LINE = re.compile(r"<\d+>\[ *(\d+\.\d+)(?:\] ?|,\d+\] ?)(.*)")


def read_ring(reader: HostReader) -> tuple[list[LogLine], LogTrouble | None]:
    """Return the lines of this boot, oldest first, and why there are none, or not all."""
    output = reader.ask(*ARGV)
    if output.status != 0:
        if output.status is None or reader.writable:  # root may read it
            return [], LogTrouble(code=LogGap.RING_REFUSED, sentence=output.why)
        remedy = "run raidtui as root; sysctl kernel.dmesg_restrict=0 lets everyone read it"
        sentence = "this user may not read the kernel's ring buffer"
        return [], LogTrouble(code=LogGap.RING_REFUSED, sentence=sentence, remedy=remedy)
    up_s = _seconds(reader.text("/proc/uptime"))
    began_s = reader.now_s() - (up_s or 0.0)
    boot = current_boot(reader)
    messages: list[tuple[float, str]] = []
    indent = 0
    for text in output.stdout.split("\n"):
        match = _LINE.fullmatch(text)
        if match is not None:
            indent = match.start(2)
            messages.append((float(match[1]), match[2]))
        elif messages and text:  # a further line of the same message
            further = text[indent:] if not text[:indent].strip() else text
            messages[-1] = (messages[-1][0], f"{messages[-1][1]}\n{further}")
    lines = [
        LogLine(at_s=began_s + since_s, boot=boot, since_boot_s=since_s, writer=Writer.KERNEL, text=line)
        for since_s, text in messages
        for line in whole_lines(text)
    ]
    first_s = messages[0][0] if messages else None
    wrapped = "" if not first_s else f"; it has wrapped: its first line is {first_s:.0f} s after the boot"
    sentence = f"only the kernel's ring buffer can be read: it begins with this boot{wrapped}"
    return lines, LogTrouble(code=LogGap.RING_ONLY, sentence=sentence)


def current_boot(reader: HostReader) -> str:
    """Return the id of the present boot as the journal writes it; "" where it is not known."""
    return (reader.text(BOOT_ID) or "").strip().replace("-", "")


def _seconds(text: str | None) -> float | None:
    word = (text or "").split(" ")[0]
    try:
        return float(word)
    except ValueError:
        return None
