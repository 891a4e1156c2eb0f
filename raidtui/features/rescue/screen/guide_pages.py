"""What the guide says beside its pages: of a trial in a list, and of a host that it may not read."""

from __future__ import annotations

from raidtui.features.rescue.session_trials import KnownTrial
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.snapshot import Snapshot
from raidtui.view.text import visible
from raidtui.view.units import joined


def here_only(root: HostReader) -> str:
    """Return why no way back can be gone on a host, a sentence; "" where they can."""
    if root.source == "demo":
        return "This is the demo host, which is simulated: nothing can be tried on it."
    return "" if root.writable else "This is a capture: it is done on the host itself."


def trial_words(trial: KnownTrial) -> str:
    """Return what a trial is called among the arrays."""
    what = (
        "a trial that runs"
        if trial.runs
        else "a trial that is held"
        if trial.held
        else "what is left of a trial"
    )
    return f"{what}: {trial.record.request.label}"


def left_words(last: KnownTrial | None) -> str:
    """Return what is said where the guide was left: a trial that is there stays."""
    if last is None or not (last.runs or last.left):
        return "nothing was changed"
    return (
        "the trial continues; a shows it"
        if last.runs
        else "the trial is there until it is taken down; a shows it"
    )


def without_root(snapshot: Snapshot) -> list[str]:
    """Return what can be said without reading superblocks, a paragraph each."""
    here = "Superblocks can be read by root alone: sudo raidtui."
    if snapshot.host.readonly:
        here = (
            "A console that only looks (--readonly) reads no superblocks; raidtui rescue reads them,"
            " and writes nothing."
        )
    page = [here, "Without them nothing can be said of what happened, and no way back can be tried.", ""]
    for absent in snapshot.absent:
        names = joined([member.name for member in absent.members if member.present])
        words = f"{absent.title}: {absent.count_short}" + (f" ({names})" if names else "")
        page.append(visible(words))
    if not snapshot.absent:
        page.append("udev knows of no array that does not run.")
    if not snapshot.host.readonly:
        page += ["", "raidtui rescue reads them, too, and writes nothing; it needs root as well."]
    return page
