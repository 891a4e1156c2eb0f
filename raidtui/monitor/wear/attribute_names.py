"""What an ATA attribute's name says: of remaining life, and of the unit in which writes are counted.

The names are those of smartctl's drive database (drivedb.h); unit and direction lie in the name alone.
An id says nothing: 202 and 248 are half a dozen things, 199 counts writes on some disks and bad transfers on
others. The same holds for the names that smartctl gives by default to a disk that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from raidtui.model.smart import Attribute

DEFAULT_NAMES: Mapping[int, str] = {
    177: "Wear_Leveling_Count",
    233: "Media_Wearout_Indicator",
    241: "Total_LBAs_Written",
}
"""Names without knowledge (drivedb.h, "DEFAULT"), of those that are read here."""

LBA = -1
"""A unit: the disk's logical sector."""
BARE = 0
"""A unit: none in the name."""

_MOST_PERCENT = 255  # as in NVMe's and ATA's own figures
_LEFT = re.compile(r"(life|endurance)\w*?(left|remain)|remain\w*_?(life|endurance)")
_USED = re.compile(r"(life|endurance)\w*?used")
_NO_LIFE = re.compile(r"spare|reserv|rsvd|rsrvd|energy|block|blk|test|die|protect")
# Normalized values count down from 100 by definition; for these the raw value is something else.
_NORMALIZED = re.compile(r"ssd_life_left(_perc)?|wear_leveling_count|media_wearout_indicator")
_RAW = re.compile(r"remaining_lifetime_perc|percent_life_remaining")
_LEAST_LEFT = 10  # a raw value below that beside a value of 100 may be anything
_BY_LEVELING = ("wear_leveling_count", "media_wearout_indicator")

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
_DECIMAL_UNITS = {"m": 6, "g": 9, "t": 12}
_HOST_WRITES = re.compile(
    r"(?:total_|lifetime_)?(?:host_)?(?:writes?|written|wts_frm_hst)(?:_([0-9]{0,4})([kmgt])(ib|b))?"
)
_HOST_LBAS = re.compile(r"(?:total_)?(?:host_)?(?:lbas?_written|writes_lbas?)|total_writes_lbas?")
_FLASH_WRITES = re.compile(
    r"(?:total_)?(?:nand|flash|media)_(?:writes?|written|prog_ct)_([0-9]{0,4})([mgt])ib"
)
LOW, HIGH = "Total_LBAs_Written_Low", "Total_LBAs_Written_High"


def percent_used(attribute: Attribute) -> int | None:
    """Return how much of the rated life an attribute says is used, percent; None where it does not say it."""
    name = attribute.name.casefold()
    value = attribute.value if attribute.value is not None and attribute.value <= 100 else None
    raw = attribute.count
    if name == "ssd_lifeleft(0.01%)":
        return None if raw is None or raw > 10_000 else (10_000 - raw) // 100
    if name == "media_wearout_indicator" and attribute.id == 230:
        return _packed(attribute.raw)
    if name == "ssd_life_left" and value is not None and contradicts(attribute):
        return 100 - (raw or 0) if value == 100 and (raw or 0) > _LEAST_LEFT else None
    if _NORMALIZED.fullmatch(name):
        # 0 is no normalized value of the standard's: worn out where there is a threshold, else not counted.
        return None if value is None or (value == 0 and not attribute.threshold) else 100 - value
    if _NO_LIFE.search(name):
        return None
    if _USED.search(name):
        return raw if raw is not None and raw <= _MOST_PERCENT else None
    if _LEFT.search(name):
        return _from_left(name, value, raw)
    return None


def contradicts(attribute: Attribute) -> bool:
    """Whether value and raw value of ``SSD_Life_Left`` disagree.

    The raw value is the percentage left, or used, or (with a threshold: SandForce, Seagate) something else.
    With some Phison firmware the value stays at 100; the raw value is then the percentage left.
    """
    value, raw = attribute.value, attribute.count
    if attribute.name.casefold() != "ssd_life_left" or attribute.threshold or value is None or raw is None:
        return False
    return 0 < value <= 100 and 0 < raw <= 100 and raw not in {value, 100 - value}


def _from_left(name: str, value: int | None, raw: int | None) -> int | None:
    """Remaining percent; the raw value is that again, or (Micron) the percent used, or anything."""
    if raw is None or raw > _MOST_PERCENT:
        return None if value is None else 100 - value
    if value is None:
        return 100 - raw if raw <= 100 else None
    if name == "percent_lifetime_remain":  # Micron: value = max(100 - raw, 0), raw = percent used
        return raw if value == 0 and raw > 100 else 100 - value
    if raw > 100:
        return 100 - value
    if value == 0 and raw > 0:  # some firmware has no normalized values at all
        return 100 - raw
    if raw == 0 and _RAW.fullmatch(name):  # nothing left, or not counted: one of the two figures is wrong
        return 100 if value <= 1 else None
    # One of the two may stay at 100: the other one counts.
    return 100 - value if raw in {0, 100 - value} else 100 - min(value, raw)


def _packed(raw: int | None) -> int | None:
    """SanDisk's and WD's 230: three words, the first and last percent used as 0xPPHH, P.H percent.

    The normalized value counts up on some of them and stays at 100 on others.
    """
    if raw is None or raw >= 1 << 48:
        return None
    first, last = raw >> 32, raw & 0xFFFF
    whole, hundredths = divmod(last, 256)
    return whole if first == last and hundredths < 100 and whole <= _MOST_PERCENT else None


def rank(attribute: Attribute) -> int:
    """Return how directly an attribute gives the life used: 0 in per cent, 1 and 2 by wear leveling."""
    name = attribute.name.casefold()
    return _BY_LEVELING.index(name) + 1 if name in _BY_LEVELING else 0


def host_unit(name: str) -> int | None:
    """Return the unit of an attribute that counts what the host wrote, bytes; ``LBA``; ``BARE``; or None.

    Writes to flash (NAND_, Flash_, TLC_, SLC_, Media_) exceed what the host wrote and are not counted.
    """
    folded = name.casefold()
    if _HOST_LBAS.fullmatch(folded):
        return LBA
    found = _HOST_WRITES.fullmatch(folded)
    if found is None or not folded.startswith(("host_", "total_", "lifetime_")):
        return None
    if found[2] is None:
        return BARE
    times = int(found[1] or 1)
    if found[3] == "ib":
        return times << _UNITS[found[2]]
    return times * 10 ** _DECIMAL_UNITS[found[2]] if found[2] in _DECIMAL_UNITS else None


def flash_unit(name: str) -> int | None:
    """Return the unit of an attribute that counts what went to flash, bytes; None where it counts none.

    SLC and TLC parts count apart, and are no sum.
    """
    found = _FLASH_WRITES.fullmatch(name.casefold())
    return int(found[1] or 1) << _UNITS[found[2]] if found is not None else None


def is_decimal(name: str) -> bool:
    """Whether the unit is written GB or MB; manufacturers often mean GiB and MiB."""
    return name.casefold().endswith(("gb", "mb", "tb"))
