"""What the product and its docs name as a command exists: the subcommand, its verb, its options."""

import argparse
import ast
import re
from collections.abc import Iterator

from raidtui.app.cli import build_parser
from tests.places import HOUSE

PROSE = {"rescue reads them"}
"""Where the word after a command is a verb of English."""
# Up to what ends a command in a sentence; a value that is put in is one X.
SAID = re.compile(
    r"\braidtui ((?:--?[a-z][a-z-]*|[A-Za-z][\w-]*)(?:[= ](?:--?[a-z][\w-]*|[\w/-]+(?:\.[\w/-]+)*))*)"
)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield where each text of the product stands, and the text with X for each value in it."""
    for path in sorted((HOUSE / "raidtui").rglob("*.py")):
        inner = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(each) for each in ast.walk(node)} - {id(node)}
                text = "".join(
                    str(each.value) if isinstance(each, ast.Constant) else "X" for each in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                text = node.value
            else:
                continue
            yield f"{path.relative_to(HOUSE)}:{node.lineno}", text
    for path in (*sorted((HOUSE / "docs").glob("*.md")), *sorted(HOUSE.glob("*.md"))):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            yield f"{path.relative_to(HOUSE)}:{number}", line


def nested(parser: argparse.ArgumentParser) -> tuple[dict[str, argparse.ArgumentParser], bool]:
    """Return the subcommands of a command, and whether one must follow it."""
    found = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    return {name: each for action in found for name, each in action.choices.items()}, any(
        action.required for action in found
    )


def options(parser: argparse.ArgumentParser) -> set[str]:
    """Return the options of a command and of its subcommands: "raidtui plan ... --json" leaves out which."""
    return set(parser._option_string_actions).union(*map(options, nested(parser)[0].values()))


def unknown(words: list[str], parser: argparse.ArgumentParser) -> str:
    """Return what of a command does not exist; "" where all of it does, or it is no command but prose."""
    verbs, _ = nested(parser)
    if not words or words[0] not in verbs:
        return ""
    while words and words[0] in verbs:
        parser, words = verbs[words[0]], words[1:]
        verbs, required = nested(parser)
        if required and words and words[0] not in verbs and re.fullmatch("[a-z][a-z-]*", words[0]):
            return words[0]
    return next((each for each in words if each.startswith("--") and each not in options(parser)), "")


def test_they_exist() -> None:
    parser = build_parser(whole=True)
    said = [
        (place, match[1])
        for place, text in sentences()
        for match in SAID.finditer(text)
        if match[1] not in PROSE
    ]
    wrong = {
        (place, command): each
        for place, command in said
        if (each := unknown(re.split(r"[= ]", command), parser))
    }
    assert wrong == {}
    assert len(said) > 300


def test_what_does_not_exist_is_found() -> None:
    parser = build_parser(whole=True)
    assert unknown(["plan", "add", "X", "DISK", "--spare"], parser) == "--spare"
    assert unknown(["plan", "enlarge", "X"], parser) == "enlarge"
    assert unknown(["keeps", "it"], parser) == ""
