"""``raidtui stack``: the form for programs, the text, the exit status."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.features.stack import cli as stack
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.opening import open_root
from raidtui.model.stack import StackKind
from raidtui.monitor.stack.stack_findings import StackCode
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.places import HOUSE

DOCS = HOUSE / "docs" / "stack.md"


def ran(root: HostReader, *words: str) -> int:
    """Run the subcommand; return its exit status."""
    parser = argparse.ArgumentParser()
    stack.add_arguments(parser)
    return stack.run(root, parser.parse_args([*words, "--over", "0"]))


def as_json(root: HostReader, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return what is printed for programs."""
    ran(root, "--json", *words)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def node(found: dict[str, Any], name: str) -> dict[str, Any]:
    """A layer by its label or its name."""
    (each,) = [each for each in found["nodes"] if name in {each["name"], each["label"]}]
    assert isinstance(each, dict)
    return each


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(StackHost(), capsys)
    slow = node(found, "vc/slow")
    assert slow["kind"] == "lvm-cache"
    assert slow["size_bytes"] == 120 << 20
    assert slow["mount"] == "/mnt/s"
    assert slow["parents"] == ["dm-4", "dm-5", "dm-6"]
    assert slow["share"] is None
    assert slow["discards_end"] == "md20"
    cache = slow["cache"]
    assert cache["mode"] == "writeback"
    assert cache["alone"] is True
    assert cache["dirty_bytes"] == 0
    assert cache["hit_ratio"] == cache["hits"] / (cache["hits"] + cache["misses"])
    assert node(found, "vc/wslow")["cache"]["alone"] is False
    assert node(found, "md20")["mount"] is None
    assert found["unknown"] == []


def test_a_device_with_what_stands_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(StackHost(), capsys, "/dev/ubdh")
    assert {each["name"] for each in found["nodes"]} == {"ubdg", "ubdh", "bcache0"}
    assert all(each["node"] in {"ubdg", "ubdh", "bcache0"} for each in found["findings"])


def test_a_device_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(StackHost(), "sdz") == 3
    assert "there is no device sdz" in capsys.readouterr().err


def test_the_exit_status() -> None:
    host = StackHost()
    assert ran(host) == 1  # writeback on one disk above a RAID 5
    host.change(STATUS_FILE, "metadata2 writeback", "metadata2 writethrough")
    assert ran(host) == 0
    host.drop("/.raidtui/run")
    assert ran(host) == 3


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    ran(StackHost(), "vc/slow".replace("vc/slow", "/dev/dm-0"))
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith("✖ vc/slow is cached in writeback mode on ubdf alone")  # first
    tree = lines[lines.index("") + 2 :]
    assert tree[0].split() == ["/mnt/s", "ext4"]
    assert tree[1].split() == ["└─", "vc/slow", "cache", "120", "MiB"]
    assert max(map(len, lines)) <= 110
    assert "Caches" in lines
    assert any("vc/slow: writeback; policy mq; hits 95.4% in all" in line for line in lines)


def test_names_from_disks_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    host = StackHost()
    host.put("/sys/class/block/dm-9/dm/name", "vc-\x1b[31mred\n")
    ran(host)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out


def test_a_capture_shows_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = StackHost()
    write_capture(host, tmp_path / "capture.tar.gz")
    assert as_json(open_root(str(tmp_path / "capture.tar.gz")), capsys) == as_json(host, capsys)


def test_docs_name_all_kinds_and_codes() -> None:
    text = DOCS.read_text()
    told = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    assert told == {str(each) for each in (*StackKind, *StackCode)}


def test_docs_name_all_fields(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(StackHost(), capsys)
    slow = node(found, "vc/slow")
    names = {*found, *slow, *slow["cache"], *slow["file_system"], *found["findings"][0]}
    text = DOCS.read_text()
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
