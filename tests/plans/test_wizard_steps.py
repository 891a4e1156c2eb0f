"""The steps of the wizard: what can be chosen at each, what follows from it, what it adds up to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.geometry import MISSING
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Superblock, Survey
from raidtui.plans.wizard.choices import EMPTY
from raidtui.plans.wizard.wizard_draft import (
    JOURNAL,
    LEAVE,
    MEMBER,
    SPARE,
    WizardDraft,
    doomed,
    plan_draft,
    with_empty,
    with_role,
)
from raidtui.plans.wizard.wizard_steps import (
    asked,
    choose,
    decided,
    first_choice,
    next_role,
    picks,
    refuse_word,
)
from tests.hosts.specs import raid10
from tests.plans.new_array import FOUR, UUID, device, survey

MOUNTED = Use(kind="mount", what="/srv", detail="ext4")
GAMES = Use(kind="signature", what="ext4", detail="games")
OLD = Superblock(uuid="aaaaaaaa:bbbbbbbb:cccccccc:dddddddd", name="nas:old", level="raid1", raid_disks=2)


def keys(step: str, draft: WizardDraft) -> list[str]:
    return [pick.key for pick in picks(step, draft, survey())]


def created(draft: WizardDraft, host: Survey | None = None) -> tuple[str, ...]:
    """The command that creates."""
    made = plan_draft(draft, host or survey(), UUID, "")
    assert isinstance(made, Plan), made
    return next(step.argv for step in made.steps if "--create" in step.argv)


# -- devices


def test_devices_that_can_be_taken_come_first() -> None:
    host = survey(device("sda2", MOUNTED), device("sdb2", GAMES), device("sdc2"))
    *found, slots = picks("devices", WizardDraft(), host)
    assert [(pick.key, pick.refusal) for pick in found] == [
        ("sdb2", ""),
        ("sdc2", ""),
        ("sda2", "sda2 is in use: ext4 mounted at /srv; choose a free device"),
    ]
    assert [pick.cells for pick in found] == [
        ("sdb2", "100G", "", "", "S-sdb", 'ext4 file system "games"'),
        ("sdc2", "100G", "", "", "S-sdc", "empty"),
        ("sda2", "100G", "", "", "S-sda", "ext4 mounted at /srv"),
    ]
    assert found[0].note == (
        'It starts at 1 MiB: aligned. Its contents will be lost: the ext4 file system "games".'
    )
    assert (slots.key, slots.words) == (EMPTY, "slots left empty for now: 0")


def test_a_disk_says_how_worn_it_is() -> None:
    words = "is dying: 8 more sectors were reallocated; replace it while it can still be read"
    pick, _ = picks("devices", WizardDraft(), survey(device("sda2", wear_percent=89, trouble=words)))
    assert pick.cells == ("sda2", "100G", "89 %", "", "S-sda", "empty")
    assert pick.note == f"It starts at 1 MiB: aligned. 89 % of its rated life is used. sda2 {words}."


def test_a_device_that_is_not_aligned_says_so() -> None:
    pick, _ = picks("devices", WizardDraft(), survey(device("sda2", start_bytes=63 * 512)))
    assert pick.cells[-1] == "not aligned; empty"
    assert pick.note == "It starts at byte 32256: not aligned, which costs speed."


def test_arrays_are_no_members() -> None:
    host = survey(device("sda2"), device("md127"), arrays=(raid10(),))
    assert [pick.key for pick in picks("devices", WizardDraft(), host)] == ["sda2", EMPTY]
    assert picks("devices", WizardDraft(), replace(host, devices={})) == ()


def test_what_a_device_becomes() -> None:
    draft, seen = WizardDraft(name="127"), []
    for _ in range(4):
        draft = next_role(draft, "sda2")
        seen.append(draft)
    assert seen == [
        WizardDraft(devices=("sda2",), name="127"),
        WizardDraft(spares=("sda2",), name="127"),
        WizardDraft(journal="sda2", name="127"),
        WizardDraft(name="127"),
    ]
    assert next_role(draft, "sda2", -1) == WizardDraft(journal="sda2", name="127")


def test_one_journal_is_enough() -> None:
    draft = WizardDraft(spares=("sda2",), journal="sdb2")
    assert next_role(draft, "sda2") == WizardDraft(journal="sdb2")
    assert next_role(draft, "sdb2") == WizardDraft(spares=("sda2",))
    assert [draft.role(name) for name in ("sda2", "sdb2", "sdc2")] == [SPARE, JOURNAL, LEAVE]


def test_other_devices_leave_open_what_stood_on_them() -> None:
    draft = WizardDraft(
        devices=FOUR, empty=1, destroys=("old",), disks="10", level="raid5", chunk_kib=64, bitmap="internal",
        name="128",
    )  # fmt: skip
    assert with_role(draft, "sda2", LEAVE) == WizardDraft(devices=FOUR[1:], empty=1, name="128")
    assert with_role(draft, "sda2", MEMBER) == WizardDraft(devices=(*FOUR[1:], "sda2"), empty=1, name="128")
    assert with_empty(draft, 2) == WizardDraft(devices=FOUR, empty=2, name="128")


@pytest.mark.parametrize(("count", "kept"), [(-1, 0), (0, 0), (3, 3), (9, 4)])
def test_empty_slots(count: int, kept: int) -> None:
    assert with_empty(WizardDraft(), count).empty == kept


@pytest.mark.parametrize(
    ("level", "devices", "empty", "slots"),
    [
        ("raid5", FOUR[:3], 1, (*FOUR[:3], MISSING)),
        ("raid6", FOUR[:2], 2, (*FOUR[:2], MISSING, MISSING)),
        ("raid10", FOUR[:2], 2, ("sda2", MISSING, "sdb2", MISSING)),
        ("raid10", FOUR[:3], 1, (*FOUR[:3], MISSING)),
        ("raid10", FOUR, 2, ("sda2", "sdb2", "sdc2", MISSING, "sdd2", MISSING)),
        ("raid10", FOUR[:1], 2, ("sda2", MISSING, MISSING)),
    ],
)
def test_where_the_empty_slots_are(
    level: str, devices: tuple[str, ...], empty: int, slots: tuple[str, ...]
) -> None:
    assert WizardDraft(devices=devices, empty=empty, level=level).slots == slots


# -- old arrays


def test_an_array_that_does_not_run_is_destroyed_by_its_name_alone() -> None:
    host = survey(device("sda2", superblock=OLD), device("sdb2"))
    draft = WizardDraft(devices=("sda2", "sdb2"))
    assert "old arrays" in asked(draft, host)
    assert doomed(draft, host) == ((OLD, ("/dev/sda2",)),)
    for word, why_not in (("", "no name was typed"), ("128", "'128' is not one of them")):
        found = refuse_word("old arrays", draft, host, word)
        assert found == Refusal(
            code=RefusalCode.NEEDS_CONFIRMATION,
            why=why_not,
            remedy="type old, or go back and deselect its devices",
        )
    assert all("which is not running" in pick.refusal for pick in picks("level", draft, host)[:2])
    assert refuse_word("old arrays", draft, host, "old") is None
    draft = choose("old arrays", "old", draft)
    assert draft == WizardDraft(devices=("sda2", "sdb2"), destroys=("old",))
    assert doomed(draft, host) == ()
    assert ("destroys", "old") in decided(draft)
    made = plan_draft(choose("level", "raid1", draft), host, UUID, "")
    assert isinstance(made, Plan)
    assert [step.argv for step in made.steps[:2]] == [
        ("mdadm", "--zero-superblock", "/dev/sda2"),
        ("wipefs", "--all", "/dev/sda2"),
    ]


# -- steps


@pytest.mark.parametrize(
    ("draft", "steps"),
    [
        (WizardDraft(devices=FOUR), "devices level chunk bitmap more on_top name"),
        (WizardDraft(devices=("sda2", "sde")), "devices disks level chunk bitmap more on_top name"),
        (WizardDraft(devices=FOUR, journal="sde"), "devices disks level chunk bitmap more on_top name"),
        (WizardDraft(devices=FOUR, level="raid1"), "devices level bitmap more on_top name"),
        (WizardDraft(devices=FOUR, level="raid0"), "devices level chunk more on_top name"),
        (WizardDraft(devices=FOUR, on_top="lvm"), "devices level chunk bitmap more on_top volume name"),
        (WizardDraft(devices=FOUR, on_top="xfs"), "devices level chunk bitmap more on_top mount name"),
        (
            WizardDraft(devices=FOUR, on_top="xfs", mount="/srv"),
            "devices level chunk bitmap more on_top mount volume name",
        ),
    ],
)
def test_what_is_asked(draft: WizardDraft, steps: str) -> None:
    assert asked(draft, survey()) == tuple(step.replace("_", " ") for step in steps.split())


@pytest.mark.parametrize(
    ("step", "draft", "wanted"),
    [
        ("disks", WizardDraft(devices=FOUR), []),
        ("disks", WizardDraft(devices=("sda2", "sde")), ["10", "7", "0", "whole"]),
        (
            "chunk",
            WizardDraft(level="raid10"),
            ["4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048"],
        ),
        ("bitmap", WizardDraft(level="raid1"), ["none", "internal"]),
        ("bitmap", WizardDraft(level="raid5"), ["internal", "ppl", "journal"]),
        ("bitmap", WizardDraft(level="raid6", journal="sde"), ["journal", "internal", "ppl"]),
        ("on top", WizardDraft(), ["nothing", "ext4", "xfs", "lvm+ext4", "lvm+xfs", "lvm"]),
        ("name", WizardDraft(level="raid6"), []),
    ],
)
def test_what_there_is_to_choose(step: str, draft: WizardDraft, wanted: list[str]) -> None:
    assert keys(step, draft) == wanted


def test_what_guards_parity() -> None:
    refused = {pick.key: pick.refusal for pick in picks("bitmap", WizardDraft(level="raid6"), survey())}
    assert refused == {
        "internal": "",
        "ppl": "only raid5 has a partial parity log, not raid6",
        "journal": "no device was chosen for it: go back to the devices and press Space until one says [jnl]",
    }
    refused = {
        pick.key: pick.refusal
        for pick in picks("bitmap", WizardDraft(level="raid5", journal="sde"), survey())
    }
    other = "sde was chosen as the journal, which replaces this"
    assert refused == {"journal": "", "internal": other, "ppl": other}


@pytest.mark.parametrize(
    ("step", "draft", "key"),
    [
        ("level", WizardDraft(devices=FOUR[:3]), ""),
        ("level", WizardDraft(devices=FOUR[:3], empty=1), "raid10 n2"),
        ("level", WizardDraft(devices=FOUR, level="raid10", layout="o2"), "raid10 o2"),
        ("level", WizardDraft(devices=FOUR, level="raid6"), "raid6"),
        ("chunk", WizardDraft(level="raid10"), "32"),
        ("chunk", WizardDraft(level="raid5"), "64"),
        ("chunk", WizardDraft(level="raid5", chunk_kib=512), "512"),
        ("bitmap", WizardDraft(level="raid5", bitmap="none", policy="ppl"), "ppl"),
        ("bitmap", WizardDraft(level="raid1", bitmap="internal"), "internal"),
        ("on top", WizardDraft(on_top="xfs"), "xfs"),
        ("name", WizardDraft(), ""),
    ],
)
def test_what_is_offered_first(step: str, draft: WizardDraft, key: str) -> None:
    assert first_choice(step, draft) == key


def test_choices_add_up_to_a_plan() -> None:
    draft = WizardDraft()
    for name in ("sda2", "sdb2", "sdc2"):
        draft = next_role(draft, name)
    draft = next_role(next_role(draft, "sdd2"), "sdd2")
    for step, key in (
        ("level", "raid5"),
        ("chunk", "64"),
        ("bitmap", "ppl"),
        ("on top", "nothing"),
        ("name", "128"),
    ):
        draft = choose(step, key, draft)
    assert draft == WizardDraft(
        devices=("sda2", "sdb2", "sdc2"),
        spares=("sdd2",),
        level="raid5",
        chunk_kib=64,
        bitmap="none",
        policy="ppl",
        on_top="nothing",
        name="128",
    )
    assert decided(draft) == (
        ("devices", "sda2 sdb2 sdc2, spare sdd2"),
        ("disks", None),
        ("level", "raid5"),
        ("chunk", "64 KiB"),
        ("bitmap", "ppl"),
        ("more", None),
        ("on top", "nothing"),
        ("mount", None),
        ("name", "128"),
    )
    assert created(draft) == (
        *("mdadm", "--create", "/dev/md/128", "--run", "--homehost=nas", "--name=128", f"--uuid={UUID}"),
        *("--metadata=1.2", "--level=raid5", "--raid-devices=3", "--chunk=64", "--layout=left-symmetric"),
        *("--bitmap=none", "--consistency-policy=ppl", "--spare-devices=1"),
        *("/dev/sda2", "/dev/sdb2", "/dev/sdc2", "/dev/sdd2"),
    )


def test_a_journal() -> None:
    draft = WizardDraft(devices=FOUR[:3], journal="sdd2", level="raid5", chunk_kib=64, name="128")
    draft = choose("bitmap", "journal", draft)
    assert (draft.bitmap, draft.policy) == ("none", "journal")
    assert "--write-journal=/dev/sdd2" in created(draft)


def test_what_stands_on_another_choice_goes_with_it() -> None:
    draft = WizardDraft(
        devices=FOUR, level="raid5", chunk_kib=64, bitmap="internal", failfast=True, name="128"
    )
    assert choose("level", "raid10 f2", draft) == WizardDraft(
        devices=FOUR, level="raid10", layout="f2", name="128"
    )
    assert choose("level", "raid5", draft) is draft
    top = WizardDraft(on_top="lvm+ext4", mount="/srv", others=("sde",), stripes=2)
    assert choose("on top", "lvm", top) == replace(top, on_top="lvm", mount="")
    assert choose("on top", "xfs", top) == replace(top, on_top="xfs", others=(), stripes=0)
    assert {words for _, words in decided(WizardDraft())} == {None}
