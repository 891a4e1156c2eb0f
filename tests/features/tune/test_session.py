"""A tuner: values written, read back, recorded, undone."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from raidtui.features.tune.session import Tuner, TuneResult, read_profiles
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.jobs.job_kinds import SCHEDULE_FILE
from raidtui.jobs.journal import Journal
from raidtui.jobs.lock import only_worker
from raidtui.jobs.store import Job
from raidtui.jobs.undo_record import UndoRecord
from raidtui.model.plan import Plan, Refusal
from raidtui.plans.tune.keep import KeepItem, plan_keep
from raidtui.plans.tune.now import AskedValue, plan_set
from tests.hosts.kernel import ends
from tests.hosts.tune_host import BLOCK, RULES, TuneHost

SCHEDULER = f"{BLOCK}/sda/queue/scheduler"


class TunedHost:
    """A host and somebody who tunes it."""

    def __init__(self, host: TuneHost, place: Path | None = None) -> None:
        self.host = host
        self.tuner = Tuner(host, record=UndoRecord(host, place), journal=Journal(None))

    def set(self, *words: str) -> TuneResult:
        """Set "sda scheduler=none" and so on."""
        asked = []
        for word in words:
            subject, _, rest = word.partition(" ")
            knob, _, value = rest.partition("=")
            asked.append(AskedValue(subject=subject, knob=knob, value=value))
        snapshot = self.host.snapshot()
        tuning = self.tuner.read(snapshot)
        plan = plan_set(snapshot, tuning, asked)
        assert isinstance(plan, Plan), plan
        result = self.tuner.carry_out(plan, snapshot, tuning)
        assert isinstance(result, TuneResult)
        return result

    def undo(self) -> TuneResult | Refusal:
        """Undo the last."""
        last = self.tuner.last()
        if isinstance(last, Refusal):
            return last
        return self.tuner.undo(last, self.host.snapshot(), self.tuner.read(self.host.snapshot()))

    def left(self) -> list[tuple[str, str]]:
        """What leaving would put back."""
        plan = self.tuner.record.left()
        plan = self.tuner.without_kept(plan, self.host.snapshot()) if plan is not None else None
        return [] if plan is None else ends([(step.path, step.text) for step in plan.steps])


def test_a_value_is_written_and_read_back() -> None:
    tuned = TunedHost(TuneHost())
    result = tuned.set("sda scheduler=none", "sda queue_depth=8")
    assert result.as_asked
    assert result.sentences == (
        "scheduler of sda: mq-deadline → none",
        "queue_depth of sda: 32 → 8",
    )
    assert ends(tuned.host.writes) == [("sda/queue/scheduler", "none"), ("sda/device/queue_depth", "8")]
    value = result.tuning.subjects[0].values["scheduler"]
    assert (value.text, value.set_by.words) == ("none", "this run")


def test_what_the_kernel_makes_of_it() -> None:
    host = TuneHost()
    host.deaf = True
    result = TunedHost(host).set("sda queue_depth=8")
    assert not result.as_asked
    assert result.sentences == ("queue_depth of sda was set to 8, and the kernel made it 32",)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.EINVAL, "the kernel refuses this value"),
        (errno.EBUSY, "the kernel is busy, or another setting prevents it"),
        (errno.EACCES, "permission denied: needs root"),
        (errno.EROFS, "a captured tree is never written to"),
        (errno.ENOENT, "the file is not there: the device is gone, or has no such setting"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_refusal_with_the_value_that_stands(code: int, reason: str) -> None:
    host = TuneHost()
    host.refuses["sdb/queue/scheduler"] = code
    tuned = TunedHost(host)
    result = tuned.set("sda scheduler=none", "sdb scheduler=none", "sdc scheduler=none")
    assert result.sentences == (
        "scheduler of sda: mq-deadline → none",
        f"scheduler of sdb is not set to none: {reason}; it is mq-deadline",
        "scheduler of sdc is not set to none: it was not tried; it is mq-deadline",
    )
    # What was done until then can be undone, and nothing else is.
    host.refuses.clear()
    host.writes.clear()
    undone = tuned.undo()
    assert isinstance(undone, TuneResult)
    assert undone.sentences == ("scheduler of sda: none → mq-deadline",)
    assert ("sdb/queue/scheduler", "mq-deadline") not in ends(host.writes)
    again = tuned.undo()
    assert isinstance(again, Refusal)
    assert again.sentence == "nothing was changed since the boot that could be undone"


def test_another_disk_under_this_name_is_not_written_to() -> None:
    host = TuneHost()
    snapshot, tuned = host.snapshot(), TunedHost(host)
    tuning = tuned.tuner.read(snapshot)
    plan = plan_set(snapshot, tuning, [AskedValue(subject="sda", knob="queue_depth", value="8")])
    assert isinstance(plan, Plan)
    host.by_hand("/run/udev/data/b8:0", "E:ID_SERIAL_SHORT=OTHER")
    result = tuned.tuner.carry_out(plan, snapshot, tuning)
    assert isinstance(result, TuneResult)
    assert result.sentences == (
        "queue_depth of sda is not set to 8: sda is another disk now: OTHER, not SSDA0001; it is 32",
    )
    assert host.writes == []


def test_undone_step_by_step_by_another_run(tmp_path: Path) -> None:
    host, place = TuneHost(), tmp_path / "tune.json"
    first = TunedHost(host, place)
    first.set("sda scheduler=none")
    first.set("sda queue_depth=8")
    second = TunedHost(host, place)
    assert second.tuner.read(host.snapshot()).subjects[0].values["queue_depth"].set_by.words == (
        "raidtui, for now"
    )
    undone = second.undo()
    assert isinstance(undone, TuneResult)
    assert undone.sentences == ("queue_depth of sda: 8 → 32",)
    undone = TunedHost(host, place).undo()
    assert isinstance(undone, TuneResult)
    assert undone.sentences == ("scheduler of sda: none → mq-deadline",)
    assert isinstance(first.undo(), Refusal)


def test_an_undo_that_fails_is_still_there() -> None:
    host = TuneHost()
    tuned = TunedHost(host)
    tuned.set("sda queue_depth=8")
    host.refuses["queue_depth"] = errno.EINVAL
    failed = tuned.undo()
    assert isinstance(failed, TuneResult)
    assert not failed.as_asked
    host.refuses.clear()
    done = tuned.undo()
    assert isinstance(done, TuneResult)
    assert done.as_asked


def test_what_this_run_leaves_changed(tmp_path: Path) -> None:
    """As it was before the first change, and not what another run did or what is kept."""
    host, place = TuneHost(), tmp_path / "tune.json"
    TunedHost(host, place).set("sdb queue_depth=4")
    tuned = TunedHost(host, place)
    assert tuned.left() == []
    tuned.set("sda queue_depth=8")
    tuned.set("sda queue_depth=16")
    tuned.set("sdc timeout=60")
    assert tuned.left() == [("sda/device/queue_depth", "32"), ("sdc/device/timeout", "30")]
    host.by_hand(f"{BLOCK}/sdc/device/timeout", "30")
    assert tuned.left() == [("sda/device/queue_depth", "32")]
    rule = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{device/queue_depth}="16"'
    host.by_hand(RULES, rule)
    tuned.tuner.forget()
    assert tuned.left() == []


def test_what_was_put_back_when_leaving_is_not_undone_by_another_run(tmp_path: Path) -> None:
    host, place = TuneHost(), tmp_path / "tune.json"
    other = TunedHost(host, place)
    other.set("sdb queue_depth=4")
    tuned = TunedHost(host, place)
    tuned.set("sda queue_depth=8")
    last = tuned.tuner.last()
    assert not isinstance(last, Refusal)
    assert (tuned.tuner.record.is_own(last), other.tuner.record.is_own(last)) == (True, False)
    tuned.tuner.record.drop_own()
    undone = tuned.undo()
    assert isinstance(undone, TuneResult)
    assert undone.sentences == ("queue_depth of sdb: 4 → 32",)


def test_a_benchmark_that_runs_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.jobs.store.jobs_folder", lambda: tmp_path)
    root = FolderReader("/")
    tuner = Tuner(root, record=UndoRecord(root, tmp_path / "tune.json"), journal=Journal(None))
    plan = Plan(title="bench: 4K", subject="data", steps=())
    bench, other = (Job.create(plan, host="nas", folder=tmp_path) for _ in range(2))
    bench.keep(SCHEDULE_FILE, b"{}")
    assert not tuner.measuring
    with only_worker(tmp_path, bench.id):
        assert tuner.measuring
        assert not TunedHost(TuneHost()).tuner.measuring  # it runs here, and not on another host
    with only_worker(tmp_path, other.id):
        assert not tuner.measuring


def test_a_host_that_is_not_real_keeps_nothing() -> None:
    """Files are written to the machine that raidtui runs on: never for another host."""
    host = TuneHost()
    tuned = TunedHost(host)
    snapshot = host.snapshot()
    tuning = tuned.tuner.read(snapshot)
    plan = plan_keep(snapshot, tuning, [KeepItem(subject="sda", knob="timeout", value="60")])
    assert isinstance(plan, Plan)
    found = tuned.tuner.carry_out(plan, snapshot, tuning)
    assert isinstance(found, Refusal)
    assert found.sentence == "this needs a real host: a simulated one has neither files nor tools"
    assert host.writes == []


def test_what_sets_knobs_is_read_again_after_a_change() -> None:
    host = TuneHost()
    tuned = TunedHost(host)
    tuned.tuner.read(host.snapshot())
    host.by_hand("/etc/udev/rules.d/50-x.rules", 'ATTR{queue/scheduler}="none"')
    assert tuned.tuner.read(host.snapshot()).subjects[0].values["scheduler"].others == ()
    tuned.tuner.forget()
    found = tuned.tuner.read(host.snapshot()).subjects[0].values["scheduler"].others
    assert [each.value for each in found] == ["none"]


def test_the_users_own_profiles(tmp_path: Path) -> None:
    assert read_profiles(tmp_path) == ((), ())
    path = tmp_path / "profiles.toml"
    path.write_text("[mine]\ndisk.timeout = 60\n[ssd-array]\n[other]\ncolour = 3\n")
    found, troubles = read_profiles(tmp_path)
    assert [profile.name for profile in found] == ["mine", "other"]
    assert troubles == (
        (
            f"{path}: [other] has an unknown entry 'colour';"
            " there are: [other.disk], [other.cpu], [other.array], [other.system]"
        ),
        f"{path}: ssd-array is the name of a built-in profile",
    )
    path.write_text("[mine\n")
    found, troubles = read_profiles(tmp_path)
    assert found == ()
    assert troubles[0].startswith(f"{path}: Expected ']'")
