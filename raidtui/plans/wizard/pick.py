"""What a step of the wizard is made of: things to choose from, and values to change. Pure."""

from __future__ import annotations

from msgspec import Struct


class Pick(Struct, frozen=True, kw_only=True):
    """One thing that can be chosen.

    Args:
        key: what it is known by within its step.
        words: its row.
        note: what is known about it, one or more sentences.
        refusal: why it cannot be chosen, if so.
        cells: its row as columns, at the step that has a table.
    """

    key: str
    words: str = ""
    note: str = ""
    refusal: str = ""
    cells: tuple[str, ...] = ()


class Row(Struct, frozen=True, kw_only=True):
    """A value that can be changed, beside others.

    Args:
        key: what it is known by within its step.
        words: what it is.
        value: what it is set to, in words.
        note: what is known about it, one or more sentences.
        refusal: why it cannot be changed, if so.
        usual: whether it is what it would be if nobody had touched it.
    """

    key: str
    words: str
    value: str
    note: str = ""
    refusal: str = ""
    usual: bool = True
