"""One field of a benchmark's form. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from raidtui.bench.forms.texts import Kind


class Part(StrEnum):
    """The parts of a form, from the top."""

    WHAT = "what"
    CHANGES = "changes"
    WHERE = "where"
    HOW = "how"


class Pick(Struct, frozen=True, kw_only=True):
    """Something that can be chosen.

    Args:
        key: what stands in the draft then.
        note: what there is to know of it.
        refusal: why it cannot be chosen now; "" where it can.
    """

    key: str
    words: str
    note: str = ""
    refusal: str = ""


class Field(Struct, frozen=True, kw_only=True):
    """Something that is asked for.

    Args:
        name: as ``text_of`` takes it.
        of: the form.
        label: a word or two.
        hint: what it is, in a sentence or two.
        picks: what can be chosen; without any, a text is typed.
        several: whether more than one pick can be taken; they stand in the draft with commas.
        usual: what holds where nothing is typed, in words; "" where something must be.
        unit: of the number.
    """

    name: str
    of: Kind
    part: Part
    label: str
    hint: str
    picks: tuple[Pick, ...] = ()
    several: bool = False
    usual: str = ""
    unit: str = ""

    @property
    def typed(self) -> bool:
        """Whether it is a text that is typed."""
        return not self.picks and not self.several

    def pick(self, key: str) -> Pick | None:
        """Return the pick with this key."""
        return next((each for each in self.picks if each.key == key), None)


class Makes:
    """Makes the fields of one part of a form."""

    def __init__(self, of: Kind, part: Part) -> None:
        self.of = of
        self._part = part

    def __call__(
        self,
        name: str,
        label: str,
        hint: str,
        picks: Iterable[Pick] = (),
        *,
        usual: str = "",
        unit: str = "",
        several: bool = False,
    ) -> Field:
        """Return a field; see there."""
        return Field(
            name=name,
            of=self.of,
            part=self._part,
            label=label,
            hint=hint,
            picks=tuple(picks),
            usual=usual,
            unit=unit,
            several=several,
        )


def picks_of(*pairs: tuple[str, str]) -> tuple[Pick, ...]:
    """Return picks of (key, words)."""
    return tuple(Pick(key=key, words=words) for key, words in pairs)
