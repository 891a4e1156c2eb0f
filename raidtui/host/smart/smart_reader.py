"""Reads SMART data: one ``smartctl`` for each disk, with a time limit. A sleeping disk is not woken.

Reading does not change a disk. It needs root. A disk may hang so that its smartctl cannot be killed;
``SmartReader`` then continues without it, and does not read it again before it has answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from typing import assert_never

from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.diskstats import written_bytes
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.device_types import asked_names, device_words, is_behind_controller
from raidtui.host.smart.smartctl_json import (
    POWER_UNKNOWN_STATUS,
    STANDBY_STATUS,
    parse_nonmedium,
    parse_smart,
)
from raidtui.host.tools import ToolOutput
from raidtui.model.answer import AnswerKind
from raidtui.model.smart import NoReading, SmartMeasurement, SmartReading, Unread, smart_node

TIMEOUT_S = 30.0
_GRACE_S = 5.0
_AT_ONCE = 8
_NO_SUCH_OPTION = "INVALID ARGUMENT TO -n"


def smart_argv(
    name: str,
    power: str = f"standby,{STANDBY_STATUS},{POWER_UNKNOWN_STATUS}",
    words: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return the command that reads a disk.

    Args:
        name: the kernel's name of a whole disk.
        power: smartctl's ``-n``. The default lets it exit with 3 where the disk is asleep and with 5 where
            that is not known; both are no masks of its own bits.
        words: what names it on the command line, where that is not its node: ``device_words``.
    """
    return ("smartctl", "--json=c", "-x", "-n", power, *(words or (f"/dev/{name}",)))


def read_smart(reader: HostReader, name: str, timeout_s: float = TIMEOUT_S) -> SmartReading | NoReading:
    """Return a disk's SMART data, or why there is none. A sleeping disk is not woken.

    Args:
        reader: the host.
        name: the kernel's name of a whole disk, as in /sys/class/block.
        timeout_s: how long smartctl may take.
    """
    result = _result(name, smart_outputs(reader, name, timeout_s)[-1])
    if isinstance(result, SmartReading) and result.protocol == "SCSI" and result.nonmedium_errors is None:
        output = reader.ask(*errors_argv(name, device_words(reader, name)), timeout_s=timeout_s)
        result = replace(result, nonmedium_errors=parse_nonmedium(output.stdout))
    return result


def errors_argv(name: str, words: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the command that reads a SAS disk's error counters, with those that have no key of their own."""
    named = words or (f"/dev/{name}",)
    return ("smartctl", "--json=co", "-l", "error", "-n", f"standby,{STANDBY_STATUS}", *named)


def smart_outputs(reader: HostReader, name: str, timeout_s: float = TIMEOUT_S) -> tuple[ToolOutput, ...]:
    """Return the outputs of all smartctl calls that a reading took; the last one counts."""
    words = device_words(reader, name)
    outputs = [reader.ask(*smart_argv(name, words=words), timeout_s=timeout_s)]
    if _NO_SUCH_OPTION in outputs[0].stdout + outputs[0].stderr:  # before smartctl 7.2: one status alone
        outputs.append(reader.ask(*smart_argv(name, f"standby,{STANDBY_STATUS}", words), timeout_s=timeout_s))
    result = _result(name, outputs[-1])
    if isinstance(result, NoReading) and result.why is Unread.POWER_UNKNOWN and _is_ssd(reader, name):
        outputs.append(reader.ask(*smart_argv(name, "never", words), timeout_s=timeout_s))
    return tuple(outputs)


def _result(name: str, output: ToolOutput) -> SmartReading | NoReading:
    if output.status is not None:
        return parse_smart(output.stdout, name, output.status)
    why, remedy = Unread.BROKEN, ""
    match output.silence:
        case AnswerKind.NO_TOOL:
            why, remedy = Unread.NO_TOOL, "apt install smartmontools, or your distribution's smartmontools"
        case AnswerKind.TIMED_OUT:
            why, remedy = Unread.TIMEOUT, "the disk or its link may hang: see the kernel log"
        case AnswerKind.REFUSED:
            why, remedy = Unread.NO_PERMISSION, "run raidtui as root (sudo raidtui)"
        case (
            AnswerKind.FAILED
            | AnswerKind.NOT_UNDERSTOOD
            | AnswerKind.NOT_ASKED
            | AnswerKind.ANSWER
            | AnswerKind.NOTHING_THERE
        ):
            pass
        case _:
            assert_never(output.silence)
    return NoReading(
        name=name, why=why, reason=output.why_not or "smartctl has no exit status", remedy=remedy
    )


def _is_ssd(reader: HostReader, name: str) -> bool:
    return (
        reader.text(f"{BLOCK}/{smart_node(name).replace('/', '!')}/queue/rotational") or ""
    ).strip() == "0"


def read_measured(reader: HostReader, name: str, timeout_s: float = TIMEOUT_S) -> SmartMeasurement:
    """Return a reading between two readings of the kernel's own count of what it wrote to the disk."""
    if is_behind_controller(name):
        return SmartMeasurement(result=read_smart(reader, name, timeout_s))
    low = written_bytes(reader, (name,)).get(name)
    result = read_smart(reader, name, timeout_s)
    high = written_bytes(reader, (name,)).get(name)
    return SmartMeasurement(result=result, since=_since(reader, name), low_bytes=low, high_bytes=high)


def _since(reader: HostReader, name: str) -> str:
    """The kernel counts from the boot, and anew for a disk that was put in again (its ``diskseq``)."""
    boot = (reader.text("/proc/sys/kernel/random/boot_id") or "").strip()
    sequence = (reader.text(f"{BLOCK}/{name.replace('/', '!')}/diskseq") or "").strip()
    return f"{boot}/{sequence}" if boot else ""


class SmartReader:
    """Reads many disks at once, and does not wait for those that hang.

    Args:
        reader: the host; of one that is not live all disks are read one after another.
        timeout_s: how long each smartctl may take.
    """

    def __init__(self, reader: HostReader, timeout_s: float = TIMEOUT_S) -> None:
        self._reader = reader
        self._timeout_s = timeout_s
        self._under_way: dict[str, threading.Thread] = {}

    def read(self, names: Collection[str]) -> Mapping[str, SmartMeasurement]:
        """Return an answer for each of the named disks, at the latest a little after the time limit.

        A node that stands for several disks has an answer for each: see ``raidtui.host.smart.device_types``.
        """
        names = asked_names(self._reader, names)
        if not self._reader.live:
            return {name: read_measured(self._reader, name, self._timeout_s) for name in names}
        answers: dict[str, SmartMeasurement] = {}
        started: dict[str, threading.Thread] = {}
        gate = threading.Semaphore(_AT_ONCE)
        for name in names:
            before = self._under_way.get(name)
            if before is None or not before.is_alive():
                thread = threading.Thread(target=self._ask, args=(name, gate, answers), daemon=True)
                self._under_way[name] = started[name] = thread
                thread.start()
        waves = -(-len(started) // _AT_ONCE)
        until_s = time.monotonic() + waves * (self._timeout_s + _GRACE_S)
        for thread in started.values():
            thread.join(max(0.0, until_s - time.monotonic()))
        return {name: answers.get(name) or self._hangs(name) for name in names}

    def _ask(self, name: str, gate: threading.Semaphore, answers: dict[str, SmartMeasurement]) -> None:
        waited = gate.acquire(timeout=self._timeout_s)  # disks that hang must not keep out the others
        try:
            answers[name] = read_measured(self._reader, name, self._timeout_s)
        finally:
            if waited:
                gate.release()

    def _hangs(self, name: str) -> SmartMeasurement:
        reason = f"smartctl did not answer within {self._timeout_s:.0f} s, and cannot be killed"
        remedy = "the disk or its link may hang: see the kernel log"
        return SmartMeasurement(result=NoReading(name=name, why=Unread.TIMEOUT, reason=reason, remedy=remedy))
