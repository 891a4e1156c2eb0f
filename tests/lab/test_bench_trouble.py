"""What stops a benchmark: a sentence each; what was measured is kept, knobs are put back."""

import re
from collections.abc import Iterator

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.benches import begun, bench, done, kept, read, refused
from tests.lab.guests.guest import Guest, Result
from tests.lab.guests.jobs import raidtui

pytestmark = pytest.mark.usefixtures("no_benchmarks")
FIO = "$(readlink -f /usr/bin/fio)"
JOB = "/tmp/own.fio"
MIXED = ("run", "--preset=mixed", "--size=1m", "--runtime=1")


@pytest.fixture
def small(guest: Guest) -> Iterator[str]:
    """A file system of 4 MiB."""
    made = guest.run("mkdir -p /tmp/small && mount -t tmpfs -o size=4m tmpfs /tmp/small")
    assert made.status == 0, made.output
    yield "/tmp/small"
    assert guest.run("umount /tmp/small").status == 0


@pytest.fixture
def other_fio(guest: Guest) -> Iterator[None]:
    """Something else may lie where fio is; it is taken away again."""
    yield
    assert guest.run(f"umount {FIO}").status == 0


def failed(guest: Guest, *words: str) -> str:
    """The sentence with which a benchmark ends that began."""
    result = bench(guest, *words)
    assert result.status == 1, result.output
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("failed: ")]
    return line.removeprefix("failed: ")


def job_file(guest: Guest, *options: str) -> str:
    """A job file of these options."""
    lines = "\\n".join(("[own]", *options))
    assert guest.run(f"printf '{lines}\\n' >{JOB}").status == 0
    return f"--job={JOB}"


@pytest.mark.later
def test_a_job_file_with_an_option_that_fio_does_not_know(guest: Guest, small: str) -> None:
    """One of another engine is none for fio."""
    job = job_file(guest, "rw=read", "size=1m", "userspace_reap")
    assert failed(guest, "run", job, f"--directory={small}") == (
        "run 1 of 1: fio does not know the option userspace_reap; leave it out, or use a newer fio"
    )
    (run,) = kept(guest)
    assert (run["state"], run["job_file"]) == ("failed", "[own]\nrw=read\nsize=1m\nuserspace_reap=1\n")
    assert guest.run(f"ls {small}").stdout == ""


@pytest.mark.later
def test_no_space_is_left_in_the_middle(guest: Guest, small: str) -> None:
    """Something else fills it up meanwhile; what was written until then is kept."""
    job = job_file(guest, "rw=write", "bs=64k", "size=3m", "rate=512k", "fallocate=none", "fsync=1")
    begun = f"until ls {small}/raidtui-*/own.0.0; do sleep 0.1; done"
    fill = f"({begun}; dd if=/dev/zero of={small}/fill bs=64k) </dev/null >/dev/null 2>&1 &"
    assert guest.run(fill).status == 0
    why = f"there is no space left at {small}; choose a smaller size, or make room"
    assert failed(guest, "run", job, f"--directory={small}") == f"run 1 of 1: {why}"
    (run,) = kept(guest)
    assert (run["state"], run["reason"]) == ("partial", why)
    assert 1 <= run["write"]["ios"] <= 48, "of 64 KiB, and the one for which there was no more room"
    assert guest.run(f"ls {small} && rm {small}/fill").stdout == "fill\n", "room is made again"
    assert refused(guest, "run", "--rw=write", "--size=64m", "--no-direct", f"--directory={small}") == (
        f"the files would take 64 MiB, and at {small} they may take 3 MiB: a quarter of the 4 MiB that are"
        " free stays free; choose a smaller size, or fewer jobs"
    )


@pytest.mark.later
def test_a_preset_in_little_room(guest: Guest, small: str) -> None:
    """Nobody asked for the 2 GiB of its study."""
    asked = ("run", "--preset=hot-spots", "--runtime=1", "--no-direct", f"--directory={small}")
    shown = bench(guest, *asked, "--dry-run")
    assert f"The size is 1 MiB instead of the preset's 2 GiB: 3 MiB can be used at {small}." in shown.stdout
    done = bench(guest, *asked)
    assert done.status == 0, done.output
    (run,) = kept(guest)
    assert (run["work"]["size_bytes"], run["read"]["ios"] > 0) == (1 << 20, True)


@pytest.mark.later
def test_a_file_system_that_is_read_only(guest: Guest, small: str) -> None:
    assert guest.run(f"mount -o remount,ro {small}").status == 0
    assert refused(guest, *MIXED, f"--directory={small}") == (
        f"the file system at {small} is read-only; choose another folder"
    )


@pytest.mark.later
def test_a_file_system_that_becomes_read_only_in_the_middle(guest: Guest) -> None:
    """As ext4 does when it finds itself damaged. fio writes on, to blocks that are there, and faster."""
    disk = disk_names(guest)[0]
    made = f"mkfs.ext4 -q -E nodiscard /dev/{disk} && mount -o errors=remount-ro /dev/{disk} /mnt"
    assert guest.run(made).status == 0
    begun(guest, "run", "--rw=randwrite", "--size=4m", "--runtime=5", "--directory=/mnt")
    assert guest.run(f"echo trouble >/sys/fs/ext4/{disk}/trigger_fs_error").status == 0
    result = bench(guest, "attach")
    assert result.status == 1, result.output
    (run,) = kept(guest)
    why = "the file system at /mnt became read-only during the run; see the kernel log"
    assert (run["state"], run["reason"], run["write"]["ios"] > 0) == ("partial", why, True)
    (left,) = guest.run("ls -d /mnt/raidtui-*").stdout.split()
    assert f"{left} cannot be removed: remove it yourself\n" in result.stdout


@pytest.mark.later
@pytest.mark.usefixtures("other_fio")
def test_a_fio_that_may_not_be_run(guest: Guest, small: str) -> None:
    """It has a file, so that it is not called missing."""
    assert guest.run(f"mount --bind /dev/null {FIO}").status == 0
    assert refused(guest, *MIXED, f"--directory={small}") == (
        "/usr/bin/fio: Permission denied; run raidtui as root; root is refused only by the file's mode, a"
        " container or a security module"
    )


@pytest.mark.later
@pytest.mark.usefixtures("other_fio")
def test_a_fio_that_is_too_old(guest: Guest, small: str) -> None:
    old = "printf '#!/bin/sh\\necho fio-2.1\\n' >/tmp/old && chmod 755 /tmp/old"
    assert guest.run(f"{old} && mount --bind /tmp/old {FIO}").status == 0
    assert refused(guest, *MIXED, f"--directory={small}") == (
        "fio 2.1 is too old: its status output has no latencies in nanoseconds; install fio 3.1 or newer"
    )


@pytest.fixture
def stripes(guest: Guest) -> str:
    """A RAID 5 with a preread threshold of 200, which md refuses once the cache has 17 stripes."""
    made = make_array(guest, "125", 5, disk_names(guest)[:3], chunk=64, extra=["--assume-clean"])
    folder = f"/sys/block/{made.kernel}/md"
    assert guest.run(f"echo 200 >{folder}/preread_bypass_threshold").status == 0
    return made.kernel


SWEEP = ("sweep", "--rw=randread", "--size=1m", "--repeats=1")
READ = ("run", "--rw=randread", "--size=1m")


@pytest.mark.later
def test_a_knob_that_is_read_only_is_refused_before_fio(guest: Guest, sd: str) -> None:
    """Nothing was changed, nothing is stuck, and the next benchmark runs."""
    depth = f"/sys/block/{sd}/device/queue_depth"
    was = read(guest, depth)
    made = guest.run(f"mount --bind {depth} {depth} && mount -o remount,bind,ro {depth}")
    assert made.status == 0, made.output
    try:
        why = failed(guest, *SWEEP, f"--device={sd}", "--knob=queue-depth=3,2")
    finally:
        assert guest.run(f"umount {depth}").status == 0
    assert why == (
        f"queue_depth cannot be swept: writing the present value to /sys/class/block/{sd}/device/queue_depth"
        f" ({was}) is refused: /sys is mounted read-only here, as in a container; nothing was measured"
    )
    assert (read(guest, depth), kept(guest)) == (was, [])
    done(guest, *READ, f"--device={sd}")


@pytest.mark.later
def test_a_knob_that_refuses_its_old_value_is_refused_before_fio(guest: Guest, stripes: str) -> None:
    """It would take 1, and never 200 again."""
    folder = f"/sys/block/{stripes}/md"
    assert guest.run(f"echo 17 >{folder}/stripe_cache_size").status == 0
    why = failed(guest, *SWEEP, f"--device={stripes}", "--knob=preread-bypass-threshold=1,2")
    assert why == (
        "preread_bypass_threshold cannot be swept: writing the present value to"
        f" /sys/class/block/{stripes}/md/preread_bypass_threshold (200) is refused:"
        " the kernel refuses this value; nothing was measured"
    )
    assert (read(guest, f"{folder}/preread_bypass_threshold"), kept(guest)) == ("200", [])
    done(guest, *READ, f"--device={stripes}")


@pytest.mark.later
def test_a_knob_that_refuses_its_old_value_in_the_end(guest: Guest, stripes: str) -> None:
    """Somebody made the cache smaller meanwhile. Restore puts back what it can, and is the way out."""
    folder = f"/sys/block/{stripes}/md"
    knobs = ("--knob=preread-bypass-threshold=1", "--knob=group-thread-cnt=1,2")
    job = begun(guest, *SWEEP, f"--device={stripes}", "--runtime=60", *knobs)
    assert guest.run(f"echo 17 >{folder}/stripe_cache_size").status == 0
    ended = bench(guest, "stop")
    assert (ended.status, "\nstuck: " in ended.stdout) == (1, True), ended.output
    blocked = bench(guest, *READ, f"--device={stripes}")
    assert blocked.status == 2, blocked.output
    assert "raidtui bench restore puts back what it can, lists the rest, and lets later benchmarks run" in (
        blocked.stderr
    )
    restored = bench(guest, "restore")
    command = f"echo 200 > /sys/class/block/{stripes}/md/preread_bypass_threshold"
    assert restored.status == 1, restored.output
    assert restored.stdout == (
        f"{job}: not put back: {command}: the kernel refuses this value\n"
        "What is not put back stays until you change it. Later benchmarks can run.\n"
    )
    now = [read(guest, f"{folder}/{name}") for name in ("preread_bypass_threshold", "group_thread_cnt")]
    assert now == ["1", "0"]
    assert done(guest, "restore").stdout == "No benchmark was interrupted.\n"
    done(guest, *READ, f"--device={stripes}")


@pytest.mark.later
def test_what_is_not_quiet_is_not_begun(guest: Guest, sd: str) -> None:
    """Somebody reads the disk; an array is checked. Both are said, and nothing is measured."""

    def asked(device: str) -> Result:
        return raidtui(guest, "bench", *READ, f"--device={device}", timeout=240)

    reader = f"while :; do dd if=/dev/{sd} of=/dev/null bs=64k iflag=direct status=none; done"
    begun_reader = guest.run(f"setsid sh -c '{reader}' >/dev/null 2>&1 & echo $!")
    try:
        result = asked(sd)
    finally:
        assert guest.run(f"kill -- -{begun_reader.stdout.strip()}").status == 0
    assert result.status == 2, result.output
    found = re.match(
        r"raidtui: not possible: the machine is not quiet: (.*); wait until it is,", result.stderr
    )
    assert found is not None, result.stderr
    assert re.search(rf"\b{sd} does [\d.]+ MB/s, \d+ requests/s", found[1])
    made = make_array(guest, "125", 1, disk_names(guest)[:2], extra=["--assume-clean"])
    slow = f"echo 100 >/sys/block/{made.kernel}/md/sync_speed_max"
    assert guest.run(f"{slow} && echo check >/sys/block/{made.kernel}/md/sync_action").status == 0
    result = asked(made.kernel)
    assert (result.status, "the machine is not quiet: 125 runs a check" in result.stderr) == (2, True), (
        result.output
    )
    assert kept(guest) == []
    done(guest, *READ, f"--device={made.kernel}")
    assert kept(guest)[0]["environment"]["arrays"][0]["sync"] == "check"


def test_fio_is_killed_in_the_middle_of_a_sweep(guest: Guest, sd: str) -> None:
    depth = f"/sys/block/{sd}/device/queue_depth"
    was = read(guest, depth)
    asked = ("--rw=randread", "--size=4m", "--depth=8", f"--device={sd}", "--runtime=60")
    begun(guest, "sweep", *asked, "--knob=queue-depth=3,2", "--repeats=1")
    assert read(guest, depth) == "3"
    assert guest.run("pkill -KILL -x fio").status == 0
    result = bench(guest, "attach")
    assert (result.status, result.stdout.splitlines()[-1]) == (
        1,
        "failed: run 1 of 2: fio was killed by SIGKILL",
    )
    (run,) = kept(guest)
    assert (run["state"], run["reason"]) == ("partial", "fio was killed by SIGKILL")
    assert run["read"]["ios"] > 0
    assert read(guest, depth) == was
