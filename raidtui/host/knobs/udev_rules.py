"""udev's rules, read for what they write to a device's files (udev(7)).

Rules are evaluated as far as possible without udev. Where only a program or a parent device could decide
whether a rule applies, ``sure`` is False.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from raidtui.host.knobs.drop_ins import drop_ins
from raidtui.host.readers.host_reader import HostReader

FOLDERS = (
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
    "/lib/udev/rules.d",
)  # fmt: skip
_LONGEST_LINE = 16384
"""udev ignores longer lines (UTIL_LINE_SIZE)."""
_TOKEN = re.compile(
    r'(?<![A-Z_])([A-Z_]++)(?:\{([^}]*)\})?\s*(==|!=|\+=|-=|:=|=)\s*([ei]{0,2})"((?:[^"\\]|\\.)*)"'
)
_ECHO = re.compile(r"""echo\s+(?:-n\s+)?['"\\]*([\w.-]+)['"\\]*\s*>+\s*(\S+?)['"]*\s*(?:$|;|&&|'|")""")
# The rules themselves may have changed these files since.
_MOVING = ("queue/scheduler", "queue/nr_requests", "queue/read_ahead_kb", "device/queue_depth", "md/")
_MATCHES = frozenset({"==", "!="})
_OWN = "RAIDTUI_"


class Token(Struct, frozen=True, kw_only=True):
    """One ``KEY{attribute} operator "value"``."""

    key: str
    attribute: str
    operator: str
    value: str


class Rule(Struct, frozen=True, kw_only=True):
    """One rule, with its file and line."""

    path: str
    line: int
    tokens: tuple[Token, ...]


class Assignment(Struct, frozen=True, kw_only=True):
    """What a rule writes to a device.

    Args:
        attribute: below the device's folder, or an absolute path (of a RUN).
        value: None where it has a substitution that only udev can make.
        where: the rule's file and line.
        sure: whether the rule applies for certain.
    """

    attribute: str
    value: str | None
    where: str
    sure: bool


class UdevDevice(Struct, kw_only=True):
    """A block device, as rules match it.

    Args:
        reader: the host.
        name: the kernel's.
        folder: in sysfs.
        properties: those of udev's database; rules add theirs while they are evaluated.
        action: the uevent.
        parents: the subsystems of its parent devices, as far as they are known.
    """

    reader: HostReader
    name: str
    folder: str
    properties: dict[str, str]
    action: str = "add"
    parents: frozenset[str] = frozenset()


def parse_rules(text: str, path: str) -> Iterator[Rule]:
    """Yield the rules of one file. A backslash at the end of a line continues it."""
    number, kept, first = 0, "", 0
    for line in text.split("\n"):
        number += 1
        first = first or number
        if line.lstrip().startswith("#"):
            first = 0 if not kept else first
            continue
        kept = kept + line if len(kept) + len(line) <= _LONGEST_LINE else ""
        if kept.endswith("\\"):
            kept = kept[:-1]
            continue
        tokens = tuple(
            Token(key=found[1], attribute=found[2] or "", operator=found[3], value=found[5])
            for found in _TOKEN.finditer(kept)
        )
        if tokens:
            yield Rule(path=path, line=first, tokens=tokens)
        kept, first = "", 0


def read_rules(reader: HostReader) -> tuple[tuple[Rule, ...], ...]:
    """Return the rules of each file that writes to devices' files, in udev's order."""
    files = (writing_rules(reader.text(path) or "", path) for path in drop_ins(reader, FOLDERS, ".rules"))
    return tuple(rules for rules in files if rules)


def writing_rules(text: str, path: str) -> tuple[Rule, ...]:
    """Return the rules of a file if one of them writes to devices' files, else nothing."""
    if "ATTR{" not in text and "echo" not in text:
        return ()
    rules = tuple(parse_rules(text, path))
    return rules if any(_writes(token) for rule in rules for token in rule.tokens) else ()


def _writes(token: Token) -> bool:
    return token.operator not in _MATCHES and (token.key == "ATTR" or bool(_ECHO.search(token.value)))


def assignments(files: tuple[tuple[Rule, ...], ...], device: UdevDevice) -> Iterator[Assignment]:
    """Yield what the rules write to a device, in order."""
    for rules in files:
        label = ""
        for rule in rules:
            if label and not any(token.key == "LABEL" and token.value == label for token in rule.tokens):
                continue
            label = ""
            applies = _applies(rule, device)
            if applies is False:
                continue
            for token in rule.tokens:
                if token.operator in _MATCHES:
                    continue
                if token.key == "GOTO" and applies:
                    label = token.value
                elif token.key == "ENV" and applies and "$" not in token.value:
                    device.properties[token.attribute] = token.value
                else:
                    yield from _assigned(rule, token, device, sure=applies is True)


def _assigned(rule: Rule, token: Token, device: UdevDevice, *, sure: bool) -> Iterator[Assignment]:
    where = f"{rule.path}:{rule.line}"
    if token.key == "ATTR" and token.operator in {"=", ":="}:
        open_value = "$" in token.value or "%" in token.value
        yield Assignment(
            attribute=token.attribute, value=None if open_value else token.value, where=where, sure=sure
        )
    elif token.key == "RUN":
        for found in _ECHO.finditer(token.value):
            path = found[2]
            for sign, text in (
                ("%k", device.name),
                ("$kernel", device.name),
                ("%p", ""),
                ("$name", device.name),
            ):
                path = path.replace(sign, text)
            yield Assignment(attribute=path, value=found[1], where=where, sure=sure)


def _applies(rule: Rule, device: UdevDevice) -> bool | None:
    """Whether a rule applies to this device; None where that is not known."""
    answers = [_matches(token, device) for token in rule.tokens if _asks(token)]
    if False in answers:
        return False
    return None if None in answers else True


def _asks(token: Token) -> bool:
    return token.operator in _MATCHES or token.key in {"IMPORT", "PROGRAM"}


def _matches(token: Token, device: UdevDevice) -> bool | None:
    reader = _READERS.get(token.key)
    if reader is None:
        return None
    found = reader(token, device)
    if found is None or isinstance(found, bool):
        return found
    fits = any(fnmatchcase(found, pattern) for pattern in token.value.split("|"))
    return fits == (token.operator == "==")


def _environment(token: Token, device: UdevDevice) -> str | bool | None:
    if token.attribute.startswith(_OWN):
        return ""  # as at boot
    return device.properties.get(token.attribute, "")


def _attribute(token: Token, device: UdevDevice) -> str | bool | None:
    if token.attribute.startswith(_MOVING) and token.attribute not in {"md/uuid", "md/array_state"}:
        return None
    found = device.reader.text(f"{device.folder}/{token.attribute}")
    return False if found is None else found.strip()


def _match_parents(token: Token, device: UdevDevice) -> str | bool | None:
    """The device itself counts as a parent; above it only the disk's own device is looked at."""
    for folder in (device.folder, f"{device.folder}/device"):
        found = device.reader.text(f"{folder}/{token.attribute}")
        if found is not None:
            fits = any(fnmatchcase(found.strip(), pattern) for pattern in token.value.split("|"))
            if fits == (token.operator == "=="):
                return True
    return None


def _subsystems(token: Token, device: UdevDevice) -> str | bool | None:
    wanted = token.value.split("|")
    return True if token.operator == "==" and not device.parents.isdisjoint(wanted) else None


def _test(token: Token, device: UdevDevice) -> str | bool | None:
    path = token.value if token.value.startswith("/") else f"{device.folder}/{token.value}"
    if "$" in path or "%" in path or "*" in path:
        return None
    return device.reader.exists(path) == (token.operator == "==")


_READERS: Mapping[str, Callable[[Token, UdevDevice], str | bool | None]] = {
    "ACTION": lambda _, device: device.action,
    "SUBSYSTEM": lambda *_: "block",
    "KERNEL": lambda _, device: device.name,
    "ENV": _environment,
    "ATTR": _attribute,
    "ATTRS": _match_parents,
    "SUBSYSTEMS": _subsystems,
    "TEST": _test,
}
"""By key, the value that a rule matches, or whether it matches; None where only udev knows."""
