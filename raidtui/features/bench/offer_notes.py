"""What is said beside a schedule before it is run: what its figures will mean, and what will lower them."""

from __future__ import annotations

from raidtui.features.bench.environment import read_arrays
from raidtui.features.bench.place import is_simulated
from raidtui.features.bench.results.comparison_verdict import fewest_runs
from raidtui.features.bench.results.run_record import SHORT_S
from raidtui.features.bench.run.cache_watch import CacheWatch
from raidtui.features.bench.schedule import Schedule
from raidtui.features.bench.workload import HOT_SPOTS
from raidtui.host.readers.host_reader import HostReader

SIMULATED_NOTE = "The demo host is simulated: its figures come from a model, and are kept until you leave it."


def offer_notes(root: HostReader, schedule: Schedule) -> tuple[str, ...]:
    """Return the notes of a schedule, a sentence each."""
    notes = [SIMULATED_NOTE] if is_simulated(root) else []
    for array in read_arrays(root, schedule.place.arrays):
        title = array.label or array.name
        if array.sync:
            notes.append(f"{title} runs a {array.sync}: the figures will be lower than without it.")
        if array.missing:
            notes.append(f"{title} is degraded: the figures are not those of a complete array.")
    if schedule.place.device and not schedule.place.writes:
        notes.append(
            "Blocks that were never written, or were trimmed, read as zeros without any access to the flash."
        )
    if schedule.place.directory and schedule.conditions.precondition:
        notes.append(
            "Only the blocks of its own files are written before: what is free besides works as spare area,"
            " so writes look faster than on a full disk."
        )
    if schedule.job_file is not None:
        notes += schedule.job_file.jobs
        notes.append(
            "fio is given a new job file, written from these jobs; their files are removed afterwards."
        )
    if not schedule.place.disks:
        notes.append(f"The disks below {schedule.place.words} are not known: writes to them are not counted.")
    if schedule.work is not None and 0 < schedule.work.runtime_s < SHORT_S:
        notes.append(f"Runs under {SHORT_S:.0f} s measure caches rather than disks.")
    compared = _compared(schedule)
    fewest = fewest_runs(compared, small=schedule.small_blocks)
    if compared and schedule.grouped:
        notes.append(
            "There will be figures and no verdict: the runs of a point follow one another, and what drifts"
            " meanwhile looks like a difference."
        )
    elif compared and schedule.repeats < fewest:
        notes.append(
            f"{schedule.repeats} repeat{'s'[: schedule.repeats != 1]} of each cannot decide which of"
            f" {len(schedule.points)} points is faster: at least {fewest} are needed."
        )
    notes += cache_notes(root, schedule)
    if schedule.work is not None and not schedule.work.direct:
        notes.append("It goes through the page cache: memory is measured as well.")
    return tuple(notes)


def cache_notes(root: HostReader, schedule: Schedule) -> list[str]:
    """Return what the caches below mean for the figures, a sentence each."""
    work = schedule.work
    caches = CacheWatch(root, schedule.place).begin(work.total_bytes if work is not None else 0)
    notes = []
    for cache in caches:
        state = "cold: the first run fills it" if cache.cold else "not cold" if cache.cold is False else ""
        kept = "its state and its hits are kept with each run"
        words = ", ".join(word for word in (cache.kind, cache.before.mode or "", state) if word)
        notes.append(f"{cache.title} is a cache ({words}); {kept}.")
    if caches and schedule.preset != HOT_SPOTS:
        notes.append(f"The preset {HOT_SPOTS} measures caches, and has published figures to compare with.")
    if schedule.preset == HOT_SPOTS and not caches:
        notes.append(f"{HOT_SPOTS} measures caches; none is known below {schedule.place.words}.")
    return notes


def _compared(schedule: Schedule) -> int:
    """Return the number of comparisons in its table: each point with the first of the same workload."""
    points = schedule.points
    return 1 if len(points) == 2 else len(points) - len({schedule.work_at(point) for point in points})
