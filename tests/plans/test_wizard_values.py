"""The page of the wizard: its values, what is typed there; and the pages behind ?."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.plan import Plan
from raidtui.model.survey import Survey
from raidtui.plans.wizard.evidence import BLOCKS_KIB, CHUNKS_KIB, TABLE, table_lines
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.plans.wizard.wizard_steps import (
    STEPS,
    changed,
    page_rows,
    refuse_step,
    refuse_word,
    step_page,
)
from tests.hosts.specs import raid5, raid10
from tests.plans.new_array import FOUR, MOUNT, UUID, device, survey
from tests.plans.test_wizard_steps import created

COMMON = {"level", "chunk", "bitmap", "disks", "on top", "mount", "name"}


def table(draft: WizardDraft, host: Survey | None = None) -> dict[str, tuple[str, str]]:
    """Value and refusal of each row but the common ones."""
    rows = page_rows(draft, host or survey(), every=True)
    return {row.key: (row.value, row.refusal) for row in rows if row.key not in COMMON}


@pytest.mark.parametrize(
    ("draft", "rows"),
    [
        (
            WizardDraft(devices=FOUR[:2], level="raid1"),
            {
                "metadata": ("1.2", ""),
                "failfast": ("no", ""),
                "write-mostly sda2": ("no", ""),
                "write-mostly sdb2": ("no", ""),
                "first sync": ("yes", ""),
                "size": ("100 %", ""),
                "number": ("from the name", ""),
            },
        ),
        (
            WizardDraft(devices=FOUR, level="raid10", layout="n2"),
            {
                "metadata": ("1.2", ""),
                "copies": ("2", ""),
                "failfast": ("no", ""),
                "first sync": ("yes", ""),
                "size": ("100 %", ""),
                "number": ("from the name", ""),
            },
        ),
        (
            WizardDraft(devices=FOUR, level="raid5"),
            {
                "metadata": ("1.2", ""),
                "parity": ("left-symmetric", ""),
                "size": ("100 %", ""),
                "number": ("from the name", ""),
            },
        ),
        (
            WizardDraft(devices=FOUR, level="raid0"),
            {"metadata": ("1.2", ""), "number": ("from the name", "")},
        ),
    ],
)
def test_what_else_can_be_decided(draft: WizardDraft, rows: dict[str, tuple[str, str]]) -> None:
    assert table(draft) == rows
    assert not {row.key for row in page_rows(draft, survey())} & {*rows}, "as usual: not listed"


def test_the_size_before_there_are_members() -> None:
    rows = page_rows(WizardDraft(level="raid5"), survey(), every=True)
    (size,) = (row for row in rows if row.key == "size")
    assert size.note.startswith("0 B of 0 B. ")


@pytest.mark.parametrize(
    ("draft", "key", "turns", "given"),
    [
        (WizardDraft(devices=FOUR[:2], level="raid1"), "metadata", -1, "--metadata=1.0"),
        (WizardDraft(devices=FOUR[:2], level="raid1"), "metadata", 1, "--metadata=1.1"),
        (WizardDraft(devices=FOUR[:2], level="raid1"), "failfast", 1, "--failfast"),
        (WizardDraft(devices=FOUR[:2], level="raid1"), "first sync", 1, "--assume-clean"),
        (
            WizardDraft(devices=FOUR[:2], level="raid1"),
            "write-mostly sdb2",
            1,
            "--write-mostly",
        ),
        (WizardDraft(devices=FOUR, level="raid10", layout="n2"), "copies", 1, "--layout=n3"),
        (WizardDraft(devices=FOUR, level="raid10", layout="f2"), "copies", -1, "--layout=f4"),
        (
            WizardDraft(devices=FOUR, level="raid5", bitmap="internal"),
            "parity",
            1,
            "--layout=left-asymmetric",
        ),
        (WizardDraft(devices=FOUR[:2], level="raid1"), "size", -1, "--size=52395520"),
        (WizardDraft(devices=FOUR[:2], level="raid1", name="data"), "number", 1, "/dev/md127"),
    ],
)
def test_a_value_that_is_changed(draft: WizardDraft, key: str, turns: int, given: str) -> None:
    made = changed(draft, survey(), key, turns)
    assert given not in created(draft)
    assert given in created(made)
    assert key in {row.key for row in page_rows(made, survey())}, "not as usual: always listed"
    assert changed(made, survey(), key, -turns) == draft


def test_write_mostly_and_spares() -> None:
    draft = WizardDraft(devices=FOUR[:2], spares=("sdc2",), level="raid1")
    refusal = "mdadm would make the spares write-mostly too; add them after the array is created"
    assert table(draft)["write-mostly sda2"] == ("no", refusal)
    assert changed(draft, survey(), "write-mostly sda2", 1) == draft


def test_numbers_that_are_taken_are_not_offered() -> None:
    draft = WizardDraft(devices=FOUR[:2], level="raid1", name="data")
    host = survey(arrays=(raid10(),))
    assert table(changed(draft, host, "number", 1), host)["number"] == ("md126", "")
    every = tuple(raid5(f"md{number}", f"a{number}") for number in range(128))
    assert table(draft, survey(arrays=every))["number"][1] == "no number is free"


def test_one_does_not_go_on_with_what_cannot_be() -> None:
    assert (
        refuse_step("devices", WizardDraft(spares=("sda2",)), survey())
        == "choose at least one device with Space"
    )
    assert refuse_step("devices", WizardDraft(devices=("sda2",)), survey()) == ""
    both = survey(device("sde", Use(kind="partition", what="sde1")), device("sde1"))
    assert refuse_step("devices", WizardDraft(devices=("sde", "sde1")), both) == (
        "sde1 is a partition of sde, and both are named; name one of them"
    )
    draft = WizardDraft(devices=FOUR[:2], level="raid1", write_mostly=FOUR[:2])
    assert refuse_step("page", draft, survey()) == "all members would be write-mostly; omit one of them"
    assert refuse_step("page", replace(draft, write_mostly=()), survey()) == ""


# -- on top


def volume(draft: WizardDraft, host: Survey) -> dict[str, tuple[str, str]]:
    """Value and refusal of the rows of what goes on top."""
    found = {row.key: (row.value, row.refusal) for row in page_rows(draft, host)}
    return {key: each for key, each in found.items() if key not in COMMON}


def test_a_volume_over_several_devices() -> None:
    draft = WizardDraft(devices=FOUR, level="raid10", layout="n2", chunk_kib=32, on_top="lvm", name="128")
    host = survey(*(device(name) for name in (*FOUR, "sde", "sdf2", "sdf3")), device("sdg", MOUNT))
    alone = "the array is the only physical volume: add another device to the group first"
    assert volume(draft, host) == {
        "joins sde": ("no", ""),
        "joins sdf2": ("no", ""),
        "joins sdf3": ("no", ""),
        "stripes": ("none", alone),
    }  # sdg is in use: it has nothing to do with the volume
    assert changed(draft, host, "joins sdg", 1) == draft
    draft = changed(draft, host, "joins sde", 1)
    draft = changed(draft, host, "stripes", 1)
    draft = changed(draft, host, "stripe size", -1)
    assert (draft.others, draft.stripes, draft.stripe_kib) == (("sde",), 2, 32)
    assert refuse_step("page", draft, host) == ""
    made = plan_draft(draft, host, UUID, "")
    assert isinstance(made, Plan)
    lvm = [step.argv for step in made.steps if step.argv[:1] in {("vgcreate",), ("lvcreate",)}]
    assert lvm == [
        ("vgcreate", "--physicalextentsize", "4096k", "vg128", "/dev/md/128", "/dev/sde"),
        (
            *("lvcreate", "--yes", "--extents", "100%FREE", "--stripes", "2", "--stripesize", "32k"),
            *("--name", "data", "vg128"),
        ),
    ]
    gone = changed(draft, host, "joins sde", 1)
    assert (gone.others, gone.stripes) == ((), 0)


def test_a_weekly_trim() -> None:
    host = survey(systemd=True, trim_timer="disabled")
    draft = WizardDraft(
        devices=FOUR, level="raid10", layout="n2", bitmap="none", on_top="xfs", mount="/srv", name="1"
    )
    assert volume(draft, host) == {"weekly TRIM": ("no", "")}
    draft = changed(draft, host, "weekly TRIM", 1)
    made = plan_draft(draft, host, UUID, "1-2")
    assert isinstance(made, Plan)
    assert ("systemctl", "enable", "--now", "fstrim.timer") in [step.argv for step in made.steps]
    [row] = (row for row in page_rows(draft, replace(host, trim_timer="enabled")) if row.key == "weekly TRIM")
    assert (row.value, row.refusal) == (
        "yes",
        "fstrim.timer is already enabled: all file systems of fstab are trimmed once a week.",
    )


# -- words


@pytest.mark.parametrize(
    ("step", "draft", "word", "sentence"),
    [
        ("name", WizardDraft(), "128", ""),
        ("name", WizardDraft(), "127", "md127 already exists; choose another number"),
        ("name", WizardDraft(on_top="lvm"), "a" * 31, ""),
        ("mount", WizardDraft(on_top="ext4"), "", ""),
        ("mount", WizardDraft(on_top="ext4"), "/srv", ""),
        (
            "mount",
            WizardDraft(on_top="ext4"),
            "srv",
            "'srv' is not a valid mount point; choose a path like /srv/data, without spaces",
        ),
    ],
)
def test_words(step: str, draft: WizardDraft, word: str, sentence: str) -> None:
    found = refuse_word(step, draft, survey(arrays=(raid10(),)), word)
    assert (found.sentence if found else "") == sentence


# -- why


@pytest.mark.parametrize(
    "step", [*(step for step in STEPS if step != "page"), *sorted(COMMON), "metadata", "stripes", "joins sde"]
)
def test_there_is_a_page_for_each_step(step: str) -> None:
    page = step_page(step)
    assert len(page) > 2
    assert all(len(line) <= 74 for line in page if line.startswith(" "))
    assert not any("\n" in line for line in page)


def test_the_published_table() -> None:
    lines = table_lines()
    assert lines[0] == "  blocks of          8K    16K    32K    64K   128K   512K     1M    20M"
    # Published in MiB/s: 66, 128, 215, 390, 720, 791, 868 and 932.
    assert "    chunk 32K        69    134    225    409    755    829    910    977" in lines
    printed_mib_s = (66, 128, 215, 390, 720, 791, 868, 932)
    assert TABLE[0].chunks[32] == tuple(round(value * 2**20 / 10**6) for value in printed_mib_s)
    assert set(lines) <= set(step_page("chunk"))
    for part in TABLE:
        assert len(part.one) == len(BLOCKS_KIB)
        assert {len(row) for row in part.chunks.values()} == {len(BLOCKS_KIB)}
        assert tuple(part.chunks) == CHUNKS_KIB
