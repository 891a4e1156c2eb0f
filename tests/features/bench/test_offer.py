"""From what somebody asks for to a schedule: what is refused, what is reported, what must be typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.bench.offer import Offer, make_offer
from raidtui.features.bench.offer_checks import cache_notes
from raidtui.features.bench.option_texts import FieldRefusal, sweep_values
from raidtui.features.bench.place import Place, find_device
from raidtui.features.bench.request import Request
from raidtui.features.bench.schedule import Conditions, Schedule, decode_schedule, encode_schedule
from raidtui.features.bench.workload import Workload, find_preset, refuse_workload, workload_options
from raidtui.host.tools import output_path
from raidtui.jobs.sandbox import NOT_KNOWN, PARTS
from raidtui.model.plan import Refusal
from tests.features.bench.host import DISKS, Host, put_free_disks
from tests.features.bench.records import asking
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.hosts.trees import Syncing, host_tree, raid10

MIB = 1 << 20
READ = Workload(rw="randread", block_bytes=4096, size_bytes=MIB)
WRITE = replace(READ, rw="randwrite")
NAMES = "random-read, random-write, stream-read, stream-write, mixed, standard, hot-spots"
MIXED_WHERE = (
    "where to measure is not given, or given more than once; name a folder (--directory), a device"
    " (--device), or"
)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """A host on which nobody else has devices open."""
    monkeypatch.setattr("raidtui.host.examine.why_busy", lambda *_: "")
    monkeypatch.setattr("os.access", lambda *_: True)
    made = Host()
    put_free_disks(made, "sde", "sdf", "sdg", "sdh")
    return made


def asked(host: Host, *, work: Workload | None = None, **what: Any) -> Offer | Refusal:
    return make_offer(host, Request(**(asking(work) if work is not None else {}) | what))


def offered(host: Host, **what: Any) -> Offer:
    found = asked(host, **what)
    assert isinstance(found, Offer), found
    return found


def refused(host: Host, **what: Any) -> str:
    found = asked(host, **what)
    assert isinstance(found, Refusal)
    return found.sentence


def test_a_preset_in_a_folder(host: Host, tmp_path: Path) -> None:
    offer = offered(host, preset="random-read", size_bytes=20 * MIB, directory=str(tmp_path))
    assert [point["block"] for point in offer.schedule.points] == [
        str(kib * 1024) for kib in (8, 16, 32, 64, 128, 512, 1024, 20000)
    ]
    assert (offer.schedule.title, offer.schedule.preset) == ("random-read by block", "random-read")


def test_one_block_size_of_a_preset(host: Host, tmp_path: Path) -> None:
    offer = offered(
        host, preset="random-read", size_bytes=MIB, blocks=(8192,), directory=str(tmp_path), note="x"
    )
    assert offer.sentences == [
        f"random-read: 1 run on {tmp_path}",
        "  It writes 1 MiB.",
        f"  The disks below {tmp_path} are not known: writes to them are not counted.",
    ]
    assert isinstance(offer.schedule, Schedule)
    assert (offer.schedule.points, offer.schedule.note) == (({},), "x")


def test_what_is_not_said(host: Host, tmp_path: Path) -> None:
    place = {"directory": str(tmp_path)}
    assert refused(host, **place) == (
        f"nothing to measure is given; name a preset ({NAMES}), a job file, or a kind of I/O with its size"
    )
    assert refused(host, preset="mixed", rw="read", **place).startswith(
        "more than one thing to measure is given; name a preset"
    )
    assert refused(host, preset="fast", **place) == f"there is no preset 'fast'; there are: {NAMES}"
    assert refused(host, work=READ).startswith(MIXED_WHERE)
    assert refused(host, work=READ, device="sde", **place).startswith(MIXED_WHERE)
    assert refused(host, work=READ, repeats=0, **place) == (
        "the number of repeats must be between 1 and 5000, not 0"
    )
    assert refused(host, work=READ, blocks=(4096, 4096), **place) == (
        "block has no value, or the same value twice; give each value once"
    )
    assert refused(host, work=READ, blocks=(4096, 8192), repeats=4999, **place) == (
        "that would be 9998 runs; 5000 are the maximum: leave values out"
    )
    assert refused(host, work=READ, blocks=(4096, 4 * MIB), **place) == (
        "a size of 1 MiB is smaller than a block of 4 MiB; choose a larger size"
    )


def test_no_host_and_no_fio(host: Host, tmp_path: Path) -> None:
    host.answers.clear()
    host.put(output_path(("fio", "--version")), "no-tool\nfio is not installed")
    assert refused(host, work=READ, directory=str(tmp_path)) == ("fio is not installed; apt install fio")
    host.live = False
    assert refused(host, work=READ, directory=str(tmp_path)) == (
        "a capture is read-only; leave --root and --demo out"
    )


def test_a_job_file(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "own.fio"
    file.write_text("[a]\nrw=randwrite\nsize=1m\n")
    offer = offered(host, job_file=str(file), directory=str(tmp_path))
    assert (offer.schedule.title, offer.schedule.writes) == ("job file own.fio", True)
    assert offer.notes[:2] == (
        (
            "Job a: random write 4K, through the page cache; it works on 1 MiB in files of its own, and"
            " writes at most 1 MiB."
        ),
        "fio is given a new job file, written from these jobs; their files are removed afterwards.",
    )
    assert offer.cost.sentence.startswith("It writes at most 1 MiB")
    assert offer.room.startswith("Its files take 1 MiB; ")
    assert refused(host, job_file=str(file), depths=(1, 2), directory=str(tmp_path)) == (
        "a job file says itself what is run; change the file itself"
    )
    assert refused(host, job_file=str(file), device="sde") == (
        "a job file runs only in a folder; name one with --directory"
    )


def test_no_job_file(host: Host, tmp_path: Path) -> None:
    def why(path: object) -> str:
        return refused(host, job_file=str(path), directory=str(tmp_path))

    remedy = "give the path of a fio job file"
    assert why(tmp_path / "no") == f"{tmp_path}/no: No such file or directory; {remedy}"
    assert why(tmp_path) == f"{tmp_path} is a folder; {remedy}"
    assert why("/dev/zero") == f"/dev/zero is not a job file: it is not a small text file; {remedy}"
    (tmp_path / "x").write_bytes(b"#" * ((1 << 20) + 1))
    assert why(tmp_path / "x") == f"{tmp_path}/x is not a job file: it is not a small text file; {remedy}"
    assert why("a\0b") == f"a\0b is not a text file; {remedy}"
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    assert why(tmp_path / "x") == f"{tmp_path}/x is not a text file; {remedy}"
    (tmp_path / "x").write_text("[a]\nbs=4k\nexec_prerun=rm\n")
    assert why(tmp_path / "x") == "x, line 3, [a]: exec_prerun runs a shell command; leave it out"


def test_a_job_file_at_home(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.fio").write_text("[a]\nsize=1m\n")
    offer = offered(host, job_file="~/own.fio", directory="~")
    assert (offer.schedule.place.directory, offer.room.partition(";")[0]) == (
        str(tmp_path),
        "Its files take 1 MiB",
    )


def test_a_device_is_only_read(host: Host) -> None:
    offer = offered(host, work=READ, device="md127")
    assert offer.schedule.place.disks == DISKS
    assert not offer.schedule.place.writes
    assert offer.notes == (
        "Blocks that were never written, or were trimmed, read as zeros without any access to the flash.",
    )
    assert refused(host, work=WRITE, device="sde") == (
        "/dev/sde is only read: random write 4K would overwrite its contents; if that is what you want, give"
        " --write, and its serial number with --confirm"
    )
    assert refused(host, work=replace(READ, size_bytes=1 << 40), device="sde") == (
        "/dev/sde has 256 MiB, but 1 TiB are needed; choose a smaller size"
    )


def test_a_device_that_is_written_to(host: Host) -> None:
    """The checks of a new array, and the serial number."""
    assert refused(host, work=WRITE, device="sda", write=True, confirmed=("SSDA0001",)) == (
        "sda is a member of data; choose a free device"
    )
    assert refused(host, work=WRITE, device="sde", write=True) == (
        "it destroys what is on the devices (sde: nothing known); if that is what you want, give"
        " their serial numbers: --confirm=FREE-SDE"
    )
    assert refused(host, work=WRITE, device="sde", write=True, confirmed=("FREE-SDF",)).startswith(
        "it destroys"
    )
    shown = offered(host, work=WRITE, device="sde", write=True, confirmed=None)
    offer = offered(host, work=WRITE, device="sde", write=True, confirmed=("FREE-SDE",))
    assert shown == offer, "what is only shown needs no confirmation"
    assert offer.schedule.place.writes
    assert [(fact.kind, fact.value) for fact in offer.schedule.place.needs] == [
        ("serial", "FREE-SDE"),
        ("size", str(256 * MIB)),
        ("free", ""),
        ("contents", ""),
    ]
    host.put("/run/udev/data/b8:4", "E:ID_SERIAL_SHORT=FREE-SDE\nE:ID_FS_TYPE=LVM2_member\n")
    assert refused(host, work=WRITE, device="sde", write=True, confirmed=("FREE-SDE",)).startswith(
        "sde holds an LVM physical volume"
    )


SCRATCH = ("sde", "sdf", "sdg", "sdh")
TYPED = ("FREE-SDE", "FREE-SDF", "FREE-SDG", "FREE-SDH")


def test_scratch_arrays(host: Host) -> None:
    what: dict[str, Any] = {"work": READ, "scratch": SCRATCH, "chunks": ("one", "16", "512")}
    assert refused(host, **what, confirmed=TYPED[:3]).endswith(
        "if that is what you want, give their serial numbers: --confirm=FREE-SDH"
    )
    host.put("/run/udev/data/b8:5", "E:ID_SERIAL_SHORT=FREE-SDF\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=photos\n")
    offer = offered(host, **what, confirmed=TYPED, repeats=3)
    assert offer.sentences[:3] == [
        "random read 4K by chunk: 9 runs on sde, sdf, sdg, sdh",
        '  lost:  sdf: the ext4 file system "photos"',
        "  It writes 9 MiB, 6 MiB to each of 4 disks.",
    ]
    assert offer.schedule.scratch is not None
    assert len([fact for fact in offer.schedule.scratch.needs if fact.kind == "serial"]) == 4
    assert refused(host, work=READ, scratch=SCRATCH, chunks=("3",), confirmed=TYPED) == (
        "a chunk of 3 KiB is too small; the minimum is 4 KiB"
    )
    assert refused(host, work=READ, scratch=SCRATCH, levels=("raid7",), confirmed=TYPED).startswith(
        "'raid7' is not a level that can be created"
    )
    assert refused(host, **{**what, "work": replace(READ, size_bytes=400 * MIB)}, confirmed=TYPED) == (
        "the smallest of the arrays has 256 MiB, but 400 MiB are needed; choose a smaller size"
    )
    what["chunks"] = ("16", "512")
    assert refused(host, **{**what, "work": replace(READ, size_bytes=511 * MIB)}, confirmed=TYPED) == (
        "the smallest of the arrays has 508 MiB, but 511 MiB are needed; choose a smaller size"
    )
    assert refused(host, work=READ, scratch=("sda", "sdb"), confirmed=TYPED).startswith(
        "sda is a member of data"
    )


def test_knobs(host: Host) -> None:
    offer = offered(host, work=READ, device="md127", knobs=(("queue-depth", ("8", "32")),))
    assert offer.sentences[-1] == "  queue_depth: echo 8 > /sys/class/block/sdd/device/queue_depth"
    assert len([line for line in offer.sentences if "queue_depth: echo 8" in line]) == 4
    assert refused(host, work=READ, device="md127", knobs=(("turbo", ("1",)),)).startswith("there is no knob")


def test_knobs_of_arrays_that_are_yet_to_be_made(host: Host) -> None:
    what: dict[str, Any] = {"work": READ, "scratch": SCRATCH, "confirmed": TYPED}
    cache = ("stripe-cache-size", ("256", "1024"))
    asked_for = (cache, ("scheduler", ("none",)))
    offer = offered(host, **{**what, "scratch": SCRATCH, "levels": ("raid5",)}, knobs=asked_for)
    assert [(axis.label, bool(axis.plans)) for axis in offer.schedule.axes] == [
        ("stripe_cache_size", False),
        ("scheduler", True),
    ]
    assert "  stripe_cache_size: 256, 1024, set on each array once it exists" in offer.sentences
    assert refused(host, **what, knobs=(cache,)) == (
        "raid10 has no stripe_cache_size: only RAID-4, -5 and -6 have it; choose one of these levels"
    )
    offer = offered(host, **what, knobs=(("bitmap", ("none", "internal")),))
    assert list(offer.schedule.points) == [{"bitmap": "none"}, {"bitmap": "internal"}]
    assert ["--bitmap=internal" in plan.steps[-1].argv for plan in offer.arrays] == [False, True]
    assert refused(host, **what, knobs=(("bitmap", ("none", "external")),)) == (
        "'external' is not a kind of bitmap; choose none or internal"
    )


def test_until_it_is_steady(host: Host, tmp_path: Path) -> None:
    offer = offered(host, work=READ, directory=str(tmp_path), conditions=Conditions(steady=True))
    assert (offer.schedule.repeats, offer.schedule.grouped) == (25, True)
    assert offer.sentences[:2] == [
        f"random read 4K: up to 25 runs on {tmp_path}",
        "  It writes at most 1 MiB.",
    ]


def test_notes(host: Host) -> None:
    tree = host_tree(raid10(rebuilding=("sdd",), sync=Syncing(action="recover")))
    host.put("/proc/mdstat", tree.files["/proc/mdstat"])
    for path, text in tree.files.items():
        if "/md127/md/" in path:
            host.put(path, text)
    work = replace(READ, direct=False)
    assert refused(host, work=work, device="md127") == (
        "the machine is not quiet: data runs a recover; wait until it is, or measure in any case:"
        " --no-quiet-check"
    )
    notes = offered(host, work=work, device="md127", conditions=Conditions(quiet_check=False)).notes
    assert notes[:2] == (
        "data runs a recover: the figures will be lower than without it.",
        "data is degraded: the figures are not those of a complete array.",
    )
    assert notes[-1] == "It goes through the page cache: memory is measured as well."


@pytest.mark.parametrize(
    ("what", "part"),
    [
        ({"preset": "fast"}, "preset"),
        ({"job_file": "/nosuch"}, "job_file"),
        ({"work": READ, "directory": "/nosuch"}, "directory"),
        ({"work": WRITE, "device": "sde"}, "write"),
        ({"work": WRITE, "device": "sde", "write": True}, "device"),
        ({"work": replace(READ, size_bytes=1 << 50), "device": "sde"}, "size_bytes"),
        ({"work": READ, "scratch": ("sda", "sdb")}, "scratch"),
        ({"work": READ, "device": "md127", "knobs": (("turbo", ("1",)),)}, "turbo"),
        ({"work": READ, "device": "md127", "knobs": (("scheduler", ("cfq2",)),)}, "scheduler"),
        ({"work": READ, "device": "md127", "repeats": 0}, "repeats"),
        ({"work": READ, "device": "md127", "blocks": (512, 512)}, "blocks"),
        ({"work": replace(READ, ramp_s=1), "device": "md127"}, "work"),
        ({"rw": "randread", "device": "md127"}, "size_bytes"),
        ({"work": READ, "device": "md127", "conditions": Conditions(cool_s=-1)}, "cool"),
        ({"work": READ, "device": "md127", "member_kib": -1}, "member_size"),
    ],
)
def test_what_a_refusal_is_about(host: Host, what: dict[str, Any], part: str) -> None:
    found = asked(host, **what)
    assert isinstance(found, FieldRefusal)
    assert found.part == part


def test_the_plans_of_scratch_arrays(host: Host) -> None:
    """Each array once, however many runs it has; a device by itself wants none."""
    offer = offered(
        host,
        work=READ,
        scratch=SCRATCH,
        chunks=("one", "16", "512"),
        depths=(1, 8),
        confirmed=TYPED,
        repeats=3,
    )
    assert [plan.title for plan in offer.arrays] == [
        "scratch array: raid10, chunk 16K, 4 devices",
        "scratch array: raid10, chunk 512K, 4 devices",
    ]
    assert "--chunk=16" in offer.arrays[0].steps[-1].argv
    assert offer.room == ""


def test_what_files_take(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.place.free_bytes", lambda _: 7 * MIB)
    assert offered(host, work=replace(READ, jobs=3), directory=str(tmp_path)).room == (
        f"Its files take 3 MiB; 7 MiB are free at {tmp_path}, and the files are removed afterwards."
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,8,32", ("1", "8", "32")),
        (" none , mq-deadline,", ("none", "mq-deadline")),
        ("1..4,8", ("1", "2", "3", "4", "8")),
        ("", ()),
        ("4..1", ("4..1",)),  # whoever asks says that this is no number
        ("1..", ("1..",)),
        ("0..99999", ("0..99999",)),
    ],
)
def test_values_with_commas_and_from_to(text: str, values: tuple[str, ...]) -> None:
    assert sweep_values(text) == values


def test_caches_below_are_named() -> None:
    """With what they mean for the figures; the preset for caches is offered, or there is none below."""
    host = StackHost()

    def notes(device: str, preset: str = "") -> list[str]:
        place = find_device(host, device)
        assert isinstance(place, Place)
        work = find_preset("hot-spots")
        assert work is not None
        return cache_notes(host, Schedule(title="x", place=place, preset=preset, work=work.work))

    offered = "The preset hot-spots measures caches, and has published figures to compare with."
    kept = "its state and its hits are kept with each run."
    assert notes("dm-0") == [f"vc/slow is a cache (lvm-cache, writeback, not cold); {kept}", offered]
    assert notes("dm-0", "hot-spots") == [f"vc/slow is a cache (lvm-cache, writeback, not cold); {kept}"]
    assert notes("dm-1")[0] == f"vc/wslow is a cache (lvm-writecache, writeback); {kept}"
    assert notes("md20") == []
    assert notes("md20", "hot-spots") == ["hot-spots measures caches; none is known below /dev/md20."]
    host.change(STATUS_FILE, " 295/384 ", " 3/384 ")
    words = "vc/slow is a cache (lvm-cache, writeback, cold: the first run fills it)"
    assert notes("dm-0", "hot-spots") == [f"{words}; {kept}"]


def test_what_does_not_keep_fio_apart(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may not allow all parts of the sandbox; without them somebody has to say so."""
    lost = {"mount": "Operation not permitted", "net": "Operation not permitted"}
    monkeypatch.setattr("raidtui.features.bench.offer_checks.missing_parts", lambda: lost)
    why = (
        "fio cannot be kept apart from the rest of this host (mount: Operation not permitted;"
        " net: Operation not permitted); to run it with more of root's powers: --fio-without=mount,net"
    )
    assert refused(host, work=READ, directory=str(tmp_path)) == why
    without = Conditions(quiet_check=False, without=("net",))
    assert refused(host, work=READ, directory=str(tmp_path), conditions=without).endswith(
        "--fio-without=mount"
    )
    without = Conditions(quiet_check=False, without=("net", "mount"))
    offer = offered(host, work=READ, directory=str(tmp_path), conditions=without)
    assert offer.schedule.conditions.without == ("net", "mount")
    monkeypatch.setattr(
        "raidtui.features.bench.offer_checks.missing_parts", lambda: {NOT_KNOWN: "nothing was said"}
    )
    why = "it is not known whether fio can be kept apart from the rest of this host: nothing was said"
    assert (
        refused(host, work=READ, directory=str(tmp_path)) == f"{why}; try again; the host may be too busy now"
    )
    offered(host, work=READ, directory=str(tmp_path), conditions=Conditions(quiet_check=False, without=PARTS))


def test_io_uring_where_it_is_disabled(host: Host, tmp_path: Path) -> None:
    host.put("/proc/sys/kernel/io_uring_disabled", "1\n")
    file = tmp_path / "own.fio"
    file.write_text("[a]\nioengine=io_uring\nsize=1m\n")
    why = "io_uring is disabled on this host (kernel.io_uring_disabled); choose libaio"
    assert refused(host, job_file=str(file), directory=str(tmp_path)) == why
    asked = {"rw": "randread", "size_bytes": MIB, "directory": str(tmp_path)}
    assert refused(host, **asked, engine="io_uring") == why
    host.put("/proc/sys/kernel/io_uring_disabled", "0\n")
    offered(host, **asked, engine="io_uring")


def test_the_standard_set(host: Host, tmp_path: Path) -> None:
    """Eight loads in one go, each asked of fio as it is published."""
    schedule = offered(host, preset="standard", directory="/srv", size_bytes=64 * MIB, runtime_s=2).schedule
    asked_of = [work for run in schedule.runs() if (work := schedule.work_at(run.point)) is not None]
    assert [run.point["load"] for run in schedule.runs()] == list(schedule.loads)
    assert [(work.rw, work.block_bytes, work.depth, work.engine) for work in asked_of] == [
        ("read", MIB, 8, "libaio"),
        ("write", MIB, 8, "libaio"),
        ("randread", 4096, 32, "libaio"),
        ("randwrite", 4096, 32, "libaio"),
        ("randread", 4096, 1, "libaio"),
        ("randwrite", 4096, 1, "libaio"),
        ("randrw", 4096, 32, "libaio"),
        ("write", 2300, 1, "sync"),
    ]
    assert {(work.size_bytes, work.runtime_s) for work in asked_of} == {(64 * MIB, 2)}
    assert [work.flushes for work in asked_of] == [False] * 7 + [True]
    assert "--fdatasync=1" in workload_options(asked_of[-1])
    assert schedule.writes
    assert decode_schedule(encode_schedule(schedule)) == schedule
    assert refused(host, preset="standard", directory="/srv", depths=(4,)) == (
        "standard says itself how requests are made; give size, time and ramp alone, or choose another preset"
    )


def test_blocks_are_whole_sectors_where_the_page_cache_is_passed_by() -> None:
    assert refuse_workload(replace(WRITE, block_bytes=2300)) is not None
    assert refuse_workload(replace(WRITE, block_bytes=2300, direct=False)) is None
