"""What sets knobs at boot: the kernel's command line, udev's rules, sysctl.d, tmpfiles.d and others.

Only files are read; nothing is started. A setting is matched with a knob by the knob's file:
/sys/class/block/sda/queue/scheduler.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from raidtui.host.knobs.drop_ins import assigned_lines, drop_ins
from raidtui.host.knobs.setter_services import read_services
from raidtui.host.knobs.udev_rules import Rule, UdevDevice, assignments, read_rules
from raidtui.host.md.array_names import canonical_uuid, usual_path
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array
from raidtui.model.knob import By, Setting
from raidtui.model.knob_table import OUR_FILES

UDEV_FILE, SYSCTL_FILE, TMPFILES_FILE = (OUR_FILES[by] for by in ("udev", "sysctl", "tmpfiles"))
POLICIES = "/sys/devices/system/cpu/cpufreq/policy*"
CPU = "/sys/devices/system/cpu"
BOOT_WORDS = frozenset({"cpufreq.default_governor", "intel_pstate", "amd_pstate", "libata.force", "elevator"})
"""The parameters on the kernel's command line that count here."""
_SYSTEMD = ("/run/{0}", "/usr/local/lib/{0}", "/usr/lib/{0}", "/lib/{0}")
_RC_LOCAL = ("/etc/rc.local", "/etc/rc.d/rc.local")
_ECHO = re.compile(r"""^\s*echo\s+(?:-n\s+)?['"]?([\w.-]+)['"]?\s*>+\s*['"]?(/(?:sys|proc)/[^'"\s;]+)""")


class Setters:
    """Everything that sets knobs, read once.

    Args:
        reader: the host.
        arrays: its arrays; mdadm.conf names them by UUID or path.
    """

    def __init__(self, reader: HostReader, arrays: Collection[Array] = ()) -> None:
        self._rules: tuple[tuple[Rule, ...], ...] = read_rules(reader)
        self._settings = tuple(_read_settings(reader, arrays))

    def of(
        self, aliases: Collection[str], assigned: Collection[Setting] = (), kind: str = ""
    ) -> tuple[Setting, ...]:
        """Return what sets one knob.

        Args:
            aliases: all paths of the knob's file.
            assigned: what udev's rules write to the device that it belongs to.
            kind: a disk's kind.
        """
        return tuple(
            each
            for each in (*self._settings, *assigned)
            if each.only in {"", kind} and any(path_fits(each.path, alias) for alias in aliases)
        )

    def settings_of_rules(self, device: UdevDevice) -> tuple[Setting, ...]:
        """Return everything that udev's rules write to a device."""
        found = []
        for each in assignments(self._rules, device):
            absolute = each.attribute.startswith("/")
            found.append(
                Setting(
                    by=By.UDEV,
                    where=each.where,
                    value=each.value,
                    path=usual_path(each.attribute) if absolute else f"{device.folder}/{each.attribute}",
                    ours=each.where.startswith(f"{UDEV_FILE}:"),
                    sure=each.sure,
                )
            )
        return tuple(found)


def path_fits(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path. Wildcards do not match slashes, as in the shell."""
    if pattern == path:
        return True
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(map(fnmatchcase, names, parts))


def _read_settings(reader: HostReader, arrays: Collection[Array]) -> Iterator[Setting]:
    yield from _command_line(reader)
    yield from _modprobe(reader)
    yield from _mdadm(reader, arrays)
    yield from _sysctl(reader)
    yield from _tmpfiles(reader)
    yield from _sysfsutils(reader)
    yield from _rc_local(reader)
    yield from read_services(reader)


def _command_line(reader: HostReader) -> Iterator[Setting]:
    """Documentation/admin-guide/kernel-parameters.txt. Linux 5.0 and later ignore ``elevator=``."""
    for word in (reader.text("/proc/cmdline") or "").split():
        key, _, value = word.partition("=")
        path = ""
        if key == "cpufreq.default_governor":
            path = f"{POLICIES}/scaling_governor"
        elif key == "intel_pstate" and value in {"active", "passive"}:
            path = f"{CPU}/intel_pstate/status"
        elif key == "amd_pstate" and value in {"active", "passive", "guided"}:
            path = f"{CPU}/amd_pstate/status"
        elif key == "libata.force" and "noncq" in value:
            yield _no_ncq(By.COMMAND_LINE, word, value)
        if path:
            yield Setting(by=By.COMMAND_LINE, where=word, value=value, path=path)


def dead_words(reader: HostReader) -> tuple[str, ...]:
    """Return what the kernel ignores on its command line, a sentence each."""
    words = (reader.text("/proc/cmdline") or "").split()
    return tuple(
        f"{word} on the kernel command line is ignored since Linux 5.0."
        for word in words
        if word.startswith("elevator=")
    )


def _no_ncq(by: By, where: str, value: str) -> Setting:
    """``libata.force=3:noncq`` is for one port; which disk that is, is not known."""
    path = "/sys/class/block/sd*/device/queue_depth"
    return Setting(by=by, where=where, value="1", path=path, only="sata", sure=":" not in value)


def _modprobe(reader: HostReader) -> Iterator[Setting]:
    for path in drop_ins(reader, ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d"), ".conf"):
        for number, line in enumerate((reader.text(path) or "").split("\n"), start=1):
            words = line.split()
            for word in words[2:] if words[:2] == ["options", "libata"] else ():
                if word.startswith("force=") and "noncq" in word:
                    yield _no_ncq(By.MODPROBE, f"{path}:{number}", word)


def _mdadm(reader: HostReader, arrays: Collection[Array]) -> Iterator[Setting]:
    """SYSFS lines (mdadm.conf(5)): mdadm writes them when it assembles an array."""
    paths = [*drop_ins(reader, ("/etc/mdadm/mdadm.conf.d", "/etc/mdadm.conf.d"), ".conf")]
    for path in ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf", *paths):
        for number, line in enumerate((reader.text(path) or "").split("\n"), start=1):
            words = [word.partition("=") for word in line.split()]
            if not words or words[0][0].upper() != "SYSFS":
                continue
            options = {key: value for key, _, value in words[1:]}
            for array in arrays:
                if not _is_meant(options, array):
                    continue
                for key in sorted(options.keys() - {"name", "uuid"}):
                    file = f"/sys/class/block/{array.name}/md/{key}"
                    yield Setting(by=By.MDADM, where=f"{path}:{number}", value=options[key], path=file)


def _is_meant(options: dict[str, str], array: Array) -> bool:
    if "uuid" in options:
        return array.uuid is not None and canonical_uuid(options["uuid"]) == canonical_uuid(array.uuid)
    return options.get("name") in {array.path, array.link, f"/dev/{array.name}", f"/dev/md/{array.label}"}


def _sysctl(reader: HostReader) -> Iterator[Setting]:
    folders = ("/etc/sysctl.d", *(each.format("sysctl.d") for each in _SYSTEMD))
    for path in drop_ins(reader, folders, ".conf"):
        for number, key, value in assigned_lines(reader.text(path) or ""):
            name = key.removeprefix("-").replace("/", ".")
            if name.startswith("dev.raid."):
                yield Setting(
                    by=By.SYSCTL,
                    where=f"{path}:{number}",
                    value=value,
                    path=f"/proc/sys/{name.replace('.', '/')}",
                    ours=path == SYSCTL_FILE,
                )


def _tmpfiles(reader: HostReader) -> Iterator[Setting]:
    """Lines of type w (tmpfiles.d(5)): type, path, mode, user, group, age, value."""
    folders = ("/etc/tmpfiles.d", *(each.format("tmpfiles.d") for each in _SYSTEMD))
    for path in drop_ins(reader, folders, ".conf"):
        for number, line in enumerate((reader.text(path) or "").split("\n"), start=1):
            words = line.split(None, 6)
            if len(words) == 7 and words[0].rstrip("+!-=~^") == "w":
                yield Setting(
                    by=By.TMPFILES,
                    where=f"{path}:{number}",
                    value=words[6].strip().strip('"'),
                    path=usual_path(words[1]),
                    ours=path == TMPFILES_FILE,
                )


def _sysfsutils(reader: HostReader) -> Iterator[Setting]:
    for path in ("/etc/sysfs.conf", *drop_ins(reader, ("/etc/sysfs.d",), ".conf")):
        for number, key, value in assigned_lines(reader.text(path) or ""):
            if not key.startswith(("mode ", "owner ")):
                file = usual_path(f"/sys/{key}")
                yield Setting(by=By.SYSFSUTILS, where=f"{path}:{number}", value=value, path=file)


def _rc_local(reader: HostReader) -> Iterator[Setting]:
    for path in _RC_LOCAL:
        for number, line in enumerate((reader.text(path) or "").split("\n"), start=1):
            if found := _ECHO.match(line):
                file = usual_path(found[2])
                yield Setting(by=By.RC_LOCAL, where=f"{path}:{number}", value=found[1], path=file)
