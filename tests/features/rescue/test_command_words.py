"""``raidtui rescue`` without the name of a subcommand, and what is called like one."""

from __future__ import annotations

import pytest

from raidtui.app.cli import build_parser


@pytest.mark.parametrize(
    ("words", "devices", "root"),
    [
        ("rescue", [], None),
        ("rescue --json", [], None),
        ("rescue sda sdb", ["sda", "sdb"], None),
        ("rescue --json sda", ["sda"], None),
        ("rescue --root diagnose sda", ["sda"], "diagnose"),
        ("rescue --root=x sda", ["sda"], "x"),
        ("--root x rescue sda", ["sda"], "x"),
        ("rescue diagnose --json sda", ["sda"], None),
        ("rescue /dev/diagnose", ["/dev/diagnose"], None),
    ],
)
def test_without_a_subcommand_it_is_the_diagnosis(words: str, devices: list[str], root: str | None) -> None:
    found = build_parser().parse_args(words.split())
    assert (found.subcommand, found.devices, found.root) == ("diagnose", devices, root)
    assert found.json is ("--json" in words)


def test_help_is_that_of_all_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["rescue", "--help"])
    assert "raidtui rescue [--json] [DEVICE...]" in " ".join(capsys.readouterr().out.split())
