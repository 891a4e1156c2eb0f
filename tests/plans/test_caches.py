"""Caches: their knobs, which values are confirmed first, and the plans that write back and detach."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.stack.plan_caches import flush_and_detach, plan_detach, plan_flush
from raidtui.features.tune.session import Tuner
from raidtui.host.stack.bcache_files import bcache_bytes, bcache_text
from raidtui.host.stack.cache_facts import FACT_READERS
from raidtui.host.tools import output_path
from raidtui.model.fact import FactKind
from raidtui.model.knob import By, KnobScope, Subject, Tuning
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import shell_script
from raidtui.plans.tune.findings import judge_tuning
from raidtui.plans.tune.keep import KeepItem, plan_keep
from raidtui.plans.tune.keep_files import UDEV
from raidtui.plans.tune.now import AskedValue, plan_set
from tests.hosts.stack_host import STATUS_FILE, StackHost

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


def asked(subject: str, knob: str, value: str) -> list[AskedValue]:
    return [AskedValue(subject=subject, knob=knob, value=value)]


def commands(made: Plan | Refusal) -> list[str]:
    assert isinstance(made, Plan), made
    return [step.command for step in made.steps]


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
    assert "Dmsetup was not run for this capture: what it would say is not known." in tuning.lacks


def test_lvm_sets_with_every_option() -> None:
    """The kernel has to have the value afterwards; the undo is the same command with the value before."""
    snapshot, tuning = seen(CacheHost())
    plan = plan_set(snapshot, tuning, asked("dm-0", "migration_threshold", "4096"))
    assert isinstance(plan, Plan)
    (step,) = plan.steps
    assert step.argv == ("lvchange", "--yes", "--cachesettings", "migration_threshold=4096", "vc/slow")
    assert [(fact.subject, fact.value) for fact in step.proves] == [("vc-slow", "migration_threshold 4096")]
    (undo,) = step.undo
    assert undo.argv == ("lvchange", "--yes", "--cachesettings", "migration_threshold=2048", "vc/slow")
    assert [fact.subject for fact in step.needs] == ["/sys/class/block/dm-0/dm/uuid"]
    plan = plan_set(snapshot, tuning, asked("dm-0", "cache_mode", "writethrough"))
    assert commands(plan) == ["lvchange --yes --cachemode writethrough vc/slow"]
    assert isinstance(plan, Plan)
    assert plan.harm is Harm.HARMLESS


def test_writeback_on_one_disk_is_confirmed() -> None:
    host = CacheHost()
    host.change(STATUS_FILE, "metadata2 writeback", "metadata2 writethrough")
    snapshot, tuning = seen(host)
    plan = plan_set(snapshot, tuning, asked("dm-0", "cache_mode", "writeback"))
    assert isinstance(plan, Plan)
    assert plan.harm is Harm.REDUCES
    assert plan.warning == (
        "In writeback mode data are on the cache alone until they are written back, and the cache of vc/slow"
        " is on ubdf alone, which survives no lost disk, above what survives 1 lost disk: when the cache is"
        " lost, they are lost, and with them the file system."
    )
    assert [each.code for each in judge_tuning(tuning)] == []
    assert [(each.code, each.about) for each in judge_tuning(seen(CacheHost())[1])] == [
        ("tune-cache-alone", (("dm-0", "cache_mode"),))
    ]
    assert cache(tuning, "bcache0").alone == ""  # one disk above one disk


def test_what_is_kept() -> None:
    """Bcache's numbers by udev, with its UUID; modes last by themselves, and LVM's settings."""
    snapshot, tuning = seen(CacheHost())
    plan = plan_keep(snapshot, tuning, [KeepItem(subject="bcache0", knob="writeback_percent", value="20")])
    assert isinstance(plan, Plan)
    (text,) = [step.content for step in plan.steps if step.path == UDEV]
    assert text is not None
    assert text.split("\n")[2:] == [
        'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="bcache*", IMPORT{db}="RAIDTUI_KEPT"',
        "# cache bcache0",
        (
            'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="bcache*"'
            f', ATTR{{bcache/backing_dev_uuid}}=="{BACKING}"'
            ', ENV{RAIDTUI_KEPT}!="1", ENV{RAIDTUI_KEPT}="1"'
            ', ATTR{bcache/writeback_percent}="20"'
        ),
        "",
    ]
    assert "udevadm trigger --action=change --settle /sys/class/block/bcache0" in commands(plan)
    for subject, knob in (("bcache0", "cache_mode"), ("dm-0", "cache_mode"), ("dm-0", "migration_threshold")):
        made = plan_keep(snapshot, tuning, [KeepItem(subject=subject, knob=knob)])
        assert isinstance(made, Refusal)
        assert made.code is RefusalCode.UNSUPPORTED
        assert "lasts over reboots by itself" in made.why


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


def test_bcache_is_written_back() -> None:
    host = CacheHost()
    host.put(f"{FILES}/state", "dirty\n")
    snapshot, tuning = seen(host)
    plan = plan_flush(snapshot, cache(tuning, "bcache0"))
    assert commands(plan) == [
        f"echo writethrough > {FILES}/cache_mode",
        f"echo 0 > {FILES}/writeback_percent",
        "wait until the cache is clean",
        f"echo 10 > {FILES}/writeback_percent",
        f"echo writeback > {FILES}/cache_mode",
    ]
    assert isinstance(plan, Plan)
    assert f'until [ "$(cat {FILES}/state)" = clean ]; do sleep 1; done' in shell_script(plan)


def test_bcache_is_detached() -> None:
    host = CacheHost()
    host.put(f"{FILES}/state", "dirty\n")
    snapshot, tuning = seen(host)
    plan = plan_detach(snapshot, cache(tuning, "bcache0"))
    assert commands(plan)[2:] == [
        "wait until the cache is clean",
        f"echo 1 > {FILES}/detach",
        f"echo 10 > {FILES}/writeback_percent",
    ]
    assert isinstance(plan, Plan)
    (undo,) = plan.steps[3].undo
    assert (undo.path, undo.text) == (f"{FILES}/attach", SET)


def test_lvm_is_written_back_and_detached() -> None:
    host = CacheHost()
    host.change(STATUS_FILE, " 295 0 3 metadata2", " 295 64 3 metadata2")
    snapshot, tuning = seen(host)
    slow = cache(tuning, "vc/slow")
    assert commands(plan_flush(snapshot, slow)) == [
        "lvchange --yes --cachemode writethrough vc/slow",
        "wait until the cache is clean",
        "lvchange --yes --cachemode writeback vc/slow",
    ]
    plan = plan_detach(snapshot, slow)
    assert commands(plan)[-1] == "lvconvert --yes --splitcache vc/slow"
    assert isinstance(plan, Plan)
    (undo,) = plan.steps[-1].undo
    assert undo.command == (
        "lvconvert --yes --type cache --cachevol vc/fast --cachemode writeback --cachepolicy smq"
        " --cachesettings migration_threshold=2048 --chunksize 64k vc/slow"
    )
    assert "cut -d' ' -f14" in shell_script(plan)
    assert commands(plan_detach(snapshot, slow, deletes=True))[-1] == "lvconvert --yes --uncache vc/slow"


def test_a_writecache_is_written_back_and_detached() -> None:
    """LVM lets nothing new into it meanwhile; undone, it has the settings that it had."""
    host = CacheHost()
    snapshot, tuning = seen(host)
    slow = cache(tuning, "vc/wslow")
    plan = plan_flush(snapshot, slow)
    assert commands(plan) == [
        "lvchange --yes --cachesettings cleaner=1 vc/wslow",
        "wait until the cache is clean",
        "lvchange --yes --cachesettings cleaner=0 vc/wslow",
    ]
    assert isinstance(plan, Plan)
    assert plan.notes[-1] == "What is written afterwards may be on the cache alone again."
    plan = plan_detach(snapshot, slow)
    assert isinstance(plan, Plan)
    assert commands(plan)[2:] == ["lvconvert --yes --splitcache vc/wslow"]
    (undo,) = plan.steps[-1].undo
    assert undo.command == (
        "lvconvert --yes --type writecache --cachevol vc/wfast --cachesettings block_size=4096 vc/wslow"
    )
    assert (
        'until dmsetup status --noflush vc-wslow | { read -r _ _ _ _ all free _; [ "$all" = "$free" ]; };'
        " do sleep 1; done"
    ) in shell_script(plan)
    assert commands(plan_detach(snapshot, slow, deletes=True))[2:] == ["lvconvert --yes --uncache vc/wslow"]


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
    assert [lacks(each) for each in (f"held {held}", "mode writeback", "cleaner yes")] == ["", "", ""]
    assert lacks("cleaner no") == "the kernel has cleaner yes for vc-wslow, not no"
    assert lacks("mode writethrough") == "vc-wslow has a dm-writecache, which is never writethrough"
    assert lacks("no") == "vc-wslow is still cached"
    host.put(status, "exit 0\n0 81920 linear\n")
    assert (lacks("no"), lacks("held 0")) == ("", "vc-wslow is not cached")


def test_dirty_in_writethrough_mode() -> None:
    """As after a crash: the kernel's policy writes back, and is what it was afterwards."""
    host = CacheHost()
    host.change(STATUS_FILE, " 295 0 3 metadata2 writeback", " 295 64 3 metadata2 writethrough")
    snapshot, tuning = seen(host)
    assert commands(plan_flush(snapshot, cache(tuning, "vc/slow"))) == [
        "lvchange --yes --cachepolicy cleaner vc/slow",
        "wait until the cache is clean",
        "lvchange --yes --cachepolicy smq vc/slow",
    ]


def test_refusals() -> None:
    host = CacheHost()
    snapshot, tuning = seen(host)
    made = plan_flush(snapshot, cache(tuning, "vc/slow"))
    assert isinstance(made, NothingToDo)
    assert made.why == "nothing on the cache of vc/slow is dirty"
    for _, _, planner in flush_and_detach(cache(tuning, "vc/wslow")):
        made = planner(snapshot, replace(cache(tuning, "vc/wslow"), cache=None))
        assert isinstance(made, Refusal)
        assert made.why == "dmsetup does not say what is dirty on vc/wslow"
    for deletes in (False, True):
        made = plan_detach(snapshot, replace(cache(tuning, "vc/wslow"), volume=""), deletes=deletes)
        assert isinstance(made, Refusal)
        assert made.why == "it is not known which volume the cache of vc/wslow is on"
    host.put(f"{FILES}/state", "inconsistent\n")
    made = plan_detach(snapshot, cache(seen(host)[1], "bcache0"))
    assert isinstance(made, Refusal)
    assert made.why == "the cache of bcache0 does not work: the kernel says inconsistent"
    host.put(f"{FILES}/state", "no cache\n")
    made = plan_detach(snapshot, cache(seen(host)[1], "bcache0"))
    assert isinstance(made, NothingToDo)
