"""Through pySMART: which devices there are, the disk's own verdict, and starting a self-test.

Figures do not come from here: pySMART reads smartctl's text, knows neither ``endurance_used`` nor device
statistics, and takes 50 to 100 ms to import. What it asks is run by the host's root, with limited time, and
never wakes a disk. Its two marks on the process, $LANG and the logger class, are undone after the import.
"""

from __future__ import annotations

import os
import re
from typing import Any

from msgspec import Struct

from raidtui.host.roots.root import Root
from raidtui.model.smart import ScannedDevice

TIMEOUT_S = 30.0
SELF_TESTS = ("short", "long", "conveyance", "offline")

_LINE = re.compile(r"(/\S+)\s+-d\s+(\S+)")
_AWAKE_ONLY = ("-n", "standby,3")
_NOT_READING = ("-t", "-X", "--scan", "--scan-open")
# What pySMART's parsers raise on lines that they do not expect.
_PARSING = (ValueError, AttributeError, IndexError, KeyError, TypeError, UnboundLocalError)


class PysmartError(Exception):
    """smartctl could not be asked through pySMART, or pySMART did not understand the answer."""


class Assessment(Struct, frozen=True, kw_only=True):
    """A disk's own verdict.

    Args:
        word: PASS, WARN (an attribute was at its threshold once), FAIL, or "" where the disk gives none.
        messages: pySMART's, one for each attribute or SCSI sense code.
    """

    word: str
    messages: tuple[str, ...] = ()


class _Library(Struct, frozen=True, kw_only=True):
    wrapper: type[Any]
    device: type[Any]


def find_devices(root: Root, timeout_s: float = TIMEOUT_S) -> tuple[ScannedDevice, ...]:
    """Return what ``smartctl --scan`` lists. No device is opened, so that SATA disks read as "scsi".

    Raises:
        PysmartError: smartctl is missing or failed.
    """
    lines, _ = _wrapper(root, timeout_s).generic_call(["--scan"])
    found = (_LINE.match(line) for line in lines)
    return tuple(ScannedDevice(path=each[1], kind=each[2]) for each in found if each)


def assess(root: Root, name: str, kind: str, timeout_s: float = TIMEOUT_S) -> Assessment:
    """Return a disk's own verdict; that of one that is asleep is "".

    Args:
        root: the host.
        name: the kernel's name.
        kind: what smartctl asks it by: sat, scsi, nvme (``SmartReading.kind``).
        timeout_s: how long each call of smartctl may take; pySMART needs one to three.

    Raises:
        PysmartError: smartctl is missing or failed, or pySMART cannot read what it said.
    """
    device = _device(root, name, kind, timeout_s)
    messages = tuple(str(each) for each in device.messages)
    return Assessment(word=device.assessment or "", messages=messages)


def start_selftest(root: Root, name: str, kind: str, test: str, timeout_s: float = TIMEOUT_S) -> str:
    """Start a self-test in the disk's background; return when it should be done, as smartctl says it, or "".

    Args:
        root: the host; this is the one call here that makes a disk do something.
        name: the kernel's name.
        kind: what smartctl asks it by: sat, scsi, nvme.
        test: one of ``SELF_TESTS``.
        timeout_s: how long each call of smartctl may take.

    Raises:
        PysmartError: it was not started; the message says why.
    """
    device = _device(root, name, kind, timeout_s)
    try:
        status, said, ends = device.run_selftest(test)
    except _PARSING as error:
        raise PysmartError(f"{name}: pySMART did not understand smartctl: {error!r}") from error
    if status != 0:
        raise PysmartError(f"{name}: {str(said).strip()}")
    return str(ends or "")


def _device(root: Root, name: str, kind: str, timeout_s: float) -> Any:  # noqa: ANN401  (pySMART's Device)
    wrapper = _wrapper(root, timeout_s)
    try:
        return _library().device(f"/dev/{name}", interface=kind, smartctl=wrapper)
    except _PARSING as error:
        raise PysmartError(f"{name}: pySMART did not understand smartctl: {error!r}") from error


def _wrapper(root: Root, timeout_s: float) -> Any:  # noqa: ANN401  (pySMART's Smartctl)
    library = _library()

    def execute(_: object, command: list[str]) -> tuple[list[str], int]:
        awake = () if any(word in _NOT_READING for word in command) else _AWAKE_ONLY
        output = root.run(command[0], *awake, *command[1:], timeout_s=timeout_s)
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
