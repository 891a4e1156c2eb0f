"""The journal: what its JSON may hold, what is damaged, who may read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from raidtui.host.logs.journald import (
    STALL_S,
    JournalReader,
    journal_argv,
    journal_troubles,
    message_text,
    whole_lines,
)
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tool_pieces import PiecesError
from raidtui.model.answer import AnswerKind
from raidtui.model.log_line import LogGap, Writer

BOOT = "0c5b7a9e41d24f6b8e3a2d1c9b8a7f60"


class Journal(MemoryReader):
    """A host whose journalctl prints these pieces, and then fails so."""

    def __init__(self, *pieces: bytes, error: PiecesError | None = None, live: bool = False) -> None:
        super().__init__({})
        self.live = live
        self.asked: list[tuple[str, ...]] = []
        self.stalls: list[float] = []
        self._pieces, self._error = pieces, error

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        self.asked.append(argv)
        self.stalls.append(stall_s)
        for piece in self._pieces:
            if ended():
                return
            yield piece
        if self._error is not None:
            raise self._error


def entry(**fields: object) -> bytes:
    """A line of journalctl."""
    usual = {
        "__REALTIME_TIMESTAMP": "1764000000500000",
        "__MONOTONIC_TIMESTAMP": "7200000000",
        "_BOOT_ID": BOOT,
        "_TRANSPORT": "kernel",
        "SYSLOG_IDENTIFIER": "kernel",
        "MESSAGE": "md: md0 stopped.",
    }
    return json.dumps(usual | fields).encode() + b"\n"


def read(*pieces: bytes, **more: object) -> tuple[JournalReader, list[tuple[Writer, str]]]:
    reader = JournalReader(Journal(*pieces, **more), lambda: False)  # type: ignore[arg-type]
    return reader, [(line.writer, line.text) for lines in reader.read() for line in lines]


def test_the_command() -> None:
    assert journal_argv(10.4, 20.0) == (
        "journalctl", "--quiet", "--no-pager", "--reverse", "--output=json",
        "--output-fields=MESSAGE,MESSAGE_ID,SYSLOG_IDENTIFIER,_SOURCE_MONOTONIC_TIMESTAMP,_TRANSPORT",
        "--since=@10", "--until=@20",
        "_TRANSPORT=kernel",
        "+", "SYSLOG_IDENTIFIER=mdadm", "SYSLOG_IDENTIFIER=smartd", "SYSLOG_IDENTIFIER=systemd-udevd",
        "SYSLOG_IDENTIFIER=(udev-worker)", "_UID=0",
        "+", "MESSAGE_ID=d93fb3c9c24d451a97cea615ce59c00b", "MESSAGE_ID=e9bf28e6e834481bb6f48f548ad13606",
        "MESSAGE_ID=a596d6fe7bfa4994828e72309e95d61e", "_TRANSPORT=driver",
    )  # fmt: skip
    assert not [word for word in journal_argv() if word.startswith(("--since", "--until"))]


def test_lines_cut_anywhere_are_whole() -> None:
    text = entry(MESSAGE="ä: one") + entry(MESSAGE="two") + entry(MESSAGE="three")[:-1]
    for place in range(1, len(text)):
        reader, lines = read(text[:place], text[place:])
        assert [text for _, text in lines] == ["ä: one", "two", "three"]
        assert (reader.lines, reader.damaged, reader.kernel) == (3, 0, True)


def test_who_wrote_it() -> None:
    _, lines = read(
        entry(),
        entry(_TRANSPORT="syslog", SYSLOG_IDENTIFIER="mdadm", MESSAGE="m"),
        entry(_TRANSPORT="journal", SYSLOG_IDENTIFIER="smartd", MESSAGE="s"),
        entry(_TRANSPORT="journal", SYSLOG_IDENTIFIER="(udev-worker)", MESSAGE="u"),
        entry(_TRANSPORT="driver", SYSLOG_IDENTIFIER="systemd-journald", MESSAGE="Journal stopped",
              MESSAGE_ID="d93fb3c9c24d451a97cea615ce59c00b"),
        entry(SYSLOG_IDENTIFIER="somebody", MESSAGE="md: md0 stopped."),  # written to /dev/kmsg
        entry(_TRANSPORT="syslog", SYSLOG_IDENTIFIER="kernel", MESSAGE="md: md0 stopped."),  # by logger
    )  # fmt: skip
    assert lines == [
        (Writer.KERNEL, "md: md0 stopped."),
        (Writer.MDADM, "m"),
        (Writer.SMARTD, "s"),
        (Writer.UDEV, "u"),
        (Writer.JOURNAL, "Journal stopped"),
    ]


def test_messages_of_every_form() -> None:
    """Bytes that are not UTF-8, nothing (more than 4096 bytes), several values, lines in one message."""
    failed = (
        "md/raid1:md0: Disk failure on sdb, disabling device.\n"
        "md/raid1:md0: Operation continuing on 1 devices."
    )
    reader, lines = read(
        entry(MESSAGE=[109, 100, 255]),
        entry(MESSAGE=None),
        entry(MESSAGE=["first", "second"]),
        entry(MESSAGE=failed),
        entry(MESSAGE="ata2.00: cmd ca/00\n         res 41/04 Emask 0x1 (device error)"),
    )
    assert [text for _, text in lines] == [
        "md�",
        "first",
        "md/raid1:md0: Operation continuing on 1 devices.",  # newest first, as everything here
        "md/raid1:md0: Disk failure on sdb, disabling device.",
        "ata2.00: cmd ca/00 res 41/04 Emask 0x1 (device error)",
    ]
    assert reader.damaged == 1


@pytest.mark.parametrize("value", [[], [300], [{}], {}, 7, [None]])
def test_what_is_no_message(value: object) -> None:
    assert message_text(value) is None


def test_damaged_lines_lose_nothing_else() -> None:
    reader, lines = read(entry(MESSAGE="a") + b'{"MESSAGE": "cut\n' + b"\xff\xfe\n" + entry(MESSAGE="b"))
    assert [text for _, text in lines] == ["a", "b"]
    assert reader.damaged == 2
    reader, lines = read(entry(__REALTIME_TIMESTAMP="soon"), entry(MESSAGE="c"))
    assert ([text for _, text in lines], reader.damaged) == (["c"], 1)


def test_a_line_without_an_end_is_given_up() -> None:
    reader, lines = read(b'{"MESSAGE": "' + b"x" * (2 << 20), b'"}\n', entry(MESSAGE="after"))
    assert [text for _, text in lines] == ["after"]
    assert reader.damaged >= 1


def test_the_kernels_own_time_counts_at_boot() -> None:
    """The journal takes the first lines of a boot when it is started: its time is seconds late."""
    early = entry(__MONOTONIC_TIMESTAMP="9000000", _SOURCE_MONOTONIC_TIMESTAMP="1500000")
    late = entry(_SOURCE_MONOTONIC_TIMESTAMP="7000000000")
    reader = JournalReader(Journal(early, late), lambda: False)
    lines = [line for lines in reader.read() for line in lines]
    assert [(line.at_s, line.since_boot_s) for line in lines] == [
        (1_764_000_000.5 - 7.5, 1.5),
        (1_764_000_000.5, 7200.0),
    ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PiecesError("journalctl is not installed", kind=AnswerKind.NO_TOOL), LogGap.JOURNAL_MISSING),
        (
            PiecesError("journalctl printed nothing for 20 s and was ended", kind=AnswerKind.TIMED_OUT),
            LogGap.JOURNAL_HANGS,
        ),
        (PiecesError("journalctl exited with status 1"), LogGap.JOURNAL_FAILED),
    ],
)
def test_what_went_wrong_is_said_and_what_was_read_is_kept(error: PiecesError, code: LogGap) -> None:
    root = Journal(entry(MESSAGE="kept"), error=error, live=True)
    reader = JournalReader(root, lambda: False)
    assert [line.text for lines in reader.read() for line in lines] == ["kept"]
    assert [(each.code, each.sentence) for each in reader.troubles] == [(code, str(error))]
    assert root.stalls == [STALL_S]


def test_no_more_is_read_once_it_is_ended() -> None:
    seen: list[str] = []
    reader = JournalReader(Journal(*(entry(MESSAGE=str(n)) for n in range(9))), lambda: len(seen) > 3)
    for lines in reader.read():
        seen += [line.text for line in lines]
    assert seen == ["0", "1", "2", "3"]


def test_continued_lines() -> None:
    assert whole_lines("a\n  b\n\tc\nd\n\n") == ["a b c", "d"]
    assert whole_lines("  a") == ["  a"]


class Live(MemoryReader):
    """A live host with these files, some of which nobody may read."""

    live = True

    def __init__(self, files: dict[str, str], refused: tuple[str, ...] = ()) -> None:
        super().__init__(files)
        self._refused = refused

    def may_read(self, path: str) -> bool:
        return path not in self._refused


KEPT, PASSING = f"/var/log/journal/{BOOT}/system.journal", f"/run/log/journal/{BOOT}/system.journal"


def test_a_user_who_may_not_read_the_journal() -> None:
    (trouble,) = journal_troubles(Live({KEPT: ""}, (KEPT,)))
    assert trouble.code is LogGap.JOURNAL_REFUSED
    assert trouble.remedy == "run raidtui as root, or join the group systemd-journal or adm"
    assert journal_troubles(Live({KEPT: ""})) == ()


def test_a_journal_that_is_not_kept() -> None:
    (trouble,) = journal_troubles(Live({PASSING: ""}))
    assert trouble.code is LogGap.JOURNAL_VOLATILE
    assert journal_troubles(Live({PASSING: "", KEPT: ""})) == ()
    assert journal_troubles(Live({})) == ()
    assert journal_troubles(Live({f"/var/log/journal/{BOOT}/user-1000.journal": ""})) == ()


def test_a_capture_has_none() -> None:
    reader = JournalReader(MemoryReader({}), lambda: False)
    assert list(reader.read()) == []
    assert [each.code for each in reader.troubles] == [LogGap.NOT_CAPTURED]


def test_real_files(tmp_path: Path) -> None:
    """This machine's journalctl understands the command, whatever it has to say."""
    from raidtui.host.readers.folder_reader import FolderReader  # noqa: PLC0415

    reader = JournalReader(FolderReader(), lambda: False)
    list(reader.read())
    assert [each.code for each in reader.troubles if each.code is not LogGap.JOURNAL_MISSING] == []
