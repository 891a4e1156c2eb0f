"""The ways back as rows of the guide: what each is called, and what Enter does with it. No widgets."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, assemble_way
from raidtui.features.rescue.records import RESHAPES, RescueArray, WayBack, WayCode
from raidtui.features.rescue.reshapes_halves_containers import find_container
from raidtui.features.rescue.trial.trial_members import needs_overlays
from raidtui.features.rescue.trial.trial_record import TrialMethod
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.assemble import start_methods, stopped_arrays

_WORDS: Mapping[WayCode, str] = {
    WayCode.COPY: "copy first",
    WayCode.BRING_BACK: "reconnect",
    WayCode.RESTORE_SIZE: "restore the size",
    WayCode.MAP: "map the partition",
    WayCode.LOOK: "look, read-only",
    WayCode.START: "start",
    WayCode.DEGRADED: "start degraded",
    WayCode.NO_BITMAP: "start, no bitmap",
    WayCode.LAYOUT_ALTERNATE: "layout of 3.14",
    WayCode.LAYOUT_ORIGINAL: "layout before 3.14",
    WayCode.CONTINUE: "continue reshape",
    WayCode.CONTINUE_WITHOUT: "reshape, no backup",
    WayCode.REVERT: "revert reshape",
    WayCode.TAKE_HALF: "take one half",
    WayCode.FORCE: "force",
    WayCode.SEARCH: "search",
    WayCode.REBUILD: "new superblocks",
}
_QUIET: Mapping[WayCode, str] = {
    WayCode.START: "start, read-only",
    WayCode.DEGRADED: "degraded, read-only",
}
_NORMAL, _READ_ONLY = ("normal", "degraded"), ("read-only", "degraded-read-only")
"""Start methods of raidtui.plans.assemble: of whole arrays, of degraded ones."""


class GuideRow(Struct, frozen=True, kw_only=True):
    """A way back as it is chosen.

    Args:
        key: of this row among the others.
        words: what it is called.
        plan: what is reviewed where it is chosen; None where it has no plan of its own.
        trial: what is tried before there is a plan; None where nothing is.
        method: how it is tried.
        search: the devices that are searched for a geometry; () for none.
        copy: the disks that are copied; () for none.
    """

    key: str
    words: str
    way: WayBack
    plan: Plan | None = None
    trial: Assembly | None = None
    method: TrialMethod = TrialMethod.OVERLAYS
    search: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()

    @property
    def enters(self) -> str:
        """What Enter does; "" for nothing."""
        if self.plan is not None:
            return "review the plan"
        if self.copy:
            return "choose where to"
        if self.search:
            return "search" if self.way.code is WayCode.SEARCH else "search first"
        return "try it" if self.trial is not None else ""

    @property
    def writes_word(self) -> str:
        """Whether it writes, in a word; a dash where it is not possible."""
        if not self.way.possible:
            return "–"
        return "yes" if self.way.writes else "nothing"


def guide_rows(array: RescueArray, survey: Survey) -> tuple[GuideRow, ...]:
    """Return the ways back of an array: those that are possible first, from harmless to drastic.

    Args:
        array: the array.
        survey: the host as far as it has been read.
    """
    rows: list[GuideRow] = []
    for way in array.ways:
        key = " ".join((way.code, *way.devices))
        if way.code in {WayCode.START, WayCode.DEGRADED} and (made := _container(way, array)):
            words = _WORDS[way.code]
            rows.append(GuideRow(key=key, words=words, way=way, trial=made, method=TrialMethod.READ_ONLY))
        elif way.code in {WayCode.START, WayCode.DEGRADED}:
            rows += _starts(way, array, survey)
        else:
            of = _words_of(way, array)
            row = GuideRow(key=key, words=of or _WORDS[way.code], way=way)
            if way.possible and way.code in {WayCode.SEARCH, WayCode.REBUILD}:
                row = replace(row, search=way.devices)
            if way.possible and way.code is WayCode.COPY:
                row = replace(row, copy=way.devices)
            rows.append(_tried(row, array) if way.possible and array.uuid else row)
    return tuple(sorted(rows, key=lambda row: not row.way.possible))


def _container(way: WayBack, array: RescueArray) -> Assembly | None:
    """Return how a container is tried; None where it is none, or that is not possible."""
    blocks = [each.superblock for each in array.members if each.superblock is not None]
    return find_container(way.devices, blocks, run=way.code is WayCode.DEGRADED) if way.possible else None


def _words_of(way: WayBack, array: RescueArray) -> str:
    """Return what a way is called where there are several of its kind: of which device it is."""
    if way.code is WayCode.TAKE_HALF:
        return f"take half of {way.devices[0]}"
    if way.code is WayCode.LOOK and len(way.devices) == 1 and len(array.members) > 1:
        return f"look at {way.devices[0]}"
    if way.code is WayCode.MAP:
        return f"map the partition of {way.devices[0]}"
    return ""


def _tried(row: GuideRow, array: RescueArray) -> GuideRow:
    """Return the row of a way with what is tried of it, if anything is."""
    way, reshapes = row.way, row.way.code in RESHAPES
    tried = {WayCode.LOOK, WayCode.TAKE_HALF, WayCode.FORCE, WayCode.NO_BITMAP}
    tried |= {WayCode.LAYOUT_ALTERNATE, WayCode.LAYOUT_ORIGINAL}
    if not reshapes and (way.code not in tried or not way.devices):
        return row
    blocks = {each.device: each.superblock for each in array.members if each.superblock is not None}
    own = {name: block for name, block in blocks.items() if name in way.devices}
    run = not reshapes or len(way.devices) < (array.raid_disks or 0)
    made = assemble_way(way.code, way.devices, array.uuid or "", own, run=run, backup=way.backup)
    stored = any(needs_overlays(each.superblock) for each in array.members)
    read_only = way.code is WayCode.LOOK and not stored
    return replace(row, trial=made, method=TrialMethod.READ_ONLY if read_only else TrialMethod.OVERLAYS)


def _starts(way: WayBack, array: RescueArray, survey: Survey) -> list[GuideRow]:
    """Return the rows of a start; where its plan is refused, the reason is the plan's."""
    words, run = _WORDS[way.code], way.code is WayCode.DEGRADED
    key = f"{way.code} {_NORMAL[run]}"
    stopped = next((each for each in stopped_arrays(survey) if each.block.uuid == array.uuid), None)
    if not way.possible or stopped is None:
        return [GuideRow(key=key, words=words, way=way)]
    methods = start_methods(replace(stopped, names=way.devices) if run else stopped, survey)
    found = {each.key: each for each in methods}
    rows = []
    for name, words_of in ((_READ_ONLY[run], _QUIET[way.code]), (_NORMAL[run], words)):
        method = found.get(name)
        if method is None:
            continue
        if isinstance(method.made, Refusal) and method.made.code is RefusalCode.NOT_HERE:
            return [GuideRow(key=key, words=words, way=way)]
        if isinstance(method.made, Refusal):
            refused = replace(way, why_not=method.made.sentence)
            return [GuideRow(key=key, words=words, way=refused)]
        own = replace(way, text=f"{way.text} {method.note}")
        writes = "what is in its log, to the members" if stopped.block.replays else ""
        own = replace(own, writes=writes) if name in _READ_ONLY else own
        rows.append(GuideRow(key=f"{way.code} {name}", words=words_of, way=own, plan=method.made))
    return rows or [GuideRow(key=key, words=words, way=way)]
