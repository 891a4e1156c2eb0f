"""Series side by side, the heat map and curves, as lines: whole. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from raidtui.features.bench.results.compare import METRICS, series_of, table
from raidtui.features.bench.results.published import heat_maps
from raidtui.features.bench.results.run_record import RunRecord
from raidtui.features.bench.screen.curves import curve_lines, drawn_of
from raidtui.features.bench.screen.heat_map import Layer, heat_map_lines, window_of
from raidtui.features.bench.screen.run_table import comparison_lines, strip_of
from tests.features.bench.records import (
    READ,
    SCHEDULERS,
    chunk_sweep,
    curve_samples,
    measured,
    samples,
    sweep,
)
from tests.frame.drawn import text

PAIR = sweep("scheduler", {name: SCHEDULERS[name] for name in ("none", "bfq")})
HEAT = chunk_sweep()


# -- side by side


def compared(records: Sequence[RunRecord], by: str = "iops", width: int = 78) -> str:
    measure = METRICS[by]
    return text(comparison_lines(table(series_of(records), measure), measure, width))


def test_too_few_runs_are_reported_once() -> None:
    """The series of each block size are compared with that of one SSD: a sentence for each of these."""
    found = compared([run for run in HEAT if run.repeat == 0])
    assert found.count("too few runs") == 21
    assert found.count("not decided: ") == 7
    assert (
        " i not decided: chunk 16K, block 16K, chunk 32K, block 16K, chunk 512K, block\n"
        "   16K against chunk one, block 16K: 1 and 1 runs cannot decide among 21\n"
        "   comparisons; at least 9 of each are needed\n"
    ) in found


def test_nothing_to_compare() -> None:
    assert compared([]) == " Nothing to compare: no run has figures of this kind."
    assert compared([PAIR[0]], width=90).split("\n")[-1] == (
        " One series alone cannot be compared: mark another benchmark, too."
    )
    blocks = [replace(PAIR[0], id=n, job=str(n), work=replace(READ, block_bytes=4096 << n)) for n in range(3)]
    assert compared(blocks).split("\n")[-1] == " None of these have the same workload, so none are compared."
    without = [replace(run, read=replace(run.read, p99_ns=None)) for run in PAIR]
    assert compared(without, "p99") == " Nothing to compare: no run has figures of this kind."


def test_a_long_label_takes_several_lines() -> None:
    long = [
        replace(run, point={"scheduler": f"{run.point['scheduler']} {'word ' * 9}".strip()}) for run in PAIR
    ]
    lines = compared(long).split("\n")
    assert lines[1] == " a scheduler none word      102,100  101,300  102,700     6"
    assert lines[2:4] == ["   word word word word", "   word word word word"]


def test_a_strip() -> None:
    (first, *_) = table(series_of(PAIR), METRICS["iops"])
    assert first.spread is not None
    assert strip_of(first.spread, 101_300, 102_700, 15) == "├───────●─────┤"
    assert strip_of(first.spread, 0, 0, 5) == "  ●  "
    assert strip_of(None, 0, 1, 5) == "     "


# -- the map


def mapped(width: int, height: int, **more: Any) -> str:
    (heat,) = heat_maps(HEAT)
    return text(heat_map_lines(heat, width, height, **more))


def test_a_map() -> None:
    assert mapped(78, 20, layer=Layer.BOTH).split("\n")[:6] == [
        " chunk x block size, random read, MB/s   yours (published)",
        "           8K       16K       32K       64K      128K      512K         1M",
        "                                  ░░░ ░░░░░ ░░░ ░░░░░ ▒▒▒ ▒▒▒▒▒ ▒▒▒▒ ▒▒▒▒▒",
        " one  58 (67) 120 (132) 200 (210) 289 (292) 353 (343) 486 (454)  535 (482)",
        "                                  ░░░ ░░░░░ ░░░ ░░░░░ ▒▒▒ ▒▒▒▒▒ ▒▒▒▒ ▒▒▒▒▒",
        "                        ░░░ ░░░░░ ▒▒▒ ▒▒▒▒▒ ▓▓▓ ▒▒▒▒▒ ███ ▓▓▓▓▓ ████ █████",
    ]


def test_the_fastest_of_a_block_size_is_bold() -> None:
    """Where that is decided: ten runs of each can do so among 21 comparisons, three cannot."""
    (heat,) = heat_maps(chunk_sweep(repeats=10))
    lines = heat_map_lines(heat, 78, 30)
    best = [part for line in lines for part, role in line if role[:-1] == "best" and part]
    assert best == ["●", "●", "●", "141", "232", "463", "●", "●", "797", "908"]
    assert "● bold: the fastest chunk of a block size, where that is decided" in text(lines)
    (heat,) = heat_maps(HEAT)
    lines = heat_map_lines(heat, 78)
    assert not any(part for line in lines for part, role in line if role[:-1] == "best")
    assert (
        " no chunk is decidedly the fastest: 3 runs of each, but 21 comparisons need\n at least 9"
    ) in text(lines)


def test_the_scale() -> None:
    """A figure's field and the figure are of one step; the scale says what the steps are of."""
    (heat,) = heat_maps(HEAT)
    lines = heat_map_lines(heat, 78, layer=Layer.YOURS)
    above, figures = (dict(pairs) for pairs in (lines[2], lines[4]))
    assert [role for part, role in lines[4] if part.strip() in {"58", "289", "535"}] == [
        "figure0", "figure1", "figure2",
    ]  # fmt: skip
    assert above["▒▒▒▒"] == "field2"
    assert figures[" one "] == "plain"
    assert " 0 %     ░░░░▒▒▒▒▓▓▓▓████ 100 % of the highest" in text(lines)
    assert " 50 %     ░░░░▒▒▒▒▓▓▓▓████ 150 % of the published" in mapped(78, 30, layer=Layer.RATIO)


def test_what_does_not_fit_is_scrolled_to() -> None:
    (heat,) = heat_maps(HEAT)
    assert (
        mapped(50, 6, left=2, top=9)
        == """\
 chunk x block size, random read, MB/s   yours (…
            32K       64K      128K      512K
 32K  227 (225) 429 (409) 823 (755) 937 (829)
 512K 228 (219) 313 (290) 373 (333) 530 (457)
 3 block sizes more with ← →: 3 to 6 of 7
 2 chunks more with ↑ ↓: 3 to 4 of 4"""
    )
    far = window_of(heat, 50, 6, left=99, top=99)
    assert (far.left, far.columns, far.top, far.rows) == (3, 4, 2, 2)


def test_of_other_sizes_nothing_was_published() -> None:
    runs = [measured(replace(READ, block_bytes=kib << 10), 900.0, number=n, point={"block": str(kib << 10)})
            for n, kib in enumerate((4, 8, 2048))]  # fmt: skip
    (heat,) = heat_maps([replace(run, work=replace(run.work or READ, rw="randrw")) for run in runs])
    assert text(heat_map_lines(heat, 78, 20, bars=False)).split("\n") == [
        " chunk x block size, random read and write, MB/s   yours",
        "         4K     8K      2M",
        " 32K    3.7    7.4    1887",
        " nothing is published for these sizes",
    ]
    assert " 32K     –     –     –" in text(heat_map_lines(heat, 78, 20, layer=Layer.RATIO))


# -- curves


def drawn(
    records: Sequence[RunRecord], measure: str = "iops", width: int = 50, height: int = 15, **more: Any
) -> str:
    return text(
        curve_lines(
            drawn_of(series_of(records), curve_samples(records), measure), measure, width, height, **more
        )
    )


def test_letters_where_there_are_no_dots() -> None:
    assert (
        drawn(PAIR, "p99", braille=False)
        == """\
 p99, ms
  1.7 ┤
      │b
      │abbbbbbbbbbbbbbbbbb******bbbbbbbbbbbbbbbbb
 0.85 ┤ aaaaaaaaaaaaaaaaaa      aaaaaaaaaaaaaaaaa
      │
      │
    0 ┤
      └──────────────────────────────────────────
       0 s                30 s               60 s
 a schedule…  #9   median   0.74    0.71 … 1.1
 b schedule…  #10  median    1.1     1.0 … 1.7
 #: the run drawn, the median by IOPS"""
    )


def test_a_thin_band_has_an_axis_of_its_own() -> None:
    flat = {run.id: samples(*[run.iops + n % 3 * 100 for n in range(40)]) for run in PAIR[:1]}
    assert (
        text(curve_lines(drawn_of(series_of(PAIR[:1]), flat, "mb/s"), "mb/s", 40, 9))
        == """\
 MB/s
 854 ┤
 836 ┤⠠⠤⠢⠤a⠤⠤⠢⠤⠔⠤⠤⠢⠤⠔⠤⠤⠢⠤⠔a⠤⠢⠤⠔⠤⠤⠢⠤⠔⠤⠤⠢
 818 ┤
     └─────────────────────────────────
      0 s            5 s           10 s
 a #1 …  #1  median    836     835 … …
 #: the run drawn, the median by IOPS"""
    )


def test_without_samples() -> None:
    assert text(curve_lines(drawn_of(series_of(PAIR), {}, "iops"), "iops", 80, 20)) == (
        " No samples were kept of these runs: there is nothing to show over time."
    )
    one = {run.id: found for run, found in zip(PAIR, curve_samples(PAIR).values(), strict=True) if run.id % 2}
    lines = text(curve_lines(drawn_of(series_of(PAIR), one, "iops"), "iops", 60, 20)).split("\n")
    assert lines[-2:] == [
        " b scheduler bfq                      no samples kept",
        " #: the run drawn, the median by IOPS",
    ]
    assert "b" not in "".join(lines[:-2])
