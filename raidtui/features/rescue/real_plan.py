"""The real step, after a trial: the same command on the members themselves, and what takes it back. Pure.

Before superblocks are written, the ends of each member are copied to files: all that mdadm may write to lies
in them. Undoing the plan writes them back, and compares.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.rescue.mdadm_words import Assembly, Recreation, dirty_steps, mdadm_words
from raidtui.features.rescue.saved_ends import SavingRoom, saved_ends, still_unwritten
from raidtui.features.rescue.search.results import CheckResult
from raidtui.features.rescue.trial.trial_members import find_replaying, find_waiting_arrays
from raidtui.features.rescue.trial.trial_plan import METHOD_WORDS
from raidtui.features.rescue.trial.trial_record import TrialMethod, TrialOutcome, TrialRecord
from raidtui.features.rescue.trial.trial_rules import follow_rules, lift_rules, no_assembly
from raidtui.host.trial_traces import rules_path
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, PutFile, Refusal, RefusalCode, RunTool, Step
from raidtui.model.reshape_place import reading_note
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.assemble import let_go_of
from raidtui.plans.contents import device_facts
from raidtui.plans.target import needs_root, refuse_name, refuse_taken
from raidtui.view.units import SECTOR_BYTES, binary_size, counted, joined

_MOVES = (
    "The reshape continues at once, even if the array is not mounted: data of all members are"
    " moved, which cannot be undone."
)


def plan_real(
    survey: Survey, trial: TrialRecord, outcome: TrialOutcome | None, room: SavingRoom, *, job: str
) -> Plan | Refusal:
    """Return the plan of what a trial has rehearsed, or why there is none.

    Args:
        survey: the host, with the members, read just now.
        trial: what was tried.
        outcome: what came of it.
        room: where the ends of the members are saved.
        job: the trial's id, for people.
    """
    if refusal := needs_root(survey.snapshot) or _refuse_unproven(trial, outcome, job):
        return refusal
    assert outcome is not None  # noqa: S101  (it is refused above)
    made = trial.request.made
    devices = [survey.devices[name] for name in made.devices if name in survey.devices]
    if refusal := _refuse_members(survey, made.devices, outcome):
        return refusal
    label = _label(made, devices)
    waiting = find_waiting_arrays(survey, made.devices)
    if not waiting and (refusal := refuse_taken(survey.snapshot, label)):
        return refusal
    array = f"/dev/md/{label}"
    argv = mdadm_words(array, made, lambda name: f"/dev/{name}")
    saved = saved_ends(made, devices, room, trial.names.ident) if writes_members(made) else None
    if isinstance(saved, Refusal):
        return saved
    uuid = made.uuid
    moves = isinstance(made, Assembly) and bool(made.backup)
    start = RunTool(
        argv=argv,
        why=_why(made),
        timeout_s=300.0,
        proof_decides=moves,
        needs=(
            Fact(kind=FactKind.GONE, subject=uuid),
            *(fact for device in devices for fact in device_facts(device)),
        ),
        proves=(Fact(kind=FactKind.RUNNING, subject=uuid),),
        undo=()
        if moves
        else (
            RunTool(
                argv=("mdadm", "--stop", array),
                why="stop it",
                needs=(still_unwritten(made, devices),) if saved is not None else (),
                proves=(Fact(kind=FactKind.GONE, subject=uuid),),
            ),
            *(saved.back if saved is not None else ()),
        ),
    )
    if saved is None:
        lost = len(devices) < _slots(made, devices) or bool(find_replaying(survey, made.devices))
        started = dirty_steps(made, start)
        steps = (*map(let_go_of, waiting), *started)
        return Plan(
            title=f"rescue: {label}",
            subject=label,
            steps=steps,
            undo=start.undo,
            rolls_back=len(started) > 1,
            harm=Harm.REDUCES if lost else Harm.HARMLESS,
            notes=_notes(survey, trial, outcome),
            grounds=(*_grounds(trial, outcome, job), _main_step(steps, start)),
            devices=made.devices,
            after=_AFTER,
        )
    hold = _hold(trial.names.ident)
    steps = (
        RunTool(argv=("mkdir", "-p", "-m", "700", room.folder), why="where the members' ends are saved"),
        RunTool(argv=("mkdir", "-p", "-m", "700", saved.folder), why="those of this plan"),
        *saved.forth,
        *hold.begin,
        *map(let_go_of, waiting),
        *_backup_steps(made, saved.folder),
        *dirty_steps(made, start),
        *hold.end,
    )
    return Plan(
        title=f"rescue: {label}",
        subject=label,
        steps=steps,
        harm=Harm.DESTROYS,
        warning=_MOVES
        if moves
        else f"Superblocks are written. The old ones are saved in {saved.folder}, and rolling back restores"
        " them byte for byte. Once the array has been written to, rolling back is refused.",
        notes=(*_notes(survey, trial, outcome), saved.note),
        grounds=(*_grounds(trial, outcome, job), _main_step(steps, start)),
        confirm=label,
        rolls_back=not moves,
        stacked=True,
        devices=made.devices,
        after=_AFTER,
    )


def _refuse_unproven(trial: TrialRecord, outcome: TrialOutcome | None, job: str) -> Refusal | None:
    """Nothing is written to members before the same command has been tried on overlays and was judged."""
    if outcome is None or outcome.void or outcome.proof.check is CheckResult.NOT_TRIED:
        why = outcome.void if outcome is not None else "it has not ended"
        return Refusal(
            code=RefusalCode.UNKNOWN,
            why=f"the trial {job} shows nothing{f': {why}' if why else ''}",
            remedy="try again: raidtui rescue try",
        )
    if outcome.proof.check is CheckResult.NOT_POSSIBLE:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"the trial {job} was refused: {outcome.proof.sure}",
            remedy="try another way",
        )
    made = trial.request.made
    if isinstance(made, Assembly) and made.external:
        paths = " ".join(f"/dev/{name}" for name in made.devices)
        run = " --run" if made.run else ""
        own = "IMSM_NO_PLATFORM=1 " if made.external == "imsm" else ""
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="mdadm and mdmon write a container's metadata, and mark absent disks as"
            " failed: raidtui could not undo that",
            remedy=f"by hand: {own}mdadm --assemble /dev/md/box {paths}, then {own}mdadm --incremental{run}"
            " /dev/md/box",
        )
    if isinstance(made, Assembly) and made.backup and outcome.proof.check is not CheckResult.CLEAN:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"the reshape would continue at once, and trial {job} has not shown that the data are intact:"
            f" {outcome.proof.sure}",
            remedy="try another way; moved data cannot be moved back",
        )
    if isinstance(made, Recreation):
        if trial.request.method is not TrialMethod.OVERLAYS:
            return Refusal(
                code=RefusalCode.WRONG_STATE,
                why=f"the trial {job} has not rehearsed the command itself",
                remedy="rehearse it: raidtui rescue try ... --overlays",
            )
        if outcome.proof.check is not CheckResult.CLEAN:
            return Refusal(
                code=RefusalCode.WRONG_STATE,
                why=f"the geometry of trial {job} is not proven: {outcome.proof.sure}",
                remedy="superblocks are rewritten only for a geometry with a clean check",
            )
    return None


def _refuse_members(survey: Survey, names: Sequence[str], outcome: TrialOutcome) -> Refusal | None:
    for name in names:
        device = survey.devices.get(name)
        if device is None:
            return survey.no_device(name)
        if refusal := survey.refuse_unread(name):
            return refusal
        waiting = find_waiting_arrays(survey, names)
        holder = next(
            (array for array in survey.snapshot.arrays if any(each.name == name for each in array.members)),
            None,
        )
        if holder not in waiting and (holder is not None or device.disk.users or device.busy):
            who = f"a member of {holder.title}" if holder is not None else device.disk.users or device.busy
            return Refusal(code=RefusalCode.IN_USE, why=f"{name} is in use: {who}", remedy="release it first")
        if device.digest is None or device.digest != outcome.digests.get(name):
            return Refusal(
                code=RefusalCode.WRONG_STATE,
                why=f"{name} does not read as it did in the trial",
                remedy="try again: raidtui rescue try",
            )
    return None


def _label(made: Assembly | Recreation, devices: Sequence[Device]) -> str:
    if isinstance(made, Recreation):
        return made.name
    label = next((device.superblock.label for device in devices if device.superblock is not None), "")
    return label if refuse_name(label) is None else made.uuid[:8]


def _slots(made: Assembly | Recreation, devices: Sequence[Device]) -> int:
    if isinstance(made, Recreation):
        return len(made.geometry.order)
    return max(
        (device.superblock.raid_disks or 0 for device in devices if device.superblock is not None), default=0
    )


def writes_members(made: Assembly | Recreation) -> bool:
    """Whether the command writes to the members: read-only, and without these, it does not (measured)."""
    return isinstance(made, Recreation) or bool(made.force or made.update or made.backup)


def _backup_steps(made: Assembly | Recreation, folder: str) -> tuple[Step, ...]:
    """A copy of the backup file, which mdadm overwrites; or an empty one, which mdadm 4.2 does not make."""
    if isinstance(made, Recreation) or not made.backup:
        return ()
    if not made.invalid_backup:
        return (
            RunTool(
                argv=("cp", "--", made.backup, f"{folder}/backup-file"),
                why="save the backup file: mdadm empties it as it continues, and removes it at the end",
            ),
        )
    return (
        RunTool(
            argv=("mkdir", "-p", made.backup.rpartition("/")[0] or "/"),
            why="where the new backup file is kept until the reshape ends",
        ),
        RunTool(argv=("touch", made.backup), why="a new backup file"),
    )


def _why(made: Assembly | Recreation) -> str:
    if isinstance(made, Recreation):
        return "new superblocks around the data, which stay; read-only, as in the trial"
    if made.backup:
        return "mdadm starts it, and the reshape continues at once"
    if made.update == "no-bitmap":
        return "without its bitmap; read-only, as in the trial"
    if made.update.startswith("layout-"):
        return "its superblocks record the layout from now on; read-only, as in the trial"
    if made.update:
        return "the reshape waits until the array is writable; read-only, as in the trial"
    if made.force:
        return "the outdated members count as up to date; read-only, as in the trial"
    return "start it by its superblocks; read-only, as in the trial"


class _Hold(Struct, frozen=True, kw_only=True):
    """What keeps udev from assembling anything while superblocks are written, or restored."""

    begin: tuple[Step, ...]
    end: tuple[Step, ...]


def _hold(ident: str) -> _Hold:
    path, text = rules_path(ident), no_assembly(ident)
    settle = RunTool(argv=("udevadm", "settle"), why="udev handles the events that are queued", may_fail=True)
    begun = follow_rules(ident)
    remove, *forgotten = lift_rules(ident, "udev assembles arrays again")
    write = PutFile(path=path, content=text, why="udev assembles no array meanwhile")
    return _Hold(
        begin=(
            RunTool(
                argv=("mkdir", "-p", "/run/udev/rules.d"),
                why="the folder of rules that do not survive a boot",
            ),
            PutFile(path=path, content=text, why=write.why, undo=(settle, remove, *forgotten)),
            *begun,
        ),
        end=(settle, RunTool(argv=remove.argv, why=remove.why, undo=(write, *begun)), *forgotten),
    )


_AFTER = (
    "Afterwards: mount it read-only, copy what cannot be replaced, and compare file contents with a backup"
    " or their checksums. Only then let anything write to it, or rebuild it."
)


def _notes(survey: Survey, trial: TrialRecord, outcome: TrialOutcome) -> tuple[str, ...]:
    """Return what is forgiven, and what is left out."""
    made = trial.request.made
    if not isinstance(made, Assembly):
        return (_AFTER,)
    notes = _gaps(survey, made)
    block = next((survey.devices[name].superblock for name in made.devices if name in survey.devices), None)
    if not made.update and not made.backup and (words := reading_note(block)):
        notes.append(words)
    if made.invalid_backup:
        notes.append(
            "A clean check covers metadata only: what was being moved when the reshape was interrupted"
            " may be damaged inside files, and only their checksums show that (--hashes)."
        )
    if find_replaying(survey, made.devices):
        most = binary_size(max(outcome.store_sectors.values(), default=0) * SECTOR_BYTES)
        notes.append(
            "md replays its log when it starts the array, even read-only: in the"
            f" trial, at most {most} was written to a member. That is not undone."
        )
    return (*notes, _AFTER)


def _grounds(trial: TrialRecord, outcome: TrialOutcome, job: str) -> tuple[str, ...]:
    """Return what the trial has shown: the result, what it cannot decide, how sure it is, how it was done."""
    proof, request = outcome.proof, trial.request
    words = f"Trial {job}: {proof.check}{f', {proof.contents}' if proof.contents else ''}."
    sure = f"How sure: {proof.sure.rstrip('.')}."
    names = joined(list(request.made.devices))
    same = f"Tried {METHOD_WORDS[request.method]}; both ends of {names} read as before it."
    return (words, *request.evidence.doubts, sure, same)


def _main_step(steps: tuple[Step, ...], start: Step) -> str:
    """Return which of the steps is the command that was tried."""
    others = " The others save what it overwrites, and hold the members until then." if start.undo[1:] else ""
    return f"Step {steps.index(start) + 1} is the command that was tried: {start.command}.{others}"


def _gaps(survey: Survey, made: Assembly) -> list[str]:
    """Return a sentence for each member that is behind, and for each that is left out."""
    blocks = {
        name: device.superblock
        for name, device in survey.devices.items()
        if device.superblock is not None and device.superblock.uuid == made.uuid
    }
    newest = max((block.events or 0 for block in blocks.values()), default=0)
    latest = max((block.updated_s or 0.0 for block in blocks.values()), default=0.0)
    notes = []
    for name, block in sorted(blocks.items()):
        gap, late = newest - (block.events or 0), latest - (block.updated_s or latest)
        words = f"{name} is {counted(gap, 'event')} behind, last updated {late:.0f} s before the newest"
        if name not in made.devices:
            failed = [each for each in made.devices if _marks_failed(blocks.get(each), block)]
            if failed and not gap:
                mark = "marks" if len(failed) == 1 else "mark"
                words = f"{name} has as many events, and {joined(failed)} {mark} it as failed: another half"
            elif not gap:
                words = f"{name} has as many events"
            notes.append(f"{words}; it is left out.")
        elif gap:
            lost = "data written to it in that time may be lost" if made.force else "mdadm decides"
            notes.append(f"{words}: {lost}.")
    return notes


def _marks_failed(one: Superblock | None, other: Superblock) -> bool:
    """Whether a member has recorded that another is missing from its slot."""
    if one is None or one.roles is None or other.slot is None:
        return False
    return one.roles[other.slot : other.slot + 1] == "."
