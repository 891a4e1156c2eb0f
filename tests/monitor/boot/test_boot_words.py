"""What a boot check has found, in sentences."""

from __future__ import annotations

from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict, Reason
from raidtui.monitor.boot.boot_words import boot_sentences, boots_without_any, indispensable

NO_CODE = Reason(code=BootCode.NO_LOADER, text="sdb has no boot code", about="sdb")
NO_ESP = Reason(code=BootCode.NO_ESP, text="no other disk has an EFI system partition")
UNREAD = Reason(code=BootCode.NOT_READ, text="sdb can only be read by root", boots=None)
ORDER = Reason(code=BootCode.LOADER_ORDER, text="it depends", boots=None, about="sdb")
NOTE = Reason(code=BootCode.SWAP_WAITS, text="the boot waits", boots=True)
LOST = Reason(code=BootCode.ROOT_LOST, text="it is lost")


def of(name: str, *reasons: Reason) -> DiskVerdict:
    return DiskVerdict(name=name, reasons=reasons)


def test_it_boots() -> None:
    verdicts = (of("sda"), of("sdb", NOTE))
    assert boot_sentences(verdicts) == ("The machine boots without any one of sda and sdb.",)
    assert (boots_without_any(verdicts), indispensable(verdicts)) == (True, ())


def test_it_does_not_with_its_plan() -> None:
    verdicts = (of("sda", NO_CODE, UNREAD), of("sdb"))
    assert boot_sentences(verdicts) == (
        "The machine boots without sdb.",
        "Without sda the machine does not boot: sdb has no boot code. Plan: raidtui plan boot loader sdb.",
    )
    assert (boots_without_any(verdicts), indispensable(verdicts)) == (False, ("sda",))


def test_one_fact_of_two_disks_and_no_plan() -> None:
    assert boot_sentences((of("sda", NO_ESP), of("sdb", NO_ESP))) == (
        (
            "Without sda and sdb the machine does not boot: no other disk has an EFI system partition. To do:"
            " make an EFI system partition on another disk, and put a boot loader there."
        ),
    )


def test_it_cannot_be_told() -> None:
    verdicts = (of("sda", UNREAD), of("sdb", ORDER))
    assert boot_sentences(verdicts) == (
        "It is not known whether the machine boots without sda: sdb can only be read by root.",
        (
            "It is not known whether the machine boots without sdb: it depends. Plan: raidtui plan boot"
            " loader sdb."
        ),
    )
    assert (boots_without_any(verdicts), indispensable(verdicts)) == (None, ())


def test_a_disk_that_carries_the_root_alone() -> None:
    assert boot_sentences((of("nvme0n1", LOST),)) == (
        "Without nvme0n1 it does not boot: the root file system is on that disk alone.",
    )


def test_nothing_is_known() -> None:
    assert boot_sentences(()) == (
        "It is not known whether the machine boots without any one disk: how it boots is not known.",
    )
    assert boots_without_any(()) is None
