"""A published measurement: chunk sizes and block sizes on a RAID-10. Somebody's figures, not this host's.

RAID-10 of four SATA SSDs, kernel 4.1, fio 2.2.10, one job, direct I/O, 500 MB, trimmed before each run, mean
of three runs, 2016. The spread of the three runs was 8 to 25 MiB/s.

It was published in MiB/s, as fio 2.2.10 prints it. The numbers below are those; whoever reads them gets MB/s
(10^6 bytes), as everywhere else here.
"""

from __future__ import annotations

from msgspec import Struct

SOURCE = (
    "RAID-10 of four SATA SSDs, kernel 4.1, fio 2.2.10, one job, direct, 2016; published in MiB/s, converted"
)
_MB_OF_MIB = 1.048576
BLOCKS_KIB = (8, 16, 32, 64, 128, 512, 1024, 20000)
CHUNKS_KIB = (16, 32, 512)


class PublishedFigures(Struct, frozen=True, kw_only=True):
    """MB/s (10^6 bytes) at each of the block sizes; None where nothing was published.

    Args:
        one: a single SSD.
        chunks: the RAID-10, by chunk size in KiB.
    """

    words: str
    one: tuple[int | None, ...]
    chunks: dict[int, tuple[int | None, ...]]


def _measured(
    words: str, *, one: tuple[int | None, ...], chunks: dict[int, tuple[int | None, ...]]
) -> PublishedFigures:
    """Return figures that were published in MiB/s."""
    return PublishedFigures(
        words=words, one=_mb_s(one), chunks={kib: _mb_s(each) for kib, each in chunks.items()}
    )


def _mb_s(values_mib_s: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return tuple(None if value is None else round(value * _MB_OF_MIB) for value in values_mib_s)


_NONE = (None,) * 8
RANDOM_READ = _measured(
    "random read",
    one=(64, 126, 200, 278, 327, 433, 460, 497),
    chunks={
        16: (66, 149, 235, 448, 604, 753, 832, 851),
        32: (66, 128, 215, 390, 720, 791, 868, 932),
        512: (64, 128, 209, 277, 318, 436, 851, 976),
    },
)
RANDOM_WRITE = _measured(
    "random write",
    one=(166, 243, 409, 457, 458, 478, 492, 502),
    chunks={
        16: (158, 285, 484, 615, 680, 730, 775, 790),
        32: (166, 295, 384, 609, 731, 754, 816, 850),
        512: (130, 299, 347, 430, 464, 463, 837, 873),
    },
)
STREAM_READ = _measured(
    "stream read",
    one=(None, 371, 425, 480, 483, 493, 506, 517),
    chunks={
        16: _NONE,
        32: (None, 355, 432, 796, 724, 773, 883, 980),
        512: (None, 354, 425, 472, 495, 485, 950, 1010),
    },
)
STREAM_WRITE = _measured(
    "stream write",
    one=(None, 333, 410, 456, 485, 484, 490, 502),
    chunks={
        16: _NONE,
        32: (None, 298, 377, 647, 734, 756, 812, 850),
        512: (None, 301, 370, 423, 450, 464, 836, 886),
    },
)
TABLE = (RANDOM_READ, RANDOM_WRITE, STREAM_READ, STREAM_WRITE)


def table_lines() -> list[str]:
    """Return the table, a line each, 71 cells wide."""
    words = ["8K", "16K", "32K", "64K", "128K", "512K", "1M", "20M"]
    lines = [f"  {'blocks of':<14}" + "".join(f"{word:>7}" for word in words)]
    for part in TABLE:
        lines += ["", f"  {part.words}, MB/s", _line("one SSD", part.one)]
        lines += [
            _line(f"chunk {chunk}K", part.chunks[chunk]) for chunk in CHUNKS_KIB if any(part.chunks[chunk])
        ]
    return lines


def _line(words: str, values: tuple[int | None, ...]) -> str:
    return f"    {words:<12}" + "".join(f"{'–' if value is None else value:>7}" for value in values)
