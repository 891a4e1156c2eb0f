"""The new texts of raidtui's own files, with values put in and taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from raidtui.model.knob import Scope, Subject, Tuning
from raidtui.model.knob_table import KNOBS, OUR_FILES, PLACES
from raidtui.plans.tune.keep_files import (
    Entry,
    sysctl_entries,
    sysctl_text,
    tmpfiles_entries,
    tmpfiles_text,
    told_by,
    udev_entries,
    udev_text,
)

UDEV, SYSCTL, TMPFILES = (OUR_FILES[way] for way in ("udev", "sysctl", "tmpfiles"))


class Kept(Struct, frozen=True, kw_only=True):
    """A value that is kept, or is to be."""

    subject: Subject
    knob: str
    value: str


def new_texts(tuning: Tuning, kept: Sequence[Kept], gone: frozenset[tuple[str, str]]) -> dict[str, str]:
    """Return the new texts of raidtui's files; "" for one that is no longer needed."""
    ways = {KNOBS[each.knob].keep for each in kept} | {KNOBS[knob].keep for _, knob in gone}
    texts = {}
    if "udev" in ways:
        texts[UDEV] = _udev(tuning, kept, gone)
    if "sysctl" in ways:
        values, others = sysctl_entries(tuning.texts.get(SYSCTL, ""))
        values |= {f"dev.raid.{each.knob}": each.value for each in kept if KNOBS[each.knob].keep == "sysctl"}
        left = {name: value for name, value in values.items() if ("system", name[9:]) not in gone}
        texts[SYSCTL] = sysctl_text(left, others)
    if "tmpfiles" in ways:
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
        for subject in (*tuning.of(Scope.CPU), *tuning.of(Scope.POLICY))
        for knob, value in subject.values.items()
        if KNOBS[knob].keep == "tmpfiles"
    ]
    return dict(sorted(found, key=lambda each: PLACES[each[1][1]]))


def _udev(tuning: Tuning, kept: Sequence[Kept], gone: frozenset[tuple[str, str]]) -> str:
    entries, others = udev_entries(tuning.texts.get(UDEV, ""))
    known = {entry.match: entry for entry in entries}
    for subject in tuning.subjects:
        if subject.match is None:
            continue
        match = told_by(subject.match)
        new = {each.knob: each.value for each in kept if each.subject.name == subject.name}
        old = known.get(match)
        values = dict(old.values) if old is not None else {}
        values |= {KNOBS[knob].file: value for knob, value in new.items()}
        for name, knob in gone:
            if name == subject.name:
                values.pop(KNOBS[knob].file, None)
        if values or old is not None:
            comment = _comment(subject) if new or old is None else old.comment
            known[match] = Entry(match=match, comment=comment, values=_in_order(values))
    return udev_text(known.values(), others)


def _in_order(values: Mapping[str, str]) -> dict[str, str]:
    """A scheduler comes before nr_requests, which it sets anew."""
    places = {knob.file: place for place, knob in enumerate(KNOBS.values())}
    return dict(sorted(values.items(), key=lambda each: places.get(each[0], len(places))))


def _comment(subject: Subject) -> str:
    words = [subject.model, subject.identity] if subject.scope is Scope.DISK else [f"array {subject.title}"]
    text = ", ".join(word.strip() for word in words if word.strip()) or subject.name
    return "".join(char if char.isascii() and char.isprintable() else "?" for char in text)


def only_others(path: str, text: str) -> str:
    """Return a file of ours without what we wrote."""
    if path == UDEV:
        return udev_text((), udev_entries(text)[1])
    if path == SYSCTL:
        return sysctl_text({}, sysctl_entries(text)[1])
    return tmpfiles_text({}, tmpfiles_entries(text, ())[1], ())
