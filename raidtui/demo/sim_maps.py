"""The maps of the demo's volumes: what LVM and dm-crypt would have loaded for them.

On three arrays are a linear volume over two of them, a striped one, one with a dm-cache and one with a
dm-writecache, and a thin one with encryption on it. Sources: the tables that the device mapper of Linux 6.1
prints for such volumes.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

PHYSICAL = ("md124", "md125", "md127")
"""The arrays that are physical volumes."""
MAJOR = 253
"""Of the device mapper."""
BLOCK_SECTORS = 128
"""Of the dm-cache."""
_START, _GIB = 2048, 1 << 21
_IMAGES, _MORE, _CACHE, _META, _DATA = 1200 * _GIB, 180 * _GIB, 100 * _GIB, 16384, 400 * _GIB
_STRIPE, _POOL, _POOL_META, _VAULT, _HEADER = 3 * _GIB, 60 * _GIB, 262_144, 40 * _GIB, 32768
_MAIL, _FRESH = 12 * _GIB, 2 * _GIB
_GROUP = "Xv0dQmG2ePq7sT4uWzB1cE5fH8jK3nR6"
_FAST = "Lc9QBrZzyLK5whpJfssWPftwtsRQfy45"
_FRESH_ID = "Mb3kTqWsXe5RvYz7UaC1dF9gHj2LnP4o"
_POOL_ID = "e4TtU6vW8xY0zA2bC4dE6fG8hJ0kL2mN"
_KEY = "5d0c1f9e-3b7a-4c62-9e18-f04a7d2b6c85"
_CIPHER = f"aes-xts-plain64 :64:logon:cryptsetup:{_KEY}"


class SimMap(Struct, frozen=True, kw_only=True):
    """A map of the device mapper.

    Args:
        minor: dm-MINOR.
        table: its lines, each from the target on, with their lengths.
        slaves: what it stands on.
        kind: what udev finds on it; "" for nothing.
        serves: the minor number of the cached volume that it is a part of; it is there while that has its
            cache.
        bare: its table and what it stands on once its cache is removed; None for one without a cache.
    """

    minor: int
    name: str
    uuid: str
    table: tuple[tuple[int, str], ...]
    slaves: tuple[str, ...]
    kind: str = ""
    serves: int | None = None
    bare: tuple[tuple[tuple[int, str], ...], tuple[str, ...]] | None = None

    @property
    def sectors(self) -> int:
        """Its size."""
        return sum(length for length, _ in self.table)

    def lines(self) -> Iterator[str]:
        """Yield its table as dmsetup prints it."""
        at = 0
        for length, words in self.table:
            yield f"{self.name}: {at} {length} {words}"
            at += length


def _uuid(volume: str, suffix: str = "") -> str:
    return f"LVM-{_GROUP}{volume}{suffix}"


DATA, MAIL = 1, 13
"""The volumes with a cache, by minor number."""
CACHE_BLOCKS = (_CACHE - _META) // BLOCK_SECTORS
"""Of the dm-cache."""
FRESH_BLOCKS = _FRESH // 8 - 600
"""Of the dm-writecache, of 4 KiB; some of its volume is its own."""

MAPS = (
    SimMap(
        minor=0,
        name="vg0-images",
        uuid=_uuid("a0PpQ2rS3tU4vW5xY6zA7bC8dE9fG0hJ"),
        table=((_IMAGES, f"linear 9:125 {_START}"), (_MORE, f"linear 9:124 {_START}")),
        slaves=("md124", "md125"),
        kind="xfs",
    ),
    SimMap(
        minor=DATA,
        name="vg0-data",
        uuid=_uuid("b1QqR3sT4uV5wX6yZ7aB8cD9eF0gH1jK"),
        table=((_DATA, f"cache 253:4 253:3 253:5 {BLOCK_SECTORS} 2 metadata2 writeback smq 0"),),
        slaves=("dm-3", "dm-4", "dm-5"),
        kind="ext4",
        bare=(((_DATA, f"linear 9:127 {_START}"),), ("md127",)),
    ),
    SimMap(
        minor=2,
        name="vg0-fast_cvol",
        uuid=_uuid(_FAST, "-cvol"),
        table=((_CACHE, f"linear 9:125 {_START + _IMAGES}"),),
        slaves=("md125",),
        serves=DATA,
    ),
    SimMap(
        minor=3,
        name="vg0-fast_cvol-cdata",
        uuid=_uuid(_FAST, "-cdata"),
        table=((_CACHE - _META, f"linear 253:2 {_META}"),),
        slaves=("dm-2",),
        serves=DATA,
    ),
    SimMap(
        minor=4,
        name="vg0-fast_cvol-cmeta",
        uuid=_uuid(_FAST, "-cmeta"),
        table=((_META, "linear 253:2 0"),),
        slaves=("dm-2",),
        serves=DATA,
    ),
    SimMap(
        minor=5,
        name="vg0-data_corig",
        uuid=_uuid("b1QqR3sT4uV5wX6yZ7aB8cD9eF0gH1jK", "-real"),
        table=((_DATA, f"linear 9:127 {_START}"),),
        slaves=("md127",),
        serves=DATA,
    ),
    SimMap(
        minor=6,
        name="vg0-logs",
        uuid=_uuid("c2RrS4tU6vW8xY0zA1bC3dE5fG7hJ9kL"),
        table=((2 * _STRIPE, f"striped 2 128 9:124 {_START + _MORE} 9:125 {_START + _IMAGES + _CACHE}"),),
        slaves=("md124", "md125"),
        kind="ext4",
    ),
    SimMap(
        minor=7,
        name="vg0-thin_tmeta",
        uuid=_uuid("d3SsT5uV7wX9yZ1aB2cD4eF6gH8jK0lM", "-tmeta"),
        table=((_POOL_META, f"linear 9:125 {_START + _IMAGES + _CACHE + _STRIPE}"),),
        slaves=("md125",),
    ),
    SimMap(
        minor=8,
        name="vg0-thin_tdata",
        uuid=_uuid("f5UuV7wX9yZ1aB3cD5eF7gH9jK1lM3nP", "-tdata"),
        table=((_POOL, f"linear 9:125 {_START + _IMAGES + _CACHE + _STRIPE + _POOL_META}"),),
        slaves=("md125",),
    ),
    SimMap(
        minor=9,
        name="vg0-thin-tpool",
        uuid=_uuid(_POOL_ID, "-tpool"),
        table=((_POOL, "thin-pool 253:7 253:8 128 0 0"),),
        slaves=("dm-7", "dm-8"),
    ),
    SimMap(
        minor=10,
        name="vg0-thin",
        uuid=_uuid(_POOL_ID, "-pool"),
        table=((_POOL, "linear 253:9 0"),),
        slaves=("dm-9",),
    ),
    SimMap(
        minor=11,
        name="vg0-vault",
        uuid=_uuid("g6VvW8xY0zA2bC4dE6fG8hJ0kL2mN4pQ"),
        table=((_VAULT, "thin 253:9 1"),),
        slaves=("dm-9",),
        kind="crypto_LUKS",
    ),
    SimMap(
        minor=12,
        name="vault",
        uuid=f"CRYPT-LUKS2-{_KEY.replace('-', '')}-vault",
        table=((_VAULT - _HEADER, f"crypt {_CIPHER}-d0 0 253:11 {_HEADER} 1 allow_discards"),),
        slaves=("dm-11",),
        kind="ext4",
    ),
    SimMap(
        minor=MAIL,
        name="vg0-mail",
        uuid=_uuid("h7WwX9yZ1aB3cD5eF7gH9jK1lM3nP5qR"),
        table=((_MAIL, "writecache s 253:15 253:14 4096 0"),),
        slaves=("dm-14", "dm-15"),
        kind="xfs",
        bare=(((_MAIL, f"linear 9:127 {_START + _DATA}"),), ("md127",)),
    ),
    SimMap(
        minor=14,
        name="vg0-fresh_cvol",
        uuid=_uuid(_FRESH_ID, "-cvol"),
        table=((_FRESH, f"linear 9:125 {_START + _IMAGES + _CACHE + _STRIPE + _POOL_META + _POOL}"),),
        slaves=("md125",),
        serves=MAIL,
    ),
    SimMap(
        minor=15,
        name="vg0-mail_wcorig",
        uuid=_uuid("h7WwX9yZ1aB3cD5eF7gH9jK1lM3nP5qR", "-real"),
        table=((_MAIL, f"linear 9:127 {_START + _DATA}"),),
        slaves=("md127",),
        serves=MAIL,
    ),
)
