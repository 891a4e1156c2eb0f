"""Lines of dmsetup, as kernel 6.1 printed them in the laboratory, and what bcache and lvs print."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict

from raidtui.host.stack.bcache_files import bcache_bytes
from raidtui.host.stack.device_mapper import (
    cache_of,
    kind_of,
    label_of,
    parse_maps,
    pool_of,
    segments_of,
    writecache_of,
)
from raidtui.host.stack.lvm_report import parse_volumes
from raidtui.model.stack import CacheState, StackKind, StackSegment

NAMES = {"253:3": "dm-3", "253:2": "dm-2", "253:4": "dm-4", "9:21": "md21", "98:80": "sdf", "253:7": "dm-7"}
UUID = "LVM-" + 64 * "a"
CACHE_TABLE = "vc-slow: 0 327680 cache 253:3 253:2 253:4 128 2 metadata2 writethrough mq 0"
CACHE = (
    "vc-slow: 0 327680 cache 8 10/2048 128 289/896 6071 2879 2541 1245 0 289 0 3 metadata2 writethrough"
    " no_discard_passdown 2 migration_threshold 2048 mq 10 random_threshold 0 sequential_threshold 0"
    " discard_promote_adjustment 0 read_promote_adjustment 0 write_promote_adjustment 0 rw - "
)
WRITECACHE_TABLE = "vc-w: 0 81920 writecache s 253:7 253:3 4096 0"
WRITECACHE = "vc-w: 0 81920 writecache 0 4080 3780 0 720 376 400 100 0 0 300 0 0 0"


def table(text: str) -> StackSegment:
    """The only line of a table."""
    (lines,) = parse_maps(text).values()
    (segment,) = segments_of(lines, NAMES)
    return segment


def words(text: str) -> list[str]:
    """The words of a status."""
    (lines,) = parse_maps(text).values()
    return lines[0].args


def cached(status: str) -> CacheState:
    """What a dm-cache with this status says."""
    found = cache_of(table(CACHE_TABLE), words(status))
    assert found is not None
    return found


def test_dm_cache() -> None:
    assert asdict(cached(CACHE)) == {
        "mode": "writethrough",
        "policy": "mq",
        "devices": ("dm-3", "dm-2"),
        "backing": "dm-4",
        "block_bytes": 65536,
        "total_bytes": 896 * 65536,
        "used_bytes": 289 * 65536,
        "dirty_bytes": 0,
        "hits": 6071 + 2541,
        "misses": 2879 + 1245,
        "read_hits": 6071,
        "read_misses": 2879,
        "write_hits": 2541,
        "write_misses": 1245,
        "promotions": 289,
        "demotions": 0,
        "state": "",
        "trouble": "",
        "written_bytes": None,
        "migration_threshold": 2048,
        "settings": (),
        "set_uuid": "",
    }


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        ("vc-slow: 0 327680 cache Fail", "Fail"),
        ("vc-slow: 0 327680 cache Error", "Error"),
        (CACHE.replace("rw - ", "ro needs_check "), "needs_check"),
        (CACHE.replace("rw - ", "ro - "), "ro"),
    ],
)
def test_dm_cache_that_does_not_work(status: str, trouble: str) -> None:
    found = cached(status)
    assert found.trouble == trouble
    assert found.mode == "writethrough"


def test_dm_cache_without_a_status() -> None:
    """The mode is in the table, too; nothing else is."""
    found = cache_of(table(CACHE_TABLE), [])
    assert found == CacheState(mode="writethrough", devices=("dm-3", "dm-2"), backing="dm-4")


def test_dm_writecache() -> None:
    found = writecache_of(table(WRITECACHE_TABLE), words(WRITECACHE))
    assert found is not None
    assert (found.mode, found.devices, found.backing) == ("writeback", ("dm-3",), "dm-7")
    assert (found.block_bytes, found.total_bytes) == (4096, 4080 * 4096)
    assert found.used_bytes == found.dirty_bytes == 300 * 4096
    assert (found.read_hits, found.read_misses) == (376, 344)
    assert (found.write_hits, found.write_misses) == (100, 300)
    assert (found.trouble, found.settings) == ("", ())


def test_settings_of_a_dm_writecache() -> None:
    """As LVM takes them; where it placed the cache, and that it is being cleaned, is its own."""
    words_ = "7 high_watermark 30 start_sector 2048 cleaner fua writeback_jobs 8"
    found = writecache_of(table(f"{WRITECACHE_TABLE[:-1]}{words_}"), words(WRITECACHE))
    assert found is not None
    assert found.settings == ("high_watermark=30", "fua=1", "writeback_jobs=8")


def test_dm_writecache_of_an_older_kernel() -> None:
    found = writecache_of(table(WRITECACHE_TABLE), words("vc-w: 0 81920 writecache 5 4080 3780 0"))
    assert found is not None
    assert (found.hits, found.misses, found.dirty_bytes, found.trouble) == (None, None, 300 * 4096, "5")


def test_a_thin_pool() -> None:
    line = "p: 0 24576 thin-pool 1 112/1024 48/192 - rw no_discard_passdown queue_if_no_space - 256 "
    pool = pool_of(words(line))
    assert pool is not None
    assert (pool.metadata_share, pool.data_share, pool.full, pool.queues) == (112 / 1024, 0.25, "rw", True)
    broken = pool_of(["Fail"])
    assert broken is not None
    assert broken.full == "Fail"


def test_a_striped_volume() -> None:
    found = table("vc-str: 0 32768 striped 2 128 9:21 133120 98:80 67584")
    assert found.parts == (("md21", 133120), ("sdf", 67584))
    assert found.chunk_sectors == 128


@pytest.mark.parametrize(
    ("uuid", "text", "kind"),
    [
        (UUID, "v: 0 8 linear 9:21 2048", StackKind.LINEAR),
        (UUID, "v: 0 8 striped 2 128 9:21 0 98:80 0", StackKind.STRIPED),
        (UUID, "v: 0 8 striped 2 128 9:21 0 98:80 0\nv: 8 8 linear 9:21 64", StackKind.LINEAR),
        (UUID, CACHE_TABLE, StackKind.CACHE),
        (UUID, WRITECACHE_TABLE, StackKind.WRITECACHE),
        (UUID, "v: 0 8 thin 253:2 1", StackKind.THIN),
        (UUID, "v: 0 8 thin-pool 253:2 253:3 128 0 0", StackKind.THIN_POOL),
        (UUID, "v: 0 8 raid raid1 3 0 region_size 4096 2 253:3 253:2 253:4 253:7", StackKind.RAID),
        (UUID, "", StackKind.VOLUME),
        ("CRYPT-LUKS2-x-home", "v: 0 8 crypt aes-xts-plain64 :64:logon:x 0 9:21 32768", StackKind.CRYPT),
        ("mpath-3600", "v: 0 8 multipath 0 0 1 1 service-time 0 1 2 98:80 1 1", StackKind.MULTIPATH),
        ("", "v: 0 8 linear 9:21 0", StackKind.MAP),
    ],
)
def test_kinds(uuid: str, text: str, kind: StackKind) -> None:
    lines = [line for found in parse_maps(text).values() for line in found]
    assert kind_of(uuid, segments_of(lines, NAMES)) is kind


def test_a_volume_with_hyphens() -> None:
    assert label_of("my--group-my--volume", UUID) == "my-group/my-volume"
    assert label_of("home-crypt", "CRYPT-LUKS2-x") == "home-crypt"


def test_what_is_no_line() -> None:
    assert parse_maps("No devices found\n\nvc-slow: 0 x linear 9:1 0\n") == {}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.9M", int(1.9 * 1024**2)),
        ("512.0k", 512 * 1024),
        ("0", 0),
        ("0.0k", 0),
        ("7", 7),
        ("2.5G", int(2.5 * 1024**3)),
        ("", None),
        ("M", None),
        ("-1.0k", None),
        (None, None),
    ],
)
def test_sizes_of_bcache(text: str | None, size: int | None) -> None:
    assert bcache_bytes(text) == size


def test_volumes_of_lvs() -> None:
    row = {"lv_uuid": "tk30bp-wO4w", "vg_name": "vc", "lv_name": "[fast]", "lv_health_status": "partial"}
    other = {**row, "lv_uuid": "x-y", "lv_name": "r1", "lv_health_status": "unknown"}
    found = parse_volumes(json.dumps({"report": [{"lv": [row, other]}]}))
    assert {uuid: each.health for uuid, each in found.items()} == {"tk30bpwO4w": "partial", "xy": ""}


@pytest.mark.parametrize("text", ["", "[]", '{"report": 3}', '{"report": [{"lv": [{}]}]}', "{"])
def test_what_lvs_does_not_print(text: str) -> None:
    assert parse_volumes(text) == {}
