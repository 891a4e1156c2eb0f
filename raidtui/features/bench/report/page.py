"""The report as one HTML file with its pictures and data in it. It loads nothing, and runs no script. Pure.

Every text comes through ``text_of``, which makes it harmless.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from raidtui.features.bench.report.blocks import Attachment, Block, Heading, Picture, Remark, RowsBlock, Typed
from raidtui.features.bench.report.svg import text_of

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.15rem 0.9rem 0.15rem 0; border-bottom: 1px solid #8884; }
td.n, th.n { text-align: right; white-space: nowrap; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg text.small { font-size: 11px; opacity: 0.75; } svg .rule { stroke: currentColor; stroke-opacity: 0.2; }
svg .mark { stroke: currentColor; stroke-width: 2; } svg .cell { stroke: currentColor; stroke-opacity: 0.25; }
p.note { opacity: 0.8; }
pre { white-space: pre-wrap; background: #8882; padding: 0.6rem; }
@media print { body { margin: 0; max-width: none; } svg, tr { break-inside: avoid; } }
"""


_QUIET = ' class="note"'


def html_page(blocks: Sequence[Block]) -> str:
    """Return a report as HTML; its first heading is the title."""
    body = "\n".join(_html(block, "h2" if place else "h1") for place, block in enumerate(blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>raidtui bench</title>'
        f"<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def _html(block: Block, heading: str) -> str:
    match block:
        case Heading(words=words):
            return f"<{heading}>{text_of(words)}</{heading}>"
        case Remark(words=words, strong=True):
            return f"<p><strong>{text_of(words)}</strong></p>"
        case Remark(words=words, quiet=quiet):
            return f"<p{_QUIET if quiet else ''}>{text_of(words)}</p>"
        case Typed(words=words):
            lines = (text_of(line) for line in words.splitlines())
            return f"<pre>{chr(10).join(lines)}</pre>"
        case Picture(svgs=svgs, title=title, note=note):
            head = f"<h2>{text_of(title)}</h2>" if title else ""
            return head + (f"<p{_QUIET}>{text_of(note)}</p>" if note else "") + "".join(svgs)
        case Attachment(name=name, data=data, sha256=sha256):
            link = f"data:application/gzip;base64,{base64.b64encode(data).decode()}"
            return (
                f'<p><a download="{text_of(name)}" href="{link}">{text_of(name)}</a>: all figures, samples'
                f" and fio's own JSON. SHA-256 of what is in it: <code>{text_of(sha256)}</code></p>"
            )
        case RowsBlock():
            return _table(block)


def _table(rows: RowsBlock) -> str:
    head = _cells("th", rows.head, numbers=rows.numbers) if rows.head else ""
    return f"<table>{head}{''.join(_cells('td', row, numbers=rows.numbers) for row in rows.rows)}</table>"


def _cells(tag: str, texts: Sequence[str], *, numbers: bool) -> str:
    cells = (
        f"<{tag}{' class=n' if numbers and place else ''}>{text_of(text)}</{tag}>"
        for place, text in enumerate(texts)
    )
    return f"<tr>{''.join(cells)}</tr>"
