"""The exchange that both front ends hold: its record, what is seen, its next plan."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.pull import pull_plans
from raidtui.features.pull.cli import look_dict, look_lines
from raidtui.features.pull.record import (
    FORM,
    PullError,
    drop_record,
    opening_words,
    read_record,
    write_record,
)
from raidtui.features.pull.session import PullLook, Pulls, closed, note_job, read_look, refuse_ending
from raidtui.features.pull.standing import PullStage
from raidtui.features.pull.words import pull_words
from raidtui.host.controllers import has_lights
from raidtui.host.reading import Reading
from raidtui.host.tools import output_path
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.model.boot import BootSector
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode
from raidtui.monitor.boot.boot_check import check_boot
from raidtui.watch import storage
from tests.hosts.bays import MEDIA, NEW, SERIALS, TO_SDE, BayHost, without


@pytest.fixture
def host() -> BayHost:
    return BayHost()


@pytest.fixture
def pulls(host: BayHost) -> Pulls:
    made = Pulls(host)
    made.begin(host.record("sdc"))
    return made


def look(host: BayHost, pulls: Pulls) -> PullLook:
    found = read_look(host, pulls, host.sampler().sample().arrays)
    assert found is not None
    return found


def test_what_is_seen_to_have_left_is_noted(host: BayHost, pulls: Pulls) -> None:
    host.now(without("sdc"))
    assert look(host, pulls).record.left_s is None
    host.pull("sdc", without("sdc"))
    assert look(host, pulls).record.left_s == host.now_s()
    host.push("sdc", SERIALS["sdc"])
    assert look(host, pulls).standing.stage is PullStage.BACK


def test_one_disk_at_a_time_and_the_same_one_again(host: BayHost, pulls: Pulls) -> None:
    pulls.begin(host.record("sdc"))
    with pytest.raises(PullError, match=r"^sdc, serial S5Y1NX0R103364, is being exchanged: end that first$"):
        pulls.begin(host.record("sdd"))
    pulls.end()
    pulls.begin(host.record("sdd"))
    assert read_look(host, pulls, ()) is not None


def test_each_job_is_noted_where_it_belongs(host: BayHost, pulls: Pulls) -> None:
    note_job(pulls, None, "job-1")
    host.now(without("sdc"))
    host.pull("sdc", without("sdc"))
    host.push("sdf", "OTHER-1")
    host.push("sdc", NEW, bay=3)
    note_job(pulls, look(host, pulls), "job-2", chosen="OTHER-1")
    record = pulls.read()
    assert record is not None
    assert (record.out_job, record.fill_job, record.fresh) == ("job-1", "job-2", "OTHER-1")
    note_job(pulls, look(host, pulls), "job-3")
    record = pulls.read()
    assert record is not None
    assert (record.fill_job, record.fresh) == ("job-3", "OTHER-1")  # the one that was begun is first now


def test_the_job_that_takes_the_wrong_one_back_is_none_of_the_exchange(host: BayHost, pulls: Pulls) -> None:
    raid6 = replace(MEDIA, level="raid6", layout="ls6")
    host.pull("sdb", without("sdb", "sdc", array=raid6))
    host.push("sdg", SERIALS["sdb"])
    note_job(pulls, look(host, pulls), "job-9")
    record = pulls.read()
    assert record is not None
    assert (record.out_job, record.fill_job) == ("", "")


def test_no_plan_while_a_wrong_one_is_missing(host: BayHost, pulls: Pulls) -> None:
    host.pull("sdb", without("sdb", "sdc"))
    found = pull_plans.plan_next(host, host.survey(), look(host, pulls))
    assert isinstance(found, Refusal)
    assert found.sentence == "serial S5Y1NX0R100872 is missing, which must not be pulled; push it back first"


def test_while_it_is_to_be_pulled_there_is_no_plan(host: BayHost, pulls: Pulls) -> None:
    host.now(without("sdc"))
    found = pull_plans.plan_next(host, host.survey(), look(host, pulls))
    assert isinstance(found, Refusal)
    assert found.code is RefusalCode.NOTHING_TO_DO


def test_the_next_plans(host: BayHost, pulls: Pulls) -> None:
    snapshot = host.survey().snapshot
    read = storage.reading_of(host, snapshot, pull_plans.disk_scope(snapshot, "sdc")).start()
    while read.step():
        continue
    survey = replace(host.survey(), devices=read.survey().devices)
    out = pull_plans.plan_next(host, survey, look(host, pulls))
    assert isinstance(out, Plan)
    assert out.title == "take out: sdc, serial S5Y1NX0R103364"
    host.pull("sdc", without("sdc"))
    host.push("sdf", NEW)
    wrong = pull_plans.plan_next(host, host.survey(), look(host, pulls), chosen="NOT-THERE")
    assert isinstance(wrong, Refusal)
    assert wrong.why == "there is no new disk with the serial NOT-THERE"


DARK = "Its bay has no light: ledctl could not switch it on."


@pytest.mark.parametrize(("missed", "light"), [(True, False), (False, True)])
def test_a_light_that_could_not_be_switched_on_is_not_said_to_blink(
    host: BayHost, pulls: Pulls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, missed: bool, light: bool
) -> None:
    """The job that took the disk out has it: ledctl ends with 33 where the bay of a disk has no light."""
    plan = Plan(title="take out", subject="media", steps=(), harm=Harm.REDUCES)
    job = Job.create(plan, host="nas", folder=tmp_path)
    job.note(event="begin", step=0, command="ledctl --listed-only locate=/dev/sdc")
    job.note(event="step done", step=0, **({"missed": True} if missed else {}))
    job.note(event="begin", step=1, command="mdadm --manage /dev/md127 --fail /dev/sdc")
    job.note(event="step done", step=1)
    job.note(event=JobState.DONE)
    monkeypatch.setattr("raidtui.features.pull.session.find_job", lambda _: job)
    pulls.write(replace(host.record("sdc"), light=True, out_job=job.id))
    host.now(without("sdc"))
    found = look(host, pulls)
    assert (found.record.light, found.standing.stage) == (light, PullStage.WAITING)
    assert (DARK in found.words.text[0]) is missed


@pytest.mark.parametrize(
    ("said", "lights"),
    [
        ("exit 0\n", False),  # ledctl 0.95 without an enclosure
        ("exit 0\n/sys/devices/pci0000:00/0000:00:17.0 (AHCI)\n", True),
        ("exit 5\n", True),  # it does not say
        (None, True),
    ],
)
def test_whether_ledctl_finds_an_enclosure(host: BayHost, said: str | None, *, lights: bool) -> None:
    if said is not None:
        host.put(output_path(("ledctl", "--log=/dev/null", "--list-controllers")), said)
    assert has_lights(host) is lights


@pytest.mark.parametrize(("state", "refused"), [(JobState.RUNNING, True), (JobState.INTERRUPTED, False)])
def test_it_is_not_forgotten_while_a_job_is_under_way(
    host: BayHost, pulls: Pulls, state: JobState, *, refused: bool
) -> None:
    found = look(host, pulls)
    standing = replace(found.standing, job="job-1", job_state=state)
    assert (refuse_ending(replace(found, standing=standing)) is not None) is refused


def test_the_table_of_a_neighbour_that_cannot_be_read(host: BayHost) -> None:
    found = pull_plans.read_table(host, "sdb")
    assert isinstance(found, Refusal)
    assert found.why == ("the partition table of sdb cannot be read: sfdisk was not run for this capture")


def test_for_programs_and_for_people(host: BayHost, pulls: Pulls) -> None:
    host.now(without("sdc"))
    found = look(host, pulls)
    form = look_dict(found)
    assert (form["stage"], form["head"], form["target"]["here"], form["complete"]) == (
        "pull it",
        "Pull it now",
        True,
        False,
    )
    assert form["target"]["members"] == [
        {"array": "media", "uuid": MEDIA.array_uuid, "partition": None, "slot": 2}
    ]
    assert [(each["serial"], each["state"]) for each in form["others"]] == [
        *((SERIALS[name], "there") for name in ("sda", "sdb", "sdd")),
        ("20214A2B3C4D", "there"),
    ]
    lines = look_lines(found)
    assert lines[:2] == [
        "Pull this disk: sdc · serial S5Y1NX0R103364 · Samsung SSD 870 · 3.6T · at pci-0000:00:17.0-ata-3",
        "Pull it now.",
    ]
    assert lines[-1].startswith("  sde       serial 20214A2B3C4D ·")


# -- the boot check at its end


def done(host: BayHost, pulls: Pulls) -> PullLook:
    """The exchange of sdc, all of it done; as both front ends close it."""
    host.pull("sdc", without("sdc"))
    host.push("sdc", NEW, MEDIA, bay=3)
    found = look(host, pulls)
    assert (found.standing.stage, found.closes) == (PullStage.DONE, True)
    closing = closed(found, check_boot(host))
    assert not closing.closes
    return closing


def test_it_closes_with_a_machine_that_boots(host: BayHost, pulls: Pulls) -> None:
    host.keep_boot()
    found = done(host, pulls)
    assert (found.words.head, found.words.role) == ("Done", "ok")
    assert found.words.text == (
        f"media: complete. sdc, serial {NEW}, is in.",
        "The machine boots without any one of sda, sdb, sdc and sdd.",
    )
    form = look_dict(found)["boot"]
    assert {each["name"]: each["boots_without"] for each in form["disks"]} == dict.fromkeys(
        ("sda", "sdb", "sdc", "sdd"), True
    )
    assert form["unknown"] == []


def test_it_closes_with_what_keeps_the_machine_from_booting(host: BayHost, pulls: Pulls) -> None:
    host.keep_boot(lines=(TO_SDE,))
    found = done(host, pulls)
    assert found.words.head == "Done, but the machine does not boot without sde"
    assert (found.words.role, found.words.act) == ("warn", "end this")
    assert found.words.text[1:] == (
        "The machine boots without any one of sda, sdb, sdc and sdd.",
        (
            "Without sde the machine does not boot: /etc/fstab, line 4: /backup is lost with it, without"
            " nofail: the boot waits 90 s for it, and ends in the emergency shell. Plan: raidtui plan boot"
            " fstab 4."
        ),
    )


def test_it_closes_with_what_cannot_be_told_and_why(host: BayHost, pulls: Pulls) -> None:
    found = done(host, pulls)
    assert (found.words.head, found.words.role) == ("Done", "warn")
    assert found.words.text[1:] == (
        "It is not known whether the machine boots without any one disk: how it boots is not known.",
    )
    assert look_dict(found)["boot"]["disks"] == []


def test_it_does_not_close_before_all_is_done(host: BayHost, pulls: Pulls) -> None:
    """While md copies, and while a job still puts the boot loader on it."""
    found = look(host, pulls)
    assert (found.closes, look_dict(found)["boot"]) == (False, None)
    end = done(host, pulls)
    running = replace(end, boot=None, standing=replace(end.standing, job_state=JobState.RUNNING))
    assert not running.closes
    words = pull_words(running.record, running.standing, ())
    assert (words.head, words.act) == ("Nearly done", "")


def test_whether_it_was_a_boot_disk_is_kept(host: BayHost) -> None:
    scope = pull_plans.disk_scope(host.sampler().sample(), "sdc")
    for grub in (True, False):
        host.keep_boot(sectors=(BootSector(disk="sdc", grub=grub),))
        survey = Reading(host, host.sampler().sample(), scope).start().wait()
        made = pull_plans.make_draft(host, survey, "sdc")
        assert isinstance(made, pull_plans.PullDraft)
        assert made.record.booted is grub


# -- the record on disk


def test_the_record_on_disk(host: BayHost, tmp_path: Path) -> None:
    path = tmp_path / "state" / "pull.json"
    assert read_record(path) is None
    record = host.record("sdc")
    write_record(path, record)
    assert read_record(path) == record
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    drop_record(path)
    drop_record(path)
    assert read_record(path) is None


@pytest.mark.parametrize("data", [b"", b"{", b'{"target": 1}', b"\xff"])
def test_a_record_that_cannot_be_understood_says_what_to_do(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pull.json"
    path.write_bytes(data)
    with pytest.raises(PullError, match=r"cannot be understood: .*; move it away to begin again"):
        read_record(path)
    assert path.read_bytes() == data


def test_a_record_of_a_newer_raidtui_is_left_alone(host: BayHost, tmp_path: Path) -> None:
    path = tmp_path / "pull.json"
    write_record(path, replace(host.record("sdc"), form=FORM + 1))
    with pytest.raises(PullError, match="was written by a newer raidtui"):
        read_record(path)


def test_a_record_that_cannot_be_written_starts_nothing(host: BayHost, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    with pytest.raises(PullError, match="nothing was started"):
        write_record(tmp_path / "state" / "pull.json", host.record("sdc"))


def test_a_console_opens_with_an_exchange_that_is_not_finished(
    host: BayHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raidtui.features.pull.record.record_path", lambda: tmp_path / "pull.json")
    assert opening_words() == ()
    write_record(tmp_path / "pull.json", host.record("sdc"))
    assert opening_words() == ("the exchange of sdc, serial S5Y1NX0R103364, is not finished; i shows it",)
    (tmp_path / "pull.json").write_text("{")
    [said] = opening_words()
    assert "cannot be understood" in said
