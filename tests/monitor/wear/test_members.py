"""Members side by side: the published disks, and disks of one fate."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.wear.wear_report import wear_of_text
from raidtui.model.finding import Severity
from raidtui.monitor.wear.array_wear import judge_array, out_of_line, same_fate
from tests.monitor.wear.disks import reading, text_of

# Four Samsung 850 EVO, sectors written: after a RAID-5 recovery to sdd, and after twelve RAID-10 syncs.
AFTER_RECOVERY = {"sda": 604127952, "sdb": 846533123, "sdc": 603302987, "sdd": 3763859973}
AFTER_SYNCS = {"sda": 979783261, "sdb": 1211867704, "sdc": 995650995, "sdd": 4121599736}


def _bytes(sectors: dict[str, int]) -> dict[str, int | None]:
    return {name: count * 512 for name, count in sectors.items()}


def test_the_published_disk_is_out_of_line() -> None:
    (found,) = out_of_line(_bytes(AFTER_RECOVERY))
    assert (found.name, found.sentence) == ("sdd", "sdd is out of line: 6.2 x the others")
    assert found.excess_bytes == (3763859973 - 604127952) * 512
    (later,) = out_of_line(_bytes(AFTER_SYNCS))
    assert later.sentence == "sdd is out of line: 4.1 x the others"


def test_before_it_dropped_out_nobody_was() -> None:
    assert out_of_line(_bytes({**AFTER_RECOVERY, "sdd": 603302987})) == ()


def test_one_alone_and_unknown_ones_are_not_compared() -> None:
    assert out_of_line({}) == ()
    assert out_of_line({"sda": 10**14}) == ()
    assert out_of_line({"sda": 10**14, "sdb": None}) == ()


def test_a_few_bytes_are_out_of_nothing() -> None:
    assert out_of_line({"sda": 10**9, "sdb": 5 * 10**9}) == ()


def test_a_new_disk_among_old_ones_does_not_accuse_them() -> None:
    size: dict[str, int | None] = {"sda": 10**14, "sdb": 10**14, "sdc": 10**14, "sdd": 10**11}
    assert out_of_line(size) == ()
    pair: dict[str, int | None] = {"sda": 10**14, "sdb": 10**11}
    assert [each.name for each in out_of_line(pair)] == ["sda"]
    assert out_of_line(pair, {"sda": 20_000, "sdb": 20}) == ()
    assert [each.name for each in out_of_line(pair, {"sda": 20_000, "sdb": 20_000})] == ["sda"]
    assert [each.name for each in out_of_line(pair, {"sda": 20_000, "sdb": None})] == ["sda"]


def test_beside_disks_that_took_nothing() -> None:
    (found,) = out_of_line({"sda": 10**12, "sdb": 0})
    assert found.sentence == "sda is out of line: far above the others"


def test_disks_of_one_model_firmware_and_age() -> None:
    one = reading("samsung-pm883")
    twins = [replace(one, name=name, serial=name, power_on_hours=hours) for name, hours in (
        ("sda", 4717), ("sdb", 4800), ("sdc", 9000),
    )]  # fmt: skip
    (sentence,) = same_fate(twins)
    assert sentence == (
        "sda and sdb are SAMSUNG MZ7LH1T9HMLT-00005 with firmware FW26, 4717 to 4800 hours in service: "
        "they may fail at the same time"
    )
    assert list(same_fate([replace(one, name="sda"), replace(one, name="sdb", firmware="other")])) == []
    assert list(same_fate([replace(one, name="sda"), replace(one, name="sdb", power_on_hours=None)])) == []
    disk = reading("wd-red-hdd")
    assert list(same_fate([replace(disk, name="sda"), replace(disk, name="sdb")])) == []


def test_an_array_of_them() -> None:
    disks = []
    for name, sectors in AFTER_RECOVERY.items():
        disk = wear_of_text(text_of("samsung-pm883", name), name)
        disks.append(replace(disk, written=replace(disk.written, size_bytes=sectors * 512)))
    found = judge_array("data", "uuid-1", disks)
    together = (
        "sda, sdb, sdc and sdd are SAMSUNG MZ7LH1T9HMLT-00005 with firmware FW26, 4717 hours in service: "
        "they may fail at the same time"
    )
    assert found.disks == ("sda", "sdb", "sdc", "sdd")
    assert [(each.severity, each.code, each.subject, each.sentence) for each in found.findings] == [
        (
            Severity.ATTENTION,
            "out-of-line",
            "uuid-1",
            "sdd is out of line: 6.2 x the others, 1.6 TB more written",
        ),
        (
            Severity.INFO,
            "same-fate",
            "uuid-1",
            together,
        ),
    ]
