"""How fast the processors may run: cpufreq's policies and their driver.

Sources: Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst, amd-pstate.rst. Most virtual machines
have none of this.
"""

from __future__ import annotations

from raidtui.host.knobs.setters import CPU, Setters
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.attribution import attributed
from raidtui.model.knob import ChangedValue, KnobScope, Subject, Value
from raidtui.model.knob_table import knobs_of

FOLDER = f"{CPU}/cpufreq"
NO_CPUFREQ = "this host has no cpufreq: the hypervisor or the firmware decides how fast the processors run"
_INTEL = frozenset({"intel_pstate", "intel_cpufreq"})
_MODES = {"intel_pstate": ("active", "passive"), "amd_pstate": ("active", "passive", "guided")}
_STEP_KHZ = 100_000
_NO_PREFERENCE = "the driver {driver} has no energy_performance_preference"
_NO_MODE = "the driver {driver} has only one mode: a governor of the kernel chooses the frequency"
_NO_BOOST = "only intel_pstate has hwp_dynamic_boost, on processors with HWP in its active mode"


def read_policies(
    reader: HostReader, setters: Setters, changed: dict[str, ChangedValue]
) -> tuple[Subject, ...]:
    """Return the policies by number, and "cpu" for their driver; nothing without cpufreq."""
    names = [name for name in reader.names(FOLDER) if name.removeprefix("policy").isdigit()]
    names.sort(key=lambda name: int(name.removeprefix("policy")))
    policies = tuple(_policy(reader, name, setters, changed) for name in names)
    return (*policies, _cpu(reader, policies[0].kind, setters, changed)) if policies else ()


def _policy(reader: HostReader, name: str, setters: Setters, changed: dict[str, ChangedValue]) -> Subject:
    folder = f"{FOLDER}/{name}"
    driver = _word(reader, f"{folder}/scaling_driver")
    cpus = (_word(reader, f"{folder}/affected_cpus") or name.removeprefix("policy")).split()
    values: dict[str, Value] = {}
    absent: dict[str, str] = {}
    for knob in knobs_of(KnobScope.POLICY):
        path = f"{folder}/{knob.file}"
        text = reader.text(path)
        if text is None or text.strip() == "<unsupported>":
            absent[knob.name] = _NO_PREFERENCE.format(driver=driver or "of this host")
            continue
        value = _limits(reader, folder, knob.name, driver, Value(text=text.strip(), path=path))
        aliases = (path, *(f"{CPU}/cpu{number}/cpufreq/{knob.file}" for number in cpus))
        values[knob.name] = attributed(value, setters.of(aliases), changed.get(path))
    return Subject(
        scope=KnobScope.POLICY,
        name=name,
        title=name,
        kind=driver,
        cpus=ranges([int(number) for number in cpus if number.isdigit()]),
        now_khz=_number(reader, f"{folder}/scaling_cur_freq"),
        top_khz=_number(reader, f"{folder}/cpuinfo_max_freq"),
        values=values,
        absent=absent,
    )


def _limits(reader: HostReader, folder: str, knob: str, driver: str, value: Value) -> Value:
    """Return the range, and the default as far as it is known."""
    text, path = value.text, value.path
    if knob == "governor":
        words = tuple(_word(reader, f"{folder}/scaling_available_governors").split())
        return Value(text=text, path=path, choices=words or (text,))
    if knob == "energy_performance_preference":
        words = tuple(_word(reader, f"{folder}/energy_performance_available_preferences").split())
        numbers = driver in _INTEL  # a number from 0 to 255, too
        return Value(
            text=text, path=path, choices=words, low=0 if numbers else None, high=255 if numbers else None
        )
    steps = _word(reader, f"{folder}/scaling_available_frequencies").split()
    low = _number(reader, f"{folder}/cpuinfo_min_freq")
    high = _number(reader, f"{folder}/cpuinfo_max_freq")
    # amd-pstate chooses its initial lowest frequency itself.
    known = None if driver.startswith("amd-pstate") else low
    default = high if knob == "max_freq_khz" else known
    return Value(
        text=text,
        path=path,
        choices=tuple(sorted((each for each in steps if each.isdigit()), key=int)),
        low=low,
        high=high,
        step=_STEP_KHZ,
        default=None if default is None else str(default),
    )


def _cpu(reader: HostReader, driver: str, setters: Setters, changed: dict[str, ChangedValue]) -> Subject:
    values: dict[str, Value] = {}
    absent: dict[str, str] = {}
    vendor = next((each for each in _MODES if reader.text(f"{CPU}/{each}/status") is not None), "")
    for knob in knobs_of(KnobScope.CPU):
        path = f"{CPU}/{vendor}/{knob.file}"
        text = reader.text(path) if vendor else None
        if text is None:
            why = _NO_MODE if knob.name == "driver_mode" else _NO_BOOST
            absent[knob.name] = why.format(driver=driver or "of this host")
            continue
        choices = _MODES[vendor] if knob.name == "driver_mode" else knob.choices
        default = None if knob.name == "driver_mode" else "0"
        value = Value(text=text.strip(), path=path, choices=choices, default=default)
        values[knob.name] = attributed(value, setters.of((path,)), changed.get(path))
    return Subject(
        scope=KnobScope.CPU, name="cpu", title="cpu", kind=vendor or driver, values=values, absent=absent
    )


def ranges(numbers: list[int]) -> str:
    """Return numbers as the kernel writes lists of processors: "0-3,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _word(reader: HostReader, path: str) -> str:
    return (reader.text(path) or "").strip()


def _number(reader: HostReader, path: str) -> int | None:
    return whole_number(reader.text(path))
