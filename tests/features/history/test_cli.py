"""``raidtui history``: the text, the forms for programs and for browsers, the exit status."""

from __future__ import annotations

import argparse
import json
import re
import time
from html.parser import HTMLParser
from typing import Any

import pytest

from raidtui.app.cli import build_parser, run
from raidtui.demo.demo_host import DemoReader
from raidtui.features.history import cli as history
from raidtui.features.history.entries import Origin
from raidtui.features.history.incident_causes import IncidentCause
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.log_line import LogGap
from tests.demo.scene import Scene
from tests.features.history.test_session import RING, THREE, host
from tests.places import HOUSE

DOCS = (HOUSE / "docs" / "history.md").read_text()
FAILED = "sdd2 failed: md no longer uses it"


def ran(root: HostReader, *words: str) -> int:
    parser = argparse.ArgumentParser()
    history.add_arguments(parser)
    return history.run(root, parser.parse_args(words))


def demo() -> DemoReader:
    return Scene().reader


def as_json(
    capsys: pytest.CaptureFixture[str], *words: str, root: HostReader | None = None
) -> dict[str, Any]:
    ran(root or demo(), "--json", *words)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows(heading: str) -> list[str]:
    """The first cells of the table below a heading."""
    part = DOCS.partition(heading)[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)`", part, re.MULTILINE)


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(demo(), "--array", "data", "--troubles") == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d X data: {FAILED}, 52 s \(23 further lines\)", lines[0]
    )
    assert lines[1].startswith("      Hint: the link of ata4 (sdd) reported errors and was reset 3 times")
    assert sum(not line.startswith(" ") for line in lines) == 3


def test_each_line_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    ran(demo(), "--match", FAILED, "--all")
    text = capsys.readouterr().out
    assert "the link reports UnrecovData Handshk\n" in text
    assert " | ata4: SError: { UnrecovData Handshk }\n" in text


def test_the_form_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, "--match", FAILED)
    assert set(found) == {"raidtui_history", "host", "at", "boot", "incidents", "unknown"}
    (incident,) = found["incidents"]
    documented = rows("Each incident:")[: len(incident) - 2]
    assert documented
    assert set(incident) == {
        "at",
        "until",
        "boot",
        "weight",
        "code",
        "title",
        "hint",
        "then",
        "now",
        "entries",
    }
    assert incident["code"] == "member-failed"
    assert incident["hint"]["cause"] == "link"
    assert [array["title"] for array in incident["now"]["arrays"]] == ["data"]
    assert incident["now"]["disks"] == ["sdd"]
    assert incident["then"]["disks"] == [{"name": "sdd", "serial": "S2R5NX0H912002"}]
    keys = {"at", "origin", "code", "weight", "array", "device", "port", "words", "text"}
    assert all(set(entry) == keys for entry in incident["entries"])


def test_everything_is_documented() -> None:
    assert [code for code in IncidentCause if f"| `{code}` |" not in DOCS] == []
    assert [code for code in LogGap if f"| `{code}` |" not in DOCS] == []
    words = DOCS.partition("`origin` is ")[2].partition(".")[0]
    assert [each for each in Origin if each not in words] == []


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        assert not [value for name, value in attrs if name in {"src", "href"} and value]


def test_the_page_for_browsers(capsys: pytest.CaptureFixture[str]) -> None:
    """It loads nothing, and text of the log is never markup."""
    text = THREE.replace(
        "md/raid1:md0: Disk failure on sdb1", "md/raid1:md0: Disk failure on <script>x</script>"
    )
    ran(host(journal=text), "--html")
    page = capsys.readouterr().out
    tags = Tags()
    tags.feed(page)
    assert not {"script", "img", "link", "iframe"} & set(tags.found)
    assert "&lt;script&gt;" in page
    assert tags.found.count("details") == 6
    assert "default-src 'none'" in page


def test_hostile_text_does_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = THREE.replace("Disk failure on sdb1,", "Disk failure on \\u001b[2Jsdb1\\u009b,")
    assert "\\u001b" in text
    for words in ((), ("--all",), ("--html",)):
        ran(host(journal=text), *words)
        page = capsys.readouterr().out
        assert not set(page) & {"\x1b", "\x9b"}
        assert "sdb1" in page


def test_what_could_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(MemoryReader({"/proc/mdstat": ""})) == 3
    assert capsys.readouterr().out.splitlines() == [
        "No log could be read.",
        "not known: journalctl was not run for this capture",
        "not known: dmesg was not run for this capture",
    ]
    found = as_json(capsys, root=host({"/.raidtui/run/dmesg_--raw.txt": RING}, ""))
    assert [each["code"] for each in found["unknown"]] == ["ring-only"]


def test_what_does_not_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(demo(), "--match", "nothing of the kind") == 0
    assert capsys.readouterr().out == "Nothing of what happened matches.\n"
    assert ran(host(journal="")) == 3


def test_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(demo(), "--array", "nosuch") == 2
    assert capsys.readouterr().err.startswith(
        "raidtui: neither this host nor its logs have an array nosuch; there is"
    )
    assert ran(demo(), "--disk", "nosuch") == 2


@pytest.mark.parametrize(
    "words", [("--since", "soon"), ("--since", "2026-13-01"), ("--until", "@x"), ("--since", "7y")]
)
def test_times_that_are_none(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        build_parser().parse_args(["history", *words])
    assert end.value.code == 64
    assert "; use 2026-11-20, " in capsys.readouterr().err


def test_times(capsys: pytest.CaptureFixture[str]) -> None:
    root = demo()
    now_s = root.now_s()
    assert len(as_json(capsys, "--since", f"@{now_s - 3600:.0f}", root=root)["incidents"]) == 2
    assert len(as_json(capsys, "--until", f"@{now_s - 25 * 86400:.0f}", root=root)["incidents"]) == 1
    with pytest.raises(SystemExit):
        run(["history", "--demo", "--since", "2026-02-01", "--until", "2026-01-01"])
    assert "--since is after --until" in capsys.readouterr().err
    parsed = build_parser().parse_args(["history", "--since", "2026-02-01 03:00", "--until", "12h"])
    assert parsed.since(time.time()) < parsed.until(time.time())
