"""Through pySMART: the devices that smartctl finds, with their types, and what is asked before a self-test.

It is asked in two places alone. ``raidtui wear --scan`` lists devices and types. Before a self-test is
started or aborted, it gives the disk's verdict and how far a running test is: smartctl's JSON does not have
that of a SCSI disk. All figures of wear, faults and logs come from smartctl's JSON: pySMART reads smartctl's
text, knows neither ``endurance_used`` nor device statistics, and takes 50 to 100 ms to import. What it asks
is run by the host's root, with limited time, and wakes no disk. Its two marks on the process, $LANG and the
logger class, are undone after the import.
"""

from __future__ import annotations

import os
import re
from typing import Any

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.smart import ScannedDevice

TIMEOUT_S = 30.0

_LINE = re.compile(r"(/\S+)\s+-d\s+(\S+)")
_AWAKE_ONLY = ("-n", "standby,3")
_NOT_READING = ("--scan", "--scan-open")
_RUNS = 1  # of get_selftest_result: a self-test is in progress
# What pySMART's parsers raise on lines that they do not expect.
_PARSING = (ValueError, AttributeError, IndexError, KeyError, TypeError, UnboundLocalError)


class PysmartError(Exception):
    """smartctl could not be asked through pySMART, or pySMART did not understand the answer."""


class PysmartAnswer(Struct, frozen=True, kw_only=True):
    """What pySMART reports of one disk.

    Args:
        verdict: PASS, WARN (an attribute was at its threshold once), FAIL, or "" where the disk gives none.
        messages: one for each attribute or SCSI sense code.
        running: whether a self-test runs.
        left_percent: how much of it is left to do; None where that is not known.
    """

    verdict: str = ""
    messages: tuple[str, ...] = ()
    running: bool = False
    left_percent: int | None = None


class _Library(Struct, frozen=True, kw_only=True):
    wrapper: type[Any]
    device: type[Any]


def scan_devices(
    reader: HostReader, timeout_s: float = TIMEOUT_S, *, opened: bool = False
) -> tuple[ScannedDevice, ...]:
    """Return what ``smartctl --scan`` lists.

    Args:
        reader: the host.
        timeout_s: how long smartctl may take.
        opened: whether devices are opened (``--scan-open``): else SATA disks read as "scsi".

    Raises:
        PysmartError: smartctl is missing or failed.
    """
    lines, _ = _wrapper(reader, timeout_s).generic_call(["--scan-open" if opened else "--scan"])
    found = (_LINE.match(line) for line in lines)
    return tuple(ScannedDevice(path=each[1], kind=each[2]) for each in found if each)


def ask_disk(reader: HostReader, name: str, kind: str, timeout_s: float = TIMEOUT_S) -> PysmartAnswer:
    """Return a disk's own verdict, and the self-test that it runs; nothing of a disk that is asleep.

    Args:
        reader: the host.
        name: the kernel's name.
        kind: what smartctl asks it by: sat, scsi, nvme (``SmartReading.kind``).
        timeout_s: how long each call of smartctl may take; pySMART needs two to six.

    Raises:
        PysmartError: smartctl is missing or failed, or pySMART cannot read its output.
    """
    device = _device(reader, name, kind, timeout_s)
    verdict = device.assessment or ""
    messages = tuple(str(each) for each in device.messages)  # now: the next reading adds them once more
    try:
        status, _, done_percent = device.get_selftest_result()
    except _PARSING as error:
        raise PysmartError(f"{name}: pySMART did not understand smartctl: {error!r}") from error
    running = status == _RUNS
    left = 100 - done_percent if running and isinstance(done_percent, int) else None
    return PysmartAnswer(verdict=verdict, messages=messages, running=running, left_percent=left)


def _device(reader: HostReader, name: str, kind: str, timeout_s: float) -> Any:  # noqa: ANN401  (pySMART's Device)
    wrapper = _wrapper(reader, timeout_s)
    try:
        return _library().device(f"/dev/{name}", interface=kind, smartctl=wrapper)
    except _PARSING as error:
        raise PysmartError(f"{name}: pySMART did not understand smartctl: {error!r}") from error


def _wrapper(reader: HostReader, timeout_s: float) -> Any:  # noqa: ANN401  (pySMART's Smartctl)
    library = _library()

    def execute(_: object, command: list[str]) -> tuple[list[str], int]:
        awake = () if any(word in _NOT_READING for word in command) else _AWAKE_ONLY
        output = reader.ask(command[0], *awake, *command[1:], timeout_s=timeout_s)
        if output.status is None:
            raise PysmartError(output.why_not)
        return output.stdout.splitlines(), output.status

    kind = type("RootSmartctl", (library.wrapper,), {"_exec": execute})
    return kind(smartctl_path="smartctl", options=[])


def _library() -> _Library:
    import logging  # noqa: PLC0415  (with pySMART, when it is needed)

    language, logger_class = os.environ.get("LANG"), logging.getLoggerClass()
    try:
        from pySMART import Device  # noqa: PLC0415
        from pySMART.smartctl import Smartctl  # noqa: PLC0415
    finally:
        logging.setLoggerClass(logger_class)
        if language is None:
            os.environ.pop("LANG", None)
        else:
            os.environ["LANG"] = language
    return _Library(wrapper=Smartctl, device=Device)
