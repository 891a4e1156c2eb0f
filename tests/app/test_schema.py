"""docs/status.schema.json describes what ``status --json`` prints: all of it, and nothing else."""

from __future__ import annotations

import copy
import errno
import json
from typing import Any

import jsonschema
import pytest

from raidtui.features.arrays.cli_json import report_dict
from raidtui.host.mdstat_apart import MDSTAT
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.watch.watch import HostWatch
from tests.hosts.captures import ALL_CAPTURES, capture_text
from tests.hosts.members import TWO
from tests.hosts.trees import Syncing, container, host_tree, inactive, raid0, raid1, raid5, raid6, raid10
from tests.places import HOUSE

DOCS = HOUSE / "docs"
SCHEMA: dict[str, Any] = json.loads((DOCS / "status.schema.json").read_text())

TREES = {
    "nothing runs": host_tree(raid10(), raid1(), raid5(spares=("sdp",)), raid6(), raid0()),
    "syncs": host_tree(
        raid10(sync=Syncing(action="resync", done_kib=238_723_250, speed_kib_s=489_146), limits=(1000, None)),
        raid1(sync=Syncing(action="check", waiting="DELAYED")),
        raid5(rebuilding=("sdi",), sync=Syncing(action="recover", done_kib=5, speed_kib_s=100_000)),
        raid6(sync=Syncing(action="resync", waiting="PENDING"), read_only="auto-read-only", resync_start="0"),
    ),
    "one waits for another": host_tree(
        raid10(
            members=("sda1", "sdb1", "sdc1", "sdd1"),
            sync=Syncing(action="resync", done_kib=238_723_250, speed_kib_s=489_146),
        ),
        raid1(members=("sda2", "sdb2"), sync=Syncing(action="check", waiting="DELAYED")),
    ),
    "troubles": host_tree(
        raid10(failed=("sdb",)),
        raid1(failed=("sde", "sdf")),
        raid5(mismatches=128, last_sync_action="check", frozen=True, errors={"sdg": 3}),
        raid6(failed=("sdj",), frozen=True, spares=("sdq",), journal="sdr", bitmap=(1, 7)),
    ),
    "inactive and containers": host_tree(inactive(raid5()), container()),
    "mirrors of one uuid": host_tree(raid1("md1", uuid="ab" * 16), raid1("md2", uuid="ab" * 16)),
    "no udev": host_tree(raid10(label=""), udev=False),
    "no sysfs": host_tree(raid10(failed=("sda",)), sysfs=False, udev=False),
    "no array": host_tree(),
    "no md": host_tree(limits=None),
}


class DeniedReader(MemoryReader):
    """A host whose /proc/mdstat may not be read."""

    def read(self, path: str, *, keep: bool = False) -> bytes:
        if path == MDSTAT:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return super().read(path, keep=keep)


def as_printed(root: HostReader) -> dict[str, Any]:
    """Return the report as a reader of the JSON text gets it."""
    printed: dict[str, Any] = json.loads(json.dumps(report_dict(HostWatch(root).refresh())))
    return printed


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schema's descriptions of objects."""
    return [schema, *schema["$defs"].values()]


def closed() -> dict[str, Any]:
    """Return the schema with no room for fields that it does not name."""
    schema = copy.deepcopy(SCHEMA)
    for each in objects(schema):
        each["additionalProperties"] = False
    return schema


def check(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(closed()).validate(report)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_required_and_explained() -> None:
    for each in objects(SCHEMA):
        assert each["required"] == list(each["properties"])
        for field in each["properties"].values():
            assert "description" in field or "$ref" in field


def test_the_page_names_every_field() -> None:
    page = (DOCS / "status-json.md").read_text()
    for each in objects(SCHEMA):
        for name in each["properties"]:
            assert f"| `{name}` |" in page


@pytest.mark.parametrize("name", TREES)
def test_reports_of_trees(name: str) -> None:
    check(as_printed(TREES[name].root()))


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_reports_of_captured_texts(name: str) -> None:
    check(as_printed(MemoryReader({MDSTAT: capture_text(name)}, source=name)))


def test_a_report_without_mdstat() -> None:
    report = as_printed(DeniedReader({}))
    check(report)
    assert report["exit_status"] == 3
    assert report["host"]["readable"] is False


def test_arrays_that_do_not_run() -> None:
    named = {"/etc/fstab": "/dev/md/shelf /mnt ext4 noauto 0 0\n"}
    report = as_printed(MemoryReader(TWO | named))
    check(report)
    assert report["exit_status"] == 2
    old, shelf = report["absent"]
    assert [member.pop("name") for member in old.pop("members")] == ["sda", "sdc"]
    assert old == {
        "state": "not-started",
        "health": "failed",
        "path": "/dev/md/old",
        "uuid": "fbbb2b1c:6dbccfed:d429a0ed:a9ec20ed",
        "label": "old",
        "level": "raid5",
        "raid_disks": 3,
        "filled": 2,
        "named_by": [],
        "seen_s": None,
    }
    assert (shelf["state"], shelf["health"], shelf["uuid"]) == ("not-there", "attention", None)
    assert [(each["code"], each["array"], each["uuid"]) for each in report["findings"]] == [
        ("not-started", None, old["uuid"]),
        ("not-there", None, None),
    ]


def test_a_stale_array() -> None:
    stage = host_tree(raid10()).root()
    console = HostWatch(stage)
    console.refresh()
    stage.put(MDSTAT, "Personalities : [raid10]\nmd127 : active raid10 sda\n      nonsense\n\n")
    stage.passed_s += 1
    report = report_dict(console.refresh())
    check(json.loads(json.dumps(report)))
    assert report["arrays"][0]["stale_since_s"] == 1_795_209_900.0


def test_the_values_of_one_array() -> None:
    sync = Syncing(action="resync", done_kib=238_723_250, speed_kib_s=489_146)
    spec = raid10(sync=sync, limits=(195_313, 488_281), spares=("sdp",), uuid="0123456789abcdef" * 2)
    report = as_printed(host_tree(spec).root(source="nas.tar.gz"))
    array = report["arrays"][0]
    members = array.pop("members")
    assert report["host"] == {
        "name": "nas",
        "kernel": "7.2.13",
        "md_loaded": True,
        "readable": True,
        "source": "nas.tar.gz",
        "speed_limit_min_kib_s": 1000,
        "speed_limit_max_kib_s": 200_000,
    }
    assert array == {
        "name": "md127",
        "path": "/dev/md127",
        "uuid": "01234567:89abcdef:01234567:89abcdef",
        "label": "data",
        "level": "raid10",
        "layout": "near=2",
        "chunk_bytes": 32_768,
        "metadata": "1.2",
        "size_bytes": 450_971_566_080,
        "array_state": "clean",
        "health": "optimal",
        "raid_disks": 4,
        "degraded": 0,
        "consistency_policy": "resync",
        "bitmap": None,
        "mismatch_count": 0,
        "last_check": None,
        "sync": {
            "action": "resync",
            "phase": "running",
            "fraction": 0.542058,
            "done_kib": 238_723_250,
            "total_kib": 440_401_920,
            "speed_kib_s": 489_146,
            "kernel_speed_kib_s": 489_146,
            "eta_s": 413,
            "eta_low_s": None,
            "eta_high_s": None,
            "eta_if_as_fast": False,
            "waits_for": [],
            "begins_in_s": None,
            "takes_s": None,
            "limited_by": "max_limit",
            "limited_by_words": "max limit",
        },
        "reshape": None,
        "speed_limit": {
            "min_kib_s": 195_313,
            "max_kib_s": 488_281,
            "min_scope": "local",
            "max_scope": "local",
        },
        "read_only": None,
        "active": True,
        "container": None,
        "stale_since_s": None,
    }
    assert [(each["name"], each["slot"], each["set"], each["state"]) for each in members] == [
        ("sda", 0, "A", "in_sync"),
        ("sdb", 1, "B", "in_sync"),
        ("sdc", 2, "A", "in_sync"),
        ("sdd", 3, "B", "in_sync"),
        ("sdp", None, None, "spare"),
    ]
    assert members[4] == {
        "name": "sdp",
        "path": "/dev/sdp",
        "slot": None,
        "set": None,
        "state": "spare",
        "present": True,
        "errors": 0,
        "bad_sectors": None,
        "bad_blocks": None,
        "serial": "SSDP0001",
        "model": "SSDSC2BB240G4",
    }
