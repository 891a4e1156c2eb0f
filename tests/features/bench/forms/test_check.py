"""What is wrong in a form, field by field, and where a refusal belongs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.bench.forms.form import fields, filled, name_about, problem, request_of_draft
from raidtui.features.bench.forms.form_draft import OTHER, BenchDraft, FormKind
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.option_texts import FieldRefusal
from raidtui.model.plan import Refusal, RefusalCode
from tests.features.bench.forms.choices import KNOWN

OWN = BenchDraft(what="own", size="1g", path="/srv")
HERE = BenchDraft(path="/srv")
ARRAYS = BenchDraft(
    kind=FormKind.SWEEP, preset="random-read", where="scratch", scratch="sde,sdf", first="chunk"
)


def wrong(draft: BenchDraft, kind: FormKind = FormKind.RUN, known: HostChoices = KNOWN) -> dict[str, str]:
    """Return what is wrong, by the field's name."""
    said = {field.name: problem(draft, field) for field in fields(replace(draft, kind=kind), known)}
    return {name: sentence for name, sentence in said.items() if sentence}


@pytest.mark.parametrize(
    ("draft", "name", "sentence"),
    [
        (BenchDraft(what="own"), "size", "no size is given; give one: 500m, 4g"),
        (BenchDraft(what="own", size="4x"), "size", "4x is not a size; give it as 4k, 500m or 2g"),
        (
            BenchDraft(size="1m", folder="/"),
            "size",
            "a size of 1 MiB is smaller than a block of 19.5 MiB; choose a larger size",
        ),
        (
            replace(OWN, block="4k,5"),
            "block",
            "blocks of 5 bytes are not whole sectors; choose a multiple of 512",
        ),
        (replace(OWN, block="4k,x"), "block", "x is not a size; give it as 4k, 500m or 2g"),
        (replace(OWN, depth="1,deep"), "depth", "deep is not a number"),
        (replace(OWN, depth="99999"), "depth", "the depth must be between 1 and 65536, not 99999"),
        (replace(OWN, jobs="0"), "jobs", "the number of jobs must be between 1 and 1024, not 0"),
        (
            replace(OWN, rw="rw", read_percent="101"),
            "read_percent",
            "the percentage of reads must be between 0 and 100, not 101",
        ),
        (
            replace(OWN, places="zipf"),
            "places",
            "",
        ),
        (
            replace(OWN, places="flat"),
            "places",
            "'flat' is not a distribution; choose zipf:1.2, pareto:0.9 or normal:20",
        ),
        (replace(OWN, runtime="1", ramp="x"), "ramp", "x is not a number"),
        (replace(OWN, repeats="0"), "repeats", "the number of repeats must be between 1 and 5000, not 0"),
        (
            replace(OWN, cool="-1"),
            "cool",
            "the pause before each run in seconds must be between 0 and 86400, not -1",
        ),
        (BenchDraft(what="job"), "job", "no job file is given; give its path"),
        (BenchDraft(folder=OTHER), "path", "no folder is given; give an existing one: /srv/bench"),
        (
            BenchDraft(where="device", device="sde", preset="mixed"),
            "write",
            "random read and write overwrites what is on the device; choose yes, or a workload that reads",
        ),
        (
            BenchDraft(where="device", device="sda", write="yes"),
            "write",
            "sda is a member of data; choose no, or another device",
        ),
        (
            BenchDraft(where="scratch", folder="/"),
            "where",
            "scratch cannot be chosen here; choose files in a folder, a device",
        ),
        (BenchDraft(folder=""), "folder", "nothing is chosen; choose one with the arrow keys"),
        (BenchDraft(folder="/mnt"), "folder", ""),
    ],
)
def test_what_is_wrong_in_a_run(draft: BenchDraft, name: str, sentence: str) -> None:
    assert wrong(draft).get(name, "") == sentence


@pytest.mark.parametrize(
    ("draft", "kind", "name", "sentence"),
    [
        (
            BenchDraft(first="depth", values={"values depth": "8"}),
            "sweep",
            "values depth",
            "one value is not a sweep; give two or more",
        ),
        (
            BenchDraft(first="depth", values={"values depth": " , "}),
            "sweep",
            "values depth",
            "there is no value; give two or more",
        ),
        (
            BenchDraft(first="jobs", values={"values jobs": "2,4,2"}),
            "sweep",
            "values jobs",
            "2 is given twice; give each value once",
        ),
        (
            BenchDraft(first="block", values={"values block": "4k,7"}),
            "sweep",
            "values block",
            "blocks of 7 bytes are not whole sectors; choose a multiple of 512",
        ),
        (
            BenchDraft(knob="scheduler", values={"values scheduler": "none,cfq"}),
            "sweep",
            "values scheduler",
            "cfq cannot be used here; leave it out",
        ),
        (
            BenchDraft(first="chunk", folder="/"),
            "sweep",
            "first",
            "chunk cannot be chosen here; choose a knob, the block size, the depth, the number of jobs",
        ),
        (
            BenchDraft(first="depth", second="depth", values={"values depth": "1,2"}),
            "sweep",
            "second",
            "depth cannot be chosen here; choose nothing else, a knob, the block size, the number of jobs",
        ),
        (
            BenchDraft(second="knob", knob="bitmap", knob2="bitmap"),
            "sweep",
            "knob2",
            "bitmap cannot be chosen here; choose queue_depth, scheduler, governor, read_ahead_kb",
        ),
        (
            replace(ARRAYS, scratch="sde"),
            "sweep",
            "scratch",
            "an array needs at least two devices; select them with Space",
        ),
        (replace(ARRAYS, scratch="sde,sda"), "sweep", "scratch", "sda cannot be used here; leave it out"),
        (
            replace(ARRAYS, values={"values chunk": "one,x"}),
            "sweep",
            "values chunk",
            "x is not a size in KiB; give numbers, or one",
        ),
        (
            replace(ARRAYS, first="layout", chunk="16,32"),
            "sweep",
            "chunk",
            "there are several chunks; give one, or choose the chunk under changes",
        ),
        (replace(ARRAYS, member_size="5"), "sweep", "member_size", "5 is too small; give more: 10g"),
        (
            BenchDraft(first="depth", values={"A depth": "1", "B depth": "1"}),
            "ab",
            "B depth",
            "1 is already the value of A; give another value",
        ),
        (
            BenchDraft(first="depth", values={"A depth": "", "B depth": "1"}),
            "ab",
            "A depth",
            "there is no value; give one",
        ),
        (
            BenchDraft(first="depth", values={"A depth": "1,2", "B depth": "1"}),
            "ab",
            "A depth",
            "there are several values; give one, or choose a sweep",
        ),
        (
            BenchDraft(knob="bitmap", values={"A bitmap": "none", "B bitmap": "none"}),
            "ab",
            "B bitmap",
            "none is already the value of A; give another value",
        ),
    ],
)
def test_what_is_wrong_in_a_sweep(draft: BenchDraft, kind: str, name: str, sentence: str) -> None:
    assert wrong(draft, FormKind(kind)) == {name: sentence} | {
        each: text for each, text in wrong(draft, FormKind(kind)).items() if each != name
    }
    refusal = request_of_draft(filled(replace(draft, kind=FormKind(kind)), KNOWN), KNOWN)
    assert isinstance(refusal, Refusal)


def test_nothing_to_choose_from() -> None:
    bare = HostChoices()
    assert wrong(HERE, FormKind.SWEEP, bare) == {
        "knob": "no knob is chosen; choose something else under changes"
    }
    assert wrong(BenchDraft(where="device"), FormKind.RUN, bare)["device"] == (
        "no device is chosen; choose a folder, or a device"
    )
    assert wrong(replace(ARRAYS, scratch=""), FormKind.SWEEP, bare)["scratch"] == (
        "an array needs at least two devices; select them with Space"
    )
    assert wrong(HERE, FormKind.RUN, bare) == {}


def test_the_first_thing_that_is_wrong_is_reported() -> None:
    assert request_of_draft(replace(OWN, size="x", depth="y")) == FieldRefusal(
        code=RefusalCode.INVALID, part="size", why="size: x is not a size", remedy="give it as 4k, 500m or 2g"
    )


@pytest.mark.parametrize(
    ("part", "draft", "kind", "name"),
    [
        ("size_bytes", BenchDraft(), FormKind.RUN, "size"),
        ("directory", BenchDraft(folder="/"), FormKind.RUN, "folder"),
        ("directory", BenchDraft(folder=OTHER), FormKind.RUN, "path"),
        ("directory", BenchDraft(where="device"), FormKind.RUN, "where"),
        ("queue_depth", BenchDraft(knob="queue_depth"), FormKind.SWEEP, "values queue_depth"),
        ("queue_depth", BenchDraft(knob="queue_depth"), FormKind.AB, "B queue_depth"),
        ("blocks", BenchDraft(), FormKind.RUN, "block"),
        ("chunks", ARRAYS, FormKind.SWEEP, "values chunk"),
        ("scratch", ARRAYS, FormKind.SWEEP, "scratch"),
        ("job_file", BenchDraft(what="job"), FormKind.RUN, "job"),
        ("work", BenchDraft(what="job"), FormKind.RUN, ""),
    ],
)
def test_where_a_refusal_belongs(part: str, draft: BenchDraft, kind: FormKind, name: str) -> None:
    assert name_about(part, replace(draft, kind=kind), KNOWN) == name
