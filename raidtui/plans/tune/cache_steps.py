"""Knobs of LVM's caches: the commands that set them, and which values endanger data."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import Subject
from raidtui.model.plan import RunTool, Step


def danger_of(wishes: Iterable[tuple[Subject, str, str]]) -> str:
    """Return why a cache's new mode endangers data, a sentence for each; "" where none does.

    Args:
        wishes: a subject, a knob's name, and the new value.
    """
    return " ".join(
        "In writeback mode data are on the cache alone until they are written back, and"
        f" {subject.alone}: when the cache is lost, they are lost, and with them the file system."
        for subject, knob, after in wishes
        if (knob, after) == ("cache_mode", "writeback") and subject.alone
    )


_LVM = {"cache_mode": ("mode", "--cachemode"), "cache_policy": ("policy", "--cachepolicy")}
_SETTING_S, _WRITE_BACK_S = 120.0, 86_400.0


def lvm_step(subject: Subject, knob: str, text: str, why: str = "") -> Step:
    """Return the command that sets a knob of a cache of LVM; the kernel has to have the value after it.

    LVM writes back what is dirty while it takes the mode away from writeback, however long that takes.
    """
    value = subject.values[knob]
    key, option = _LVM.get(knob, (knob, "--cachesettings"))
    setting = text if knob in _LVM else f"{knob}={text}"
    return RunTool(
        argv=("lvchange", "--yes", option, setting, subject.title),
        sets=(value.path, text),
        why=why or f"{knob} {value.text} → {text}",
        timeout_s=_WRITE_BACK_S if knob == "cache_mode" else _SETTING_S,
        needs=subject.needs,
        proves=(Fact(kind=FactKind.CACHED, subject=subject.map, value=f"{key} {text}"),),
    )
