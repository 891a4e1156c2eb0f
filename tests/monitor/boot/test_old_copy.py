"""A member that left its array and does not know it."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.boot import BootFacts
from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict
from raidtui.monitor.boot.boot_verdicts import judge_boot
from tests.monitor.boot.test_boot_rules import healthy

UUID = "11111111:22222222:33333333:44444444"


def without_b(facts: BootFacts) -> tuple[DiskVerdict, DiskVerdict]:
    """The verdicts where ubdb3 has left md0."""
    _, stack, arrays = healthy()
    array: Array = arrays["md0"]
    left = replace(array, up="U_", members=tuple(each for each in array.members if each.name != "ubdb3"))
    node = replace(stack.nodes["md0"], parents=("ubda3",))
    degraded = replace(stack, nodes={**stack.nodes, "md0": node})
    first, second = judge_boot(facts, degraded, {**arrays, "md0": left})
    return first, second


def codes(verdict: DiskVerdict) -> list[BootCode]:
    return [each.code for each in verdict.reasons]


def test_it_may_come_up_with_old_data() -> None:
    facts = replace(healthy()[0], former=(("ubdb3", UUID.replace(":", "-")),))
    last, gone = without_b(facts)
    assert [(each.code, each.boots) for each in last.reasons] == [(BootCode.OLD_COPY, None)]
    assert last.reasons[0].text == (
        "ubdb3 has left the array, but does not record that: the machine may boot with its old data"
    )
    assert codes(gone) == [BootCode.ARRAY_NOT_STARTED]  # /srv, and it did end so in QEMU: "degraded"


def test_its_superblock_was_zeroed() -> None:
    last, gone = without_b(healthy()[0])
    assert {each.code for each in last.reasons} == {BootCode.BOOT_LOST, BootCode.ROOT_LOST}
    assert codes(gone) == [BootCode.ARRAY_NOT_STARTED]  # /srv, and it did end so in QEMU: "degraded"


def test_another_array_had_it() -> None:
    facts = replace(healthy()[0], former=(("ubdb3", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"),))
    assert without_b(facts)[0].boots_without is False
