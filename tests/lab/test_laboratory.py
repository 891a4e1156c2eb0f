"""The laboratory itself, on the real kernel."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.conftest import diagnose
from tests.lab.guests import launch
from tests.lab.guests.arrays import disk_names, make_array, make_ram_disks, mdstat, slow
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, JobTimeoutError
from tests.lab.guests.jobs import JOBS
from tests.lab.guests.link import GuestDiedError, LabError
from tests.lab.guests.terminal import Cell, Terminal, host_terminal
from tests.lab.guests.uml import UmlGuest, catches, keep_awake

# A full-screen program: says its size, its colour and every key.
SHOW_KEYS = """
import curses
def main(window):
    curses.mousemask(curses.ALL_MOUSE_EVENTS)
    curses.use_default_colors()
    curses.init_pair(1, 46, -1)
    window.timeout(100)  # a SIGWINCH just before the read is noticed at the next one
    window.addstr(0, 0, "size %dx%d" % (window.getmaxyx()[1], window.getmaxyx()[0]))
    window.addstr(1, 0, "green", curses.color_pair(1) | curses.A_BOLD)
    while True:
        key = window.getch()
        if key == -1:
            continue
        if key == ord("q"):
            raise SystemExit(7)
        if key == curses.KEY_RESIZE:
            curses.update_lines_cols()
            window.addstr(2, 0, "resized %dx%d" % (curses.COLS, curses.LINES))
        elif key == curses.KEY_MOUSE:
            window.addstr(3, 0, "mouse %d %d" % curses.getmouse()[1:3])
        else:
            window.addstr(4, 0, "key " + curses.keyname(key).decode())
        window.clrtoeol()
curses.wrapper(main)
"""

Open = Callable[..., Terminal]


@pytest.fixture(params=["guest", "host"])
def opened(request: pytest.FixtureRequest) -> Open:
    """Starts a program under a terminal, in the guest and here: both must look alike."""
    if request.param == "host":
        return host_terminal
    machine: Guest = request.getfixturevalue("guest")
    return machine.terminal


@pytest.mark.later
def test_a_job_reports_status_and_both_outputs(guest: Guest) -> None:
    result = guest.run("echo out; echo err >&2; hostname; exit 3")
    assert (result.status, result.stdout, result.stderr) == (3, "out\nlab\n", "err\n")
    assert result.output == "out\nlab\nerr\n"


@pytest.mark.later
def test_a_signal_is_a_negative_status(guest: Guest) -> None:
    assert guest.run("kill -TERM $$").status == -signal.SIGTERM


@pytest.mark.later
def test_a_large_script_and_a_large_output_come_through(guest: Guest) -> None:
    text = "".join(f"line {number} äöü\n" for number in range(5000))
    assert guest.run(f"cat <<'END'\n{text}END\n").stdout == text
    assert len(guest.run("head -c 1000000 /dev/zero | tr '\\0' x").stdout) == 1_000_000


def test_a_tool_gets_the_tunables_and_all_that_it_was_given(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(launch.program_head() + b"/usr/bin/env")
    tool.chmod(0o755)
    script = 'echo "$GLIBC_TUNABLES,$ONE,$0,$*,$#"'
    words = [str(tool), "--", "sh", "-c", script, "name", "first", "", "third word"]
    for variables in ({}, {"ONE": "1", "TWO": "2"}):
        result = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
        assert result == f"{launch.TUNABLES},{variables.get('ONE', '')},name,first  third word,3\n"


@pytest.mark.later
def test_a_program_that_does_not_exist(guest: Guest) -> None:
    with pytest.raises(LabError, match="FileNotFoundError"):
        guest._start(("/does/not/exist",), env=None, tty=None)
    assert guest.run("true").status == 0


def test_a_timeout_kills_the_whole_tree_and_says_what_was_written(guest: Guest) -> None:
    result = r"(?s)killed after [\d.]+ s.*\n\d+ [DRS] \w+ sleep 987\n.*it wrote:\nbegun"
    with pytest.raises(JobTimeoutError, match=result):
        guest.run("echo begun; setsid sleep 987 & sleep 987", timeout=0.5)
    assert guest.run("pgrep -x sleep").status == 1


@pytest.mark.later
def test_what_hangs_is_said_first_when_a_test_has_failed(guest: Guest) -> None:
    job = f"{JOBS}/20260101-120000-stop"
    entries = "\\n".join(f'{{"event": "output", "text": "{number}"}}' for number in range(9))
    guest.run(f"mkdir -p {job}; printf '{entries}\\n' >{job}/journal.jsonl")
    make_array(guest, "data", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    guest.spawn("exec -a mdadm sleep 987")
    wait_until(lambda: guest.run("pgrep -x sleep").status == 0, what="the tool")
    result = diagnose(guest)
    jobs, arrays = result.index(f"{job}/journal.jsonl:\n"), result.index("Personalities")
    assert re.search(r"^\d+ S \w+ sleep mdadm 987 *$", result[:jobs], re.MULTILINE)
    assert [json.loads(line)["text"] for line in result[jobs:arrays].splitlines()[1:]] == ["5", "6", "7", "8"]
    assert "lab:data" in result[arrays:]
    assert guest.run(f"rm -r {job}").status == 0


@pytest.mark.later
def test_jobs_run_beside_each_other(guest: Guest) -> None:
    guest.run("mkfifo /run/fifo")
    reading = guest.spawn("read line </run/fifo; echo got $line")
    assert reading.status is None
    guest.run("echo hello >/run/fifo")
    assert reading.wait(60).stdout == "got hello\n"
    assert reading.status == 0


@pytest.mark.later
def test_python_jobs_have_the_project_and_its_environment(guest: Guest) -> None:
    result = guest.run("import pyte, sys, tests.lab; print(sys.prefix)", interpreter="python")
    assert (result.output, result.status) == (f"{sys.prefix}\n", 0)


@pytest.mark.later
def test_files_go_in_both_directions(guest: Guest) -> None:
    path = guest.put("in", b"first")
    assert guest.run(f"cat {path}").stdout == "first"
    guest.put("in", b"second, longer")
    assert guest.run(f"cat {path}; cp {path} /run/lab/out").stdout == "second, longer"
    assert guest.get("out") == b"second, longer"


def test_the_guest_cannot_write_to_the_host(guest: Guest) -> None:
    places = ("/etc", "/usr", "/var/lib", "/root", str(Path(__file__).parent), sys.prefix)
    for place in places:
        name = f"{place}/raidtui-lab-was-here"
        assert guest.run(f"echo x >{name} && cat {name} && rm {name}").output == "x\n"
        guest.run(f"echo x >{name}")
        assert not Path(name).exists()
        guest.run(f"rm {name}")


@pytest.mark.later
def test_raid10_is_made_and_shown(guest: Guest) -> None:
    slow(guest, 500)
    made = make_array(guest, "data", 10, disk_names(guest)[:4], layout="n2", chunk=64)
    assert made.kernel == "md127"
    text = mdstat(guest)
    assert "md127 : active raid10 ubdd[3] ubdc[2] ubdb[1] ubda[0]" in text
    assert "64K chunks 2 near-copies [4/4] [UUUU]" in text
    assert re.search(r"resync = +\d+\.\d%", text)
    assert "lab:data" in guest.run(f"mdadm --detail {made.path}").stdout


@pytest.mark.later
def test_members_fail_and_leave(guest: Guest) -> None:
    made = make_array(guest, "data", 1, ["ubda", "ubdb", "ubdc"], spares=1, extra=["--assume-clean"])
    slow(guest, 100)
    assert guest.run(f"mdadm {made.path} --fail /dev/ubdb").status == 0
    wait_until(lambda: "recovery" in mdstat(guest), what="the recovery")
    assert guest.run(f"mdadm {made.path} --remove /dev/ubdb").status == 0
    assert "ubdb" not in mdstat(guest)


@pytest.mark.later
def test_ram_disks_make_arrays_too(guest: Guest) -> None:
    made = make_array(guest, "many", 6, make_ram_disks(guest, 8), extra=["--assume-clean"])
    assert "[8/8] [UUUUUUUU]" in mdstat(guest)
    assert guest.run(f"mkfs.ext4 -q {made.path} && mkdir -p /mnt/x && mount {made.path} /mnt/x").output == ""


@pytest.mark.parametrize("round_", [1, 2])
def test_nothing_is_left_for_the_next_test(guest: Guest, round_: int) -> None:
    assert "md" not in mdstat(guest)
    assert guest.run("ls /dev/md; cat /run/mdadm/map").stdout == ""
    assert guest.run("cat /etc/mdadm/mdadm.conf").stdout == "HOMEHOST lab\nMAILADDR root\n"
    assert (
        guest.run("cat /proc/sys/dev/raid/speed_limit_min /proc/sys/dev/raid/speed_limit_max").stdout
        == "1000\n200000\n"
    )
    assert guest.run("lsblk -nro NAME,FSTYPE").stdout.split() == list(disk_names(guest))
    assert guest.run("mount | grep ^/dev/").status == 1
    assert guest.run("pgrep -x sleep").status == 1
    assert guest.run("cat /sys/block/ubd*/ro | sort -u; ls /var/lib/raidtui").stdout == "0\n"
    slow(guest, 100)
    make_array(guest, "left", 5, disk_names(guest))
    guest.run("blockdev --setro /dev/ubdb; mkdir -p /var/lib/raidtui/jobs/20260101-120000-stop")
    guest.run("echo ARRAY nonsense >>/etc/mdadm/mdadm.conf")
    guest.spawn("sleep 987")
    guest.terminal(["sleep", "987"])


@pytest.mark.later
def test_a_full_screen_program_is_shown_and_gets_keys(opened: Open) -> None:
    with opened([sys.executable, "-c", SHOW_KEYS], cols=60, rows=20) as terminal:
        terminal.wait_for("size 60x20")
        green = Cell(
            text="g", fg="00ff00", bg="default", bold=True, italic=False, underline=False, reverse=False
        )
        terminal.wait_for(lambda _: terminal.cells[1][0] == green)
        for key, name in (
            ("c", "c"),
            ("down", "KEY_DOWN"),
            ("shift+right", "KEY_SRIGHT"),
            ("ctrl+p", "^P"),
            ("f5", "KEY_F(5)"),
        ):
            terminal.press(key)
            terminal.wait_for(f"key {name}")
        terminal.click(12, 5)
        terminal.wait_for("mouse 12 5")
        terminal.resize(70, 22)
        terminal.wait_for("resized 70x22")
        assert terminal.exit_status is None
        terminal.press("q")
        assert terminal.wait_exit() == 7


_INTERRUPTED = """
import os, signal, time

def end(*_):
    os.write(1, b"interrupted\\n")  # print may be in the middle of its own writing
    os._exit(9)

signal.signal(signal.SIGINT, end)
print("up", flush=True)
while True:
    time.sleep(0.1)  # pause() would sleep on where the signal came right before it
"""


@pytest.mark.later
def test_ctrl_c_is_a_signal(opened: Open) -> None:
    """A shell cannot trap what was ignored when it began, and whoever runs the tests may ignore it."""
    with opened([sys.executable, "-I", "-S", "-c", _INTERRUPTED]) as terminal:
        terminal.wait_for("up")
        terminal.press("ctrl+c")
        terminal.wait_for("interrupted")
        assert terminal.wait_exit() == 9


@pytest.mark.later
def test_a_program_that_ends_leaves_its_last_words(opened: Open) -> None:
    with opened(["bash", "-c", "stty -echo; seq 1000; echo goodbye"], rows=10) as terminal:
        terminal.wait_for(lambda _: terminal.lines()[-3:] == ["1000", "goodbye", ""])
        with pytest.raises(
            AssertionError, match=r"'more' did not come before the program ended with status 0"
        ):
            terminal.wait_for("more")


@pytest.mark.later
def test_queries_are_answered_and_private_sequences_are_not_drawn(opened: Open) -> None:
    script = r"""
    stty raw -echo; printf '\033[>1u\033[?2026$p'; IFS= read -rd y mode
    printf '\033[=0;1u\033P+q544e\033\\\033[c'; IFS= read -rd c device
    stty sane; printf '\033[4:3mcurly\033[0m mode=%q device=%q done\n' "$mode" "$device"
    """
    with opened(["bash", "-c", script]) as terminal:
        terminal.wait_for("done")
        assert r"curly mode=$'\E[?2026;0$' device=$'\E[?62;22' done" in terminal.screen()
        assert terminal.cells[terminal.find("curly")[1]][terminal.find("curly")[0]].underline


@pytest.mark.later
def test_a_job_runs_beside_the_full_screen_program(guest: Guest) -> None:
    made = make_array(guest, "data", 1, ["ubda", "ubdb"], extra=["--assume-clean"])
    watch = "while :; do printf '\\033[H'; cat /proc/mdstat; read -t 0.1; done"
    with guest.terminal(["bash", "-c", watch]) as terminal:
        terminal.wait_for("[UU]")
        assert guest.run(f"mdadm {made.path} --fail ubdb").status == 0
        terminal.wait_for(re.compile(r"ubdb\[1\]\(F\)"))
        with guest.terminal(["bash", "-c", "echo second; read"]) as second:
            second.wait_for("second")
            with pytest.raises(LabError, match="all 2 consoles are in use"):
                guest.terminal(["true"])


@pytest.mark.later
def test_a_panic_is_reported_with_the_last_words(lab: Guest) -> None:
    assert lab.alive  # where there is no laboratory, this is skipped
    guest = UmlGuest.boot(disks=1)
    try:
        with pytest.raises(GuestDiedError, match=r"ended with status [\s\S]*Kernel panic"):
            guest.run("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
        with pytest.raises(GuestDiedError, match="Kernel panic"):
            guest.run("true")
        assert not guest.alive
    finally:
        guest.shutdown()
    assert not guest.folder.exists()


# A kernel that has lost an interrupt of its timer, and one of a disk: nothing but signals end its sleep.
_LOST = """
import signal, sys

print("up", flush=True)
sys.stdin.readline()
heard = set()
for each in (signal.SIGALRM, signal.SIGIO):
    signal.signal(each, lambda number, _: heard.add(number))
while len(heard) < 2:
    signal.pause()
print("woken", flush=True)
"""


def test_a_kernel_that_lost_its_interrupts_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not before it can take the signals, which would end it."""
    argv = (sys.executable, "-I", "-S", "-c", _LOST)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as kernel:
        assert kernel.stdin is not None
        assert kernel.stdout is not None
        looks = []

        def looked(pid: int, number: int) -> bool:
            if pid != kernel.pid:  # the threads of running guests look, too
                return catches(pid, number)
            looks.append(catches(pid, number))
            if len(looks) == 3:
                kernel.stdin.write(b"on\n")  # type: ignore[union-attr]
                kernel.stdin.flush()  # type: ignore[union-attr]
            return looks[-1]

        monkeypatch.setattr("tests.lab.guests.uml.catches", looked)
        assert kernel.stdout.readline() == b"up\n"
        keep_awake(os.pidfd_open(kernel.pid), kernel.pid, every_s=0.01)
        assert kernel.stdout.readline() == b"woken\n"
        assert kernel.wait() == 0
        assert looks[:3] == [False] * 3


@pytest.mark.later
def test_the_guests_kernel_is_woken(guest: Guest) -> None:
    """Its clock does not jump and nothing ends early, however often it happens."""
    assert isinstance(guest, UmlGuest)
    assert guest._process is not None
    assert all(catches(guest._process.pid, number) for number in (signal.SIGALRM, signal.SIGIO))
    begun = "import time; begun = time.monotonic(); time.sleep(0.5); print(time.monotonic() - begun)"
    sleeping = guest.spawn(begun, interpreter="python")
    while sleeping.status is None:
        guest._process.send_signal(signal.SIGALRM)
        guest._process.send_signal(signal.SIGIO)
        assert guest.run("true").status == 0
    assert float(sleeping.wait(60).stdout) >= 0.5
