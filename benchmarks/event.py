"""The time from a failed member in the kernel to the screen, on real arrays in a guest of the laboratory.

The guest's clock is compared with ours by a few short round trips; half of the fastest one is the
uncertainty.  Needs `tests.lab` and what that needs; without them `measure_event` says so.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.trees import CHECKOUT

ROUNDS = 5
CLOCK_TRIPS = 8
EVENT_AFTER_S = 0.5  # the screen is being watched by then
LIMIT_S = 30.0
ARRAY = "md127"
COMMAND = (sys.executable, "-m", "raidtui")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDelay:
    """Time from kernel event to screen in ms, one value per round, and the uncertainty of the two clocks."""

    ran: bool
    why_not: str = ""
    delays_ms: tuple[float, ...] = ()
    uncertainty_ms: float = 0.0

    @property
    def median_ms(self) -> float:
        """The median; only if it was measured."""
        return statistics.median(self.delays_ms)


def in_laboratory(measure: Callable[[Any], EventDelay]) -> EventDelay:
    """Boot a guest with two disks, pass it to `measure`, and shut it down; or return why there is none."""
    try:
        from tests.lab.guests.boot import LabMissingError  # noqa: PLC0415 - the laboratory may not be installed
        from tests.lab.guests.link import LabError  # noqa: PLC0415
        from tests.lab.guests.uml import UmlGuest  # noqa: PLC0415
    except ImportError as error:
        return EventDelay(ran=False, why_not=f"no laboratory ({error})")
    try:
        guest = UmlGuest.boot(disks=2, size_mib=64)
    except (LabMissingError, LabError) as error:
        return EventDelay(ran=False, why_not=f"no laboratory ({str(error).partition(chr(10))[0]})")
    try:
        return measure(guest)
    except (LabError, AssertionError) as error:
        return EventDelay(ran=False, why_not=str(error).partition("\n")[0])
    finally:
        guest.shutdown()


def measure_event() -> EventDelay:
    """Fail a member of a RAID-1 repeatedly while raidtui shows it."""
    return in_laboratory(_fail_members)


def _fail_members(guest: Any) -> EventDelay:  # noqa: ANN401 - tests.lab may not be installed
    first, second = (f"/dev/{name}" for name in guest.disks[:2])
    _do(
        guest,
        f"mdadm --create /dev/{ARRAY} --run --level=1 --metadata=1.2 --raid-devices=2 --bitmap=none"
        f" --assume-clean {first} {second}",
    )
    ahead_s, uncertainty_s = _clock_ahead_s(guest)
    delays_ms: list[float] = []
    state = f"/sys/block/{ARRAY}/md/dev-{guest.disks[1]}/state"
    with guest.terminal(COMMAND, env={"PYTHONPATH": str(CHECKOUT)}) as terminal:
        terminal.wait_for(lambda text: ARRAY in text and "faulty" not in text, LIMIT_S)
        for _ in range(ROUNDS):
            job = guest.spawn(f"sleep {EVENT_AFTER_S}; echo $EPOCHREALTIME; echo faulty > {state}")
            terminal.wait_for("faulty", LIMIT_S)
            shown_s = time.time()
            failed_s = float(job.wait(LIMIT_S).stdout) - ahead_s
            delays_ms.append((shown_s - failed_s) * 1000)
            _do(
                guest,
                f"until mdadm /dev/{ARRAY} --remove {second}; do sleep 0.1; done;"
                f" mdadm --zero-superblock {second}; mdadm /dev/{ARRAY} --add {second};"
                f" mdadm --wait /dev/{ARRAY} || true",
            )
            terminal.wait_for(lambda text: "faulty" not in text and "recover" not in text, LIMIT_S)
        terminal.press("q")
    return EventDelay(ran=True, delays_ms=tuple(delays_ms), uncertainty_ms=uncertainty_s * 1000)


def _do(guest: Any, script: str) -> None:  # noqa: ANN401 - see above
    result = guest.run(script)
    if result.status:
        raise AssertionError(f"the guest refused {script!r}: {result.output}")


def _clock_ahead_s(guest: Any) -> tuple[float, float]:  # noqa: ANN401 - see above
    """Return how far the guest's clock is ahead of ours, and half of the fastest round trip."""
    trips: list[tuple[float, float]] = []
    for _ in range(CLOCK_TRIPS):
        begin_s = time.time()
        said_s = float(guest.run("echo $EPOCHREALTIME").stdout)
        end_s = time.time()
        trips.append(((end_s - begin_s) / 2, said_s - (begin_s + end_s) / 2))
    half_s, ahead_s = min(trips)
    return ahead_s, half_s
