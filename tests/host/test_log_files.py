"""kern.log, messages and syslog: years, rotation, compression; and the ring buffer."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raidtui.host.logs.log_files import LogFiles, parse_line
from raidtui.host.logs.ring import ARGV, read_ring
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.log_line import LogGap, LogLine, Writer

NOW_S = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))


def local(year: int, month: int, day: int, *clock: int) -> float:
    hour, minute, second = (*clock, 0, 0, 0)[:3]
    return time.mktime((year, month, day, hour, minute, second, 0, 0, -1))


def everything(writer: Writer, text: str) -> bool:
    return bool(writer) and text is not None


def read(files: Mapping[str, Any]) -> tuple[LogFiles, list[LogLine]]:
    root = MemoryReader({f"/var/log/{name}": data for name, data in files.items()}, taken_s=NOW_S)
    reader = LogFiles(root, everything, lambda: False)
    return reader, sorted((line for lines in reader.read() for line in lines), key=lambda line: line.at_s)


def kernel(when: str, text: str) -> str:
    return f"{when} nas kernel: [  12.345678] {text}\n"


def test_the_classic_form() -> None:
    _, lines = read({"kern.log": kernel("Mar  1 03:12:07", "md: md0 stopped.")})
    assert lines == [
        LogLine(
            at_s=local(2026, 3, 1, 3, 12, 7),
            boot="",
            since_boot_s=12.345678,
            writer=Writer.KERNEL,
            text="md: md0 stopped.",
            said_in="/var/log/kern.log",
        )
    ]


@pytest.mark.parametrize(
    ("stamp", "at_s"),
    [
        ("2026-03-01T03:12:07.250000+00:00", 1_772_334_727.25),
        ("2026-03-01T05:12:07+0200", 1_772_334_727.0),
        ("2026-03-01T03:12:07Z", 1_772_334_727.0),
    ],
)
def test_the_form_with_a_year(stamp: str, at_s: float) -> None:
    _, (line,) = read({"messages": f"{stamp} nas mdadm[812]: Fail event detected on md device /dev/md0\n"})
    assert (line.at_s, line.writer, line.text) == (
        at_s,
        Writer.MDADM,
        "Fail event detected on md device /dev/md0",
    )


def test_years_are_counted_back() -> None:
    """The file goes over New Year, and the one before it begins a year earlier still."""
    files = {
        "kern.log": kernel("Dec 31 23:59:58", "a")
        + kernel("Jan  1 00:00:03", "b")
        + kernel("Mar  1 00:00:00", "c"),
        "kern.log.1": kernel("Nov 30 10:00:00", "d") + kernel("Dec 30 10:00:00", "e"),
        "kern.log.2.gz": gzip.compress(
            (kernel("Dec 20 10:00:00", "f") + kernel("Jan 20 10:00:00", "g")).encode()
        ),
    }
    _, lines = read(files)
    assert [(line.text, line.at_s) for line in lines] == [
        ("f", local(2024, 12, 20, 10)),
        ("g", local(2025, 1, 20, 10)),
        ("d", local(2025, 11, 30, 10)),
        ("e", local(2025, 12, 30, 10)),
        ("a", local(2025, 12, 31, 23, 59, 58)),
        ("b", local(2026, 1, 1, 0, 0, 3)),
        ("c", local(2026, 3, 1)),
    ]


def test_a_clock_that_was_set_back_over_new_year() -> None:
    text = kernel("Dec 31 23:59:50", "a") + kernel("Jan  1 00:00:01", "b") + kernel("Dec 31 23:59:59", "c")
    _, lines = read({"kern.log": text + kernel("Jan  1 00:00:30", "d")})
    assert {line.text: time.localtime(line.at_s).tm_year for line in lines} == {
        "a": 2025,
        "b": 2026,
        "c": 2025,
        "d": 2026,
    }


def test_a_file_that_was_last_written_years_ago(tmp_path: Path) -> None:
    """A disk of a host that was off for long: when it was written says the year."""
    path = tmp_path / "var/log/kern.log"
    path.parent.mkdir(parents=True)
    path.write_text(kernel("Jun 10 08:00:00", "md: md0 stopped."))
    os.utime(path, (local(2021, 6, 10, 8), local(2021, 6, 10, 8)))
    reader = LogFiles(FolderReader(str(tmp_path)), everything, lambda: False)
    (lines,) = reader.read()
    assert [line.at_s for line in lines] == [local(2021, 6, 10, 8)]


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_compressed(ending: str, pack) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    _, lines = read(
        {f"messages-20260201.{ending}": pack(kernel("Feb  1 00:00:00", "md: md0 stopped.").encode())}
    )
    assert [line.text for line in lines] == ["md: md0 stopped."]


def test_files_by_their_age() -> None:
    names = [
        "messages",
        "messages-20260215",
        "messages-20260201.xz",
        "kern.log.10.gz",
        "kern.log.2.gz",
        "kern.log",
    ]
    root = MemoryReader(
        {f"/var/log/{name}": "" for name in [*names, "messages.old", "kern.logs", "auth.log"]}
    )
    reader = LogFiles(root, everything, lambda: False)
    assert reader._paths() == {
        "kern.log": ["/var/log/kern.log", "/var/log/kern.log.2.gz", "/var/log/kern.log.10.gz"],
        "messages": ["/var/log/messages", "/var/log/messages-20260215", "/var/log/messages-20260201.xz"],
    }


def test_damaged_files_give_what_they_have() -> None:
    packed = gzip.compress("".join(kernel("Feb  1 00:00:00", f"line {n}") for n in range(5000)).encode())
    reader, lines = read({"kern.log": b"\xff\xfe\0", "kern.log.1.gz": packed[: len(packed) // 2]})
    assert len(lines) > 100
    assert [each.code for each in reader.troubles] == [LogGap.DAMAGED]
    assert reader.troubles[0].sentence.startswith("/var/log/kern.log.1.gz cannot be read to its end: ")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Mar  1 03:12:07 nas",
        "Xyz  1 03:12:07 nas kernel: text",
        "2026-13-01T03:12:07Z nas kernel: text",
        "Mar  1 03:12:07 nas sshd[1]: Accepted",
        "-- MARK --",
    ],
)
def test_lines_that_are_none(line: str) -> None:
    assert parse_line(line) is None


def test_a_day_that_no_calendar_has_is_left_out() -> None:
    _, lines = read({"kern.log": kernel("Feb 31 03:12:07", "a") + kernel("Mar  1 00:00:00", "b")})
    assert "b" in [line.text for line in lines]


def test_several_lines_in_one_as_rsyslog_writes_them() -> None:
    text = (
        "md/raid1:md0: Disk failure on sdb, disabling device.#012"
        "md/raid1:md0: Operation continuing on 1 devices."
    )
    _, lines = read({"kern.log": kernel("Mar  1 00:00:00", text)})
    assert [line.text for line in lines] == text.split("#012")


def test_a_user_who_may_not_read_them(tmp_path: Path) -> None:
    class Refusing(FolderReader):
        def may_read(self, path: str) -> bool:
            return not path

    (tmp_path / "var/log").mkdir(parents=True)
    (tmp_path / "var/log/kern.log").write_text(kernel("Mar  1 00:00:00", "md: md0 stopped."))
    reader = LogFiles(Refusing(str(tmp_path)), everything, lambda: False)
    assert list(reader.read()) == []
    assert [(each.code, each.sentence) for each in reader.troubles] == [
        (LogGap.FILES_REFUSED, "this user may not read /var/log/kern.log")
    ]
    assert reader.said_in == []


def test_it_ends_when_it_is_ended() -> None:
    root = MemoryReader({"/var/log/kern.log": kernel("Mar  1 00:00:00", "a")}, taken_s=NOW_S)
    assert list(LogFiles(root, everything, lambda: True).read()) == []


# -- the ring buffer


def ring(text: str, status: str = "0") -> tuple[list[LogLine], LogGap | None]:
    files = {output_path(ARGV): f"exit {status}\n{text}", "/proc/uptime": "1000.50 1.00\n",
             "/proc/sys/kernel/random/boot_id": "0c5b7a9e-41d2-4f6b-8e3a-2d1c9b8a7f60\n"}  # fmt: skip
    lines, trouble = read_ring(MemoryReader(files, taken_s=NOW_S))
    return lines, trouble.code if trouble is not None else None


def test_the_ring_buffer() -> None:
    """Lines of one message are padded; one that begins with blanks of its own belongs to the one before."""
    text = (
        "<2>[    8.540000] md/raid1:md127: Disk failure on ram1, disabling device.\n"
        "                  md/raid1:md127: Operation continuing on 1 devices.\n"
        "<3>[   21.485234] ata2.00: cmd ca/00:01:08\n"
        "                           res 41/04:01:08 Emask 0x1 (device error)\n"
    )
    lines, gap = ring(text)
    assert gap is LogGap.RING_ONLY
    assert [(line.text, line.since_boot_s) for line in lines] == [
        ("md/raid1:md127: Disk failure on ram1, disabling device.", 8.54),
        ("md/raid1:md127: Operation continuing on 1 devices.", 8.54),
        ("ata2.00: cmd ca/00:01:08 res 41/04:01:08 Emask 0x1 (device error)", 21.485234),
    ]
    assert lines[0].at_s == NOW_S - 1000.5 + 8.54
    assert lines[0].boot == "0c5b7a9e41d24f6b8e3a2d1c9b8a7f60"


def test_a_ring_buffer_that_has_wrapped_says_so() -> None:
    _, trouble = read_ring(MemoryReader({output_path(ARGV): "exit 0\n<6>[  812.000000] md: md0 stopped.\n"}))
    assert trouble is not None
    assert trouble.sentence.endswith("; it has wrapped: its first line is 812 s after the boot")


def test_a_ring_buffer_that_may_not_be_read() -> None:
    assert ring("", status="1") == ([], LogGap.RING_REFUSED)
    assert read_ring(MemoryReader({}))[1].sentence == "dmesg was not run for this capture"  # type: ignore[union-attr]
