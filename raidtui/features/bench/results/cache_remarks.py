"""What caches mean for figures side by side: cold against filled, and what was published. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.features.bench.results.compare import METRICS, Series
from raidtui.features.bench.results.comparison_verdict import spread
from raidtui.features.bench.results.run_record import RunRecord
from raidtui.features.bench.workload import HOT_SPOTS, find_preset

SSD_IOPS = {"4.9": 102_325, "4.11": 102_742, "4.12": 104_352}
"""The mean of an SSD without a cache, by kernel: the only figures of the study that are numbers."""
SOURCE = (
    "strugglers.net, July 2017, in a virtual machine: 4 GiB of data, a cache of 4 GiB on an SSD over hard"
    " disks, 20 min"
)
_IN_WORDS = (
    "Published in words and curves only: lvmcache was fast with an empty cache; with a full one it was about"
    " as slow as the hard disks before Linux 4.12, and about as fast as the SSD since. bcache came close to"
    " the SSD quickly with sequential_cutoff 0, and slowly with its default of 4 MiB."
)
_LATEST = "4.12"


def cache_remarks(series: Sequence[Series]) -> tuple[str, ...]:
    """Return what has to be known about the caches of these series, a sentence each.

    Args:
        series: those side by side.
    """
    return (*_cold(series), *_published(series))


def _cold(series: Sequence[Series]) -> list[str]:
    states = [[run.cold for run in each.runs if run.cold is not None] for each in series]
    found = []
    for each, cold in zip(series, states, strict=True):
        if any(cold) and not all(cold):
            found.append(
                f"{_name(each)}: {sum(cold)} of {len(cold)} runs began with a cold cache, so its values are"
                " not of one kind."
            )
    colds = [_name(each) for each, cold in zip(series, states, strict=True) if cold and all(cold)]
    filled = [_name(each) for each, cold in zip(series, states, strict=True) if cold and not any(cold)]
    if colds and filled:
        found.append(
            f"{', '.join(colds)} began with a cold cache, {', '.join(filled)} did not: what differs between"
            " them may be what was in the cache."
        )
    elif colds and not filled and len(colds) == len(series):
        found.append(
            "It began with a cold cache: the next run may be faster."
            if len(colds) == 1
            else "All of them began with a cold cache."
        )
    return found


def _name(series: Series) -> str:
    return series.label or series.runs[0].words


def _published(series: Sequence[Series]) -> list[str]:
    known = [each for each in series if each.runs[0].preset == HOT_SPOTS]
    if not known:
        return []
    ssd = ", ".join(f"{iops:,} IOPS (Linux {kernel})" for kernel, iops in SSD_IOPS.items())
    found = [f"Published for {HOT_SPOTS} ({SOURCE}): an SSD alone {ssd}.", _IN_WORDS]
    for each in known:
        values = [] if each.unsteady else each.values(METRICS["iops"])
        if values:
            median = spread(values).median
            share = median / SSD_IOPS[_LATEST] * 100
            other = "" if _as_published(each.runs[0]) else ", with other options than the published ones"
            found.append(
                f"{_name(each)}: {median:,.0f} IOPS, {share:.{0 if share >= 10 else 1}f} % of that SSD's on"
                f" Linux {_LATEST}{other}."
            )
    return found


def _as_published(record: RunRecord) -> bool:
    """Whether a run did what was published, if for a shorter time."""
    preset, work = find_preset(HOT_SPOTS), record.work
    if preset is None or work is None:
        return False
    names = ("rw", "block_bytes", "size_bytes", "depth", "jobs", "engine", "direct", "distribution")
    return all(getattr(work, name) == getattr(preset.work, name) for name in names)
