"""The forms as they are filled in: what is asked for, what is wrong, and that they ask as the options do."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields as struct_fields
from msgspec.structs import replace

from raidtui.app.cli import build_parser
from raidtui.features.bench.cli_run import request_of
from raidtui.features.bench.forms.form import fields, filled, meaning, overwritten, problem, request_of_draft
from raidtui.features.bench.forms.form_draft import OTHER, BenchDraft, FormKind
from raidtui.features.bench.forms.known import HostChoices
from raidtui.features.bench.request import Request
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.workload import ENGINES, KINDS_OF_IO, PRESETS
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.knob_table import KNOBS
from tests.features.bench.forms.choices import KNOWN

MIB = 1 << 20
OWN = BenchDraft(what="own", size="1g", path="/srv")
HERE = BenchDraft(path="/srv")
ARRAYS = BenchDraft(
    kind=FormKind.SWEEP, preset="random-read", where="scratch", scratch="sde,sdf", first="chunk"
)


def names(draft: BenchDraft, kind: FormKind, known: HostChoices = KNOWN) -> list[str]:
    return [field.name for field in fields(filled(replace(draft, kind=kind), known), known)]


def asked(draft: BenchDraft, kind: FormKind = FormKind.RUN, known: HostChoices = KNOWN) -> Request:
    found = request_of_draft(filled(replace(draft, kind=kind), known), known)
    assert isinstance(found, Request), found
    return found


def typed(*words: str) -> Request:
    """Return what the command line makes of words."""
    return request_of(MemoryReader({}), build_parser().parse_args(["bench", *words]))


# -- which fields


def test_fields_of_a_run() -> None:
    assert names(BenchDraft(folder="/srv/data"), FormKind.RUN) == [
        *("what", "preset", "block", "size", "depth", "jobs", "runtime", "where", "folder"),
        *("repeats", "trim", "cool", "precondition", "steady", "quiet", "details", "note"),
    ]


@pytest.mark.parametrize(
    ("draft", "kind", "more", "less"),
    [
        (BenchDraft(what="own", rw="randrw"), FormKind.RUN, {"rw", "read_percent"}, {"preset"}),
        (BenchDraft(what="own", rw="randread"), FormKind.RUN, set(), {"read_percent"}),
        (BenchDraft(preset="mixed"), FormKind.RUN, set(), {"read_percent"}),
        (
            BenchDraft(preset="mixed", details="yes"),
            FormKind.RUN,
            {"read_percent", "engine", "places", "cache"},
            {"ramp"},
        ),
        (BenchDraft(preset="hot-spots", details="yes"), FormKind.RUN, {"ramp", "places"}, {"read_percent"}),
        (BenchDraft(folder="/mnt"), FormKind.RUN, {"folder"}, {"path"}),
        (BenchDraft(path="/mnt"), FormKind.RUN, {"folder", "path"}, set()),
        (BenchDraft(preset="stream-read", details="yes", runtime="9"), FormKind.RUN, {"ramp"}, {"places"}),
        (BenchDraft(engine="io_uring"), FormKind.RUN, {"engine"}, {"cache"}),
        (
            BenchDraft(what="job"),
            FormKind.RUN,
            {"job", "trim"},
            {"block", "size", "precondition", "details", "rw"},
        ),
        (BenchDraft(folder=OTHER), FormKind.RUN, {"folder", "path"}, set()),
        (
            BenchDraft(where="device", device="sde"),
            FormKind.RUN,
            {"device", "write"},
            {"trim", "precondition", "path"},
        ),
        (
            BenchDraft(where="device", device="sde", write="yes"),
            FormKind.RUN,
            {"trim", "precondition"},
            {"folder"},
        ),
        (BenchDraft(steady="yes"), FormKind.SWEEP, {"steady"}, {"repeats", "grouped"}),
        (
            BenchDraft(knob="scheduler"),
            FormKind.SWEEP,
            {"values scheduler", "second", "grouped"},
            {"A scheduler"},
        ),
        (BenchDraft(first="depth"), FormKind.SWEEP, {"values depth", "jobs"}, {"depth", "knob"}),
        (
            BenchDraft(first="depth", second="block"),
            FormKind.SWEEP,
            {"values depth", "values block"},
            {"block", "depth"},
        ),
        (
            BenchDraft(first="depth"),
            FormKind.AB,
            {"A depth", "B depth"},
            {"second", "grouped", "values depth"},
        ),
        (
            ARRAYS,
            FormKind.SWEEP,
            {"values chunk", "scratch", "level", "layout", "member_size"},
            {"chunk", "folder"},
        ),
        (replace(ARRAYS, first="level"), FormKind.SWEEP, {"values level", "chunk"}, {"level", "layout"}),
        (replace(ARRAYS, first="jobs", level="raid1"), FormKind.SWEEP, {"level"}, {"layout", "chunk"}),
    ],
)
def test_what_does_not_matter_is_not_asked_for(
    draft: BenchDraft, kind: FormKind, more: set[str], less: set[str]
) -> None:
    found = set(names(draft, kind))
    assert more <= found
    assert not less & found


def test_what_can_change() -> None:
    def axis_choices(draft: BenchDraft, kind: FormKind, name: str = "first") -> list[str]:
        field = next(field for field in fields(replace(draft, kind=kind), KNOWN) if field.name == name)
        return [pick.key for pick in field.picks]

    assert axis_choices(BenchDraft(), FormKind.AB) == ["knob", "block", "depth", "jobs"]
    assert axis_choices(BenchDraft(what="job"), FormKind.SWEEP) == ["knob"]
    assert axis_choices(ARRAYS, FormKind.SWEEP) == [
        "knob",
        "block",
        "depth",
        "jobs",
        "chunk",
        "layout",
        "level",
    ]
    assert axis_choices(replace(ARRAYS, first="block"), FormKind.SWEEP, "second") == [
        *("nothing", "knob", "depth", "jobs", "chunk", "layout", "level")
    ]
    two = BenchDraft(knob="scheduler", second="knob")
    assert "scheduler" not in axis_choices(two, FormKind.SWEEP, "knob2")
    assert "stripe_cache_size" not in axis_choices(two, FormKind.SWEEP, "knob")
    assert "stripe_cache_size" in axis_choices(replace(ARRAYS, first="knob"), FormKind.SWEEP, "knob")


def test_where_a_preset_comes_from() -> None:
    field = next(field for field in fields(BenchDraft(preset="hot-spots")) if field.name == "preset")
    assert field.hint == (
        "Reads that come back to a few places (zipf 1.2), as caches like them. From a study of lvmcache and"
        " bcache (2017): two jobs, engine libaio, depth 8, 2 GB each, by time."
    )
    page = "\n".join(meaning(BenchDraft(), field, KNOWN))
    assert all(f"{preset.name}: " in page and preset.origin in page for preset in PRESETS)


def test_why_a_device_is_not_offered() -> None:
    field = next(field for field in fields(ARRAYS, KNOWN) if field.name == "scratch")
    assert [pick.key for pick in field.picks] == ["sde", "sdf", "sdg", "sdh"]
    assert field.hint.endswith("5 other devices cannot be taken: ? says why.")
    assert "  sda: sda is a member of data" in meaning(ARRAYS, field, KNOWN)


@pytest.mark.parametrize("kind", FormKind)
@pytest.mark.parametrize(
    "draft",
    [
        *(
            BenchDraft(details="yes"),
            BenchDraft(what="own", rw="randrw", details="yes", runtime="1"),
            BenchDraft(what="job"),
        ),
        *(BenchDraft(where="device", write="yes"), ARRAYS, replace(ARRAYS, first="level", second="layout")),
        *(BenchDraft(first=first) for first in ("block", "depth", "jobs")),
    ],
)
def test_every_field_says_what_it_is(kind: FormKind, draft: BenchDraft) -> None:
    made = filled(replace(draft, kind=kind), KNOWN)
    for field in fields(replace(made, kind=kind), KNOWN):
        assert field.hint.endswith("."), field
        assert "".join(meaning(made, field, KNOWN)), field


# -- what is filled in


def test_what_is_usual_here() -> None:
    draft = filled(BenchDraft(kind=FormKind.SWEEP), KNOWN)
    assert (draft.preset, draft.folder, draft.knob, draft.knob2) == (
        *("mixed", "/srv/data", "queue_depth", "scheduler"),
    )
    assert draft.values == {"values queue_depth": "1,2,4,8,16,32"}
    assert filled(BenchDraft(), KNOWN).preset == "random-read"
    assert filled(BenchDraft(where="device"), KNOWN).device == "md127"
    assert filled(BenchDraft(knob="read_ahead_kb", kind=FormKind.SWEEP), KNOWN).values == {
        "values read_ahead_kb": "32,128,512"
    }


@pytest.mark.parametrize(
    ("draft", "two"),
    [
        (BenchDraft(), ("1", "32")),
        (BenchDraft(knob="scheduler"), ("mq-deadline", "none")),
        (BenchDraft(knob="bitmap"), ("none", "internal")),
        (BenchDraft(first="depth"), ("1", "64")),
        (BenchDraft(first="block"), ("4k", "256k")),
    ],
)
def test_two_settings_that_are_usual(draft: BenchDraft, two: tuple[str, str]) -> None:
    made = filled(replace(draft, kind=FormKind.AB), KNOWN)
    axis = draft.first if draft.first != "knob" else made.knob
    assert (made.text(f"A {axis}"), made.text(f"B {axis}")) == two
    assert asked(draft, FormKind.AB).repeats == 6


def test_what_was_typed_stays() -> None:
    made = filled(
        BenchDraft(first="depth", values={"values depth": ""}, folder="/", kind=FormKind.SWEEP), KNOWN
    )
    assert (made.values, made.folder) == ({"values depth": ""}, "/")
    there = filled(replace(made, first="jobs", kind=FormKind.SWEEP), KNOWN).with_text("values jobs", "1,7")
    assert replace(there, first="depth").values == {"values depth": "", "values jobs": "1,7"}


# -- what is asked for


def test_what_is_overwritten() -> None:
    assert overwritten(BenchDraft(where="device", device="sde"), KNOWN) == ()
    (device,) = overwritten(BenchDraft(where="device", device="sde", write="yes"), KNOWN)
    assert (device.name, device.word) == ("sde", "S21PNX0H404040")
    assert [each.name for each in overwritten(ARRAYS, KNOWN)] == ["sde", "sdf"]
    assert overwritten(replace(ARRAYS, kind=FormKind.RUN), KNOWN) == ()


def test_what_is_asked_for() -> None:
    assert asked(BenchDraft(preset="mixed", size="8m", runtime=" 5 ", block="4k", note="x")) == Request(
        preset="mixed",
        size_bytes=8 * MIB,
        runtime_s=5,
        blocks=(4096,),
        directory="/srv/data",
        note="x",
    )
    assert asked(
        replace(OWN, rw="rw", read_percent="70", depth="4", cache="yes", trim="yes", cool="9")
    ) == Request(
        rw="rw",
        size_bytes=1 << 30,
        read_percent=70,
        direct=False,
        depths=(4,),
        directory="/srv",
        conditions=Conditions(trim=True, cool_s=9),
    )
    assert asked(replace(ARRAYS, member_size="1m", second="layout"), FormKind.SWEEP) == Request(
        preset="random-read",
        scratch=("sde", "sdf"),
        levels=("raid10",),
        member_kib=1024,
        chunks=("16", "32", "64", "128", "512"),
        layouts=("n2", "f2"),
        repeats=6,
    )


def test_what_is_not_shown_is_not_asked_for() -> None:
    """It waits for the answers with which it matters."""
    draft = replace(OWN, rw="randread", read_percent="70", ramp="5", device="sde", write="yes", job="x")
    own: dict[str, Any] = {"directory": "/srv", "size_bytes": 1 << 30}
    assert asked(draft) == Request(rw="randread", **own)
    assert asked(replace(draft, rw="rw", runtime="9")) == Request(
        rw="rw", runtime_s=9, ramp_s=5, read_percent=70, **own
    )


# -- whatever is typed

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "0", "1", "-1", "4k", "4k,8k", "1,8", "9" * 30, "\x00", ",", "none", "one,16", "zipf:1.2"]
    ),
)
AXES = ("knob", "nothing", "block", "depth", "jobs", "chunk", "layout", "level", "bogus")
_CHOICES: dict[str, list[str]] = {
    "what": ["preset", "job", "own"],
    "where": ["folder", "device", "scratch"],
    "first": list(AXES),
    "second": list(AXES),
    "knob": list(KNOBS),
    "knob2": list(KNOBS),
    "rw": list(KINDS_OF_IO),
    "engine": ["", *ENGINES],
    "device": ["sde", "sda", "md127"],
    "scratch": ["sde,sdf", "sde"],
    **{name: ["yes", "no"] for name in ("write", "trim", "steady", "grouped", "cache", "details")},
}
KEYS = st.sampled_from(
    [f"{side} {axis}" for side in ("values", "A", "B") for axis in (*AXES, *list(KNOBS)[:3])]
)
DRAFTS: st.SearchStrategy[BenchDraft] = st.builds(
    BenchDraft,
    values=st.dictionaries(KEYS, TEXTS, max_size=6),
    **{
        each.name: st.one_of(st.sampled_from(_CHOICES[each.name]), TEXTS) if each.name in _CHOICES else TEXTS
        for each in struct_fields(BenchDraft)
        if each.name not in {"values", "kind"}
    },
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(draft=DRAFTS, kind=st.sampled_from(FormKind), known=st.sampled_from([KNOWN, HostChoices()]))
def test_no_draft_ever_raises(draft: BenchDraft, kind: FormKind, known: HostChoices) -> None:
    made = filled(replace(draft, kind=kind), known)
    for each in (draft, made):
        shown = fields(replace(each, kind=kind), known)
        assert len({field.name for field in shown}) == len(shown)
        sound = all(not problem(each, field) for field in shown)
        request = request_of_draft(replace(each, kind=kind), known)
        assert isinstance(request, Request) == sound
        for field in shown:
            assert isinstance(meaning(each, field, known), tuple)
            assert each.with_text(field.name, "x").text(field.name) == "x"
    kept = {
        name: getattr(draft, name)
        for name in draft.__struct_fields__
        if name not in {"values", "kind"} and getattr(draft, name)
    }
    assert kept == {name: getattr(made, name) for name in kept}
    assert made.values.items() >= draft.values.items()


SIZES = st.sampled_from(["", "4k", "64k", "1m"])
NUMBERS = st.sampled_from(["", "1", "7", "32"])


@settings(max_examples=150)
@given(data=st.data())
def test_a_form_asks_as_the_command_line_does(data: Any) -> None:
    """The same words make the same request."""
    draw = data.draw
    kind = draw(st.sampled_from(FormKind))
    words = {
        "preset": draw(st.sampled_from([preset.name for preset in PRESETS if not preset.loads])),
        "block": draw(st.sampled_from(["", "4k", "4k,64k"])),
        "size": draw(st.sampled_from(["64m", "1g"])),
        "depth": draw(st.sampled_from(["", "1", "8"])),
        "jobs": draw(st.sampled_from(["", "1", "1,2"])),
        "runtime": draw(NUMBERS),
        "engine": draw(st.sampled_from(["", "libaio", "io_uring"])),
        "cool": draw(NUMBERS),
        "precondition": draw(NUMBERS),
        "repeats": draw(NUMBERS),
        "note": draw(st.sampled_from(["", "before the update"])),
    }
    yes = {name: draw(st.booleans()) for name in ("trim", "own", "cache", "scratch")}
    argv = ["run" if kind is FormKind.RUN else "sweep"]
    draft = BenchDraft(**words, trim="yes" if yes["trim"] else "no", cache="yes" if yes["cache"] else "no")
    options = {"block": "bs"}
    axis = (
        draw(st.sampled_from(["block", "depth", "jobs", "queue_depth"])) if kind is not FormKind.RUN else ""
    )
    if yes["own"]:
        draft = replace(draft, what="own", rw="randwrite")
        argv += ["--rw=randwrite"]
    dropped = {axis, *(["preset"] if yes["own"] else [])}
    argv += [
        f"--{options.get(name, name)}={text}" for name, text in words.items() if text and name not in dropped
    ]
    argv += [f"--{name}" for name, on in (("trim", yes["trim"]), ("no-direct", yes["cache"])) if on]
    if kind is FormKind.SWEEP and yes["scratch"]:
        draft = replace(draft, where="scratch", scratch="sdf,sde", level="raid5", chunk="64")
        argv += ["--scratch", "sdf", "sde", "--level=raid5", "--chunk=64"]
    else:
        draft = replace(draft, folder=OTHER, path="/srv")
        argv += ["--directory=/srv"]
    if axis:
        values = {"block": "8k,16k", "depth": "2,4", "jobs": "3,5", "queue_depth": "8,31"}[axis]
        first, _, second = values.partition(",")
        draft = replace(
            draft,
            first="knob" if axis == "queue_depth" else axis,
            knob="queue_depth",
            values={f"values {axis}": values, f"A {axis}": first, f"B {axis}": second},
        )
        option = {"block": "--bs=", "queue_depth": "--knob=queue_depth="}.get(axis, f"--{axis}=")
        argv += [f"{option}{values}"]
    assert request_of_draft(replace(draft, kind=kind), KNOWN) == typed(*argv)


def test_all_of_a_draft_is_text() -> None:
    hints = typing.get_type_hints(BenchDraft)
    assert {name for name, kind in hints.items() if kind is not str} == {"values", "kind"}
