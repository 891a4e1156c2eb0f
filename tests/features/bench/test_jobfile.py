"""Job files of one's own: fio is given a new one, of options and values on a list, or none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.features.bench.fio_options import ALIASES, FORMS, REFUSED, sizes_in, why_refused
from raidtui.features.bench.jobfile import JobFile, judge_job_file
from raidtui.model.plan import Refusal

CACHE = """
; a study of caches
[global]
ioengine=libaio   # after a value, too
direct=1
iodepth=8
numjobs=2
size=2g
[cache]
rw=randread
random_distribution=zipf:1.2
time_based
timeout=60
"""
WRITTEN = """[cache]
ioengine=libaio
direct=1
iodepth=8
numjobs=2
size=2g
rw=randread
random_distribution=zipf:1.2
time_based=1
runtime=60
"""
MIB, GIB = 1 << 20, 1 << 30


def judged(text: str) -> JobFile:
    found = judge_job_file("x", text)
    assert isinstance(found, JobFile), found
    return found


def why(text: str) -> str:
    found = judge_job_file("x", text)
    assert isinstance(found, Refusal), found
    return found.sentence


def test_a_new_file_is_written() -> None:
    assert judge_job_file("cache.fio", CACHE) == JobFile(
        name="cache.fio",
        text=WRITTEN,
        writes=False,
        size_bytes=4 * GIB,
        written_bytes=4 * GIB,  # what is read is laid out before
        jobs=(
            (
                "Job cache: random read 4K, depth 8, 2 jobs; it works on 2 GiB in files of its own,"
                " and only reads."
            ),
        ),
    )


def test_options_stand_for_the_jobs_after_them() -> None:
    """As fio reads it: a second [global] changes what comes later, and [globally] is one."""
    text = "[global]\nrw=read\nsize=1m\n[a]\n[globally]\nreadwrite=write\n[b]\n"
    assert judged(text).text == "[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\n"
    assert judged("[a]\r\nrw=randread:8\r\nsize=1m\r\nthread=1\r\n").text == (
        "[a]\nrw=randread:8\nsize=1m\nthread=1\n"
    )


@pytest.mark.parametrize(
    ("options", "files_bytes", "written_bytes"),
    [
        ("rw=read\nsize=1m", MIB, MIB),
        ("rw=write\nsize=1m", MIB, MIB),
        ("rw=write\nsize=1kib", 1000, 1000),  # fio's kib is 1000, and its k is 1024
        ("rw=randwrite\nsize=1m\noverwrite=1\nloops=3", MIB, 4 * MIB),
        ("rw=randrw\nsize=4m\nrwmixread=75", 4 * MIB, 5 * MIB),
        ("rw=randrw\nsize=4m\nbs=4k,64k", 4 * MIB, 8 * MIB),  # the share of bytes is not that of requests
        ("rw=write\nsize=1m\nnumjobs=3", 3 * MIB, 3 * MIB),
        ("rw=write\nsize=1m\nnumjobs=3\nfilename=one", MIB, 3 * MIB),
        ("rw=write\nfilesize=1m\nnrfiles=4\nio_size=16m", 4 * MIB, 16 * MIB),
        ("rw=write\nsize=1m\noffset=2m", 3 * MIB, MIB),
        ("rw=write\nbs=64k\nsize=1m\nnumber_ios=2", MIB, 2 << 16),
        ("rw=write\nsize=1m\ntime_based\nruntime=1m\nrate=1m", MIB, 60 * MIB),
        ("rw=write\nsize=1m\ntime_based\nruntime=10\nramp_time=5s\nrate_iops=1,2", MIB, 15 * 2 * 4096),
        ("rw=write\nsize=1m\ntime_based\nruntime=2", MIB, 1_000_000_000),
        ("rw=write\nsize=1m\ntime_based=0\nruntime=2", MIB, MIB),
    ],
)
def test_what_a_run_writes(options: str, files_bytes: int, written_bytes: int) -> None:
    found = judged(f"[a]\n{options}\n")
    assert (found.size_bytes, found.written_bytes) == (files_bytes, written_bytes)
    assert found.by_time == (written_bytes == 1_000_000_000)
    assert found.writes == ("rw=read" not in options)


def test_a_file_of_two_jobs_is_one() -> None:
    """The first one lays it out, the second one writes to it."""
    found = judged("[global]\nfilename=d\nsize=1m\n[a]\nrw=read\n[b]\nstonewall\nrw=write\ndirect=1\n")
    assert (found.size_bytes, found.written_bytes, found.writes) == (MIB, 2 * MIB, True)
    assert found.jobs[1] == "Job b: sequential write 4K; it works on 1 MiB in d, and writes at most 1 MiB."


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "x has no job; a job starts with its name in [brackets]"),
        ("[global]\nrw=read", "x has no job; a job starts with its name in [brackets]"),
        ("rw=read\n[a]", "x, line 1 is before the first [job]; begin with [global]"),
        ("[a]\nrw=read", "x, [a]: no size is given; give one, such as size=500m"),
        ("[a]\nexec_prerun=reboot", "x, line 2, [a]: exec_prerun runs a shell command; leave it out"),
        (
            "[global]\nmem=mmap:/x\n[a]",
            "x, line 2, [global]: mem may name a file, which fio creates and cuts to length; leave it out",
        ),
        (
            "[a]\ndirectory=d",
            (
                "x, line 2, [a]: directory names files elsewhere: raidtui creates a folder for the run;"
                " leave it out, and give the folder with --directory"
            ),
        ),
        (
            "[a]\nfilename=/dev/sda",
            (
                "x, line 2, [a]: filename is /dev/sda; write names of letters, digits, dots and dashes:"
                " raidtui creates the files in a folder of their own"
            ),
        ),
        (
            "[a]\nthread=0",
            "x, line 2, [a]: thread is 0; write 1: jobs that are processes may outlive fio",
        ),
        ("[a]\n size = ${SIZE}", "x, line 2, [a]: size contains a variable; write its value"),
        ("[a]\nsize=50%", "x, line 2, [a]: size is 50%; write a size such as 500m"),
        ("[a]\nsize", "x, line 2, [a]: size is empty; write a size such as 500m"),
        (
            "[a]\nSIZE=1m",
            "x, line 2, [a]: SIZE is not an option of fio, whose options are in lower case; write size",
        ),
        ("[a]\nsize=1m\nsize=2m", "x, line 3, [a]: size is given a second time; leave one of them out"),
        (
            "[a]\nbs=4k\nblocksize=8k",
            "x, line 3, [a]: blocksize is given a second time; leave one of them out",
        ),
        ("[a]\nbs=65m", "x, line 2, [a]: bs is 65m; write sizes such as 4k, at most 64m"),
        ("[a]\nrw=randtrim", "x, line 2, [a] discards what is there (rw=randtrim); leave that job out"),
        (
            "[a]\nreadwrite=trimwrite",
            "x, line 2, [a] discards what is there (rw=trimwrite); leave that job out",
        ),
        (
            "[a]\nsomething=1",
            "x, line 2, [a]: something is not among the options that raidtui passes on to fio; leave it out",
        ),
        (
            "[a]\nioengine=rdma",
            (
                "x, line 2, [a]: ioengine is rdma; write one of io_uring, libaio,"
                " mmap, posixaio, psync, pvsync, pvsync2, sync, vsync"
            ),
        ),
        ("[a]\nsize=1m\0", "x, line 2 contains control characters; write it as plain text"),
        ("[a]\n; \x1b[2J", "x, line 2 contains control characters; write it as plain text"),
        (f"[a]\n;{'.' * 8191}exec_prerun=x", "x, line 2 is longer than 1000 characters; shorten it"),
        (
            "[a]\nsize=1m\nbs=64m\niodepth=64",
            (
                "x: block size, iodepth and numjobs together take 4 GiB of memory; choose smaller ones: 1 GiB"
                " are the maximum"
            ),
        ),
    ],
)
def test_refusals(lines: str, sentence: str) -> None:
    assert why(lines) == sentence


@pytest.mark.parametrize("line", ["[a]x]", "[b", "[]", "[../x]", "[a/b]", "\ufeff[a]"])
def test_names_of_jobs_that_fio_reads_otherwise(line: str) -> None:
    assert "line 1" in why(f"{line}\nsize=1m\n")


@pytest.mark.parametrize(
    "line", ["include x", "include:/x", "includeX/x", " \tinclude\t/x", "include", "include=x"]
)
def test_includes_in_all_spellings(line: str) -> None:
    sentence = "x, line 3, [a] includes another file; copy its contents into this file"
    assert why(f"[a]\nsize=1m\n{line}\n") == sentence


HOSTILE = (
    "exec_prerun=touch x",
    "exec_postrun=touch x",
    "ioengine=exec",
    "program=/bin/touch",
    "ioengine=external:/x.so",
    "ioengine=/x.so",
    "ioengine=psyncx",
    "ioengine=net",
    "iomem=mmapshared:/dev/sda",
    "mem=mmaphuge:/proc/self/mem",
    "mem=malloc",
    "filename=/dev/sda",
    "filename=../x",
    "filename=ok:../x",
    "filename=ok\\:/x",
    "filename=-",
    "filename=.",
    "filename=a#/../b/..//c",
    "filename=a/b",
    "filename_format=/x/$jobnum",
    "opendir=/etc",
    "directory=/etc",
    "write_iolog=x",
    "write_bw_log=x",
    "write_lat_log=x",
    "write_iops_log",
    "write_hist_log=x",
    "read_iolog=x",
    "merge_blktrace_file=x",
    "ioscheduler=none",
    "cgroup=x",
    "uid=0",
    "gid=0",
    "nice=-20",
    "prioclass=1",
    "trim_percentage=9",
    "verify_pattern='/etc/shadow'",
    "buffer_pattern='/etc/shadow'",
    "verify_state_load=1",
    "unlink=1",
    "fill_device=1",
    "size=$mb_memory",
    "size=(4*1024)",
    "bs=4k;8k/",
    "zonemode=zbd",
    "ignore_error=EIO",
    "numjobs=100000",
    "nrfiles=99999",
    "iodepth=99999999",
    "runtime=99999d",
    "size=1\u212a",  # KELVIN SIGN, which becomes a k where case is ignored
    "siz=1m",
    "exec_preru=x",
    "Exec_prerun=x",
)


@pytest.mark.parametrize("section", ["[global]\n{}\n[a]\n", "[a]\n{}\n", "[b]\nsize=1m\n[a]\n {} \n"])
@pytest.mark.parametrize("line", [line for line in HOSTILE if "#" not in line and ";" not in line])
def test_hostile_lines_are_refused(line: str, section: str) -> None:
    name = line.partition("=")[0]
    sentence = why(section.format(line))
    assert re.match(rf"x, line [0-9], \[(a|global)\]: {name} ", sentence), sentence
    assert "; " in sentence, "what to do"


def test_a_line_ends_where_fio_cuts_it() -> None:
    """Anywhere at the first of ; and #: what follows is not written."""
    assert judged("[a]\nsize=1m\nfilename=a#/../b\nbs=4k;8k/").text == "[a]\nsize=1m\nfilename=a\nbs=4k\n"


def test_tables() -> None:
    """No option is both passed on and refused, and aliases lead to one that is passed on."""
    assert not FORMS.keys() & REFUSED.keys()
    assert set(ALIASES.values()) <= FORMS.keys()
    assert not ALIASES.keys() & (FORMS.keys() | REFUSED.keys())
    assert why_refused("frobnicate") == (
        "is not among the options that raidtui passes on to fio",
        "leave it out",
    )
    assert sizes_in("4k/60:64K/40,1m") == (4096, 1 << 16, MIB)


def assert_harmless(text: str) -> None:
    """Read a file as fio does: sections, and options that are passed on, of printable ASCII; nothing else."""
    assert re.fullmatch(r"[\n -~]*", text)
    for line in text.splitlines():
        if line.startswith("["):
            assert re.fullmatch(r"\[[A-Za-z0-9][A-Za-z0-9 ._+-]*\]", line)
            assert not line.startswith("[global")
            continue
        name, equals, value = line.partition("=")
        assert equals
        assert FORMS[name].read(value) == value
        assert not set(value) & set("$'\"\\;#%[]"), "what fio gives a meaning"
        assert name == "description" or "/" not in value or name == "bssplit"
        assert len(line) < 4000


_LINES = st.sampled_from(
    (
        *CACHE.splitlines(),
        *HOSTILE,
        "[global]",
        "[b]",
        "include /x",
        "includes:/x",
        "bssplit=4k/60:64k/40",
        "description=a, b/c",
        "filename=a:b",
        "size=1m",
        "rw=randrw:2",
    )
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Lines, good and hostile, in any order, with single characters changed."""
    text = list("\n".join(draw(st.lists(_LINES, max_size=12))))
    for _ in range(draw(st.integers(0, 4))):
        if text:
            place = draw(st.integers(0, len(text) - 1))
            text[place] = draw(
                st.one_of(st.sampled_from("[]=;#:/$ \t\n\r\0'\\%,-"), st.characters(), st.just(""))
            )
    return "".join(text)


@given(st.one_of(mutated(), st.text(max_size=300), mutated().map(lambda text: f"[a]\nsize=1m\n{text}")))
def test_nothing_outside_of_the_list_is_written(text: str) -> None:
    found = judge_job_file("x", text)
    if isinstance(found, Refusal):
        assert found.remedy
        return
    assert_harmless(found.text)
    again = judged(found.text)
    assert again == found, "what is written is understood the same way"
