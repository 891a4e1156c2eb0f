"""The report as Markdown, for an issue or a mail: everything but pictures and data. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from raidtui.features.bench.report.blocks import Attachment, Block, Heading, Picture, Remark, RowsBlock, Typed
from raidtui.view.text import visible

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def markdown_page(blocks: Sequence[Block]) -> str:
    """Return a report as Markdown; its first heading is the title."""
    kept = [block for block in blocks if not isinstance(block, Picture)]
    parts = ["\n".join(_lines(block, "##" if place else "#")) for place, block in enumerate(kept)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lines(block: Block, heading: str) -> Iterator[str]:
    match block:
        case Heading(words=words):
            yield f"{heading} {_harmless(words)}"
        case Remark(words=words, strong=strong):
            yield f"**{_harmless(words)}**" if strong else _harmless(words)
        case Typed(words=words):
            yield from (f"    {visible(line)}" for line in words.splitlines())
        case Attachment(sha256=sha256):
            yield f"SHA-256 of the data (raidtui bench report --json): `{sha256}`"
        case RowsBlock(rows=rows, head=head, numbers=numbers):
            wide = max((len(row) for row in rows), default=0)
            yield _row(head or [""] * wide)
            yield _row(["---:" if numbers and place else "---" for place in range(wide)], plain=True)
            yield from (_row(row) for row in rows)


def _row(cells: Sequence[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cell if plain else _harmless(cell) for cell in cells)} |"


def _harmless(text: str) -> str:
    """Return text from outside so that it is not taken for Markdown or HTML."""
    return _MARKS.sub(r"\\\1", visible(text))
