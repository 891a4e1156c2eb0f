"""The screen on the real kernel: real keys are pressed, and both the screen and the kernel are looked at."""

import re
import statistics
import sys
import time
from collections.abc import Iterator

import pytest

from tests.lab.arrays import Made, disk_names, fast, make_array, make_ram_disks, mdstat, slow
from tests.lab.boot import MODULES
from tests.lab.console import (
    NOBODY,
    RAIDTUI,
    WHOLE,
    kernel_text,
    let_anyone_in,
    open_console,
    row_of,
    shows_row,
)
from tests.lab.deadline import wait_until
from tests.lab.guest import Guest, Program
from tests.lab.terminal import Terminal

PERCENT = re.compile(r"(\d+\.\d) ?%")
FOCUSED = "▸max"
LATENCY_S = 0.3
RESPONSE_S = 3.0
SYSTEM_MAX = "/proc/sys/dev/raid/speed_limit_max"
ALTERNATE_SCREEN, CURSOR, MOUSE, PASTE = 1049, 25, 1000, 2004


def md(made: Made, attribute: str) -> str:
    """An array's file in sysfs."""
    return f"/sys/block/{made.kernel}/md/{attribute}"


def percent_in(text: str) -> float:
    """The first percentage of a text.

    Raises:
        AssertionError: there is none.
    """
    found = PERCENT.search(text)
    assert found is not None, text
    return float(found[1])


def wait_kernel(guest: Guest, path: str, wanted: str, timeout: float = 10.0) -> None:
    """Wait until a file of the kernel says so.

    Raises:
        TimeoutError: it does not.
    """
    wait_until(
        lambda: re.fullmatch(wanted, kernel_text(guest, path)), timeout, f"{wanted} in {path}"
    )


def test_a_resync_has_the_kernels_own_percentage(guest: Guest) -> None:
    slow(guest, 4000)
    make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=64)
    with open_console(guest) as terminal:
        row = row_of(terminal, "data")
        assert "raid10 n2" in row
        assert "resync" in row
        for _ in range(3):
            before = percent_in(mdstat(guest))
            terminal.wait_for(lambda _: percent_in(row_of(terminal, "data")) >= before, timeout=5)  # noqa: B023
            shown = percent_in(row_of(terminal, "data"))
            assert before <= shown <= percent_in(mdstat(guest))


# Waits until the resync's speed, over a long time, is on one side of a bound; then until a file has a value; then
# until the speed, over a short time, is on the other side. Prints the speeds and the seconds from the value on.
RESPONSE = r"""
import re, sys, time
path, wanted, bound, rising = *sys.argv[1:3], float(sys.argv[3]), sys.argv[4] == "rising"
LONG_S, SHORT_S, marks = 4.0, 1.5, []

def speed(window_s):
    text = open("/proc/mdstat").read()
    marks.append((time.monotonic(), int(re.search(r"\((\d+)/\d+\)", text)[1])))
    now_s, done = marks[-1]
    past = next((mark for mark in reversed(marks) if now_s - mark[0] >= window_s), None)
    return past and (done - past[1]) / (now_s - past[0])

def until(condition, seconds, what):
    give_up = time.monotonic() + seconds
    while not (value := condition()):
        time.sleep(0.02)
        if time.monotonic() > give_up:
            sys.exit(f"{what} never came: {marks[-1]}")
    return value

def before():
    now = speed(LONG_S)
    return now is not None and (now < bound) == rising and (now + 1,)

def after():
    now = speed(SHORT_S)
    return now is not None and (now > bound) == rising and (now + 1,)

old = until(before, 20, "the old speed")
print("ready", flush=True)
until(lambda: speed(LONG_S) is not None and open(path).read().split()[0] == wanted, 10, "the value")
start, marks[:] = time.monotonic(), marks[-1:]
new = until(after, 10, "the new speed")
print(round(old[0]), round(new[0]), round(time.monotonic() - start, 2))
"""


class Response:
    """Watches, inside the guest, how the resync follows a limit."""

    def __init__(self, guest: Guest, path: str, wanted: str, *, above: int = 0, below: int = 0) -> None:
        arguments = f"{path} {wanted} {above or below} {'rising' if above else 'falling'}"
        self._what = f"{path} {wanted}"
        name = guest.put("response.py", RESPONSE.encode())
        guest.run("rm -f /run/response")
        self._program: Program = guest.spawn(
            f"{sys.executable} -I -S {name} {arguments} >/run/response", timeout=45
        )
        wait_until(
            lambda: self._program.status is not None or "ready" in guest.run("cat /run/response").stdout,
            timeout=30,
            what="the measuring",
        )
        self._guest = guest

    def check(self) -> str:
        """Wait for the result, and demand that it came in time; returns it in words."""
        ended = self._program.wait(45)
        assert ended.status == 0, f"{self._what}: {ended.output}"
        before, after, seconds = self._guest.run("tail -n1 /run/response").stdout.split()
        assert float(seconds) <= RESPONSE_S, f"{self._what}: {before} to {after} KiB/s took {seconds} s"
        return f"{self._what}: {before} to {after} KiB/s, {seconds} s after the kernel had the new limit"


def test_the_slider_moves_the_limit_and_the_speed(guest: Guest) -> None:
    slow(guest, 1000)
    made = make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=64)
    own = md(made, "sync_speed_max")
    with open_console(guest) as terminal:
        terminal.press("l")
        terminal.wait_for(FOCUSED)
        rising = Response(guest, own, "4883", above=3000)
        terminal.press("5", "enter")
        print(rising.check())
        assert kernel_text(guest, own) == "4883 (local)"
        terminal.wait_for(re.compile(r"max.*5\.0 MB/s +this array"))

        falling = Response(guest, own, "1953", below=2900)
        terminal.press("shift+left")
        print(falling.check())
        assert kernel_text(guest, own) == "1953 (local)"
        terminal.press("left")
        wait_kernel(guest, own, r"1465 \(local\)")
        terminal.press("right")
        wait_kernel(guest, own, r"1953 \(local\)")

        terminal.press("g")
        wait_kernel(guest, own, r"1000 \(system\)")
        terminal.wait_for(re.compile(r"max.*1\.0 MB/s +system"))
        terminal.press("u")
        wait_kernel(guest, own, r"1953 \(local\)")
        terminal.wait_for(re.compile(r"max.*2\.0 MB/s +this array"))
        terminal.press("g")
        wait_kernel(guest, own, r"1000 \(system\)")

        terminal.press("s")
        terminal.wait_for(re.compile(r"max.*1\.0 MB/s +all arrays"))
        rising = Response(guest, SYSTEM_MAX, "4883", above=3000)
        terminal.press("5", "enter")
        print(rising.check())
        terminal.wait_for(re.compile(r"max.*5\.0 MB/s +all arrays"))
        falling = Response(guest, SYSTEM_MAX, "1465", below=2900)
        terminal.press(*"1.5", "enter")
        print(falling.check())
        terminal.press("u")
        wait_kernel(guest, SYSTEM_MAX, "4883")
        assert kernel_text(guest, own) == "4883 (system)"


# Prints when mdadm was started, when the kernel's md/degraded changed, and when mdadm had ended.
FAIL = r"""
import select, subprocess, sys, time
path, device, member = sys.argv[1:]
poll = select.poll()
with open(path) as file:
    file.read()
    poll.register(file, select.POLLPRI | select.POLLERR)
    start = time.time()
    mdadm = subprocess.Popen(["mdadm", "--quiet", device, "--fail", member])
    assert poll.poll(10000), "md/degraded never changed"
    changed = time.time()
assert mdadm.wait() == 0
print(start, changed, time.time())
"""


def test_a_failure_from_outside_is_seen_at_once(guest: Guest) -> None:
    disks = disk_names(guest)
    made = make_array(guest, "data", 1, disks, extra=["--assume-clean"])
    script = guest.put("fail.py", FAIL.encode())
    from_start, from_change = [], []
    with open_console(guest) as terminal:
        for disk in disks[:6]:
            failing = guest.spawn(
                f"{sys.executable} -I -S {script} {md(made, 'degraded')} /dev/{made.kernel} /dev/{disk}"
            )
            terminal.wait_for(re.compile(rf"{disk}\b.*\bfaulty\b"), timeout=10)
            seen_s = time.time()
            ended = failing.wait(10)
            assert ended.status == 0, ended.output
            start_s, changed_s, _ = map(float, ended.stdout.split())
            from_start.append(seen_s - start_s)
            from_change.append(seen_s - changed_s)
    print("to the screen, from mdadm's start:", *(f"{each:.3f}" for each in from_start))
    print("to the screen, from the kernel's change:", *(f"{each:.3f}" for each in from_change))
    assert min(from_start) > 0, "the clocks of guest and host are not the same"
    assert statistics.median(from_change) < LATENCY_S
