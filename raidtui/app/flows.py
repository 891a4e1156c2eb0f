"""Which feature carries out what a key of another pane asks for; each is imported when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial

from raidtui.app.registry import FEATURES
from raidtui.frame.screen_shell import ScreenShell
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def flow_of(
    shell: ScreenShell, name: str, snapshot: Snapshot, array: Array | AbsentArray | None = None
) -> Callable[[], Coroutine[None, None, None]]:
    """Return what opens the dialogs or the page of this name.

    Args:
        shell: the app.
        name: as a feature has it in ``flows``.
        snapshot: the state of the host.
        array: what is chosen.
    """
    flow = next((feature.flows[name] for feature in FEATURES if name in feature.flows), None)

    async def open_it() -> None:
        if flow is None:
            shell.say(f"this raidtui was built without {name}")
        else:
            await flow(shell, array, snapshot)

    return open_it


async def plan_of(shell: ScreenShell, order: Sequence[str]) -> Plan | Refusal:
    """Return the plan that an order prints, or why there is none.

    Args:
        shell: the app.
        order: the words of ``raidtui plan VERB ...`` after ``raidtui``.
    """
    from raidtui.app.commands.plan import plan_of_words  # noqa: PLC0415  (most flows need none of it)

    loop, reader = shell.session.loop, shell.session.reader
    work = partial(plan_of_words, reader.thread_safe_copy() or reader, order)
    return await (loop.on_disk_thread(work) if reader.live else loop.on_host_thread(work))
