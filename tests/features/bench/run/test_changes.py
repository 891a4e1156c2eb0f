"""What a sweep turns is put back: in order, after failures, after being killed, and never half."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.features.bench.option_texts import FieldRefusal
from raidtui.features.bench.place import Place
from raidtui.features.bench.run.changes import ChangeError, Changes, Restored, StuckError, left_behind
from raidtui.features.bench.schedule import Axis
from raidtui.features.bench.sweep_knobs import SweepKnob, find_knob, knob_axis, with_undo
from raidtui.jobs import runner
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, Refusal, RefusalCode, Write
from tests.features.bench.host import AS_BEFORE, DISKS, Host

PLACE = Place(device="md127", disks=DISKS, members=DISKS, arrays=("md127",))
NUMBERS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The signals are put back; nobody waits for proofs."""
    monkeypatch.setattr(runner, "_PROOF_S", 0.0)
    before = [signal.getsignal(number) for number in NUMBERS]
    yield
    assert [signal.getsignal(number) for number in NUMBERS] == before


@pytest.fixture
def host() -> Host:
    return Host()


def axis(host: Host, name: str, *values: str) -> Axis:
    knob = find_knob(name, host, PLACE)
    assert not isinstance(knob, Refusal)
    found = knob_axis(knob, values)
    assert isinstance(found, Axis), found
    return found


def refused(host: Host, name: str, *values: str, place: Place = PLACE) -> str:
    knob = find_knob(name, host, place)
    found = knob if isinstance(knob, Refusal) else knob_axis(knob, values)
    assert isinstance(found, Refusal)
    return found.sentence


def test_a_knob_of_all_disks(host: Host) -> None:
    found = axis(host, "queue-depth", "8", "32")
    first, same = found.plans
    assert (found.name, found.values) == ("queue_depth", ("8", "32"))
    assert [(step.path[17:], step.text) for step in first.steps] == [
        (f"{disk}/device/queue_depth", "8") for disk in DISKS
    ]
    assert {(back.path[17:], back.text) for step in first.steps for back in step.undo} == {
        (f"{disk}/device/queue_depth", "32") for disk in DISKS
    }
    assert same.steps == ()


def test_what_cannot_be_set(host: Host) -> None:
    assert refused(host, "turbo", "1").startswith(
        "there is no knob 'turbo'; there are: scheduler, queue_depth"
    )
    assert "noop" in refused(host, "scheduler", "noop")
    assert refused(host, "queue-depth", "0").startswith("queue_depth of sda")
    assert refused(host, "scheduler", "none", place=Place(directory="/srv")) != ""
    assert refused(host, "bitmap", "none", place=Place(directory="/srv")) == (
        "there is no array below, so there is no bitmap to set"
    )


def test_a_bitmap(host: Host) -> None:
    knob = find_knob("bitmap", host, PLACE)
    assert not isinstance(knob, Refusal)
    assert knob.name == "bitmap"
    plan = knob.set("internal")
    assert isinstance(plan, Plan)
    assert [step.argv for step in plan.steps] == [("mdadm", "--grow", "/dev/md127", "--bitmap=internal")]
    assert plan.steps[0].undo[0].argv == ("mdadm", "--grow", "/dev/md127", "--bitmap=none")
    assert knob.set("none") == Plan(title="bitmap none", subject="data", steps=())


def test_a_knob_without_undo_is_not_swept() -> None:
    step = Write(path="/sys/a", text="1", why="x")
    stubborn = SweepKnob(name="stubborn", set=lambda _: Plan(title="x", subject="y", steps=(step,)))
    assert knob_axis(stubborn, ["1"]) == FieldRefusal(
        code=RefusalCode.UNSUPPORTED,
        why="stubborn 1 cannot be undone, but a sweep must restore what it sets",
        remedy="leave it out",
    )


def test_the_undo_of_a_whole_plan() -> None:
    back = (Write(path="/sys/a", text="0", why="x"),)
    two = (Write(path="/sys/a", text="1", why="x"), Write(path="/sys/b", text="1", why="x"))
    made = with_undo(Plan(title="x", subject="y", steps=two, undo=back))
    assert [step.undo for step in made.steps] == [back, ()]
    assert with_undo(made) == made


def test_turned_and_put_back(host: Host, tmp_path: Path) -> None:
    """The scheduler takes another setting along, which is put back, too."""
    none, _ = axis(host, "scheduler", "none", "mq-deadline").plans
    (deep, _) = axis(host, "queue-depth", "8", "32").plans
    changes = Changes(host, tmp_path)
    changes.make("scheduler none", none)
    changes.make("queue_depth 8", deep)
    assert changes.keys == ("scheduler none", "queue_depth 8")
    assert (host.knobs()["queue/scheduler"], host.knobs("sdd")["device/queue_depth"]) == (
        "[none] mq-deadline",
        "8",
    )
    assert left_behind(tmp_path)
    changes.take_back(down_to=1)
    assert host.knobs()["device/queue_depth"] == "32"
    assert host.knobs()["queue/scheduler"] == "[none] mq-deadline"
    changes.take_back()
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    assert not left_behind(tmp_path)


def test_nothing_to_do_is_nothing_done(host: Host, tmp_path: Path) -> None:
    changes = Changes(host, tmp_path)
    changes.make("scheduler mq-deadline", Plan(title="x", subject="y", steps=()))
    changes.take_back()
    assert (host.writes, list(tmp_path.iterdir())) == ([], [])


def test_a_change_that_fails_is_taken_back(host: Host, tmp_path: Path) -> None:
    (plan, _) = axis(host, "queue-depth", "8", "32").plans
    host.fails["sdc/device/queue_depth"] = errno.EINVAL
    changes = Changes(host, tmp_path)
    with pytest.raises(ChangeError, match="the kernel refuses this value"):
        changes.make("queue_depth 8", plan)


def test_what_cannot_be_put_back_is_reported(host: Host, tmp_path: Path) -> None:
    (plan, _) = axis(host, "queue-depth", "8", "32").plans
    changes = Changes(host, tmp_path)
    changes.make("queue_depth 8", plan)
    host.fails["device/queue_depth"] = errno.EIO
    with pytest.raises(StuckError, match="cannot be undone: Input/output error"):
        changes.take_back()
    assert (changes.keys, left_behind(tmp_path)) == (("queue_depth 8",), True)
    host.fails.clear()
    assert Changes(host, tmp_path).take_back_rest() == Restored(back=(plan.title,))
    assert host.knobs() == AS_BEFORE


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EINVAL, errno.EIO, errno.EROFS])
def test_what_is_the_old_value_already_is_undone(host: Host, tmp_path: Path, code: int) -> None:
    """The file takes no write at all: the change fails, and there is nothing to put back."""
    (plan, _) = axis(host, "queue-depth", "8", "32").plans
    host.fails["device/queue_depth"] = code
    changes = Changes(host, tmp_path)
    with pytest.raises(ChangeError) as caught:
        changes.make("queue_depth 8", plan)
    assert not isinstance(caught.value, StuckError)
    assert not left_behind(tmp_path)
    (scheduler, _) = axis(host, "scheduler", "none", "mq-deadline").plans
    host.fails["queue/scheduler"] = code
    with pytest.raises(ChangeError) as caught:
        changes.make("scheduler none", scheduler)
    assert not isinstance(caught.value, StuckError)
    assert not left_behind(tmp_path)


def test_what_cannot_be_put_back_is_settled(host: Host, tmp_path: Path) -> None:
    """All else is put back; what is left is a command and its reason; nobody tries it again."""
    (plan, _) = axis(host, "queue-depth", "8", "32").plans
    changes = Changes(host, tmp_path)
    changes.make("queue_depth 8", plan)
    host.fails["sdb/device/queue_depth"] = errno.EIO
    with pytest.raises(StuckError):
        Changes(host, tmp_path).take_back_rest()
    rest = Changes(host, tmp_path).take_back_rest(settle=True)
    assert rest == Restored(left=("echo 32 > /sys/class/block/sdb/device/queue_depth: Input/output error",))
    assert [host.knobs(disk)["device/queue_depth"] for disk in DISKS] == ["32", "8", "32", "32"]
    assert not left_behind(tmp_path)
    assert Changes(host, tmp_path).take_back_rest() == Restored()


def test_a_trial_changes_nothing(host: Host, tmp_path: Path) -> None:
    changes = Changes(host, tmp_path)
    assert changes.try_out(axis(host, "scheduler", "none", "mq-deadline").plans) == ""
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    assert "sda/queue/scheduler none" in host.writes
    assert (changes.keys, left_behind(tmp_path)) == ((), False)


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EINVAL, errno.EIO])
def test_a_trial_of_a_file_that_refuses_its_present_value(host: Host, tmp_path: Path, code: int) -> None:
    """It would take the new value, and the old one never again: nothing is written to it."""
    original = host.take_value

    def write(path: str, text: str) -> None:
        if path.endswith("sdc/device/queue_depth") and text == "32":
            raise OSError(code, os.strerror(code), path)
        original(path, text)

    host.take_value = write  # type: ignore[method-assign]
    why = Changes(host, tmp_path).try_out(axis(host, "queue-depth", "8", "32").plans)
    assert why.startswith(
        "writing the present value to /sys/class/block/sdc/device/queue_depth (32) is refused: "
    )
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4


def test_a_trial_of_a_value_that_is_refused(host: Host, tmp_path: Path) -> None:
    plans = axis(host, "queue-depth", "8", "32").plans
    original = host.take_value

    def write(path: str, text: str) -> None:
        if path.endswith("sdc/device/queue_depth") and text == "8":
            raise OSError(errno.EINVAL, "Invalid argument", path)
        original(path, text)

    host.take_value = write  # type: ignore[method-assign]
    why = Changes(host, tmp_path).try_out(plans)
    assert why == f"{plans[0].title}: step 3: the kernel refuses this value"
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    assert not left_behind(tmp_path)


def there_and_back(changes: Changes, plan: Plan) -> None:
    changes.make("x", plan)
    changes.take_back()


@pytest.mark.parametrize("number", range(1, 26))
def test_killed_anywhere(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Before its Nth word to a journal: the next one to come finds what was changed, and puts it back."""

    class Killed(BaseException):
        pass

    real, count = Job.note, 0

    def note(job: Job, **entry: object) -> None:
        nonlocal count
        count += 1
        if count == number:
            raise Killed
        real(job, **entry)

    (none, _) = axis(host, "scheduler", "none", "mq-deadline").plans
    with monkeypatch.context() as patched:
        patched.setattr(Job, "note", note)
        with pytest.raises(Killed):
            there_and_back(Changes(host, tmp_path), none)
    later = Changes(host, tmp_path)
    later.take_back_rest()
    assert [host.knobs(disk) for disk in DISKS] == [AS_BEFORE] * 4
    assert not left_behind(tmp_path)
    assert later.take_back_rest() == Restored()


def test_a_wish_to_stop_waits_for_the_change(host: Host, tmp_path: Path) -> None:
    """What the worker of plans would have taken for its own belongs to the benchmark, and changes nothing."""
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        (plan, _) = axis(host, "queue-depth", "8", "32").plans
        original = host.take_value

        def write(path: str, text: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            original(path, text)

        host.take_value = write  # type: ignore[method-assign]
        changes = Changes(host, tmp_path)
        changes.make("queue_depth 8", plan)
        assert heard == [signal.SIGTERM] * 4
        assert [host.knobs(disk)["device/queue_depth"] for disk in DISKS] == ["8"] * 4
    finally:
        signal.signal(signal.SIGTERM, before)
