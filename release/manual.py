"""Man pages: raidtui(1), and one for each command, with those below it as its sections; in man(7)."""

from __future__ import annotations

import re
import textwrap
import time

from release.commands import Argument, Command, exit_status

_FILES = (
    (
        "/var/lib/raidtui",
        "jobs, journal, history of wear and of benchmarks, alerts. Without root: ~/.local/state/raidtui",
    ),
    (
        "/etc/raidtui",
        "channels of alerts, and the hook that mdadm and smartd call. Without root: ~/.config/raidtui",
    ),
    (
        "~/.config/raidtui/config.toml",
        "theme, mouse, keys. A theme of your own is a file in the folder themes beside it",
    ),
)
_ENVIRONMENT = (
    ("NO_COLOR", "use the terminal's own colours"),
    ("RAIDTUI_STOCK", "1: run the console on Textual's own painting, driver and key handling"),
    ("RAIDTUI_CACHE", "the folder that the one file unpacks itself into"),
)
_SAFETY = """\
A change to an array is a plan, shown before it is applied; a plan that destroys data requires the name
of the array, typed."""
_EVERYWHERE = ("--help", "--root", "--demo")
"""Options that every command has: what is below a command does not list them again."""
_LINE = 120


def pages(top: Command, *, version: str, epoch: int) -> dict[str, str]:
    """Return file name -> man page.

    Args:
        top: raidtui.
        version: of raidtui.
        epoch: the date of the pages, seconds since 1970.
    """
    status = exit_status(top)
    day = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    texts = {}
    for command in (top, *top.commands):
        name = "-".join(command.path)
        lines = [
            '.\\" Generated from the command line of raidtui.',
            f'.TH {name.upper()} 1 {day} "raidtui {version}" "raidtui"',
            ".nh",
            ".ad l",
            *_section("NAME", [f"{name} \\- {_text(command.summary)}"]),
            *_section("SYNOPSIS", _synopsis(command)),
            *(_top(command) if command is top else _below(command)),
            *_section("EXIT STATUS", _status(status, "" if command is top else command.path[1])),
            *(_section("ENVIRONMENT", _pairs(_ENVIRONMENT)) if command is top else ()),
            *(_section("FILES", _pairs(_FILES)) if command is top else ()),
            *_section("SEE ALSO", _see_also(top, command)),
        ]
        texts[f"{name}.1"] = "\n".join(lines) + "\n"
    return texts


def _top(top: Command) -> list[str]:
    intro = top.epilog.partition("\n\n")[0]
    return [
        *_section("DESCRIPTION", [*_prose(top.description), ".PP", *_prose(intro), ".PP", *_prose(_SAFETY)]),
        *_section("COMMANDS", _pairs(tuple((each.path[-1], each.summary) for each in top.commands))),
        *_arguments(top, ".SH OPTIONS"),
    ]


def _below(command: Command) -> list[str]:
    words = command.description or f"{command.summary[:1].upper()}{command.summary[1:]}."
    lines = [*_section("DESCRIPTION", _prose(words)), *_arguments(command, ".SH OPTIONS")]
    below = [each for each in command.walk() if each is not command]
    if below:
        lines.append(".SH COMMANDS")
    for each in below:
        lines += [
            f".SS {_text(' '.join(each.path[1:]))}",
            *_synopsis(each),
            ".PP",
            *_prose(each.description or f"{each.summary[:1].upper()}{each.summary[1:]}."),
            *_arguments(each, ""),
        ]
    return lines


def _arguments(command: Command, heading: str) -> list[str]:
    again = len(command.path) > 2
    options = [each for each in command.options if not (again and each.flags[-1] in _EVERYWHERE)]
    shown = [
        (_label(each), each.words or "\\&")
        for each in (*command.positional, *options)
        if each.words or each.flags
    ]
    lines = [line for label, words in shown for line in (".TP", label, *_prose(words))]
    return [*filter(None, (heading,)), *lines] if lines else []


def _label(argument: Argument) -> str:
    value = rf"\fI{_text(argument.value)}\fR" if argument.value else ""
    if not argument.flags:
        return value
    flags = ", ".join(rf"\fB{_text(flag)}\fR" for flag in argument.flags)
    return f"{flags} {value}".rstrip()


def _synopsis(command: Command) -> list[str]:
    words = command.synopsis.removeprefix(" ".join(command.path)).strip()
    lines = textwrap.wrap(words, _LINE, break_long_words=False, break_on_hyphens=False)
    return [rf".B {_text(' '.join(command.path))}", *map(_text, lines)]


def _status(status: dict[str, str], name: str) -> list[str]:
    """Return the exit status of a command, or of all ("")."""
    if not name:
        return _pairs(tuple(status.items()))
    said = [*filter(None, (status.get(name, "0 done, 1 not done"),)), status["all"]]
    return _pairs(tuple((number, words.strip()) for text in said for number, words in _numbers(text)))


def _numbers(text: str) -> list[tuple[str, str]]:
    """Return (status, meaning) of "0 all well, 1 degraded, or worse"; a number begins each."""
    return [
        (number, words.rstrip(",; "))
        for number, words in re.findall(r"(?:^|[,;] )(\d+) (.*?)(?=[,;] \d+ |$)", text)
    ]


def _see_also(top: Command, command: Command) -> list[str]:
    ours = ["-".join(each.path) for each in (top, *top.commands) if each is not command]
    names = ours if command is top else ours[:1]
    return [", ".join([*(rf"\fB{_text(name)}\fR(1)" for name in names), r"\fBmdadm\fR(8)", r"\fBmd\fR(4)"])]


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for label, words in pairs for line in (".TP", rf"\fB{_text(label)}\fR", *_prose(words))]


def _section(heading: str, lines: list[str]) -> list[str]:
    return [f".SH {heading}", *lines]


def _prose(words: str) -> list[str]:
    return [
        _text(line) for line in textwrap.wrap(words, _LINE, break_long_words=False, break_on_hyphens=False)
    ]


def _text(words: str) -> str:
    r"""Return words as roff takes them: backslash as \e, minus as \-, no macro at the beginning of a line."""
    if words == "\\&":
        return words
    text = words.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti")
    text = re.sub(r"([|,])(?=\S)", r"\1\\:", text)  # a long list of choices may be broken
    return f"\\&{text}" if text.startswith((".", "'")) else text
