"""What a plan costs on a host with few devices and on one with many, in guests of the laboratory.

Two guests in one run: one with four free devices, one with sixty more, partitions of GPT disks.  Beside it
what `mdadm --examine` of the same devices takes.  Forms are opened by keys, and the screen is waited for.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.event import COMMAND
from benchmarks.trees import CHECKOUT

ROUNDS = 5
QUICK_ROUNDS = 3
FEW, MANY = 4, 64
ABOVE_S = 1.5
SAME = 1.15
LIMIT_S = 60.0
_DISK_MIB = 256
_PARTS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCosts:
    """Seconds of each round, by what was done ("stop", "rename", ...), with few and with many devices."""

    ran: bool
    why_not: str = ""
    few_s: dict[str, list[float]] = field(default_factory=dict)
    many_s: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, what: str, of: Callable[[list[float]], float] = statistics.median) -> float:
        """Return the ratio of the times with many devices and with few."""
        return of(self.many_s[what]) / of(self.few_s[what])

    def above_s(self, many: bool, of: Callable[[list[float]], float] = statistics.median) -> float:  # noqa: FBT001
        """Return the time to plan an array of all free devices, less that of `mdadm --examine` of them."""
        found = self.many_s if many else self.few_s
        return of(found["create"]) - of(found["examine"])


def measure_plans(rounds: int = ROUNDS) -> PlanCosts:
    """Boot the guests one after the other and measure; or return why not."""
    try:
        from tests.lab.guests.boot import LabMissingError  # noqa: PLC0415 - the laboratory may not be installed
        from tests.lab.guests.link import LabError  # noqa: PLC0415
        from tests.lab.guests.uml import UmlGuest  # noqa: PLC0415
    except ImportError as error:
        return PlanCosts(ran=False, why_not=f"no laboratory ({error})")
    found = []
    for count in (FEW, MANY):
        try:
            guest = UmlGuest.boot(disks=2 + FEW + (count - FEW) // _PARTS, size_mib=_DISK_MIB)
        except (LabMissingError, LabError) as error:
            return PlanCosts(ran=False, why_not=f"no laboratory ({str(error).partition(chr(10))[0]})")
        try:
            found.append(_measure(guest, count, rounds))
        except (LabError, AssertionError) as error:
            return PlanCosts(ran=False, why_not=str(error).partition("\n")[0])
        finally:
            guest.shutdown()
    return PlanCosts(ran=True, few_s=found[0], many_s=found[1])


def _measure(guest: Any, count: int, rounds: int) -> dict[str, list[float]]:  # noqa: ANN401 - tests.lab may be missing
    disks = list(guest.disks)
    _do(
        guest,
        "mdadm --create /dev/md127 --run --level=1 --metadata=1.2 --raid-devices=2 --bitmap=none"
        f" --assume-clean --name=127 /dev/{disks[0]} /dev/{disks[1]}",
    )
    free = disks[2 : 2 + FEW]
    for disk in disks[2 + FEW :]:
        lines = f"(echo label: gpt; for i in $(seq {_PARTS}); do echo ,12M; done)"
        _do(guest, f"{lines} | sfdisk -q /dev/{disk} && udevadm settle")
        free += [f"{disk}{number}" for number in range(1, _PARTS + 1)]
    paths = " ".join(f"/dev/{name}" for name in free)
    program = f"PYTHONPATH={CHECKOUT} {sys.executable} -m raidtui"
    commands = {
        "examine": f"mdadm --examine {paths}",
        "stop": f"{program} plan stop 127",
        "rename": f"{program} plan rename 127 --to new",
        "create": f"{program} plan create --name new --level raid10 {paths}",
    }
    found: dict[str, list[float]] = {}
    for command in commands.values():  # files are cached, byte code is there
        guest.run(f"{command} >/dev/null 2>&1")
    for _ in range(rounds):
        for what, command in commands.items():
            timed = guest.run(f"a=$EPOCHREALTIME; {command} >/dev/null 2>&1; echo $? $a $EPOCHREALTIME")
            status, begin_s, end_s = timed.stdout.split()[-3:]
            if status != "0" and what != "examine":  # which finds no superblock
                raise AssertionError(f"{what} with {count} devices ended with {status}")
            found.setdefault(what, []).append(float(end_s) - float(begin_s))
    return found | _forms(guest, rounds)


def _forms(guest: Any, rounds: int) -> dict[str, list[float]]:  # noqa: ANN401 - see above
    """Return the time from the key to the form, and to its rows."""
    found: dict[str, list[float]] = {"form opens": [], "form filled": [], "stop shown": []}
    with guest.terminal(COMMAND, env={"PYTHONPATH": str(CHECKOUT)}, cols=80, rows=24) as terminal:
        terminal.wait_for("in_sync", LIMIT_S)
        for number in range(rounds + 1):  # the first one loads what it needs
            begin_s = time.monotonic()
            terminal.press("A")
            terminal.wait_for("Add which device", LIMIT_S)
            opened_s = time.monotonic() - begin_s
            terminal.wait_for(_is_filled, LIMIT_S)
            filled_s = time.monotonic() - begin_s
            _leave(terminal)
            begin_s = time.monotonic()
            terminal.press("T")
            terminal.wait_for("mdadm --stop", LIMIT_S)
            shown_s = time.monotonic() - begin_s
            _leave(terminal)
            if number:
                for what, value_s in zip(found, (opened_s, filled_s, shown_s), strict=True):
                    found[what].append(value_s)
        terminal.press("q")
    return found


def _is_filled(text: str) -> bool:
    """Return whether the form has rows and reading has ended."""
    form = text.partition("Add which device")[2]
    return "ubd" in form and "read" not in form


def _leave(terminal: Any) -> None:  # noqa: ANN401 - see above
    terminal.press("escape")
    terminal.wait_for("nothing was changed", LIMIT_S)
    terminal.press("down")
    terminal.wait_for(lambda text: "nothing was changed" not in text, LIMIT_S)


def _do(guest: Any, script: str) -> None:  # noqa: ANN401 - see above
    result = guest.run(script)
    if result.status:
        raise AssertionError(f"the guest refused {script!r}: {result.output}")
