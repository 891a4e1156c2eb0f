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
    first_choice,
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
    draft = WizardDraft(name="127")
    for role, made in (
        (MEMBER, WizardDraft(devices=("sda2",), name="127")),
        (SPARE, WizardDraft(spares=("sda2",), name="127")),
        (JOURNAL, WizardDraft(journal="sda2", name="127")),
        (JOURNAL, WizardDraft(name="127")),
    ):
        draft = with_role(draft, "sda2", role)
        assert draft == made


def test_one_journal_is_enough() -> None:
    draft = WizardDraft(spares=("sda2",), journal="sdb2")
    assert with_role(draft, "sda2", JOURNAL) == WizardDraft(journal="sda2")
    assert [draft.role(name) for name in ("sda2", "sdb2", "sdc2")] == [SPARE, JOURNAL, LEAVE]


def test_other_devices_leave_open_what_stood_on_them() -> None:
    draft = WizardDraft(
        devices=FOUR, empty=1, destroys=("old",), disks="10", level="raid5", chunk_kib=64, bitmap="internal",
        name="128",
    )  # fmt: skip
    assert with_role(draft, "sda2", LEAVE) == WizardDraft(devices=FOUR[1:], empty=1, name="128")
    assert with_role(draft, "sda2", SPARE) == WizardDraft(
        devices=FOUR[1:], spares=("sda2",), empty=1, name="128"
    )
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
    draft = choose("old arrays", "old", draft, host)
    assert draft == WizardDraft(devices=("sda2", "sdb2"), destroys=("old",))
    assert doomed(draft, host) == ()
    made = plan_draft(choose("purpose", "raid1", draft, host), host, UUID, "")
    assert isinstance(made, Plan)
    assert [step.argv for step in made.steps[:2]] == [
        ("mdadm", "--zero-superblock", "/dev/sda2"),
        ("wipefs", "--all", "/dev/sda2"),
    ]


# -- steps


def test_what_is_asked() -> None:
    assert asked(WizardDraft(devices=FOUR), survey()) == ("devices", "purpose", "name", "page")


@pytest.mark.parametrize(
    ("step", "draft", "wanted"),
    [
        ("purpose", WizardDraft(devices=FOUR[:2]), ["raid1"]),
        ("purpose", WizardDraft(devices=FOUR[:3]), ["raid5", "raid1"]),
        ("purpose", WizardDraft(devices=FOUR), ["raid10 n2", "raid5", "raid6"]),
        ("purpose", WizardDraft(devices=(*FOUR, "sde")), ["raid6", "raid10 n2", "raid5"]),
        ("purpose", WizardDraft(devices=(*FOUR, "sde", "sdf")), ["raid10 n2", "raid5", "raid6"]),
        ("disks", WizardDraft(devices=FOUR), []),
        ("disks", WizardDraft(devices=("sda2", "sde")), ["slack", "7", "10", "0", "whole"]),
        (
            "chunk",
            WizardDraft(level="raid10"),
            ["4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048"],
        ),
        ("chunk", WizardDraft(level="raid1"), []),
        ("bitmap", WizardDraft(level="raid0"), []),
        ("bitmap", WizardDraft(level="raid1"), ["none", "internal"]),
        ("bitmap", WizardDraft(level="raid5"), ["internal", "ppl", "journal"]),
        ("bitmap", WizardDraft(level="raid6", journal="sde"), ["journal", "internal", "ppl"]),
        ("on top", WizardDraft(), ["nothing", "ext4", "xfs", "lvm+ext4", "lvm+xfs", "lvm"]),
        ("name", WizardDraft(level="raid6"), []),
    ],
)
def test_what_there_is_to_choose(step: str, draft: WizardDraft, wanted: list[str]) -> None:
    assert keys(step, draft) == wanted


def test_all_levels_are_behind_a_key() -> None:
    found = picks("purpose", WizardDraft(devices=FOUR), survey(), every=True)
    assert [pick.key for pick in found][:4] == ["raid1", "raid10 n2", "raid10 f2", "raid10 o2"]
    assert len(found) == 8


def test_all_levels_where_none_that_is_proposed_can_be() -> None:
    """A journal needs parity: of two devices and a journal, a mirror cannot be."""
    found = picks("purpose", WizardDraft(devices=FOUR[:2], journal="sde"), survey())
    assert [pick.key for pick in found if not pick.refusal] == ["raid5", "raid4"]


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
    ("draft", "key"),
    [
        (WizardDraft(devices=FOUR[:3]), ""),
        (WizardDraft(devices=FOUR, level="raid10", layout="o2"), "raid10 o2"),
        (WizardDraft(devices=FOUR, level="raid10", layout="n3"), "raid10 n2"),
        (WizardDraft(devices=FOUR, level="raid6"), "raid6"),
    ],
)
def test_what_is_offered_first(draft: WizardDraft, key: str) -> None:
    assert first_choice("purpose", draft) == key


def test_choices_add_up_to_a_plan() -> None:
    draft = WizardDraft()
    for name in ("sda2", "sdb2", "sdc2"):
        draft = with_role(draft, name, MEMBER)
    draft = with_role(draft, "sdd2", SPARE)
    for step, key in (
        ("purpose", "raid5"),
        ("name", "128"),
        ("chunk", "64"),
        ("bitmap", "ppl"),
        ("on top", "nothing"),
    ):
        draft = choose(step, key, draft, survey())
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
    assert created(draft) == (
        *("mdadm", "--create", "/dev/md/128", "--run", "--homehost=nas", "--name=128", f"--uuid={UUID}"),
        *("--metadata=1.2", "--level=raid5", "--raid-devices=3", "--chunk=64", "--layout=left-symmetric"),
        *("--bitmap=none", "--consistency-policy=ppl", "--spare-devices=1"),
        *("/dev/sda2", "/dev/sdb2", "/dev/sdc2", "/dev/sdd2"),
    )


def test_a_journal() -> None:
    draft = WizardDraft(devices=FOUR[:3], journal="sdd2", level="raid5", chunk_kib=64, name="128")
    draft = choose("bitmap", "journal", draft, survey())
    assert (draft.bitmap, draft.policy) == ("none", "journal")
    assert "--write-journal=/dev/sdd2" in created(draft)


def test_what_stands_on_another_choice_goes_with_it() -> None:
    draft = WizardDraft(
        devices=FOUR, level="raid5", chunk_kib=64, bitmap="internal", failfast=True, name="128"
    )
    assert choose("purpose", "raid10 f2", draft, survey()) == WizardDraft(
        devices=FOUR, level="raid10", layout="f2", name="128"
    )
    assert choose("purpose", "raid5", draft, survey()) is draft
    assert choose("level", "raid10 f2", draft, survey()) == WizardDraft(
        devices=FOUR,
        level="raid10",
        layout="f2",
        chunk_kib=512,
        bitmap="internal",
        on_top="nothing",
        name="128",
    )
    top = WizardDraft(on_top="lvm+ext4", mount="/srv", others=("sde",), stripes=2, name="128")
    assert choose("on top", "lvm", top, survey()) == replace(top, on_top="lvm", mount="")
    assert choose("on top", "xfs", top, survey()) == replace(top, on_top="xfs", others=(), stripes=0)


def test_a_file_system_is_mounted_by_the_name_of_the_array() -> None:
    draft = choose("on top", "ext4", WizardDraft(devices=FOUR, name="media"), survey())
    assert draft.mount == "/srv/media"
    emptied = choose("mount", "", draft, survey())
    assert emptied.mount == ""
    assert choose("on top", "nothing", draft, survey()).mount == ""
