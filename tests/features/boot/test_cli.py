"""``raidtui boot-check``: the text, the form for programs, the exit status, on images that were booted."""

from __future__ import annotations

import argparse
import json

import pytest

from raidtui.demo.demo_host import demo_root
from raidtui.features.boot import cli as boot_check
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from tests.monitor.boot.images import image_root


def ran(root: HostReader, *words: str) -> int:
    parser = argparse.ArgumentParser()
    boot_check.add_arguments(parser)
    return boot_check.run(root, parser.parse_args(words))


def test_a_host_that_boots_without_each_disk(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(image_root()) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Without ubda (LAB-UBDA-0001): the machine boots.",
        "Without ubdb (LAB-UBDB-0002): the machine boots.",
    ]


def test_one_that_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(image_root("no-boot-code")) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Without ubda (LAB-UBDA-0001): the machine does not boot.",
        "    no: ubdb has no boot code  [no-loader]",
        "Without ubdb (LAB-UBDB-0002): the machine boots.",
        "Plan: raidtui plan boot loader ubdb",
        "Afterwards, look again: raidtui boot-check",
    ]


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(image_root("no-boot-code"), "--json") == 1
    text = "ubdb has no boot code"
    assert json.loads(capsys.readouterr().out) == {
        "disks": [
            {
                "name": "ubda",
                "serial": "LAB-UBDA-0001",
                "boots_without": False,
                "reasons": [{"code": "no-loader", "text": text, "boots": False}],
            },
            {"name": "ubdb", "serial": "LAB-UBDB-0002", "boots_without": True, "reasons": []},
        ],
        "unknown": [],
    }


def test_what_cannot_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The demo has no boot loader; an empty capture has nothing."""
    assert ran(demo_root()) == 3
    out = capsys.readouterr().out
    assert "it is not known whether the machine boots.\n" in out
    assert "    unknown: the type of firmware is not known  [not-read]\n" in out
    assert ran(MemoryReader({"/proc/mdstat": "Personalities : \nunused devices: <none>\n"}, still=True)) == 3
    assert capsys.readouterr().out == "It is not known what the machine boots from.\n"
