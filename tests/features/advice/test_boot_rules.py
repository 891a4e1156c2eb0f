"""What of a boot check is advice."""

from __future__ import annotations

import pytest

from raidtui.features.advice.boot_rules import advise_on_boot
from raidtui.features.advice.session import read_advice
from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict, Reason
from tests.monitor.boot.images import ENDS, image_root


def of(*reasons: Reason, name: str = "sda") -> DiskVerdict:
    return DiskVerdict(name=name, serial=f"S-{name}", reasons=reasons)


def reason(code: BootCode, *, boots: bool | None = False, about: str = "") -> Reason:
    return Reason(code=code, text="it is so", boots=boots, about=about)


def test_a_machine_that_boots_gets_none() -> None:
    notes = (reason(BootCode.SWAP_WAITS, boots=True), reason(BootCode.NOT_READ, boots=None))
    assert list(advise_on_boot([of(), of(*notes, name="sdb")])) == []


def test_a_disk_that_carries_all_is_no_matter_of_the_boot() -> None:
    assert list(advise_on_boot([of(reason(BootCode.ROOT_LOST), reason(BootCode.BOOT_LOST))])) == []


@pytest.mark.parametrize(
    ("code", "about", "order"),
    [
        (BootCode.NO_LOADER, "sdb", ("plan", "boot", "loader", "sdb")),
        (BootCode.ESP_EMPTY, "sdb", ("plan", "boot", "loader", "sdb")),
        (BootCode.INITRAMFS_REFUSES, "6.1.0-50", ("plan", "boot", "initramfs", "6.1.0-50")),
        (BootCode.FSTAB_WAITS, "/etc/fstab:3", ("plan", "boot", "fstab", "3")),
        (BootCode.ROOT_NAME, "6.1.0-50", ("plan", "boot", "menu")),
        (BootCode.NO_ESP, "", ()),
    ],
)
def test_a_card_and_its_plan(code: BootCode, about: str, order: tuple[str, ...]) -> None:
    (found,) = advise_on_boot([of(reason(code, about=about))])
    assert found.text == "without sda the machine does not boot: it is so"
    assert (found.code, found.subject, found.order) == (code, "sda", order)
    assert found.remedy


WITHOUT_ROOT = {BootCode.ROOT_LOST}  # a disk that carries all: no matter of the boot


@pytest.mark.parametrize("code", [code for code in BootCode if code not in WITHOUT_ROOT])
def test_each_rule_both_ways(code: BootCode) -> None:
    """A fact in the way is one card; what cannot be told, and a note, is none."""
    about = "/etc/fstab:3" if code.startswith(("fstab", "array")) else "sdb"
    (found,) = advise_on_boot([of(reason(code, about=about))])
    assert found.code == code
    assert list(advise_on_boot([of(reason(code, boots=None, about=about))])) == []
    assert list(advise_on_boot([of(reason(code, boots=True, about=about))])) == []


def cards(name: str) -> set[str]:
    """The codes of boot cards on an image that was booted."""
    codes = {str(code) for code in BootCode}
    return {each.code for each in read_advice(image_root(name), keeps=False).reported} & codes


@pytest.mark.parametrize("name", sorted(ENDS))
def test_cards_of_the_images_that_were_booted(name: str) -> None:
    """There is one if, and only if, a boot without some disk failed."""
    assert bool(cards(name)) is any(end != "up" for end in ENDS[name].values())


def test_a_fact_that_is_in_the_way_of_each_disk_is_one_card() -> None:
    same = reason(BootCode.INITRAMFS_NO_MODULE, about="6.1.0-50")
    (found,) = advise_on_boot([of(same), of(same, name="sdb")])
    assert found.text == "without sda, sdb the machine does not boot: it is so"
    assert found.detail == "6.1.0-50 S-sdb"
