"""Who has set a knob, and what it will be after a reboot: concluded, never guessed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from raidtui.model.knob import KERNEL, NOBODY, By, Changed, Setting, Value, same_value


def attributed(value: Value, settings: Sequence[Setting], changed: Changed | None = None) -> Value:
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
    before = changed.before if changed is not None else value.text
    return replace(
        value,
        set_by=_set_by(value, ordered, changed),
        others=ordered,
        at_boot=_at_boot(value, ordered, before),
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


def _set_by(value: Value, settings: tuple[Setting, ...], changed: Changed | None) -> Setting:
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
    return KERNEL if value.default is None and not settings else NOBODY


def _at_boot(value: Value, settings: tuple[Setting, ...], before: str) -> str | None:
    if not settings:
        return value.default if value.default is not None else before
    last = settings[-1]
    if last.sure or last.value is None:
        return last.value
    rest = _at_boot(value, settings[:-1], before)
    agrees = rest is not None and last.value is not None and same_value(rest, last.value)
    return rest if agrees else None
