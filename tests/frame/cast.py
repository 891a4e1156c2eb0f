"""One SVG that moves, of pictures of the screen: a line that does not change is drawn once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_RULE = re.compile(r"\.terminal-r(\d+) \{ ([^}]*) \}")
_TEXT = re.compile(
    r'<text class="terminal-r(\d+)"([^>]*)clip-path="url\(#terminal-line-(\d+)\)">([^<]*)</text>'
)
_BACK = re.compile(r'<rect fill="[^"]*" x="[^"]*" y="([^"]*)" [^>]*/>')
_FIRST_BACK_Y, _LINE_HEIGHT = 1.5, 24.4


class Frame(Struct, frozen=True, kw_only=True):
    """A picture, and how long it is seen.

    Args:
        svg: as Textual exports it, its identifiers "terminal".
        seconds: until the next one.
    """

    svg: str
    seconds: float


def animated(frames: Sequence[Frame]) -> str:
    """Return one SVG that shows these pictures in turn, without end.

    Its frame, its clip paths and its fonts are those of the first picture.
    """
    styles: dict[str, int] = {}
    total = sum(frame.seconds for frame in frames)
    starts = [sum(frame.seconds for frame in frames[:number]) for number in range(len(frames))]
    lines: dict[tuple[int, str], list[int]] = {}
    for number, frame in enumerate(frames):
        for row, drawn in sorted(_lines(frame.svg, styles).items()):
            lines.setdefault((row, drawn), []).append(number)
    body = []
    for (_, drawn), seen in sorted(lines.items()):
        if len(seen) == len(frames):
            body.append(drawn)
            continue
        shown = [number in seen for number in range(len(frames))]
        turns = [n for n in range(len(frames)) if n == 0 or shown[n] != shown[n - 1]]
        values = ";".join("visible" if shown[turn] else "hidden" for turn in turns)
        times = ";".join(f"{starts[turn] / total:.4f}".rstrip("0").rstrip(".") for turn in turns)
        body.append(
            f'<g visibility="{"visible" if shown[0] else "hidden"}"><animate attributeName="visibility"'
            f' calcMode="discrete" dur="{total:g}s" repeatCount="indefinite" values="{values}"'
            f' keyTimes="{times}"/>{drawn}</g>'
        )
    return _with(frames[0].svg, styles, "\n".join(body))


def _lines(svg: str, styles: dict[str, int]) -> dict[int, str]:
    """Return what is drawn of each line of a picture; styles are numbered over all pictures."""
    rules: dict[str, str] = dict(_RULE.findall(svg))
    found: dict[int, list[str]] = {}
    for match in _BACK.finditer(svg):
        row = round((float(match[1]) - _FIRST_BACK_Y) / _LINE_HEIGHT)
        found.setdefault(row, []).append(match[0])
    for number, place, row, text in _TEXT.findall(svg):
        style = styles.setdefault(rules[number], len(styles) + 1)
        found.setdefault(int(row), []).append(
            f'<text class="terminal-r{style}"{place}clip-path="url(#terminal-line-{row})">{text}</text>'
        )
    return {row: "".join(parts) for row, parts in found.items()}


def _with(svg: str, styles: dict[str, int], body: str) -> str:
    """Return a picture with other lines and their styles."""
    own = "\n".join(f".terminal-r{number} {{ {style} }}" for style, number in styles.items())
    first, last = _RULE.search(svg), [*_RULE.finditer(svg)][-1]
    assert first is not None
    svg = svg[: first.start()] + own + svg[last.end() :]
    begin = svg.index('<g class="terminal-matrix">') + len('<g class="terminal-matrix">')
    end = svg.index("</g>", begin)
    back = svg.rindex("<g transform", 0, begin)
    head = _BACK.sub("", svg[back:begin])
    return f"{svg[:back]}{head}\n{body}\n{svg[end:]}"
