"""The wear of the devices that a plan may use, added to a survey."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.finding import Severity
from raidtui.model.smart import SmartMeasurement, SmartReading, retry_words
from raidtui.model.survey import Device, Survey
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.faults import DiskCode, TroubleKind, fault_finding
from raidtui.monitor.wear.readings import WearReader

_PLAN_S = 5.0
_SILENT = "SMART reports nothing of its health"
_DOUBTS = frozenset({DiskCode.READ_FAILED, DiskCode.SMART_DISABLED, DiskCode.SHINGLED})
_LEADS = {
    TroubleKind.DYING: "is dying: ",
    TroubleKind.CABLE: "may have a bad cable: ",
    TroubleKind.HOT: "",
}


class PlanAsker:
    """Asks SMART for what a plan wants to know: see ``raidtui.host.reading.Asker``."""

    def __init__(self) -> None:
        self._said: Mapping[str, SmartMeasurement] = {}

    def measure(self, reader: HostReader, disks: Collection[str]) -> None:
        """Ask whole disks."""
        self._said = WearReader(reader, timeout_s=_PLAN_S).measured(disks)

    def judge(self, reader: HostReader, survey: Survey) -> Survey:
        """Return the survey with the wear of its devices."""
        away = {device.disk.disk: _away_s(device, survey) for device in survey.devices.values()}
        outages = {disk: away_s for disk, away_s in away.items() if away_s is not None}
        found = WearReader(reader).judged(self._said, outages)
        devices = {
            name: _worn(device, found.get(device.disk.disk), reader)
            for name, device in survey.devices.items()
        }
        return replace(survey, devices=devices)


def worn(reader: HostReader, survey: Survey) -> Survey:
    """Return a survey whose devices know their disk's wear, and what is wrong with it or its cable."""
    asker = PlanAsker()
    asker.measure(reader, sorted({device.disk.disk for device in survey.devices.values()}))
    return asker.judge(reader, survey)


def _worn(device: Device, wear: DiskWear | None, reader: HostReader) -> Device:
    if wear is None:
        return device
    if wear.reading is None:
        return replace(device, unjudged=wear.unread.reason if wear.unread is not None else _SILENT)
    trouble = wear.trouble
    words = f"{_LEADS[trouble.kind]}{trouble.reason}; {trouble.remedy}" if trouble is not None else ""
    words = words or "; ".join(_bad_places(wear, wear.reading))
    return replace(
        device,
        wear_percent=wear.percent.known,
        life_bytes=life_bytes(wear),
        trouble=words,
        unjudged="" if wear.reading.health_known else _SILENT,
        retries=_retries(device, wear.reading, reader),
    )


def _retries(device: Device, reading: SmartReading, reader: HostReader) -> str:
    waits_s = whole_number(reader.text(f"{BLOCK}/{device.disk.disk}/device/timeout"))
    if waits_s is None or not device.disk.rotational or reading.protocol != "ATA":
        return ""
    return retry_words(reading.erc, waits_s)


def life_bytes(wear: DiskWear) -> int | None:
    """Return how much may be written to a disk over its life, by what has worn it so far; None: not known."""
    percent, written = wear.percent.known, wear.written.known_bytes
    return int(written / percent * 100) if percent and written else None


def _bad_places(wear: DiskWear, reading: SmartReading) -> Iterator[str]:
    """Yield why a disk that is not dying should get no data all the same."""
    found = [fault_finding(reading, fault) for fault in wear.faults if fault.medium]
    yield from (each.sentence for each in found if each.severity > Severity.INFO)
    yield from (each.sentence for each in wear.findings if each.code in _DOUBTS)


def _away_s(device: Device, survey: Survey) -> float | None:
    """Return for how long a former member of a running array has been away; None for all others."""
    block = device.superblock
    if block is None or block.updated_s is None:
        return None
    for array in survey.snapshot.arrays:
        if array.uuid == block.uuid and array.active:
            serves = [member.name for member in array.members if not member.has("faulty")]
            since_s = max(0.0, survey.snapshot.taken_s - block.updated_s)
            return None if device.disk.name in serves else since_s
    return None
