"""``raidtui capture``: the files and tool outputs that a bug report needs, serial numbers hashed.

``raidtui --root FILE`` opens the archive, on the screen and on the command line.

Of files that belong to the whole host (udev rules, sysctl.d, the kernel command line) only the lines that
raidtui evaluates are taken. The others are left empty, which keeps the line numbers.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

import raidtui
from raidtui.app.commands.capture_serials import hash_serials
from raidtui.app.registry import FEATURES
from raidtui.command.captured_files import device_files, file_of, said_file
from raidtui.host.block import BLOCK
from raidtui.host.boot.boot_reader import KEPT
from raidtui.host.knobs.disk_knobs import IDENTITY_WORDS, MODULES
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.knobs.setter_services import COMM_LENGTH, SERVICES
from raidtui.host.knobs.setters import BOOT_WORDS
from raidtui.host.knobs.udev_rules import writing_rules
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import LINKS, HostReader
from raidtui.host.readers.noting_reader import NotingReader
from raidtui.host.smart.device_types import PATH as TYPES_PATH
from raidtui.host.smart.device_types import asked_names, device_words
from raidtui.host.smart.smart_names import smart_names
from raidtui.host.smart.smart_reader import errors_argv, smart_outputs
from raidtui.host.smart.smartctl_json import parse_smart
from raidtui.host.tools import ToolOutput
from raidtui.jobs.new_files import create_file
from raidtui.jobs.undo_record import RECORD, captured_record
from raidtui.model.answer import AnswerKind
from raidtui.model.knob_table import OUR_FILES
from raidtui.model.smart import SmartReading
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.boot.boot_check import check_boot
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.cached_nodes import CacheReader
from raidtui.monitor.stack.stack_reader import StackReader
from raidtui.monitor.wear.ledger import PATH
from raidtui.monitor.wear.readings import WearReader
from raidtui.view.text import visible
from raidtui.view.units import counted

_OFTEN = 2
"""A tool that has not answered so often is not asked again."""


class CaptureReader(FolderReader):
    """The live host, of which no tool is waited for longer than a capture may take.

    Args:
        total_s: after how long no tool is asked any more.
        each_s: how long one call may take at most.
    """

    def __init__(self, *, total_s: float = 40.0, each_s: float = 8.0) -> None:
        super().__init__()
        self._until_s, self._total_s, self._each_s = time.monotonic() + total_s, total_s, each_s
        self.silent: dict[str, list[str]] = {}
        """Tools that have not answered, each with the arguments of those calls."""
        self.unasked: dict[str, int] = {}
        """Tools that were not asked any more, and how often."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``HostReader.ask``: what has hung, or comes too late, is not asked."""
        tool, left_s = argv[0], self._until_s - time.monotonic()
        if left_s <= 0 or len(self.silent.get(tool, ())) >= _OFTEN:
            self.unasked[tool] = self.unasked.get(tool, 0) + 1
            late = f"was not asked: the capture has taken {self._total_s:.0f} s"
            why = f"{tool} {late if left_s <= 0 else 'was not asked again: it does not answer'}"
            return ToolOutput(
                argv=argv, status=None, stdout="", stderr="", why_not=why, silence=AnswerKind.TIMED_OUT
            )
        output = super()._asked(*argv, timeout_s=min(timeout_s, self._each_s, left_s), stdin=stdin)
        if output.kind is AnswerKind.TIMED_OUT:
            self.silent.setdefault(tool, []).append(" ".join(argv[1:]))
        return output

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        """See ``HostReader.pieces``: what is older than could be read in half of the time is left out."""
        half_s = self._until_s - self._total_s / 2
        yield from super().pieces(
            *argv, stall_s=min(stall_s, self._each_s), ended=lambda: ended() or time.monotonic() > half_s
        )
        if time.monotonic() > half_s:
            self.silent.setdefault(argv[0], []).append("to its end")

    def missing(self) -> Iterator[str]:
        """Yield what the capture lacks, a clause for each tool."""
        for tool in sorted({*self.silent, *self.unasked}):
            calls, unasked = self.silent.get(tool, []), self.unasked.get(tool, 0)
            words = [f"{tool} did not answer: {', '.join(calls)}"] if calls else []
            words += [f"{counted(unasked, 'call')} of {tool} left out"] if unasked else []
            yield "; ".join(words)


_PROC = (
    "/proc/mdstat", "/proc/diskstats", "/proc/swaps", "/proc/self/mountinfo", "/proc/partitions",
    "/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/boot_id",
    "/proc/sys/dev/raid/speed_limit_min",
    "/proc/sys/dev/raid/speed_limit_max", "/proc/sys/dev/raid/sync_io_depth", "/etc/mdadm/mdadm.conf",
    "/etc/mdadm.conf", "/etc/os-release", "/sys/module/md_mod/parameters/start_ro",
)  # fmt: skip
_WRITE_ONLY = frozenset({"bitmap_set_bits", "new_dev"})
_SMART_S = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``capture``."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the archive to write; it must not exist yet")
    parser.add_argument(
        "--with-serials", action="store_true", help="include serial numbers and WWNs instead of hashes"
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Write a capture; return 0, or 73 (EX_CANTCREAT) if the file cannot be created."""
    if reader.live and type(reader) is not CaptureReader:
        reader = CaptureReader()
    try:
        written = write_capture(reader, arguments.file, with_serials=arguments.with_serials)
    except FileExistsError:
        print(f"raidtui: {arguments.file} exists already; choose another name", file=sys.stderr)
        return 73
    except OSError as error:
        print(f"raidtui: {arguments.file}: {error.strerror}", file=sys.stderr)
        return 73
    kept = "with serial numbers" if arguments.with_serials else "serial numbers hashed"
    print(f"{arguments.file}: {written.files} files, {kept}. To open it: raidtui --root {arguments.file}")
    missing = reader.missing() if isinstance(reader, CaptureReader) else ()
    for line in (*written.said, *(f"not in it: {each}" for each in missing)):
        print(visible(line))
    return 0


class WrittenCapture(Struct, frozen=True, kw_only=True):
    """What was written.

    Args:
        files: how many there are in it.
        said: what features say of their part, a line each.
    """

    files: int
    said: tuple[str, ...]


def write_capture(reader: HostReader, target: Path, *, with_serials: bool = False) -> WrittenCapture:
    """Write a capture (tar, gzip) of what ``reader`` shows.

    Args:
        reader: the host.
        target: the file to create; an existing one is never overwritten.
        with_serials: whether serial numbers and WWNs are included. Otherwise each is replaced by a hash that
            is the same throughout one capture and differs between captures.

    Raises:
        FileExistsError: ``target`` exists.
        OSError: it cannot be written.
    """
    if target.exists():  # before all of it is read
        raise FileExistsError(target)
    snapshot = Sampler(reader).sample()
    files, inner = knob_files(reader, snapshot)
    of_stack, more = stack_files(reader)
    files |= of_stack | dict(_files(reader, snapshot))
    inner |= more
    parts = [feature.capture(reader) for feature in FEATURES if feature.capture is not None]
    for part in parts:
        files |= part.files
    folders = {folder for path in files for folder in _above(path)}
    files = {path: data for path, data in files.items() if path not in folders}
    if inner:
        files[LINKS] = "".join(f"{path}\t{target}\n" for path, target in inner.items()).encode()
    links = dict(_links(reader))
    if not with_serials:
        files, links = hash_serials(snapshot, files, links)
    with create_file(target) as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mtime, entry.mode = len(data), int(snapshot.taken_s), 0o644
            archive.addfile(entry, io.BytesIO(data))
        for path, link in sorted(links.items()):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname, entry.mtime = tarfile.SYMTYPE, link, int(snapshot.taken_s)
            archive.addfile(entry)
    return WrittenCapture(files=len(files), said=tuple(line for part in parts for line in part.said))


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a path."""
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(2, len(parts)))


def _files(reader: HostReader, snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    yield "/.raidtui/version", raidtui.__version__.encode()
    yield "/.raidtui/taken_s", f"{snapshot.taken_s:.3f}".encode()
    yield "/.raidtui/made", time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(snapshot.taken_s)).encode()
    for path in _PROC:
        yield from file_of(reader, path)
    for name in {*reader.names(BLOCK), *snapshot.disks}:
        if not name.startswith(("loop", "ram")) or name in snapshot.disks:
            yield from device_files(reader, name)
    for array in snapshot.arrays:
        base = f"{BLOCK}/{array.name}/md"
        for attribute in reader.names(base):
            if attribute.startswith("dev-"):
                for of_member in reader.names(f"{base}/{attribute}"):
                    yield from file_of(reader, f"{base}/{attribute}/{of_member}")
            elif attribute == "bitmap":
                for of_bitmap in reader.names(f"{base}/bitmap"):
                    yield from file_of(reader, f"{base}/bitmap/{of_bitmap}")
            elif attribute not in _WRITE_ONLY:
                yield from file_of(reader, f"{base}/{attribute}")
        yield from _tool(reader, "mdadm", "--detail", "--export", array.path)
        yield from _tool(reader, "mdadm", "--detail", array.path)
        for member in array.members:
            yield from _tool(reader, "mdadm", "--examine", "--export", f"/dev/{member.name}")
    yield from _tool(reader, "mdadm", "--version")
    yield KEPT, msgspec.json.encode(check_boot(reader).facts)
    yield from _wear(reader, snapshot)
    if record := captured_record(reader):
        yield RECORD, record


def _wear(reader: HostReader, snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    """Yield what smartctl says of the disks, none of them woken, and their history."""
    known = []
    yield from file_of(reader, TYPES_PATH)
    for name in asked_names(reader, smart_names(reader, snapshot)):
        outputs = smart_outputs(reader, name, _SMART_S)
        for output in outputs:
            yield from said_file(output)
        found = parse_smart(outputs[-1].stdout, name, outputs[-1].status)
        if isinstance(found, SmartReading) and found.identity:
            known.append(found.identity)
        if isinstance(found, SmartReading) and found.protocol == "SCSI":
            yield from said_file(
                reader.ask(*errors_argv(name, device_words(reader, name)), timeout_s=_SMART_S)
            )
    if history := WearReader(reader).captured_history(known):
        yield PATH, history


def _tool(reader: HostReader, *argv: str) -> Iterator[tuple[str, bytes]]:
    yield from said_file(reader.ask(*argv))


def _links(reader: HostReader) -> Iterator[tuple[str, str]]:
    for name in reader.names("/dev/md"):
        if target := reader.link(f"/dev/md/{name}"):
            yield f"/dev/md/{name}", target


Part = Callable[[str, str], str]
"""Returns what is taken of a file, of its path and its text; "" where that is nothing."""


def knob_files(reader: HostReader, snapshot: Snapshot) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files and the links by which ``KnobReader`` reads the same of a capture as of the host."""
    noting = NotingReader(reader)
    KnobReader(noting).read(snapshot, caches=CacheReader(reader).read(snapshot.arrays))
    files = {path: _taken(path, data) for path, data in noting.files.items()}
    return {path: data for path, data in files.items() if data is not None}, noting.links


def stack_files(reader: HostReader) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files and the links by which ``StackReader`` reads the same of a capture as of the host.

    ``dmsetup table`` prints no keys of dm-crypt unless it is asked for them.
    """
    noting = NotingReader(reader)
    StackReader(noting).look({}, wait=True)
    said = (each for output in tuple(noting.outputs) for each in said_file(output))
    return noting.files | dict(said), noting.links


def _taken(path: str, data: bytes) -> bytes | None:
    """Return the part of a file that is captured; None for nothing."""
    part = next((part for pattern, part in _PARTS if pattern.fullmatch(path)), None)
    if part is None or not data or path in OUR_FILES.values():
        return data
    return part(path, data.decode("latin-1")).encode("latin-1") or None


def _lines(*words: str) -> Part:
    """Take the lines that hold one of these words, and are no comments."""

    def part(path: str, text: str) -> str:
        del path
        found = (
            line if any(word in line for word in words) and not line.lstrip().startswith(("#", ";")) else ""
            for line in text.split("\n")
        )
        taken = "\n".join(found)
        return taken if taken.strip() else ""

    return part


def _rules(path: str, text: str) -> str:
    """Take rules that write to files of devices; a comment is a line without words."""
    if not writing_rules(text, path):
        return ""
    lines = text.split("\n")
    return "\n".join("#" if line.lstrip().startswith("#") else line for line in lines)


def _boot_words(path: str, text: str) -> str:
    """Of the kernel's command line the words that set knobs; others may be anything."""
    del path
    return " ".join(word for word in text.split() if word.partition("=")[0] in BOOT_WORDS)


def _process(path: str, text: str) -> str:
    """A process's name, where it is PID 1 or one of the services."""
    known = {name[:COMM_LENGTH] for name in SERVICES}
    return text if path == "/proc/1/comm" or text.strip() in known else ""


def _identity(path: str, text: str) -> str:
    """Of what a disk says of itself no serial number and no name."""
    del path
    words = (word if number in IDENTITY_WORDS else "0000" for number, word in enumerate(text.split()))
    return " ".join(words)


_PARTS: tuple[tuple[re.Pattern[str], Part], ...] = tuple(
    (re.compile(pattern), part)
    for pattern, part in (
        (r"/proc/cmdline", _boot_words),
        (r"/proc/[0-9]+/comm", _process),
        (r"/sys/class/ata_device/[^/]+/id", _identity),
        (r"/lib/modules/.+/modules\.(dep|builtin)", _lines(*(f"/{file}" for file in MODULES.values()))),
        (r"/.+/udev/rules\.d/.+", _rules),
        (r"/.+/sysctl\.d/.+", _lines("raid")),
        (r"/.+/tmpfiles\.d/.+|/etc/rc\.local|/etc/rc\.d/rc\.local", _lines("/sys/", "/proc/")),
        (r"/.+/modprobe\.d/.+", _lines("libata")),
        (r"/etc/(default|sysconfig)/.+|/.+/tuned/.+\.conf", _lines("=", "[")),
        (r"/etc/(sysfs|tlp|auto-cpufreq|cpupower-service)(\.d/.+)?\.conf", _lines("=", "[")),
    )
)
