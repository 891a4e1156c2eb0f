"""The palette: Textual's, with this program's commands; it runs one and closes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList

from raidtui.frame.cli_commands import CLI_COMMANDS
from raidtui.frame.commands import DEMO, EVERYWHERE, PALETTE
from raidtui.frame.dialog import ClosesOnce
from raidtui.frame.pane import Pane
from raidtui.frame.textual_private import PaletteHook
from raidtui.watch.watch import Report

_TITLE, _INSIDE_TITLE, _WORDS, _HELP, _INSIDE_HELP = 1.0, 0.8, 0.7, 0.4, 0.2
_NOT_NOW = 0.01  # below everything that can be used now


class PaletteEntry(Struct, frozen=True, kw_only=True):
    """An entry of the palette.

    Args:
        title: with its key.
        help: a sentence.
        run: called when it is chosen.
        words: synonyms.
        possible: whether it can be used now.
    """

    title: str
    help: str
    run: Callable[[], object]
    words: str = ""
    possible: bool = True

    @property
    def shown(self) -> str:
        """The title, marked where the command cannot be used now."""
        return self.title if self.possible else f"{self.title} – not now"


def found(entries: Iterable[PaletteEntry], query: str) -> list[tuple[float, PaletteEntry]]:
    """Return the entries in which each word of a query is found, with a score, the best first."""
    scored = [(score(entry, query), entry) for entry in entries]
    return sorted((each for each in scored if each[0] > 0), key=lambda each: -each[0])


def score(entry: PaletteEntry, query: str) -> float:
    """Return how well an entry matches, 0 to 1; 0 where a word of the query is not in it."""
    terms = query.lower().split()
    if not terms:
        return 0.0
    scores = [_score_of(term, entry) for term in terms]
    mean = sum(scores) / len(scores) if all(scores) else 0.0
    return mean if entry.possible else mean * _NOT_NOW


def _score_of(term: str, entry: PaletteEntry) -> float:
    title, words, sentence = entry.title.lower(), entry.words.lower(), entry.help.lower()
    for where, score_of in ((title, _TITLE), (words, _WORDS), (sentence, _HELP)):
        if _begins_word(term, where):
            return score_of
    return _INSIDE_TITLE if term in title else _INSIDE_HELP if term in sentence else 0.0


def _begins_word(term: str, text: str) -> bool:
    at = text.find(term)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            return True
        at = text.find(term, at + 1)
    return False


class PaletteHost(Protocol):
    """The app, as far as the palette needs it."""

    theme: str

    @property
    def pane_in_view(self) -> Pane:
        """The pane whose commands come first."""

    @property
    def keymap(self) -> Mapping[str, str]:
        """The user's own keys, by command id."""

    @property
    def report(self) -> Report | None:
        """What is known of the host."""

    @property
    def theme_names(self) -> Sequence[str]:
        """The themes to choose from."""

    def say(self, text: str, role: str = "warn") -> None:
        """Show a sentence."""

    def run_in_pane(self, action: str) -> None:
        """Run an action of the pane in view."""

    def call_later(self, callback: Callable[..., object], *args: object) -> bool:
        """Call something once the palette is closed."""

    async def run_action(self, action: str) -> bool:
        """Run an action of the app."""


def palette_entries(host: PaletteHost) -> Iterator[PaletteEntry]:
    """Yield the commands of the pane in view, those everywhere, those of the command line alone, themes."""
    keys = host.keymap
    for command, label, possible in host.pane_in_view.foot():
        yield PaletteEntry(
            title=f"{label} ({command.shown_key(keys)})",
            help=command.help,
            words=command.words,
            possible=possible,
            run=partial(host.run_in_pane, command.action),
        )
    has_arrays = host.report is not None and bool(host.report.snapshot.arrays)
    for command in EVERYWHERE:
        if command is not PALETTE:
            yield PaletteEntry(
                title=f"{command.label} ({command.shown_key(keys)})",
                help=command.help,
                words=command.words,
                possible=command is not DEMO or not has_arrays,
                run=partial(host.call_later, host.run_action, command.action),
            )
    for each in CLI_COMMANDS:
        yield PaletteEntry(
            title=f"{each.title}: raidtui {each.command}",
            help=f"On the command line: {each.help}",
            words=each.words,
            run=partial(host.say, f"on the command line: raidtui {each.command}", "plain"),
        )
    for name in host.theme_names:
        yield PaletteEntry(
            title=f"Theme: {name}",
            help=f"Use the theme {name}",
            words="colours colors",
            run=partial(setattr, host, "theme", name),
        )


class PaletteProvider(Provider):
    """Gives the palette what the app offers; see ``PaletteEntry``."""

    def _all(self) -> list[PaletteEntry]:
        app: Any = self.app
        return list(palette_entries(app))

    async def discover(self) -> Hits:
        """Yield everything; what cannot be used now comes last."""
        for entry in sorted(self._all(), key=lambda each: not each.possible):
            yield DiscoveryHit(Content(entry.shown), entry.run, text=entry.shown, help=_plain(entry.help))

    async def search(self, query: str) -> Hits:
        """Yield what matches."""
        for value, entry in found(self._all(), query):
            yield Hit(value, Content(entry.shown), entry.run, text=entry.shown, help=_plain(entry.help))


def _plain(text: str) -> str:
    """Return a text with markup escaped."""
    return text.replace("[", r"\[")


class Palette(PaletteHook, ClosesOnce, CommandPalette):
    """Textual's palette; it closes once, and takes no keys afterwards."""

    CSS = """
    Palette #--container, Palette #--input, Palette #--results, Palette CommandList { min-width: 20; }
    """  # a list without width cannot be wrapped
    INPUTS: ClassVar[tuple[type[Message], ...]] = (
        *ClosesOnce.INPUTS,
        Input.Submitted,
        OptionList.OptionSelected,
    )

    def can_move(self) -> bool:
        """Whether the list has any room; in a window of a few lines it has none."""
        return bool(self.query_one(CommandList).scrollable_content_region)
