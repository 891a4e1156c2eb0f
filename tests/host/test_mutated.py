"""Changed input for every parser, of fixed seeds: see ``tests/torture/mutated.py``."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from raidtui.features.bench.results.run_store import Results, ResultsError
from raidtui.host.knobs.udev_rules import parse_rules
from raidtui.monitor.wear.ledger import Ledger, LedgerError, read_captured_history
from tests.features.bench.records import record
from tests.torture.mutated import PARSERS, TooSlowError, in_time, try_parser, try_tree
from tests.torture.mutations import KINDS, mutate


@pytest.mark.parametrize("name", PARSERS)
def test_changed_input(name: str) -> None:
    dice = random.Random(name)  # noqa: S311
    for _ in range(10):
        try_parser(name, dice)


@pytest.mark.parametrize("seed", [1, 2])
def test_changed_hosts(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    for _ in range(5):
        try_tree(dice)


@pytest.mark.parametrize("name", KINDS)
def test_what_was_changed_is_not_taken_for_what_was_made(name: str) -> None:
    """See ``tests/torture/mutations.py``."""
    kind = KINDS[name]
    assert [kind.wrong(each, each) for each in kind.made()] == [""] * len(kind.made())
    mutate(name, random.Random(name), 400)  # noqa: S311


@pytest.mark.parametrize("name", PARSERS)
def test_unchanged_input_is_taken(name: str) -> None:
    """Else what is changed would be refused for another reason."""
    parser = PARSERS[name]
    taken = 0
    for text in parser.texts()[:8]:
        try:
            parser.take(text)
        except parser.errors:
            continue
        taken += 1
    assert taken


def test_what_takes_too_long_is_interrupted() -> None:
    with pytest.raises(TooSlowError, match="not done after"), in_time(0.01):
        signal.pause()


def test_rules_that_take_long_to_read() -> None:
    """A word of 70,000 letters took a minute; udev passes such lines over."""
    with in_time(10.0):
        assert list(parse_rules("A" * 70_000 + '\nATTR{x}="1"\n', "/x")) == list(
            parse_rules('\nATTR{x}="1"\n', "/x")
        )
        assert list(parse_rules("A{" * 8000, "/x")) == []


def test_a_history_that_is_nested() -> None:
    assert read_captured_history("[" * 100_000) is None
    assert read_captured_history('{"disks": ' + '{"a":' * 100_000) is None


def test_a_damaged_ledger(tmp_path: Path) -> None:
    """SQLite names what is damaged in the error's text, and that was no text."""
    with Ledger(tmp_path / "wear.sqlite") as ledger:
        ledger.mark("hand", "before", 1.0)
    data = (tmp_path / "wear.sqlite").read_bytes()
    (tmp_path / "wear.sqlite").write_bytes(data.replace(b"CREATE TABLE entry", b"CREATE TABLE \xc9\x41try"))
    with pytest.raises(LedgerError, match="cannot be used"), Ledger(tmp_path / "wear.sqlite") as ledger:
        ledger.marks()


def test_damaged_results(tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415

    path = tmp_path / "bench.sqlite"
    with Results(path) as results:
        number = results.add(record(), (), b"raw")
        good = results.add(record(1), (), b"raw")
    file = sqlite3.connect(path)
    file.execute("UPDATE run SET samples = x'00', raw = 'text', record = '[' WHERE id = ?", (number,))
    file.commit()
    file.close()
    with Results(path) as results:
        assert [each.id for each in results.runs()] == [good]
        with pytest.raises(ResultsError, match="are damaged"):
            results.samples(number)
        with pytest.raises(ResultsError, match="are damaged"):
            results.raw(number)
