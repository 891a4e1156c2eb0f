"""What is said of a stack, and what is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase, Sync
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.stack_findings import StackCode, StackFinding
from raidtui.monitor.stack.stack_reader import StackLook, StackReader
from raidtui.monitor.stack.survival import MOST_LOST, Survival
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.monitor.stack.test_stack_nodes import called

IDLE = (0, 0, 0, 0)
BUSY = (0, 0, 300, 60_000 * 30)
"""Over 40 s: 23 MB a second."""


def arrays_of(host: StackHost) -> dict[str, Array]:
    """Return the arrays of md by name."""
    return {array.name: array for array in Sampler(host).sample().arrays}


def look_at(host: StackHost) -> StackLook:
    """One reading."""
    return StackReader(host).look(arrays_of(host))


def found(look: StackLook, code: StackCode) -> list[StackFinding]:
    """The findings with a code."""
    return [each for each in look.findings if each.code is code]


def worked(host: StackHost, seconds: float, **moved: tuple[int, int, int, int]) -> StackLook:
    """Two readings, and what was done between them."""
    reader = StackReader(host)
    reader.look({})
    host.work(seconds, {name.replace("_", "-"): each for name, each in moved.items()})
    return reader.look(arrays_of(host))


# -- caches


def test_writeback_on_one_disk_above_a_raid5() -> None:
    (finding,) = found(look_at(StackHost()), StackCode.CACHE_ALONE)
    assert finding.role == "bad"
    assert finding.text == (
        "vc/slow is cached in writeback mode on ubdf alone, which survives no lost disk, above what survives"
        " 1 lost disk: losing the cache loses what was not written back (now 0 B), and"
        " with it the file system"
    )
    assert finding.remedy == "lvchange --cachemode writethrough vc/slow, or a mirror under the cache"


def test_writethrough_on_one_disk() -> None:
    host = StackHost()
    host.change(STATUS_FILE, "metadata2 writeback", "metadata2 writethrough")
    (finding,) = found(look_at(host), StackCode.CACHE_ALONE)
    assert finding.role == "plain"
    assert finding.text == (
        "the cache of vc/slow is on ubdf alone; in writethrough mode no data are lost with it"
    )


def test_a_cache_on_a_mirror_is_not_said() -> None:
    """vc/wslow has its write cache on a RAID 1, above a RAID 5: both survive one disk."""
    host = StackHost()
    look = look_at(host)
    name = called(look.meter.now, "vc/wslow").name
    assert name not in {each.node for each in found(look, StackCode.CACHE_ALONE)}


def test_a_degraded_mirror_under_a_cache() -> None:
    host = StackHost()
    arrays = arrays_of(host)
    arrays["md21"] = replace(arrays["md21"], up="U_", members=arrays["md21"].members[:1])
    look = StackReader(host).look(arrays)
    name = called(look.meter.now, "vc/wslow").name
    assert name in {each.node for each in found(look, StackCode.CACHE_ALONE)}


def test_a_cache_that_does_not_work() -> None:
    host = StackHost()
    text = host.text_of(STATUS_FILE)
    line = next(each for each in text.split("\n") if each.startswith("vc-slow: "))
    host.change(STATUS_FILE, line, "vc-slow: 0 245760 cache Fail")
    (finding,) = found(look_at(host), StackCode.CACHE_BROKEN)
    assert finding.text == "the cache of vc/slow does not work: the kernel says Fail"


def test_what_layers_survive() -> None:
    host = StackHost()
    stack = look_at(host).meter.now
    survival = Survival(stack, arrays_of(host))
    expected = {
        "ubda": 0,
        "md20": 1,
        "md21": 1,
        "vc/slow_corig": 1,
        "vc/slow": 0,  # in writeback mode, with its cache on one disk
        "vc/wslow": 1,
        "vc/r1": 2,  # a mirror of a mirror and a disk
        "vc/th": 0,
        "home-crypt": 1,
        "bcache0": 0,
    }

    assert {label: survival.losses(called(stack, label).name) for label in expected} == expected
    assert survival.losses("md20", "md21") == 1
    assert survival.losses("gone") is None
    assert max(expected.values()) < MOST_LOST


def test_an_array_that_is_not_known() -> None:
    stack = look_at(StackHost()).meter.now
    assert Survival(stack, {}).losses("md20") is None


def test_two_partitions_of_one_disk_are_one_loss() -> None:
    """A mirror of two devices that stand on one disk survives no lost disk."""
    host = StackHost()
    stack = look_at(host).meter.now
    nodes = dict(stack.nodes)
    nodes["ubdd"] = replace(nodes["ubdd"], parents=("ubda",))
    nodes["ubde"] = replace(nodes["ubde"], parents=("ubda",))
    assert Survival(replace(stack, nodes=nodes), arrays_of(host)).losses("md21") == 0


# -- balance


def linear(stack_host: StackHost) -> str:
    """The kernel's name of the linear volume over two arrays."""
    return called(look_at(stack_host).meter.now, "vc/lin").name.replace("-", "_")


def test_one_array_attends_to_all_of_a_linear_volume() -> None:
    host = StackHost()
    look = worked(host, 40.0, md20=BUSY, md21=IDLE, **{linear(host): BUSY})
    (finding,) = found(look, StackCode.ONE_CARRIES_ALL)
    assert finding.text == (
        "md20 serves 100% of the bytes of vc/lin, md21 the rest: the volume is linear, with one device"
        " after the other, and the data in use lies on one of them"
    )
    assert finding.remedy == (
        "a new volume with lvcreate --stripes 2, and copy; a volume is not striped afterwards"
    )


def test_of_a_striped_volume_the_reason_is_another() -> None:
    host = StackHost()
    name = called(look_at(host).meter.now, "vc/str").name.replace("-", "_")
    (finding,) = found(worked(host, 40.0, md20=BUSY, **{name: BUSY}), StackCode.ONE_CARRIES_ALL)
    assert "the data in use lies within few stripes" in finding.text


def test_an_array_that_syncs_is_the_reason() -> None:
    host = StackHost()
    reader = StackReader(host)
    reader.look({})
    host.work(40.0, {"md20": BUSY, linear(host).replace("_", "-"): BUSY})
    arrays = arrays_of(host)
    sync = Sync(action="check", phase=Phase.RUNNING, done_kib=1, total_kib=2)
    arrays["md20"] = replace(arrays["md20"], sync=sync)
    (finding,) = found(reader.look(arrays), StackCode.ONE_CARRIES_ALL)
    assert "md20 is syncing, which counts as well" in finding.text


@pytest.mark.parametrize(
    ("seconds", "first", "second", "own"),
    [
        (29.0, BUSY, IDLE, BUSY),  # too short
        (40.0, (0, 0, 300, 6000), IDLE, (0, 0, 300, 6000)),  # too little
        (40.0, BUSY, BUSY, BUSY),  # spread
        (40.0, BUSY, IDLE, (0, 0, 30, 60_000)),  # of something else on that array
    ],
)
def test_balance_is_not_judged(
    seconds: float,
    first: tuple[int, int, int, int],
    second: tuple[int, int, int, int],
    own: tuple[int, int, int, int],
) -> None:
    host = StackHost()
    look = worked(host, seconds, md20=first, md21=second, **{linear(host): own})
    assert found(look, StackCode.ONE_CARRIES_ALL) == []


def test_a_pvmove_is_not_judged() -> None:
    host = StackHost()
    name = linear(host)
    other = called(look_at(host).meter.now, "vc/th").name
    host.put(f"/sys/class/block/{other}/dm/name", "vc-pvmove0\n")
    look = worked(host, 40.0, md20=BUSY, **{name: BUSY})
    assert found(look, StackCode.ONE_CARRIES_ALL) == []


def test_many_small_requests_count_by_number() -> None:
    host = StackHost()
    small = (10_000, 80_000, 0, 0)
    look = worked(host, 40.0, md20=small, md21=(1000, 8000, 0, 0), **{linear(host): small})
    (finding,) = found(look, StackCode.ONE_CARRIES_ALL)
    assert finding.text.startswith("md20 serves 91% of the requests of vc/lin")


# -- the rest


@pytest.mark.parametrize(
    ("used", "role", "text"),
    [
        ("150/192", "", ""),
        ("170/192", "warn", "uses 89% of its data; when it is full, writes wait for 60 s, and fail then"),
        ("190/192", "bad", "uses 99% of its data; when it is full, writes wait for 60 s, and fail then"),
    ],
)
def test_a_thin_pool(used: str, role: str, text: str) -> None:
    host = StackHost()
    host.change(STATUS_FILE, " 0/192 ", f" {used} ")
    said = found(look_at(host), StackCode.POOL_FULL)
    assert [(each.role, each.text) for each in said] == (
        [(role, f"the thin pool vc/tp {text}")] if text else []
    )


def test_a_thin_pool_out_of_space() -> None:
    host = StackHost()
    host.change(STATUS_FILE, " rw no_discard_passdown", " out_of_data_space no_discard_passdown")
    (finding,) = found(look_at(host), StackCode.POOL_FULL)
    assert finding.text == "the thin pool vc/tp takes no writes: out_of_data_space"


def test_a_suspended_volume() -> None:
    host = StackHost()
    name = called(look_at(host).meter.now, "vc/str").name
    host.put(f"/sys/class/block/{name}/dm/suspended", "1\n")
    (finding,) = found(look_at(host), StackCode.SUSPENDED)
    assert finding.text == "vc/str is suspended: everything that reads or writes it hangs"
    assert finding.remedy == "wait for what has suspended it, or: dmsetup resume vc-str"


def test_where_discards_end_is_said_once() -> None:
    said = found(look_at(StackHost()), StackCode.DISCARDS_END)
    assert [each.text.partition(":")[0] for each in said] == [
        "discards (TRIM) end at md20",
        "discards (TRIM) end at vc/tp",
        "discards (TRIM) end at home-crypt",
    ]
