"""What is wrong in a form, field by field, and where a refusal belongs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.bench.forms.draft import (
    OTHER,
    Draft,
    Kind,
    fields,
    filled,
    name_about,
    problem,
    request_of_draft,
)
from raidtui.bench.forms.known import Known
from raidtui.model.plan import Refusal, RefusalCode
from tests.bench.forms.choices import KNOWN

OWN = Draft(what="own", size="1g", path="/srv")
HERE = Draft(path="/srv")
ARRAYS = Draft(preset="random-read", where="scratch", scratch="sde,sdf", first="chunk")


def wrong(draft: Draft, kind: Kind = Kind.RUN, known: Known = KNOWN) -> dict[str, str]:
    """Return what is wrong, by the field's name."""
    said = {field.name: problem(draft, field) for field in fields(draft, kind, known)}
    return {name: sentence for name, sentence in said.items() if sentence}


@pytest.mark.parametrize(
    ("draft", "name", "sentence"),
    [
        (Draft(what="own"), "size", "there is no size; give one: 500m, 4g"),
        (Draft(what="own", size="4x"), "size", "4x is no size; give it as 4k, 500m or 2g"),
        (
            Draft(size="1m", folder="/"),
            "size",
            "a size of 1 MiB has no block of 19.5 MiB; choose a larger size",
        ),
        (
            replace(OWN, block="4k,5"),
            "block",
            "blocks of 5 bytes are no whole sectors; choose a multiple of 512",
        ),
        (replace(OWN, block="4k,x"), "block", "x is no size; give it as 4k, 500m or 2g"),
        (replace(OWN, depth="1,deep"), "depth", "deep is no number"),
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
            "'flat' is no distribution; choose zipf:1.2, pareto:0.9 or normal:20",
        ),
        (replace(OWN, runtime="1", ramp="x"), "ramp", "x is no number"),
        (replace(OWN, repeats="0"), "repeats", "0 is not possible; give a number between 1 and 5000"),
        (replace(OWN, cool="-1"), "cool", "-1 is not possible; give a number between 0 and 86400"),
        (Draft(what="job"), "job", "no job file is named; give its path"),
        (Draft(folder=OTHER), "path", "no folder is named; give one that is there: /srv/bench"),
        (
            Draft(where="device", device="sde", preset="mixed"),
            "write",
            "random read and write overwrites what is on the device; choose yes, or a workload that reads",
        ),
        (
            Draft(where="device", device="sda", write="yes"),
            "write",
            "sda is a member of data; choose no, or another device",
        ),
        (
            Draft(where="scratch", folder="/"),
            "where",
            "scratch cannot be chosen here; choose files in a folder, a device",
        ),
        (Draft(folder=""), "folder", "nothing is chosen; choose one with the arrow keys"),
        (Draft(folder="/mnt"), "folder", ""),
    ],
)
def test_what_is_wrong_in_a_run(draft: Draft, name: str, sentence: str) -> None:
    assert wrong(draft).get(name, "") == sentence


@pytest.mark.parametrize(
    ("draft", "kind", "name", "sentence"),
    [
        (
            Draft(first="depth", values={"values depth": "8"}),
            "sweep",
            "values depth",
            "one value is no sweep; give two or more",
        ),
        (
            Draft(first="depth", values={"values depth": " , "}),
            "sweep",
            "values depth",
            "there is no value; give two or more",
        ),
        (
            Draft(first="jobs", values={"values jobs": "2,4,2"}),
            "sweep",
            "values jobs",
            "2 is there twice; give each value once",
        ),
        (
            Draft(first="block", values={"values block": "4k,7"}),
            "sweep",
            "values block",
            "blocks of 7 bytes are no whole sectors; choose a multiple of 512",
        ),
        (
            Draft(knob="scheduler", values={"values scheduler": "none,cfq"}),
            "sweep",
            "values scheduler",
            "cfq cannot be taken here; leave it out",
        ),
        (
            Draft(first="chunk", folder="/"),
            "sweep",
            "first",
            "chunk cannot be chosen here; choose a knob, the block size, the depth, the number of jobs",
        ),
        (
            Draft(first="depth", second="depth", values={"values depth": "1,2"}),
            "sweep",
            "second",
            "depth cannot be chosen here; choose nothing else, a knob, the block size, the number of jobs",
        ),
        (
            Draft(second="knob", knob="bitmap", knob2="bitmap"),
            "sweep",
            "knob2",
            "bitmap cannot be chosen here; choose queue_depth, scheduler, governor, read_ahead_kb",
        ),
        (
            replace(ARRAYS, scratch="sde"),
            "sweep",
            "scratch",
            "an array wants two devices at least; take them with Space",
        ),
        (replace(ARRAYS, scratch="sde,sda"), "sweep", "scratch", "sda cannot be taken here; leave it out"),
        (
            replace(ARRAYS, values={"values chunk": "one,x"}),
            "sweep",
            "values chunk",
            "x is no size in KiB; give numbers, or one",
        ),
        (
            replace(ARRAYS, first="layout", chunk="16,32"),
            "sweep",
            "chunk",
            "there are several chunks; give one, or choose the chunk as what changes",
        ),
        (replace(ARRAYS, member_size="5"), "sweep", "member_size", "5 is too little; give more: 10g"),
        (
            Draft(first="depth", values={"A depth": "1", "B depth": "1"}),
            "ab",
            "B depth",
            "1 is A already; give another value",
        ),
        (
            Draft(first="depth", values={"A depth": "", "B depth": "1"}),
            "ab",
            "A depth",
            "there is no value; give one",
        ),
        (
            Draft(first="depth", values={"A depth": "1,2", "B depth": "1"}),
            "ab",
            "A depth",
            "there are several values; give one, or choose a sweep",
        ),
        (
            Draft(knob="bitmap", values={"A bitmap": "none", "B bitmap": "none"}),
            "ab",
            "B bitmap",
            "none is A already; give another value",
        ),
    ],
)
def test_what_is_wrong_in_a_sweep(draft: Draft, kind: str, name: str, sentence: str) -> None:
    assert wrong(draft, Kind(kind)) == {name: sentence} | {
        each: text for each, text in wrong(draft, Kind(kind)).items() if each != name
    }
    refusal = request_of_draft(filled(draft, Kind(kind), KNOWN), Kind(kind), KNOWN)
    assert isinstance(refusal, Refusal)


def test_nothing_to_choose_from() -> None:
    bare = Known()
    assert wrong(HERE, Kind.SWEEP, bare) == {"knob": "no knob is chosen; choose another thing that changes"}
    assert wrong(Draft(where="device"), Kind.RUN, bare)["device"] == (
        "no device is chosen; choose a folder, or a device"
    )
    assert wrong(replace(ARRAYS, scratch=""), Kind.SWEEP, bare)["scratch"] == (
        "an array wants two devices at least; take them with Space"
    )
    assert wrong(HERE, Kind.RUN, bare) == {}


def test_the_first_thing_that_is_wrong_is_told() -> None:
    assert request_of_draft(replace(OWN, size="x", depth="y"), Kind.RUN) == Refusal(
        code=RefusalCode.INVALID, why="size: x is no size", remedy="give it as 4k, 500m or 2g"
    )


@pytest.mark.parametrize(
    ("part", "draft", "kind", "name"),
    [
        ("size_bytes", Draft(), Kind.RUN, "size"),
        ("directory", Draft(folder="/"), Kind.RUN, "folder"),
        ("directory", Draft(folder=OTHER), Kind.RUN, "path"),
        ("directory", Draft(where="device"), Kind.RUN, "where"),
        ("queue_depth", Draft(knob="queue_depth"), Kind.SWEEP, "values queue_depth"),
        ("queue_depth", Draft(knob="queue_depth"), Kind.AB, "B queue_depth"),
        ("blocks", Draft(), Kind.RUN, "block"),
        ("chunks", ARRAYS, Kind.SWEEP, "values chunk"),
        ("scratch", ARRAYS, Kind.SWEEP, "scratch"),
        ("job_file", Draft(what="job"), Kind.RUN, "job"),
        ("work", Draft(what="job"), Kind.RUN, ""),
    ],
)
def test_where_a_refusal_belongs(part: str, draft: Draft, kind: Kind, name: str) -> None:
    assert name_about(part, draft, kind, KNOWN) == name
