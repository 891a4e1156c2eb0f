"""The guide by keyboard on the real kernel: from a dead array to its files, and no byte before the plan."""

import re
from collections.abc import Callable, Sequence

import pytest

from tests.extent import WHOLE
from tests.lab.guests.console import RAIDTUI
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import checksum
from tests.lab.guests.terminal import Terminal
from tests.lab.test_rescue_trial import SUMS, left, lost_superblocks, two_kicked

READ = "Ways back"
OVER_S = 90.0


def on_row(terminal: Terminal, wanted: str) -> None:
    """Move down to a row.

    Raises:
        TimeoutError: there is none.
    """
    shown = re.compile(rf"▸[ =]*{wanted}")
    for _ in range(12):
        if shown.search(terminal.screen()):
            return
        here = re.findall(r"▸.*", terminal.screen())
        terminal.press("down")
        terminal.wait_for(lambda text, here=here: re.findall(r"▸.*", text) != here)  # type: ignore[misc]
    terminal.wait_for(shown, timeout=1)


def to_the_files(terminal: Terminal, guest: Guest, names: Sequence[str], name: str) -> None:
    """From the page of the trial over proof and plan to the array; not a byte is written up to the plan."""
    before = checksum(guest, names)
    terminal.wait_for("nothing is written to the members")
    terminal.press("enter")
    terminal.wait_for("clean: the check found nothing wrong", timeout=OVER_S)
    terminal.wait_for("read as before it")
    from_the_proof(terminal, guest, names, name, before)


def from_the_proof(terminal: Terminal, guest: Guest, names: Sequence[str], name: str, before: str) -> None:
    """From the proof of a trial that was taken down."""
    assert (checksum(guest, names), left(guest)) == (before, "")
    terminal.press("enter")
    terminal.wait_for(f"To continue, type {name} and Enter")
    assert "Tried on copy-on-write overlays" in terminal.screen()
    terminal.type(name)
    terminal.press("enter")
    terminal.wait_for("b undo it", timeout=OVER_S)  # the page of its job, when it is done
    assert "Afterwards: mount it read-only, copy what" in " ".join(terminal.screen().split())
    terminal.press("escape")
    terminal.wait_for(f"rescue: {name}: done")
    assert guest.run("cat /sys/block/md*/md/array_state").stdout == "readonly\n"
    looked = guest.run(
        f"mount -o ro,noload /dev/md/{name} /tmp/place && cd /tmp/place &&"
        f" sha256sum --check --quiet {SUMS}; cd /; umount /tmp/place"
    )
    assert (looked.status, looked.output) == (0, "")
    undone(terminal, guest, names, name, before)
    terminal.press("q")
    assert terminal.wait_exit() == 0


def undone(terminal: Terminal, guest: Guest, names: Sequence[str], name: str, before: str) -> None:
    """From the list of jobs back to the members as they were, byte for byte."""
    terminal.press("J")
    terminal.wait_for(f"rescue: {name}")
    terminal.press("enter")
    terminal.wait_for("b undo it", timeout=OVER_S)
    terminal.press("b")
    terminal.wait_for(f"To undo rescue: {name}, type undo")
    terminal.type("undo")
    terminal.press("enter")
    terminal.wait_for("rolled back", timeout=OVER_S)
    terminal.press("escape")
    terminal.wait_for(f"rescue: {name}: rolled back")
    assert checksum(guest, names) == before


def forced(guest: Guest) -> None:
    """Two members kicked: the guide is offered, force is tried and done."""
    names = two_kicked(guest)
    with guest.terminal(RAIDTUI, cols=80, rows=24) as terminal:
        terminal.wait_for("data does not run: a says what happened", timeout=OVER_S)
        terminal.press("a")
        terminal.wait_for(READ, timeout=OVER_S)
        on_row(terminal, "force ")
        assert "Forgives:" in terminal.screen()
        terminal.press("enter")
        to_the_files(terminal, guest, names, "data")


def held(guest: Guest) -> None:
    """The trial stays mounted: pane 1 says so and leads to it; it is taken down before the plan."""
    names = two_kicked(guest)
    before = checksum(guest, names)
    with guest.terminal(RAIDTUI, cols=80, rows=24) as terminal:
        terminal.wait_for("data does not run: a says what happened", timeout=OVER_S)
        terminal.press("a")
        terminal.wait_for(READ, timeout=OVER_S)
        on_row(terminal, "force ")
        terminal.press("enter")
        terminal.wait_for("nothing is written to the members")
        terminal.press("down", "right", "right")
        terminal.wait_for("left mounted read-only")
        terminal.press("enter")
        terminal.wait_for("It is mounted read-only in /run/raidtui-rescue-", timeout=OVER_S)
        assert guest.run("ls /run/raidtui-rescue-*/1/file1").status == 0
        terminal.press("escape")
        terminal.wait_for("A trial of this array is in progress", timeout=OVER_S)
        terminal.press("escape")
        terminal.wait_for("the trial is there until it is taken down; a shows it")
        terminal.wait_for("a rescue trial, read-only")
        assert "--readwrite" not in terminal.screen()
        terminal.press("a")
        terminal.wait_for("a trial that is held: force: data", timeout=OVER_S)
        terminal.press("enter")
        terminal.wait_for("x take it down", timeout=OVER_S)
        terminal.press("x")
        terminal.wait_for("Enter review the real plan", timeout=OVER_S)
        from_the_proof(terminal, guest, names, "data", before)


def searched(guest: Guest) -> None:
    """All superblocks zeroed: the geometry is found, tried and written."""
    order = lost_superblocks(guest)
    with guest.terminal(RAIDTUI, cols=80, rows=24) as terminal:
        terminal.wait_for("No md array", timeout=OVER_S)
        terminal.press("a")
        terminal.wait_for("Devices without a superblock", timeout=OVER_S)
        terminal.press("enter")
        terminal.wait_for(READ, timeout=OVER_S)
        on_row(terminal, "search ")
        terminal.press("enter")
        terminal.wait_for(" ".join(order), timeout=OVER_S)
        on_row(terminal, f"raid5 .*{' '.join(order)}")
        terminal.press("enter")
        to_the_files(terminal, guest, order, "rescued")


@pytest.mark.parametrize("way", [forced, held, searched] if WHOLE else [forced], ids=lambda way: way.__name__)
def test_a_dead_array_comes_back_by_keys(guest: Guest, way: Callable[[Guest], None]) -> None:
    way(guest)
