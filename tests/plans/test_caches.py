"""Caches: their knobs, which values are confirmed first, and the plans that write back and detach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.stack.plan_caches import flush_and_detach, plan_detach, plan_flush
from raidtui.features.tune.session import Tuner
from raidtui.host.stack.bcache_files import bcache_bytes, bcache_text
from raidtui.host.stack.cache_facts import FACT_READERS
from raidtui.host.tools import output_path
from raidtui.model.fact import FactKind
from raidtui.model.knob import By, KnobScope, Subject, Tuning
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import shell_script
from raidtui.plans.tune.findings import judge_tuning
from raidtui.plans.tune.keep import KeepItem, plan_keep
from raidtui.plans.tune.keep_files import UDEV
from raidtui.plans.tune.now import AskedValue, plan_set
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.plans.goldens import accepted, commands

FILES = "/sys/class/block/bcache0/bcache"
SET = "d3b1308b-4dd3-41dd-bac1-5d35e621f92e"
BACKING = "35f36651-200c-44c4-9a17-0236e6979f8b"


class CacheHost(StackHost):
    """The captured host, with all that bcache shows."""

    def __init__(self) -> None:
        super().__init__()
        self.put(f"{FILES}/writeback_percent", "10\n")
        self.put(f"{FILES}/sequential_cutoff", "4.0M\n")
        self.put(f"{FILES}/backing_dev_uuid", f"{BACKING}\n")
        self._links[f"{FILES}/cache"] = f"../../../../../fs/bcache/{SET}"

    @property
    def writable(self) -> bool:
        """Root looks at it."""
        return True


def seen(host: StackHost) -> tuple[Snapshot, Tuning]:
    """The state as root sees it, and the knobs."""
    snapshot = Sampler(host).sample()
    return snapshot, Tuner(host).read(snapshot)


def cache(tuning: Tuning, title: str) -> Subject:
    (found,) = [each for each in tuning.of(KnobScope.CACHE) if each.title == title]
    return found


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0.0k"),
        (512, "0.5k"),
        (524288, "512.0k"),
        (4 << 20, "4.0M"),
        (20480000, "19.5M"),
        (2**32 - 1, "3.9G"),
    ],
)
def test_sizes_as_bcache_prints_them(number: int, shown: str) -> None:
    """As a kernel 6.1 printed them."""
    assert bcache_text(number) == shown
    assert bcache_bytes(shown) is not None


def test_knobs() -> None:
    _, tuning = seen(CacheHost())
    lvm, bcache = cache(tuning, "vc/slow"), cache(tuning, "bcache0")
    assert {knob: value.text for knob, value in lvm.values.items()} == {
        "cache_mode": "writeback", "cache_policy": "smq", "migration_threshold": "2048"
    }  # fmt: skip
    assert {knob: value.text for knob, value in bcache.values.items()} == {
        "cache_mode": "writeback", "writeback_percent": "10", "sequential_cutoff": str(4 << 20)
    }  # fmt: skip
    assert (lvm.volume, lvm.pooled, lvm.map) == ("vc/fast", False, "vc-slow")
    assert lvm.values["cache_mode"].set_by.by is By.METADATA
    assert all(value.survives for value in (*lvm.values.values(), *bcache.values.values()))


def test_a_host_without_caches_runs_no_tool() -> None:
    host = StackHost()
    for name in host.names("/sys/class/block"):
        if name.startswith(("dm-", "bcache")):
            host.drop(f"/sys/class/block/{name}")
    host.drop("/.raidtui/run")
    _, tuning = seen(host)
    assert tuning.of(KnobScope.CACHE) == ()
    assert [each for each in tuning.lacks if "dmsetup" in each] == []


def test_without_dmsetup() -> None:
    """What it would say is not known, and said so; bcache is there."""
    host = CacheHost()
    host.drop("/.raidtui/run")
    _, tuning = seen(host)
    assert [each.title for each in tuning.of(KnobScope.CACHE)] == ["bcache0"]
    assert "Dmsetup was not run for this capture: its answer is not known." in tuning.lacks


def test_a_kept_value_is_read_from_the_rule() -> None:
    host = CacheHost()
    snapshot, tuning = seen(host)
    plan = plan_keep(
        snapshot, tuning, [KeepItem(subject="bcache0", knob="sequential_cutoff", value="20480000")]
    )
    assert isinstance(plan, Plan)
    (text,) = [step.content for step in plan.steps if step.path == UDEV]
    assert text is not None
    host.put(UDEV, text)
    host.put(f"{FILES}/sequential_cutoff", "19.5M\n")
    _, tuning = seen(host)
    value = cache(tuning, "bcache0").values["sequential_cutoff"]
    assert (value.text, value.kept, value.survives) == ("20480000", "20480000", True)


def test_facts_of_a_writecache() -> None:
    """What is read right before and after each step."""
    host = CacheHost()
    line = next(each for each in host.text_of(STATUS_FILE).split("\n") if each.startswith("vc-wslow: "))
    status = output_path(("dmsetup", "status", "--noflush", "vc-wslow"))
    host.put(status, f"exit 0\n{line.partition(': ')[2]}\n")
    table = output_path(("dmsetup", "table", "vc-wslow"))
    host.put(table, "exit 0\n0 81920 writecache s 253:7 253:3 4096 1 cleaner\n")

    def lacks(value: str) -> str:
        return FACT_READERS[FactKind.CACHED](host, "vc-wslow", value)

    total, free = line.split()[5:7]
    held = int(total) - int(free)
    assert held > 0
    assert lacks("held 0") == f"the cache of vc-wslow holds {held} blocks that are not written back"
    assert [lacks(each) for each in (f"held {held}", "mode writeback", "cleaner yes", "yes")] == [""] * 4
    assert lacks("cleaner no") == "the kernel has cleaner yes for vc-wslow, not no"
    assert lacks("mode writethrough") == "vc-wslow has a dm-writecache, which is never writethrough"
    assert lacks("no") == "vc-wslow is still cached"
    host.put(status, "exit 0\n0 81920 linear\n")
    assert [lacks(each) for each in ("no", "yes", "held 0")] == ["", *["vc-wslow is not cached"] * 2]


DIRTY, THROUGH = ((f"{FILES}/state", "dirty\n"),), ("metadata2 writeback", "metadata2 writethrough")
HALF_DIRTY = (" 295 0 3 metadata2", " 295 64 3 metadata2")


def of_cache(
    title: str,
    plan: Callable[..., Plan | Refusal],
    *status: tuple[str, str],
    files: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> Plan | Refusal:
    """The answer about one cache; ``more`` is of the subject, but for ``deletes``."""
    host = CacheHost()
    for old, new in status:
        host.change(STATUS_FILE, old, new)
    for path, text in files:
        host.put(path, text)
    snapshot, tuning = seen(host)
    words = {"deletes": more.pop("deletes")} if "deletes" in more else {}
    return plan(snapshot, replace(cache(tuning, title), **more), **words)


def sets(subject: str, knob: str, value: str, *status: tuple[str, str]) -> Plan | Refusal:
    host = CacheHost()
    for old, new in status:
        host.change(STATUS_FILE, old, new)
    return plan_set(*seen(host), [AskedValue(subject=subject, knob=knob, value=value)])


def keeps(subject: str, knob: str, value: str = "") -> Plan | Refusal:
    return plan_keep(
        *seen(CacheHost()), [KeepItem(subject=subject, knob=knob, **({"value": value} if value else {}))]
    )


test_plans = accepted(
    {
        # LVM sets with every option; the kernel has to have the value afterwards.
        "set: a setting of LVM": lambda: sets("dm-0", "migration_threshold", "4096"),
        "set: writethrough": lambda: sets("dm-0", "cache_mode", "writethrough"),
        # On one disk above what survives one: it is confirmed.
        "set: writeback": lambda: sets("dm-0", "cache_mode", "writeback", THROUGH),
        # Bcache's numbers by udev, with its UUID; modes last by themselves, and LVM's settings.
        "keep: a number of bcache": lambda: keeps("bcache0", "writeback_percent", "20"),
        "keep: a mode of bcache": lambda: keeps("bcache0", "cache_mode"),
        "keep: a mode of LVM": lambda: keeps("dm-0", "cache_mode"),
        "keep: a setting of LVM": lambda: keeps("dm-0", "migration_threshold"),
        "flush: bcache": lambda: of_cache("bcache0", plan_flush, files=DIRTY),
        "flush: dm-cache": lambda: of_cache("vc/slow", plan_flush, HALF_DIRTY),
        # As after a crash: the kernel's policy writes back, and is what it was afterwards.
        "flush: dm-cache, dirty in writethrough": lambda: of_cache(
            "vc/slow", plan_flush, HALF_DIRTY, THROUGH
        ),
        # LVM lets nothing new into it meanwhile.
        "flush: dm-writecache": lambda: of_cache("vc/wslow", plan_flush),
        "flush: nothing is dirty": lambda: of_cache("vc/slow", plan_flush),
        "flush: what is dirty is not known": lambda: of_cache("vc/wslow", plan_flush, cache=None),
        "detach: bcache": lambda: of_cache("bcache0", plan_detach, files=DIRTY),
        "detach: bcache, none there": lambda: of_cache(
            "bcache0", plan_detach, files=((f"{FILES}/state", "no cache\n"),)
        ),
        "detach: bcache, inconsistent": lambda: of_cache(
            "bcache0", plan_detach, files=((f"{FILES}/state", "inconsistent\n"),)
        ),
        # Undone, it has the settings that it had.
        "detach: dm-cache": lambda: of_cache("vc/slow", plan_detach, HALF_DIRTY),
        "detach: dm-writecache": lambda: of_cache("vc/wslow", plan_detach),
        "detach: the volume is not known": lambda: of_cache("vc/wslow", plan_detach, volume=""),
        "detach: what is dirty is not known": lambda: of_cache("vc/wslow", plan_detach, cache=None),
        "delete: the volume is not known": lambda: of_cache("vc/wslow", plan_detach, volume="", deletes=True),
    }
)
test_commands = accepted(
    {
        "delete: dm-cache": lambda: of_cache("vc/slow", plan_detach, HALF_DIRTY, deletes=True),
        "delete: dm-writecache": lambda: of_cache("vc/wslow", plan_detach, deletes=True),
    },
    commands,
)


def test_each_offer_is_refused_where_it_is_not_known_what_is_dirty() -> None:
    snapshot, tuning = seen(CacheHost())
    slow = replace(cache(tuning, "vc/wslow"), cache=None)
    offers = [planner(snapshot, slow) for _, _, planner in flush_and_detach(slow)]
    assert offers
    assert all(isinstance(each, Refusal) for each in offers)


def test_scripts_wait_until_it_is_clean() -> None:
    def script(title: str, *status: tuple[str, str], **more: Any) -> str:
        found = of_cache(title, plan_flush, *status, **more)
        assert isinstance(found, Plan)
        return shell_script(found)

    assert f'until [ "$(cat {FILES}/state)" = clean ]; do sleep 1; done' in script("bcache0", files=DIRTY)
    assert "cut -d' ' -f14" in script("vc/slow", HALF_DIRTY)
    assert (
        'until dmsetup status --noflush vc-wslow | { read -r _ _ _ _ all free _; [ "$all" = "$free" ]; };'
        " do sleep 1; done"
    ) in script("vc/wslow")


def test_writeback_on_one_disk_is_found() -> None:
    host = CacheHost()
    host.change(STATUS_FILE, *THROUGH)
    assert [each.code for each in judge_tuning(seen(host)[1])] == []
    _, tuning = seen(CacheHost())
    assert [(each.code, each.about) for each in judge_tuning(tuning)] == [
        ("tune-cache-alone", (("dm-0", "cache_mode"),))
    ]
    assert cache(tuning, "bcache0").alone == ""  # one disk above one disk
