"""Pane 5 on real arrays, by keys: a run watched live, a heat map over arrays made for it, an A/B."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import begun, has_ended, kept, kill_worker, read
from tests.lab.guests.boot import serial_of
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.terminal import Terminal

SLOW_S = 240.0  # a request takes some milliseconds here, and starting fio seconds
ROWS_OF_A_RUN = (
    r"^ random read 8K on data: /mnt +\d+ s of 15  run 1 of 1",
    r"^ IOPS +[\d,]+  [▁-█]{2,} .*\n MB/s +[\d.]+",
    "data clean, no sync",
)
RAW = """
import json
from raidtui.features.bench.results.run_store import Results
with Results() as results:
    print(json.dumps([json.loads(results.raw(run.id)) for run in results.runs()]))
"""
pytestmark = pytest.mark.usefixtures("no_benchmarks")


def go_to(terminal: Terminal, label: str) -> None:
    """Move to a field of the form."""
    terminal.press(*["pageup"] * 4)  # to the top, wherever it was
    terminal.wait_for(at_one_row("", "measure"))
    for _ in range(40):
        row = marked(terminal.screen())[0]
        if re.search(rf"▸ {label}\b", row):
            return
        terminal.press("down")
        terminal.wait_for(at_one_row(row))
    raise AssertionError(f"no field {label!r}; the screen:\n{terminal.screen()}")


def field_of(row: str) -> str:
    """What stands first in a row with the cursor's mark: its label or value; the rest changes by itself."""
    return row.partition("▸ ")[2].lstrip().split("  ")[0]


def marked(text: str) -> list[str]:
    """The rows with the cursor's mark: while the screen is drawn there may be none, or two."""
    return [line for line in text.split("\n") if "▸" in line]


def at_one_row(before: str, label: str = "") -> Callable[[str], bool]:
    """A screen whose cursor is at one row, with this label, and not at the field of the one before."""

    def there(text: str) -> bool:
        rows = marked(text)
        return len(rows) == 1 and field_of(rows[0]) != field_of(before) and label in rows[0]

    return there


def without(line: str) -> Callable[[str], bool]:
    """A screen that has no such line."""
    return lambda text: line not in text.split("\n")


def put(terminal: Terminal, label: str, text: str) -> None:
    """Type into a field."""
    go_to(terminal, label)
    terminal.type(text)
    terminal.wait_for(re.compile(rf"▸ {label} .*{re.escape(text)}▏"))


def turn(terminal: Terminal, label: str, wanted: str) -> None:
    """Change a choice until it is the wanted one."""
    go_to(terminal, label)
    for _ in range(12):
        terminal.wait_for(at_one_row("", f"▸ {label}"))
        line = next((each for each in terminal.lines() if f"▸ {label}" in each), "")
        if f"‹ {wanted} ›" in line:
            return
        if line:  # else it is being drawn again
            terminal.press("right")
            terminal.wait_for(without(line))
    raise AssertionError(f"{label} never becomes {wanted!r}; the screen:\n{terminal.screen()}")


def begin(terminal: Terminal, *serials: str) -> None:
    """Go on to the review, type what is asked for, and begin, whatever this machine does besides."""
    turn(terminal, "only if quiet", "no")
    terminal.press("enter")
    terminal.wait_for(re.compile(r"^ \S.* review\b", re.MULTILINE), SLOW_S)
    for serial in serials:
        terminal.wait_for(f"type its serial number, {serial}, and Enter")
        terminal.type(serial)
        terminal.press("enter")
    if not serials:
        terminal.wait_for("y begin")
        terminal.press("y")
    terminal.wait_for("started; it continues when you leave raidtui", SLOW_S)


def ended(terminal: Terminal, title: str) -> None:
    """Wait until a benchmark has ended."""
    terminal.wait_for(f"{title}: done", SLOW_S)


def seen_at_once(rows: Sequence[str]) -> Callable[[str], bool]:
    """A screen that shows all of this: a run continues meanwhile, and is over one day."""
    return lambda text: all(re.search(row, text, re.MULTILINE) for row in rows)


def figures(terminal: Terminal) -> list[str]:
    """The upper lines of a run's picture."""
    return terminal.lines()[2:7]


def settled(terminal: Terminal) -> list[str]:
    """The same, once nothing of them has been drawn anew for half a second."""
    seen: list[list[str]] = []

    def still() -> bool:
        seen.append(figures(terminal))
        return seen[-25:].count(seen[-1]) == 25

    wait_until(still, SLOW_S, "rest")
    return seen[-1]


def test_a_run_is_watched_and_what_is_kept_is_fios_own(guest: Guest) -> None:
    made = make_array(
        guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=32, extra=["--assume-clean"]
    )
    assert guest.run(f"mkfs.ext4 -q {made.path} && mount {made.path} /mnt").status == 0
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("5")
        terminal.wait_for("No benchmark yet.")
        terminal.press("n")
        terminal.wait_for(re.compile(r"folder +/mnt  on data"))
        put(terminal, "block size", "8k")
        put(terminal, "size", "8m")
        put(terminal, "time", "15")
        begin(terminal)
        terminal.wait_for(seen_at_once(ROWS_OF_A_RUN), SLOW_S)
        terminal.press("space")  # the picture is held; fio continues
        terminal.wait_for("held")
        held = settled(terminal)
        wait_until(lambda: has_ended(guest), SLOW_S, "the end")
        assert figures(terminal) == held
        terminal.press("space")
        ended(terminal, "random-read")
        (run,) = kept(guest)
        assert run["state"] == "whole"
        (raw,) = json.loads(guest.run(RAW, interpreter="python").stdout)
        theirs = raw["jobs"][0]["read"]
        assert (run["read"]["ios"], run["read"]["iops"]) == (theirs["total_ios"], theirs["iops"])
        terminal.wait_for(re.compile(rf"^ +{theirs['iops']:,.0f} +1 +[\d.]+ +[\d.]+", re.MULTILINE))


@pytest.mark.later
def test_chunks_against_blocks_end_in_a_heat_map(guest: Guest) -> None:
    two = disk_names(guest)[:2]
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("5", "s")
        terminal.wait_for("Sweep: measure repeatedly")
        turn(terminal, "measure", "a workload of your own")
        put(terminal, "size", "4m")
        put(terminal, "time", "1")
        turn(terminal, "where", "arrays made for it")
        terminal.press("down", "space", "down", "space")
        terminal.wait_for(re.compile(rf"\[0\] {two[0]} .*\n.*\[1\] {two[1]} "))
        turn(terminal, "changes", "the chunk")
        put(terminal, "chunks", "16,32,512")
        turn(terminal, "and", "the block size")
        put(terminal, "block sizes", "8k,16k")
        put(terminal, "repeats", "1")
        begin(terminal, *(serial_of(disk) for disk in two))
        ended(terminal, "random read 8K by chunk, block")
        terminal.press("h")
        terminal.wait_for(re.compile(r"512K"))
        for chunk, published in (("16K", 156), ("32K", 134), ("512K", 134)):
            terminal.wait_for(re.compile(rf"{chunk}.*\({published}\)"))
        terminal.press("escape")
    assert "active" not in read(guest, "/proc/mdstat")
    assert guest.run(f"wipefs --noheadings {' '.join(f'/dev/{disk}' for disk in two)}").stdout == ""


@pytest.mark.later
def test_a_knob_of_pane_4_is_measured(guest: Guest, sd: str) -> None:
    """From the scheduler in pane 4 to a verdict in pane 5; then it is as it was."""
    path = f"/sys/block/{sd}/queue/scheduler"
    was = read(guest, path)
    with mounted(guest, sd), open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("4")
        terminal.wait_for(re.compile(rf"scheduler of {sd}: "))
        terminal.press("t")
        terminal.wait_for(re.compile(r"knob +scheduler"), SLOW_S)
        turn(terminal, "measure", "a workload of your own")
        put(terminal, "size", "4m")
        put(terminal, "time", "1")
        put(terminal, "repeats", "3")
        begin(terminal)
        ended(terminal, "random read 4K by scheduler")
        reported = r"(no difference|not decided|faster|slower)"
        terminal.wait_for(re.compile(rf"by scheduler +data +6 .*{reported}"))
    runs = kept(guest)
    assert len({run["point"]["scheduler"] for run in runs}) == 2
    assert [run["environment"]["disks"][0]["scheduler"] for run in runs] == [
        run["point"]["scheduler"] for run in runs
    ]
    assert read(guest, path) == was


@contextmanager
def mounted(guest: Guest, disk: str) -> Iterator[None]:
    """A file system at /mnt upon an array with this disk and another one."""
    made = make_array(guest, "data", 1, [disk, disk_names(guest)[0]], extra=["--assume-clean"])
    try:
        assert guest.run(f"mkfs.ext4 -q {made.path} && mount {made.path} /mnt").status == 0
        yield
    finally:
        done = guest.run(f"! mountpoint -q /mnt || umount /mnt; mdadm --stop {made.path}")
        assert done.status == 0, done.output


@pytest.mark.later
def test_what_a_killed_one_left_is_put_back_by_keys(guest: Guest, sd: str) -> None:
    depth = f"/sys/block/{sd}/device/queue_depth"
    was = read(guest, depth)
    asked = ("--rw=randread", "--size=4m", "--depth=8", "--engine=libaio", f"--device={sd}", "--runtime=60")
    begun(guest, "sweep", *asked, "--knob=queue-depth=3,2", "--repeats=1")
    with open_console(guest, cols=80, rows=24) as terminal:
        terminal.press("5")
        terminal.wait_for(
            re.compile(r"^ IOPS +[\d,]+", re.MULTILINE), SLOW_S
        )  # begun elsewhere, watched here
        kill_worker(guest)
        terminal.wait_for("interrupted; what was measured is kept")
        assert read(guest, depth) == "3"
        terminal.press("R")
        terminal.wait_for(re.compile("y +put it back"))
        terminal.press("y")
        terminal.wait_for("1 benchmark put back", SLOW_S)
        terminal.wait_for(re.compile(r"▲.*1 partial"))
    assert read(guest, depth) == was
    assert [run["state"] for run in kept(guest)] == ["partial"]
