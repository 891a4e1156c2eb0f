"""Root's console and commands with ``--readonly``: neither raidtui's state nor md is changed."""

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.console import RAIDTUI, open_console
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import raidtui, started

STATE = "/var/lib/raidtui /run/raidtui /root/.local /root/.config"
# Names, modes, times and contents of all that there is.
NOTED = f"find {STATE} -printf '%p %m %u %s %T@ %C@\\n' | sort; find {STATE} -type f -exec sha256sum {{}} +"
REASON = "raidtui: read-only: started with --readonly\n"
SHOWN_S = 60.0


def test_nothing_is_written(guest: Guest, sd: str) -> None:
    disks = (sd, *disk_names(guest))
    md = make_array(guest, "data", 1, disks[1:3], extra=("--assume-clean",)).kernel
    for words in (("wear", "--record"), ("advice",), ("tune", "set", disks[0], "read_ahead_kb=256")):
        done = raidtui(guest, *words)
        assert done.status in {0, 1}, done.output
    made = guest.run(f"{' '.join(RAIDTUI)} plan check data --json >/root/plan.json")
    assert made.status == 0, made.output
    facts = (
        f"cat /proc/mdstat /sys/block/{md}/md/sync_* /sys/block/{disks[0]}/queue/read_ahead_kb 2>/dev/null"
    )
    before, kernel = guest.run(NOTED).stdout, guest.run(facts).stdout
    assert "/var/lib/raidtui/wear.sqlite" in before

    with open_console(guest, argv=(*RAIDTUI, "--readonly")) as terminal:
        terminal.press("c")
        terminal.wait_for("read-only: started with --readonly", SHOWN_S)
        shown = {"3": "Wear", "4": "scheduler", "5": "Bench", "6": "Log", "7": "Advice"}
        for pane, title in shown.items():
            terminal.press(pane)
            terminal.wait_for(title, SHOWN_S)
        terminal.press("3", "m")
        terminal.wait_for("read-only: started with --readonly", SHOWN_S)
        terminal.press("1", "q")
        assert terminal.wait_exit() == 0
    for line in (
        "apply /root/plan.json", f"tune set {disks[0]} read_ahead_kb=512", "tune undo", "pace data --here",
        "jobs resume 1", "rescue clean", "bench run --directory /root", "wear --record", "advice --ignore x",
    ):  # fmt: skip
        done = started(guest, "--readonly", *line.split())
        assert (done.status, done.stderr) == (2, REASON), line
    for line in (
        "status",
        "wear",
        "advice",
        "history",
        "stack",
        "jobs",
        "plan check data",
        "capture /root/x.tar.gz",
    ):
        done = started(guest, "--readonly", *line.split())
        assert done.status in {0, 1, 3}, done.output
        assert "Traceback" not in done.output
    assert guest.run("tar tzf /root/x.tar.gz").stdout.count("mdadm") > 1
    assert guest.run(NOTED).stdout == before
    assert guest.run(facts).stdout == kernel
