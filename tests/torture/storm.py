"""Continuous events of udev and md: screen and `status --watch` keep up, their memory does not grow."""

import random
import shlex

from tests.lab.guests.console import RAIDTUI, open_console
from tests.lab.guests.link import LabError
from tests.lab.guests.uml import UmlGuest
from tests.torture.ram_disks import RamDisks

DISKS, SIZE_MIB = 8, 16
BURSTS, WARM_UP = 8, 3
BURST_S = 12.0
SLACK_KIB = 3 << 10  # an interpreter's memory comes in arenas of 1 MiB; a leak of 1 kB an event is far more
WATCHING = f"{shlex.join((*RAIDTUI, 'status', '--watch', '--json'))} >/run/lab/watch.log 2>/run/lab/watch.err"

# One burst: arrays made and stopped, members failed and taken back, checks, uevents of every block device.
# The third member stays: a kernel that is asked to fail the last one calls the array broken.
BURST = """\
end=$(($(date +%s%N) + {nanoseconds}))
udevstorm() {{
    while [ $(date +%s%N) -lt $end ]; do udevadm trigger --subsystem-match=block --action=change; done
}}
udevstorm & trigger=$!
RANDOM={seed}
while [ $(date +%s%N) -lt $end ]; do
    one=$((RANDOM % 2)); action=$((RANDOM % 6))
    case $action in
        0) mdadm -q /dev/md/a --fail /dev/ram$one ;;
        1) mdadm -q /dev/md/a --remove failed ;;
        2) mdadm -q /dev/md/a --add /dev/ram$one ;;
        3) for word in check idle check idle; do echo $word >/sys/block/md127/md/sync_action; done ;;
        4) mdadm -q --create /dev/md/b --run --homehost=lab --level=1 -n2 --bitmap=none --assume-clean \
               /dev/ram{{3,4}}
           mdadm -q --stop /dev/md/b; mdadm -q --zero-superblock /dev/ram{{3,4}} ;;
        5) mdadm -q --readonly /dev/md/a; mdadm -q --readwrite /dev/md/a ;;
    esac
done >/dev/null 2>&1
wait $trigger
udevadm settle --timeout=120
cat /sys/kernel/uevent_seqnum
"""
_MEND = """\
for turn in 1 2 3; do mdadm -q --readwrite /dev/md/a; echo idle >/sys/block/md127/md/sync_action
mdadm -q /dev/md/a --remove failed; for each in 0 1 2; do mdadm -q /dev/md/a --add /dev/ram$each; done
done 2>/dev/null
udevadm settle; mdadm --wait /dev/md/a; cat /proc/mdstat"""
_RAM = RamDisks(DISKS, SIZE_MIB)
open_up, close_down = _RAM.open_up, _RAM.close_down


def round_of(seed: int, *, bursts: int = BURSTS, burst_s: float = BURST_S) -> None:
    """Bursts of events; the memory of both front ends after each.

    Raises:
        AssertionError: one of them grew, ended, or shows an outdated state.
    """
    guest, rng = _RAM.guest, random.Random(seed)
    make = "mdadm -q --create /dev/md/a --run --homehost=lab --level=1 -n3 --bitmap=internal --assume-clean"
    made = guest.run(f"{make} /dev/ram0 /dev/ram1 /dev/ram2 && udevadm settle")
    assert made.status == 0, made.output
    watching = guest.spawn(f"exec {WATCHING}")
    terminal = open_console(guest, cols=100, rows=30)
    try:
        pids = {"screen": terminal_pid(terminal), "status --watch": watching.pid}
        grown: dict[str, list[int]] = {name: [] for name in pids}
        for burst in range(bursts):
            if burst == bursts // 2:
                terminal.press("6")  # the log, which the events fill
            script = BURST.format(seed=rng.randrange(1, 32768), nanoseconds=int(burst_s * 1e9))
            stormed = guest.run(script, timeout=burst_s + 180)
            assert stormed.status == 0, stormed.output
            for name, pid in pids.items():
                grown[name].append(resident_kib(guest, pid))
        for name, sizes in grown.items():
            assert max(sizes[WARM_UP:]) <= max(sizes[:WARM_UP]) + SLACK_KIB, f"{name} grew: {sizes} KiB"
        mended = guest.run(_MEND, timeout=120)
        assert "[UUU]" in mended.stdout, mended.output
        terminal.press("1")
        terminal.wait_for("optimal", timeout=60)
        terminal.press("q")
        assert terminal.wait_exit(60) == 0
        errors = guest.get("watch.err").decode()
        assert errors == "", errors
        assert watching.status is None, f"status --watch ended with {watching.status}"
    finally:
        terminal.close()
        try:
            watching.kill()
        finally:
            guest.run(
                "mdadm -q --stop /dev/md/a; mdadm -q --stop --scan; mdadm -q --zero-superblock /dev/ram?"
            )


def terminal_pid(terminal: object) -> int:
    """The screen's process in the guest."""
    return int(terminal._program.pid)  # type: ignore[attr-defined]


def resident_kib(guest: UmlGuest, pid: int) -> int:
    """What a process holds in memory.

    Raises:
        LabError: it has ended.
    """
    found = guest.run(f"awk '/^VmRSS/ {{print $2}}' /proc/{pid}/status")
    if found.status or not found.stdout.strip():
        raise LabError(f"process {pid} has ended: {found.output}")
    return int(found.stdout)
