"""A fio job file of the user: it is read, and a new one is written from what was understood.

fio is never given the user's text. Each option is one of ``fio_options``, with a value of a known
form; a line that is anything else refuses the file. Files have names without a folder: raidtui creates
them in a folder that it makes for the run, so that nothing that was there before is written to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from raidtui.features.bench.fio_options import ALIASES, FORMS, seconds_in, sizes_in, why_refused
from raidtui.features.bench.option_texts import refuse
from raidtui.features.bench.workload import GUESSED_BYTES_S, Workload
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import binary_size

_MOST_BYTES = 1 << 20
_MOST_LINE = 1000
"""fio reads lines of 4096 or 8192 bytes, and takes what is left for a line of its own."""
_MOST_JOBS = 128
_MOST_MEMORY = 1 << 30
_READS = frozenset({"read", "randread", "rw", "readwrite", "randrw"})
_MIXES = frozenset({"rw", "readwrite", "randrw"})
_TITLE = re.compile(r"\[([A-Za-z0-9][A-Za-z0-9 ._+-]{0,63})\]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class JobFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job file.

    Args:
        name: its name.
        text: the file that fio is given.
        writes: whether any job writes while it is measured.
        size_bytes: what the files of all jobs take; None in a schedule of an older version.
        written_bytes: what is written in a run, files that are laid out before included.
        by_time: whether a part of that depends on the speed, and one was assumed.
        jobs: what each job does, a sentence each.
    """

    name: str
    text: str
    writes: bool
    size_bytes: int | None = None
    written_bytes: int = 0
    by_time: bool = False
    jobs: tuple[str, ...] = ()


class _Job(Struct, frozen=True):
    """A job as it was understood: its name, and its options with those of [global]."""

    title: str
    options: dict[str, str]

    def sizes(self, *names: str) -> tuple[int, ...]:
        return tuple(size for name in names for size in sizes_in(self.options.get(name, "")))

    def number(self, name: str, default: int = 1) -> int:
        return int(self.options.get(name, default))

    @property
    def rw(self) -> str:
        return self.options.get("rw", "read").partition(":")[0]

    @property
    def write_share(self) -> float:
        if self.rw not in _MIXES:
            return float(self.rw not in _READS)
        mixed = self.number("rwmixwrite", 100 - self.number("rwmixread", 50))
        return mixed / 100

    @property
    def block_bytes(self) -> int:
        """The largest request."""
        return max(self.sizes("bs", "bsrange", "bssplit")) or 4096

    @property
    def memory_bytes(self) -> int:
        return self.block_bytes * self.number("iodepth") * self.number("numjobs")

    @property
    def size_bytes(self) -> int:
        """What one of its threads works on; 0 where it is not given."""
        size, each = self.sizes("size", "filesize")
        return size or each * max(self.number("nrfiles"), len(self.options.get("filename", "").split(":")))

    @property
    def files(self) -> dict[str, int]:
        """Its files, or all of one thread's together, with their size in bytes."""
        size, each = self.sizes("size", "filesize")
        first, step = self.sizes("offset", "offset_increment")
        threads = self.number("numjobs")
        extent = max(size, self.size_bytes) + first
        if names := self.options.get("filename"):
            parts = names.split(":")
            extent += step * (threads - 1)
            return dict.fromkeys(parts, max(each, -(-extent // len(parts))))
        return {f"{self.title}.{number}": extent + step * number for number in range(threads)}

    @property
    def lays_out(self) -> bool:
        """Whether fio writes the files before it measures: what is read, or overwritten."""
        return self.rw in _READS or self.options.get("overwrite") == "1"

    def written(self) -> tuple[float, bool]:
        """Return the bytes that it writes while it runs, at most, and whether a speed was assumed."""
        if not self.write_share:
            return 0.0, False
        threads = self.number("numjobs")
        several = len({*self.sizes("bs", "bsrange", "bssplit")} - {0}) > 1
        share = 1.0 if several else self.write_share  # of requests, and of bytes where all have one size
        rates = (_of_writes(self.sizes("rate")), _of_writes(self.sizes("rate_iops")) * self.block_bytes)
        speed = min((each for each in rates if each), default=0) * threads
        assumed = speed or GUESSED_BYTES_S * share
        ramp_s, runtime_s = (seconds_in(self.options.get(name, "")) for name in ("ramp_time", "runtime"))
        if self.options.get("time_based") == "1" and runtime_s:
            return assumed * (runtime_s + ramp_s), not speed
        amount = (self.sizes("io_size")[0] or self.size_bytes) * self.number("loops")
        if requests := self.number("number_ios", 0):
            amount = min(amount, requests * self.block_bytes)
        return amount * share * threads + assumed * ramp_s, bool(ramp_s) and not speed

    @property
    def sentence(self) -> str:
        work = Workload(
            rw="rw" if self.rw == "readwrite" else self.rw,
            block_bytes=self.block_bytes,
            size_bytes=self.size_bytes,
            depth=self.number("iodepth"),
            jobs=self.number("numjobs"),
            direct=self.options.get("direct", "1" if self.options.get("buffered") == "0" else "0") == "1",
            read_percent=round(100 - 100 * self.write_share),
        )
        written, guessed = self.written()
        amount = f"at most {'about ' if guessed else ''}{binary_size(int(written))}"
        does = f"writes {amount}" if written else "only reads"
        where = f"{binary_size(self.size_bytes)} in {self.options.get('filename') or 'files of its own'}"
        return f"Job {self.title}: {work.words}; it works on {where}, and {does}."


def judge_job_file(name: str, text: str) -> JobFile | Refusal:
    """Return a job file with what it does, or why it is not run.

    The text of the result is judged alike: it is written the same way again.

    Args:
        name: its name.
        text: the file.
    """
    jobs = _parse(name, text)
    if isinstance(jobs, Refusal):
        return jobs
    for job in jobs:
        if not job.size_bytes:
            return refuse(f"{name}, [{job.title}]: no size is given", "give one, such as size=500m")
    if not 0 < len(jobs) <= _MOST_JOBS:
        why = f"{name} has {len(jobs) or 'no'} job{'s' if jobs else ''}"
        remedy = f"{_MOST_JOBS} are the maximum" if jobs else "a job starts with its name in [brackets]"
        return refuse(why, remedy)
    if (memory := sum(job.memory_bytes for job in jobs)) > _MOST_MEMORY:
        why = f"{name}: block size, iodepth and numjobs together take {binary_size(memory)} of memory"
        return refuse(why, f"choose smaller ones: {binary_size(_MOST_MEMORY)} are the maximum")
    written = [job.written() for job in jobs]
    laid_out = _together(job.files for job in jobs if job.lays_out)
    return JobFile(
        name=name,
        text=_written(jobs),
        writes=any(job.write_share for job in jobs),
        size_bytes=_together(job.files for job in jobs),
        written_bytes=laid_out + int(sum(each for each, _ in written)),
        by_time=any(guessed for _, guessed in written),
        jobs=tuple(job.sentence for job in jobs),
    )


def _of_writes(sizes: Sequence[int]) -> int:
    """Return the second value, that of writes; a single one holds for all."""
    return sizes[:2][-1]


def _together(each: Iterable[dict[str, int]]) -> int:
    """Return what files take; those of one name are one file."""
    largest: dict[str, int] = {}
    for files in each:
        for file, size in files.items():
            largest[file] = max(size, largest.get(file, 0))
    return sum(largest.values())


def _parse(name: str, text: str) -> list[_Job] | Refusal:
    """Return the jobs in their order, as init.c of fio reads them: [global] stands for those after it."""
    common: dict[str, str] = {}
    jobs: list[_Job] = []
    options: dict[str, str] | None = None
    section, given = "", set[str]()
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        where = f"{name}, line {number}"
        if _CONTROL.search(raw):
            return refuse(f"{where} contains control characters", "write it as plain text")
        if len(raw) > _MOST_LINE:
            return refuse(f"{where} is longer than {_MOST_LINE} characters", "shorten it")
        line = re.split("[;#]", raw, maxsplit=1)[0].strip(" \t")  # parse.c strip_blank_end cuts it there, too
        if not line:
            continue
        if line.startswith("["):
            found = _TITLE.fullmatch(line)
            if found is None:
                return refuse(
                    f"{where}: this is not the name of a job",
                    "write it in [brackets], of letters, digits, spaces, dots and dashes",
                )
            section, given = found[1], set()
            if section.startswith("global"):  # whatever follows, as fio takes it
                options = common
            else:
                options = dict(common)
                jobs.append(_Job(section, options))
            continue
        if options is None:
            return refuse(f"{where} is before the first [job]", "begin with [global]")
        if refusal := _take(f"{where}, [{section}]", line, options, given):
            return refusal
    return jobs


def _take(where: str, line: str, options: dict[str, str], given: set[str]) -> Refusal | None:
    """Add the option of a line; return why it is refused, or None."""
    if line.startswith("include"):  # whatever follows: fio opens what stands after the next character
        return refuse(f"{where} includes another file", "copy its contents into this file")
    key, _, value = (part.strip(" \t") for part in line.partition("="))
    shown, option = key[:60], ALIASES.get(key, key)
    form = FORMS.get(option)
    if form is None:
        why, remedy = why_refused(option)
        return refuse(f"{where}: {shown} {why}", remedy)
    if option in given:
        return refuse(f"{where}: {shown} is given a second time", "leave one of them out")
    given.add(option)
    if "$" in value:
        return refuse(f"{where}: {shown} contains a variable", "write its value")
    if option == "rw" and "trim" in value:
        return refuse(
            f"{where} discards what is there (rw={value[:60]})",
            "leave that job out",
            code=RefusalCode.UNSUPPORTED,
        )
    read = form.read(value)
    if read is None:
        return refuse(f"{where}: {shown} is {value[:60] or 'empty'}", f"write {form.wants}")
    options[option] = read
    return None


def _written(jobs: Sequence[_Job]) -> str:
    """Return fio's file: each job with all its options, the engine first, for it decides what others mean."""
    lines = []
    for job in jobs:
        ordered = sorted(job.options.items(), key=lambda item: item[0] != "ioengine")
        lines += [f"[{job.title}]", *(f"{name}={value}" for name, value in ordered)]
    return "\n".join((*lines, ""))


def read_job_file(path: str) -> JobFile | Refusal:
    """Return a job file of the user, or why it cannot be run."""
    file = Path(path).expanduser() if path.startswith("~") else Path(path)
    remedy = "give the path of a fio job file"
    try:
        if file.is_dir():
            return refuse(f"{path} is a folder", remedy)
        if file.exists() and (not file.is_file() or file.stat().st_size > _MOST_BYTES):
            return refuse(f"{path} is not a job file: it is not a small text file", remedy)
        return judge_job_file(file.name, file.read_bytes().decode("utf-8"))
    except OSError as error:
        return refuse(f"{path}: {error.strerror or error}", remedy, code=RefusalCode.NOT_FOUND)
    except ValueError:  # what is no UTF-8; a NUL in the path
        return refuse(f"{path} is not a text file", remedy)
