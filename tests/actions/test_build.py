"""The steps of the wizard, as what can be chosen at each."""

from __future__ import annotations

import pytest

from raidtui.actions.build import Draft, choose, decided, picks, plan_build, refuse_word, toggle
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from tests.actions.new_array import FOUR, UUID, device, survey
from tests.specs import raid10

MOUNTED = Use(kind="mount", what="/srv", detail="ext4")


def keys(step: str, draft: Draft) -> list[str]:
    return [pick.key for pick in picks(step, draft, survey())]


def test_devices_that_can_be_taken_come_first() -> None:
    found = picks("devices", Draft(), survey(device("sda2", MOUNTED), device("sdb2"), device("sdc2")))
    assert [(pick.key, pick.refusal) for pick in found] == [
        ("sdb2", ""),
        ("sdc2", ""),
        ("sda2", "sda2 is in use: ext4 mounted at /srv; choose a free device"),
    ]
    assert found[0].words == "sdb2        100G  S-sdb           empty"


def test_a_device_that_is_not_aligned_says_so() -> None:
    [pick] = picks("devices", Draft(), survey(device("sda2", start_bytes=63 * 512)))
    assert pick.note == "It begins at 32256 bytes, which is not aligned."


def test_levels_for_four_devices() -> None:
    found = picks("level", Draft(devices=FOUR), survey())
    assert [(pick.key, pick.words.split()[-2:], pick.refusal) for pick in found] == [
        ("raid1", ["99.9", "GiB"], ""),
        ("raid10 near 2", ["200", "GiB"], ""),
        ("raid10 far 2", ["200", "GiB"], ""),
        ("raid10 offset 2", ["200", "GiB"], ""),
        ("raid5", ["300", "GiB"], ""),
        ("raid6", ["200", "GiB"], ""),
        ("raid0", ["400", "GiB"], ""),
    ]


def test_levels_for_two_devices() -> None:
    found = {pick.key: pick.refusal for pick in picks("level", Draft(devices=FOUR[:2]), survey())}
    assert found["raid1"] == found["raid10 near 2"] == found["raid0"] == ""
    assert found["raid6"].startswith("raid6 needs")


@pytest.mark.parametrize(
    ("step", "draft", "wanted"),
    [
        ("disks", Draft(devices=FOUR), []),
        ("disks", Draft(devices=("sda2", "sde")), ["10", "7", "0", "whole"]),
        ("chunk", Draft(level="raid1"), []),
        ("chunk", Draft(level="raid10"), ["16", "32", "64", "128", "256", "512"]),
        ("bitmap", Draft(level="raid0"), []),
        ("bitmap", Draft(level="raid1"), ["none", "internal"]),
        ("bitmap", Draft(level="raid5"), ["internal", "ppl"]),
        ("bitmap", Draft(level="raid6"), ["internal"]),
        ("name", Draft(level="raid6"), []),
    ],
)
def test_what_there_is_to_decide(step: str, draft: Draft, wanted: list[str]) -> None:
    assert keys(step, draft) == wanted


def test_choices_add_up_to_a_plan() -> None:
    draft = Draft()
    for name in ("sda2", "sdb2", "sde", "sdc2", "sde"):
        draft = toggle(draft, name)
    for step, key in (
        ("disks", "whole"),
        ("level", "raid5"),
        ("chunk", "64"),
        ("bitmap", "ppl"),
        ("name", "128"),
    ):
        draft = choose(step, key, draft)
    assert draft == Draft(
        devices=("sda2", "sdb2", "sdc2"),
        disks="whole",
        level="raid5",
        chunk_kib=64,
        bitmap="none",
        policy="ppl",
        name="128",
    )
    assert decided(draft) == (
        ("devices", "sda2 sdb2 sdc2"),
        ("disks", "whole"),
        ("level", "raid5"),
        ("chunk", "64 KiB"),
        ("bitmap", "ppl"),
        ("on top", "–"),
        ("mount", "–"),
        ("name", "128"),
    )
    made = plan_build(draft, survey(), UUID, "")
    assert isinstance(made, Plan)
    argv = next(step.argv for step in made.steps if "--create" in step.argv)
    assert {"--level=raid5", "--chunk=64", "--consistency-policy=ppl", "--name=128"} <= set(argv)


def test_what_stands_on_another_choice_goes_with_it() -> None:
    draft = Draft(devices=FOUR, level="raid5", chunk_kib=64, bitmap="internal", name="128")
    assert choose("level", "raid10 far 2", draft) == Draft(
        devices=FOUR, level="raid10", layout="f2", name="128"
    )
    assert toggle(draft, "sda2") == Draft(devices=FOUR[1:], name="128")
    assert [words for _, words in decided(Draft())] == ["–"] * 8


def test_names() -> None:
    host = survey(arrays=(raid10(),))
    assert refuse_word("name", Draft(), host, "128") is None
    found = refuse_word("name", Draft(), host, "127")
    assert isinstance(found, Refusal)
    assert found.sentence == "md127 is there already; choose another number"
    assert refuse_word("name", Draft(), host, "-x") is not None
