"""A dm-writecache of LVM is written back, and removed.

LVM's setting ``cleaner`` lets nothing new into the cache and writes back what is in it. ``lvconvert`` sets it
by itself, but waits for it in its own process, so that the plan does it before, in steps that can be undone.

Sources: lvmcache(7), Documentation/admin-guide/device-mapper/writecache.rst.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.host.stack.cache_facts import NO_CACHE
from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import Subject
from raidtui.model.plan import Refusal, RefusalCode, RunTool, Step, WaitUntil

_SETTING_S, CONVERT_S = 120.0, 86_400.0


def write_back_steps(cache: Subject) -> tuple[Step, ...]:
    """Return the steps after which nothing is on the cache alone; the first one is undone by its undo."""
    cleans = replace(_cleaner(cache, on=True), undo=(_cleaner(cache, on=False),))
    wait = WaitUntil(
        why="the kernel writes back what is on the cache",
        until=(_fact(cache, "held 0"),),
        as_long_as=(*cache.needs, _fact(cache, "cleaner yes")),
    )
    return cleans, wait


def _cleaner(cache: Subject, *, on: bool) -> Step:
    return RunTool(
        argv=("lvchange", "--yes", "--cachesettings", f"cleaner={int(on)}", cache.title),
        why="nothing new is cached" if on else "it caches again",
        timeout_s=_SETTING_S,
        needs=cache.needs,
        proves=(_fact(cache, f"cleaner {'yes' if on else 'no'}"),),
    )


def _fact(cache: Subject, value: str) -> Fact:
    return Fact(kind=FactKind.CACHED, subject=cache.map, value=value)


def detached(cache: Subject, *, deletes: bool) -> Step | Refusal:
    """Return the step that takes the cache away, once nothing is on it alone.

    Args:
        cache: the cache, as pane 4 has it.
        deletes: whether LVM also deletes the volume that the cache is on.
    """
    if not cache.volume:
        return Refusal(
            code=RefusalCode.UNKNOWN, why=f"it is not known which volume the cache of {cache.title} is on"
        )
    step = RunTool(
        argv=("lvconvert", "--yes", "--uncache" if deletes else "--splitcache", cache.title),
        why="LVM detaches the cache and deletes its volume, on which nothing is left"
        if deletes
        else f"LVM detaches the cache; {cache.volume} stays",
        timeout_s=CONVERT_S,
        needs=(*cache.needs, _fact(cache, "held 0")),
        proves=(_fact(cache, NO_CACHE),),
    )
    return replace(step, final=True) if deletes else replace(step, undo=(_attached(cache),))


def _attached(cache: Subject) -> Step:
    """Return the command that makes the volume the cache again, with the settings that it has now."""
    state = cache.cache
    settings = [*(state.settings if state is not None else ())]
    if state is not None and state.block_bytes:
        settings.insert(0, f"block_size={state.block_bytes}")  # else LVM guesses, and may guess too much
    given = ("--cachesettings", " ".join(settings)) if settings else ()
    return RunTool(
        argv=(
            *("lvconvert", "--yes", "--type", "writecache", "--cachevol", cache.volume),
            *given,
            cache.title,
        ),
        why="the volume caches again",
        timeout_s=CONVERT_S,
        needs=(*cache.needs, _fact(cache, NO_CACHE)),
        proves=(_fact(cache, "mode writeback"),),
    )
