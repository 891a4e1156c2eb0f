"""The history in a capture: that of the captured host, within bounds, and no secrets."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.app.commands.capture import write_capture
from raidtui.demo.demo_host import demo_root
from raidtui.features.history import captured
from raidtui.features.history.captured import (
    FORM,
    CapturedLogError,
    captured_text,
    read_captured_log,
)
from raidtui.features.history.entries import Entry, Origin, entry_of
from raidtui.features.history.history_report import HistoryReport, history_dict
from raidtui.features.history.incidents import Incident
from raidtui.features.history.session import read_for_capture, read_history
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.model.log_line import CAPTURED, LogGap, Writer
from tests.features.history.logs import line
from tests.features.history.test_cli import as_json, ran
from tests.features.history.test_session import BOOTS, MDSTAT, NOW_S, THREE, TITLES, host, printed

SERIAL, ABSENT = "S2R5NX0H812345", "WD-WCC4E0000001"


def opened(root: HostReader, folder: Path, *, with_serials: bool = False) -> HostReader:
    """A capture of a host, as another machine opens it."""
    target = folder / f"{'serials' if with_serials else 'hashed'}.tar.gz"
    write_capture(root, target, with_serials=with_serials)
    return open_root(str(target))


def told(incident: Incident) -> tuple[object, ...]:
    """What matters of an incident."""
    hint = incident.hint.sentence if incident.hint is not None else ""
    return incident.first_s, incident.boot, incident.title, hint, [entry.code for entry in incident.entries]


def test_a_capture_has_the_history_of_the_captured_host(tmp_path: Path) -> None:
    root = host(journal=THREE)
    history = read_history(opened(root, tmp_path))
    before = read_history(root)
    assert [incident.title for incident in history.incidents] == TITLES
    assert [told(each) for each in history.incidents] == [told(each) for each in before.incidents]
    assert (history.troubles, history.boots) == (before.troubles, before.boots)
    assert history.at_s == NOW_S


def test_the_demo_s_history_is_the_same_in_its_capture(tmp_path: Path) -> None:
    """Names of today, serial numbers of then: each disk of an earlier boot is found again by its hash."""
    root = demo_root()
    found = as_json_of(root), as_json_of(opened(root, tmp_path, with_serials=True))
    for each in found:
        each.pop("at")
        for line_ in (line_ for incident in each["incidents"] for line_ in incident["entries"]):
            line_["text"] = line_["text"].partition(" (")[0]  # who built the kernel is cut off
    assert found[0] == found[1]
    hashed = as_json_of(opened(root, tmp_path))
    assert [each["now"] for each in hashed["incidents"]] == [each["now"] for each in found[0]["incidents"]]
    assert [each["hint"] for each in hashed["incidents"]] == [each["hint"] for each in found[0]["incidents"]]


def as_json_of(root: HostReader) -> dict[str, Any]:
    history = read_history(root)
    report = HistoryReport(
        incidents=history.incidents,
        troubles=history.troubles,
        today=history.today,
        host=root.hostname or "",
        at_s=history.at_s,
    )
    found: dict[str, Any] = history_dict(report)
    return found


def test_a_capture_of_a_capture_has_it_too(tmp_path: Path) -> None:
    first = opened(host(journal=THREE), tmp_path)
    (tmp_path / "second").mkdir()
    again = read_history(opened(first, tmp_path / "second"))
    assert [incident.title for incident in again.incidents] == TITLES


def test_a_capture_without_history_shows_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was made by an older raidtui: the journal of this machine is never shown in its place."""
    target = tmp_path / "old.tar"
    with tarfile.open(target, "w") as archive:
        entry = tarfile.TarInfo("proc/mdstat")
        entry.size = len(MDSTAT)
        archive.addfile(entry, io.BytesIO(MDSTAT.encode()))
    assert ran(open_root(str(target))) == 3
    assert capsys.readouterr().out.splitlines()[1] == "not known: journalctl was not run for this capture"


def test_what_could_not_be_read_there_is_said_here(tmp_path: Path) -> None:
    history = read_history(opened(host(journal=""), tmp_path))
    assert [each.code for each in history.troubles] == [LogGap.RING_REFUSED]
    assert history.incidents == ()


SMARTD = (
    f"Device: /dev/sda [SAT], Samsung SSD 850, S/N:{SERIAL}, WWN:5-002538-d40c0ffee, FW:EXM02B6Q, 500 GB",
    f"Device: /dev/sdb [SAT], WDC WD40EFRX, S/N:{ABSENT}, WWN:5-0014ee-2b0c0ffee, FW:82.00A82, 4.00 TB",
)


def logged(*texts: str, identifier: str = "smartd") -> str:
    return "".join(
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": f"{(NOW_S - 60) * 1e6:.0f}",
                "__MONOTONIC_TIMESTAMP": "900000000",
                "_BOOT_ID": BOOTS[2],
                "_TRANSPORT": "syslog",
                "SYSLOG_IDENTIFIER": identifier,
                "MESSAGE": text,
            }
        )
        + "\n"
        for text in texts
    )


def content(folder: Path, root: HostReader) -> str:
    write_capture(root, folder / "host.tar.gz")
    return gzip.decompress((folder / "host.tar.gz").read_bytes()).decode("utf-8", "replace")


def test_serial_numbers_of_disks_that_are_gone_are_hashed(tmp_path: Path) -> None:
    """Smartd writes a WWN in its own form; a disk of an old boot is in no other file of the capture."""
    text = content(tmp_path, host(journal=logged(*SMARTD)))
    for secret in (SERIAL, ABSENT, "5-002538-d40c0ffee", "5-0014ee-2b0c0ffee"):
        assert secret not in text
    assert text.count(", S/N:h") == 2


def test_serial_numbers_in_what_raidtui_did_are_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Entry(
        at_s=NOW_S - 50,
        boot="",
        origin=Origin.JOB,
        code="job-ended",
        weight=entry("md: md0 stopped.").weight,
        text=f"job is done: take out: sdb, serial {ABSENT}",
    )
    other = replace(done, text="job is done: take out: sdc, WWN 0x50014ee2b0c0ffee")
    monkeypatch.setattr("raidtui.features.history.session.own_entries", lambda: ((done, other), ()))
    live = host(journal=THREE)
    live.live = True
    log = read_for_capture(live)
    assert log.ours == (done, other)
    monkeypatch.setattr("raidtui.features.history.session.read_for_capture", lambda _: log)
    text = content(tmp_path, host())
    assert ABSENT not in text
    assert "0x50014ee2b0c0ffee" not in text
    history = read_history(open_root(str(tmp_path / "host.tar.gz")))
    assert sum("job is done: take out" in each.title for each in history.incidents) >= 1


def entry(text: str, writer: Writer = Writer.KERNEL) -> Entry:
    found = entry_of(line(0.0, text, writer))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("writer", "text", "kept"),
    [
        (
            Writer.UDEV,
            "sda: Process '/usr/local/bin/tell --password=hunter2 sda' failed with exit code 1.",
            "sda: Process '/usr/local/bin/tell' failed with exit code 1.",
        ),
        (Writer.UDEV, "sda: Process '/bin/x' failed with exit code 1.", None),
        (
            Writer.KERNEL,
            "EXT4-fs error (device sda1): ext4_lookup:1855: inode #2: comm ls: 'letter' linked to dir",
            "EXT4-fs error (device sda1)",
        ),
        (
            Writer.KERNEL,
            "Linux version 6.1.0-18-amd64 (ada@builder) (gcc-12) #1 SMP",
            "Linux version 6.1.0-18-amd64",
        ),
        (Writer.KERNEL, "md: md0: resync done.", None),
    ],
)
def test_what_is_kept_of_a_line(writer: Writer, text: str, kept: str | None) -> None:
    found = entry(text, writer)
    assert captured_text(found) == (kept or text)
    assert entry(captured_text(found), writer).code == found.code


def test_lines_that_do_not_matter_are_not_kept(tmp_path: Path) -> None:
    journal = printed(
        (9e3, BOOTS[2], "audit: password=hunter2"),
        (8e3, BOOTS[2], "md: md0: resync done."),
    ) + logged("Invalid user hunter2 from 10.0.0.1", identifier="sshd")
    text = content(tmp_path, host(journal=journal))
    assert "hunter2" not in text
    assert "md: md0: resync done." in text


@pytest.mark.parametrize(("lines", "size", "kept"), [(3, 1 << 20, 3), (100, 420, 2)])
def test_what_is_too_much_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, lines: int, size: int, kept: int
) -> None:
    """The newest lines stay."""
    monkeypatch.setattr(captured, "MOST_LINES", lines)
    monkeypatch.setattr(captured, "MOST_BYTES", size)
    log = read_for_capture(host(journal=THREE))
    assert [line.text for line in log.lines][-1] == "Linux version 6.1.1"
    assert len(log.lines) == kept
    (trouble,) = log.troubles
    assert trouble.code is LogGap.CAPTURE_CUT
    assert trouble.sentence.startswith(
        f"the capture has the newest {kept} of 7 lines that matter: those before "
    )
    found = read_history(MemoryReader({"/proc/mdstat": MDSTAT, CAPTURED: captured.captured_log_text(log)}))
    assert found.troubles == (trouble,)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "the history in this capture is damaged: "),
        (b'{"lines": [1]}', "the history in this capture is damaged: "),
        (f'{{"form": {FORM + 1}}}'.encode(), "the history in this capture is of a newer raidtui"),
        (b"[" * 100_000, "the history in this capture is damaged: "),
    ],
)
def test_a_history_that_cannot_be_understood(data: bytes, why: str) -> None:
    with pytest.raises(CapturedLogError, match=why):
        read_captured_log(data)
    history = read_history(MemoryReader({"/proc/mdstat": MDSTAT, CAPTURED: data}))
    assert history.incidents == ()
    assert history.troubles[0].sentence.startswith(why)


def test_before_now_is_before_the_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture may be a month old when it is read."""
    root = opened(host(journal=THREE), tmp_path)
    found = as_json(capsys, "--since", "40d", root=root)
    assert [each["title"] for each in found["incidents"]] == ["booted, Linux 6.1.1"]


def test_a_folder_whose_logs_are_links_to_this_machine(tmp_path: Path) -> None:
    """A root file system that is mounted may have links to absolute paths: here they lead to another host."""
    place, ours = tmp_path / "mnt", tmp_path / "ours"
    (place / "proc").mkdir(parents=True)
    (place / "proc/mdstat").write_text(MDSTAT)
    (place / "var").mkdir()
    (ours / "journal/0123").mkdir(parents=True)
    (ours / "journal/0123/system.journal").write_bytes(b"x")
    (ours / "kern.log").write_text("Mar  1 00:00:00 nas kernel: md: md0 stopped.\n")
    (place / "var/log").symlink_to(ours)
    root = open_root(str(place))
    assert read_history(root).incidents == ()
    assert (root.names("/var/log"), root.may_read("/var/log/kern.log")) == ((), False)
    (place / "var/log").unlink()
    (place / "var/log").mkdir()
    (place / "var/log/kern.log").symlink_to(ours / "kern.log")
    (place / "var/log/journal").mkdir()
    (place / "var/log/journal/0123").symlink_to(ours / "journal/0123")
    history = read_history(root)
    assert history.incidents == ()
    assert LogGap.NOT_CAPTURED in {each.code for each in history.troubles}
    (place / "var/log/kern.log").unlink()
    (place / "var/log/old").write_text((ours / "kern.log").read_text())
    (place / "var/log/kern.log").symlink_to("old")
    assert [each.title.rpartition(": ")[2] for each in read_history(root).incidents] == ["md0 stopped."]
