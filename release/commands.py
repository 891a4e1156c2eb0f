"""The command line as records, read from its parsers: what man pages and completions are made of."""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Iterator

from msgspec import Struct

from raidtui.app import cli

_HIDDEN = argparse.SUPPRESS
_INTERNAL = "work"
"""The command below jobs, bench and rescue by which raidtui calls itself: it is in no manual."""
_WIDE = 100_000
"""Columns: a synopsis is one line, which each reader of it breaks."""


class Argument(Struct, frozen=True, kw_only=True):
    """An option, or a positional argument.

    Args:
        flags: as they are typed; none for a positional argument.
        value: what stands for its value; "" for an option without one.
        choices: all values that there are; none where that is not known.
        words: what it does.
        many: whether several values may follow.
    """

    flags: tuple[str, ...]
    value: str
    choices: tuple[str, ...] = ()
    words: str = ""
    many: bool = False


class Command(Struct, frozen=True, kw_only=True):
    """raidtui, or a command below it.

    Args:
        path: the words that call it: ("raidtui", "plan", "create").
        synopsis: how it is called, in one line.
        summary: a phrase for lists.
        description: sentences.
        options: those of its own.
        positional: its positional arguments, in their order.
        commands: those below it.
        epilog: text that stands below, in its own lines.
    """

    path: tuple[str, ...]
    synopsis: str
    summary: str
    description: str
    options: tuple[Argument, ...]
    positional: tuple[Argument, ...]
    commands: tuple[Command, ...]
    epilog: str = ""

    def walk(self) -> Iterator[Command]:
        """Yield it and all below it."""
        yield self
        for each in self.commands:
            yield from each.walk()


def read_commands() -> Command:
    """Return raidtui with all its commands."""
    return _read(cli.build_parser(whole=True), ("raidtui",), "watch, build and repair Linux software RAID")


def exit_status(top: Command) -> dict[str, str]:
    """Return command -> what its exit status says, from the epilog of raidtui; "all" holds for each.

    Args:
        top: raidtui.
    """
    found: dict[str, str] = {}
    names = ""
    for line in top.epilog.partition("exit status:\n")[2].splitlines():
        match = re.fullmatch(r"  ((?:[a-z-]+, )*[a-z-]+)?(?: +(.*))?", line)
        if match is None:
            raise ValueError(f"not a line of the exit status: {line!r}")
        names = match[1] or names
        for name in names.split(", "):
            found[name] = " ".join(filter(None, (found.get(name), match[2])))
    return found


def _read(parser: argparse.ArgumentParser, path: tuple[str, ...], summary: str) -> Command:
    below: list[Command] = []
    options: list[Argument] = []
    positional: list[Argument] = []
    for action in parser._actions:  # noqa: SLF001  (argparse offers no other way to read a parser)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            below += [
                _read(action.choices[choice.dest], (*path, choice.dest), choice.help or "")
                for choice in action._choices_actions  # noqa: SLF001  (the names with their help)
                if choice.dest != _INTERNAL
            ]
        elif action.help != _HIDDEN:
            (options if action.option_strings else positional).append(_argument(action))
    return Command(
        path=path,
        synopsis=_synopsis(parser, path),
        summary=summary or (parser.description or "").split(". ")[0].rstrip("."),
        description=parser.description or "",
        options=tuple(options),
        positional=tuple(positional),
        commands=tuple(below),
        epilog=parser.epilog or "",
    )


def _argument(action: argparse.Action) -> Argument:
    takes = action.nargs != 0
    metavar = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
    choices = tuple(map(str, action.choices or ()))
    return Argument(
        flags=tuple(action.option_strings),
        value=(metavar or "|".join(choices) or action.dest.upper()) if takes else "",
        choices=choices,
        words=(action.help or "") % vars(action) if "%(" in (action.help or "") else (action.help or ""),
        many=action.nargs in {"*", "+"} or "append" in type(action).__name__.lower(),
    )


def _synopsis(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> str:
    parser.formatter_class = functools.partial(argparse.HelpFormatter, width=_WIDE)
    parser.prog = " ".join(path)
    vars(parser)["color"] = False  # Python 3.14 has it
    return re.sub(r"\s+", " ", parser.format_usage().partition(":")[2]).strip()
