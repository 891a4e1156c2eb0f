"""What an exchange says at each point, in sentences: the screen and the command line share them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.pull.bays import BayDisk
from raidtui.features.pull.record import PullDisk, PullRecord
from raidtui.features.pull.standing import OtherState, PullStage, PullStanding
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.model.array import Array
from raidtui.view.units import joined, short_size

_FEW = 3


class PullWords(Struct, frozen=True, kw_only=True):
    """What is said.

    Args:
        head: what is the case, or what to do now, in a few words.
        role: bad, warn, ok or plain.
        text: sentences.
        act: what Enter does, or ``--next``; "" where nothing is to be done here.
    """

    head: str
    role: str
    text: tuple[str, ...]
    act: str = ""


def disk_words(disk: PullDisk | BayDisk) -> str:
    """Return a disk as a person finds it: serial number, model, size, bay."""
    size = short_size(disk.size_bytes) if disk.size_bytes else ""
    bay = f"at {disk.bay}" if disk.bay else ""
    return " · ".join(filter(None, (disk.number, disk.model, size, bay)))


def pull_words(record: PullRecord, found: PullStanding, arrays: tuple[Array, ...]) -> PullWords:
    """Return what is to be said of an exchange as it stands.

    Args:
        record: of the exchange.
        found: where it stands.
        arrays: the arrays that are there.
    """
    if found.wrong:
        return _wrong(record, found, arrays)
    if out := found.those(OtherState.OUT):
        return _out(out, found, arrays)
    return _STAGES[found.stage](record, found)


def closing_words(
    words: PullWords, sentences: tuple[str, ...], *, known: bool, needed: Sequence[str]
) -> PullWords:
    """Return what is said at the end of an exchange, with what a boot check has found.

    Args:
        words: what is said without it.
        sentences: what was found.
        known: whether it could be told of each disk.
        needed: the disks without which the machine does not boot.
    """
    if needed:
        words = replace(
            words, head=f"Done, but the machine does not boot without {_few(needed)}", role="warn"
        )
    elif not known:
        words = replace(words, role="warn")
    return replace(words, text=(*words.text, *sentences))


def _few(names: Sequence[str]) -> str:
    return joined(list(names)) if len(names) <= _FEW else f"{len(names)} of its disks"


def draft_words(record: PullRecord, refusal: str, *, replaces: str, ready: bool) -> PullWords:
    """Return what is to be said of an exchange that has not begun.

    Args:
        record: what would be kept of it.
        refusal: why it cannot begin; "" where it can.
        replaces: the title of the plan that copies it to a disk that is there; "" where there is none.
        ready: whether it is out of all arrays already.
    """
    if refusal:
        text: tuple[str, ...] = (f"It cannot be exchanged now: {refusal}.",)
        return PullWords(head="Do not pull it", role="warn", text=text)
    first = (
        (
            (
                f"First choice: {replaces}. It copies while this disk still serves: no redundancy is lost;"
                " then come back here."
            ),
        )
        if replaces
        else ()
    )
    if ready:
        out = f"It has already left {_titles(record)}. Once begun, raidtui watches which disk leaves."
        return PullWords(head="Nothing has begun", role="plain", text=(*first, out), act="begin")
    out = f"Taking it out ends its service in {_titles(record)}; pull it only then."
    return PullWords(head="Do not pull it yet", role="plain", text=(*first, out), act="take it out")


def _wrong(record: PullRecord, found: PullStanding, arrays: tuple[Array, ...]) -> PullWords:
    wrong, known = found.wrong, {array.uuid: array for array in arrays}
    names = joined([f"{disk.name}, {disk.number}" for disk in wrong])
    back = "push it back into its bay now, and pull nothing else"
    text = [f"{names}, left: {back}. The disk to pull is {record.target.number}."]
    if found.lost:
        text.append(
            f"{joined(list(found.lost))} cannot do without it and has stopped working. Do not write, do not"
            " create or force anything: once it is back, stop and start the array (T and a in pane 1, or"
            " raidtui rescue)."
        )
        return PullWords(head="WRONG DISK: push it back", role="bad", text=tuple(text))
    members = [member for disk in wrong for member in disk.members]
    whole = [m.array for m in members if (a := known.get(m.uuid)) is not None and a.bitmap is None]
    part = [m.array for m in members if (a := known.get(m.uuid)) is not None and a.bitmap is not None]
    if part:
        names = joined(list(dict.fromkeys(part)))
        text.append(
            f"Then it is re-added to {names}: by the bitmap, only what was written meanwhile is copied."
        )
    if whole:
        names = joined(list(dict.fromkeys(whole)))
        text.append(f"Then it is added to {names} and copied whole, since there is no bitmap.")
    if not members:
        text.append("It held no member of an array: there is nothing to add.")
    return PullWords(head="WRONG DISK: push it back", role="bad", text=tuple(text))


def _out(out: tuple[PullDisk, ...], found: PullStanding, arrays: tuple[Array, ...]) -> PullWords:
    names = joined([disk.number for disk in out])
    titles = joined(list(dict.fromkeys(member.array for disk in out for member in disk.members)))
    if found.lost:
        return PullWords(
            head="It is back, and its array does not work",
            role="bad",
            text=(
                (
                    f"{_opening(names)} is back. {joined(list(found.lost))} has stopped working"
                    " without it: stop it and start it again (T and a in pane 1, or raidtui rescue)."
                ),
            ),
        )
    bitmaps = all(
        array.bitmap is not None
        for array in arrays
        if any(array.uuid == member.uuid for disk in out for member in disk.members)
    )
    much = "only what was written meanwhile is copied" if bitmaps else "what has no bitmap is copied whole"
    return PullWords(
        head="It is there, and out of its array",
        role="warn",
        text=(
            (
                f"{_opening(names)} must not be pulled, and is no longer a member of {titles}. Take it back:"
                f" {much}."
            ),
        ),
        act=f"take {out[0].printed} back",
    )


def _taking(record: PullRecord, found: PullStanding) -> PullWords:
    del found
    return PullWords(
        head="Wait: it is being taken out",
        role="warn",
        text=(f"{record.target.name} is leaving {_titles(record)}. Do not pull it yet.",),
    )


def _serving(record: PullRecord, found: PullStanding) -> PullWords:
    name = found.target.name if found.target is not None else record.target.name
    if found.interrupted:
        return PullWords(
            head="Do not pull: it is still in service",
            role="warn",
            text=(f"The job that takes {name} out {_sentence(found)}. Resume it.",),
            act="resume the job",
        )
    if found.job_state is JobState.DONE:
        return PullWords(
            head="Do not pull: it is in service again",
            role="warn",
            text=(
                f"{name} was taken out, and is a member of {_titles(record)} again.",
                "mdadm can add it when the machine boots. Take it out once more.",
            ),
            act="take it out",
        )
    return PullWords(
        head="Do not pull: it is in service",
        role="warn",
        text=(f"{name} is a member of {_titles(record)}. Take it out first.",),
        act="take it out",
    )


def _waiting(record: PullRecord, found: PullStanding) -> PullWords:
    name = found.target.name if found.target is not None else record.target.name
    dark = f" Its bay has no light: {record.dark}." if record.dark else ""
    light = " The light of its bay blinks, where the bay has one." if record.light else dark
    return PullWords(
        head="Pull it now",
        role="ok",
        text=(
            (
                f"{name} is out of {_titles(record)}.{light} Compare the serial number on its label before"
                " the disk leaves the case."
            ),
            "You may also do it with the machine switched off: raidtui finds this page again.",
        ),
    )


def _others(count: int) -> str:
    return "The other disk is" if count == 1 else f"The other {count} are"


def _left(record: PullRecord, found: PullStanding) -> PullWords:
    disk = record.target
    text = [f"{disk.name}, {disk.number}, left. {_others(len(found.others))} still present."]
    if found.complete:
        text.append(f"{_titles(record)}: complete without it. A new disk would be a spare; x ends this here.")
    else:
        text.append(f"Push the new disk in{f', at {disk.bay}' if disk.bay else ''}: at least as large.")
    if found.unnamed:
        text.append(f"{joined(list(found.unnamed))}: its serial number is not known (yet).")
    return PullWords(head="The right disk left", role="ok", text=tuple(text))


def _back(record: PullRecord, found: PullStanding) -> PullWords:
    return PullWords(
        head="This is the disk that was pulled",
        role="warn",
        text=(
            (
                f"{_opening(record.target.number)} is back"
                f"{f', as {found.target.name}' if found.target is not None else ''}. If only its cable or its"
                f" bay was the trouble, take it back into {_titles(record)}; else pull it, and push the new"
                " one in."
            ),
        ),
        act="take it back",
    )


def _fresh(record: PullRecord, found: PullStanding) -> PullWords:
    disk = found.fresh[0]
    same = bool(disk.bay) and disk.bay == record.target.bay
    where = " It is in the bay of the former one." if same else ""
    more = f" {len(found.fresh) - 1} more new: n shows the next." if len(found.fresh) > 1 else ""
    return PullWords(
        head="A new disk is there",
        role="ok",
        text=(f"{disk.name}, {disk.number}.{where}{more} Its plan says whether it fits.",),
        act=f"put {disk.name} in",
    )


def _filling(record: PullRecord, found: PullStanding) -> PullWords:
    percent = found.sync.percent if found.sync is not None else None
    name = found.fresh[0].name if found.fresh else found.target.name if found.target is not None else "it"
    if found.interrupted:
        return PullWords(
            head="Interrupted",
            role="warn",
            text=(f"The job that puts {name} in {_sentence(found)}. Resume it.",),
            act="resume the job",
        )
    return PullWords(
        head="md copies" + (f": {percent}" if percent else ""),
        role="plain",
        text=(f"{_titles(record)}: md recovers {name}. Pull nothing before it ends.",),
    )


def _done(record: PullRecord, found: PullStanding) -> PullWords:
    disk = found.fresh[0] if found.fresh else found.target
    where = f" {disk.name}, {disk.number}, is in." if disk is not None else ""
    text = f"{_titles(record)}: complete.{where}"
    if found.job_state in UNDER_WAY:
        more = "What is not part of the copy follows: its boot loader, the light of its bay."
        return PullWords(head="Nearly done", role="plain", text=(text, more))
    return PullWords(head="Done", role="ok", text=(text,), act="end this")


_STAGES = {
    PullStage.TAKING: _taking,
    PullStage.SERVING: _serving,
    PullStage.WAITING: _waiting,
    PullStage.LEFT: _left,
    PullStage.BACK: _back,
    PullStage.FRESH: _fresh,
    PullStage.FILLING: _filling,
    PullStage.DONE: _done,
}


def _opening(words: str) -> str:
    """Return words as a sentence begins."""
    return words[:1].upper() + words[1:]


def _titles(record: PullRecord) -> str:
    return joined(list(dict.fromkeys(member.array for member in record.target.members)))


def _sentence(found: PullStanding) -> str:
    return (found.job_state or JobState.INTERRUPTED).sentence
