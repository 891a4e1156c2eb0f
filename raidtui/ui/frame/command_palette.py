"""The palette: Textual's, with this program's commands; it runs one and closes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList

from raidtui.ui.frame.dialog import ClosesOnce

_TITLE, _INSIDE_TITLE, _WORDS, _HELP, _INSIDE_HELP = 1.0, 0.8, 0.7, 0.4, 0.2
_NOT_NOW = 0.01  # below everything that can be used now


class PaletteEntry(Struct, frozen=True, kw_only=True):
    """A line of the palette.

    Args:
        title: with its key.
        help: a sentence.
        run: what choosing it does.
        words: what else people call it.
        possible: whether it can be used now.
    """

    title: str
    help: str
    run: Callable[[], object]
    words: str = ""
    possible: bool = True

    @property
    def shown(self) -> str:
        """The title, and whether it cannot be used now."""
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


class PaletteProvider(Provider):
    """Gives the palette what the app offers; see ``PaletteEntry``."""

    def _entries(self) -> Sequence[PaletteEntry]:
        return tuple(self.app.palette_entries())  # type: ignore[attr-defined]

    async def discover(self) -> Hits:
        """Yield everything; what cannot be used now comes last."""
        for entry in sorted(self._entries(), key=lambda each: not each.possible):
            yield DiscoveryHit(Content(entry.shown), entry.run, text=entry.shown, help=_plain(entry.help))

    async def search(self, query: str) -> Hits:
        """Yield what matches."""
        for value, entry in found(self._entries(), query):
            yield Hit(value, Content(entry.shown), entry.run, text=entry.shown, help=_plain(entry.help))


def _plain(text: str) -> str:
    """Return a text that Textual's markup leaves as it is."""
    return text.replace("[", r"\[")


class Palette(ClosesOnce, CommandPalette):
    """The palette."""

    CSS = """
    Palette #--container, Palette #--input, Palette #--results, Palette CommandList { min-width: 20; }
    """  # a list without width cannot be wrapped
    INPUTS: ClassVar[tuple[type[Message], ...]] = (
        *ClosesOnce.INPUTS,
        Input.Submitted,
        OptionList.OptionSelected,
    )

    def _action_command_list(self, action: str) -> None:
        """Move over the list, or take a line; a window of a few lines has no room for any of it."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
