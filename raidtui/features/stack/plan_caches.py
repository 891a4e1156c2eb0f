"""Caches are written back, and removed: bcache by its files, LVM's dm-cache and dm-writecache by LVM.

Sources: Documentation/admin-guide/bcache.rst, drivers/md/bcache/writeback.c, lvmcache(7), lvconvert(8).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from raidtui.features.stack.plan_write_cache import CONVERT_S, detached, write_back_steps
from raidtui.host.block import BLOCK
from raidtui.host.stack.cache_facts import ANY_CACHE, NO_CACHE
from raidtui.model.fact import Fact, FactKind
from raidtui.model.knob import Subject
from raidtui.model.plan import NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step, WaitUntil, Write
from raidtui.model.snapshot import Snapshot
from raidtui.model.stack import CacheState, StackKind
from raidtui.plans.target import needs_root
from raidtui.plans.tune.now import write_step
from raidtui.view.units import KIB, binary_size

_THROUGH, _BACK = "writethrough", "writeback"
_AGAIN = "What is written afterwards may be on the cache alone again."
CachePlanner = Callable[[Snapshot, Subject], Plan | Refusal]


def plan_flush(snapshot: Snapshot, cache: Subject) -> Plan | Refusal:
    """Return the plan that writes back what is dirty; mode and pace are what they were afterwards.

    Args:
        snapshot: the present state.
        cache: the cache, as pane 4 has it.
    """
    if refusal := _refuse(snapshot, cache):
        return refusal
    if not _is_dirty(cache):
        return NothingToDo(why=f"nothing on the cache of {cache.title} is dirty")
    steps = _clean(cache)
    back = tuple(replace(undo, undo=()) for step in reversed(steps) for undo in step.undo)
    how_much = binary_size(_state(cache).dirty_bytes or 0)
    keeps = cache.kind == StackKind.WRITECACHE or _mode(cache) == _BACK
    return Plan(
        title=f"cache of {cache.title} written back",
        subject=cache.title,
        steps=(*steps, *back),
        notes=(f"{how_much} are dirty now.", *((_AGAIN,) if keeps else ())),
        rolls_back=True,
        devices=(cache.name,),
    )


def plan_detach(snapshot: Snapshot, cache: Subject, *, deletes: bool = False) -> Plan | Refusal:
    """Return the plan that takes a cache away, after what is dirty was written back.

    Args:
        snapshot: the present state.
        cache: the cache, as pane 4 has it.
        deletes: whether LVM also deletes the volume that the cache is on.
    """
    if refusal := _refuse(snapshot, cache):
        return refusal
    clean = _clean(cache)
    if cache.kind == StackKind.BCACHE:
        if deletes:
            return Refusal(
                code=RefusalCode.UNSUPPORTED,
                why=f"{cache.title} is a bcache: its cache device may serve others, and is not deleted",
                remedy="detach it without --delete",
            )
        last, notes = _bcache_detached(cache)
    else:
        found = _lvm_detached(cache, deletes=deletes)
        if isinstance(found, Refusal):
            return found
        last, notes = found
    what = "detached and deleted" if deletes else "detached"
    return Plan(
        title=f"cache of {cache.title} {what}",
        subject=cache.title,
        steps=(*clean, *last),
        notes=(*notes, "What was cached stays in use meanwhile: nothing needs to be unmounted."),
        rolls_back=True,
        devices=(cache.name,),
    )


def flush_and_detach(cache: Subject) -> tuple[tuple[str, str, CachePlanner], ...]:
    """Return (key, words, planner) of what can be done with a cache."""
    title = cache.title
    found: list[tuple[str, str, CachePlanner]] = [
        ("flush", f"write back what is dirty on the cache of {title}", plan_flush),
        ("detach", f"detach the cache of {title}", plan_detach),
    ]
    if cache.kind in {StackKind.CACHE, StackKind.WRITECACHE}:
        volume = f" and delete {cache.volume}" if cache.volume else " and delete its volume"
        found.append(("delete", f"detach the cache of {title}{volume}", partial(plan_detach, deletes=True)))
    return tuple(found)


def _refuse(snapshot: Snapshot, cache: Subject) -> Refusal | None:
    if refusal := needs_root(snapshot):
        return refusal
    state = _state(cache)
    if state.trouble or state.state == "inconsistent":
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"the cache of {cache.title} does not work: the kernel says {state.trouble or state.state}",
            remedy="see the kernel log: what is dirty on it may be lost",
        )
    if state.state == "no cache":
        return NothingToDo(why=f"{cache.title} has no cache")
    if cache.kind != StackKind.WRITECACHE and "cache_mode" not in cache.values:
        return Refusal(
            code=RefusalCode.UNKNOWN, why=f"the kernel does not say in which mode {cache.title} is"
        )
    if cache.kind != StackKind.BCACHE and state.dirty_bytes is None:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"dmsetup does not say what is dirty on {cache.title}")
    return None


def _state(cache: Subject) -> CacheState:
    return cache.cache or CacheState()


def _mode(cache: Subject) -> str:
    return cache.values["cache_mode"].text


def _is_dirty(cache: Subject) -> bool:
    state = _state(cache)
    return bool(state.dirty_bytes) or (cache.kind == StackKind.BCACHE and state.state != "clean")


def _set(cache: Subject, knob: str, text: str, why: str) -> Step:
    """Return a write with the write that undoes it."""
    now = cache.values[knob].text
    return replace(
        write_step(cache, knob, text, why),
        undo=(write_step(cache, knob, now, f"{knob} back to {now}"),),
    )


def _clean(cache: Subject) -> tuple[Step, ...]:
    """Return the steps after which nothing is dirty; no write is on the cache alone from the first one on."""
    if cache.kind == StackKind.WRITECACHE:
        return write_back_steps(cache)
    steps = []
    if _mode(cache) == _BACK:
        why = "writes go through to what is cached"
        if cache.map:
            why += "; LVM writes back what is dirty, and holds its group locked meanwhile"
        steps.append(_set(cache, "cache_mode", _THROUGH, why))
    if cache.kind == StackKind.BCACHE:
        percent = cache.values.get("writeback_percent")
        if percent is not None and percent.text != "0":
            steps.append(_set(cache, "writeback_percent", "0", "bcache writes back as fast as it can"))
        state = Fact(kind=FactKind.TEXT, subject=f"{BLOCK}/{cache.name}/bcache/state", value="clean")
        runs = Fact(kind=FactKind.TEXT, subject=f"{BLOCK}/{cache.name}/bcache/writeback_running", value="1")
        steps.append(_wait("bcache writes back what is dirty, after up to 30 s", state, (*cache.needs, runs)))
    elif _mode(cache) != _BACK and _is_dirty(cache):
        steps.append(_set(cache, "cache_policy", "cleaner", "the kernel writes back what is dirty"))
        policy = Fact(kind=FactKind.CACHED, subject=cache.map, value="policy cleaner")
        steps.append(_wait("the kernel writes back what is dirty", _undirty(cache), (*cache.needs, policy)))
    else:
        steps.append(_wait("the kernel writes back what is dirty", _undirty(cache), cache.needs))
    return tuple(steps)


def _undirty(cache: Subject) -> Fact:
    return Fact(kind=FactKind.CACHED, subject=cache.map, value="dirty 0")


def _wait(why: str, ends: Fact, lasts: tuple[Fact, ...]) -> Step:
    return WaitUntil(why=why, until=(ends,), as_long_as=lasts)


def _bcache_detached(cache: Subject) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    folder = f"{BLOCK}/{cache.name}/bcache"
    uuid = _state(cache).set_uuid
    attached = Write(
        path=f"{folder}/attach",
        text=uuid,
        why="the cache is attached again",
        needs=cache.needs,
    )
    steps: list[Step] = [
        Write(
            path=f"{folder}/detach",
            text="1",
            why="bcache serves without the cache device",
            needs=cache.needs,
            proves=(Fact(kind=FactKind.TEXT, subject=f"{folder}/state", value="no cache"),),
            undo=(attached,) if uuid else (),
        )
    ]
    percent = cache.values.get("writeback_percent")
    if percent is not None and percent.text != "0":
        steps.append(write_step(cache, "writeback_percent", percent.text, "as it was before"))
    notes = []
    if uuid:
        notes.append(f"To attach it again: echo {uuid} > {folder}/attach")
    notes.append(f"{cache.title} stays, without a cache; its cache device is still registered.")
    return tuple(steps), tuple(notes)


def _lvm_detached(cache: Subject, *, deletes: bool) -> tuple[tuple[Step, ...], tuple[str, ...]] | Refusal:
    title, volume = cache.title, cache.volume
    room = f"{volume or 'The volume of the cache'} is deleted; its room is free in the group."
    stays = f"{volume} stays, and caches nothing."
    if cache.kind == StackKind.WRITECACHE:
        found = detached(cache, deletes=deletes)
        return found if isinstance(found, Refusal) else ((found,), (room if deletes else stays,))
    gone = Fact(kind=FactKind.CACHED, subject=cache.map, value=NO_CACHE)
    needs = (*cache.needs, _undirty(cache))
    if deletes:
        step = RunTool(
            argv=("lvconvert", "--yes", "--uncache", title),
            why="LVM detaches the cache and deletes its volume, whose blocks are copies by now",
            timeout_s=CONVERT_S,
            needs=needs,
            proves=(gone,),
            final=True,
        )
        return (step,), (room,)
    if not volume:
        return Refusal(
            code=RefusalCode.UNKNOWN, why=f"it is not known which volume the cache of {title} is on"
        )
    step = RunTool(
        argv=("lvconvert", "--yes", "--splitcache", title),
        why=f"LVM detaches the cache; {volume} stays",
        timeout_s=CONVERT_S,
        needs=needs,
        proves=(gone,),
        undo=(_attached(cache),),
    )
    return (step,), (stays,)


def _attached(cache: Subject) -> Step:
    """Return the command that makes a volume the cache again; it is filled again.

    A cache that was never taken away is there, whatever its mode, which the first step's undo restores.
    """
    texts = {knob: value.text for knob, value in cache.values.items()}
    words = [
        "lvconvert",
        "--yes",
        "--type",
        "cache",
        "--cachepool" if cache.pooled else "--cachevol",
        cache.volume,
    ]
    words += ["--cachemode", texts["cache_mode"]]
    if policy := texts.get("cache_policy"):
        words += ["--cachepolicy", policy]
    if threshold := texts.get("migration_threshold"):
        words += ["--cachesettings", f"migration_threshold={threshold}"]
    if size := _state(cache).block_bytes:
        words += ["--chunksize", f"{size // KIB}k"]
    gone, attached = (
        Fact(kind=FactKind.CACHED, subject=cache.map, value=value) for value in (NO_CACHE, ANY_CACHE)
    )
    return RunTool(
        argv=(*words, cache.title),
        why="the volume caches again",
        timeout_s=CONVERT_S,
        needs=(*cache.needs, gone),
        proves=(attached,),
    )
