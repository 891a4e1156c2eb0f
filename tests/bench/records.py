"""Records of runs, made up."""

from __future__ import annotations

from typing import Any

from raidtui.bench.environment import ArrayShape, Cpu, DiskSettings, Environment
from raidtui.bench.record import Record
from raidtui.bench.samples import Figures, Flow, Sample
from raidtui.bench.workload import Workload

READ = Workload(rw="randread", block_bytes=8192, size_bytes=8 << 20)
JOB = "20261121-100000-bench"
EPOCH_S = 1_795_209_900.0


def surroundings(**array: Any) -> Environment:
    """Return a host with a RAID-10 of two disks."""
    shape = ArrayShape(
        **{
            "name": "md127",
            "label": "data",
            "uuid": "8d0b1f2a:11111111:22222222:33333333",
            "level": "raid10",
            "layout": "n2",
            "chunk_kib": 32,
            "members": ("sda", "sdb"),
            **array,
        }
    )
    disks = tuple(
        DiskSettings(
            name=name, model="Samsung 850", serial=f"S{name.upper()}", scheduler="none", queue_depth=32
        )
        for name in ("sda", "sdb")
    )
    return Environment(
        host="nas",
        kernel="6.12.3",
        fio="3.33",
        cpu=Cpu(model="Xeon", count=8, governor="performance"),
        disks=disks,
        arrays=(shape,),
        file_system="ext4",
        mount_options="rw,noatime",
        size_bytes=1000,
        free_bytes=400,
    )


def record(number: int = 0, iops: float = 1000.0, **more: Any) -> Record:
    """Return a run that read so many blocks of 8 KiB a second."""
    figures = Figures(
        ios=int(iops),
        size_bytes=int(iops) * 8192,
        iops=iops,
        bytes_s=iops * 8192,
        mean_ns=200_000.0,
        p50_ns=180_000,
        p99_ns=740_000,
        p999_ns=2_900_000,
    )
    return Record(
        **{
            "job": JOB,
            "number": number,
            "at_s": EPOCH_S + number,
            "title": "random-read",
            "place": "/srv",
            "work": READ,
            "seconds": 1.0,
            "read": figures,
            "written": {"sda": 4096, "sdb": 8192},
            "environment": surroundings(),
            **more,
        }
    )


def samples(*iops: float) -> tuple[Sample, ...]:
    """Return samples of a quarter of a second each."""
    return tuple(
        Sample(t_s=0.25 * place, read=Flow(iops=value, bytes_s=value * 8192, p99_ns=740_000))
        for place, value in enumerate(iops, 1)
    )
