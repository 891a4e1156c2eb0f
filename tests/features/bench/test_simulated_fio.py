"""The model of the demo's disks: what it says must be what such disks could do, in the right order."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.bench.demo import PlayedBench
from raidtui.features.bench.demo_fio import rate_of, samples_of
from raidtui.features.bench.offer import Offer, make_offer
from raidtui.features.bench.place import Place, find_directory
from raidtui.features.bench.request import Request
from raidtui.features.bench.workload import Workload
from raidtui.model.plan import Refusal
from tests.demo.scene import Scene


@pytest.fixture
def scene() -> Scene:
    """The demo at the start of its story."""
    return Scene()


READ = Workload(rw="randread", block_bytes=4096, size_bytes=1 << 30, depth=32, engine="libaio", runtime_s=10)
DATA, VM = ("sda", "sdb", "sdc", "sdd"), ("nvme0n1", "nvme1n1", "nvme2n1")


def iops(scene: Scene, work: Workload, *disks: str, array: str = "") -> float:
    """What a workload reaches on disks."""
    place = Place(device=disks[0], disks=disks, arrays=(array,) if array else ())
    return rate_of(scene.reader, place, work).iops


def test_the_order_of_things(scene: Scene) -> None:
    one, deep = replace(READ, depth=1), replace(READ, depth=32)
    write, stream = replace(READ, rw="randwrite"), replace(READ, rw="read", block_bytes=1 << 20)
    assert iops(scene, one, "sda") < iops(scene, deep, "sda") < iops(scene, deep, "nvme0n1")
    assert iops(scene, deep, "sdg") < 200  # it rotates
    assert iops(scene, write, *VM, array="md125") < iops(scene, write, *VM) / 3  # parity
    assert iops(scene, write, "sda", "sdb", array="md126") < iops(scene, write, "sda", "sdb")  # copies
    assert iops(scene, deep, *DATA, array="md127") < iops(scene, deep, *DATA)  # it is being resynced
    assert 400 < iops(scene, stream, "sda") < 600  # MiB/s of a SATA link


def test_a_knob_counts(scene: Scene) -> None:
    before = iops(scene, READ, "sda")
    scene.reader.take_value("/sys/class/block/sda/device/queue_depth", "1")
    assert iops(scene, READ, "sda") < before / 5


def test_samples_add_up(scene: Scene) -> None:
    rate = rate_of(scene.reader, Place(disks=DATA), READ)
    some = samples_of(READ, rate, 3.1, key="a")
    assert len(some) == 12
    assert some == samples_of(READ, rate, 5, key="a")[:12]
    assert len(samples_of(READ, rate, 99, key="a")) == 40
    assert some[-1].size_bytes[0] == some[-1].ios[0] * 4096


def test_places_are_mount_points_of_the_demo(scene: Scene) -> None:
    place = find_directory(scene.reader, "/srv/data")
    assert isinstance(place, Place)
    assert "md127" in place.arrays
    other = find_directory(scene.reader, "/tmp")
    assert isinstance(other, Refusal)
    assert other.why == "nothing is mounted at /tmp"


def test_two_values_of_a_knob_are_set_and_put_back(scene: Scene) -> None:
    request = Request(
        rw="randread", blocks=(4096,), size_bytes=1 << 30, depths=(32,), engine="libaio",
        runtime_s=2, ramp_s=0, device="md126", knobs=(("queue_depth", ("32", "1")),), repeats=5,
    )  # fmt: skip
    offer = make_offer(scene.reader, request)
    assert isinstance(offer, Offer), offer
    bench = PlayedBench(scene.reader)
    assert bench.begin(offer.schedule) == ""
    assert bench.begin(offer.schedule) == "a benchmark is running"
    scene.go(30)
    progress = bench.look()
    assert progress is not None
    assert (progress.state, progress.done) == ("done", 10)
    runs = bench.history().records[2:]
    fast = [run.iops for run in runs if run.point["queue_depth"] == "32"]
    slow = [run.iops for run in runs if run.point["queue_depth"] == "1"]
    assert len(fast) == len(slow) == 5
    assert min(fast) > 4 * max(slow)
    assert all(run.simulated and run.title.startswith("simulated: ") for run in runs)
    assert scene.reader.text("/sys/class/block/sda/device/queue_depth") == "32"


def test_what_is_not_played_is_refused(scene: Scene) -> None:
    work = Request(rw="randread", blocks=(4096,), size_bytes=1 << 20)
    for request in (
        Request(job_file="/x.fio"),
        replace(work, scratch=("sdh", "sdi")),
        replace(work, device="sdh", write=True),
    ):
        made = make_offer(scene.reader, request)
        assert isinstance(made, Refusal)
        assert made.why.startswith("the demo host is simulated: it plays what fio does in a folder")
