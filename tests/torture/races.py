"""A second user races root for raidtui's folders: nothing there is ever theirs to write, move or hold up.

Root sets, notes, keeps and undoes, each time in folders that were removed, under an umask that hides nothing.
Meanwhile nobody opens, links, moves and locks whatever appears, as fast as it can.
"""

import json
import random

from tests.lab.guests.arrays import make_array
from tests.lab.guests.console import NOBODY
from tests.lab.guests.guest import Guest
from tests.lab.guests.uml import UmlGuest

UMASKS, TIMES = (0o000, 0o002, 0o022), 200
_FOLDERS = ("/run/raidtui", "/var/lib/raidtui", "/var/cache/raidtui", "/etc/raidtui")
_ATTACK = """
import fcntl, json, os, random
dice, held, won, tries = random.Random({seed}), [], [], 0
def lock(path, folder):
    held.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    if len(held) > 20:
        os.close(held.pop(0))
def write(path, folder):
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.write(descriptor, b"mine")
    os.close(descriptor)
ATTACKS = {{
    "write": write,
    "lock": lock,
    "link": lambda path, folder: os.symlink("/etc/passwd", folder + "/tune.json"),
    "FIFO": lambda path, folder: os.mkfifo(path + ".part"),
    "swap": lambda path, folder: os.rename(path, path + ".old"),
    "remove": lambda path, folder: os.unlink(path),
}}
while not os.path.exists("/tmp/end"):
    for top in {folders}:
        for folder, names, files in os.walk(top):
            for name in (*names, *files, "tune.json"):
                kind = dice.choice(list(ATTACKS))
                tries += 1
                try:
                    ATTACKS[kind](os.path.join(folder, name), folder)
                except OSError:
                    continue
                if kind != "lock":
                    won.append((kind, folder, name))
print(json.dumps([tries, won[:20]]))
"""
_ROOT = """
import contextlib, io, json, os, shutil
from raidtui.app.cli import run
wrong = []
def order(*words):
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = run(list(words))
    if status:
        wrong.append((words, status, said.buffer.getvalue().decode()))
def open_files():
    return len(os.listdir("/proc/self/fd"))
os.umask({umask})
order("plan", "check", "127")
before = open_files()
for number in range({times}):
    for folder in {folders}:
        shutil.rmtree(folder, ignore_errors=True)
    order("tune", "set", "ubda", f"read_ahead_kb={{256 + 4 * number}}")
    order("plan", "check", "127")
    order("alert", "--event", "Fail", "/dev/md127")
    order("tune", "undo")
if open_files() > before + 2:
    wrong.append(("files left open", before, os.listdir("/proc/self/fd")))
print(json.dumps(wrong[:20]))
"""
_GUESTS: list[UmlGuest] = []


def open_up() -> None:
    """Start the guest."""
    _GUESTS.append(UmlGuest.boot(disks=2))
    make_array(_GUESTS[0], "127", 1, _GUESTS[0].disks, extra=["--assume-clean"])


def close_down() -> None:
    """Remove the guest."""
    for guest in _GUESTS:
        guest.shutdown()
    _GUESTS.clear()


def round_of(seed: int) -> None:
    """Race under each umask. Raises as ``race``."""
    for umask in UMASKS:
        race(_GUESTS[0], seed, umask, TIMES)


def race(guest: Guest, seed: int, umask: int, times: int) -> None:
    """Let root work and nobody attack; the array 127 is there.

    Raises:
        AssertionError: nobody has won, or root could not do something.
    """
    attack = _ATTACK.format(seed=random.Random(seed).randrange(1 << 30), folders=_FOLDERS)
    guest.run(f"rm -f /tmp/end; cat >/tmp/attack <<'END'\n{attack}\nEND")
    attacker = guest.spawn(f"exec nice -n 5 {' '.join(NOBODY)} python3 /tmp/attack", timeout=None)
    try:
        root = _ROOT.format(umask=umask, times=times, folders=_FOLDERS)
        worked = guest.run(root, interpreter="python", timeout=120 + 10 * times)
    finally:
        guest.run("touch /tmp/end")
    attacked = attacker.wait(120)
    assert worked.status == attacked.status == 0, worked.output + attacked.output
    wrong, (tries, won) = json.loads(worked.stdout), json.loads(attacked.stdout)
    assert (wrong, won) == ([], []), f"umask {umask:03o}"
    assert tries > times, "nobody has raced"
