"""Saved plans: written and read again, and refused where they are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import PlanFile, load_plan, save_plan
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Loss, Plan, PutFile, RunTool, WaitUntil, Write
from tests.places import FIXTURES

UUID = "8d0b1f2a:11111111:22222222:33333333"
MD = "/sys/class/block/md127/md"
STEPS = (
    Write(path=f"{MD}/sync_action", text="idle", why="nothing must run", identity=(f"{MD}/uuid", UUID)),
    RunTool(
        argv=("sfdisk", "--wipe", "always", "/dev/sda"),
        stdin="label: gpt\n2048,,raid\n",
        why="a partition",
        timeout_s=30.0,
        needs=(
            Fact(kind=FactKind.SERIAL, subject="sda", value="PHWL5184"),
            Fact(kind=FactKind.FREE, subject="sda"),
        ),
        proves=(Fact(kind=FactKind.SIZE, subject="sda1", value="1048576"),),
        undo=(RunTool(argv=("wipefs", "--all", "/dev/sda"), why="as it was", destroys=True),),
        destroys=True,
    ),
    PutFile(
        path="/etc/mdadm/mdadm.conf",
        content="# é →\nARRAY /dev/md/data\n",
        why="its name at boot",
        proves=tuple(Fact(kind=kind, subject="x", value=str(kind)) for kind in FactKind),
    ),
)
PLAN = Plan(
    title="create data: 4 disks → RAID-10",
    subject="data",
    steps=STEPS,
    undo=STEPS[:1],
    harm=Harm.DESTROYS,
    warning="all of it",
    losses=(Loss(device="sda", what="ext4"),),
    notes=("it takes a while",),
    confirm="data",
    rolls_back=True,
    devices=("sda", "cciss/c0d0"),
    arrays=("md127",),
)
FORM = json.loads(save_plan(PLAN, host="nas", made_s=1.5))
FIRST_FORM = (FIXTURES / "plans" / "first-form.json").read_bytes()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_a_plan_saved_and_loaded() -> None:
    data = save_plan(PLAN, host="nas", made_s=1.5)
    assert load_plan(data) == PlanFile(raidtui_plan=2, host="nas", made_s=1.5, plan=PLAN)
    assert data.startswith(b'{\n "raidtui_plan": 2,\n "host": "nas",\n')
    assert data.endswith(b"}\n")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not a plan: Input data was truncated"),
        (b"\n", "not a plan: Input data was truncated"),
        (b"mdadm --stop\n", "not a plan: JSON is malformed: invalid character (byte 0)"),
        (b"\xff\xfe", "not a plan: JSON is malformed: invalid character (byte 0)"),
        (b"[" * 100_000, "not a plan: it is nested too deeply"),
        (b"[]", "not a plan of version 2: raidtui plan ... --json prints one"),
        (b"1", "not a plan of version 2: raidtui plan ... --json prints one"),
        (b"{}", "not a plan of version 2: raidtui plan ... --json prints one"),
        (b'{"raidtui_plan": 3}', "not a plan of version 2: raidtui plan ... --json prints one"),
        (b'{"raidtui_plan": "1"}', "not a plan of version 2: raidtui plan ... --json prints one"),
        (b'{"raidtui_plan": true}', "not a plan of version 2: raidtui plan ... --json prints one"),
        (b'{"raidtui_plan": 1}', "not a plan: Object missing required field `host`"),
        (b'{"raidtui_plan": 2}', "not a plan: Object missing required field `host`"),
    ],
)
def test_a_file_that_is_no_plan(data: bytes, sentence: str) -> None:
    with pytest.raises(JobError) as caught:
        load_plan(data)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"extra": 1}, "Object contains unknown field `extra`"),
        ({"host": None}, "Expected `str`, got `null` - at `$.host`"),
        ({"made_s": "now"}, "Expected `float`, got `str` - at `$.made_s`"),
        ({"plan": []}, "Expected `object`, got `array` - at `$.plan`"),
        ({"plan": {"title": "x"}}, "Object missing required field `subject` - at `$.plan`"),
        ({"plan": {**FORM["plan"], "harm": 9}}, "Invalid enum value 9 - at `$.plan.harm`"),
        ({"plan": {**FORM["plan"], "steps": "rm"}}, "Expected `array`, got `str` - at `$.plan.steps`"),
        (
            {"plan": {**FORM["plan"], "steps": [{"do": "run", "why": "x", "argv": ["rm", 1]}]}},
            "Expected `str`, got `int` - at `$.plan.steps[0].argv[1]`",
        ),
        (
            {
                "plan": {
                    **FORM["plan"],
                    "steps": [{"do": "run", "why": "x", "needs": [{"kind": "luck", "subject": "x"}]}],
                }
            },
            "Invalid enum value 'luck' - at `$.plan.steps[0].needs[0].kind`",
        ),
    ],
)
def test_a_form_that_is_filled_in_wrongly(changes: dict[str, Any], trouble: str) -> None:
    with pytest.raises(JobError) as caught:
        load_plan(json.dumps({**FORM, **changes}).encode())
    assert str(caught.value) == f"not a plan: {trouble}"


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_but_a_plan_is_taken(data: bytes) -> None:
    with pytest.raises(JobError, match=r"^not a plan"):
        load_plan(data)


@given(st.sampled_from([FORM, json.loads(FIRST_FORM)]), st.data())
def test_a_plan_that_was_tampered_with(whole: dict[str, Any], data: st.DataObject) -> None:
    form = json.loads(json.dumps(whole))
    place = form
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    text = json.dumps(form).encode()
    try:
        found = load_plan(text)
    except JobError as error:
        assert str(error).startswith("not a plan")  # noqa: PT017  (most changes are refused, not all)
    else:
        saved = save_plan(found.plan, host=found.host, made_s=found.made_s, machine=found.machine)
        assert load_plan(saved) == found


def test_a_plan_of_an_earlier_raidtui_waits_after_its_last_step() -> None:
    """What md does by itself was said of the whole plan, not of a step."""
    form = json.loads(save_plan(PLAN, host="nas", made_s=1.5)) | {"raidtui_plan": 1}
    facts = {"ends": [{"kind": "array", "subject": "md127"}], "lasts": [{"kind": "gone", "subject": "md1"}]}
    form["plan"] |= {"goes_on": "md copies sda to sdb", **facts}
    del form["checksum"]
    *steps, wait = load_plan(json.dumps(form).encode()).plan.steps
    assert tuple(steps) == STEPS
    assert wait == WaitUntil(
        why="md copies sda to sdb",
        until=(Fact(kind=FactKind.ARRAY, subject="md127"),),
        as_long_as=(Fact(kind=FactKind.GONE, subject="md1"),),
    )


def test_a_plan_of_the_first_form() -> None:
    """Its steps did not say what they are; it was written by the raidtui of that time."""
    found = load_plan(FIRST_FORM)
    assert (found.raidtui_plan, found.host, found.machine) == (2, "nas", "0123456789abcdef")
    write, tool, file, setting, wait = found.plan.steps
    assert found.plan.undo == (write,)
    assert write == STEPS[0]
    assert isinstance(tool, RunTool)
    assert (tool.stdin, tool.timeout_s, tool.destroys) == ("label: gpt\n2048,,raid\n", 30.0, True)
    assert tool.undo == (RunTool(argv=("wipefs", "--all", "/dev/sda"), why="as it was", destroys=True),)
    path = "/etc/mdadm/mdadm.conf"
    emptied = PutFile(path=path, content="", why="as it was")
    assert file == PutFile(
        path=path, content="# \xe9\nARRAY /dev/md/data\n", why="its name at boot", undo=(emptied,)
    )
    assert setting == RunTool(
        argv=("lvchange", "--yes", "--cachemode", "writethrough", "vg/lv"),
        sets=("/dm/vg-lv/cache_mode", "writethrough"),
        why="cache_mode writeback → writethrough",
        patient=True,
        may_fail=True,
    )
    assert wait == WaitUntil(
        why="md copies sda to sde",
        until=(Fact(kind=FactKind.SYNCED, subject="md127"),),
        as_long_as=(Fact(kind=FactKind.ARRAY, subject="md127", value=UUID),),
        paces="md127",
    )
    assert load_plan(save_plan(found.plan, host="nas", made_s=1.5)).plan == found.plan
    with pytest.raises(JobError, match="its checksum does not fit"):
        load_plan(FIRST_FORM.replace(b"vg/lv", b"vg/hd"))


def test_what_was_edited_is_refused_unless_it_says_so() -> None:
    text = save_plan(PLAN, host="nas", made_s=1.5).decode().replace("nas", "other")
    with pytest.raises(JobError, match="not a plan as raidtui made it: its checksum does not fit"):
        load_plan(text.encode())
    lines = [line for line in text.splitlines() if '"checksum"' not in line]
    assert load_plan("\n".join(lines).encode()).host == "other"
