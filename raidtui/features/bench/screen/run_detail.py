"""The details of a benchmark's runs: remarks, workload, surroundings. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from raidtui.features.bench.report.html_report import Part, environment_lines, part_words
from raidtui.features.bench.results.run_record import FAILED, NOT_STEADY, PARTIAL, SHORT_S, RunRecord
from raidtui.features.bench.screen.run_table import cut_line, wrap_cells
from raidtui.features.bench.surroundings import merged, span_words
from raidtui.features.bench.workload import Workload
from raidtui.view.line import GLYPHS, Line
from raidtui.view.text import fit, visible
from raidtui.view.units import binary_size

_LABEL = 13
_ROLES = {PARTIAL: "warn", FAILED: "bad"}


def explained_lines(records: Sequence[RunRecord], letters: Mapping[int, str], width: int) -> list[Line]:
    """Return everything that explains these runs.

    Args:
        records: the runs of one benchmark.
        letters: by the places of runs in it, how their series are called above.
        width: cells of a line.
    """
    lines = [line for what, how, role in _noted(records) for line in _labelled(what, how, width, role)]
    lines += _surroundings(records, width)
    if len(records) > 1:
        lines += [[], [(" the runs", "dim")], *_run_lines(records, letters, width)]
    if text := next((run.job_file for run in records if run.job_file), ""):
        lines += [[], [(" the job file", "dim")]]
        lines += [cut_line([(f"   {visible(each)}", "plain")], width) for each in text.rstrip().split("\n")]
    return lines


def _name_of(run: RunRecord) -> str:
    return f"#{run.id}" if run.id else f"run {run.number + 1}"


def _noted(records: Sequence[RunRecord]) -> Iterator[tuple[str, str, str]]:
    """Yield (what, how, role) of what was noted about the runs; the same of several of them once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for run in records:
        if run.state in _ROLES:
            key = (run.state, run.reason or "the reason is not known", _ROLES[run.state])
            found.setdefault(key, []).append(_name_of(run))
        if run.unsteady:
            how = "the steady state was not reached, so these rounds have no common figure"
            found.setdefault((NOT_STEADY, how, "warn"), []).append(_name_of(run))
        for text in (*run.remarks, run.steady, _short(run)):
            if text:
                found.setdefault(("noted", text, "plain"), []).append(_name_of(run))
    for (what, how, role), names in found.items():
        label = what if role == "plain" else f"{GLYPHS[role]} {what}"
        whose = "" if len(names) == len(records) else f"{_few(names)}: "
        yield label, whose + how, role


def _short(run: RunRecord) -> str:
    return f"{run.short}: runs under {SHORT_S:.0f} s measure caches rather than disks" if run.short else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _surroundings(records: Sequence[RunRecord], width: int) -> list[Line]:
    """Where runs differ in something, all of their values are shown."""
    found: dict[str, list[tuple[Part, ...]]] = {}
    for record in records:
        if record.work is not None:
            found.setdefault("asked of fio", []).append(_asked(record.work))
    for record in records:
        for each in record.caches:
            found.setdefault(each.title, []).append(
                (("", f"{each.words}{', began cold' if each.cold else ''}"),)
            )
    for record in records:
        for what, parts in environment_lines(record.environment):
            found.setdefault(what, []).append(parts)
    written: dict[str, int] = {}
    for record in records:
        for name, size in record.written.items():
            written[name] = written.get(name, 0) + size
    if written:
        sizes = [("", f"{name} {binary_size(size)}") for name, size in written.items()]
        found["written"] = [(*sizes, ("", "in total"))]
    if used := sum(record.cpu_s or 0.0 for record in records):
        found["CPU time"] = [(("", f"{used:.1f} s of fio"),)]
    if surroundings := span_words(merged([record.during for record in records])):
        found["meanwhile"] = [(("", surroundings),)]
    return [line for what, hows in found.items() for line in _labelled(what, _joined(hows), width)]


def _asked(work: Workload) -> tuple[Part, ...]:
    """Return the options of fio that the words of a run leave out."""
    parts = [("engine", work.engine), ("", "direct" if work.direct else "through the page cache")]
    parts.append(("", f"{binary_size(work.size_bytes)}{' in each job' if work.jobs > 1 else ''}"))
    parts += [("", f"{work.runtime_s} s")] if work.runtime_s else []
    parts += [("", f"after {work.ramp_s} s of ramp")] if work.ramp_s else []
    return tuple(parts)


def _joined(found: Sequence[tuple[Part, ...]]) -> str:
    """Return parts as one text; values in which they differ as ``scheduler none / bfq``."""
    distinct = list(dict.fromkeys(found))
    if len({tuple(label for label, _ in parts) for parts in distinct}) > 1:
        return "; ".join(", ".join(map(part_words, parts)) for parts in distinct)
    return ", ".join(
        part_words((parts[0][0], " / ".join(dict.fromkeys(value for _, value in parts))))
        for parts in zip(*distinct, strict=True)
    )


def _labelled(what: str, how: str, width: int, role: str = "plain") -> list[Line]:
    label = fit(f" {visible(what)}", _LABEL)
    parts = wrap_cells(visible(how), max(8, width - _LABEL - 2))
    head = "dim" if role == "plain" else role
    return [
        [(label if number == 0 else " " * _LABEL, head), (f" {part}", "plain")]
        for number, part in enumerate(parts)
    ]


def _run_lines(records: Sequence[RunRecord], letters: Mapping[int, str], width: int) -> Iterator[Line]:
    names = max(len(_name_of(record)) for record in records)
    for record in records:
        at = time.strftime("%H:%M", time.localtime(record.at_s))
        role = _ROLES.get(record.state, "plain")
        state = f"{GLYPHS[role]} {record.state}  " if role != "plain" else ""
        if record.unsteady and role == "plain":
            state, role = f"{GLYPHS['warn']} {NOT_STEADY}  ", "warn"
        yield cut_line(
            [
                (f"   {_name_of(record):>{names}}  {at}  ", "dim"),
                (f"{letters.get(record.number, ''):<2}", "key"),
                (state, role),
                (record.figures or visible(record.words), "plain"),
                (f"  {record.short}" if record.short else "", "dim"),
            ],
            width,
        )
