"""The contents of a benchmark's form, all of it text, so that nothing that was typed is lost. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import parse_size
from raidtui.features.bench.workload import Preset, Workload, find_preset
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
        kind: which form it is.
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

    kind: FormKind = FormKind.RUN
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

    def text(self, name: str) -> str:
        """Return the text of a field."""
        return self.values.get(name, "") if " " in name else str(getattr(self, name))

    def with_text(self, name: str, text: str) -> BenchDraft:
        """Return the draft with another text in a field."""
        if " " in name:
            return replace(self, values={**self.values, name: text})
        return replace(self, **{name: text})

    @property
    def chosen_preset(self) -> Preset | None:
        """The preset that is chosen; None where none is."""
        if self.what in {JOB, OWN}:
            return None
        return find_preset(self.preset) or find_preset(_PRESETS[self.kind])

    @property
    def axes(self) -> tuple[str, ...]:
        """What differs between runs: block, chunk and so on, or a knob's name, "" for none yet."""
        if self.kind is FormKind.RUN:
            return ()
        first = self.knob if self.first == KNOB else self.first
        if self.kind is FormKind.AB or self.second == NOTHING:
            return (first,)
        return (first, self.knob2 if self.second == KNOB else self.second)

    def values_of(self, name: str) -> str:
        """Return the values of an axis or, where it is none, the text of that field, separated by commas."""
        if name not in self.axes:
            return self.text(name)
        if self.kind is FormKind.AB:
            return ",".join(self.text(f"{side} {name}").strip() for side in "AB")
        return self.text(f"values {name}")

    @property
    def work(self) -> Workload | None:
        """The workload that the other fields change; None of a job file."""
        if self.what == JOB:
            return None
        if (preset := self.chosen_preset) is not None:
            return preset.work
        size = parse_size(self.size) or 1 << 50
        return Workload(rw=self.rw, block_bytes=4 * KIB, size_bytes=size)

    @property
    def directory(self) -> str:
        """The folder that is meant; "" where none is."""
        return self.folder if self.folder not in {"", OTHER} else self.path.strip()


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


class FormField(Struct, frozen=True):
    """A field of a form.

    Args:
        name: as ``BenchDraft.text`` takes it.
        label: a word or two.
        hint: an explanation, one or two sentences.
        picks: the choices; empty for a text field.
        part: where in the form it is.
        several: whether more than one pick can be taken; the draft has them separated by commas.
        usual: what holds where nothing is typed, in words; "" where something must be.
        unit: of the number.
        axis: what differs between runs, where this holds its values: depth, queue_depth; else "".
        side: A or B, where it is one of two values of ``axis``; else "".
    """

    name: str
    label: str
    hint: str
    picks: tuple[FormChoice, ...] = ()
    part: FormPart = FormPart.WHAT
    several: bool = False
    usual: str = ""
    unit: str = ""
    axis: str = ""
    side: str = ""

    @property
    def typed(self) -> bool:
        """Whether it is a text that is typed."""
        return not self.picks and not self.several

    def pick(self, key: str) -> FormChoice | None:
        """Return the pick with this key."""
        return next((each for each in self.picks if each.key == key), None)


def choices_of(*pairs: tuple[str, str]) -> tuple[FormChoice, ...]:
    """Return picks of (key, words)."""
    return tuple(FormChoice(key=key, words=words) for key, words in pairs)
