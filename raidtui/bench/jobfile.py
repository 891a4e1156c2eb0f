"""A fio job file of the user: it is read, judged, and run unchanged or refused.

What raidtui cannot see through (shell commands, other engines, included files, variables) it refuses. The
files in it must have names without a folder: raidtui creates them in a folder that it makes for the run, so
that nothing that was there before is written to.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from msgspec import Struct

from raidtui.bench.workload import parse_size
from raidtui.model.plan import Refusal, RefusalCode

_MOST_BYTES = 1 << 20
_ENGINES = frozenset(
    {"sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap"}
)
_READS = frozenset({"read", "randread"})
_FOLDERS = ("directory", "filename", "opendir")
_REFUSED = {
    "exec_prerun": "runs a shell command",
    "exec_postrun": "runs a shell command",
    "read_iolog": "replays a log that may name any device",
    "write_iolog": "writes a file of its own",
    "filename_format": "generates file names",
    "blkzonemode": "is for zoned devices",
    "thread": "",
}
_LOGS = frozenset(
    {"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "bwavgtime", "iopsavgtime"}
)
_ALIASES = {"readwrite": "rw", "iodepth_batch": "iodepth_batch_submit"}


class JobFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job file.

    Args:
        name: its name.
        text: the file.
        writes: whether any job writes.
        size_bytes: what its jobs work on together; None where the file does not say.
        by_time: whether any job runs by time.
    """

    name: str
    text: str
    writes: bool
    size_bytes: int | None = None
    by_time: bool = False


def judge_job_file(name: str, text: str) -> JobFile | Refusal:
    """Return a job file with what it does, or why it is not run.

    Args:
        name: its name.
        text: the file.
    """
    sections = _sections(text)
    if not sections:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{name} has no job",
            remedy="a job starts with its name in [brackets]",
        )
    for title, options in sections.items():
        if refusal := _refuse_section(f"{name}, [{title}]", options):
            return refusal
    directions = [options.get("rw", "read") for options in sections.values()]
    sizes = [_size(options) for options in sections.values()]
    known = [size for size in sizes if size is not None]
    return JobFile(
        name=name,
        text=text,
        writes=any(direction.partition(":")[0] not in _READS for direction in directions),
        size_bytes=sum(known) if len(known) == len(sizes) else None,
        by_time=any(options.get("time_based", "0") != "0" for options in sections.values()),
    )


def _sections(text: str) -> dict[str, dict[str, str]]:
    """Return the jobs with their options, those of [global] included, as fio's init.c reads them."""
    common: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for raw in text.split("\n"):
        line = raw.strip()
        if not line or line[0] in ";#":
            continue
        if line.startswith("[") and "]" in line:
            title = line[1 : line.index("]")]
            if title == "global":
                current = common
            else:
                name = title if title not in found else f"{title} {len(found) + 1}"
                current = found[name] = dict(common)
            continue
        key, separator, value = line.partition("=")
        if line.split()[0] == "include":
            key, value = "include", line
        if current is None:
            current = common
        key = key.strip().lower()
        current[_ALIASES.get(key, key)] = value.strip() if separator else value.strip() or "1"
    return found


def _refuse_section(where: str, options: dict[str, str]) -> Refusal | None:
    engine = options.get("ioengine", "psync")
    if engine not in _ENGINES:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{where}: the engine {engine} is not supported",
            remedy=f"choose {', '.join(sorted(_ENGINES))}",
        )
    for key, value in options.items():
        if key == "include":
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{where} includes another file",
                remedy="copy its contents into this file",
            )
        if key in _REFUSED and (key != "thread" or value == "0"):
            why = _REFUSED[key] or "makes jobs processes, which may outlive fio"
            return Refusal(code=RefusalCode.INVALID, why=f"{where}: {key} {why}", remedy="leave it out")
        if key in _LOGS:
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{where}: {key} writes logs of its own",
                remedy="leave it out: raidtui keeps the samples",
            )
        if "$" in value:
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{where}: {key} contains a variable",
                remedy="write its value",
            )
        if key in _FOLDERS and (refusal := _refuse_path(f"{where}: {key}", value)):
            return refusal
    direction = options.get("rw", "read").partition(":")[0]
    if "trim" in direction:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{where} discards what is there (rw={direction})",
            remedy="leave that job out",
        )
    return None


def _refuse_path(where: str, value: str) -> Refusal | None:
    for part in value.split(":"):  # fio's separator of several files
        path = posixpath.normpath(part)
        if part.startswith("/") or path == ".." or path.startswith("../"):
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{where} is {part}, outside the folder that raidtui creates for the run",
                remedy="use a relative path, and give the folder with --directory",
            )
    return None


def _size(options: dict[str, str]) -> int | None:
    size = parse_size(options.get("size", ""))
    jobs = options.get("numjobs", "1")
    return size * int(jobs) if size is not None and jobs.isdigit() else None


def read_job_file(path: str) -> JobFile | Refusal:
    """Return a job file of the user, or why it cannot be run."""
    file = Path(path).expanduser() if path.startswith("~") else Path(path)
    remedy = "give the path of a fio job file"
    try:
        if file.is_dir():
            return Refusal(code=RefusalCode.INVALID, why=f"{path} is a folder", remedy=remedy)
        if file.exists() and (not file.is_file() or file.stat().st_size > _MOST_BYTES):
            return Refusal(
                code=RefusalCode.INVALID,
                why=f"{path} is not a job file: it is not a small text file",
                remedy=remedy,
            )
        return judge_job_file(file.name, file.read_text(encoding="utf-8"))
    except OSError as error:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"{path}: {error.strerror or error}", remedy=remedy)
    except ValueError:  # what is no UTF-8; a NUL in the path
        return Refusal(code=RefusalCode.INVALID, why=f"{path} is not a text file", remedy=remedy)
