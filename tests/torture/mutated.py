"""Mutated input for every parser: it raises only the documented error, in bounded time.

It starts from real texts: captures of kernels, disks and fio, and files that raidtui writes itself.
They are cut, spliced and doubled, and get unexpected numbers, bytes and nesting.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import signal
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from raidtui import first_frame
from raidtui.app.cli import build_parser
from raidtui.app.commands.capture import write_capture
from raidtui.app.commands.plan import make_plan
from raidtui.config import read_config
from raidtui.demo.demo_host import demo_root
from raidtui.features.arrays.cli import report_lines
from raidtui.features.arrays.cli_json import report_dict
from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.features.bench.jobfile import judge_job_file
from raidtui.features.bench.results.run_store import Results, ResultsError
from raidtui.features.bench.run.bench_progress import NAME as LIVE
from raidtui.features.bench.run.bench_progress import last_run, read_live
from raidtui.features.bench.run.fio_stream import StreamParser
from raidtui.features.bench.schedule import decode_schedule
from raidtui.features.tune.cli_output import detail_lines, table_lines
from raidtui.features.tune.session import Tuner, read_profiles
from raidtui.features.wear.wear_report import metric_lines as wear_metrics
from raidtui.features.wear.wear_report import wear_dict, wear_lines, wear_of_text
from raidtui.first_frame import read_colours
from raidtui.frame.themes import load_themes
from raidtui.host.block import candidate_names
from raidtui.host.knobs.udev_rules import parse_rules
from raidtui.host.md.mdadm import MdadmError, parse_export, parse_words
from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.host_reader import HostReader, ReaderError
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.host.reading import read_survey
from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.host.udev import parse_udev_entry
from raidtui.jobs.journal import sealed
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import load_plan, save_plan
from raidtui.jobs.states import entry_text
from raidtui.jobs.store import Job, all_jobs
from raidtui.model.plan import Plan
from raidtui.monitor.wear.ledger import Ledger, LedgerError, read_captured_history
from raidtui.monitor.wear.readings import WearReader
from raidtui.plans.shell_script import plan_sentences, shell_script
from raidtui.plans.tune.keep_files import sysctl_entries, tmpfiles_entries, udev_entries
from raidtui.watch.watch import HostWatch
from tests.features.bench.records import record as record_of

HOUSE = Path(__file__).parents[1]
EACH, MOST_S = 12, 20.0
_NUMBER = re.compile(rb"\d+")
_NUMBERS = (
    *(b"0", b"-1", b"1.5", b"18446744073709551616", b"9" * 30, b"9" * 5000, b"1e999", b"NaN", b"00", b"0x10"),
    *(b"2147483648", b"9223372036854775807", "\u0663".encode(), "\xb2".encode()),
)
_BITS = (
    *(b"\x00", b"\xff", b"\xc3", b"\x1b[31m", b"\r", b"\t", b"\n\n", b" ", "\u202e".encode(), b"A" * 70000),
    *(b"[" * 3000, b"{" * 3000, b"'", b'"', b"\\", b"%", b"=", b":", b",", b"null", b"true", b"[]", b"{}"),
)


class TooSlowError(Exception):
    """Something was not done in bounded time."""


# -- how input is changed


def mutated(dice: random.Random, data: bytes, others: Sequence[bytes] = (b"",)) -> bytes:
    """Return a text with one to four changes."""
    for _ in range(dice.randrange(1, 5)):
        data = dice.choice(_CHANGES)(dice, data, dice.choice(others))
    return data


def _span(dice: random.Random, data: bytes) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + dice.randrange(1, 1 + max(1, min(len(data), 400))))


def _flip(dice: random.Random, data: bytes, _: bytes) -> bytes:
    changed = bytearray(data)
    for _each in range(dice.randrange(1, 9)):
        if changed:
            changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(dice: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _leave_out(dice: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:start] + data[end:]


def _double(dice: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:end] + data[start:end] * dice.choice((1, 1, 2, 50)) + data[end:]


def _splice(dice: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(dice, other)
    place = dice.randrange(len(data) + 1)
    return data[:place] + other[start:end] + data[place:]


def _number(dice: random.Random, data: bytes, _: bytes) -> bytes:
    found = [match.span() for match in _NUMBER.finditer(data)]
    if not found:
        return data
    start, end = dice.choice(found)
    return data[:start] + dice.choice(_NUMBERS) + data[end:]


def _bit(dice: random.Random, data: bytes, _: bytes) -> bytes:
    start, end = _span(dice, data)
    return data[:start] + dice.choice(_BITS) + (data[start:] if dice.random() < 0.7 else data[end:])


def _swap_lines(dice: random.Random, data: bytes, _: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _nothing(dice: random.Random, data: bytes, _: bytes) -> bytes:
    return dice.choice((b"", b"\n", b"null", b"[]", b"0", data))


_CHANGES = (
    _flip,
    _flip,
    _cut,
    _leave_out,
    _double,
    _splice,
    _number,
    _number,
    _bit,
    _bit,
    _swap_lines,
    _nothing,
)


# -- what is parsed


@dataclass(frozen=True, kw_only=True)
class Parser:
    """One parser.

    Args:
        texts: real input.
        take: parses it, and uses the result as the product does.
        errors: what it may raise, as its docstring says.
    """

    texts: Callable[[], Sequence[bytes]]
    take: Callable[[bytes], object]
    errors: tuple[type[Exception], ...] = ()


def _fixtures(pattern: str) -> Callable[[], Sequence[bytes]]:
    return cache(lambda: tuple(path.read_bytes() for path in sorted(HOUSE.glob(pattern))))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@cache
def demo_files() -> Mapping[str, bytes]:
    """Return the files of a capture of the demo."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.tar.gz"
        write_capture(demo_root(), path)
        with tarfile.open(path) as archive:
            files = [entry for entry in archive if entry.isfile()]
            return {f"/{entry.name}": archive.extractfile(entry).read() for entry in files}  # type: ignore[union-attr]


def _of_demo(pattern: str) -> Callable[[], Sequence[bytes]]:
    return cache(
        lambda: tuple(data for path, data in demo_files().items() if re.search(pattern, path)) or (b"x=1\n",)
    )


@cache
def plans_of_demo() -> tuple[bytes, ...]:
    found = []
    for words in ("check root", "locate sda", "read-only scratch", "fail data sda2", "stop scratch"):
        arguments = build_parser().parse_args(["--demo", "plan", *words.split()])
        plan = make_plan(demo_root(), arguments)
        if isinstance(plan, Plan):
            found.append(save_plan(plan, host="demo", made_s=1.0))
    assert found
    return tuple(found)


_JOURNAL = b"""\
{"at_s": 1790000000.1, "who": "me", "event": "made", "title": "check", "subject": "data"}
{"at_s": 1790000000.2, "who": "me", "event": "work", "pid": 7}
{"at_s": 1790000000.3, "who": "me", "event": "begin", "step": 0, "command": "echo check > /sys/x"}
{"at_s": 1790000000.4, "who": "me", "event": "output", "text": "a\\nb"}
{"at_s": 1790000000.5, "who": "me", "event": "step done", "step": 0, "found": true}
{"at_s": 1790000000.6, "who": "me", "event": "undo", "of": 0, "command": "x"}
{"at_s": 1790000000.7, "who": "me", "event": ["list"], "step": {"a": 1}}
{"at_s": 1790000000.8, "who": "me", "event": "failed", "reason": "why"}
"""
_SETTINGS = b"""\
theme = "light"
mouse = false
[keys]
"arrays.check" = "f5"
[wear.rated_tbw]
"Samsung SSD 850" = 150
"""
_THEME = (HOUSE.parent / "themes" / "dark.toml").read_bytes
_FSTAB = b"""\
UUID=0a1b /  ext4 errors=remount-ro 0 1
/dev/md127 /srv/my\\040data xfs defaults 0 0
LABEL="x" none swap sw 0 0
/dev/disk/by-id/md-name-nas:data /mnt auto noauto
"""


_ETC = {
    "/etc/fstab": _FSTAB,
    "/etc/crypttab": b"secret UUID=0a1b /root/key luks,discard\n",
    "/etc/mdadm/mdadm.conf": b"HOMEHOST <system>\nARRAY /dev/md/data metadata=1.2 UUID=1:2:3:4 name=x:data\n",
    "/etc/udev/rules.d/60-own.rules": b'ACTION=="add", KERNEL=="sd[a-z]", ATTR{queue/scheduler}="none"\n',
    "/etc/sysctl.d/90-raidtui.conf": b"dev.raid.speed_limit_max = 200000\n",
    "/etc/tmpfiles.d/raidtui.conf": b"w /sys/block/md127/md/stripe_cache_size - - - - 4096\n",
    "/proc/swaps": b"Filename Type Size Used Priority\n/dev/sda3 partition 1 0 -2\n",
    "/proc/cmdline": b"BOOT_IMAGE=/vmlinuz raid=noautodetect elevator=none\n",
    "/proc/uptime": b"12345.67 99999.00\n",
}


@contextlib.contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def _journal(data: bytes) -> None:
    with _file("x", b"") as path:
        folder = path.parent / "jobs" / "20260101-000000-check"
        folder.mkdir(parents=True)
        (folder / "plan.json").write_bytes(plans_of_demo()[0])
        lines = (sealed(line) for line in _text(data).split("\n"))  # as if a newer raidtui had written them
        (folder / "journal.jsonl").write_text("\n".join(lines), errors="replace")
        for job in all_jobs(folder.parent):
            entries = job.entries()
            assert all(
                isinstance(entry["event"], str) and isinstance(entry["at_s"], float) for entry in entries
            )
            [entry_text(entry) for entry in entries]
            [time.localtime(entry["at_s"]) for entry in entries]
            assert job.state
            job.done_steps()
            with contextlib.suppress(JobError):
                Job(folder).refuse_back()


def _plan(data: bytes) -> None:
    plan = load_plan(data).plan
    plan_sentences(plan)
    shell_script(plan)
    save_plan(plan, host="", made_s=0.0)


def _config(data: bytes) -> None:
    with _file("config.toml", data) as path:
        read_config(path.parent)


def _profiles(data: bytes) -> None:
    with _file("profiles.toml", data) as path:
        read_profiles(path.parent)


def _themes(data: bytes) -> None:
    with _file("dark.toml", data) as path:
        load_themes([str(path.parent)])
        before = os.environ.get("XDG_CONFIG_HOME")
        os.environ["XDG_CONFIG_HOME"] = str(path.parent)
        try:
            (path.parent / "raidtui" / "themes").mkdir(parents=True)
            path.rename(path.parent / "raidtui" / "themes" / "dark.toml")
            first_frame.paint([], read_colours("dark"), 80, 24)
        finally:
            os.environ.pop("XDG_CONFIG_HOME")
            if before is not None:
                os.environ["XDG_CONFIG_HOME"] = before


def _mdstat(data: bytes) -> None:
    parse_mdstat(_text(data))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "proc").mkdir()
        (Path(folder) / "proc/mdstat").write_bytes(data)
        for size in ((80, 24), (60, 15)):
            first_frame.paint(first_frame.frame(folder, *size), {}, *size)
    looked_at(MemoryReader({"/proc/mdstat": data}, source="x", taken_s=1.79e9, still=True))


def _smart(data: bytes) -> None:
    parse_smart(_text(data), "sda", 0)
    disk = wear_of_text(_text(data), "sda")
    assert all(line.isprintable() for line in wear_lines([disk]))
    json.dumps(wear_dict([disk]), allow_nan=False)
    list(wear_metrics([disk]))


def _fio(data: bytes) -> None:
    parser = StreamParser()
    half = len(data) // 2
    parser.feed(data[:half])
    parser.feed(data[half:])
    parser.close()


def _live(data: bytes) -> None:
    with _file(LIVE, data) as path:
        lines, _ = read_live(path.parent)
        last_run(lines)


def _results(data: bytes) -> None:
    with _file("bench.sqlite", data) as path, Results(path) as results:
        for record in results.runs():
            results.samples(record.id)
            results.raw(record.id)


@cache
def _results_files() -> tuple[bytes, ...]:
    with _file("bench.sqlite", b"") as path:
        path.unlink()
        with Results(path) as results:
            results.add(record_of(), (), b"raw")
        return (path.read_bytes(),)


def _ledger(data: bytes) -> None:
    with _file("wear.sqlite", data) as path, Ledger(path) as ledger:
        ledger.marks()
        ledger.thin(1e9)


@cache
def _ledger_files() -> tuple[bytes, ...]:
    with _file("wear.sqlite", b"") as path:
        path.unlink()
        with Ledger(path) as ledger:
            ledger.mark("hand", "before", 1.0)
        return (path.read_bytes(),)


def _capture(data: bytes) -> None:
    with _file("capture.tar", data) as path:
        open_root(str(path))


@cache
def _captures() -> tuple[bytes, ...]:
    found = []
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=mode) as archive:
            for path, data in list(demo_files().items())[:40]:
                entry = tarfile.TarInfo(
                    path.lstrip("/") if len(path) < 90 else "proc/" + "long/" * 40 + "name"
                )
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            entry = tarfile.TarInfo("proc/mdstat")
            archive.addfile(entry)
        found.append(buffer.getvalue())
    return tuple(found)


def looked_at(root: HostReader) -> None:
    """Read a host with everything that raidtui reads of one."""
    console = HostWatch(root)
    report = console.refresh()
    assert all(line.isprintable() for text in report_lines(report) for line in text.split("\n"))
    json.dumps(report_dict(report), allow_nan=False)
    list(metric_lines(report))
    snapshot = report.snapshot
    look = WearReader(root).look(snapshot)
    wear_lines(look.disks, look.arrays)
    json.dumps(wear_dict(look.disks, look.arrays), allow_nan=False)
    tuning = Tuner(root).read(snapshot)
    table_lines(tuning)
    detail_lines(tuning, {subject.name for subject in tuning.subjects})
    read_survey(root, snapshot, candidate_names(root), on_top=True)
    parser = build_parser()
    for array in snapshot.arrays[:3]:
        for verb in ("stop", "check", "repair", "read-only"):
            make_plan(root, parser.parse_args(["plan", verb, "--", array.name]))
        for member in array.members[:2]:
            for verb in ("fail", "remove"):
                make_plan(root, parser.parse_args(["plan", verb, "--", array.name, member.name]))
    console.close()


def _demo_tree(dice: random.Random) -> None:
    files = dict(demo_files()) | _ETC
    texts = list(files.values())
    reported = [path for path in sorted(files) if not path.startswith("/sys/")]
    chosen = dice.sample(sorted(files), dice.randrange(1, 9)) + dice.sample(reported, dice.randrange(1, 5))
    for path in chosen:
        files[path] = mutated(dice, files[path], texts)
    if dice.random() < 0.3:
        for path in dice.sample(sorted(files), 20):
            files.pop(path)
    try:
        looked_at(MemoryReader(files, source="x", taken_s=1.79e9, still=True))
    except Exception as error:
        error.add_note("changed: " + ", ".join(f"{path}={files.get(path, b'')[:200]!r}" for path in chosen))
        raise


PARSERS = {
    "mdstat": Parser(texts=_fixtures("fixtures/mdstat/*.txt"), take=_mdstat),
    "smartctl": Parser(texts=_fixtures("fixtures/smart/*.json"), take=_smart),
    "fio": Parser(texts=_fixtures("features/bench/streams/*"), take=_fio),
    "mdadm --export": Parser(
        texts=lambda: (b"MD_LEVEL=raid10\nMD_DEVICES=4\nMD_NAME=nas:data\nMD_UUID=1:2:3:4\nMD_EVENTS=17\n",),
        take=lambda data: parse_export(_text(data)),
        errors=(MdadmError,),
    ),
    "mdadm --examine": Parser(
        texts=lambda: (
            b"          Magic : a92b4efc\n        Version : 1.2\n    Data Offset : 264192 sectors\n",
        ),
        take=lambda data: parse_words(_text(data)),
    ),
    "udev": Parser(texts=_of_demo("^/run/udev/data/"), take=lambda data: parse_udev_entry(_text(data))),
    "udev rules": Parser(
        texts=lambda: (b'ACTION=="add", KERNEL=="sd[a-z]", ATTR{queue/scheduler}="none"\n',),
        take=lambda data: (list(parse_rules(_text(data), "/x")), udev_entries(_text(data))),
    ),
    "sysctl": Parser(
        texts=lambda: (b"dev.raid.speed_limit_max = 200000\n# x\n",),
        take=lambda data: (sysctl_entries(_text(data)), tmpfiles_entries(_text(data), ("/sys/x",))),
    ),
    "plan": Parser(texts=plans_of_demo, take=_plan, errors=(JobError,)),
    "journal": Parser(texts=lambda: (_JOURNAL,), take=_journal),
    "config": Parser(texts=lambda: (_SETTINGS,), take=_config),
    "profiles": Parser(
        texts=lambda: (b'[quiet]\ndescription = "x"\n[quiet.disk]\nscheduler = "none"\n',), take=_profiles
    ),
    "theme": Parser(texts=lambda: (_THEME(),), take=_themes),
    "schedule": Parser(
        texts=lambda: (b'{"format_version": 2, "title": "x", "place": {}}',),
        take=decode_schedule,
        errors=(JobError,),
    ),
    "job file": Parser(
        texts=lambda: (b"[global]\nrw=randread\nsize=1g\n[one]\nbs=4k\n",),
        take=lambda data: judge_job_file("x.fio", _text(data)),
    ),
    "live": Parser(texts=lambda: (b'{"sample": {"t_s": 1.0}}\n{"begins": {"at_s": 1.0}}\n',), take=_live),
    "history": Parser(
        texts=_of_demo("raidtui.*wear|\\.raidtui/"), take=lambda data: read_captured_history(_text(data))
    ),
    "results": Parser(texts=_results_files, take=_results, errors=(ResultsError,)),
    "ledger": Parser(texts=_ledger_files, take=_ledger, errors=(LedgerError,)),
    "capture": Parser(texts=_captures, take=_capture, errors=(ReaderError,)),
}


# -- rounds


def round_of(seed: int) -> None:
    """Mutate the input of every parser several times, and whole trees.

    Raises:
        Exception: an undocumented error of a parser, with the input.
    """
    dice = random.Random(seed)
    for name in PARSERS:
        for _ in range(EACH):
            try_parser(name, dice)
    for _ in range(EACH):
        try_tree(dice)


def try_parser(name: str, dice: random.Random) -> None:
    """Change the input of one parser once."""
    parser = PARSERS[name]
    texts = parser.texts()
    data = mutated(dice, dice.choice(texts), texts)
    try:
        with in_time(), contextlib.suppress(*parser.errors):
            parser.take(data)
    except Exception as error:
        error.add_note(f"{name}: {data[:4000]!r}")
        raise


def try_tree(dice: random.Random) -> None:
    """Change some files of a host once."""
    with in_time():
        _demo_tree(dice)


@contextlib.contextmanager
def in_time(most_s: float = MOST_S) -> Iterator[None]:
    """Interrupt what takes too long."""

    def late(*_: object) -> None:
        raise TooSlowError(f"not done after {most_s:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, most_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
