"""The demo's jobs: arrays get another shape, from the plan to the end of what md does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from raidtui.demo.kernel import SimKernel
from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow
from raidtui.features.reshape.plan.kept_spares import plan_grow_keeping
from raidtui.features.reshape.plan.shrink_plan import plan_shrink
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import JobState
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.leave import plan_fail
from raidtui.watch.played_jobs import PlayedJobs
from raidtui.watch.storage import form_scope, reading_of
from tests.demo.scene import Scene

_LONG_S = 40_000
Made = Callable[[Survey, Array], Plan | Refusal]


def quiet() -> Scene:
    """The demo when its first resync has ended and nothing else has begun."""
    scene = Scene()
    kernel = scene.reader.simulated
    for array in kernel.arrays:
        array.low_kib_s = 4_000_000
        kernel.finish(array)
    scene.reader._story = _Nothing()  # type: ignore[assignment]
    scene.go(1)
    return scene


class _Nothing:
    """A story in which nothing happens."""

    next_at_s = float("inf")

    def play(self, kernel: object, until_s: float) -> None:
        """Let the time pass."""
        assert isinstance(kernel, SimKernel)
        kernel.advance(until_s - kernel.now_s, tick_s=30.0)


def planned(scene: Scene, label: str, make: Made) -> Plan:
    """A plan for an array, of what is read of the demo."""
    snapshot = scene.sampler.sample()
    array = next(each for each in snapshot.arrays if each.title == label)
    reading = reading_of(scene.reader, snapshot, form_scope("grow", array, snapshot)).start()
    while reading.step():
        pass
    plan = make(reading.survey(), array)
    assert isinstance(plan, Plan), plan
    return plan


def convert(level: str = "", *names: str, layout: str = "", chunk_kib: int = 0) -> Made:
    request = ConvertRequest(level=level, names=names, layout=layout, chunk_kib=chunk_kib)
    return lambda survey, array: plan_convert(survey, array, request)


def more(*names: str, slots: int = 0) -> Made:
    return lambda survey, array: plan_grow(survey, array, names, slots=slots)


def without_spare(scene: Scene) -> None:
    """Take the spare out of ``vm``."""
    vm = scene.reader.simulated.array("vm")
    assert vm is not None
    vm.members = [member for member in vm.members if not member.is_spare]
    scene.reader.simulated.generation += 1


@pytest.mark.parametrize(
    ("label", "make", "shape"),
    [
        ("root", more("sdg"), ("raid1", 3, 0, 0)),
        ("vm", more(slots=4), ("raid5", 4, 2, 64)),
        ("data", more("sdg"), ("raid10", 5, 0x102, 32)),
        ("root", convert("raid5", "sdg"), ("raid5", 3, 2, 64)),
        ("vm", convert("raid6", "sdg"), ("raid6", 4, 2, 64)),
        ("vm", convert("raid6", "sdg", layout="preserve"), ("raid6", 4, 18, 64)),
        ("vm", convert(chunk_kib=128), ("raid5", 3, 2, 128)),
        ("vm", convert(layout="right-asymmetric"), ("raid5", 3, 1, 64)),
        ("vm", convert("raid0"), ("raid0", 2, 0, 64)),
        ("data", convert("raid0"), ("raid0", 2, 0, 32)),
    ],
)
def test_another_shape(label: str, make: Made, shape: tuple[str, int, int, int]) -> None:
    scene = quiet()
    if label == "vm" and (shape[0], shape[1]) != ("raid5", 4):
        without_spare(scene)
    plan = planned(scene, label, make)
    array = scene.reader.simulated.array(label)
    assert array is not None
    before_kib = array.array_kib
    jobs = PlayedJobs(scene.reader)
    job_id = jobs.start(plan)
    states = []
    for _ in range(_LONG_S // 100):
        states.append(jobs.news(job_id, 0).state)
        if states[-1] not in {JobState.RUNNING, JobState.GOES_ON}:
            break
        scene.go(100)
    news = jobs.news(job_id, 0)
    assert news.state is JobState.DONE, news.entries[-3:]
    assert (array.level, array.raid_disks, array.layout, array.chunk_kib) == shape
    assert array.reshape is None
    assert array.degraded == 0
    found = next(each for each in scene.sampler.sample().arrays if each.title == label)
    assert (found.level, found.raid_disks, found.reshape) == (shape[0], shape[1], None)
    assert found.size_bytes == array.array_kib * 1024
    if "→" in "".join(note for note in plan.notes if note.startswith("Capacity ")):
        assert array.array_kib > before_kib
    assert scene.array(found.name).raid_disks in {shape[1], None}


def test_a_reshape_is_seen_as_one() -> None:
    """Devices, position, size, and that there is no critical section."""
    scene = quiet()
    jobs = PlayedJobs(scene.reader)
    job_id = jobs.start(planned(scene, "vm", more(slots=4)))
    assert jobs.news(job_id, 0).state is JobState.GOES_ON
    scene.go(300)
    array = next(each for each in scene.sampler.sample().arrays if each.title == "vm")
    assert (array.old_raid_disks, array.raid_disks) == (3, 4)
    assert array.sync is not None
    assert array.sync.action == "reshape"
    assert array.reshape is not None
    assert array.reshape.position_sectors
    assert (array.reshape.shift_sectors or 0) < 0
    assert array.reshaped_bytes == array.size_bytes * 3 // 2 if array.size_bytes else False
    wait = jobs.news(job_id, 0).wait
    assert wait is not None
    assert wait.why == "md moves every block"
    assert (wait.percent or 0) > 0
    (line,) = jobs.lines()
    assert (line.id, line.state) == (job_id, JobState.GOES_ON)


def test_fewer_devices() -> None:
    """What stands on ``vm`` would have to be made smaller; ``data`` becomes smaller at once."""
    scene = quiet()
    plan = planned(scene, "data", more("sdg"))
    jobs = PlayedJobs(scene.reader)
    job_id = jobs.start(plan)
    while jobs.news(job_id, 0).state is JobState.GOES_ON:
        scene.go(500)
    back = planned(scene, "data", lambda survey, array: plan_shrink(survey, array, 4))
    job_id = jobs.start(back)
    while (news := jobs.news(job_id, 0)).state is JobState.GOES_ON:
        scene.go(500)
    assert news.state is JobState.DONE, news.entries[-3:]
    data = scene.reader.simulated.array("data")
    assert data is not None
    assert (data.raid_disks, data.degraded, data.clip_kib) == (4, 0, None)
    assert [member.device for member in data.members if member.is_spare] == ["sdg1"]


def test_a_spare_is_kept() -> None:
    """It is out of the array for a moment, and a spare at the end."""
    scene = quiet()
    vm = scene.reader.simulated.array("vm")
    assert vm is not None
    jobs = PlayedJobs(scene.reader)
    job_id = jobs.start(
        planned(
            scene,
            "vm",
            lambda survey, array: plan_grow_keeping(survey, array, ("sdg",), 1, GrowOptions()),
        )
    )
    while (news := jobs.news(job_id, 0)).state is JobState.GOES_ON:
        scene.go(500)
    assert news.state is JobState.DONE, news.entries[-3:]
    assert [member.device for member in vm.members if member.is_spare] == ["nvme3n1p1"]
    assert {member.device: member.slot for member in vm.members}["sdg1"] == 3


def test_a_job_is_cancelled_and_goes_not_back() -> None:
    scene = quiet()
    jobs = PlayedJobs(scene.reader)
    job_id = jobs.start(planned(scene, "vm", more(slots=4)))
    assert jobs.news(job_id, 0).state is JobState.GOES_ON
    with pytest.raises(JobError, match="cannot be rolled back"):
        jobs.give("rollback", job_id)
    jobs.give("cancel", job_id)
    assert jobs.news(job_id, 0).state is JobState.CANCELLED
    jobs.give("resume", job_id)
    while (news := jobs.news(job_id, 0)).state is JobState.GOES_ON:
        scene.go(500)
    assert news.state is JobState.DONE


def test_what_is_not_played_is_said_before_it_begins() -> None:
    scene = quiet()
    jobs = PlayedJobs(scene.reader)
    plan = planned(scene, "root", lambda survey, array: plan_fail(survey, array, "sda1"))
    plan = replace(plan, steps=(replace(plan.steps[0], argv=("mdadm", "--readonly", "/dev/md126")),))
    with pytest.raises(JobError, match="does not play this: mdadm --readonly"):
        jobs.start(plan)
    assert jobs.lines() == ()
