"""What a report is made of, whatever it is written as. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Heading(Struct, frozen=True, kw_only=True, tag=True):
    """A heading; the first one of a report is its title."""

    words: str


class Remark(Struct, frozen=True, kw_only=True, tag=True):
    """A sentence or several. ``strong`` must not be missed; ``quiet`` explains what stands above it."""

    words: str
    strong: bool = False
    quiet: bool = False


class RowsBlock(Struct, frozen=True, kw_only=True, tag=True):
    """A table.

    Args:
        head: its first row; () for none.
        numbers: whether all cells but the first of a row are numbers.
    """

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    numbers: bool = False


class Typed(Struct, frozen=True, kw_only=True, tag=True):
    """Text that is kept as it was typed: a command, a file."""

    words: str


class Picture(Struct, frozen=True, kw_only=True, tag=True):
    """Charts; without pictures, all of it is left out.

    Args:
        svgs: one or several.
        title: a heading of their own; "" for none.
        note: what explains them; "" for nothing.
    """

    svgs: Sequence[str]
    title: str = ""
    note: str = ""


class Attachment(Struct, frozen=True, kw_only=True, tag=True):
    """A file that is kept in the report.

    Args:
        sha256: of ``data``, in hexadecimal digits.
    """

    name: str
    data: bytes
    sha256: str


Block = Heading | Remark | RowsBlock | Typed | Picture | Attachment
