"""The second page of the guide: what is tried, where its overlays lie, and what is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from raidtui.features.rescue.screen.guide_lines import text_lines
from raidtui.features.rescue.session_trials import TrialWish
from raidtui.features.rescue.trial.trial_request import TrialMethod
from raidtui.frame.pages import PageScreen
from raidtui.view.line import Line
from raidtui.view.text import fit, visible
from raidtui.view.units import binary_size, counted, joined

_METHODS: Mapping[TrialMethod, str] = {
    TrialMethod.READ_ONLY: "md starts it read-only on the members themselves: nothing is stored.",
    TrialMethod.MAPPED: "The device mapper joins the members read-only: nothing is stored.",
    TrialMethod.OVERLAYS: "md starts it on copy-on-write overlays: what it writes goes to the store, and is"
    " dropped with it.",
}
_STORE, _FILES, _VERIFY, _ENCRYPTED = "store in", "files", "members", "encrypted"
_LOOKS: Mapping[tuple[bool, bool], str] = {
    (False, False): "not looked at",
    (True, False): "mounted read-only and listed",
    (True, True): "left mounted read-only, to look around",
}
"""What happens to files: whether they are listed, whether they stay mounted."""
_LABEL = 12


class TrialScreen(PageScreen[TrialWish]):
    """Gives what is to be tried, or None.

    Args:
        wish: what is tried, as far as it is known.
        rooms: folders for stores, the best first, with the free bytes of each.
        said: why it is back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("left,h", "change(-1)", show=False),
        Binding("right,l,space", "change(1)", show=False),
        Binding("enter", "start", show=False),
        Binding("e", "folder", show=False),
        Binding("p", "passphrase", show=False),
    ]

    def __init__(self, wish: TrialWish, rooms: tuple[tuple[str, int], ...], said: str = "") -> None:
        super().__init__("")
        stored = wish.method is TrialMethod.OVERLAYS
        self._rooms = rooms if stored else ()
        fits = [folder for folder, free in self._rooms if free >= wish.room_bytes]
        self._wish = wish if wish.store else replace(wish, store=fits[0] if fits else "")
        self._rows = (*((_STORE,) if stored else ()), _FILES, _VERIFY, _ENCRYPTED)
        self._at = 0
        self._said = said
        self.wants_folder = False
        """Whether it was closed to type a folder for the stores."""
        self.wants_passphrase = False
        """Whether it was closed to type a passphrase."""

    def on_mount(self) -> None:
        """Draw."""
        self.draw()
        self._body.focus()

    @property
    def _can_start(self) -> bool:
        return self._wish.method is not TrialMethod.OVERLAYS or bool(self._wish.store)

    def draw(self) -> None:
        """Draw everything."""
        width, wish = self.inner_width, self._wish
        self.show_head(visible(f"Try: {wish.label}"), "nothing is written to the members")
        names = joined(list(wish.made.devices))
        lines: list[Line] = [
            *text_lines(f"With {names}. {_METHODS[wish.method]}", width, "plain"),
            *text_lines(
                f"The kernel refuses all writes to {counted(len(wish.made.devices), 'member')} while the"
                " trial lasts. What stands on the array is checked without repair; then all is taken"
                " down. It is a job: it continues when this page is left.",
                width,
                "plain",
            ),
            [],
        ]
        first = len(lines)
        lines += [self._row(row, width) for row in self._rows]
        lines += [[], *text_lines(self._note(), width, "dim")]
        if self._said:
            lines += [[], *text_lines(self._said, width, "warn")]
        self.show_body(lines, selected=first + self._at)
        onward = [("Enter", "start the trial")] if self._can_start else []
        typed = [("e", "another folder")] if _STORE in self._rows else []
        typed = [("p", "type a passphrase")] if self._rows[self._at] == _ENCRYPTED else typed
        self.show_keys(("↑↓", "choose"), ("←→", "change"), *typed, *onward, ("Esc", "back"))

    def _row(self, row: str, width: int) -> Line:
        here = self._rows[self._at] == row
        value = visible(self._value(row))
        shown = f"‹ {value} ›" if here else f"  {value}"
        role = "key" if here else "plain"
        if row == _STORE and not self._can_start:
            role = "warn"
        return [(fit(f"{'▸' if here else ' '} {fit(row, _LABEL)}{shown}", width), role)]

    def _value(self, row: str) -> str:
        if row == _STORE:
            need = binary_size(self._wish.room_bytes)
            free = dict(self._rooms).get(self._wish.store)
            if free is None:
                return f"no usual folder has room: {need} needed"
            return f"{self._wish.store}: {need} needed, {binary_size(free)} free"
        if row == _FILES:
            return _LOOKS[self._wish.hold or self._wish.files, self._wish.hold]
        if row == _ENCRYPTED:
            return (
                "LUKS is opened with the passphrase typed" if self._wish.passphrase else "LUKS stays closed"
            )
        return (
            "read as a whole before and after, and compared"
            if self._wish.verify
            else "first and last MiB compared"
        )

    def _note(self) -> str:
        row = self._rows[self._at]
        if row == _STORE:
            others = ", ".join(f"{folder} ({binary_size(free)})" for folder, free in self._rooms)
            return (
                "What is written in the trial goes to sparse files there; a store that fills ends the trial,"
                f" which says nothing then. Free: {others or 'nothing is known'}. e takes any folder."
            )
        if row == _FILES and self._wish.hold:
            return (
                "It stays mounted read-only, to look around and to copy files out, until it is taken down: x"
                " on the page of its proof, or raidtui rescue clean. The members stay read-only as long."
            )
        if row == _FILES:
            return "A list of all files with their sizes is kept with the job."
        if row == _ENCRYPTED:
            return (
                "Of a closed LUKS only headers are compared. With its passphrase (p) it is opened read-only,"
                " and what is in it is checked; the passphrase goes to the trial through a pipe, and is kept"
                " nowhere. For a key in a file: raidtui rescue try ... --key-file FILE."
            )
        return "Reading all of each member shows that no byte has changed. It takes as long as a check."

    def action_move(self, delta: int) -> None:
        """Choose another row."""
        self._at = max(0, min(len(self._rows) - 1, self._at + delta))
        self.draw()

    def action_change(self, delta: int) -> None:
        """Change the value of the chosen row."""
        row, wish = self._rows[self._at], self._wish
        if row == _FILES:
            kinds = tuple(_LOOKS)
            files, hold = kinds[(kinds.index((wish.hold or wish.files, wish.hold)) + delta) % len(kinds)]
            self._wish = replace(wish, files=files, hold=hold)
        elif row == _VERIFY:
            self._wish = replace(wish, verify=not wish.verify)
        elif row == _ENCRYPTED:
            self._wish = replace(wish, passphrase="")
        else:
            fits = [folder for folder, free in self._rooms if free >= wish.room_bytes]
            if fits:
                at = fits.index(wish.store) if wish.store in fits else 0
                self._wish = replace(wish, store=fits[(at + delta) % len(fits)])
        self.draw()

    def action_folder(self) -> None:
        """Close, to type a folder for the stores."""
        if _STORE in self._rows:
            self.wants_folder = True
            self.dismiss(self._wish)

    def action_passphrase(self) -> None:
        """Close, to type a passphrase."""
        self.wants_passphrase = True
        self.dismiss(self._wish)

    def action_start(self) -> None:
        """Start the trial."""
        if self._can_start:
            self.dismiss(self._wish)
