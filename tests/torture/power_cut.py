"""A job of each kind, the power cut at a random moment; after the next boot nothing is lost, and it resumes.

What had not reached a disk is gone with the memory of the guest. Then the data and the black box are whole,
and the job is found as what it was, and can be resumed or taken back.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Program
from tests.lab.guests.inside.power_runs import KINDS
from tests.lab.guests.uml import PowerGuest

_GUESTS: list[PowerGuest] = []
_JOB_S = 120.0


def open_up() -> None:
    """Start the guest."""
    _GUESTS.append(PowerGuest.boot())


def close_down() -> None:
    """Remove the guest."""
    for guest in _GUESTS:
        guest.shutdown()
    _GUESTS.clear()


def round_of(seed: int) -> None:
    """One job, one cut, one boot.

    Raises:
        AssertionError: something was lost, or cannot be resumed; the error says what.
    """
    kind = KINDS[seed % len(KINDS)]
    (guest,) = _GUESTS
    cut_in(guest, kind, random.Random(seed).randrange(1 << 30))


def cut_in(guest: PowerGuest, kind: str, seed: int) -> None:
    """Carry out a job of a kind, cut the power during it, and check the state after the boot."""
    guest.reset()
    share = guest.folder / "share"
    program = guest.spawn(words("go", kind, seed), timeout=None)
    wait_until(lambda: asked(share, program), _JOB_S, f"the cut of {kind} {seed}")
    guest.cut()
    guest.switch_on()
    found = guest.run(words("look", kind, seed), timeout=_JOB_S)
    assert found.status == 0, f"{kind} {seed}: {found.output}"
    wrong = json.loads(found.stdout)
    assert wrong == [], f"{kind} {seed}: {'; '.join(wrong)}"


def asked(share: Path, program: Program) -> bool:
    """Return whether the guest has asked for the cut."""
    if (share / "cut").exists():
        return True
    if program.status is not None:
        raise AssertionError(f"the job could not be begun: {program.wait(1).output}")
    return False


def words(order: str, kind: str, seed: int) -> str:
    """How it is started in the guest."""
    return f"exec {sys.executable} -m tests.lab.guests.inside.power_runs {order} {kind} {seed}"
