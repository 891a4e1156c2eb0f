"""An inventory of Ansible in its INI form: hosts with ranges, groups, their variables and children.

For machines without ansible-inventory, which is asked where it is installed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from raidtui.fleet.hosts import FleetError

_SECTION = re.compile(r"\[([^\[\]:]+)(?::(vars|children))?\]")
_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]", re.ASCII)
_MOST_OF_A_RANGE = 10_000

Variables = dict[str, str]


def ini_hosts(text: str) -> dict[str, Variables]:
    """Return the hosts of an inventory with their variables, in its order.

    Raises:
        FleetError: a line is not understood.
    """
    hosts: dict[str, Variables] = {}
    members: dict[str, dict[str, None]] = {}
    children: dict[str, list[str]] = {}
    of_group: dict[str, Variables] = {}
    group, kind = "ungrouped", ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]") and (found := _SECTION.fullmatch(line)):
            group, kind = found[1], found[2] or ""
            continue
        if kind == "children":
            children.setdefault(group, []).append(line)
        elif kind == "vars":
            key, _, value = line.partition("=")
            of_group.setdefault(group, {})[key.strip()] = value.strip().strip("\"'")
        else:
            for name, own in _of_line(line, number):
                hosts.setdefault(name, {}).update(own)
                members.setdefault(group, {})[name] = None
    for name, own in hosts.items():
        groups = ["all", *_groups_of(name, members, children)]
        hosts[name] = {key: value for each in groups for key, value in of_group.get(each, {}).items()} | own
    return hosts


def _groups_of(name: str, members: dict[str, dict[str, None]], children: dict[str, list[str]]) -> list[str]:
    """Return the groups of a host, the outer ones first: a child's variables win."""
    found = [group for group, names in members.items() if name in names]
    for group in found:
        found += [outer for outer, inner in children.items() if group in inner and outer not in found]
    return found[::-1]


def _of_line(line: str, number: int) -> Iterator[tuple[str, Variables]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise FleetError(f"line {number} of the inventory is not understood: {error}") from error
    own = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    for name in _expanded(words[0]):
        host, colon, port = name.partition(":")
        if colon and port.isdigit() and host:
            yield host, {"ansible_port": port, **own}
        else:
            yield name, dict(own)


def _expanded(pattern: str) -> Iterator[str]:
    """Yield the names of ``web[01:20].example.org`` or ``db-[a:f]``."""
    found = _RANGE.search(pattern)
    if found is None:
        yield pattern
        return
    first, last, step = found[1], found[2], int(found[3] or 1)
    if first.isdigit() and last.isdigit():
        width = len(first) if first.startswith("0") else 0
        parts = [f"{number:0{width}d}" for number in _numbers(int(first), int(last), step)]
    elif len(first) == len(last) == 1:
        parts = [chr(number) for number in _numbers(ord(first), ord(last), step)]
    else:
        raise FleetError(f"the range in {pattern!r} is not understood: give [01:20] or [a:f]")
    for part in parts:
        yield from _expanded(pattern[: found.start()] + part + pattern[found.end() :])


def _numbers(first: int, last: int, step: int) -> range:
    numbers = range(first, last + 1, max(1, step))
    if len(numbers) > _MOST_OF_A_RANGE:
        raise FleetError(f"a range has {len(numbers)} hosts: at most {_MOST_OF_A_RANGE} are taken")
    return numbers
