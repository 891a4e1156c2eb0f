"""A wreck is saved by what raidtui offers: the way, its trial, the plan, the array that runs, and back."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.lab.guests.digests import digests
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import PLAN, raidtui
from tests.lab.guests.wrecks.asking import Asked
from tests.lab.guests.wrecks.making import MANIFEST, scripted
from tests.lab.guests.wrecks.wreck import Found, Wreck

_STARTS = frozenset(
    {
        *("start", "start-degraded", "continue-reshape", "continue-reshape-without-backup"),
        *("revert-reshape", "take-half", "force", "start-without-bitmap"),
    }
)
_HARMLESS = frozenset({"copy-first", "bring-back", "look", "restore-size"})
_MOST_TRIED = 12
Words = Sequence[str]


def saved(guest: Guest, wreck: Wreck, asked: Asked, *, carried_out: bool) -> list[str]:
    """What is wrong with the rescue of a wreck: its trial, which shows all files by their hashes.

    Where it is carried out, the real plan follows, the array that runs, and back. Until the plan is
    confirmed, no byte of any disk is another one; after its rollback neither. Where nothing can be saved,
    nothing is offered.
    """
    if wreck.mend:
        if (result := scripted(guest, wreck.mend)).status:
            return [f"not mended: {result.output}"]
        asked = Asked(wrong=[])
    before = digests(guest)
    array = _array(guest, wreck, asked)
    if not wreck.provable:
        return _lost(guest, wreck, asked, array)
    if array is None:
        return ["no array is named"]
    if array["level"] == "container":
        way = "start" if len(wreck.given) == array["raid_disks"] else "start-degraded"
        tries = [(way, *wreck.given), (way, *wreck.given, "--overlays")]
        wrong = [text for words in tries for text in _tried(guest, wreck, words)[1]]
        return wrong if digests(guest) == before else [*wrong, "the trial has written"]
    job, wrong = "", [f"no way is offered: {array['verdict']}"]
    for words in _ways(guest, wreck, asked, array):
        job, wrong = _tried(guest, wreck, words)
        if digests(guest) != before:
            return [*wrong, f"the trial {words} has written"]
        if job:
            break
    if wreck.search is Found.UNPROVEN or not job:
        return [] if wreck.unproven and not job else wrong or ["what is damaged is called proven"]
    if wreck.moves or not carried_out:
        return []
    return _carried_out(guest, wreck, job, lambda: digests(guest) == before)


def _array(guest: Guest, wreck: Wreck, asked: Asked) -> Mapping[str, Any] | None:
    """The array that has most of the wreck's devices."""
    found = asked.found
    if not found or wreck.named:
        found = json.loads(raidtui(guest, "rescue", "--json", *wreck.named).stdout)

    def shared(array: Mapping[str, Any]) -> int:
        return len({each["device"] for each in array["members"]} & set(wreck.given))

    return max(found["arrays"], key=shared, default=None)


def _lost(guest: Guest, wreck: Wreck, asked: Asked, array: Mapping[str, Any] | None) -> list[str]:
    """What is wrong where nothing can be saved: it is said, and no way is there that would be a guess."""
    verdict = array["verdict"]["code"] if array is not None else "nothing"
    ways = {way["code"] for way in array["ways"] if way["possible"]} if array is not None else set()
    if verdict == "search":
        found = _candidates(guest, wreck, asked, wreck.given)
        return [] if (found, ways & _STARTS) == ([], set()) else [f"offered: {ways}, {found}"]
    lost = verdict in {"lost", "nothing"} and ways <= _HARMLESS
    return [] if lost else [f"it is not said to be lost: {verdict}, {sorted(ways)}"]


def _ways(guest: Guest, wreck: Wreck, asked: Asked, array: Mapping[str, Any]) -> Iterator[Words]:
    """Yield the words of trials: of the first way that is possible, or of what a search has found."""
    for way in array["ways"]:
        if not way["possible"]:
            continue
        if way["code"] in _STARTS:
            yield (way["code"], *way["devices"])
            return
        if way["code"] == "search":
            for each in _candidates(guest, wreck, asked, way["devices"])[:_MOST_TRIED]:
                yield _geometry(each)
            return


def _candidates(
    guest: Guest, wreck: Wreck, asked: Asked, devices: Sequence[str]
) -> Sequence[Mapping[str, Any]]:
    """What a search finds on devices, best first."""
    if asked.candidates is not None and sorted(devices) == sorted(wreck.given):
        return asked.candidates
    result = raidtui(guest, "rescue", "search", "--json", *devices, timeout=300)
    found: Sequence[Mapping[str, Any]] = json.loads(result.stdout)["candidates"] if result.stdout else []
    return found


def _geometry(found: Mapping[str, Any]) -> Words:
    """The words with which a candidate of a search is tried, as the real step does it."""
    values = {
        "level": found["level"],
        "layout": found["layout"],
        "chunk": found["chunk_bytes"] and found["chunk_bytes"] >> 10,
        "offset": found["data_offset_sectors"],
        "metadata": found["metadata"],
        "size": found["size_sectors"],
    }
    words = ",".join(f"{key}={value}" for key, value in values.items() if value is not None)
    return ("rebuild-superblocks", *found["order"], f"--geometry={words}", "--overlays")


def _tried(guest: Guest, wreck: Wreck, words: Words) -> tuple[str, list[str]]:
    """The trial that shows all files, as a person knows them by their sums; or what is wrong with it."""
    listed = ("--hashes", MANIFEST) if wreck.listed else ()
    result = raidtui(guest, "rescue", "try", *words, *listed, "--json", timeout=300)
    if not result.stdout:
        return "", [f"tried {words}: status {result.status}: {result.output}"]
    found = json.loads(result.stdout)
    files = guest.run(f"wc -l <{MANIFEST}").stdout.strip()
    whole = not listed or f", {files} have the sums of the list" in found["proof"]["sure"]
    if result.status != 0 or not whole:
        return "", [f"tried {words}: {found['proof']}, {found['void']}, {found['said']}"]
    return found["job"], []


def _carried_out(guest: Guest, wreck: Wreck, job: str, same: Callable[[], bool]) -> list[str]:
    """What is wrong with the real plan of a trial: until it is confirmed, as it runs, and taken back."""
    made = raidtui(guest, "rescue", "plan", job, "--json", into=PLAN)
    if made.status:
        return [f"no plan: {made.output}"]
    plan = json.loads(made.stdout)["plan"]
    confirm = [f"--confirm={plan['confirm']}"] if plan.get("confirm") else []
    if confirm and (raidtui(guest, "apply", PLAN).status, same()) != (2, True):
        return ["it has begun before it was confirmed"]
    if not same():
        return ["the plan itself has written"]
    done = raidtui(guest, "apply", PLAN, *confirm)
    if done.status:
        return [f"not carried out: {done.output}"]
    running = guest.run("grep -l readonly /sys/block/md*/md/array_state").stdout.split("/")
    array = f"/dev/{running[3]}" if len(running) == 6 else "none"
    looked = scripted(guest, f"MD={array}\nSYS=/sys/block/{array[5:]}/md\n{wreck.looked}", timeout=180)
    wrong = [] if looked.status == 0 else [f"{array} runs without its files: {looked.output}"]
    if plan.get("rolls_back"):
        last = json.loads(raidtui(guest, "jobs", "--json").stdout)["jobs"][-1]["id"]
        back = raidtui(guest, "jobs", "rollback", last)
        wrong += [] if back.status == 0 else [f"not rolled back: {back.output}"]
        assert guest.run("rm -rf /var/lib/raidtui/rescue").status == 0
    else:
        stopped = scripted(guest, f"mask\nMD={array}\nSYS=/sys/block/{array[5:]}/md\nstop\nunmask")
        wrong += [] if stopped.status == 0 else [f"not stopped: {stopped.output}"]
    return wrong if wreck.replays or same() else [*wrong, "the members are not as they were before"]
