"""Disks that age together, spares, schedulers, caches, bitmaps: each on a sick host and on a well one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.advice.advice import Advice, AdviceCode
from raidtui.features.advice.advice_rules import advise
from raidtui.model.array import Bitmap
from raidtui.model.drive_cache import DriveCache
from raidtui.model.finding import Severity
from raidtui.model.knob import KnobScope, Subject, Tuning, Value
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.wear.ledger_entries import LedgerEntry
from tests.features.advice.test_advice_rules import codes, facts, layers, mounted, snapshot
from tests.hosts.specs import ArraySpec, raid1, raid5, raid6, raid10

TIB_KIB = 1 << 30


def aged(seen: Snapshot, **more: Any) -> dict[str, LedgerEntry]:
    """A history in which all disks are of one kind and have aged alike, but for what is said of the last."""
    serials = [seen.disks[member.name].identity for member in seen.arrays[0].members]
    assert all(serials)
    one = LedgerEntry(disk="", at_s=1.0, model="Evo", firmware="2B6Q", hours=20_000, percent=40)
    entries = {serial: replace(one, disk=serial) for serial in serials}
    return {**entries, serials[-1]: replace(entries[serials[-1]], **more)}


def twins(spec: ArraySpec, **more: Any) -> tuple[Advice, ...]:
    seen = snapshot(spec)
    return advise(facts(snapshot=seen, ages=aged(seen, **more)))


def test_a_mirror_of_two_that_age_alike() -> None:
    (found,) = twins(raid1(), hours=20_400)
    assert (found.code, found.severity) == (AdviceCode.AGED_ALIKE, Severity.INFO)
    assert "20,000 and 20,400 hours" in found.text
    assert ", 40 % of their endurance used" in found.text
    serials = found.detail.split(" ")
    assert len(serials) == 2
    assert serials == sorted(serials)
    assert "convenient" in found.remedy


@pytest.mark.parametrize("percent", [41, 39])
def test_the_one_that_is_more_worn_goes_first(percent: int) -> None:
    seen = snapshot(raid1())
    names = [member.name for member in seen.arrays[0].members]
    (found,) = twins(raid1(), percent=percent)
    first = names[-1] if percent > 40 else names[0]
    assert f"first {first} (serial number {seen.disks[first].identity})" in found.remedy


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({"percent": 69}, Severity.INFO),
        ({"percent": 70}, Severity.ATTENTION),
        ({"percent": None}, Severity.INFO),
    ],
)
def test_it_matters_once_both_are_worn(more: dict[str, Any], severity: Severity) -> None:
    seen = snapshot(raid1())
    ages = {serial: replace(each, percent=80) for serial, each in aged(seen).items()}
    last = max(ages, key=lambda serial: list(ages).index(serial))
    ages[last] = replace(ages[last], **more)
    (found,) = advise(facts(snapshot=seen, ages=ages))
    assert found.severity is severity
    assert ("endurance" in found.text) == (more["percent"] is not None)


@pytest.mark.parametrize(
    "more",
    [
        {"model": "Pro"},
        {"model": ""},
        {"firmware": "1B6Q"},
        {"hours": 21_100},
        {"hours": None},
        {"hours": 999},
    ],
)
def test_disks_that_differ(more: dict[str, Any]) -> None:
    assert twins(raid1(), **more) == ()


def test_new_disks_are_alike() -> None:
    seen = snapshot(raid1())
    young = {serial: replace(each, hours=999) for serial, each in aged(seen).items()}
    assert advise(facts(snapshot=seen, ages=young)) == ()


def test_what_is_not_in_the_history_is_not_judged() -> None:
    seen = snapshot(raid1())
    ages = aged(seen)
    ages.popitem()
    assert advise(facts(snapshot=seen, ages=ages)) == ()


@pytest.mark.parametrize(
    ("spec", "pairs"),
    [(raid1(), 1), (raid10(), 2), (raid5(), 0), (raid6(), 0), (raid1(members=("sda", "sdb", "sdc")), 0)],
)
def test_pairs_by_level(spec: ArraySpec, pairs: int) -> None:
    """Of a RAID 10 each pair that holds the same data; not of parity, nor of three copies."""
    assert codes(twins(spec)) == [AdviceCode.AGED_ALIKE] * pairs


def test_a_pair_with_two_arrays_is_said_once() -> None:
    seen = snapshot(raid1(label="b"))
    other = replace(seen.arrays[0], label="a", uuid="11111111:22222222:33333333:44444444", name="md5")
    both = replace(seen, arrays=(*seen.arrays, other))
    (found,) = advise(facts(snapshot=both, ages=aged(seen)))
    assert found.subject == "a"


@pytest.mark.parametrize(
    ("spec", "size_kib", "found"),
    [
        (raid5(), TIB_KIB + 1, True),
        (raid5(), TIB_KIB, False),
        (raid5(spares=("sdp",)), TIB_KIB + 1, False),
        (raid5(failed=("sdg",)), TIB_KIB + 1, False),
        (raid6(), TIB_KIB + 1, False),
        (raid1(), TIB_KIB + 1, False),
    ],
)
def test_no_spare(spec: ArraySpec, size_kib: int, found: bool) -> None:  # noqa: FBT001
    advice = advise(facts(snapshot=snapshot(spec, component_kib=size_kib)))
    assert codes(advice) == ([AdviceCode.NO_SPARE] if found else [])
    assert all(each.severity is Severity.INFO for each in advice)


def with_bitmap(spec: ArraySpec, chunk_bytes: int | None, rotational: bool | None, **more: Any) -> Snapshot:  # noqa: FBT001
    bitmap = Bitmap(location="+8", chunk_bytes=chunk_bytes)
    seen = snapshot(spec, bitmap=bitmap, **more)
    disks = {name: replace(disk, rotational=rotational) for name, disk in seen.disks.items()}
    return replace(seen, disks=disks)


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (with_bitmap(raid10(), 4 << 20, False), True),
        (with_bitmap(raid1(), 4 << 20, False), True),
        (with_bitmap(raid10(), 16 << 20, False), False),
        (with_bitmap(raid10(), None, False), False),
        (with_bitmap(raid10(), 4 << 20, True), False),
        (with_bitmap(raid10(), 4 << 20, None), False),
        (with_bitmap(raid6(), 4 << 20, False), False),
        (with_bitmap(raid10(), 4 << 20, False, component_kib=97_656_249), False),
        (with_bitmap(raid10(), 4 << 20, False, container="md127"), False),
    ],
)
def test_a_fine_bitmap(seen: Snapshot, found: bool) -> None:  # noqa: FBT001
    advice = advise(facts(snapshot=seen))
    assert codes(advice) == ([AdviceCode.FINE_BITMAP] if found else [])
    assert all("4M" in each.text or "4 MiB" in each.text for each in advice)


@pytest.mark.parametrize(
    ("kind", "scheduler", "arrays", "found"),
    [
        ("nvme", "bfq", ("key",), True),
        ("nvme", "none", ("key",), False),
        ("nvme", "bfq", (), False),
        ("sata", "bfq", ("key",), False),
    ],
)
def test_bfq(kind: str, scheduler: str, arrays: tuple[str, ...], found: bool) -> None:  # noqa: FBT001
    disk = Subject(
        scope=KnobScope.DISK,
        name="nvme0n1",
        title="nvme0n1",
        kind=kind,
        arrays=arrays,
        values={"scheduler": Value(text=scheduler)},
    )
    advice = advise(facts(tuning=Tuning(subjects=(disk,))))
    assert codes(advice) == ([AdviceCode.BFQ_ON_NVME] if found else [])
    assert all(each.remedy == "raidtui tune set nvme0n1 scheduler=none" for each in advice)


@pytest.mark.parametrize(
    ("flushed", "caches", "found"),
    [
        (False, True, True),
        (True, True, False),
        (False, False, False),
        (False, None, False),
        (None, True, False),
    ],
)
def test_a_cache_that_is_never_flushed(flushed: bool | None, caches: bool | None, found: bool) -> None:  # noqa: FBT001
    cache = DriveCache(name="sda", flushed=flushed, caches=caches)
    advice = advise(facts(drive_caches=(cache,)))
    assert [(each.code, each.subject) for each in advice] == ([("no-flushes", "sda")] if found else [])


@pytest.mark.parametrize(
    ("options", "flushed", "found"),
    [
        ("rw,relatime,nobarrier", True, True),
        ("rw,barrier=0", True, True),
        ("rw,barrier=1", True, False),
        ("rw,nobarrier", False, False),
        ("rw,nobarrier", None, False),
    ],
)
def test_a_file_system_that_sends_no_flushes(options: str, flushed: bool | None, found: bool) -> None:  # noqa: FBT001
    caches = tuple(DriveCache(name=name, flushed=flushed) for name in ("sda", "sdb"))
    host = facts(stack=layers(system=mounted(0.5)), options={"/srv": options}, drive_caches=caches)
    advice = advise(host)
    assert [(each.code, each.subject) for each in advice] == ([("no-flushes", "/srv")] if found else [])
    assert all("sda and sdb cache writes" in each.text for each in advice)
