"""What a new array gets by itself, what speaks against it, and its picture."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import HostFacts
from raidtui.features.advice.advice_rules import advise
from raidtui.model.disk import Use
from raidtui.model.plan import Plan
from raidtui.model.stack import Stack
from raidtui.model.survey import Device, Survey
from raidtui.plans.create.shape import Shape
from raidtui.plans.wizard.build_warnings import Gravity, unreadable_odds, warnings_of
from raidtui.plans.wizard.choices import device_picks
from raidtui.plans.wizard.defaults import (
    Medium,
    completed,
    component_kib,
    proposed_devices,
    proposed_name,
    purposes,
)
from raidtui.plans.wizard.picture import room_of, shape_for, stripes, two_losses
from raidtui.plans.wizard.wizard_draft import WizardDraft, plan_draft
from raidtui.plans.wizard.wizard_steps import page_rows
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid10
from tests.plans.new_array import FOUR, GIB, UUID, device, survey

TB = 10**12


def disk(name: str, medium: Medium = Medium.SSD, *uses: Use, model: str = "", **more: Any) -> Device:
    """A whole disk of a medium."""
    made = device(name, *uses, **more)
    spins = {Medium.HDD: True, Medium.SSD: False}.get(medium)
    return replace(made, disk=replace(made.disk, disk=name, rotational=spins, model=model or None))


def host(medium: Medium, count: int, size_bytes: int = 90 * GIB, **more: Any) -> Survey:
    name = "nvme{}n1" if medium is Medium.NVME else "sd{}"
    keys = range(count) if medium is Medium.NVME else "abcdefghijklmnopqrst"[:count]
    return survey(
        *(disk(name.format(key), medium, size_bytes=size_bytes, **more) for key in keys), homehost="nas"
    )


def made(found: Survey) -> WizardDraft:
    """What four Enters make of a host's free disks."""
    return completed(WizardDraft(devices=proposed_devices(found)), found)


# -- which disks


def test_free_disks_of_one_kind_are_proposed() -> None:
    there = survey(
        disk("sda", Medium.SSD, Use(kind="mount", what="/", detail="ext4")),
        disk("sdb", Medium.HDD),
        disk("sdc", Medium.HDD, size_bytes=101 * GIB),
        disk("sdd", Medium.HDD, size_bytes=250 * GIB),
        disk("sde"),
        disk("sdf"),
        disk("sdg", Medium.SSD, Use(kind="signature", what="ext4", detail="games")),
        disk("sdh"),
    )
    assert proposed_devices(there) == ("sde", "sdf", "sdh")


@pytest.mark.parametrize(
    ("unfit", "said"),
    [
        (disk("sdc", trouble="is dying"), ""),
        (disk("sdc", wear_percent=80), "worn"),
        (disk("sdc", links=("disk/by-path/pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0",)), "USB"),
        (disk("sdc", model="WDC WD40EFAX-68JH4N0"), "SMR"),
        (disk("sdc", size_bytes=50 * GIB), ""),
        (disk("sdc", start_bytes=63 * 512), ""),
        (device("sdc2"), ""),
    ],
)
def test_what_is_not_proposed(unfit: Device, said: str) -> None:
    there = survey(disk("sda"), disk("sdb"), unfit)
    assert proposed_devices(there) == ("sda", "sdb")
    notes = {pick.key: pick.note for pick in device_picks(WizardDraft(), there)}
    assert f"Not proposed: {said}" in notes[unfit.disk.name] if said else "proposed" not in str(notes)


def test_one_disk_is_no_array_and_many_are_not_for_raidtui_to_choose() -> None:
    assert proposed_devices(host(Medium.SSD, 1)) == ()
    assert len(proposed_devices(host(Medium.SSD, 12))) == 12
    assert proposed_devices(host(Medium.SSD, 13)) == ()


def test_two_partitions_of_a_disk_are_one_member() -> None:
    there = survey(device("sda2"), device("sda3"), device("sdb2"), device("sdb3"))
    assert proposed_devices(there) == ("sda2", "sdb2")


# -- defaults


@pytest.mark.parametrize(
    ("medium", "count", "wanted"),
    [
        (Medium.HDD, 2, "raid1  0 none slack"),
        (Medium.HDD, 3, "raid5  512 internal slack"),
        (Medium.HDD, 4, "raid10 n2 512 none slack"),
        (Medium.HDD, 5, "raid6  512 internal slack"),
        (Medium.HDD, 8, "raid6  512 internal slack"),
        (Medium.SSD, 2, "raid1  0 none slack"),
        (Medium.SSD, 3, "raid5  64 internal 7"),
        (Medium.SSD, 4, "raid10 n2 64 none slack"),
        (Medium.SSD, 5, "raid6  64 internal 7"),
        (Medium.SSD, 6, "raid10 n2 64 none slack"),
        (Medium.NVME, 4, "raid10 n2 512 none slack"),
        (Medium.NVME, 3, "raid5  64 internal 7"),
        (Medium.UNKNOWN, 4, "raid10 n2 512 none slack"),
    ],
)
def test_defaults_by_medium_and_number(medium: Medium, count: int, wanted: str) -> None:
    found = host(medium, count, discards=True)
    draft = made(found)
    assert f"{draft.level} {draft.layout} {draft.chunk_kib} {draft.bitmap} {draft.disks}" == wanted
    plan = plan_draft(draft, found, UUID)
    assert isinstance(plan, Plan), plan
    assert plan.losses == ()
    assert all(row.usual for row in page_rows(draft, found)), "each default is called one"
    assert all(row.reason for row in page_rows(draft, found)), "and has its reason"


def test_ssds_without_trim_leave_spare_area() -> None:
    assert made(host(Medium.SSD, 4, discards=False)).disks == "7"
    assert made(host(Medium.HDD, 4, discards=False)).disks == "slack"


def test_raid456_that_passes_discards_needs_no_spare_area() -> None:
    found = replace(host(Medium.SSD, 3, discards=True), raid456_discards=True)
    assert made(found).disks == "slack"


@pytest.mark.parametrize(("gib", "bitmap"), [(93, "none"), (94, "internal")])
def test_a_bitmap_from_100_gb_of_each_member_on(gib: int, bitmap: str) -> None:
    """Mdadm 4.3 gave 101 GiB one, 100 GiB none: the component counts, which is a little smaller."""
    assert made(host(Medium.HDD, 4, size_bytes=gib * GIB)).bitmap == bitmap


def test_a_name_that_is_free() -> None:
    assert proposed_name(survey()) == "data"
    assert proposed_name(survey(arrays=(raid10("md5", "data"),))) == "data2"


def test_a_few_levels_are_proposed() -> None:
    assert [key for key, _ in purposes(9, Medium.SSD)] == ["raid6", "raid10 n2"], "raid5 of 9 is too wide"
    assert [key for key, _ in purposes(6, Medium.HDD)] == ["raid6", "raid10 n2", "raid5"]


def test_a_hundred_mib_stay_free_for_a_smaller_spare() -> None:
    found = host(Medium.HDD, 2, size_bytes=100 * GIB)
    plan = plan_draft(made(found), found, UUID)
    assert isinstance(plan, Plan)
    table = next(step.stdin for step in plan.steps if step.argv[:1] == ("sfdisk",))
    sectors = (100 * GIB - (100 << 20)) // 512 - 2048
    assert f"start=2048, size={sectors}," in table


def test_three_large_disks_are_a_mirror_rather_than_a_raid5_without_a_spare() -> None:
    assert made(host(Medium.HDD, 3, size_bytes=4 * TB)).level == "raid1"


@pytest.mark.parametrize("size_gib", [90, 400, 4000])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("medium", list(Medium))
def test_pane_7_does_not_complain_of_a_default(medium: Medium, count: int, size_gib: int) -> None:
    there = host(medium, count, size_bytes=size_gib * GIB)
    draft = made(there)
    spec = ArraySpec(
        level=draft.level,
        members=draft.devices,
        layout=draft.layout or ("" if draft.level == "raid1" else "ls"),
        chunk_kib=draft.chunk_kib or 64,
        component_kib=component_kib(draft, there),
        consistency_policy="bitmap" if draft.bitmap == "internal" else "resync",
    )
    seen = Kernel(spec).sampler().sample()
    assert advise(HostFacts(snapshot=seen, stack=Stack())) == ()


# -- warnings

LONG = (
    "A rebuild takes at least 5 h 33 and reads 6 TB; by the data sheet, some sector cannot be read in at"
    " most 38 % of them (NAS disks: 5 %). raid6 survives that."
)


def said(found: Survey, **more: Any) -> list[tuple[Gravity, str]]:
    draft = completed(WizardDraft(devices=tuple(found.devices), **more), found)
    return [(each.weight, each.words) for each in warnings_of(draft, found)]


def test_nothing_speaks_against_good_disks() -> None:
    assert said(host(Medium.SSD, 4)) == []
    assert warnings_of(WizardDraft(), host(Medium.SSD, 4)) == ()


def test_shingled_disks_stop_a_parity_level() -> None:
    there = survey(*(disk(f"sd{key}", Medium.HDD, model=f"ST8000DM004-{key}") for key in "abc"))
    words = "sda, sdb, sdc: shingled (SMR). A rebuild may take days, or stall."
    assert (Gravity.STOP, words) in said(there)
    assert (Gravity.WARN, words) in said(there, level="raid1")


def test_what_else_speaks_against_an_array() -> None:
    usb = ("disk/by-id/usb-WD_Elements_25A2-0:0",)
    there = survey(
        disk("sda", Medium.HDD, trouble="is dying", size_bytes=4 * TB),
        disk("sdb", Medium.HDD, links=usb, size_bytes=4 * TB),
        disk("sdc", wear_percent=85, size_bytes=3 * TB),
    )
    assert said(there, level="raid5") == [
        (Gravity.STOP, "sda: is dying. Do not build on it."),
        (Gravity.STOP, "sdb: USB. Bridges drop out under load and hide SMART."),
        (Gravity.WARN, "sdc: 80 % or more of the rated life is used."),
        (Gravity.WARN, "hard disk and SSD mixed: the slowest member sets the pace."),
        (Gravity.WARN, "Sizes differ: 1.8 TiB stay unused."),
        (Gravity.WARN, LONG),
    ]


def test_what_smart_and_sectors_say_of_an_array() -> None:
    late = "may retry a bad sector for minutes (SCT ERC is missing)"
    there = survey(
        disk("sda", retries=late),
        disk("sdb", sector_bytes=4096, retries=late),
        disk("sdc", unjudged="smartctl is not installed"),
    )
    unknown = (Gravity.NOTE, "sdc: health not known: smartctl is not installed.")
    slow = replace(there.devices["sda"], trouble="has not answered yet", unjudged="smartctl is late")
    silent = replace(there, devices={**there.devices, "sda": slow})
    assert Gravity.STOP not in [weight for weight, _ in said(silent, level="raid1")]
    assert (Gravity.NOTE, "sda: health not known: smartctl is late.") in said(silent, level="raid1")
    mixed = (Gravity.WARN, "Sectors of 512 and 4096 bytes: the array's are 4096.")
    assert said(there, level="raid1") == [
        (Gravity.WARN, f"sda, sdb: {late}; md then drops it. Pane 7 has the remedy."),
        mixed,
        unknown,
    ]
    assert said(there, level="raid0") == [mixed, unknown]


@pytest.mark.parametrize(
    ("level", "layout", "count", "weight", "part"),
    [
        ("raid5", "", 9, Gravity.WARN, "9 members in one raid5"),
        ("raid6", "", 15, Gravity.WARN, "15 members in one raid6"),
        ("raid4", "", 4, Gravity.WARN, "Prefer raid5"),
        ("raid10", "n2", 2, Gravity.NOTE, "raid1 is the same"),
        ("raid10", "n2", 5, Gravity.NOTE, "An odd number"),
        ("raid6", "", 4, Gravity.NOTE, "raid10 of four"),
    ],
)
def test_levels_that_the_number_of_disks_makes_poor(
    level: str, layout: str, count: int, weight: Gravity, part: str
) -> None:
    [(found, words)] = said(host(Medium.SSD, count), level=level, layout=layout)
    assert (found, part in words) == (weight, True), words


def test_a_worn_disk_stops_a_striped_array() -> None:
    there = survey(disk("sda", wear_percent=71), disk("sdb"))
    assert said(there, level="raid0") == [(Gravity.STOP, "sda: 70 % or more of the rated life is used.")]
    assert said(there, level="raid1") == []


@pytest.mark.parametrize(
    ("tb", "rate", "percent"),
    [(1, 1e-14, 7.7), (4, 1e-14, 27), (12, 1e-14, 62), (20, 1e-15, 15), (100, 1e-16, 7.7)],
)
def test_the_odds_of_an_unreadable_sector(tb: int, rate: float, percent: float) -> None:
    assert unreadable_odds(tb * TB, rate) * 100 == pytest.approx(percent, rel=0.02)


# -- the picture


def drawn(level: str, layout: str, slots: int, rows: int) -> list[str]:
    """The picture, a line a row, copies with a ' behind them."""
    there = host(Medium.SSD, slots)
    draft = completed(WizardDraft(devices=tuple(there.devices), level=level, layout=layout), there)
    shape = shape_for(draft, there)
    assert isinstance(shape, Shape)
    marks = {"copy": "'"}
    return [
        " ".join(cell.words + marks.get(cell.kind, "") for cell in row)
        for block in stripes(shape, slots, rows)
        for row in block
    ]


@pytest.mark.parametrize(
    ("level", "layout", "slots", "rows"),
    [
        ("raid0", "", 3, ["0 1 2", "3 4 5"]),
        ("raid1", "", 2, ["0 0'", "1 1'"]),
        ("raid10", "n2", 4, ["0 0' 1 1'", "2 2' 3 3'"]),
        ("raid10", "n2", 3, ["0 0' 1", "1' 2 2'"]),
        ("raid10", "f2", 4, ["0 1 2 3", "4 5 6 7", "3' 0' 1' 2'", "7' 4' 5' 6'"]),
        ("raid10", "o2", 4, ["0 1 2 3", "3' 0' 1' 2'"]),
        ("raid5", "", 4, ["0 1 2 P", "4 5 P 3", "8 P 6 7", "P 9 10 11"]),
        ("raid5", "right-asymmetric", 3, ["P 0 1", "2 P 3"]),
        ("raid6", "", 5, ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6"]),
        ("raid4", "", 3, ["0 1 P", "2 3 P"]),
    ],
)
def test_the_picture_is_mds_own_layout(level: str, layout: str, slots: int, rows: list[str]) -> None:
    """md(4), raid5.c and raid10.c; the rows were compared with real arrays, block by block."""
    blocks = 2 if layout == "f2" else 1
    assert drawn(level, layout, slots, len(rows) // blocks) == rows


@pytest.mark.parametrize(
    ("level", "layout", "slots", "share"),
    [
        ("raid10", "n2", 4, 2 / 3),
        ("raid10", "f2", 4, 1 / 3),
        ("raid10", "n2", 5, 0.5),
        ("raid5", "", 5, 0.0),
        ("raid6", "", 5, 1.0),
        ("raid1", "", 3, 1.0),
        ("raid0", "", 3, None),
        ("raid1", "", 2, None),
    ],
)
def test_which_pairs_of_losses_are_survived(level: str, layout: str, slots: int, share: float | None) -> None:
    there = host(Medium.SSD, slots)
    draft = completed(WizardDraft(devices=tuple(there.devices), level=level, layout=layout), there)
    shape = shape_for(draft, there)
    assert isinstance(shape, Shape)
    assert two_losses(shape, slots) == (share if share is None else pytest.approx(share))


def test_how_the_room_is_used() -> None:
    there = survey(*(disk(f"sd{key}") for key in "abc"), disk("sdd", size_bytes=150 * GIB))
    draft = completed(WizardDraft(devices=tuple(there.devices), level="raid5", disks="0"), there)
    shape = shape_for(draft, there)
    assert isinstance(shape, Shape)
    room = room_of(draft, shape, there)
    assert room.data + room.redundant + room.free + room.wasted == 450 * GIB
    assert (round(room.data / GIB), round(room.redundant / GIB), round(room.wasted / GIB)) == (300, 100, 50)
    assert room.free < GIB
    none = room_of(WizardDraft(), shape, there)
    assert none.data == 0


def test_four_partitions_make_the_brief_array() -> None:
    draft = completed(WizardDraft(devices=FOUR), survey())
    assert (draft.level, draft.layout, draft.disks, draft.name) == ("raid10", "n2", "", "data")
