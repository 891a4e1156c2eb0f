"""Who has set a knob, and what a reboot leaves of its value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.knob import KERNEL, NOBODY, By, ChangedValue, Setting, Value, same_value


class SetBy(Struct, frozen=True, kw_only=True):
    """Who has set some knobs of a row.

    Args:
        by: who.
        words: the same, a few words for a column.
        knobs: their names.
    """

    by: By
    words: str
    knobs: tuple[str, ...]


def attributed(value: Value, settings: Sequence[Setting], changed: ChangedValue | None = None) -> Value:
    """Return a value with what is known of who set it and of its value after a reboot.

    Args:
        value: as it was read.
        settings: everything that sets this knob of this subject.
        changed: what raidtui has written to it since the boot; None for nothing.
    """
    ordered = tuple(
        _resolved(each, value) for each in sorted(settings, key=lambda each: each.rank)
    )  # stable: the later of two files stays behind the earlier
    kept = next((each.value for each in reversed(ordered) if each.ours), None)
    return replace(
        value,
        set_by=_set_by(value, ordered, changed),
        others=ordered,
        at_boot=_at_boot(value, ordered),
        kept=kept,
    )


def _resolved(setting: Setting, value: Value) -> Setting:
    """Of tuned, "schedutil|ondemand" means the first that exists, and ">4096" at least this."""
    text = setting.value
    if text is None or setting.by is not By.TUNED:
        return setting
    if "|" in text:
        text = next((word for word in text.split("|") if word in value.choices), None)
    elif text.startswith(">"):
        least = text[1:].strip()
        met = least.isdigit() and value.text.isdigit() and int(value.text) >= int(least)
        text = value.text if met else least
    return replace(setting, value=text)


def _set_by(value: Value, settings: tuple[Setting, ...], changed: ChangedValue | None) -> Setting:
    def sets_it(setting: Setting) -> bool:
        return setting.value is not None and same_value(setting.value, value.text)

    if changed is not None and same_value(changed.value, value.text):
        kept = next((each for each in settings if each.ours and sets_it(each)), None)
        return kept or Setting(by=changed.by, value=changed.value, path=value.path)
    for setting in reversed(settings):
        if sets_it(setting):
            return setting
    if value.default is not None and same_value(value.default, value.text):
        return KERNEL
    unknown = next((each for each in reversed(settings) if each.value is None), None)
    if unknown is not None:
        return unknown
    return NOBODY  # the kernel's initial value and one written by hand look the same


def _at_boot(value: Value, settings: tuple[Setting, ...]) -> str | None:
    if not settings:
        return value.default
    last = settings[-1]
    if last.sure or last.value is None:
        return last.value
    rest = _at_boot(value, settings[:-1])
    agrees = rest is not None and last.value is not None and same_value(rest, last.value)
    return rest if agrees else None


def who_set(values: Iterable[tuple[str, Value]], main: Collection[str]) -> tuple[SetBy, ...]:
    """Return who has set the knobs of a row, the kernel first, and last those of which it is not known.

    Args:
        values: the knobs and their values.
        main: the knobs that the row shows. Others count where something has set them.
    """
    found: dict[tuple[By, str], dict[str, None]] = {}
    kernel = (KERNEL.by, KERNEL.words)
    for knob, value in values:
        by = value.set_by.by
        if knob in main or not (by is By.KERNEL or (by is By.UNKNOWN and value.default is None)):
            found.setdefault((by, value.set_by.words), {})[knob] = None
    found = found or {kernel: {}}
    ordered = sorted(found.items(), key=lambda each: (each[0] != kernel, each[0][0] is By.UNKNOWN))
    return tuple(SetBy(by=by, words=words, knobs=tuple(knobs)) for (by, words), knobs in ordered)


def who_set_words(setters: Sequence[SetBy]) -> str:
    """Return that in words: ``kernel``, ``kernel; queue_depth: 60-ssd.rules:1``."""
    if len(setters) == 1:
        return setters[0].words
    return "; ".join(
        each.words if each.by is By.KERNEL else f"{', '.join(each.knobs)}: {each.words}" for each in setters
    )
