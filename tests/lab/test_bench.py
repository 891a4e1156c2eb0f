"""Benchmarks on real arrays: fio's own figures are kept, arrays are made and removed, knobs are put back."""

import json
import re

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import begun, bench, kept, kill_worker, read, two_samples
from tests.lab.guests.boot import serial_of
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, bystander, checksum

pytestmark = [pytest.mark.later, pytest.mark.usefixtures("no_benchmarks")]
CONF = "/etc/mdadm/mdadm.conf"
# fio's own JSON of each run that is kept.
_RAW = """
import json
from raidtui.features.bench.results.run_store import Results
with Results() as results:
    print(json.dumps([json.loads(results.raw(run.id)) for run in results.runs()]))
"""


def test_the_figure_that_is_kept_is_fios_own(guest: Guest) -> None:
    disks = disk_names(guest)
    made = make_array(guest, "125", 10, disks[:4], layout="n2", chunk=32, extra=["--assume-clean"])
    assert guest.run(f"mkfs.ext4 -q {made.path} && mount {made.path} /mnt").status == 0
    asked = ("--preset=mixed", "--depth=4", "--size=8m", "--runtime=1", "--directory=/mnt", "--note=first")
    done = bench(guest, "run", *asked, "--trim", "--precondition=1", "--json")
    assert done.status == 0, done.output
    titles = read(guest, f"{JOBS}/*/journal.jsonl")
    assert '"title": "fstrim --verbose /mnt"' in titles
    assert '"title": "writing 8 MiB once before measuring"' in titles
    (run,) = json.loads(done.stdout)["runs"]
    (raw,) = json.loads(guest.run(_RAW, interpreter="python").stdout)
    for side in ("read", "write"):
        ours, theirs = run[side], raw["jobs"][0][side]
        assert ours["ios"] == theirs["total_ios"] > 0
        assert ours["iops"] == theirs["iops"]
        assert ours["bytes_s"] == theirs["bw_bytes"]
        assert ours["p99_ns"] == theirs["clat_ns"]["percentile"]["99.000000"]
        assert ours["p999_ns"] == theirs["clat_ns"]["percentile"]["99.900000"]
    machine = run["environment"]
    assert [(each["level"], each["layout"], each["chunk_kib"]) for each in machine["arrays"]] == [
        ("raid10", "n2", 32)
    ]
    assert [disk["serial"] for disk in machine["disks"]] == [serial_of(disk) for disk in disks[:4]]
    assert (machine["file_system"], machine["fio"], run["note"]) == ("ext4", raw["fio version"][4:], "first")
    assert set(run["written"]) == set(disks[:4])
    assert min(run["written"].values()) > 0
    assert guest.run("ls /mnt").stdout.split() == ["lost+found"]


def test_chunks_against_blocks(guest: Guest) -> None:
    """Arrays are made, measured and removed; nothing else is touched, and nothing before it was typed."""
    disks = disk_names(guest)
    two = disks[:2]
    before, conf, sums = bystander(guest, disks[7]), read(guest, CONF), checksum(guest, two)
    asked = (
        *("sweep", "--rw=randread", "--size=4m", "--runtime=1", "--bs=8k,16k", "--chunk=16,32,512"),
        *("--repeats=1", "--scratch", *two),
    )
    refused = bench(guest, *asked, f"--confirm={serial_of(two[0])}")
    assert refused.stderr == (
        "raidtui: not possible: it destroys what is on the devices (ubda: nothing known; ubdb:"
        " nothing known); if that is what you want, give their serial numbers:"
        f" --confirm={serial_of(two[1])}\n"
    )
    assert (refused.status, checksum(guest, two)) == (2, sums)
    done = bench(guest, *asked, *(f"--confirm={serial_of(disk)}" for disk in two))
    assert done.status == 0, done.output
    runs = kept(guest)
    measured = [(run["point"]["chunk"], run["point"]["block"]) for run in runs]
    assert measured == [(chunk, block) for chunk in ("16", "32", "512") for block in ("8192", "16384")]
    for run in runs:
        (array,) = run["environment"]["arrays"]
        shape = (array["level"], array["layout"], str(array["chunk_kib"]))
        assert shape == ("raid10", "n2", run["point"]["chunk"])
        assert (run["read"]["ios"] > 0, set(run["written"])) == (True, set(two))
    heat = done.stdout[done.stdout.index("chunk x block size") :].split("\n")
    assert heat[0] == "chunk x block size, random read, MB/s: yours (published)"
    assert heat[1].split() == ["8K", "16K"]
    published = (("16K", 69, 156), ("32K", 69, 134), ("512K", 67, 134))
    for line, (chunk, first, second) in zip(heat[2:5], published, strict=True):
        assert re.fullmatch(rf"{chunk} +[\d.]+ \({first}\) +[\d.]+ \({second}\)", line)
    assert "active" not in read(guest, "/proc/mdstat")
    assert guest.run(f"wipefs --noheadings {' '.join(f'/dev/{disk}' for disk in two)}").stdout == ""
    assert read(guest, CONF) == conf
    assert checksum(guest, [disks[7]]) == before


def test_queue_depths_and_a_verdict_on_schedulers(guest: Guest, sd: str) -> None:
    depth, scheduler = f"/sys/block/{sd}/device/queue_depth", f"/sys/block/{sd}/queue/scheduler"
    was = read(guest, depth), read(guest, scheduler)
    asked = ("--rw=randread", "--size=4m", "--runtime=1", "--depth=8", "--engine=libaio", f"--device={sd}")
    done = bench(guest, "sweep", *asked, "--knob=queue-depth=1,8", "--repeats=1")
    assert done.status == 0, done.output
    runs = kept(guest)
    assert [run["environment"]["disks"][0]["queue_depth"] for run in runs] == [1, 8]
    assert runs[1]["read"]["iops"] > 2 * runs[0]["read"]["iops"], "one request at a time is slower than eight"
    done = bench(guest, "sweep", *asked, "--knob=scheduler=none,mq-deadline", "--repeats=5")
    assert done.status == 0, done.output
    runs = kept(guest)[2:]
    order = [run["point"]["scheduler"] for run in runs]
    assert [sorted(order[at : at + 4]) for at in (0, 4)] == [["mq-deadline"] * 2 + ["none"] * 2] * 2
    assert sorted(order[8:]) == ["mq-deadline", "none"]
    assert [run["environment"]["disks"][0]["scheduler"] for run in runs] == order
    result = r"(no difference|not decided): scheduler mq-deadline against scheduler none is .* 97 % interval"
    result += r"|scheduler mq-deadline is (faster|slower) than scheduler none by .* 97 % interval\)"
    assert re.search(result, done.stdout), done.stdout
    assert (read(guest, depth), read(guest, scheduler)) == was


def test_killed_and_stopped_in_the_middle(guest: Guest, sd: str) -> None:
    """A killed worker takes its fio along; the next start puts the knob back. What was measured is kept."""
    depth = f"/sys/block/{sd}/device/queue_depth"
    was = read(guest, depth)
    asked = ("--rw=randread", "--size=4m", "--depth=8", "--engine=libaio", f"--device={sd}", "--runtime=60")
    killed = begun(guest, "sweep", *asked, "--knob=queue-depth=3,2", "--repeats=1")
    assert read(guest, depth) == "3"
    kill_worker(guest)
    assert read(guest, depth) == "3"

    result = bench(guest, "run", *asked, "--ramp=0", "--detach", "--json")
    stopped = json.loads(result.stdout)["job"]
    assert f"Benchmark {killed} was interrupted: what it changed is put back.\n" in result.stderr
    assert read(guest, depth) == was
    two_samples(guest, stopped)
    ended = bench(guest, "stop")
    assert ended.status == 0, ended.output
    assert "cancelled: run 1 of 1: stopped before it finished\n" in ended.stdout
    first, second = kept(guest)
    assert [(run["job"], run["state"]) for run in (first, second)] == [
        (killed, "partial"),
        (stopped, "partial"),
    ]
    assert first["reason"] == "its worker was killed; the latencies of the whole run are not known"
    assert first["read"]["ios"] > 0
    assert second["reason"] == "stopped before it finished"
    assert second["read"]["p99_ns"] > 0
