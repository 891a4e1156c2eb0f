"""The options of fio that a job file may have, the form of their values, and why others are refused. Pure.

Names and values are taken exactly as fio takes them (fio 3.1 to 3.42: options.c, parse.c): names are
case-sensitive, ``k`` is 1024 and ``kib`` is 1000. What is not listed here is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

ENGINES = ("io_uring", "libaio", "mmap", "posixaio", "psync", "pvsync", "pvsync2", "sync", "vsync")
"""The engines for files that start nothing and need no network."""
MOST_BLOCK_BYTES = 64 << 20
_SIZE = r"[0-9]{1,12}(?:[kKmMgGtTpP](?:[iI]?[bB])?)?"  # not (?i:...), which takes U+212A for a k
_TIME = r"([0-9]{1,9})(us|usec|ms|msec|s|sec|m|min|h|hour|d|day)?"
_FLOAT = r"[0-9]{1,3}(?:\.[0-9]{1,6})?"
_PART = rf"{_SIZE}/[0-9]{{0,3}}(?::{_SIZE}/[0-9]{{0,3}}){{0,15}}"
_FILE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SECONDS = {"u": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}


class ValueForm(Struct, frozen=True):
    """The form of an option's value.

    Args:
        wants: what is accepted, a phrase.
        pattern: what the whole value matches.
        accepts: whether a value that matches lies within its limits.
        empty: what an option without a value means; "": it needs one.
    """

    wants: str
    pattern: str
    accepts: Callable[[str], bool] = bool
    empty: str = ""

    def read(self, text: str) -> str | None:
        """Return a value as it is written to fio's file, or None where it is not accepted."""
        value = text or self.empty
        return value if re.fullmatch(self.pattern, value) and self.accepts(value) else None


def sizes_in(text: str) -> tuple[int, ...]:
    """Return all sizes of a value, in bytes: of ``4k,8k``, ``4k-64k`` and ``4k/60:64k/40``; "" is 0."""
    return tuple(_bytes(each.partition("/")[0]) for each in re.split("[,:-]", text))


def _bytes(text: str) -> int:
    found = re.fullmatch(r"([0-9]+)([kmgtp]?)(.*)", text.lower())
    if found is None:
        return 0
    return int(found[1]) * int((1000 if found[3] == "ib" else 1024) ** _POWERS[found[2]])


def seconds_in(text: str) -> float:
    """Return the seconds of ``90``, ``90s``, ``500ms`` or ``2m``; "" is 0."""
    found = re.fullmatch(_TIME, text)
    if found is None:
        return 0.0
    unit = found[2] or ""
    return int(found[1]) * next(_SECONDS[each] for each in (unit[:2], unit[:1]) if each in _SECONDS)


def _count(least: int, most: int) -> ValueForm:
    return ValueForm(
        f"a number from {least} to {most}", "[0-9]{1,10}", lambda text: least <= int(text) <= most
    )


def _one_of(*words: str, empty: str = "") -> ValueForm:
    return ValueForm(f"one of {', '.join(words)}", "|".join(map(re.escape, words)), empty=empty)


_SWITCH = ValueForm("0 or 1", "[01]", empty="1")
_ANY = _count(0, 1 << 31)
_PERCENT = _count(0, 100)
_ONE_SIZE = ValueForm("a size such as 500m", _SIZE, lambda text: sizes_in(text)[0] > 0)
_PLACE = ValueForm("a size such as 500m", _SIZE)
_SIZES = f"(?:{_SIZE})?(?:,(?:{_SIZE})?){{0,2}}"
_THREE = ValueForm("sizes such as 4k, or 4k,8k for reads and writes", _SIZES)
_DURATION = ValueForm("a time such as 30s", _TIME, lambda text: seconds_in(text) <= 7 * 86400)


def _blocks(pattern: str, example: str) -> ValueForm:
    def accepts(text: str) -> bool:
        found = [each for each in sizes_in(text) if each]
        return bool(found) and max(found) <= MOST_BLOCK_BYTES

    return ValueForm(f"{example}, at most 64m", pattern, accepts)


_FORMS: tuple[tuple[str, ValueForm], ...] = (
    (
        """allrandrepeat bs_unaligned buffered create_fsync create_serialize dedupe_global direct do_verify
        end_fsync exitall fixedbufs force_async fsync_on_close group_reporting hipri invalidate new_group
        nonvectored norandommap nowait overwrite pre_read randrepeat rate_ignore_thinktime refill_buffers
        registerfiles scramble_buffers serialize_overlap softrandommap sqthread_poll stonewall time_based
        uncached userspace_reap verify_fatal zero_buffers""",
        _SWITCH,
    ),
    (
        """fdatasync flow_id flow_sleep fsync iodepth_batch iodepth_batch_complete_max iodepth_low
        iodepth_batch_complete_min number_ios randseed rate_cycle thinktime_blocks verify_backlog
        verify_backlog_batch""",
        _ANY,
    ),
    (
        """buffer_compress_percentage dedupe_percentage dedupe_working_set_percentage hipri_percentage
        percentage_random rwmixread rwmixwrite""",
        _PERCENT,
    ),
    ("iodepth", _count(1, 4096)),
    ("numjobs", _count(1, 128)),
    ("nrfiles openfiles", _count(1, 1024)),
    ("loops", _count(1, 1000)),
    ("flow", _count(0, 1000)),
    ("verify_async", _count(0, 64)),
    ("size filesize io_size", _ONE_SIZE),
    ("offset offset_increment offset_align iomem_align buffer_compress_chunk", _PLACE),
    ("verify_interval verify_offset", _PLACE),
    ("rate rate_iops ba", _THREE),
    ("bs", _blocks(_SIZES, "sizes such as 4k")),
    ("bsrange", _blocks(rf"{_SIZE}-{_SIZE}(?:,{_SIZE}-{_SIZE}){{0,2}}", "a range such as 4k-64k")),
    ("bssplit", _blocks(rf"{_PART}(?:,{_PART}){{0,2}}", "shares such as 4k/60:64k/40")),
    ("runtime ramp_time startdelay latency_target latency_window", _DURATION),
    ("thinktime thinktime_spin thinktime_iotime", _DURATION),
    ("latency_percentile", ValueForm("a percentage", _FLOAT)),
    (
        "random_distribution",
        ValueForm(
            "random, zipf:1.2, pareto:0.9 or normal:20",
            rf"random|(?:zipf|pareto|normal):{_FLOAT}(?::{_FLOAT})?",
        ),
    ),
    (
        "rw",
        ValueForm(
            "read, write, randread, randwrite, rw or randrw",
            f"(?:read|write|randread|randwrite|rw|readwrite|randrw)(?::{_SIZE})?",
        ),
    ),
    ("ioengine", _one_of(*ENGINES)),
    ("fallocate", _one_of("none", "native", "posix", "keep", "truncate", "0", "1")),
    ("sync", _one_of("0", "1", "none", "sync", "dsync", empty="1")),
    ("fadvise_hint", _one_of("0", "1", "none", "random", "sequential")),
    ("dedupe_mode", _one_of("repeat", "working_set")),
    ("file_service_type", _one_of("random", "roundrobin", "sequential")),
    ("io_submit_mode", _one_of("inline", "offload")),
    ("random_generator", _one_of("tausworthe", "lfsr", "tausworthe64")),
    ("rate_process", _one_of("linear", "poisson")),
    ("rw_sequencer", _one_of("sequential", "identical")),
    ("thinktime_blocks_type", _one_of("complete", "issue")),
    (
        "verify",
        _one_of(
            "0", "md5", "crc7", "crc16", "crc32", "crc32c", "crc64", "sha1", "sha256", "sha512", "xxhash"
        ),
    ),
    ("thread", ValueForm("1: jobs that are processes may outlive fio", "1", empty="1")),
    (
        "filename",
        ValueForm(
            "names of letters, digits, dots and dashes: raidtui creates the files in a folder of their own",
            rf"{_FILE}(?::{_FILE}){{0,63}}",
        ),
    ),
    ("description", ValueForm("letters, digits and spaces", "[A-Za-z0-9 ,._()/+-]{1,200}")),
)
FORMS = {name: form for names, form in _FORMS for name in names.split()}
"""The options that are passed on, by the name that fio's own help gives first."""
ALIASES = {
    "blockalign": "ba",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "fileoffset": "offset",
    "io_limit": "io_size",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "iodepth_batch_submit": "iodepth_batch",
    "mem_align": "iomem_align",
    "nr_files": "nrfiles",
    "ratecycle": "rate_cycle",
    "readwrite": "rw",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
}
_REASONS = {
    "runs a shell command": "exec_prerun exec_postrun",
    "runs a program": "program arguments grace_time std_redirect",
    "names files elsewhere: raidtui creates a folder for the run": """
        directory opendir filename_format unique_filename filetype lockfile
    """,
    "replays a log that may name any device": """
        read_iolog read_iolog_chunked merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars
        replay_align replay_no_stall replay_redirect replay_scale replay_skip replay_time_scale
    """,
    "writes a file of its own": """
        write_iolog write_bw_log write_lat_log write_iops_log write_hist_log verify_dump verify_state_save
        error_dump
    """,
    "is for logs, and raidtui keeps the samples": """
        bwavgtime iopsavgtime log_alternate_epoch log_avg_msec log_compression log_compression_cpus
        log_entries log_hist_coarseness log_hist_msec log_issue_time log_max_value log_offset log_prio
        log_store_compressed log_unix_epoch log_window_value per_job_logs
    """,
    "may name a file, which fio creates and cuts to length": "mem iomem",
    "may read any file": "verify_pattern buffer_pattern verify_state_load dp_scheme",
    "changes a setting of the host": """
        ioscheduler cgroup cgroup_weight cgroup_nodelete lockmem hugepage-size fdp fdp_pli plids write_hint
    """,
    "is set by raidtui": """
        nice prio prioclass priohint cmdprio cmdprio_bssplit cmdprio_class cmdprio_percentage uid gid name
        comm allow_file_create create_on_open unlink unlink_each_loop
    """,
    "decides on which CPU it is measured": """
        cpumask cpus_allowed cpus_allowed_policy gtod_cpu numa_cpu_nodes numa_mem_policy sqthread_poll_cpu
        verify_async_cpus clocksource
    """,
    "hides failures": "ignore_error continue_on_error allow_mounted_write",
    "changes figures that raidtui reads": """
        clat_percentiles disable_bw disable_bw_measurement disable_clat disable_lat disable_slat disk_util
        gtod_reduce kb_base lat_percentiles percentile_list slat_percentiles stats unified_rw_reporting
        block_error_percentiles
    """,
    "discards what is there": "num_range trim_backlog trim_backlog_batch trim_percentage trim_verify_zero",
    "may write until the file system is full": "fill_device fill_fs file_append sprandom ramp_size",
    "ends a run early, whose figures are then not whole": """
        exit_what exitall_on_error max_latency rate_iops_min rate_min ratemin
    """,
    "decides when it is steady, and raidtui has --steady": """
        ss steadystate steadystate_duration steadystate_ramp_time
    """,
    "needs files of an earlier run, and there are none": "create_only verify_only verify_write_sequence",
    "is for zoned devices": """
        ignore_zone_limits job_max_open_zones max_open_zones read_beyond_wp zonecapacity zonemode zonerange
        zonesize zoneskip
    """,
    "is for other hosts": """
        bindname hostname http_host interface listen nfs_url port protocol proto uri clustername pool
    """,
    "sends commands of its own to a drive": """
        cmd_type deac readfua sg_write_mode verify_mode write_mode writefua
    """,
}
REFUSED = {name: why for why, names in _REASONS.items() for name in names.split()}
"""Known options that are refused, with the reason; what is in no list is refused as well."""


def why_refused(name: str) -> tuple[str, str]:
    """Return (why, what to do) of an option that is not passed on."""
    if name in REFUSED:
        where = ", and give the folder with --directory" if name == "directory" else ""
        return REFUSED[name], f"leave it out{where}"
    if name.lower() != name and (name.lower() in FORMS or name.lower() in ALIASES):
        return "is not an option of fio, whose options are in lower case", f"write {name.lower()}"
    return "is not among the options that raidtui passes on to fio", "leave it out"
