"""``raidtui bench presets``, ``run``, ``sweep``, ``attach``, ``stop`` and ``restore``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json, write_bytes
from raidtui.features.bench.caches import CacheReading, hit_points, percent_words
from raidtui.features.bench.demo import play
from raidtui.features.bench.offer import Offer, make_offer
from raidtui.features.bench.option_texts import (
    RequestError,
    read_chunk,
    read_number,
    read_size,
    read_values,
    sweep_values,
)
from raidtui.features.bench.place import is_simulated
from raidtui.features.bench.report.document import data_bytes
from raidtui.features.bench.request import Request
from raidtui.features.bench.results.published import comparison_text
from raidtui.features.bench.results.run_record import WHOLE, RunSample, sample_words
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run.bench_jobs import begin, entry_words, find_bench, news, restore, settle
from raidtui.features.bench.run.bench_progress import Line
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.telemetry import ArrayNow, Telemetry, telemetry_words
from raidtui.features.bench.workload import PRESETS
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.sandbox import NOT_KNOWN, PARTS, missing_parts
from raidtui.jobs.spawn import cancel
from raidtui.jobs.states import FINAL, JobState
from raidtui.jobs.store import Job
from raidtui.model.plan import Refusal
from raidtui.view.text import visible

FAILED, BUSY = 1, 75
_PACE_S = 0.25
_EACH_S = 1.0
_TELEMETRY_EVERY_S = 10.0
_FINE = frozenset({"clean", "active", "active-idle", "write-pending"})  # which one goes with each write
_BEGIN_S = 20.0


def list_presets(arguments: argparse.Namespace) -> int:
    """Print the workloads that have a name, or as JSON."""
    if arguments.json:
        rows = [
            {
                "name": preset.name,
                "words": preset.words,
                "work": msgspec.to_builtins(preset.work),
                "block_bytes": list(preset.blocks),
                "loads": msgspec.to_builtins(preset.loads),
                "origin": preset.origin,
            }
            for preset in PRESETS
        ]
        print_json({"raidtui_bench_presets": 1, "presets": rows})
        return 0
    for preset in PRESETS:
        print(f"{preset.name}: {preset.words}")
        print(f"    {preset.work.words}{f', {preset.more}' if preset.more else ''}")
        print(f"    from {preset.origin}")
    return 0


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Start a run or a sweep, and follow it."""
    if (
        reader.live and not arguments.dry_run
    ):  # before the schedule: what a knob is put back to is read for it
        for job_id in restore(reader):
            print(f"Benchmark {job_id} was interrupted: what it changed is put back.", file=sys.stderr)
    if reader.live:
        _ask_without(arguments)
    offer = make_offer(reader, request_of(reader, arguments))
    if isinstance(offer, Refusal):
        raise JobError(f"not possible: {offer.sentence}")
    if arguments.subcommand == "sweep" and len(offer.schedule.points) < 2:
        raise JobError(
            "not possible: nothing differs between the runs; give at least two values of something"
        )
    _show(offer, quiet=arguments.json)
    if arguments.dry_run:
        return 0
    if is_simulated(reader):
        return _play(reader, offer, quiet=arguments.json, by_itself=arguments.detach)
    job = begin(reader, offer.schedule)
    if arguments.detach:
        print(
            json.dumps({"job": job.id}) if arguments.json else f"job {job.id}: raidtui bench attach {job.id}"
        )
        return 0
    state = follow(job, quiet=arguments.json)
    if arguments.json:
        with Results() as results:
            write_bytes(data_bytes(results.of_job(job.id)))
    elif len(offer.schedule.runs()) > 1:
        with Results() as results:
            records = results.of_job(job.id)
        if state == JobState.DONE or any(record.unsteady and record.state == WHOLE for record in records):
            print("\n".join(visible(line) for line in comparison_text(records, "iops")))
    return _status(state)


def _play(reader: HostReader, offer: Offer, *, quiet: bool, by_itself: bool) -> int:
    """Play a benchmark on the demo host, whose runs end with this process."""
    if by_itself:
        raise JobError("not possible: what is simulated ends with this command; leave --detach out")
    records = play(reader, offer, lambda line: None if quiet else print(visible(line), flush=True))
    if quiet:
        write_bytes(data_bytes(records))
    elif len(records) > 1:
        print("\n".join(visible(line) for line in comparison_text(records, "iops")))
    else:
        print("\n".join(visible(record.figures) for record in records))
    return 0 if len(records) == len(offer.schedule.runs()) else FAILED


def _show(offer: Offer, *, quiet: bool) -> None:
    lines = "\n".join(visible(line) for line in offer.sentences)
    print(lines, file=sys.stderr if quiet else sys.stdout, flush=True)


def attach(arguments: argparse.Namespace) -> int:
    """Follow a benchmark."""
    return _status(follow(find_bench(arguments.id)))


def stop(arguments: argparse.Namespace) -> int:
    """End a benchmark now."""
    job = find_bench(arguments.id)
    since = len(job.entries())
    cancel(job)
    return 0 if follow(job, since=since) in {"cancelled", "done"} else FAILED


def put_back(reader: HostReader) -> int:
    """Put back what interrupted benchmarks have changed."""
    if not reader.live:
        raise JobError("a capture is read-only: there is nothing to restore here")
    found = settle(reader)
    for each in found:
        lines = [f"put back: {title}" for title in each.back]
        lines += [f"not put back: {text}" for text in each.left]
        lines += [] if each.left else ["everything is as it was before; its results so far are kept"]
        print("\n".join(visible(f"{each.job}: {line}") for line in lines))
    if not found:
        print("No benchmark was interrupted.")
    if any(each.left for each in found):
        print("What is not put back stays until you change it. Later benchmarks can run.")
        return FAILED
    return 0


def follow(job: Job, *, since: int = 0, quiet: bool = False) -> str:
    """Print what a benchmark notes and measures, until it ends.

    Returns:
        How it ended; "" where its worker is gone, "busy" where another job was running, "left" where whoever
        followed has gone before it ended.
    """
    begun_s = time.monotonic()
    # Of what was measured before this moment the figures are enough.
    offset = news(job).offset if since or job.state not in {JobState.MADE, JobState.RUNNING} else 0
    printer = _Printer(quiet=quiet)
    try:
        while True:
            found = news(job, since, offset)
            since, offset = since + len(found.entries), found.offset
            printer.take(found.lines)
            for entry in found.entries:
                printer.entry(entry_words(entry))
                if entry.get("event") == JobState.NOT_BEGUN:
                    return "busy" if entry.get("busy") else "failed"
            over = found.state in FINAL or found.state == JobState.INTERRUPTED
            if over and not found.entries:
                break
            if found.state == JobState.MADE and time.monotonic() - begun_s > _BEGIN_S:
                break
            time.sleep(_PACE_S)
    except KeyboardInterrupt:
        print(f"\nIt continues: raidtui bench attach {job.id} (or stop)", file=sys.stderr)
        return "left"
    if found.state not in FINAL:
        print(
            "The worker is gone; the benchmark is interrupted. raidtui bench restore puts back what it"
            f" changed; raidtui jobs resume {job.id} resumes it.",
            file=sys.stderr,
        )
        return ""
    return found.state


def _status(state: str) -> int:
    return 0 if state in {"done", "left"} else BUSY if state == "busy" else FAILED


class _Printer:
    """Prints entries, a sample a second, and what surrounds the run every ten, or when arrays change."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._last_s = 0.0
        self._telemetry: Telemetry | None = None
        self._cache = ""
        self._readings: tuple[CacheReading, ...] = ()

    def entry(self, words: str) -> None:
        for line in words.split("\n"):
            if line and not self._quiet:
                print(visible(line), flush=True)

    def take(self, lines: tuple[Line, ...]) -> None:
        for line in lines:
            if line.begins is not None:
                self._last_s, self._telemetry = 0.0, None
                self._cache = line.begins.caches[0].name if line.begins.caches else ""
                self._readings = ()
            elif line.telemetry is not None and self._says_more(line.telemetry) and not self._quiet:
                self._telemetry = line.telemetry
                if words := telemetry_words(line.telemetry):
                    print(visible(f"            {words}"), flush=True)
            elif line.sample is not None:
                self._sample(line.sample)

    def _sample(self, sample: RunSample) -> None:
        # The last two readings: what it did in about a second.
        self._readings = (() if sample.anew else self._readings + sample.caches)[-2:]
        if sample.t_s < self._last_s + _EACH_S or self._quiet:
            return
        self._last_s = sample.t_s
        points = hit_points(self._readings, self._cache)
        hits = f"  hits {percent_words(points[-1][1])}" if points else ""
        print(f"            {sample_words(sample)}{hits}", flush=True)

    def _says_more(self, telemetry: Telemetry) -> bool:
        last = self._telemetry
        if (
            last is None
            or abs(telemetry.t_s - last.t_s) >= _TELEMETRY_EVERY_S
            or telemetry.governor != last.governor
        ):
            return True
        now, then = ([_gist(array) for array in each.arrays] for each in (telemetry, last))
        return now != then


def _gist(array: ArrayNow) -> tuple[str, str, int]:
    return "" if array.state in _FINE else array.state, array.sync, array.missing


SUBCOMMANDS: dict[str, Callable[[HostReader, argparse.Namespace], int]] = {
    "presets": lambda _, arguments: list_presets(arguments),
    "run": run,
    "sweep": run,
    "attach": lambda _, arguments: attach(arguments),
    "stop": lambda _, arguments: stop(arguments),
    "restore": lambda reader, _: put_back(reader),
}


class OptionError(JobError):
    """An option cannot be read; the message says which."""


def request_of(reader: HostReader, arguments: argparse.Namespace) -> Request:
    """Return the request of the arguments.

    Raises:
        OptionError: an option cannot be read.
    """
    try:
        return Request(
            preset=arguments.preset,
            job_file=str(arguments.job) if arguments.job else "",
            rw=arguments.rw,
            blocks=read_values("bs", arguments.bs, read_size),
            size_bytes=read_size("size", arguments.size) if arguments.size else None,
            depths=read_values("depth", arguments.depth, read_number),
            jobs=read_values("jobs", arguments.jobs, read_number),
            runtime_s=arguments.runtime,
            ramp_s=arguments.ramp,
            engine=arguments.engine,
            read_percent=arguments.read_percent,
            distribution=arguments.distribution,
            direct=not arguments.no_direct,
            directory=arguments.directory,
            device=kernel_name(reader, arguments.device) if arguments.device else "",
            write=arguments.write,
            confirmed=None if arguments.dry_run else tuple(arguments.confirm),
            conditions=Conditions(
                trim=arguments.trim,
                cool_s=arguments.cool,
                precondition=arguments.precondition,
                steady=arguments.steady,
                quiet_check=not arguments.no_quiet_check,
                without=_without(arguments.fio_without),
            ),
            repeats=arguments.repeats,
            note=arguments.note,
            **(_of_sweep(reader, arguments) if arguments.subcommand == "sweep" else {}),
        )
    except RequestError as error:
        raise OptionError(f"--{error.option.replace('_', '-')}={error}") from error


def _without(text: str) -> tuple[str, ...]:
    parts = tuple(each for each in text.split(",") if each)
    if unknown := next((each for each in parts if each not in PARTS), None):
        why = f"{unknown} is not a part of fio's sandbox"
        raise RequestError("fio_without", why, f"give {', '.join(PARTS)}")
    return parts


def _ask_without(arguments: argparse.Namespace) -> None:
    """Say which parts of fio's sandbox this host does not allow; on a terminal, ask whether to continue."""
    given = [each for each in arguments.fio_without.split(",") if each]
    lost = {name: why for name, why in missing_parts().items() if name not in given}
    asks = not (arguments.json or arguments.dry_run) and sys.stdin.isatty() and sys.stderr.isatty()
    if not lost or NOT_KNOWN in lost or not asks:
        return  # what is missing is refused with the offer
    print("fio cannot be kept apart from the rest of this host:", file=sys.stderr)
    for name, why in lost.items():
        print(f"  {name}: {visible(why)}", file=sys.stderr)
    print("Run it without, with more of root's powers? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        arguments.fio_without = ",".join((*given, *lost))


def _of_sweep(reader: HostReader, arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "scratch": tuple(kernel_name(reader, word) for word in arguments.scratch),
        "levels": sweep_values(arguments.level) if arguments.scratch else (),  # it has a default
        "layouts": sweep_values(arguments.layout),
        "chunks": read_values("chunk", arguments.chunk, read_chunk),
        "member_kib": arguments.member_size,
        "knobs": tuple(_knob(text) for text in arguments.knob),
        "grouped": arguments.grouped,
    }


def _knob(text: str) -> tuple[str, tuple[str, ...]]:
    name, separator, values = text.partition("=")
    if not separator or not sweep_values(values):
        raise OptionError(f"--knob={text} has no values: give NAME=VALUE,VALUE")
    return name, sweep_values(values)
