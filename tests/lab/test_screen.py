"""The screen on the real kernel: real keys are pressed, and both the screen and the kernel are looked at."""

import json
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from tests.lab.guests.arrays import Made, disk_names, fast, make_array, make_ram_disks, mdstat, slow
from tests.lab.guests.boot import MODULES
from tests.lab.guests.console import (
    NOBODY,
    RAIDTUI,
    kernel_text,
    let_anyone_in,
    open_console,
    row_of,
    shows_row,
)
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Program
from tests.lab.guests.terminal import Terminal

PERCENT = re.compile(r"(\d+\.\d) ?%")
FOCUSED = "▸max"
LATENCY_S, ROUNDS = 0.3, 3
RESPONSE_S = 3.0
SYSTEM_MAX = "/proc/sys/dev/raid/speed_limit_max"
ALTERNATE_SCREEN, CURSOR, MOUSE, PASTE = 1049, 25, 1000, 2004


def say(*words: str) -> None:
    """Report what was measured (pytest -rP shows it)."""
    sys.stdout.write(" ".join(words) + "\n")


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
    wait_until(lambda: re.fullmatch(wanted, kernel_text(guest, path)), timeout, f"{wanted} in {path}")


def test_a_resync_has_the_kernels_own_percentage(guest: Guest) -> None:
    slow(guest, 4000)
    make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=64)
    with open_console(guest) as terminal:
        row = row_of(terminal, "data")
        assert "raid10 n2" in row
        assert "resync" in row
        for _ in range(3):
            before = percent_in(mdstat(guest))
            terminal.wait_for(lambda _: percent_in(row_of(terminal, "data")) >= before)  # noqa: B023
            shown = percent_in(row_of(terminal, "data"))
            assert before <= shown <= percent_in(mdstat(guest))


# Waits until the resync's speed, over a long time, is on one side of a bound; then until a file has a value;
# then until the speed, over a short time, is on the other side. Prints both speeds, and the seconds from the
# value on.
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
        say(rising.check())
        assert kernel_text(guest, own) == "4883 (local)"
        terminal.wait_for(re.compile(r"max.*5\.0 MB/s +this array"))

        falling = Response(guest, own, "1953", below=2900)
        terminal.press("shift+left")
        say(falling.check())
        assert kernel_text(guest, own) == "1953 (local)"
        terminal.press("left")
        wait_kernel(guest, own, r"1465 \(local\)")
        terminal.wait_for(re.compile(r"max.*1\.5 MB/s +this array"))
        terminal.press("right")
        wait_kernel(guest, own, r"1953 \(local\)")
        terminal.wait_for(re.compile(r"max.*2\.0 MB/s +this array"))

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
        say(rising.check())
        terminal.wait_for(re.compile(r"max.*5\.0 MB/s +all arrays"))
        falling = Response(guest, SYSTEM_MAX, "1465", below=2900)
        terminal.press(*"1.5", "enter")
        say(falling.check())
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
    disks = disk_names(guest)[:4]
    made = make_array(guest, "data", 1, disks, bitmap="internal", extra=["--assume-clean"])
    medians = []
    with open_console(guest, cols=80, rows=24) as terminal:
        for _ in range(ROUNDS):  # more than one where the machine has other work to do
            delays = [fail_and_return(guest, terminal, made, disk) for disk in disks]
            medians.append(statistics.median(delays))
            say("seconds from md/degraded to the screen:", *(f"{each:.3f}" for each in delays))
            if medians[-1] < LATENCY_S:
                break
    assert min(medians) < LATENCY_S


def fail_and_return(guest: Guest, terminal: Terminal, made: Made, disk: str) -> float:
    """Fail a member from outside, put it back; returns the seconds from md/degraded to the screen."""
    ahead_s = clock_ahead_s(guest)
    script = guest.put("fail.py", FAIL.encode())
    failing = guest.spawn(
        f"{sys.executable} -I -S {script} {md(made, 'degraded')} /dev/{made.kernel} /dev/{disk}"
    )
    terminal.wait_for(re.compile(rf"{disk}\b.*\bfaulty\b"), timeout=10)
    seen_s = time.time()
    ended = failing.wait(10)
    assert ended.status == 0, ended.output
    changed_s = float(ended.stdout.split()[1]) - ahead_s
    back = guest.run(f"mdadm {made.path} --remove /dev/{disk} && mdadm {made.path} --re-add /dev/{disk}")
    assert back.status == 0, back.output
    terminal.wait_for(shows_row("data", "optimal"))
    terminal.wait_for(re.compile(rf"{disk}\b.*\bin_sync\b"))
    return seen_s - changed_s


def clock_ahead_s(guest: Guest) -> float:
    """How far the guest's clock is ahead: the host's may have been set since the guest was started.

    Of the exchanges, the shortest counts: it is wrong by half of what it took at most.
    """
    found: list[tuple[float, float]] = []
    for _ in range(5):
        asked_s = time.time()
        told_s = float(guest.run("date +%s.%N").stdout)
        took_s = time.time() - asked_s
        found.append((took_s, told_s - asked_s - took_s / 2))
    return min(found)[1]


def uuid_of(guest: Guest, made: Made) -> str:
    """The part of an array's UUID that the screen shows of the chosen array alone."""
    return kernel_text(guest, md(made, "uuid"))[:8]


def test_members_and_names_are_followed(guest: Guest) -> None:
    first = make_array(guest, "alpha", 1, ["ubda", "ubdb"], extra=["--assume-clean"])
    second = make_array(guest, "beta", 1, ["ubdc", "ubdd"], extra=["--assume-clean"])
    alpha, beta = uuid_of(guest, first), uuid_of(guest, second)
    with open_console(guest) as terminal:
        terminal.press("home")
        terminal.wait_for(lambda text: alpha in text or beta in text)
        if alpha not in terminal.screen():
            terminal.press("down")
        terminal.wait_for(alpha)

        # Another array's trouble puts it first in the list: the choice stays where it is.
        guest.run(f"mdadm {second.path} --fail /dev/ubdc")
        terminal.wait_for(shows_row("beta", "degraded"))
        assert alpha in terminal.screen()

        guest.run(f"mdadm {first.path} --fail /dev/ubdb")
        terminal.wait_for(re.compile(r"ubdb\b.*\bfaulty\b"))
        guest.run(f"mdadm {first.path} --remove /dev/ubdb")
        terminal.wait_for(lambda text: not re.search(r"\bubdb\b.*\bfaulty\b", text) and "missing" in text)
        slow(guest, 2000)
        guest.run(f"mdadm {first.path} --add /dev/ubde")
        terminal.wait_for(shows_row("alpha", "recover", "%"))
        terminal.wait_for(re.compile(r"ubde\b.*\brebuilding\b"))
        fast(guest)
        terminal.wait_for(shows_row("alpha", "optimal"))
        terminal.wait_for(re.compile(r"ubde\b.*\bin_sync\b"))

        guest.run(f"mdadm --stop {first.path}")
        terminal.wait_for(lambda text: not shows_row("alpha").search(text))
        again = guest.run(
            "mdadm --assemble /dev/md/gamma --homehost=lab --name=gamma --update=name /dev/ubda /dev/ubde"
        )
        assert again.status == 0, again.output
        terminal.wait_for(shows_row("gamma"))
        terminal.wait_for(alpha)  # what was chosen is there again, whatever it is called

        terminal.press("6")
        for said in (
            r"alpha .*ubdb failed",
            r"alpha .*ubdb removed",
            r"alpha .*ubde added",
            r"alpha .*recover (started|goes on)",  # mdadm --add freezes it for a moment
            r"alpha .*recover ended",
            r"alpha .*stopped",
            r"gamma .*(started|appeared) as /dev/md\d+",
        ):
            terminal.wait_for(re.compile(said))


@pytest.fixture
def halves(guest: Guest) -> Iterator[tuple[list[str], list[str]]]:
    """Two disks in two parts each, by word to the kernel: no partition table is needed."""
    disks = disk_names(guest)[:2]
    try:
        for disk in disks:
            parts = guest.run(f"addpart /dev/{disk} 1 2048 100000 && addpart /dev/{disk} 2 104448 100000")
            assert parts.status == 0, parts.output
        yield [f"{disk}1" for disk in disks], [f"{disk}2" for disk in disks]
    finally:
        for terminal in guest.terminals:
            terminal.close()
        stop = "for array in /dev/md?*; do [ -b $array ] && mdadm --quiet --stop $array; done; udevadm settle"
        remove = "; ".join(f"delpart /dev/{disk} 1; delpart /dev/{disk} 2" for disk in disks)
        guest.run(f"{stop}; {remove}")


@pytest.mark.later
def test_a_delayed_resync_names_the_other_array(guest: Guest, halves: tuple[list[str], list[str]]) -> None:
    slow(guest, 500)
    make_array(guest, "first", 1, halves[0])
    later = make_array(guest, "second", 1, halves[1])
    assert "DELAYED" in mdstat(guest)
    with open_console(guest) as terminal:
        terminal.wait_for(shows_row("first", "resync", "%"))
        terminal.wait_for(shows_row("second", "delayed"))
        wanted = uuid_of(guest, later)
        terminal.press("home")
        terminal.wait_for("errors")
        if wanted not in terminal.screen():
            terminal.press("down")
        terminal.wait_for(wanted)
        terminal.wait_for("delayed: waits for first: both use ubda")
        fast(guest)
        terminal.wait_for(shows_row("first", "optimal"))
        terminal.wait_for(shows_row("second", "optimal"))


def test_pause_asks_and_resumes(guest: Guest) -> None:
    slow(guest, 500)
    made = make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2")
    action = md(made, "sync_action")
    with open_console(guest) as terminal:
        terminal.press("p")
        terminal.wait_for("do it")
        terminal.wait_for(f"echo frozen > /sys/class/block/{made.kernel}/md/sync_action")
        terminal.press("enter")  # never confirms
        terminal.wait_for("nothing was changed")
        assert kernel_text(guest, action) == "resync"
        terminal.press("p")
        terminal.wait_for("do it")
        terminal.press("y")
        wait_kernel(guest, action, "frozen")
        terminal.wait_for(shows_row("data", "frozen"))
        terminal.wait_for("is frozen while a resync waits")
        terminal.wait_for("Resume")
        terminal.press("p")
        wait_kernel(guest, action, "resync")
        terminal.wait_for(shows_row("data", "resync", "%"))


@pytest.mark.later
def test_a_pending_resync_is_paused_and_all_of_it_given_back(guest: Guest) -> None:
    """The pause ends auto-read-only too, and says so; u gives back both."""
    slow(guest, 500)
    disks = disk_names(guest)[:2]
    made = make_array(guest, "data", 1, disks)
    start_ro = "/sys/module/md_mod/parameters/start_ro"
    members = " ".join(f"/dev/{name}" for name in disks)
    again = f"mdadm -q --stop {made.path} && echo 1 >{start_ro} && mdadm -q --assemble {made.path} {members}"
    assert guest.run(f"{again}; echo 0 >{start_ro}").status == 0
    action, state = md(made, "sync_action"), md(made, "array_state")
    with open_console(guest) as terminal:
        terminal.wait_for(shows_row("data", "pending"))
        terminal.press("p")
        terminal.wait_for("This also makes data writable")
        terminal.press("y")
        wait_kernel(guest, action, "frozen")
        assert kernel_text(guest, state) == "clean"
        terminal.wait_for(shows_row("data", "frozen"))
        terminal.press("u")
        wait_kernel(guest, state, "read-auto")
        assert kernel_text(guest, action) == "idle"
        assert "resync=PENDING" in guest.run("cat /proc/mdstat").stdout
        terminal.wait_for(shows_row("data", "pending"))


@pytest.mark.later
def test_an_array_created_over_another_one_is_said_while_it_is_filled(guest: Guest) -> None:
    """In the wrong order: the recovery overwrites one member of the former array each second."""
    disks = disk_names(guest)[:3]
    old = make_array(guest, "old", 5, disks, extra=("--assume-clean",))
    made = f"mkfs.ext4 -qF {old.path} && mdadm -q --stop {old.path} && sleep 1.1"
    assert guest.run(made).status == 0
    slow(guest, 500)
    make_array(guest, "new", 5, [disks[1], disks[0], disks[2]])
    status = guest.run(f"{' '.join(RAIDTUI)} status --json", timeout=60)
    said = {each["code"]: each["severity"] for each in json.loads(status.stdout)["findings"]}
    assert (status.status, said) == (1, {"degraded": "degraded", "created-over": "attention"})
    with open_console(guest) as terminal:
        terminal.wait_for(re.compile(rf"the file system on {disks[0]}.* is older"))
        terminal.wait_for("stop it now (mdadm --stop /dev/md")
        terminal.press("a")
        terminal.wait_for("stop it now: mdadm --stop /dev/", timeout=60)


@pytest.mark.later
def test_leaving_offers_to_restore(guest: Guest) -> None:
    slow(guest, 500)
    made = make_array(guest, "data", 1, ["ubda", "ubdb"])
    own = md(made, "sync_speed_max")
    script = (
        f"stty -g >/run/lab/before; {' '.join(RAIDTUI)}; status=$?; stty -g >/run/lab/after; exit $status"
    )
    with open_console(guest, argv=("bash", "-c", script)) as terminal:
        assert all(map(terminal.has_mode, (ALTERNATE_SCREEN, MOUSE, PASTE)))
        terminal.press("l")
        terminal.wait_for(FOCUSED)
        terminal.press(*"800k", "enter")
        wait_kernel(guest, own, r"800 \(local\)")
        terminal.press("q")
        terminal.wait_for("restore")
        terminal.press("escape")
        terminal.wait_for(lambda text: "restore" not in text)
        terminal.press("q")
        terminal.wait_for("restore")
        terminal.press("r")
        assert terminal.wait_exit() == 0
        assert kernel_text(guest, own) == "500 (system)"
        terminal.wait_for(lambda _: not terminal.has_mode(ALTERNATE_SCREEN))
        assert terminal.has_mode(CURSOR)
        assert not terminal.has_mode(MOUSE)
        assert not terminal.has_mode(PASTE)
    assert guest.get("before") == guest.get("after")


@pytest.mark.later
def test_check_and_cancel(guest: Guest) -> None:
    slow(guest, 4000)
    made = make_array(guest, "data", 1, ["ubda", "ubdb"], extra=["--assume-clean"])
    action, low = md(made, "sync_action"), md(made, "sync_min")
    with open_console(guest) as terminal:
        terminal.press("c")
        wait_kernel(guest, action, "check")
        terminal.wait_for(shows_row("data", "check", "%"))
        # The kernel notes the place every sixteenth of the way only.
        wait_kernel(guest, md(made, "sync_completed"), r"[1-9]\d* / \d+")
        terminal.press("p")
        wait_kernel(guest, action, "idle")
        wait_kernel(guest, low, r"[1-9]\d*")
        terminal.wait_for(re.compile(r"check paused by raidtui: \d+ % read, 0 mismatched sectors in it"))
        terminal.press("p")
        wait_kernel(guest, action, "check")
        terminal.wait_for(shows_row("data", "check", "%"))
        terminal.press("x")
        wait_kernel(guest, action, "idle")
        wait_kernel(guest, low, "0")
        terminal.wait_for(shows_row("data", "optimal"))


def done(guest: Guest, command: str) -> None:
    """Run a command that has to work."""
    result = guest.run(command)
    assert result.status == 0, result.output


@pytest.mark.later
def test_a_lowered_limit_is_named_while_nothing_moves(guest: Guest) -> None:
    """The kernel sleeps until its mean is below the limit again."""
    slow(guest, 4000)
    made = make_array(guest, "data", 1, ["ubda", "ubdb"], extra=["--assume-clean"])
    with open_console(guest) as terminal:
        terminal.press("c")
        wait_kernel(guest, md(made, "sync_speed"), r"[1-9]\d{3,}")
        for attribute in ("sync_speed_min", "sync_speed_max"):
            done(guest, f"echo 60 >{md(made, attribute)}")
        terminal.wait_for("held back by: max limit: md waits until its mean speed is below it")
        terminal.press("c")
        terminal.wait_for("a check is already in progress; wait for it, or cancel it (x)")
        terminal.press("x")
        wait_kernel(guest, md(made, "sync_action"), "idle")


@pytest.mark.later
def test_a_reshape_from_outside_says_what_it_comes_to(guest: Guest) -> None:
    slow(guest, 400)
    names = disk_names(guest)[:4]
    made = make_array(guest, "data", 5, names[:3], chunk=64, extra=["--assume-clean"])
    node = f"/dev/{made.kernel}"
    done(guest, f"mdadm --quiet {node} --add /dev/{names[3]}")
    done(guest, f"mdadm --quiet --grow {node} --raid-devices=4 --backup-file=/run/reshape-of-data")
    with open_console(guest) as terminal:
        terminal.wait_for("reshape: 3 → 4 devices")
        text = re.search(r"devices; (\S+ \S+) → (\S+ \S+) when it ends", terminal.screen())
        assert text is not None, terminal.screen()
        before, after = text.groups()
        assert before in row_of(terminal, "data")
        fast(guest)
        wait_kernel(guest, md(made, "sync_action"), "idle", timeout=60)
        terminal.wait_for(shows_row("data", after, "optimal"))


@pytest.mark.later
def test_sliders_come_with_the_array_that_has_them(guest: Guest) -> None:
    """From an array without sliders to one that has them, and back: each line is on the screen once."""
    names = disk_names(guest)[:4]
    mirror = make_array(guest, "mirror", 1, names[:2], extra=["--assume-clean"])
    stripes = make_array(guest, "stripes", 0, names[2:4])

    def whole(made: Made) -> Callable[[str], bool]:
        has_sliders = made is mirror
        return lambda text: (
            f"/dev/{made.kernel} " in text
            and text.count("├") == 2 * has_sliders
            and text.count(" slot ") == 1
            and text.count(" in_sync ") == 2
        )

    with open_console(guest, cols=80, rows=24) as terminal:
        keys = {mirror.kernel: "up", stripes.kernel: "down"}
        if row_number(terminal, "mirror") > row_number(terminal, "stripes"):
            keys = {mirror.kernel: "down", stripes.kernel: "up"}
        for made in (stripes, mirror) * 4:
            terminal.press(keys[made.kernel])
            terminal.wait_for(whole(made))


def row_number(terminal: Terminal, title: str) -> int:
    """The line of the screen in which an array stands."""
    return terminal.lines().index(row_of(terminal, title))


def test_without_root_all_is_seen_and_nothing_written(guest: Guest) -> None:
    let_anyone_in(guest)
    slow(guest, 500)
    made = make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2")
    with open_console(guest, before=NOBODY) as terminal:
        terminal.wait_for(shows_row("data", "resync", "%"))
        for shown in (uuid_of(guest, made), "LAB-UBDA-0001", "ubdd", "read-only"):
            terminal.wait_for(shown)
        for key in "cxpgu":
            terminal.press("down")  # takes the last sentence away
            terminal.wait_for(lambda text: "needs root" not in text)
            terminal.press(key)
            terminal.wait_for("nothing to undo" if key == "u" else "needs root")
        terminal.press("l")
        terminal.wait_for(FOCUSED)
        terminal.press("5", "enter")
        terminal.wait_for("needs root")
        terminal.press("s", *"5", "enter")
        terminal.wait_for("needs root")
        assert kernel_text(guest, md(made, "sync_speed_max")) == "500 (system)"
        assert kernel_text(guest, SYSTEM_MAX) == "500"
        assert kernel_text(guest, md(made, "sync_action")) == "resync"
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.fixture
def without_md(guest: Guest) -> Iterator[Guest]:
    """The guest with md's modules taken out; they come back."""
    try:
        gone = guest.run(
            "modprobe -rq dm_raid; modprobe -ar raid456 raid10 raid1 raid0 linear; modprobe -r md_mod;"
            " ! [ -e /proc/mdstat ]"
        )
        assert gone.status == 0, gone.output
        yield guest
    finally:
        for terminal in guest.terminals:
            terminal.close()
        guest.run(f"modprobe -a {' '.join(MODULES)}")


@pytest.mark.later
def test_without_md_the_demo_can_be_opened(without_md: Guest) -> None:
    with open_console(without_md) as terminal:
        terminal.wait_for("No md array")
        terminal.wait_for("the kernel has no md loaded")
        terminal.press("d")
        terminal.wait_for("in_sync")
        terminal.wait_for("simulated")
        terminal.press("q")
        assert terminal.wait_exit() == 0


@pytest.mark.later
def test_odd_names_do_no_harm(guest: Guest) -> None:
    disks = make_ram_disks(guest, 8)
    names = {
        "plain": "plain",
        "a[b]": "a[b]",
        "日本語": "日本語",
        "e\x1b[31mred\x1b[H": r"e\x1b[31mred\x1b[H",
    }
    for index, name in enumerate(names):
        members = " ".join(f"/dev/{disk}" for disk in disks[2 * index : 2 * index + 2])
        made = guest.run(
            f"mdadm --create /dev/md{index} --run --homehost=lab --name={shlex.quote(name)} --level=1 "
            f"--metadata=1.2 --assume-clean --raid-devices=2 {members} && udevadm settle"
        )
        assert made.status == 0, made.output
    with open_console(guest) as terminal:
        terminal.wait_for(lambda _: all(by_cells(terminal, title) for title in names.values()))
        terminal.wait_for(lambda _: aligned([by_cells(terminal, title) for title in names.values()]))
        assert "raidtui" in terminal.lines()[0]
        for _ in names:
            terminal.press("down")
        terminal.wait_for(re.compile(r"/dev/md\d"))
        terminal.press("6")
        for title in names.values():
            terminal.wait_for(title)


def aligned(rows: list[str]) -> bool:
    """Whether the columns of the list stand below each other."""
    return all(len({row.find(word) for row in rows} | {-1}) == 2 for word in ("raid1", "optimal"))


def by_cells(terminal: Terminal, title: str) -> str:
    """The row of the list with a title, one character a cell: a wide one is followed by a blank."""
    for cells in terminal.cells:
        row = "".join(cell.text or " " for cell in cells)
        if title in row.replace(" ", "") and "raid1 " in row:
            return row
    return ""
