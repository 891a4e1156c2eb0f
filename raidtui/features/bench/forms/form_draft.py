"""The contents of a benchmark's form, all of it text, so that nothing that was typed is lost. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.request import sweep_values
from raidtui.features.bench.workload import Preset, Workload, find_preset, parse_size
from raidtui.view.units import KIB

PRESET, JOB, OWN = "preset", "job", "own"
"""What is measured."""
FOLDER, DEVICE, SCRATCH = "folder", "device", "scratch"
"""Where."""
KNOB, NOTHING = "knob", "nothing"
"""What differs between runs, besides block, depth, jobs, and of arrays chunk, layout and level."""
OF_WORK = ("block", "depth", "jobs")
OF_ARRAY = ("chunk", "layout", "level")
LEVELS = ("raid10", "raid1", "raid0", "raid5", "raid6", "raid4")
OTHER = "another folder"
YES, NO = "yes", "no"


class FormKind(StrEnum):
    """Which form it is."""

    RUN = "run"
    SWEEP = "sweep"
    AB = "ab"


_PRESETS = {FormKind.RUN: "random-read", FormKind.SWEEP: "mixed", FormKind.AB: "mixed"}
REPEATS = {FormKind.RUN: "1", FormKind.SWEEP: "6", FormKind.AB: "6"}
"""The default. Four against four runs can decide at 97 %, three against three at 90 %."""


class BenchDraft(Struct, frozen=True, kw_only=True):
    """A form, filled in or not. "" is what is usual; what matters in one kind of form alone waits in others.

    Args:
        what: PRESET, JOB or OWN.
        job: a job file's path.
        block, depth, jobs: one value, or several with commas.
        size: of each job's file, or of a device's part.
        runtime, ramp, cool: seconds.
        places: fio's distribution of random places.
        where: FOLDER, DEVICE or SCRATCH.
        folder: a known one, or OTHER: then ``path`` is it.
        write: whether the device may be overwritten.
        scratch: kernel names with commas, in the order in which they were taken.
        member_size: a size.
        first, second: what differs between runs: KNOB, NOTHING, or one of OF_WORK and OF_ARRAY.
        knob, knob2: which one, where ``first`` or ``second`` is KNOB.
        values: all values of axes so far, by "values depth", or "A depth" and "B depth".
        details: whether all fields are shown.
    """

    what: str = PRESET
    preset: str = ""
    job: str = ""
    rw: str = "randread"
    block: str = ""
    size: str = ""
    depth: str = ""
    jobs: str = ""
    runtime: str = ""
    ramp: str = ""
    engine: str = ""
    read_percent: str = ""
    places: str = ""
    cache: str = NO
    where: str = FOLDER
    folder: str = ""
    path: str = ""
    device: str = ""
    write: str = NO
    scratch: str = ""
    level: str = "raid10"
    layout: str = ""
    chunk: str = ""
    member_size: str = ""
    first: str = KNOB
    second: str = NOTHING
    knob: str = ""
    knob2: str = ""
    values: dict[str, str] = {}
    repeats: str = ""
    grouped: str = NO
    trim: str = NO
    cool: str = ""
    precondition: str = ""
    steady: str = NO
    quiet: str = YES
    details: str = NO
    note: str = ""


def text_of(draft: BenchDraft, name: str) -> str:
    """Return the text of a field."""
    return draft.values.get(name, "") if " " in name else str(getattr(draft, name))


def with_text(draft: BenchDraft, name: str, text: str) -> BenchDraft:
    """Return the draft with another text in a field."""
    if " " in name:
        return replace(draft, values={**draft.values, name: text})
    return replace(draft, **{name: text})


def preset_of(draft: BenchDraft, kind: FormKind) -> Preset | None:
    """Return the preset that is chosen; None where none is."""
    if draft.what in {JOB, OWN}:
        return None
    return find_preset(draft.preset) or find_preset(_PRESETS[kind])


def axes_of(draft: BenchDraft, kind: FormKind) -> tuple[str, ...]:
    """Return what differs between runs: block, chunk and so on, or a knob's name, "" for none yet."""
    if kind is FormKind.RUN:
        return ()
    first = draft.knob if draft.first == KNOB else draft.first
    if kind is FormKind.AB or draft.second == NOTHING:
        return (first,)
    return (first, draft.knob2 if draft.second == KNOB else draft.second)


def values_of(draft: BenchDraft, kind: FormKind, axis: str) -> str:
    """Return the values of an axis, separated by commas."""
    if kind is FormKind.AB:
        return ",".join(text_of(draft, f"{side} {axis}").strip() for side in "AB")
    return text_of(draft, f"values {axis}")


def levels_of(draft: BenchDraft, kind: FormKind) -> tuple[str, ...]:
    """Return the levels of the scratch arrays."""
    return sweep_values(values_of(draft, kind, "level") if "level" in axes_of(draft, kind) else draft.level)


def work_of(draft: BenchDraft, kind: FormKind) -> Workload | None:
    """Return the workload that the other fields change; None of a job file."""
    if draft.what == JOB:
        return None
    if (preset := preset_of(draft, kind)) is not None:
        return preset.work
    size = parse_size(draft.size) or 1 << 50
    return Workload(rw=draft.rw, block_bytes=4 * KIB, size_bytes=size)


def directory_of(draft: BenchDraft) -> str:
    """Return the folder that is meant; "" where none is."""
    return draft.folder if draft.folder not in {"", OTHER} else draft.path.strip()


class FormPart(StrEnum):
    """The parts of a form, from the top."""

    WHAT = "what"
    CHANGES = "changes"
    WHERE = "where"
    HOW = "how"


class FormChoice(Struct, frozen=True, kw_only=True):
    """Something that can be chosen.

    Args:
        key: its text in the draft.
        note: what there is to know of it.
        refusal: why it cannot be chosen now; "" where it can.
    """

    key: str
    words: str
    note: str = ""
    refusal: str = ""


class FormField(Struct, frozen=True, kw_only=True):
    """A field of a form.

    Args:
        name: as ``text_of`` takes it.
        axis: what differs between runs, where this holds its values: depth, queue_depth; else "".
        side: A or B, where it is one of two values of ``axis``; else "".
        of: the form.
        label: a word or two.
        hint: an explanation, one or two sentences.
        picks: the choices; empty for a text field.
        several: whether more than one pick can be taken; the draft has them separated by commas.
        usual: what holds where nothing is typed, in words; "" where something must be.
        unit: of the number.
    """

    name: str
    of: FormKind
    part: FormPart
    label: str
    hint: str
    axis: str = ""
    side: str = ""
    picks: tuple[FormChoice, ...] = ()
    several: bool = False
    usual: str = ""
    unit: str = ""

    @property
    def typed(self) -> bool:
        """Whether it is a text that is typed."""
        return not self.picks and not self.several

    def pick(self, key: str) -> FormChoice | None:
        """Return the pick with this key."""
        return next((each for each in self.picks if each.key == key), None)


class FieldMaker:
    """Makes the fields of one part of a form."""

    def __init__(self, of: FormKind, part: FormPart) -> None:
        self.of = of
        self._part = part

    def __call__(
        self,
        name: str,
        label: str,
        hint: str,
        picks: Iterable[FormChoice] = (),
        *,
        usual: str = "",
        unit: str = "",
        several: bool = False,
        axis: str = "",
        side: str = "",
    ) -> FormField:
        """Return a field, see ``FormField``."""
        return FormField(
            name=name,
            axis=axis,
            side=side,
            of=self.of,
            part=self._part,
            label=label,
            hint=hint,
            picks=tuple(picks),
            usual=usual,
            unit=unit,
            several=several,
        )


def choices_of(*pairs: tuple[str, str]) -> tuple[FormChoice, ...]:
    """Return picks of (key, words)."""
    return tuple(FormChoice(key=key, words=words) for key, words in pairs)
