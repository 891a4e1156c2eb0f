"""Prose that reads translated: patterns, each with what to write instead."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import HOUSE

BETTER = {
    r"(?<![Tt]here )\b(?:is|are) no (?!(?:longer|more|better|less|other|\w+er)\b)\w": "is not a NOUN",
    r"\b(?:of which|thereof)\b": "whose, or a sentence of its own",
    r"\b(?:some|any|every|no)body\b": "a user, another program, no one",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bheed(?:s|ed)?\b": "follow",
    r"\bthe case (?:with|of)\b|\bis the case\b": "the problem, the state, the cause",
    r"\bcannot be (?:told|said)\b": "is not known",
    r"\bso that (?:it|they) (?:is|are|lasts?)\b": "so it is",
    r"\bwithout a word\b": "silently",
    r"\bany more\b(?! (?:than|of))": "no longer",
    r"\banew\b": "again, or re-VERB: rewritten, recomputed",
    r"\b(?:goes|go|went|going) on\b(?! top)": "continue",
    r"\bstands? (?:apart|idle)\b": "is separate, is idle",
    r"\b(?:is|was) said (?:so|of)\b|\bit is said\b|\b(?<!What )is said\b": "raidtui reports, shows, names",
    r"\bso already\b": "already done",
    r"\btak(?:e|es|en|ing) (?:(?:it|them|the|a) )?(?:\w+ ){0,2}away\b": "remove, detach",
    r"\bwhole path\b": "full path",
    r"\b1 (?:members|devices|disks|arrays|slots|failures|copies)\b|\bother 1 are\b": "counted(1, 'device')",
    r"\brun apart\b|\bturned round\b": "diverge; revert",
    r"\bcut short\b": "interrupted, incomplete",
    r"\bput \w* ?line right\b|\brenew the initramfs\b|\bmade again\b": "correct; update; rebuild, regenerate",
    r"\bnot understood\b": "cannot be parsed, is not supported",
    r"(?<!none )\bof it (?:is|are|was|were|has|have|runs?|cannot)\b": "name the thing: of this array",
    r"(?<!far )\bas it is\b(?! (?:in|now|a|the|\w+ed|\w+ing)\b)": "unchanged",
    r"\b(?:a|its|the) (?:way|ways) back (?:is|are) there\b": "offer a way back",
    r"\bWhat (?:is|was) \w+ (?:cannot|is|was)\b": "name the thing first: Wrong data stays wrong",
}
KEPT = {
    "goes on": "the state of a job, as its JSON has it",
    "not-understood": "a code",
    "nobody-told": "a code",
    "mend-first": "a code",
    "mend repair fix": "words that the palette finds",
}
"""What a pattern must pass over, and why."""
ROOMS = (
    "raidtui/**/*.py",
    "raidtui/**/*.t[sx][vt]",
    "raidtui/systemd/*",
    "docs/*.md",
    "fleet/**/*.md",
    "fleet/**/*.yml",
    "fleet/**/*.py",
    "release/*.py",
    "release/*.sh",
    "*.md",
)


def _of_python(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of two words or more that are not docstrings; {} stands for a value."""
    tree = ast.parse(path.read_text())
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in joined for part in ast.walk(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                inner.add(id(node.value))
            case ast.JoinedStr():
                parts = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield node.lineno, "".join(parts)
            case ast.Constant(value=str() as text) if id(node) not in inner and " " in text:
                yield node.lineno, text


def _sentences(path: Path) -> Iterator[tuple[int, str]]:
    if path.suffix == ".py":
        yield from _of_python(path)
        return
    start = 1
    for paragraph in re.split(r"(?<=\n)\s*\n|(?<=\|)\n", path.read_text()):
        yield start, paragraph
        start += paragraph.count("\n") + 1


@pytest.mark.parametrize("room", ROOMS)
def test_sentences_are_written_as_administrators_write(room: str) -> None:
    found = []
    paths = sorted(HOUSE.glob(room))
    assert paths
    for path in paths:
        place = str(path.relative_to(HOUSE))
        for line, sentence in _sentences(path):
            text = re.sub("|".join(map(re.escape, KEPT)), "", " ".join(sentence.split()))
            for pattern, better in BETTER.items():
                for match in re.finditer(pattern, text):
                    words = text[max(0, match.start() - 40) : match.end() + 30]
                    found.append(f"{place}:{line}: “{words}”: {better}")
    assert not found, "\n".join(found)
