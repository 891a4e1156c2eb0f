"""The page of a disk that is exchanged: read twice a second, so that it says at once which disk has left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from raidtui.features.pull.bays import BayDisk
from raidtui.features.pull.pull_plans import PullDraft
from raidtui.features.pull.record import PullError, PullRecord
from raidtui.features.pull.screen.pull_lines import pull_lines
from raidtui.features.pull.session import PullLook, PullSession, closed
from raidtui.features.pull.standing import OtherState, PullStage
from raidtui.features.pull.words import PullWords, draft_words
from raidtui.frame.pages import PageScreen
from raidtui.frame.screen_shell import ScreenShell, later
from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.view.glyphs import encoding
from raidtui.view.text import visible

ACT, REPLACE, LIGHT, END, PUT_BACK = "act", "replace", "light", "end", "put back"
"""What the page is closed with."""
_EVERY_S, _BLINK_S = 0.5, 1.0
_CHECKS = "Whether the machine boots without any one of its disks is being read."
_BLINKS = "Its activity light blinks once a second, by short reads; b ends that."


class PullScreen(PageScreen[str]):
    """Gives what is to be done: ``ACT``, ``REPLACE``, ``LIGHT``, ``END``, ``PUT_BACK``; or None.

    Args:
        shell: the app.
        session: the exchange.
        draft: the exchange that may begin; None where one has begun.
        look: as it stands; None where none has begun.
        said: why the page is back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("enter", "act", show=False),
        Binding("r", "replace", show=False),
        Binding("l", "light", show=False),
        Binding("b", "blink", show=False),
        Binding("p", "put_back", show=False),
        Binding("n", "next", show=False),
        Binding("x", "end", show=False),
        Binding("q", "back", show=False),
    ]

    def __init__(
        self,
        shell: ScreenShell,
        session: PullSession,
        *,
        draft: PullDraft | None = None,
        look: PullLook | None = None,
        said: str = "",
    ) -> None:
        super().__init__("")
        self._shell = shell
        self._session = session
        self._draft = draft
        self.look = look
        self._at = 0
        self._said = said
        self._unread = ""
        """Why the disk that is to be pulled does not blink: it goes with that disk."""
        self._reading = self._lit = self._checking = False
        self._blinks = look is not None and not look.record.light

    def on_mount(self) -> None:
        """Draw; read again and again."""
        self.draw()
        self._body.focus()
        self._close()
        if self.look is not None:
            self.set_interval(_EVERY_S, self._read_again)
        self.set_interval(_BLINK_S, self._blink_again)

    @property
    def chosen(self) -> BayDisk | None:
        """The new disk in view."""
        fresh = self.look.standing.fresh if self.look is not None else ()
        return fresh[self._at % len(fresh)] if fresh else None

    # -- reading

    def _arrays(self) -> Sequence[Array]:
        report = self._shell.report
        return report.snapshot.arrays if report is not None else ()

    def _read_again(self) -> None:
        if not self._reading:
            self._reading = True
            later(self, self._read)

    async def _read(self) -> None:
        try:
            look = await self._session.look(self._arrays())
        except PullError as error:
            self._said = str(error)
            self.draw()
            return
        finally:
            self._reading = False
        if look is None:  # it was ended elsewhere
            self.dismiss(None)
        elif (look := self._with_boot(look)) != self.look:
            wrong = bool(look.standing.wrong) and not (self.look is not None and self.look.standing.wrong)
            if self.look is not None and self.look.record.light and not look.record.light:
                self._blinks = True
            before, self.look = self._target_name(), look
            if self._target_name() != before:
                self._unread = ""
            if wrong:
                self.app.bell()
            self.draw()
            self._close()

    def _with_boot(self, look: PullLook) -> PullLook:
        """Return an exchange with what its boot check has found, if that was read."""
        boot = self.look.boot if self.look is not None else None
        return closed(look, boot) if boot is not None and look.closes else look

    def _close(self) -> None:
        """Let the boot check run that an exchange closes with, once."""
        if self.look is not None and self.look.closes and not self._checking:
            self._checking = True
            later(self, self._check)

    async def _check(self) -> None:
        boot = await self._session.check_boot()
        self._checking = False
        if self.look is not None and self.look.closes:
            self.look = closed(self.look, boot)
            self.draw()

    def _blink_again(self) -> None:
        if self._blinks and not self._lit and self._target_name():
            self._lit = True
            later(self, self._blink)

    def _target_name(self) -> str:
        """Return the name of the disk to be pulled, as it is now; "" where it is not there."""
        if self.look is None:
            return self._draft.record.target.name if self._draft is not None else ""
        target = self.look.standing.target
        return target.name if target is not None and self._waits() else ""

    def _waits(self) -> bool:
        """Whether the disk is to be pulled, and nothing else is to be done first."""
        found = self.look.standing if self.look is not None else None
        if found is None or found.wrong or found.those(OtherState.OUT):
            return False
        return found.stage is PullStage.WAITING

    async def _blink(self) -> None:
        name = self._target_name()
        try:
            why = await self._session.blink(name)
        finally:
            self._lit = False
        if why and name == self._target_name():
            self._unread, self._blinks = why, False
            self.draw()

    # -- drawing

    def draw(self) -> None:
        """Draw everything."""
        record, words = self._record(), self._words()
        titles = ", ".join(dict.fromkeys(member.array for member in record.target.members))
        right = self._state()
        self.show_head(visible(f"Pull this disk: {record.target.name} of {titles}"), right)
        found = self.look.standing if self.look is not None else None
        blinks = self._blinks and self._target_name()
        closes = self.look is not None and self.look.closes
        notes = (self._said, self._unread, _BLINKS if blinks else "", _CHECKS if closes else "")
        self.show_body(
            pull_lines(record, words, found, self.inner_width - 1, notes=notes, plain="utf" not in encoding())
        )
        self._draw_keys(words)

    def _state(self) -> str:
        """Return where it stands, in a word or two."""
        if self.look is None:
            return "nothing has begun"
        return "wrong disk" if self.look.standing.wrong else self.look.standing.stage.value

    def _record(self) -> PullRecord:
        if self.look is not None:
            return self.look.record
        assert self._draft is not None  # noqa: S101  (one of both is given)
        return self._draft.record

    def _words(self) -> PullWords:
        if self.look is not None:
            return self.look.words
        assert self._draft is not None  # noqa: S101  (one of both is given)
        made, first = self._draft.made, self._draft.first
        return draft_words(
            self._draft.record,
            made.sentence if isinstance(made, Refusal) else "",
            replaces=first.title if first is not None else "",
            ready=not isinstance(made, Refusal) and not made.steps,
        )

    def _draw_keys(self, words: PullWords) -> None:
        items = [("Enter", words.act)] if words.act else []
        items += [("r", "replace first")] if self._can_replace() else []
        items += [("p", "put it back")] if self._can_put_back() else []
        items += [("n", "next disk")] if self._has_more() else []
        items += [("l", "light")] if self._has_light() else []
        items += [("b", "blink")] if self._target_name() and self._session.reader.live else []
        done = self.look is None or self.look.standing.stage is PullStage.DONE  # Enter ends it
        items += [] if done else [("x", "end this")]
        self.show_keys(*items, ("Esc", "back"))

    # -- keys

    def _can_replace(self) -> bool:
        return self._draft is not None and self._draft.first is not None

    def _can_put_back(self) -> bool:
        return self._waits()

    def _has_more(self) -> bool:
        return self.look is not None and len(self.look.standing.fresh) > 1

    def _has_light(self) -> bool:
        light = self._draft.light if self._draft is not None else self._record().light
        return light and bool(self._target_name())

    def action_act(self) -> None:
        """Do what comes next."""
        if self._words().act:
            self.dismiss(ACT)

    def action_replace(self) -> None:
        """Copy to a disk that is there, first."""
        if self._can_replace():
            self.dismiss(REPLACE)

    def action_put_back(self) -> None:
        """Take the disk back into its arrays instead of pulling it."""
        if self._can_put_back():
            self.dismiss(PUT_BACK)

    def action_light(self) -> None:
        """Switch the light of the bay on, or off."""
        if self._has_light():
            self.dismiss(LIGHT)

    def action_blink(self) -> None:
        """Let the activity light blink by reads, or end that."""
        if self._target_name():
            self._blinks = not self._blinks
            self._said = self._unread = ""
            self.draw()

    def action_next(self) -> None:
        """Show the next of several new disks."""
        if self._has_more():
            self._at += 1
            self.draw()

    def action_end(self) -> None:
        """Forget the exchange, after a question."""
        if self.look is not None:
            self.dismiss(END)
