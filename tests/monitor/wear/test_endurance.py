"""Life and writes of real disks and of made-up ones of every kind that the drive database knows."""

from __future__ import annotations

import pytest

from raidtui.features.wear.wear_report import wear_of_text
from raidtui.monitor.wear.bytes_written import with_unit, written
from raidtui.monitor.wear.disk_wear import findings_of
from raidtui.monitor.wear.endurance import life_used
from raidtui.monitor.wear.witnesses import Confidence
from tests.monitor.wear.disks import NAMES, facts, parsed, reading, reading_of, smartctl_json, ssd, text_of

MIB32, GIB = 32 << 20, 1 << 30


def test_all_disks_are_here() -> None:
    assert len(NAMES) == 27


@pytest.mark.parametrize("name", NAMES)
def test_a_real_disk_is_read_right(name: str) -> None:
    found, expected = reading(name), facts(name)["expected"]
    life, writes = life_used(found), written(found)
    assert {
        "percent": life.percent,
        "percent_source": life.source,
        "percent_confidence": life.confidence,
        "bytes": writes.size_bytes,
        "unit_bytes": writes.unit_bytes,
        "written_source": writes.source,
        "written_confidence": writes.confidence,
        "findings": [each.code for each in wear_of_text(text_of(name), name).findings],
    } == expected


@pytest.mark.parametrize("name", NAMES)
def test_what_is_unknown_says_why(name: str) -> None:
    life, writes = life_used(reading(name)), written(reading(name))
    assert (life.percent is None) == (life.confidence is Confidence.UNKNOWN) == bool(life.note)
    assert (writes.size_bytes is None) == (writes.confidence is Confidence.UNKNOWN) == bool(writes.note)


@pytest.mark.parametrize(
    ("attribute", "percent"),
    [
        ("231 SSD_Life_Left 97 10 0", 3),  # SandForce: the raw value is none
        ("231 SSD_Life_Left 93 10 6577408 0x00000000645d00", 7),  # Seagate: packed
        ("231 SSD_Life_Left 14 0 86", 86),  # Kingston: the raw value is the used part
        ("231 SSD_Life_Left 97 10 1", 3),
        ("231 SSD_Life_Left 100 10 74", 0),
        ("231 SSD_Life_Left 100 0 0", 0),  # Kingston, new
        ("231 SSD_Life_Left 100 0 5", None),  # worn out, or anything
        ("231 SSD_Life_Left 90 0 74", None),
        ("231 SSD_Life_Left 0 10 0", 100),
        ("231 SSD_Life_Left 0 0 95", None),  # no normalized values in this firmware
        ("231 SSD_Life_Left 200 0 95", None),
        ("177 Wear_Leveling_Count 97 5 61", 3),
        ("173 Wear_Leveling_Count 98 0 40", 2),
        ("233 Media_Wearout_Indicator 1 0 0", 99),
        ("233 Media_Wearout_Indicator 199 0 0", None),
        ("230 Media_Wearout_Indicator 100 0 0x2f2423142f24 0x2f2423142f24", 47),  # WD: 0xPPHH
        ("230 Media_Wearout_Indicator 1 0 0x014a0012014a 0x014a0012014a", 1),
        ("230 Media_Wearout_Indicator 1 0 0x014a0012024a 0x014a0012024a", None),
        ("202 Percent_Lifetime_Remain 81 1 19", 19),
        ("202 Percent_Lifetime_Remain 0 1 112", 112),  # Crucial: beyond its rated life
        ("202 Percent_Lifetime_Used 75 0 25", 25),
        ("202 Perc_Rated_Life_Used 99 1 1", 1),
        ("202 Percent_Lifetime_Used 0 0 104", 104),
        ("202 Exception_Mode_Status 100 10 0", None),
        ("202 End_of_Life 100 0 0", None),
        ("202 Data_Address_Mark_Errs 100 0 0", None),
        ("173 Drive_Life_Used% 100 0 7", 7),
        ("245 Drive_Life_Remaining% 100 0 93", 7),
        ("169 Remaining_Lifetime_Perc 93 0 93", 7),
        ("169 Remaining_Lifetime_Perc 0 0 0", 100),
        ("169 Remaining_Lifetime_Perc 100 0 0", None),  # dead, or not counted
        ("169 Remaining_Lifetime_Perc 0 0 95", 5),
        ("245 Percent_Life_Remaining 100 0 98", 2),
        ("248 Perc_Rated_Life_Remain 91 0 91", 9),
        ("248 Remaining_Life 100 0 88", 12),
        ("248 Bckgnd_Program_Page_Cnt 100 0 88", None),
        ("248 PCT_Life_Remaining 97 0 3", 3),
        ("178 SSD_LifeLeft(0.01%) 100 0 9750", 2),
        ("249 Spares_Remaining_Perc 50 0 50", None),
        ("170 Reserve_Blk_Remaining 50 0 50", None),
        ("103 Remaining_Energy_Storg 50 0 50", None),
        ("232 Available_Reservd_Space 40 10 0", None),
        ("226 Workld_Media_Wear_Indic 100 0 65535", None),
        ("175 Unknown_Attribute 10 0 10", None),
        ("241 Percent_Endurance_Used 100 0 12", 12),  # a name of tomorrow
    ],
)
def test_life_by_the_name_of_an_attribute(attribute: str, percent: int | None) -> None:
    found = life_used(ssd(attribute, "225 Host_Writes_32MiB 100 0 500000", capacity_bytes=120 * 10**9))
    default = attribute.startswith(("177 Wear_Leveling_Count", "233 Media_Wearout_Indicator"))
    known = Confidence.ASSUMED if default else Confidence.NAMED
    assert found.percent == percent
    assert found.confidence is (Confidence.UNKNOWN if percent is None else known)
    assert found.source == ("" if percent is None else "attribute " + " ".join(attribute.split(" ")[:2]))


def test_a_name_in_percent_goes_before_wear_leveling() -> None:
    found = life_used(ssd("177 Wear_Leveling_Count 100 50 401", "169 Remaining_Lifetime_Perc 100 0 96"))
    assert (found.percent, found.source) == (4, "attribute 169 Remaining_Lifetime_Perc")


def test_of_two_names_in_percent_the_worse_counts_and_the_other_is_reported() -> None:
    found = life_used(ssd("202 Perc_Rated_Life_Used 70 0 30", "231 Perc_Rated_Life_Remain 75 0 75"))
    assert found.percent == 30
    assert found.note.startswith("other attributes say 25 %")


def test_smartctls_own_figure_goes_first() -> None:
    found = life_used(ssd("231 SSD_Life_Left 95 10 95", endurance=7))
    assert (found.percent, found.source, found.confidence) == (7, "smartctl endurance_used", "named")
    assert [each.sentence for each in found.witnesses] == ["attribute 231 SSD_Life_Left: 5 % used"]


def test_smartctls_guess_is_known_as_one() -> None:
    found = life_used(ssd("177 Wear_Leveling_Count 91 5 1661", endurance=9))
    assert (found.percent, found.source, found.confidence) == (
        9,
        "attribute 177 Wear_Leveling_Count",
        "assumed",
    )
    unknown = life_used(ssd("177 Wear_Leveling_Count 91 5 1661", endurance=9, in_database=False))
    assert (unknown.percent, unknown.confidence) == (9, "assumed")
    assert unknown.note == "smartctl does not know this disk: the name is a default"


def test_an_unknown_disks_value_that_never_moved_is_no_figure() -> None:
    found = life_used(ssd("177 Wear_Leveling_Count 100 50 0", endurance=0, in_database=False))
    assert (found.percent, found.confidence) == (None, "unknown")


def test_smartctls_guess_does_not_stand_against_a_name_in_percent() -> None:
    found = life_used(
        ssd("169 Remaining_Lifetime_Perc 100 0 96", "177 Wear_Leveling_Count 100 50 401", endurance=0)
    )
    assert (found.percent, found.source) == (4, "attribute 169 Remaining_Lifetime_Perc")
    assert found.note.startswith("smartctl takes 0 % from attribute 177 Wear_Leveling_Count")


@pytest.mark.parametrize("known", [{}, {"endurance": 0}])
def test_a_value_that_stands_at_one_hundred_for_ever(known: dict[str, int]) -> None:
    """Phison and Kingston: the raw value is what is left."""
    found = life_used(ssd("231 SSD_Life_Left 100 0 74", "241 Lifetime_Writes_GiB 100 0 392000", **known))
    assert (found.percent, found.source, found.confidence) == (26, "attribute 231 SSD_Life_Left", "assumed")
    assert found.note == "by its raw value: the normalized value stays at 100"


@pytest.mark.parametrize("known", [{}, {"endurance": 0}])
def test_a_life_that_contradicts_itself_is_unknown(known: dict[str, int]) -> None:
    found = life_used(ssd("231 SSD_Life_Left 100 0 5", **known))
    assert (found.percent, found.confidence) == (None, "unknown")
    assert found.note == "attribute 231 SSD_Life_Left contradicts itself: value 100, raw 5"


def test_smartctls_figure_of_a_hard_disk_is_passed_over() -> None:
    assert life_used(ssd(endurance=3, rotation_rpm=7200)).percent is None


def test_more_than_all_of_it_is_used() -> None:
    known = facts("micron-7400")
    known["nvme"]["percentage_used"] = 131
    known["endurance"] = 131
    found = life_used(reading_of(known))
    assert (found.percent, found.source, found.confidence) == (131, "NVMe health log", "standard")


@pytest.mark.parametrize(
    ("attribute", "unit", "size", "confidence"),
    [
        ("241 Total_LBAs_Written 99 0 1000000000", 512, 512 * 10**9, "assumed"),
        ("246 Total_LBAs_Written 100 0 1000000000", 512, 512 * 10**9, "named"),
        ("233 Total_LBAs_Written 100 0 1000000000", 512, 512 * 10**9, "named"),  # Dell's Intel
        ("241 Total_Host_LBA_Written 100 0 1000000000", 512, 512 * 10**9, "named"),
        ("225 Host_Writes_32MiB 100 0 10000", MIB32, 10000 * MIB32, "named"),
        ("241 Host_Writes_32MiB 100 0 10000", MIB32, 10000 * MIB32, "named"),
        ("199 Host_Writes_GiB 100 0 400", GIB, 400 * GIB, "named"),  # OCZ: 199 is no CRC
        ("241 Lifetime_Writes_GiB 100 0 400", GIB, 400 * GIB, "named"),
        ("241 Total_Writes_GiB 100 0 400", GIB, 400 * GIB, "named"),
        ("175 Host_Writes_MiB 100 0 400000", 1 << 20, 400000 << 20, "named"),
        ("241 Total_Writes_GB 100 0 10", 10**9, 10**10, "assumed"),
        ("241 Lifetime_Wts_Frm_Hst_GB 100 0 10", 10**9, 10**10, "assumed"),
        ("241 Host_Writes 100 0 10", None, None, "unknown"),
        ("232 Lifetime_Writes 100 0 10", None, None, "unknown"),
        ("233 Flash_Writes_GiB 100 0 10", None, None, "unknown"),
        ("233 NAND_Writes_1GiB 100 0 10", None, None, "unknown"),
        ("233 NAND_GB_Written_TLC 100 0 10", None, None, "unknown"),
        ("233 Total_NAND_Writes_GiB 100 0 10", None, None, "unknown"),
        ("241 Nand_Sectors_Written 100 0 10", None, None, "unknown"),
        ("235 Flash_Writes_Sectors 100 0 10", None, None, "unknown"),
        ("243 NAND_Writes_32MiB 100 0 10", None, None, "unknown"),
        ("245 TLC_Writes_32MiB 100 0 10", None, None, "unknown"),
        ("246 Timed_Workld_RdWr_Ratio 100 0 65535", None, None, "unknown"),
        ("246 Total_Erase_Count 100 0 125544", None, None, "unknown"),
        ("233 Lifetime_Wts_To_Flsh_GB 100 0 10", None, None, "unknown"),
        ("251 NAND_Writes 100 0 64213448960", None, None, "unknown"),
        ("206 Write_Error_Rate 100 0 10", None, None, "unknown"),
        ("167 Write_Protect_Mode 100 0 10", None, None, "unknown"),
    ],
)
def test_writes_by_the_name_of_an_attribute(
    attribute: str, unit: int | None, size: int | None, confidence: str
) -> None:
    found = written(ssd(attribute, capacity_bytes=480 * 10**9))
    assert (found.unit_bytes, found.size_bytes, found.confidence) == (unit, size, confidence)


def test_a_counter_without_a_unit_keeps_its_figure() -> None:
    found = written(ssd("241 Host_Writes 100 0 4711"))
    assert (found.count, found.raw, found.source) == (4711, "4711", "attribute 241 Host_Writes")
    assert found.note == "the name Host_Writes gives no unit"


def test_a_default_name_is_no_name() -> None:
    found = ssd(
        "177 Wear_Leveling_Count 50 0 9",
        "233 Media_Wearout_Indicator 60 0 0",
        "241 Total_LBAs_Written 99 0 1000",
        in_database=False,
    )
    assert life_used(found).percent is None
    assert life_used(found).note == (
        "smartctl does not know this disk, and an attribute's id alone says nothing"
    )


def test_the_writes_of_a_hard_disk_that_smartctl_does_not_know_are_a_guess() -> None:
    name = "241 Total_LBAs_Written 99 0"
    found = written(ssd(f"{name} 1000000000", in_database=False, rotation_rpm=7200))
    assert (found.size_bytes, found.confidence, found.guessed) == (512 * 10**9, "assumed", True)
    assert found.known_bytes is None
    assert found.note == (
        "a guess: smartctl does not know this disk: the unit of attribute 241 is unknown; "
        "most hard disks count sectors"
    )
    for count in (0, 1000):  # none, and too few for 1000 hours
        none = written(ssd(f"{name} {count}", in_database=False, rotation_rpm=7200))
        assert (none.size_bytes, none.count, none.confidence) == (None, count, "unknown")


@pytest.mark.parametrize("count", [714, 37_763, 10**9])
def test_the_writes_of_an_ssd_that_smartctl_does_not_know_are_unknown(count: int) -> None:
    found = written(ssd(f"241 Total_LBAs_Written 99 0 {count}", in_database=False))
    assert (found.size_bytes, found.count, found.confidence) == (None, count, "unknown")
    assert found.note == "smartctl does not know this disk: the unit of attribute 241 is unknown"


def test_where_nobody_says_whether_the_disk_is_known_the_name_is_assumed_to_be_right() -> None:
    found = reading_of(
        {
            "model": "Example",
            "attributes": ["177 Wear_Leveling_Count 97 5 1", "241 Total_LBAs_Written 99 0 9"],
        }
    )
    assert (found.in_database, life_used(found).confidence) == (None, "assumed")
    assert (written(found).size_bytes, written(found).confidence) == (9 * 512, "assumed")


def test_sectors_are_the_disks_own() -> None:
    assert written(ssd("246 Total_LBAs_Written 99 0 10", sector_bytes=4096)).size_bytes == 40_960


def test_a_counter_in_two_halves() -> None:
    found = written(
        ssd(
            "241 Total_LBAs_Written_Low 100 0 0x100 0x00000000000100",
            "243 Total_LBAs_Written_High 100 0 0 0x000000000000",
        )
    )
    assert (found.count, found.size_bytes) == (256, 131_072)
    high = written(ssd("241 Total_LBAs_Written_Low 100 0 1", "243 Total_LBAs_Written_High 100 0 1"))
    assert (high.count, high.size_bytes) == ((1 << 56) + 1, None)


def test_the_unit_in_a_name_goes_before_sectors() -> None:
    found = written(ssd("233 Total_LBAs_Written 100 0 999", "225 Host_Writes_32MiB 100 0 3"))
    assert (found.source, found.size_bytes) == ("attribute 225 Host_Writes_32MiB", 3 * MIB32)


def test_more_than_a_disk_can_take_is_unknown() -> None:
    found = written(ssd("241 Lifetime_Writes_GiB 100 0 281474976710655"))
    assert found.size_bytes is None
    assert found.note == "281474976710655 units of 1073741824 bytes exceed what any disk can take"
    assert with_unit(found, 512, Confidence.MEASURED).size_bytes == 281474976710655 * 512


def test_standards_go_before_attributes() -> None:
    whole = smartctl_json(facts("samsung-sm843t"))
    whole["ata_device_statistics"] = {
        "pages": [
            {"number": 1, "table": [{"offset": 24, "value": 2 * 10**11, "flags": {"valid": True}}]},
            {"number": 7, "table": [{"offset": 8, "value": 11, "flags": {"valid": True}}]},
        ]
    }
    found = parsed(whole)
    assert (life_used(found).percent, life_used(found).source) == (11, "device statistics page 7")
    assert written(found).source == "device statistics page 1"
    assert (written(found).size_bytes, written(found).confidence) == (1024 * 10**11, "standard")
    whole["endurance_used"] = {"current_percent": 11}
    whole["host_writes"] = {"units": 2 * 10**11, "bytes_per_unit": 512}
    found = parsed(whole)
    assert (life_used(found).source, life_used(found).confidence) == ("device statistics page 7", "standard")
    assert written(found).source == "smartctl host_writes"


def test_statistics_that_are_not_valid_are_none() -> None:
    whole = smartctl_json(facts("samsung-sm843t"))
    whole["ata_device_statistics"] = {
        "pages": [{"number": 7, "table": [{"offset": 8, "value": 55, "flags": {"valid": False}}]}]
    }
    assert life_used(parsed(whole)).percent == 9


def test_no_finding_is_made_of_a_sound_disk() -> None:
    assert list(findings_of(wear_of_text(text_of("samsung-pm883"), "x"))) == []
