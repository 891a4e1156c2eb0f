"""A console in the guest that samples as often as it can while a script runs."""

from tests.lab.guests.guest import Guest

PRELUDE = """\
import subprocess, sys, time
from raidtui.watch.watch import HostWatch
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.features.arrays.screen.array_rows import counts_of

said = []

def until(true, what):
    give_up = time.monotonic() + 30
    while not true():
        assert time.monotonic() < give_up, (what, said, open("/proc/mdstat").read())
        show(console.refresh())

def show(report):
    global last
    last = report
    for event in report.new_events:
        said.append(event.subject + ": " + event.text)
        print(said[-1])

def sh(script):
    done = subprocess.run(script, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, (script, done.stderr)

def until_done(script):
    give_up = time.monotonic() + 30
    while subprocess.run(script, shell=True, capture_output=True).returncode != 0:
        assert time.monotonic() < give_up, script

def limit(kib_s):
    for word in ("max", "min"):
        with open(f"/proc/sys/dev/raid/speed_limit_{word}", "w") as file:
            file.write(kib_s)

def idle(md):
    with open(f"/sys/block/{md}/md/sync_action") as file:
        return file.read() == "idle\\n" and last.snapshot.arrays[0].sync is None

def absent():
    return [each.absence.value for each in last.snapshot.absent]

console = HostWatch(FolderReader())
show(console.refresh())
"""


def watch(guest: Guest, script: str) -> list[str]:
    """Run a script beside the console; return what both printed.

    Raises:
        AssertionError: it failed, or what it waited for did not happen.
    """
    done = guest.run(PRELUDE + script, interpreter="python", timeout=90)
    guest.run("cd /proc/sys/dev/raid && echo 1000 >speed_limit_min && echo 200000 >speed_limit_max")
    assert done.status == 0, done.output
    return done.stdout.splitlines()
