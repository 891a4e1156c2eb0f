"""``raidtui plan checks`` from its arguments to the answer."""

import pytest

from raidtui.app.cli import run


@pytest.mark.parametrize("words", [(), ("--monthly",), ("--weekly", "--window", "01:00-05:00")])
def test_a_host_without_any_check(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "plan", "checks", *words]) == 2
    assert "neither mdcheck, raid-check nor checkarray is installed" in capsys.readouterr().err


def test_one_rhythm_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["--demo", "plan", "checks", "--monthly", "--weekly"])
    assert "not allowed with argument --monthly" in capsys.readouterr().err


def test_the_rhythm_and_the_hours_are_handed_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "plan", "checks", "--window", "5"]) == 2
    assert "'5' is not a window of 30 minutes or more" in capsys.readouterr().err
