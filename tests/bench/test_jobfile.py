"""Job files of one's own: taken as they are, or refused whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.bench.jobfile import JobFile, judge_job_file
from raidtui.model.plan import Refusal

CACHE = """
; a study of caches
[global]
ioengine=libaio
direct=1
iodepth=8
numjobs=2
size=2g
[cache]
rw=randread
random_distribution=zipf:1.2
time_based
runtime=60
"""
OUTSIDE = (
    ", outside the folder that raidtui creates for the run; use a relative path, and give the folder"
    " with --directory"
)


def test_taken_as_it_is() -> None:
    assert judge_job_file("cache.fio", CACHE) == JobFile(
        name="cache.fio", text=CACHE, writes=False, size_bytes=4 << 30, by_time=True
    )
    wall = "[read]\nsize=1m\nrw=randread\n[write]\nstonewall\nsize=1m\nrw=randwrite\n"
    assert judge_job_file("x", wall) == JobFile(name="x", text=wall, writes=True, size_bytes=2 << 20)
    assert judge_job_file("x", "[a]\nrw=write\n") == JobFile(name="x", text="[a]\nrw=write\n", writes=True)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "x has no job; a job starts with its name in [brackets]"),
        ("[global]\nrw=read", "x has no job; a job starts with its name in [brackets]"),
        ("[a]\nfilename=/dev/sda", "x, [a]: filename is /dev/sda" + OUTSIDE),
        ("[a]\nfilename=b:../c", "x, [a]: filename is ../c" + OUTSIDE),
        ("[a]\ndirectory=d/../..", "x, [a]: directory is d/../.." + OUTSIDE),
        ("[global]\nfilename=/etc/x\n[a]\nrw=read", "x, [a]: filename is /etc/x" + OUTSIDE),
        ("[a]\nexec_prerun=reboot", "x, [a]: exec_prerun runs a shell command; leave it out"),
        ("[a]\nthread=0", "x, [a]: thread makes jobs processes, which may outlive fio; leave it out"),
        (
            "[a]\nwrite_bw_log=log",
            "x, [a]: write_bw_log writes logs of its own; leave it out: raidtui keeps the samples",
        ),
        ("[a]\nsize=${SIZE}", "x, [a]: size contains a variable; write its value"),
        ("include other.fio\n[a]\nrw=read", "x, [a] includes another file; copy its contents into this file"),
        ("[a]\nrw=randtrim", "x, [a] discards what is there (rw=randtrim); leave that job out"),
        ("[a]\nreadwrite=trimwrite", "x, [a] discards what is there (rw=trimwrite); leave that job out"),
        (
            "[a]\nioengine=rdma",
            (
                "x, [a]: the engine rdma is not supported; choose io_uring, libaio,"
                " mmap, posixaio, psync, pvsync, pvsync2, sync, vsync"
            ),
        ),
    ],
)
def test_refusals(lines: str, sentence: str) -> None:
    found = judge_job_file("x", lines)
    assert isinstance(found, Refusal)
    assert found.sentence == sentence


def test_options_stand_for_the_jobs_after_them() -> None:
    """As fio reads it: a second [global] changes what comes later."""
    found = judge_job_file("x", "[global]\nrw=read\n[a]\nsize=1m\n[global]\nrw=write\n[b]\nsize=1m\n")
    assert isinstance(found, JobFile)
    assert found.writes
    assert judge_job_file("x", "[a]\nrw=randread:8\nthread=1\n") == JobFile(
        name="x", text="[a]\nrw=randread:8\nthread=1\n", writes=False
    )


@given(st.text(max_size=300))
def test_anything_at_all(text: str) -> None:
    assert isinstance(judge_job_file("x", text), JobFile | Refusal)


@given(
    st.sampled_from(["/", "/etc/x", "../x", "a/../../b", "ok:/x"]), st.sampled_from(["filename", "directory"])
)
def test_no_exit(path: str, key: str) -> None:
    assert isinstance(judge_job_file("x", f"[a]\nrw=write\n {key} = {path}\n"), Refusal)
