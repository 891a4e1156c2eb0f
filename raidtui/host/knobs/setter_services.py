"""Services that set knobs: tuned, TLP, power-profiles-daemon, auto-cpufreq, cpupower, cpufrequtils.

Only those count that are enabled at boot or running. Processes are listed when knobs are read afresh, never
while the console watches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from raidtui.host.knobs.drop_ins import assigned_lines, drop_ins
from raidtui.host.md.array_names import usual_path
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.knob import By, Setting

_POLICY = "/sys/devices/system/cpu/cpufreq/policy*"
_UNITS = "/etc/systemd/system"
COMM_LENGTH = 15
_FILES = {
    "governor": f"{_POLICY}/scaling_governor",
    "epp": f"{_POLICY}/energy_performance_preference",
    "min": f"{_POLICY}/scaling_min_freq",
    "max": f"{_POLICY}/scaling_max_freq",
    "boost": "/sys/devices/system/cpu/intel_pstate/hwp_dynamic_boost",
}
_TUNED_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
_TLP_KEYS = {
    "CPU_SCALING_GOVERNOR": "governor",
    "CPU_ENERGY_PERF_POLICY": "epp",
    "CPU_SCALING_MIN_FREQ": "min",
    "CPU_SCALING_MAX_FREQ": "max",
    "CPU_HWP_DYN_BOOST": "boost",
}
# power-profiles-daemon's src/ppd-driver-{intel,amd}-pstate.c, on mains.
_PROFILES = {"performance": "performance", "balanced": "balance_performance", "power-saver": "power"}
_HERTZ = {"khz": 1, "mhz": 1000, "ghz": 1_000_000}


def read_services(reader: HostReader) -> Iterator[Setting]:
    """Yield the settings of these services."""
    wants = [f"{_UNITS}/{folder}" for folder in reader.names(_UNITS) if folder.endswith(".wants")]
    running = running_services(reader)
    yield from _cpufrequtils(reader)
    for name, read_settings in _SERVICES.items():
        if name in running or any(reader.is_there(f"{each}/{name}.service") for each in wants):
            for setting in read_settings(reader):
                yield replace(setting, running=name in running) if name in _DAEMONS else setting


def running_services(reader: HostReader) -> frozenset[str]:
    """Return which of the services run now.

    The name of a process is cut after 15 characters, and that of a Python program may be the interpreter's.
    psutil reads the command of such a process; to read those of all processes takes ten times as long as to
    read their names. Of a captured host the beginning of the name decides.
    """
    found: set[str] = set()
    live = isinstance(reader, FolderReader) and reader.live
    for pid in (name for name in reader.names("/proc") if name.isdigit()):
        comm = (reader.text(f"/proc/{pid}/comm") or "").strip()
        cut = {name for name in SERVICES if len(name) > COMM_LENGTH and name[:COMM_LENGTH] == comm}
        if live and (cut or comm.startswith("python")):
            found |= _programs(int(pid)) & {*SERVICES}
        else:
            found |= cut or {comm} & {*SERVICES}
    return frozenset(found)


def _programs(pid: int) -> frozenset[str]:
    """Return the names of a process's program and of the script that it runs; nothing where it has ended."""
    import psutil  # noqa: PLC0415  (most hosts run none of these services)

    try:
        words = [word for word in psutil.Process(pid).cmdline() if not word.startswith("-")]
    except psutil.Error:
        return frozenset()
    return frozenset(word.rpartition("/")[2] for word in words[:2])


def on_battery(reader: HostReader) -> bool:
    """Whether the host runs on a battery: it has mains supplies, and none is online."""
    base = "/sys/class/power_supply"
    mains = [
        name for name in reader.names(base) if (reader.text(f"{base}/{name}/type") or "").strip() == "Mains"
    ]
    return bool(mains) and all((reader.text(f"{base}/{name}/online") or "1").strip() == "0" for name in mains)


def _cpufrequtils(reader: HostReader) -> Iterator[Setting]:
    """Debian up to 12: an init script, which sets ondemand where its file has no governor."""
    path = "/etc/default/cpufrequtils"
    text = reader.text(path)
    if text is None or reader.text("/etc/init.d/cpufrequtils") is None:
        return
    options = {key: value for _, key, value in assigned_lines(text)}
    if options.get("ENABLE", "true").lower() != "true":
        return
    by, where = By.CPUFREQUTILS, path
    yield Setting(by=by, where=where, value=options.get("GOVERNOR", "ondemand"), path=_FILES["governor"])
    for key, file in (("MIN_SPEED", "min"), ("MAX_SPEED", "max")):
        if options.get(key, "0") not in {"", "0"}:
            yield Setting(by=by, where=where, value=_khz(options[key]), path=_FILES[file])


def _cpupower(reader: HostReader) -> Iterator[Setting]:
    """Upstream uses /etc/cpupower-service.conf, Debian and Arch /etc/default, Fedora /etc/sysconfig."""
    for path in ("/etc/cpupower-service.conf", "/etc/default/cpupower", "/etc/sysconfig/cpupower"):
        for number, key, value in assigned_lines(reader.text(path) or ""):
            where = f"{path}:{number}"
            name = {"governor": "governor", "min_freq": "min", "max_freq": "max"}.get(key.lower())
            if name and value:
                text = value if name == "governor" else _khz(value)
                yield Setting(by=By.CPUPOWER, where=where, value=text, path=_FILES[name])
            elif key == "CPUPOWER_START_OPTS":
                yield from _options(value.split(), where)


def _options(words: list[str], where: str) -> Iterator[Setting]:
    """Of ``frequency-set -g performance -d 2.2GHz``."""
    names = {
        "-g": "governor",
        "--governor": "governor",
        "-d": "min",
        "--min": "min",
        "-u": "max",
        "--max": "max",
    }
    for word, after in pairwise(words):
        if name := names.get(word):
            text = after if name == "governor" else _khz(after)
            yield Setting(by=By.CPUPOWER, where=where, value=text, path=_FILES[name])


def _khz(text: str) -> str | None:
    """Return the kHz of "2.2GHz"; a number without a unit is in kHz."""
    word = text.strip().lower()
    for unit, factor in _HERTZ.items():
        if word.endswith(unit):
            digits = word.removesuffix(unit).strip()
            return str(round(float(digits) * factor)) if _is_number(digits) else None
    return word if word.isdigit() else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit() and len(text) < 12


def _tuned(reader: HostReader) -> Iterator[Setting]:
    """tuned.conf(5): [cpu], [disk], [sysfs] and [sysctl] of the active profiles and what they include."""
    for profile in (reader.text("/etc/tuned/active_profile") or "").split():
        where = f"profile {profile}"
        for section, options in _tuned_sections(reader, profile, frozenset()).items():
            kind = options.get("type", section)
            if kind == "cpu":
                keys = (("governor", "governor"), ("energy_performance_preference", "epp"))
                for key, name in keys:
                    if key in options:
                        yield Setting(by=By.TUNED, where=where, value=options[key], path=_FILES[name])
            elif kind == "disk":
                yield from _tuned_disk(options, where)
            elif kind == "sysfs":
                for path, value in options.items():
                    if path.startswith("/sys/"):
                        yield Setting(by=By.TUNED, where=where, value=value, path=usual_path(path))
            elif kind == "sysctl":
                for key, value in options.items():
                    if key.startswith("dev.raid."):
                        path = f"/proc/sys/{key.replace('.', '/')}"
                        yield Setting(by=By.TUNED, where=where, value=value, path=path)


def _tuned_disk(options: Mapping[str, str], where: str) -> Iterator[Setting]:
    words = [word for word in options.get("devices", "*").replace(" ", "").split(",") if word]
    devices = [word for word in words if not word.startswith("!")]
    sure = "devices_udev_regex" not in options and len(devices) == len(words)
    for device in devices or ["*"]:
        base = f"/sys/class/block/{device}/queue"
        if "elevator" in options:
            value = options["elevator"]
            yield Setting(by=By.TUNED, where=where, value=value, path=f"{base}/scheduler", sure=sure)
        if "readahead" in options:
            value = options["readahead"].removesuffix("s").strip()
            half = options["readahead"].endswith("s") and value.lstrip(">").isdigit()  # sectors of 512 bytes
            text = f"{value[: -len(value.lstrip('>'))]}{int(value.lstrip('>')) // 2}" if half else value
            yield Setting(by=By.TUNED, where=where, value=text, path=f"{base}/read_ahead_kb", sure=sure)


def _tuned_sections(reader: HostReader, profile: str, seen: frozenset[str]) -> dict[str, dict[str, str]]:
    """Return the sections of a profile; its own options override those of the profiles that it includes."""
    text = next(
        (
            text
            for folder in _TUNED_FOLDERS
            if (text := reader.text(f"{folder}/{profile}/tuned.conf")) is not None
        ),
        "",
    )
    own: dict[str, dict[str, str]] = {}
    section = ""
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("[") and bare.endswith("]"):
            section = bare[1:-1]
            own.setdefault(section, {})
        elif "=" in bare and not bare.startswith("#") and section:
            key, _, value = bare.partition("=")
            own[section][key.strip()] = value.strip()
    found: dict[str, dict[str, str]] = {}
    for name in own.get("main", {}).get("include", "").replace(",", " ").split():
        if name not in seen:
            for each, options in _tuned_sections(reader, name, seen | {profile}).items():
                found[each] = {**found.get(each, {}), **options}
    for each, options in own.items():
        found[each] = (
            options if options.get("replace") in {"1", "true"} else {**found.get(each, {}), **options}
        )
    return found


def _tlp(reader: HostReader) -> Iterator[Setting]:
    """TLP: /etc/tlp.d/*.conf, then /etc/tlp.conf; the last value counts."""
    options: dict[str, tuple[str, str]] = {}
    for path in (*drop_ins(reader, ("/etc/tlp.d",), ".conf"), "/etc/tlp.conf"):
        for number, key, value in assigned_lines(reader.text(path) or ""):
            options[key] = (value, f"{path}:{number}")
    if options.get("TLP_ENABLE", ("1", ""))[0] == "0":
        return
    source = "BAT" if on_battery(reader) else "AC"
    for key, name in _TLP_KEYS.items():
        value, where = options.get(f"{key}_ON_{source}", ("", ""))
        if value:
            yield Setting(by=By.TLP, where=where, value=value, path=_FILES[name])
    schedulers, where = options.get("DISK_IOSCHED", ("", ""))
    devices = options.get("DISK_DEVICES", ("", ""))[0].split()
    for device, scheduler in zip(devices, schedulers.split(), strict=False):
        if scheduler != "keep":
            path = f"/sys/class/block/{device}/queue/scheduler"
            yield Setting(by=By.TLP, where=where, value=scheduler, path=path, sure="/" not in device)


def _auto_cpufreq(reader: HostReader) -> Iterator[Setting]:
    wanted = "[battery]" if on_battery(reader) else "[charger]"
    options: dict[str, str] = {}
    section = ""
    for line in (reader.text("/etc/auto-cpufreq.conf") or "").split("\n"):
        if line.strip().startswith("["):
            section = line.strip()
        elif section == wanted:
            options |= {key: value for _, key, value in assigned_lines(line)}
    where = "/etc/auto-cpufreq.conf"
    keys = (("governor", "governor"), ("energy_performance_preference", "epp"), ("scaling_min_freq", "min"),
            ("scaling_max_freq", "max"))  # fmt: skip
    for key, name in keys:
        if options.get(key) or name in {"governor", "epp"}:  # it chooses by itself without an option
            yield Setting(by=By.AUTO_CPUFREQ, where=where, value=options.get(key) or None, path=_FILES[name])


def _power_profiles(reader: HostReader) -> Iterator[Setting]:
    state = reader.text("/var/lib/power-profiles-daemon/state.ini") or ""
    options = {key: value for _, key, value in assigned_lines(state)}
    profile = options.get("Profile", "")
    where = f"profile {profile}" if profile else ""
    preference = None if on_battery(reader) else _PROFILES.get(profile)
    yield Setting(by=By.POWER_PROFILES, where=where, value=preference, path=_FILES["epp"])


_SERVICES: Mapping[str, Callable[[HostReader], Iterator[Setting]]] = {
    "cpupower": _cpupower,
    "tuned": _tuned,
    "tlp": _tlp,
    "auto-cpufreq": _auto_cpufreq,
    "power-profiles-daemon": _power_profiles,
}
SERVICES = tuple(_SERVICES)
"""The services whose configuration is read: as their units are called, and their processes."""
_DAEMONS = frozenset({"tuned", "auto-cpufreq", "power-profiles-daemon"})
"""Those that keep running; the others set their values once."""
