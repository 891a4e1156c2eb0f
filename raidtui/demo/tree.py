"""The files of the simulated host: those that change while a sync runs, and those that change with events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidtui.demo.control import SCHEDULERS
from raidtui.demo.disks import SimDisk
from raidtui.demo.kernel import SimKernel
from raidtui.demo.sim_array import SimArray, SimMember
from raidtui.demo.sim_bcache import BACKING, CACHE, bcache_files, bcache_live_files, bcache_stat_line
from raidtui.demo.sim_cpufreq import cpufreq_files, frequency_files
from raidtui.demo.sim_create import holder_of, superblock_of
from raidtui.demo.sim_maps import PHYSICAL
from raidtui.demo.sim_mdstat import mdstat_text
from raidtui.demo.sim_stack import stat_files, stat_lines, volume_files
from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import RAID_SYSCTL
from raidtui.host.udev import DATA

_PARITY_KNOBS = {
    "stripe_cache_size": "256", "group_thread_cnt": "0", "preread_bypass_threshold": "1", "skip_copy": "0",
    "rmw_level": "1",
}  # fmt: skip
_POLICIES = {"raid0": "none"}


def live_files(kernel: SimKernel) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the files that change while a sync runs."""
    yield "/proc/mdstat", mdstat_text(kernel.arrays, kernel.now_s)
    yield "/proc/diskstats", _diskstats(kernel)
    yield from stat_files(kernel)
    yield from bcache_live_files(kernel).items()
    yield from frequency_files(kernel)
    for array in kernel.arrays:
        base = f"{BLOCK}/{array.name}/md"
        if not array.redundant:
            yield f"{base}/reshape_position", "none\n"
            continue
        yield f"{base}/reshape_position", _reshape_position(array)
        completed, speed = _progress(array, kernel.now_s)
        yield f"{base}/sync_completed", completed
        yield f"{base}/sync_speed", speed
        yield f"{base}/resync_start", _resync_start(array)
        yield f"{base}/mismatch_cnt", f"{array.mismatches}\n"


def _progress(array: SimArray, now_s: float) -> tuple[str, str]:
    sync = array.sync
    if sync is None:
        return "none\n", "none\n"
    if sync.delayed:
        return "delayed\n", "0\n"
    moved, elapsed_s = sync.window(now_s)
    return f"{sync.completed_sectors} / {sync.total_sectors}\n", f"{moved // 2 // elapsed_s}\n"


def _reshape_position(array: SimArray) -> str:
    """How far a reshape is, in sectors of the array: backwards, that is where it comes from."""
    if array.reshape is None:
        return "none\n"
    sync = array.sync
    done = (
        int(sync.done_sectors)
        if sync is not None and sync.action == "reshape"
        else array.reshape.done_sectors
    )
    at = done * array.array_kib // max(1, array.component_kib)
    at -= at % (array.chunk_kib * 2 or 1)
    return f"{array.array_kib * 2 - at if array.backwards else at}\n"


def _resync_start(array: SimArray) -> str:
    if array.recovery_cp is None:
        return "none\n"
    sync = array.sync
    return f"{max(array.recovery_cp, sync.completed_sectors) if sync else array.recovery_cp}\n"


def _diskstats(kernel: SimKernel) -> str:
    lines: list[str] = []
    for disk in kernel.disks.values():
        lines.append(kernel.counters[disk.name].line(disk.dev, disk.name))
        for part in disk.partitions:
            name = disk.partition_name(part.number)
            lines.append(kernel.counters[name].line((disk.dev[0], disk.dev[1] + part.number), name))
    lines += [kernel.counters[array.name].line(array.dev, array.name) for array in kernel.arrays]
    return "\n".join((*lines, *stat_lines(kernel), *bcache_stat_line(kernel))) + "\n"


def still_files(kernel: SimKernel) -> tuple[dict[str, str], dict[str, str]]:
    """Return the other files and the links: path -> text, path -> target."""
    files: dict[str, str] = {
        f"{RAID_SYSCTL}/speed_limit_min": f"{kernel.low_kib_s}\n",
        f"{RAID_SYSCTL}/speed_limit_max": f"{kernel.high_kib_s}\n",
    }
    links: dict[str, str] = {}
    for disk in kernel.disks.values():
        _disk(files, links, disk, kernel)
    for array in kernel.arrays:
        _array(files, links, array, kernel)
    files["/proc/self/mountinfo"] = _mountinfo(kernel)
    files |= dict(cpufreq_files(kernel))
    more, inner = volume_files(kernel)
    cached, to = bcache_files(kernel)
    return files | more | cached, links | inner | to


def _mountinfo(kernel: SimKernel) -> str:
    return "".join(
        f"{28 + index} 1 {mount.dev[0]}:{mount.dev[1]} / {mount.where} rw,relatime shared:{index + 1}"
        f" - {mount.kind} /dev/{mount.source} rw\n"
        for index, mount in enumerate(kernel.mounts)
    )


def _disk(files: dict[str, str], links: dict[str, str], disk: SimDisk, kernel: SimKernel) -> None:
    node = f"{BLOCK}/{disk.name}"
    links[node] = disk.path
    files[f"/dev/{disk.name}"] = ""
    for attribute, text in _disk_files(disk, kernel.knobs).items():
        files[f"{node}/{attribute}"] = f"{text}\n"
    files[f"{node}/diskseq"] = f"{kernel.sequences[disk.name]}\n"
    files[f"{DATA}/b{disk.dev[0]}:{disk.dev[1]}"] = _udev_disk(disk, kernel)
    if (whole := holder_of(kernel, disk.name, parts=False)) and not disk.partitions:
        files[f"{node}/holders/{whole}"] = ""
    for part in disk.partitions:
        name = disk.partition_name(part.number)
        dev = f"{disk.dev[0]}:{disk.dev[1] + part.number}"
        links[f"{BLOCK}/{name}"] = f"{disk.path}/{name}"
        files[f"/dev/{name}"] = ""
        for where in (f"{BLOCK}/{name}", f"{node}/{name}"):
            files[f"{where}/dev"] = f"{dev}\n"
            files[f"{where}/partition"] = f"{part.number}\n"
            files[f"{where}/start"] = f"{part.start}\n"
            files[f"{where}/size"] = f"{part.sectors}\n"
            files[f"{where}/ro"] = "0\n"
        if holder := holder_of(kernel, name):
            files[f"{BLOCK}/{name}/holders/{holder}"] = ""
        files[f"{DATA}/b{dev}"] = _udev_partition(disk, name, kernel)


def _disk_files(disk: SimDisk, knobs: Mapping[str, str]) -> dict[str, str]:
    scheduler = knobs.get(f"{disk.name}/queue/scheduler", "none" if disk.is_nvme else "mq-deadline")
    words = {
        "dev": f"{disk.dev[0]}:{disk.dev[1]}",
        "size": str(disk.sectors),
        "ro": "0",
        "removable": "0",
        "queue/rotational": str(int(disk.rotates)),
        "queue/scheduler": " ".join(f"[{each}]" if each == scheduler else each for each in SCHEDULERS),
        "queue/nr_requests": "1023" if disk.is_nvme else "64",
        "queue/read_ahead_kb": "128",
        "queue/logical_block_size": "512",
        "queue/physical_block_size": "512",
        "queue/optimal_io_size": "0",
        "queue/discard_granularity": "512",
        "queue/discard_max_bytes": "2147450880",
        "queue/write_cache": "write back",
        "device/model": disk.model,
    }
    if disk.is_nvme:
        words |= {"device/serial": disk.serial, "device/transport": "pcie", "wwid": disk.wwn}
    else:
        words |= {"device/vendor": "ATA", "device/queue_depth": "32", "device/timeout": "30"}
    return {key: knobs.get(f"{disk.name}/{key}", text) if key != "queue/scheduler" else text
            for key, text in words.items()}  # fmt: skip


def _identity(disk: SimDisk) -> list[str]:
    model = disk.model.replace(" ", "_")
    bus = "nvme" if disk.is_nvme else "ata"
    return [
        f"E:ID_BUS={bus}",
        f"E:ID_MODEL={model}",
        f"E:ID_SERIAL={model}_{disk.serial}",
        f"E:ID_SERIAL_SHORT={disk.serial}",
        f"E:ID_WWN={disk.wwn}",
    ]


def _udev_disk(disk: SimDisk, kernel: SimKernel) -> str:
    model = disk.model.replace(" ", "_")
    bus = "nvme" if disk.is_nvme else "ata"
    lines = [f"S:disk/by-id/{bus}-{model}_{disk.serial}", *_identity(disk)]
    if disk.partitions:
        lines.append("E:ID_PART_TABLE_TYPE=gpt")
    lines += _signature(kernel, disk.name)
    return "\n".join(lines) + "\n"


def _signature(kernel: SimKernel, device: str) -> list[str]:
    """Return what udev knows of md's superblock on a device, whether an array runs with it or not."""
    found = superblock_of(kernel, device)
    if found is None:
        return []
    array, _ = found
    return [
        "E:ID_FS_TYPE=linux_raid_member",
        f"E:ID_FS_UUID={_dashed(array.uuid)}",
        f"E:ID_FS_LABEL=demo:{array.label}",
        "E:ID_FS_USAGE=raid",
    ]


def _udev_partition(disk: SimDisk, name: str, kernel: SimKernel) -> str:
    model, part = disk.model.replace(" ", "_"), name.removeprefix(disk.name).removeprefix("p")
    bus = "nvme" if disk.is_nvme else "ata"
    lines = [f"S:disk/by-id/{bus}-{model}_{disk.serial}-part{part}", *_identity(disk)]
    if signature := _signature(kernel, name):
        lines += signature
    elif name in {BACKING, CACHE}:
        lines += ["E:ID_FS_TYPE=bcache", "E:ID_FS_USAGE=other"]
    return "\n".join(lines) + "\n"


def _dashed(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _array(files: dict[str, str], links: dict[str, str], array: SimArray, kernel: SimKernel) -> None:
    node = f"{BLOCK}/{array.name}"
    major, minor = array.dev
    links[node] = f"../../devices/virtual/block/{array.name}"
    links[f"/dev/md/{array.label}"] = f"../{array.name}"
    files[f"/dev/{array.name}"] = ""
    files[f"{node}/dev"] = f"{major}:{minor}\n"
    files[f"{node}/size"] = f"{array.array_kib * 2}\n"
    files[f"{node}/ro"] = "0\n"
    files[f"{node}/removable"] = "0\n"
    files[f"{node}/queue/rotational"] = "0\n"
    files[f"{node}/queue/logical_block_size"] = "512\n"
    files[f"{node}/queue/optimal_io_size"] = (
        f"{array.array_kib * array.chunk_kib * 1024 // array.component_kib}\n"
    )
    files[f"{DATA}/b{major}:{minor}"] = _udev_array(array)
    for member in array.members:
        files[f"{node}/slaves/{member.device}"] = ""
        for attribute, text in _member_files(array, member).items():
            files[f"{node}/md/dev-{member.device}/{attribute}"] = f"{text}\n"
        links[f"{node}/md/dev-{member.device}/block"] = f"../../../{member.device}"
        if member.slot is not None and not member.replacement:
            links[f"{node}/md/rd{member.slot}"] = f"dev-{member.device}"
    for attribute, text in _array_files(array, kernel).items():
        files[f"{node}/md/{attribute}"] = f"{text}\n"


def _member_files(array: SimArray, member: SimMember) -> dict[str, str]:
    return {
        "state": member.state,
        "slot": "none" if member.slot is None else str(member.slot),
        "errors": "0",
        "offset": str(array.offset_sectors),
        "new_offset": str(array.offset_sectors + (array.reshape.shift_sectors if array.reshape else 0)),
        "size": str(array.component_kib),
        "recovery_start": "none" if member.in_sync else str(member.recovered_sectors),
        "bad_blocks": "",
    }


def _changing(new: int, old: int | None) -> str:
    """Return a value; while a reshape changes it, the old one behind it."""
    return str(new) if old is None or old == new else f"{new} ({old})"


def _array_files(array: SimArray, kernel: SimKernel) -> dict[str, str]:
    old = array.reshape
    words = {
        "uuid": _dashed(array.uuid),
        "level": array.level,
        "layout": _changing(array.layout, old.layout if old else None),
        "chunk_size": _changing(array.chunk_kib * 1024, old.chunk_kib * 1024 if old else None),
        "component_size": str(array.component_kib),
        "array_size": "default" if array.clip_kib is None else str(array.clip_kib),
        "metadata_version": array.metadata,
        "raid_disks": _changing(array.raid_disks, old.raid_disks if old else None),
        "array_state": _array_state(array),
        "reshape_direction": "backwards" if array.backwards else "forwards",
        "resync_start": "none",
        "safe_mode_delay": "0.204",
        "max_read_errors": array.knobs.get("max_read_errors", "20"),
        "consistency_policy": "bitmap" if array.bitmap else _POLICIES.get(array.level, "resync"),
        "bitmap/location": "+8" if array.bitmap else "none",
        "bitmap/chunksize": "67108864" if array.bitmap else "0",
    }
    if not array.redundant:
        return words
    if array.level == "raid5":
        words |= {key: array.knobs.get(key, text) for key, text in _PARITY_KNOBS.items()}
    low, high = kernel.limits(array)
    del words["resync_start"]  # a live file
    return words | {
        "degraded": str(array.degraded),
        "sync_action": array.action,
        "last_sync_action": array.last_action,
        "sync_speed_min": f"{low} ({'system' if array.low_kib_s is None else 'local'})",
        "sync_speed_max": f"{high} ({'system' if array.high_kib_s is None else 'local'})",
        "sync_min": str(array.sync_min),
        "sync_max": "max" if array.sync_max is None else str(array.sync_max),
        "sync_force_parallel": str(int(array.parallel)),
    }


def _array_state(array: SimArray) -> str:
    if array.broken:
        return "broken"
    return "active" if array.load.write_iops or array.recovery_cp is not None else "clean"


def _udev_array(array: SimArray) -> str:
    colons = ":".join(array.uuid[start : start + 8] for start in range(0, 32, 8))
    return "\n".join(
        (
            f"S:md/{array.label}",
            f"S:disk/by-id/md-name-demo:{array.label}",
            f"S:disk/by-id/md-uuid-{colons}",
            f"E:MD_LEVEL={array.level}",
            f"E:MD_DEVICES={array.raid_disks}",
            f"E:MD_METADATA={array.metadata}",
            f"E:MD_UUID={colons}",
            f"E:MD_NAME=demo:{array.label}",
            f"E:MD_DEVNAME={array.label}",
            *(
                ("E:ID_FS_TYPE=LVM2_member",)
                if array.name in PHYSICAL
                else (f"E:ID_FS_TYPE={array.holds}", f"E:ID_FS_LABEL={array.label}")
                if array.holds
                else ()
            ),
            "",
        )
    )
