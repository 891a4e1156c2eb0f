"""Several hosts measure one storage: fio's own protocol, figures as fio sums them up."""

import json
from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import FIO_PROCESS, bench, done, refused
from tests.lab.guests.guest import Guest
from tests.lab.test_bench import _RAW

pytestmark = pytest.mark.usefixtures("no_benchmarks")
_HOSTS = ("--hosts", "127.0.0.1:18765", "127.0.0.1:18766")
_WORK = ("--rw=randrw", "--bs=4k", "--size=4m", "--directory=/mnt")
# Each answers once it has bound its port.
_SERVE = """
import socket, subprocess, time
for port in (18765, 18766):
    quiet = {"stdin": -3, "stdout": -3, "stderr": -3, "start_new_session": True}
    subprocess.Popen(["fio", f"--server=ip:127.0.0.1,{port}"], **quiet)
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.1)
"""


@pytest.fixture
def served(guest: Guest) -> Guest:
    """Two servers of fio on one file system, as two hosts that have mounted it."""
    disks = disk_names(guest)[:4]
    made = make_array(guest, "125", 10, disks, layout="n2", chunk=32, extra=["--assume-clean"])
    mounted = guest.run(f"mkfs.ext4 -q {made.path} && mount {made.path} /mnt")
    assert mounted.status == 0, mounted.output
    serves = guest.run(_SERVE, interpreter="python")
    assert serves.status == 0, serves.output
    return guest


@pytest.fixture(autouse=True)
def no_servers(guest: Guest) -> Iterator[None]:
    """None is left behind."""
    yield
    guest.run(f"pkill -KILL -x '{FIO_PROCESS}'; sleep 0.2; umount /mnt")


def test_figures_are_those_of_fio(served: Guest) -> None:
    measured = done(served, "run", *_WORK, "--runtime=2", "--json", *_HOSTS)
    (run,) = json.loads(measured.stdout)["runs"]
    (raw,) = json.loads(served.run(_RAW, interpreter="python").stdout)
    hosts, sums = raw["client_stats"][:-1], raw["client_stats"][-1]
    assert (len(hosts), sums["jobname"]) == (2, "All clients")
    assert {each["port"] for each in hosts} == {18765, 18766}
    for direction in ("read", "write"):
        ours, theirs = run[direction], sums[direction]
        assert ours["ios"] == theirs["total_ios"] == sum(each[direction]["total_ios"] for each in hosts) > 0
        assert (ours["iops"], ours["bytes_s"]) == (theirs["iops"], theirs["bw_bytes"])
        least, most = sorted(each[direction]["clat_ns"]["percentile"]["99.000000"] for each in hosts)
        assert least <= ours["p99_ns"] <= most
    assert run["place"] == "/mnt on 127.0.0.1:18765, 127.0.0.1:18766"
    assert "cpu_s" not in run
    assert served.run("ls /mnt").stdout.split() == ["lost+found"]


def test_a_host_that_cannot_measure_fails_the_run(served: Guest) -> None:
    """Fio ends with 0 then, and reports the others; their figures are not those of all hosts."""
    work = [word for word in _WORK if not word.startswith("--directory")]
    failed = bench(served, "run", *work, "--runtime=2", "--directory=/nowhere", *_HOSTS)
    assert failed.status == 1
    assert "127.0.0.1:18765 and 127.0.0.1:18766 reported no figures" in failed.stdout
    assert "/nowhere is not a directory" in failed.stdout
    assert served.run("pkill -KILL -f [1]8766 && sleep 0.5").status == 0
    assert refused(served, "run", *_WORK, "--runtime=2", *_HOSTS) == (
        "127.0.0.1:18766 does not answer on port 18766: Connection refused; start fio --server there, of the"
        " same version, and let this host reach it"
    )


def test_stopped_in_the_middle(served: Guest) -> None:
    """The hosts stop, what they measured is kept, and their files are gone."""
    done(served, "run", *_WORK, "--runtime=60", "--detach", *_HOSTS)
    there = "until ls /mnt/raidtui-*-1.0.0 >/dev/null 2>&1; do sleep 0.1; done; sleep 2"
    assert served.run(there).status == 0
    ended = bench(served, "stop")
    assert "stopped before it finished" in ended.stdout
    gone = served.run("until ! ls /mnt/raidtui-* >/dev/null 2>&1; do sleep 0.1; done; ls /mnt")
    assert gone.stdout.split() == ["lost+found"]
