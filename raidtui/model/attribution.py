"""Who has set a knob, and what it will be after a reboot: concluded, never guessed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from raidtui.model.knob import KERNEL, NOBODY, By, ChangedValue, Setting, Value, same_value

SetBy = tuple[str, tuple[str, ...]]
"""Who has set knobs, in a few words, and which."""


def attributed(value: Value, settings: Sequence[Setting], changed: ChangedValue | None = None) -> Value:
    """Return a value with what can be told of who set it and what a reboot will leave.

    Args:
        value: as it was read.
        settings: all that sets this knob of this subject.
        changed: what raidtui wrote to it since the boot.
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
    """Of tuned, "schedutil|ondemand" is the first that is there, and ">4096" a least value."""
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
    def says_so(setting: Setting) -> bool:
        return setting.value is not None and same_value(setting.value, value.text)

    if changed is not None and same_value(changed.value, value.text):
        kept = next((each for each in settings if each.ours and says_so(each)), None)
        return kept or Setting(by=changed.by, value=changed.value, path=value.path)
    for setting in reversed(settings):
        if says_so(setting):
            return setting
    if value.default is not None and same_value(value.default, value.text):
        return KERNEL
    untold = next((each for each in reversed(settings) if each.value is None), None)
    if untold is not None:
        return untold
    return NOBODY  # what the kernel began with, or what somebody wrote by hand: both look the same


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
    """Return who has set the knobs of a row, a few words each, with the knobs; the kernel first.

    Args:
        values: the knobs and their values.
        main: the knobs that the row is about. Of the others those count that something has set. What cannot
            be told counts where nothing of the row is told to be the kernel's.
    """
    found: dict[str, dict[str, None]] = {}
    untold: dict[str, None] = {}
    for knob, value in values:
        by = value.set_by.by
        if by is By.UNKNOWN and value.default is None:
            if knob in main:
                untold[knob] = None
        elif knob in main or by is not By.KERNEL:
            found.setdefault(value.set_by.words, {})[knob] = None
    if untold and KERNEL.words not in found:
        found[NOBODY.words] = {**found.get(NOBODY.words, {}), **untold}
    found = found or {KERNEL.words: {}}
    first = sorted(found, key=lambda words: words != KERNEL.words)
    return tuple((words, tuple(found[words])) for words in first)


def who_set_words(setters: Sequence[SetBy]) -> str:
    """Return that in words: ``kernel``, ``kernel; queue_depth: 60-ssd.rules:1``."""
    if len(setters) == 1:
        return setters[0][0]
    parts = (words if words == KERNEL.words else f"{', '.join(knobs)}: {words}" for words, knobs in setters)
    return "; ".join(parts)
