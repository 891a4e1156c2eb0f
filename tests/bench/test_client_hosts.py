"""Hosts that measure together: how they are typed, what fio is given for them, what it reported."""

from pathlib import Path

import pytest

from raidtui.bench.client_hosts import (
    ClientHost,
    answers,
    client_options,
    find_clients,
    read_host,
    silent_hosts,
)
from raidtui.bench.place import Place
from raidtui.bench.run.fio_stream import Dump, JobPart, Latency, Side, figures
from raidtui.bench.workload import Workload
from raidtui.model.plan import Refusal

WORK = Workload(rw="randread", block_bytes=4096, size_bytes=1 << 20, runtime_s=5)


def reached(host: ClientHost) -> str:
    del host
    return ""


@pytest.mark.parametrize(
    ("word", "name", "port", "words", "option"),
    [
        ("web1", "web1", 8765, "web1", "--client=ip:web1,8765"),
        ("web1.example.org:9000", "web1.example.org", 9000, None, "--client=ip:web1.example.org,9000"),
        ("192.0.2.7", "192.0.2.7", 8765, "192.0.2.7", "--client=ip:192.0.2.7,8765"),
        ("[2001:db8::7]", "2001:db8::7", 8765, "[2001:db8::7]", "--client=ip6:2001:db8::7,8765"),
        ("[fe80::1%eth0]:81", "fe80::1%eth0", 81, None, "--client=ip6:fe80::1%eth0,81"),
    ],
)
def test_a_host(word: str, name: str, port: int, words: str | None, option: str) -> None:
    host = read_host(word)
    assert host == ClientHost(name=name, port=port)
    assert host is not None
    assert (host.words, host.option) == (words or word, option)
    assert read_host(host.words) == host


@pytest.mark.parametrize(
    "word", ["", "-x", "a b", "web1:0", "web1:65536", "web1:", "2001:db8::7", "a,1", "a;b"]
)
def test_what_is_no_host(word: str) -> None:
    assert read_host(word) is None


@pytest.mark.parametrize(
    ("words", "folder", "sentence"),
    [
        (("a", "a:8765"), "/srv", "a:8765 is given twice; give it once"),
        (("a,b",), "/srv", "a,b is not a host; give HOST, HOST:PORT, or [ADDRESS]:PORT"),
        (
            ("a",),
            "srv",
            (
                "srv is not the path of a folder on each of the hosts; give one with --directory: an absolute"
                " path of letters, digits and ._+@-"
            ),
        ),
        (
            ("a",),
            "/srv/$x",
            (
                "/srv/$x is not the path of a folder on each of the hosts; give one with --directory: an"
                " absolute path of letters, digits and ._+@-"
            ),
        ),
        (tuple(f"h{n}" for n in range(65)), "/srv", "65 hosts are given; give at most 64"),
    ],
)
def test_refused(words: tuple[str, ...], folder: str, sentence: str) -> None:
    found = find_clients(words, folder, reached)
    assert isinstance(found, Refusal)
    assert found.sentence == sentence


def test_folders_that_lead_elsewhere() -> None:
    for folder in ("/srv/../etc", "/a:/b", "/srv\n[other]", ""):
        assert isinstance(find_clients(("a",), folder, reached), Refusal), folder


def test_one_that_does_not_answer() -> None:
    """All of them must, before anything is asked of one."""
    asked: list[str] = []

    def reach(host: ClientHost) -> str:
        asked.append(host.name)
        return "Connection refused" if host.name == "b" else ""

    found = find_clients(("a", "b", "c"), "/srv", reach)
    assert isinstance(found, Refusal)
    assert found.sentence == (
        "b does not answer on port 8765: Connection refused; start fio --server there, of the same version,"
        " and let this host reach it"
    )
    assert asked == ["a", "b"]
    assert answers(ClientHost(name="127.0.0.1", port=1)) != ""


def test_each_host_gets_a_job_file(tmp_path: Path) -> None:
    """Files have names of their own on each host, and fio removes them; nothing else is asked of it."""
    place = find_clients(("a", "b:9000"), "/mnt/nfs/", reached)
    assert isinstance(place, Place)
    assert place.words == "/mnt/nfs on a, b:9000"
    options = client_options(place, WORK, "raidtui-1-0", tmp_path)
    assert options == ("--client=ip:a,8765", "host-0.fio", "--client=ip:b,9000", "host-1.fio")
    lines = (tmp_path / "host-1.fio").read_text().split("\n")
    assert lines[:7] == [
        "[global]",
        "thread=1",
        "directory=/mnt/nfs",
        "unique_filename=0",
        "unlink=1",
        "filename_format=raidtui-1-0-1.$jobnum.$filenum",
        "[bench]",
    ]
    assert {
        "rw=randread",
        "bs=4096",
        "size=1048576",
        "runtime=5s",
        "time_based=1",
        "group_reporting=1",
    } < set(lines)
    assert not [line for line in lines if line.startswith(("--", "name=", "filename=", "exec"))]


def test_hosts_that_reported_nothing() -> None:
    place = Place(hosts=("a", "b:9000", "[::1]"), folder="/srv")
    assert silent_hosts(place, [("a", 8765), ("b", 9000), ("::1", 8765)]) == ""
    assert silent_hosts(place, [("b", 8765), ("::1", 8765)]) == "a and b:9000 reported no figures"


def side(ios: int, bins: dict[int, int]) -> Side:
    return Side(
        io_bytes=ios * 4096,
        total_ios=ios,
        runtime=1000,
        iops=float(ios),
        clat_ns=Latency(mean=10.0, bins=bins),
    )


def test_figures_are_fios_sums() -> None:
    """But for the percentiles, of which fio has no sum: they are those of all requests of all hosts."""
    parts = [
        JobPart(jobname="bench", hostname="a", port=1, read=side(100, {10: 100})),
        JobPart(jobname="bench", hostname="b", port=1, read=side(300, {20: 299, 900: 1})),
    ]
    total = Side(io_bytes=400 * 4096, total_ios=400, runtime=1010, iops=396.04, bw_bytes=1622180.0)
    read, write = figures(Dump(client_stats=(*parts, JobPart(jobname="All clients", read=total))))
    assert (read.ios, read.iops, read.bytes_s, read.size_bytes) == (400, 396.04, 1622180.0, 400 * 4096)
    assert (read.p50_ns, read.p99_ns, read.p999_ns) == (20, 20, 900)
    assert write.ios == 0
    read, _ = figures(Dump(client_stats=(parts[0],)))  # of one host there is no sum
    assert (read.ios, read.iops) == (100, 100.0)
