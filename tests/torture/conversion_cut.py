"""`make power-cuts`: conversions of an array, each cut at ten points, booted again and brought to the end.

Each cut is one line of JSON in the state file; those that are in it are not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shlex
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Program
from tests.lab.guests.inside.conversion_table import POINTS, TABLE
from tests.lab.guests.uml import PowerGuest

_GO_S, _LOOK_S = 400.0, 900.0
_STRIDE = 3


class Cut(NamedTuple):
    """One power cut.

    Args:
        name: of the conversion.
        point: one of ``POINTS``.
        seed: of what else is chosen.
    """

    name: str
    point: str
    seed: int


def all_cuts(names: tuple[str, ...], points: tuple[str, ...], seed: int) -> list[Cut]:
    """Return all cuts: each conversion once at some point, then each at another one."""
    count = len(points)
    places = [(name, points[(number * _STRIDE + turn) % count]) for turn in range(count)
              for number, name in enumerate(names)]  # fmt: skip
    every = {(name, point): at for at, (name, point) in enumerate((n, p) for n in TABLE for p in POINTS)}
    return [Cut(name, point, seed + every[name, point]) for name, point in places]


def carried_out(guest: PowerGuest, cut: Cut) -> dict[str, Any]:
    """Do one cut in a guest; return what is wrong, and what was done.

    Raises:
        AssertionError: the conversion could not be begun, or looked at.
    """
    guest.reset()
    share = guest.folder / "share"
    program = guest.spawn(words("go", *map(str, cut)), timeout=None)
    wait_until(lambda: asked(share, program), _GO_S, f"the point {cut}")
    guest.cut()
    guest.switch_on()
    found = guest.run(words("look", cut.name), timeout=_LOOK_S)
    assert found.status == 0, f"{cut}: {found.output}"
    outcome: dict[str, Any] = json.loads(found.stdout)
    met = share / "met"
    return {**outcome, "met": met.read_text() if met.exists() else ""}


def cut_in(guest: PowerGuest, name: str, point: str, seed: int) -> None:
    """Do one cut.

    Raises:
        AssertionError: something is lost, or the conversion does not come to its end.
    """
    outcome = carried_out(guest, Cut(name, point, seed))
    assert outcome["wrong"] == [], f"{name} at {point}, seed {seed}: {outcome}"


def asked(share: Path, program: Program) -> bool:
    """Return whether the guest has asked for the cut."""
    if (share / "cut").exists():
        return True
    if program.status is not None:
        raise AssertionError(f"the conversion could not be begun: {program.wait(1).output}")
    return False


def words(*order: str) -> str:
    """How it is started in the guest."""
    argv = (sys.executable, "-m", "tests.lab.guests.inside.conversion_cuts", *order)
    return f"exec {shlex.join(argv)}"


def main(argv: list[str] | None = None) -> int:
    """Do the cuts that are left; 0 if none has failed, else 1."""
    chosen = read_words(argv)
    records = read_records(chosen.state)
    seed = chosen.seed if chosen.seed is not None else next(iter(r["base"] for r in records), None)
    seed = secrets.randbits(32) if seed is None else seed
    done = {(record["name"], record["point"]) for record in records}
    names = tuple(chosen.only or TABLE)
    number, shares = chosen.share
    left = [
        cut
        for at, cut in enumerate(all_cuts(names, tuple(chosen.points), seed))
        if at % shares == number - 1 and (cut.name, cut.point) not in done
    ]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the guest does not stay
    say(f"seed {seed}: {len(left)} cuts, {len(done)} are recorded")
    failed = sum(bool(record["wrong"]) for record in records)
    end_s = time.monotonic() + 60 * chosen.minutes
    guest: PowerGuest | None = None
    try:
        for cut in left:
            if time.monotonic() >= end_s:
                say("the time is up; the same --state continues from here")
                break
            begun = time.monotonic()
            try:
                guest = guest or PowerGuest.boot()
                outcome = carried_out(guest, cut)
            except Exception:  # noqa: BLE001  (a cut may fail by anything, and all of it is to be kept)
                outcome = {"wrong": [traceback.format_exc()], "notes": [], "met": ""}
            if outcome["wrong"] and guest is not None:
                guest.shutdown()  # the next one does not inherit what this one broke
                guest = None
            failed += bool(outcome["wrong"])
            took = round(time.monotonic() - begun, 1)
            record(chosen.state, {**cut._asdict(), "base": seed, "seconds": took, **outcome})
            again = f'--only "{cut.name}" --points {cut.point} --seed {seed}'
            first = (outcome["met"].splitlines() or [""])[0]
            ended = again if outcome["wrong"] else "good"
            say(f"{cut.name} at {cut.point} ({first}), {took:.0f} s: {ended}")
            for line in outcome["wrong"]:
                say(f"    {line}")
    except KeyboardInterrupt:
        say("interrupted; the same --state continues from here")
    finally:
        if guest is not None:
            guest.shutdown()
    say(f"{failed} failed")
    return 1 if failed else 0


def read_words(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.conversion_cut", description=__doc__)
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="each cut is noted there, and not repeated"
    )
    parser.add_argument("--share", type=share_of, default=(1, 1), metavar="N/M", help="the Nth of M parts")
    parser.add_argument("--only", action="append", choices=TABLE, metavar="NAME", help=f"{', '.join(TABLE)}")
    parser.add_argument("--points", type=points_of, default=POINTS, metavar="P,P", help=f"{','.join(POINTS)}")
    parser.add_argument("--seed", type=int, metavar="N", help="else that of the state file, or one at random")
    parser.add_argument("--minutes", type=float, default=600.0, metavar="M", help="no cut begins later (600)")
    return parser.parse_args(argv)


def share_of(word: str) -> tuple[int, int]:
    """Read ``1/2``.

    Raises:
        ValueError: it is no share.
    """
    number, shares = map(int, word.split("/"))
    if not 1 <= number <= shares:
        raise ValueError(word)
    return number, shares


def points_of(word: str) -> tuple[str, ...]:
    """Read points.

    Raises:
        ValueError: one is none.
    """
    points = tuple(word.split(","))
    if not set(points) <= set(POINTS):
        raise ValueError(word)
    return points


def read_records(file: Path | None) -> list[dict[str, Any]]:
    """Return what was done before; a last line that was cut is left out."""
    records = []
    for line in file.read_text().splitlines() if file is not None and file.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def record(file: Path | None, outcome: dict[str, Any]) -> None:
    """Note a cut, on disk."""
    if file is None:
        return
    with file.open("a+b") as notes:
        whole = notes.tell() == 0 or file.read_bytes().endswith(b"\n")
        notes.write(f"{'' if whole else chr(10)}{json.dumps(outcome)}\n".encode())
        notes.flush()
        os.fsync(notes.fileno())


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
