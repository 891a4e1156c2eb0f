"""The real step: only what was rehearsed and judged, on the members that were tried, and with a way back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import DIRTY, Assembly, Recreation
from raidtui.features.rescue.real_plan import plan_real
from raidtui.features.rescue.saved_ends import SavingRoom
from raidtui.features.rescue.search.results import CandidateEvidence, CheckResult, Proof, RescueGeometry
from raidtui.features.rescue.trial.trial_record import (
    TrialLooks,
    TrialMethod,
    TrialNames,
    TrialOutcome,
    TrialRecord,
    TrialRequest,
)
from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.survey import Superblock, Survey
from raidtui.plans.shell_script import plan_sentences
from tests.hosts.specs import inactive, raid10
from tests.plans.new_array import UUID, device, survey

MIB = 1 << 20
NAMES = ("sda", "sdb", "sdc")
ROOM = SavingRoom(folder="/var/lib/raidtui/rescue", free_bytes=100 << 30)
CLEAN = Proof(check=CheckResult.CLEAN, contents="ext4", sure="e2fsck finds nothing wrong")
OUTCOME = TrialOutcome(proof=CLEAN, digests={name: f"digest of {name}" for name in NAMES})
FORCED = Assembly(devices=NAMES, uuid=UUID, force=True, run=True)
AGAIN = Recreation(
    geometry=RescueGeometry(
        level=5, order=NAMES, layout="left-symmetric", chunk_bytes=65536, data_offset_sectors=264192
    ),
    uuid=UUID,
    name="data",
    homehost="nas",
)


def block(events: int, updated_s: float) -> Superblock:
    return Superblock(
        uuid=UUID, name="nas:data", raid_disks=4, events=events, updated_s=updated_s, offset_sectors=2048
    )


def members(*more: str) -> Survey:
    """Three members of the same age, but for sdc, which is behind; sdd, if it is there, even more."""
    ages = {"sda": (20, 100.0), "sdb": (20, 100.0), "sdc": (19, 86.0), "sdd": (3, 10.0)}
    return survey(*(device(name, superblock=block(*ages[name])) for name in (*NAMES, *more)))


def trial(made: Assembly | Recreation = FORCED, method: TrialMethod = TrialMethod.OVERLAYS) -> TrialRecord:
    return TrialRecord(
        request=TrialRequest(ident="abc", method=method, made=made, label="data"),
        names=TrialNames(ident="abc", array="md300"),
        start=1,
        target="/dev/md300",
        overlays={},
        looks=TrialLooks(),
    )


def planned(host: Survey, record: TrialRecord, outcome: TrialOutcome | None = OUTCOME, **more: Any) -> Plan:
    found = plan_real(host, record, outcome, more.get("room", ROOM), job="20261122-trial")
    assert isinstance(found, Plan), found
    return found


def refused(host: Survey, record: TrialRecord, outcome: TrialOutcome | None = OUTCOME, **more: Any) -> str:
    found = plan_real(host, record, outcome, more.get("room", ROOM), job="T")
    assert isinstance(found, Refusal), found
    return found.sentence


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ("AAA.", ", and sda, sdb and sdc mark it as failed: another half; it is left out."),
        ("AAAA", "; it is left out."),
    ],
    ids=["failed", "whole"],
)
def test_what_is_left_out_is_never_called_up_to_date(roles: str, said: str) -> None:
    """The other half of a split brain has as many events, and other data."""
    blocks = [replace(block(20, 100.0), slot=slot, roles=roles) for slot in range(4)]
    host = survey(*(device(f"sd{letter}", superblock=blocks[at]) for at, letter in enumerate("abcd")))
    assert f"sdd has as many events{said}" in planned(host, trial()).notes


def test_what_is_forgiven_is_said() -> None:
    plan = planned(members("sdd"), trial())
    *shown, main = plan.grounds
    [start] = [number for number, step in enumerate(plan.steps, 1) if "--assemble" in step.argv]
    assert main.startswith(f"Step {start} is the command that was tried: mdadm --assemble /dev/md/data ")
    assert shown == [
        "Trial 20261122-trial: clean, ext4.",
        "How sure: e2fsck finds nothing wrong.",
        "Tried on copy-on-write overlays; both ends of sda, sdb and sdc read as before it.",
    ]
    assert plan.notes == (
        (
            "sdc is 1 event behind, last updated 14 s before the newest: data written to it in"
            " that time may be lost."
        ),
        "sdd is 17 events behind, last updated 90 s before the newest; it is left out.",
        (
            "Afterwards: mount it read-only, copy what cannot be replaced, and compare file contents with"
            " a backup or their checksums. Only then let anything write to it, or rebuild it."
        ),
        (
            "The ends of the members are saved in /var/lib/raidtui/rescue: 768 MiB; 100 GiB are free in"
            " /var/lib/raidtui/rescue."
        ),
    )
    assert (plan.harm, plan.confirm, plan.rolls_back) == (Harm.DESTROYS, "data", True)
    assert plan.after == plan.notes[2]
    assert not [line for line in plan_sentences(plan) if "cannot be restored" in line]


def test_a_tie_goes_with_the_proof_to_the_plan() -> None:
    tied = trial()
    evidence = CandidateEvidence(
        tie="One of 720 geometries that fit alike.",
        compared=59,
        unmatched=4,
        behind=("sdd is 4 events behind",),
    )
    tied = replace(tied, request=replace(tied.request, evidence=evidence))
    plan = planned(members("sdd"), tied)
    assert plan.grounds[1:4] == evidence.doubts
    assert evidence.doubts[0] == "One of 720 geometries that fit alike."
    assert evidence.doubts[1].startswith("A clean check is not enough here: parity did not match in 4 of 59")
    assert evidence.doubts[2].startswith("By the superblocks, sdd is 4 events behind")
    assert "  One of 720 geometries that fit alike." in plan_sentences(plan)


def test_the_ends_are_saved_before_and_restored_by_the_undo() -> None:
    plan = planned(members(), trial(AGAIN))
    saved = [step for step in plan.steps if step.argv[:1] == ("dd",)]
    number = next(number for number, step in enumerate(plan.steps) if step.argv[:1] == ("mdadm",))
    assert all(plan.steps.index(step) < number for step in saved)
    assert [step.argv[1] for step in saved] == [f"if=/dev/{name}" for name in NAMES for _ in "ab"]
    assert "count=135266304" in saved[0].argv  # all that lies before the data, and more than 128 MiB
    assert f"count={128 * MIB}" in saved[1].argv
    stop, *back = plan.steps[number].undo
    assert stop.argv == ("mdadm", "--stop", "/dev/md/data")
    assert [step.argv[2] for step in back] == [f"of=/dev/{name}" for name in NAMES for _ in "ab"]
    assert f"seek={(100 << 30) - MIB}" in back[1].argv
    assert f"skip={127 * MIB}" in back[1].argv
    proofs = [(each.kind, each.subject, each.value) for each in back[1].proves]
    assert proofs == [(FactKind.UNTOUCHED, "sda", "digest of sda")]


def test_the_members_are_those_that_were_tried() -> None:
    step = next(step for step in planned(members(), trial()).steps if step.argv[:1] == ("mdadm",))
    kinds = {(fact.kind, fact.subject) for fact in step.needs}
    for name in NAMES:
        wanted = (FactKind.SERIAL, FactKind.SIZE, FactKind.FREE, FactKind.UNTOUCHED)
        assert {(kind, name) for kind in wanted} <= kinds


def test_with_little_room_the_least_is_saved() -> None:
    small = SavingRoom(folder="/srv", free_bytes=400 * MIB, in_memory=True)
    plan = planned(members(), trial(), room=small)
    words = {word for step in plan.steps for word in step.argv}
    assert {word for word in words if word.startswith("count=")} == {f"count={MIB}"}
    assert plan.notes[-1] == (
        "The ends of the members are saved in /srv: 6 MiB; 400 MiB are free in /srv. 128 MiB of each end are"
        " saved where 1.5 GiB are free. That folder is in memory: a reboot clears it, and then nothing can be"
        " restored."
    )


def test_without_room_all_numbers_are_said() -> None:
    none = SavingRoom(folder="/srv", free_bytes=MIB)
    assert refused(members(), trial(), room=none) == (
        "there is no room to save both ends of 3 members before superblocks are written: 6 MiB at least, and"
        " 8 MiB that stay free, are needed; 1 MiB are free in /srv; make room there, or name another folder:"
        " --save-to FOLDER, or e on the page of the proof"
    )
    absent = SavingRoom(folder="/none", free_bytes=0, why_not="there is no folder /none")
    assert refused(members(), trial(), room=absent) == (
        "there is no folder /none; name another folder: --save-to FOLDER, or e on the page of the proof"
    )


@pytest.mark.parametrize(("made", "most"), [(FORCED, 20), (AGAIN, 0)])
def test_nothing_is_written_back_once_the_array_was_written_to(
    made: Assembly | Recreation, most: int
) -> None:
    """Md counts an event before the first write; before that, none is newer than those mdadm was given."""
    start = next(step for step in planned(members(), trial(made)).steps if step.argv[:1] == ("mdadm",))
    stop, *back = start.undo
    assert [(each.kind, each.subject, each.value) for each in stop.needs] == [(FactKind.UNWRITTEN, UUID, "")]
    for step in back:
        (counted,) = (each for each in step.needs if each.kind is FactKind.EVENTS)
        assert (f"of=/dev/{counted.subject}" in step.argv, counted.value) == (True, f"{UUID}/{most}")


def test_raid0_that_does_not_run_may_have_been_written_to() -> None:
    """It counts no event as it is written to."""
    made = replace(AGAIN, geometry=replace(AGAIN.geometry, level=0, layout=""))
    start = next(step for step in planned(members(), trial(made)).steps if step.argv[:1] == ("mdadm",))
    assert start.undo[0].needs[0].value == "runs"


def test_a_start_that_writes_nothing_saves_nothing() -> None:
    made = Assembly(devices=NAMES, uuid=UUID, run=True)
    plan = planned(members(), trial(made, TrialMethod.READ_ONLY))
    assert [step.argv[1] for step in plan.steps] == ["--assemble"]
    assert (plan.harm, "--readonly" in plan.steps[0].argv) == (Harm.REDUCES, True)


@pytest.mark.parametrize(
    ("made", "method", "change", "sentence"),
    [
        (AGAIN, TrialMethod.MAPPED, {}, "the trial T has not rehearsed the command itself"),
        (
            AGAIN,
            TrialMethod.OVERLAYS,
            {"proof": Proof(check=CheckResult.ERRORS, sure="e2fsck finds errors")},
            "the geometry of trial T is not proven: e2fsck finds errors",
        ),
        (
            FORCED,
            TrialMethod.OVERLAYS,
            {"void": "a store is full"},
            "the trial T shows nothing: a store is full",
        ),
        (
            FORCED,
            TrialMethod.OVERLAYS,
            {"proof": Proof(check=CheckResult.NOT_POSSIBLE, sure="mdadm failed")},
            "the trial T was refused: mdadm failed",
        ),
        (FORCED, TrialMethod.OVERLAYS, {"digests": {}}, "sda does not read as it did in the trial"),
    ],
)
def test_what_is_not_proven_is_refused(
    made: Assembly | Recreation, method: TrialMethod, change: dict[str, Any], sentence: str
) -> None:
    assert refused(members(), trial(made, method), replace(OUTCOME, **change)).startswith(sentence)


def test_a_trial_that_has_not_ended_proves_nothing() -> None:
    assert refused(members(), trial(), None).startswith(
        "the trial T shows nothing: it has not ended; try again"
    )


def test_an_array_that_waits_is_let_go_and_one_that_runs_is_not() -> None:
    devices = tuple(device(name, superblock=block(20, 100.0)) for name in NAMES)
    waits = survey(*devices, arrays=(inactive(raid10()),))
    commands = [step.command for step in planned(waits, trial()).steps]
    assert commands.index("mdadm --stop /dev/md127") < next(
        number for number, text in enumerate(commands) if text.startswith("mdadm --assemble")
    )
    assert "is in use: a member of" in refused(survey(*devices, arrays=(raid10(),)), trial())


def test_a_dirty_array_is_started_in_the_middle_of_its_reshape() -> None:
    """What the kernel is told for it is taken back, also where the start fails."""
    plan = planned(members(), trial(Assembly(devices=NAMES, uuid=UUID, dirty=True)))
    on, start, off = plan.steps
    assert [on.command, off.command] == [f"echo {text} > {DIRTY}" for text in (1, 0)]
    assert "--force" not in start.argv
    assert (on.undo, plan.rolls_back) == ((off,), True)
    assert not planned(members(), trial(Assembly(devices=NAMES, uuid=UUID))).rolls_back
    file = Assembly(devices=NAMES, uuid=UUID, dirty=True, backup="/root/b")
    commands = [step.command for step in planned(members(), trial(file)).steps]
    at = commands.index(on.command)
    assert "--backup-file=/root/b" in commands[at + 1]
    assert commands[at + 2] == off.command
