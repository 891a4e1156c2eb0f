"""A real systemd in a PID namespace of a guest, and raidtui's units in it."""

import shlex
from pathlib import Path

import raidtui
from raidtui.host.own_units import with_own_command
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest, Result
from tests.places import HOUSE

# At a boot, systemd-tmpfiles empties /tmp, and with it a clone of raidtui that lies there.
START = """\
mkdir -p /etc/tmpfiles.d && ln -s /dev/null /etc/tmpfiles.d/tmp.conf
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
export container=lab
setsid unshare --pid --mount --fork --mount-proc /lib/systemd/systemd --system --unit=basic.target \
    --show-status=no </dev/null >/root/systemd.log 2>&1 &
"""
UNITS = Path(raidtui.__file__).parent / "systemd"


def inside(guest: Guest, script: str, *, timeout: float = 180.0) -> Result:
    """Run a script beside systemd."""
    words = shlex.join(("bash", "-c", script))
    return guest.run(
        f"exec nsenter --target $(pgrep -o -x systemd) --pid --mount -- {words}", timeout=timeout
    )


def start_systemd(guest: Guest, *, timeout: float = 180.0) -> None:
    """Start it, and wait until it runs."""
    guest.run(START)
    wait_until(
        lambda: "running" in inside(guest, "systemctl is-system-running").stdout, timeout, what="systemd runs"
    )


def install_units(guest: Guest, drop_ins: str = "") -> None:
    """Install all services of raidtui, to start the raidtui that is tested; a drop-in for each, if any."""
    for unit in UNITS.glob("*.service"):
        if HOUSE.parts[1] == "tmp":  # of a clone there, a unit with a /tmp of its own would see nothing
            seen = f"[Service]\nBindReadOnlyPaths={HOUSE}\n"
            folder = f"/etc/systemd/system/{unit.name}.d"
            guest.run(f"mkdir -p {folder} && printf %s {shlex.quote(seen)} >{folder}/clone.conf")
        text = with_own_command(unit.read_text()).replace("ExecStopPost=raidtui ", stop_words())
        guest.run(f"cat >/etc/systemd/system/{unit.name} <<'END'\n{text}{drop_ins}END\n")
    done = inside(guest, "systemctl daemon-reload")
    assert done.status == 0, done.output


def stop_words() -> str:
    """Return the line that starts the raidtui that is tested after the end of a unit."""
    return with_own_command("ExecStart=raidtui ").rpartition("\n")[2].replace("ExecStart", "ExecStopPost")


def run_unit(guest: Guest, unit: str, *, timeout: float = 300.0) -> str:
    """Run a unit that ends, and return what it printed; its exit status has to be a success."""
    done = inside(guest, f"systemctl start {unit}", timeout=timeout)
    said = inside(guest, f"journalctl --no-pager --output=cat --unit={unit}").stdout
    assert done.status == 0, f"{done.output}\n{said}"
    return said
