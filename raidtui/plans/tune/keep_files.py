"""The three files in which raidtui keeps values: their format, and how values are added and removed.

Lines that raidtui did not write stay as they are.

- udev (60-raidtui-io.rules): identifies disks by serial number or WWN, never by sdX, and arrays by UUID. It
  sets a disk's values when the disk appears ("add"), and not at every "change", so that a value that was set
  for now stays. It sets an array's values when the array starts, which is a "change"; ``RAIDTUI_KEPT`` in
  udev's database makes that happen once. A bcache, identified by the UUID of what it caches, likewise.
- sysctl.d (90-raidtui.conf): md's system-wide limits.
- tmpfiles.d (raidtui.conf): the processors.

mdadm.conf's own SYSFS lines would serve arrays too, but an array that the initramfs assembles gets them only
from a copy there; udev processes all devices again after the initramfs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from raidtui.model.knob import KnobScope, Subject, Tuning
from raidtui.model.knob_table import KNOBS, OUR_FILES, PLACES

UDEV, SYSCTL, TMPFILES = (OUR_FILES[by] for by in ("udev", "sysctl", "tmpfiles"))
UDEV_HEAD = """\
# Written by raidtui. Values of disks, by serial number or WWN, and of arrays, by UUID.
# raidtui tune forget takes them out again; lines of another form stay as they are.
"""
SYSCTL_HEAD = """\
# Written by raidtui. raidtui tune forget takes these values out again.
"""
_ARRAY, _BCACHE = "ATTR{md/uuid}", "ATTR{bcache/backing_dev_uuid}"
_CHANGES = {
    key: f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{names}"'
    for key, names in ((_ARRAY, "md*"), (_BCACHE, "bcache*"))
}
_ONCE = {key: f'{changes}, IMPORT{{db}}="RAIDTUI_KEPT"' for key, changes in _CHANGES.items()}
_MATCH = re.compile(
    r'(ENV\{ID_[A-Z_]+\}|ATTR\{(?:serial|wwid|device/wwid|md/uuid|bcache/backing_dev_uuid)\})=="([^"]*)"'
)
_SETS = re.compile(r'ATTR\{([^}]+)\}="([^"]*)"')
_TMPFILES = re.compile(r"w (/\S+) - - - - (\S+)")
_SYSCTL = re.compile(r"([a-z_.]+) = (\S+)")
_REDUNDANT = "md/sync_speed_"


class KeptEntry(Struct, frozen=True, kw_only=True):
    """What is kept for one disk or array: how a rule identifies it, a comment, and file -> value in order."""

    match: tuple[str, str]
    comment: str
    values: Mapping[str, str]


def rule_match(match: tuple[str, str]) -> tuple[str, str]:
    """Return a match as a rule can have it: a character with a meaning in udev becomes a wildcard."""
    key, text = match
    return key, "".join(
        char if char.isascii() and char.isprintable() and char not in '"\\*[]|$%' else "?" for char in text
    )


def udev_entries(text: str) -> tuple[list[KeptEntry], list[str]]:
    """Return what a rules file keeps, and the lines that raidtui did not write."""
    entries: list[KeptEntry] = []
    others: list[str] = []
    comment = ""
    for line in text.split("\n"):
        match, values = _MATCH.search(line), dict(_SETS.findall(line))
        if match is not None and values:
            entry = KeptEntry(match=(match[1], match[2]), comment=comment.removeprefix("# "), values=values)
            if _rule(entry) == line:
                entries.append(entry)
                comment = ""
                continue
        if comment:
            others.append(comment)
        comment = line if line.startswith("# ") else ""
        if not comment and line not in {"", *_ONCE.values()}:
            others.append(line)
    if comment:
        others.append(comment)
    head = UDEV_HEAD.split("\n")
    return entries, [line for line in others if line not in head]


def udev_text(entries: Iterable[KeptEntry], others: Iterable[str] = ()) -> str:
    """Return the rules file, or "" where nothing is left to keep in it."""
    kept = [entry for entry in entries if entry.values]
    lines = [*others]
    for entry in kept:
        if entry.match[0] not in _ONCE:
            lines += [f"# {entry.comment}", _rule(entry)]
    for key, once in _ONCE.items():
        noted = [entry for entry in kept if entry.match[0] == key]
        lines += [once] if noted else []
        for entry in noted:
            lines += [f"# {entry.comment}", _rule(entry)]
    return UDEV_HEAD + "\n".join(lines) + "\n" if lines else ""


def _rule(entry: KeptEntry) -> str:
    key, text = entry.match
    sets = [f'ATTR{{{file}}}="{value}"' for file, value in entry.values.items()]
    if key not in _ONCE:
        asks = ['ACTION=="add"', 'SUBSYSTEM=="block"', 'ENV{DEVTYPE}=="disk"', f'{key}=="{text}"']
        return ", ".join((*asks, *sets))
    asks = [_CHANGES[key], f'{key}=="{text}"']
    if key == _ARRAY:
        asks.append('ATTR{md/array_state}!="clear|inactive"')
    if any(file.startswith(_REDUNDANT) for file in entry.values):
        asks.append('TEST=="md/sync_action"')  # these files come last, when an array starts
    once = ['ENV{RAIDTUI_KEPT}!="1"', 'ENV{RAIDTUI_KEPT}="1"']
    return ", ".join((*asks, *once, *sets))


def tmpfiles_entries(text: str, paths: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return path -> value of a tmpfiles.d file, and the lines that raidtui did not write.

    Args:
        text: the file.
        paths: the files that exist: what policy* stands for.
    """
    return _pairs(text, _TMPFILES, paths)


def tmpfiles_text(values: Mapping[str, str], others: Iterable[str], paths: Iterable[str]) -> str:
    """Return the tmpfiles.d file, or ""; policies that share a value are written as policy*."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(_starred(path), []).append(path)
    lines, done = [*others], set[str]()
    for path, value in values.items():
        starred = _starred(path)
        alike = groups.get(starred, [])
        if len(alike) > 1 and all(values.get(each) == value for each in alike):
            if starred not in done:
                lines.append(f"w {starred} - - - - {value}")
            done.add(starred)
        else:
            lines.append(f"w {path} - - - - {value}")
    return SYSCTL_HEAD + "\n".join(lines) + "\n" if lines else ""


def _starred(path: str) -> str:
    return re.sub(r"/policy[0-9]+/", "/policy*/", path)


def sysctl_entries(text: str) -> tuple[dict[str, str], list[str]]:
    """Return name -> value of a sysctl.d file, and the lines that raidtui did not write."""
    return _pairs(text, _SYSCTL, ())


def sysctl_text(values: Mapping[str, str], others: Iterable[str]) -> str:
    """Return the sysctl.d file, or "" where nothing is left to keep in it."""
    lines = [*others, *(f"{name} = {value}" for name, value in values.items())]
    return SYSCTL_HEAD + "\n".join(lines) + "\n" if lines else ""


def _pairs(text: str, form: re.Pattern[str], paths: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    values: dict[str, str] = {}
    others = []
    there = tuple(paths)
    for line in text.split("\n"):
        found = form.fullmatch(line)
        if found is None:
            if line and line not in SYSCTL_HEAD.split("\n"):
                others.append(line)
            continue
        meant = [path for path in there if _starred(path) == found[1]] if "*" in found[1] else []
        values |= dict.fromkeys(meant or [found[1]], found[2])
    return values, others


class KeptValue(Struct, frozen=True, kw_only=True):
    """A value that raidtui keeps, or is about to keep."""

    subject: Subject
    knob: str
    value: str


def new_texts(tuning: Tuning, kept: Sequence[KeptValue], gone: frozenset[tuple[str, str]]) -> dict[str, str]:
    """Return the new texts of raidtui's files; "" for one that is no longer needed."""
    used = {KNOBS[each.knob].keep for each in kept} | {KNOBS[knob].keep for _, knob in gone}
    texts = {}
    if "udev" in used:
        texts[UDEV] = _udev(tuning, kept, gone)
    if "sysctl" in used:
        values, others = sysctl_entries(tuning.texts.get(SYSCTL, ""))
        values |= {f"dev.raid.{each.knob}": each.value for each in kept if KNOBS[each.knob].keep == "sysctl"}
        left = {name: value for name, value in values.items() if ("system", name[9:]) not in gone}
        texts[SYSCTL] = sysctl_text(left, others)
    if "tmpfiles" in used:
        paths = _cpu_paths(tuning)
        values, others = tmpfiles_entries(tuning.texts.get(TMPFILES, ""), paths)
        values |= {
            each.subject.values[each.knob].path: each.value
            for each in kept
            if KNOBS[each.knob].keep == "tmpfiles"
        }
        left = {path: value for path, value in values.items() if paths.get(path) not in gone}
        order = {path: place for place, path in enumerate(paths)}
        left = dict(sorted(left.items(), key=lambda each: order.get(each[0], len(order))))
        texts[TMPFILES] = tmpfiles_text(left, others, tuple(paths))
    return texts


def _cpu_paths(tuning: Tuning) -> dict[str, tuple[str, str]]:
    """Return path -> (subject, knob) of what tmpfiles.d writes: all governors before all limits."""
    found = [
        (value.path, (subject.name, knob))
        for subject in (*tuning.of(KnobScope.CPU), *tuning.of(KnobScope.POLICY))
        for knob, value in subject.values.items()
        if KNOBS[knob].keep == "tmpfiles"
    ]
    return dict(sorted(found, key=lambda each: PLACES[each[1][1]]))


def _udev(tuning: Tuning, kept: Sequence[KeptValue], gone: frozenset[tuple[str, str]]) -> str:
    entries, others = udev_entries(tuning.texts.get(UDEV, ""))
    known = {entry.match: entry for entry in entries}
    for subject in tuning.subjects:
        if subject.match is None:
            continue
        match = rule_match(subject.match)
        new = {each.knob: each.value for each in kept if each.subject.name == subject.name}
        old = known.get(match)
        values = dict(old.values) if old is not None else {}
        values |= {KNOBS[knob].file: value for knob, value in new.items()}
        for name, knob in gone:
            if name == subject.name:
                values.pop(KNOBS[knob].file, None)
        if values or old is not None:
            comment = _comment(subject) if new or old is None else old.comment
            known[match] = KeptEntry(match=match, comment=comment, values=_in_order(values))
    return udev_text(known.values(), others)


def _in_order(values: Mapping[str, str]) -> dict[str, str]:
    """A scheduler comes before nr_requests, which it resets."""
    places = {knob.file: place for place, knob in enumerate(KNOBS.values())}
    return dict(sorted(values.items(), key=lambda each: places.get(each[0], len(places))))


def _comment(subject: Subject) -> str:
    words = (
        [subject.model, subject.identity]
        if subject.scope is KnobScope.DISK
        else [f"{subject.scope} {subject.title}"]
    )
    text = ", ".join(word.strip() for word in words if word.strip()) or subject.name
    return "".join(char if char.isascii() and char.isprintable() else "?" for char in text)


def only_others(path: str, text: str) -> str:
    """Return one of raidtui's files without what raidtui wrote."""
    if path == UDEV:
        return udev_text((), udev_entries(text)[1])
    if path == SYSCTL:
        return sysctl_text({}, sysctl_entries(text)[1])
    return tmpfiles_text({}, tmpfiles_entries(text, ())[1], ())
