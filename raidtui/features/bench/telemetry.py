"""Telemetry of a run: CPUs, temperatures and arrays while it is running.

They are read only from sysfs: tools that query disks (smartctl) would disturb the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.features.bench.environment import ArrayShape
from raidtui.features.bench.place import Place
from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import sync_percent
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.sensors import find_thermometers, policy_words, read_celsius, read_mhz
from raidtui.view.units import counted

CELSIUS_S = 2.0
"""How often the temperature of a disk is read: each reading is a command to it."""
_MOST_DISKS = 4
_AT_REST = frozenset({"", "frozen"})


class ArrayNow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An array at one moment.

    Args:
        name, label: the kernel's and the superblock's.
        state: ``md/array_state`` verbatim.
        sync: ``md/sync_action`` verbatim, "" for idle.
        percent: how much of that is done; None where the kernel does not say.
        missing: ``md/degraded``.
    """

    name: str
    label: str = ""
    state: str = ""
    sync: str = ""
    percent: float | None = None
    missing: int = 0


class Telemetry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of it at one moment.

    Args:
        t_s: seconds of the run, by the clock of its samples.
        mhz: the lowest and the highest frequency of all processors; None without cpufreq.
        governor: each one that some of them have.
        celsius: by the disk's kernel name; disks that hwmon does not know are left out.
        arrays: those below, the uppermost first.
    """

    t_s: float
    mhz: tuple[int, int] | None = None
    governor: str = ""
    celsius: dict[str, float] = {}
    arrays: tuple[ArrayNow, ...] = ()


class TelemetryRange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The same over a whole run.

    Args:
        mhz: the lowest and the highest frequency that was seen; None where none was.
        celsius: the highest temperature of each disk.
    """

    mhz: tuple[int, int] | None = None
    celsius: dict[str, float] = {}


NOTHING_SEEN = TelemetryRange()
"""Of a run that was too short."""


class TelemetryReader:
    """Reads telemetry; temperatures only every ``CELSIUS_S``.

    Args:
        reader: the host.
        place: where the run is.
        labels: of the arrays, by kernel name.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        reader: HostReader,
        place: Place,
        labels: Mapping[str, str] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reader = reader
        self._arrays = place.arrays
        self._labels = labels or {}
        self._clock = clock
        self._thermometers = find_thermometers(reader, place.disks)
        self._celsius: dict[str, float] = {}
        self._asked_s: float | None = None

    def read(self, t_s: float) -> Telemetry:
        """Return how it is now."""
        now_s = self._clock()
        if self._asked_s is None or now_s - self._asked_s >= CELSIUS_S:
            self._asked_s = now_s
            self._celsius = read_celsius(self._reader, self._thermometers)
        return Telemetry(
            t_s=t_s,
            mhz=read_mhz(self._reader),
            governor=", ".join(dict.fromkeys(policy_words(self._reader, "scaling_governor"))),
            celsius=self._celsius,
            arrays=tuple(self._array(name) for name in self._arrays),
        )

    def _array(self, name: str) -> ArrayNow:
        def word(file: str) -> str:
            return (self._reader.text(f"{BLOCK}/{name}/md/{file}") or "").strip()

        sync, missing = word("sync_action"), word("degraded")
        at_rest = sync in {"", "idle"}
        return ArrayNow(
            name=name,
            label=self._labels.get(name, ""),
            state=word("array_state"),
            sync="" if at_rest else sync,
            percent=None if at_rest else sync_percent(word("sync_completed")),
            missing=int(missing) if missing.isdecimal() and len(missing) < 6 else 0,
        )


def span_of(seen: Sequence[Telemetry]) -> TelemetryRange:
    """Return the range of several readings."""
    mhz = [each.mhz for each in seen if each.mhz is not None]
    celsius: dict[str, float] = {}
    for each in seen:
        for disk, value in each.celsius.items():
            celsius[disk] = max(value, celsius.get(disk, value))
    if not mhz and not celsius:
        return NOTHING_SEEN
    return TelemetryRange(
        mhz=(min(low for low, _ in mhz), max(high for _, high in mhz)) if mhz else None, celsius=celsius
    )


def merged(parts: Sequence[TelemetryRange]) -> TelemetryRange:
    """Return the range over several runs."""
    return span_of([Telemetry(t_s=0.0, mhz=part.mhz, celsius=part.celsius) for part in parts])


def array_changes(before: Sequence[ArrayShape], seen: Sequence[Telemetry]) -> tuple[str, ...]:
    """Return what happened to arrays during a run, a sentence each.

    Args:
        before: the arrays as it began.
        seen: the later readings.
    """
    remarks: list[str] = []
    for shape in before:
        title = shape.label or shape.name
        states = [now for each in seen for now in each.arrays if now.name == shape.name and now.state]
        syncs = dict.fromkeys(now.sync for now in states if now.sync not in _AT_REST)
        remarks += [f"A {sync} of {title} started during the run." for sync in syncs if sync != shape.sync]
        if shape.sync in {now.sync for now in states} - _AT_REST and states[-1].sync == "":
            remarks.append(f"The {shape.sync} of {title} ended during the run.")
        lost = max((now.missing for now in states), default=0) - shape.missing
        if lost > 0:
            remarks.append(f"{title} lost {counted(lost, 'member')} during the run.")
    return tuple(remarks)


def telemetry_words(telemetry: Telemetry) -> str:
    """Return it in a line: 1200 to 3400 MHz performance  sda 41 °C  data active, recover 34.2 %."""
    cpu = " ".join(text for text in (_mhz_words(telemetry.mhz), telemetry.governor) if text)
    parts = [
        cpu,
        _celsius_words(telemetry.celsius),
        *(_array_words(array) for array in telemetry.arrays),
    ]
    return "  ".join(part for part in parts if part)


def span_words(during: TelemetryRange) -> str:
    """Return the same of a whole run: 1200 to 3400 MHz, at most sda 41 °C, sdb 43 °C; "" of nothing."""
    warm = _celsius_words(during.celsius)
    return ", ".join(part for part in (_mhz_words(during.mhz), f"at most {warm}" if warm else "") if part)


def _mhz_words(mhz: tuple[int, int] | None) -> str:
    if mhz is None:
        return ""
    low, high = mhz
    return f"{low} MHz" if low == high else f"{low} to {high} MHz"


def _celsius_words(celsius: Mapping[str, float]) -> str:
    """Return each disk with its temperature; of many disks the span, and the warmest one."""
    if len(celsius) <= _MOST_DISKS:
        return ", ".join(f"{disk} {value:.0f} °C" for disk, value in celsius.items())
    warmest = max(celsius, key=lambda disk: celsius[disk])
    span = f"{min(celsius.values()):.0f} to {celsius[warmest]:.0f} °C"
    return f"{counted(len(celsius), 'disk')} {span} ({warmest} is the warmest)"


def _array_words(array: ArrayNow) -> str:
    done = f" {array.percent:.1f} %" if array.percent is not None else ""
    parts = [f"{array.label or array.name} {array.state}".rstrip()]
    parts += [f"{array.sync}{done}"] if array.sync else []
    parts += [f"{counted(array.missing, 'member')} missing"] if array.missing else []
    return ", ".join(parts)
