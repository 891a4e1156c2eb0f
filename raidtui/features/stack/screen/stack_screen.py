"""What stands on what, with its load, as a page that is read again every second."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.features.stack.plan_caches import flush_and_detach
from raidtui.features.stack.session import StackSession
from raidtui.features.stack.stack_lines import stack_lines
from raidtui.frame.choose import Choice, Option
from raidtui.frame.pages import PageScreen
from raidtui.frame.plan_flow import PlanFlow
from raidtui.frame.screen_shell import ScreenShell, later
from raidtui.model.plan import Plan, Refusal
from raidtui.monitor.stack.stack_reader import StackLook
from raidtui.view.line import Line
from raidtui.view.text import visible

EVERY_S = 1.0


class StackScreen(PageScreen[None]):
    """Gives nothing.

    Args:
        shell: the app.
        session: what reads.
        focus: the kernel's name of an array or a disk; "" for everything.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("a", "all", show=False),
        Binding("c", "caches", show=False),
        Binding("v,q", "back", show=False),
    ]

    def __init__(self, shell: ScreenShell, session: StackSession, focus: str) -> None:
        super().__init__("")
        self._shell = shell
        self._session = session
        self._focus = focus
        self._all = not focus
        self._reading = self._asking = False
        self.look: StackLook | None = None

    def on_mount(self) -> None:
        """Draw, read, and read again."""
        self.draw()
        self._body.focus()
        self._read_again()
        self.set_interval(EVERY_S, self._read_again)

    def _read_again(self) -> None:
        if not self._reading and not self._shell.held:
            self._reading = True
            later(self, self._read)

    async def _read(self) -> None:
        report = self._shell.report
        arrays = {array.name: array for array in report.snapshot.arrays} if report is not None else {}
        try:
            self.look = await self._session.look(arrays)
        finally:
            self._reading = False
        self.draw()

    def draw(self) -> None:
        """Draw everything."""
        of = "" if self._all else f" of {visible(self._focus)}"
        self.show_head(f"Stack{of}", "read every second")
        self.show_body(self._lines(self.inner_width - 2))  # one before the scroll bar
        other = (("a", f"only {self._focus}" if self._all else "all devices"),) if self._focus else ()
        caches = (("c", "caches"),) if self._has_caches() else ()
        self.show_keys(("↑↓", "scroll"), ("PgUp PgDn", "pages"), *other, *caches, ("Esc", "back"))

    def _lines(self, width: int) -> list[Line]:
        look = self.look
        if look is None:
            return [[("Reading.", "plain")]]
        focus = "" if self._all or self._focus not in look.meter.now.nodes else self._focus
        return stack_lines(look.meter, look.findings, width, focus, look.lives)

    def action_all(self) -> None:
        """Show all devices, or only what stands on the chosen one."""
        if self._focus:
            self._all = not self._all
            self.draw()

    def _has_caches(self) -> bool:
        return self.look is not None and any(node.cache for node in self.look.meter.now.nodes.values())

    def action_caches(self) -> None:
        """Offer to write a cache back, or to detach it."""
        if self._has_caches() and not self._asking:
            self._asking = True
            later(self, self._offer)

    async def _offer(self) -> None:
        try:
            await offer_caches(self._shell)
        finally:
            self._asking = False


async def show_stack(shell: ScreenShell, focus: str) -> None:
    """Show what stands on what.

    Args:
        shell: the app.
        focus: the kernel's name of the chosen array or disk; "" for none.
    """
    await shell.ask(StackScreen(shell, shell.session.of(StackSession), focus))


async def offer_caches(shell: ScreenShell) -> None:
    """Ask what to do with which cache, show the plan, and carry it out if it is confirmed.

    Args:
        shell: the app.
    """
    report = shell.report
    if report is None:
        return
    snapshot = report.snapshot
    choice = Choice("Caches", nothing="no cache is known here")
    choice.show_options((), "reading the caches …")
    caches = await shell.session.of(StackSession).caches(snapshot)
    made: dict[str, Plan | Refusal] = {}
    options = []
    for cache in caches:
        for key, words, planner in flush_and_detach(cache):
            name = f"{key} {cache.name}"
            plan = made[name] = planner(snapshot, cache)
            refusal = plan.sentence if isinstance(plan, Refusal) else ""
            options.append(Option(key=name, words=words, refusal=refusal))
    choice.show_options(tuple(options))
    chosen = await shell.ask(choice)
    await PlanFlow(shell).end(made.get(chosen) if chosen else None, {})
