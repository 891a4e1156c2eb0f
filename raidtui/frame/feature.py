"""What a feature gives the application. Each part is imported when it is used, so that the start stays short.

This knows no feature: ``raidtui.app.registry`` lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from raidtui.frame.pane import Pane
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.jobs.store import Job
    from raidtui.model.absent import AbsentArray
    from raidtui.model.array import Array
    from raidtui.model.plan import Plan, Refusal
    from raidtui.model.snapshot import Snapshot
    from raidtui.model.survey import Survey
    from raidtui.watch.past import PastReader
    from raidtui.watch.session import Session
    from raidtui.watch.watch import Report

    Flow = Callable[[ScreenShell, Array | AbsentArray | None, Snapshot], Coroutine[Any, Any, None]]


class CommandModule(Protocol):
    """The module of a subcommand. One with ``complete``, too, fills in what may be left out."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the subcommand."""

    def run(self, reader: HostReader, arguments: argparse.Namespace) -> int:
        """Carry it out, and return the exit status."""


class Subcommand(Struct, frozen=True, kw_only=True):
    """A subcommand of ``raidtui``.

    Args:
        name: as it is typed.
        help: a line.
        module: imports its module.
    """

    name: str
    help: str
    module: Callable[[], CommandModule]


class Verbs(Struct, frozen=True, kw_only=True):
    """Verbs of ``raidtui plan``.

    Args:
        names: as they are typed.
        add: adds them; it is given what returns the parser of a verb, of its name and what it does.
        of_host: returns the plan of one that is about no array.
        of_array: returns the plan of one that is about an array, of the host, the arguments, the array, the
            survey and the kernel names of the devices by the typed words.
    """

    names: frozenset[str]
    add: Callable[[Callable[[str, str], argparse.ArgumentParser]], None]
    of_host: Callable[[HostReader, argparse.Namespace, Snapshot], Plan | Refusal] | None = None
    of_array: (
        Callable[[HostReader, argparse.Namespace, Array, Survey, dict[str, str]], Plan | Refusal] | None
    ) = None


class Watching(Struct, frozen=True, kw_only=True):
    """What a feature has run on a host, so that somebody hears of what happens there.

    Args:
        name: a word, as ``raidtui plan monitoring --only`` takes it.
        plan: returns the plan that sets it up, or why there is none.
        needed: whether the rest is of little use without it.
    """

    name: str
    plan: Callable[[HostReader, Snapshot], Plan | Refusal]
    needed: bool = False


class CapturedPart(Struct, frozen=True, kw_only=True):
    """What a feature puts into a capture.

    Args:
        files: absolute path -> content.
        said: what is printed of it, a line each.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    said: tuple[str, ...] = ()


class Feature(Struct, frozen=True, kw_only=True):
    """What the application knows of a feature.

    Args:
        name: of its folder.
        tab: the name of its pane, where it has one.
        pane: imports its pane.
        commands: its subcommands.
        verbs: imports its verbs of ``raidtui plan``.
        watching: what it has run on a host.
        flows: what keys of other panes open, by name: dialogs or a page, of the app, the chosen array and the
            state of the host.
        follow: is told of each report.
        opening_words: what a console says of the past as it opens, a sentence each.
        unrestored: returns what of a plan, which restores what a session has set until reboot, is left of it
            by what the feature has done since; None for nothing.
        work: does a job of its own kind in this process, and returns the exit status; None for any other.
        capture: what it puts into a capture.
        past: reads what it has kept of its own runs, for the history.
    """

    name: str
    tab: str = ""
    pane: Callable[[], type[Pane]] | None = None
    commands: tuple[Subcommand, ...] = ()
    verbs: Callable[[], Verbs] | None = None
    watching: Watching | None = None
    flows: Mapping[str, Flow] = field(default_factory=dict)
    follow: Callable[[Session, Report], None] | None = None
    opening_words: Callable[[], tuple[str, ...]] | None = None
    unrestored: Callable[[Session, Plan], Coroutine[Any, Any, Plan | None]] | None = None
    work: Callable[[HostReader, Job], int | None] | None = None
    capture: Callable[[HostReader], CapturedPart] | None = None
    past: PastReader | None = None
