"""Runs in the guest for ``benchmarks.pace``: makes the array, measures each case, prints each as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

MD = "md127"
BASE = Path(f"/sys/block/{MD}/md")
DEBUG = Path("/sys/bus/pseudo/drivers/scsi_debug")
LOG = Path("/run/pace-fio")
THREADS, EACH_A_SECOND = 16, 6
RAMP_S = 5.0


def call(*argv: str) -> str:
    """Run a tool that has to succeed."""
    return subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def make_array(size_mib: int, scheduler: str) -> int:
    """Make four slow disks and the array; return what a check of it reads, KiB."""
    kind = ("delay=0", "per_host_store=1", f"dev_size_mb={size_mib}", "num_tgts=1", "add_host=1")
    call("modprobe", "scsi_debug", *kind)
    for _ in range(3):
        call("udevadm", "settle")
        (DEBUG / "add_host").write_text("1")
    call("udevadm", "settle")
    while len(disks := sorted(path.name for path in Path("/sys/block").glob("sd*"))) < 4:
        time.sleep(0.1)
    for disk in disks:
        folder = Path("/sys/block") / disk
        (folder / "queue/scheduler").write_text(scheduler)
        (folder / "device/queue_depth").write_text("1")
        (folder / "queue/max_sectors_kb").write_text("64")
    shape = ("--level=10", "--layout=n2", "--chunk=64", "--bitmap=none", "--assume-clean", "--raid-devices=4")
    call("mdadm", "--create", f"/dev/{MD}", "--run", *shape, *(f"/dev/{disk}" for disk in disks))
    call("udevadm", "settle")
    (DEBUG / "ndelay").write_text("3000000")
    return int(Path(f"/sys/block/{MD}/size").read_text()) // 2


def done_kib() -> int | None:
    """Return how far the check is; None where none runs."""
    for word in Path("/proc/mdstat").read_text().split():
        if word.startswith("(") and "/" in word:
            return int(word[1:].partition("/")[0])
    return None


def begin(low: str, high: str) -> None:
    """Begin a check with these limits."""
    (BASE / "sync_speed_min").write_text(low)
    (BASE / "sync_speed_max").write_text(high)
    (BASE / "sync_action").write_text("check")


def end() -> None:
    """End it; the next one begins anew, with the system's limits."""
    (BASE / "sync_speed_max").write_text("1000000")
    (BASE / "sync_action").write_text("idle")
    while (BASE / "sync_action").read_text().strip() != "idle":
        time.sleep(0.1)
    for name, text in (("sync_speed_max", "system"), ("sync_speed_min", "system"), ("sync_min", "0")):
        (BASE / name).write_text(text)


def waits_ms(seconds: float) -> list[float]:
    """Let fio read; return how long each request took."""
    for old in LOG.parent.glob(f"{LOG.name}*"):
        old.unlink()
    call(
        "fio", "--name=users", f"--filename=/dev/{MD}", "--rw=randread", "--bs=4k", "--direct=1", "--thread",
        "--ioengine=psync", f"--numjobs={THREADS}", f"--rate_iops={EACH_A_SECOND}", "--rate_process=poisson",
        "--time_based", f"--runtime={seconds:.0f}", "--random_distribution=zipf:1.1", "--group_reporting",
        f"--write_lat_log={LOG}", "--per_job_logs=0", "--output=/dev/null",
    )  # fmt: skip
    lines = Path(f"{LOG}_lat.log").read_text().splitlines()
    return sorted(int(line.split(",")[1]) / 1e6 for line in lines)


def measure(
    case: str, total_kib: int, seconds: float, *, syncs: bool, target_ms: float | None = None
) -> float:
    """Measure a case, print it, and return its p99, ms."""
    first, begun_s = done_kib(), time.monotonic()
    found = waits_ms(seconds)
    last, took_s = done_kib(), time.monotonic() - begun_s
    speed = None if not syncs or first is None or last is None else round((last - first) / took_s)
    row: dict[str, Any] = {"case": case, "n": len(found), "kib_s": speed, "total_kib": total_kib}
    row["target_ms"] = target_ms
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        row[name] = round(found[min(len(found) - 1, int(share * len(found)))], 2)
    print(json.dumps(row), flush=True)
    return float(row["p99"])


def main() -> None:
    """Measure all cases."""
    words = json.loads(Path("/run/lab/pace.json").read_text())
    seconds, raidtui = words["seconds"], (words["python"], "-m", "raidtui")
    total_kib = make_array(words["size"], words["scheduler"])
    base_ms = measure("no sync", total_kib, seconds, syncs=False)
    target_ms = words["target"] or round(1.5 * base_ms, 1)
    begin("1000", "200000")
    time.sleep(RAMP_S)
    measure("md's own limits", total_kib, seconds, syncs=True)
    end()
    for kib_s in words["fixed"]:
        begin("1", str(kib_s))
        waits_ms(max(RAMP_S, 35.0 if kib_s < 2000 else RAMP_S))  # a slow one sends at most every 30 s
        measure(f"fixed {kib_s} KiB/s", total_kib, seconds, syncs=True)
        end()
    os.environ["LC_ALL"] = "C"
    begin("system", "system")
    call(*raidtui, "pace", MD, "--latency", str(target_ms))
    waits_ms(words["settle"])
    measure("pace", total_kib, seconds, syncs=True, target_ms=target_ms)
    call(*raidtui, "pace", "--stop")
    end()
    measure("no sync again", total_kib, seconds, syncs=False)


if __name__ == "__main__":
    main()
