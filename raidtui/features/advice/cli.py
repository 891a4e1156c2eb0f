"""``raidtui advice``: what could be better on this host, the worst first, with its reason and what fixes it.

Exit status: 0 no advice, 1 advice found, 2 what was asked for is not possible, 3 something could not be
read.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from raidtui.command.streams import print_json
from raidtui.features.advice.ignored import IgnoredError
from raidtui.features.advice.session import ignore, read_advice, unignore
from raidtui.host.readers.host_reader import HostReader
from raidtui.view.text import visible

if TYPE_CHECKING:
    from raidtui.features.advice.advice import Advice
    from raidtui.features.advice.ignored import Ignored
    from raidtui.features.advice.session import AdviceLook

_NONE, _SOME, _REFUSED, _UNREAD = 0, 1, 2, 3
_WIDTH = 100
_MOST_DAYS = 36_500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``advice`` takes."""
    parser.description = (
        "List what could be better on this host, worst first: the problem, why it matters, and"
        " how to fix it. Nothing on the host is changed. Ignored advice returns when it gets worse."
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--ignore", metavar="CODE", help="stop showing it; see --about, --days, --because")
    act.add_argument("--unignore", metavar="CODE", help="stop ignoring it; --about")
    act.add_argument(
        "--all", action="store_true", help="also show ignored advice, with who ignored it and why"
    )
    parser.add_argument("--about", default="", metavar="SUBJECT", help="the array, device or place")
    parser.add_argument("--days", type=_days, metavar="N", help="ignore it for N days (default: for good)")
    parser.add_argument("--because", default="", metavar="TEXT", help="why it is ignored, for others")
    parser.add_argument("--json", action="store_true", help="as JSON (docs/advice.md)")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MOST_DAYS):
        raise argparse.ArgumentTypeError(f"invalid number of days {text!r}; use 1 to {_MOST_DAYS}")
    return int(text)


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the advice, or ignore a piece of it; return the exit status, see the module."""
    ignoring = arguments.ignore is not None
    if not ignoring and (arguments.days is not None or arguments.because):
        return _refused("--days and --because go with --ignore")
    if not (ignoring or arguments.unignore is not None):
        if arguments.about:
            return _refused("--about goes with --ignore or --unignore")
        return _shown(reader, arguments)
    if not reader.live:
        return _refused("this is not the live host, so ignored advice is not kept here")
    try:
        return _ignored(reader, arguments) if ignoring else _unignored(reader, arguments)
    except IgnoredError as error:
        return _refused(str(error))


def _shown(reader: HostReader, arguments: argparse.Namespace) -> int:

    look = read_advice(reader, keeps=reader.live)
    if arguments.json:
        shown: list[tuple[Advice, Ignored | None]] = [(each, None) for each in look.reported]
        shown += look.ignored if arguments.all else ()
        print_json({"advice": [advice_dict(*each) for each in shown], "unknown": list(look.unread)})
    else:
        for line in advice_lines(look, everything=arguments.all):
            print(visible(line))
    if look.unread:
        return _UNREAD
    return _SOME if any(each.severity for each in look.reported) else _NONE


def _ignored(reader: HostReader, arguments: argparse.Namespace) -> int:

    look = read_advice(reader, keeps=reader.live)
    reported = (*look.reported, *(each for each, _ in look.ignored))
    meant = [each for each in reported if each.code == arguments.ignore]
    if not meant:
        known = ", ".join(dict.fromkeys(str(each.code) for each in reported))
        return _refused(f"there is no advice {arguments.ignore} on this host; there is: {known or 'none'}")
    if arguments.about:
        found = [each for each in meant if each.subject == arguments.about]
        if not found:
            subjects = _subjects(meant)
            return _refused(f"{arguments.ignore} is not about {arguments.about}, but about {subjects}")
        meant = found
    elif len({each.subject for each in meant}) > 1:
        return _refused(f"{arguments.ignore} is about {_subjects(meant)}: choose one with --about")
    ignore(meant, now_s=reader.now_s(), days=arguments.days, why=arguments.because)
    read_advice(reader, keeps=True)  # for what is kept of how much there is
    end = "for good" if arguments.days is None else f"until {_day(reader.now_s() + arguments.days * 86_400)}"
    for each in meant:
        print(visible(f"ignored {end}: {each.text}"))
    return _NONE


def _unignored(reader: HostReader, arguments: argparse.Namespace) -> int:

    rows = unignore(arguments.unignore, arguments.about)
    about = f" about {arguments.about}" if arguments.about else ""
    if not rows:
        return _refused(f"no advice {arguments.unignore}{about} is ignored")
    read_advice(reader, keeps=True)
    for row in rows:
        print(visible(f"no longer ignored: {row.code}{f' about {row.subject}' if row.subject else ''}"))
    return _NONE


def _subjects(advice: Sequence[Advice]) -> str:
    return ", ".join(dict.fromkeys(each.subject or "the host" for each in advice))


def _refused(sentence: str) -> int:

    print(visible(f"raidtui: {sentence}"), file=sys.stderr)
    return _REFUSED


def advice_dict(advice: Advice, row: Ignored | None = None) -> dict[str, Any]:
    """Return the form for programs (docs/advice.md)."""
    return {
        "code": str(advice.code),
        "severity": advice.severity.word,
        "subject": advice.subject or None,
        "text": advice.text,
        "why": advice.why,
        "remedy": advice.remedy or None,
        "plan": bool(advice.order),
        "command": ["raidtui", *advice.order] if advice.order else None,
        "ignored": None
        if row is None
        else {"who": row.who, "why": row.why or None, "at": row.at_s, "until": row.until_s},
    }


def advice_lines(look: AdviceLook, *, everything: bool = False) -> Iterator[str]:
    """Yield the text for people; ``everything``: what is ignored, too."""
    if not look.reported and not look.unread:
        yield f"No {'other ' if look.ignored else ''}advice for this host."
    for each in look.reported:
        yield from _advice_lines(each)
    for each, row in look.ignored if everything else ():
        yield from _advice_lines(each)
        end = "for good" if row.until_s is None else f"until {_day(row.until_s)}"
        reason = f": {row.why}" if row.why else ""
        yield from _wrapped(f"    Ignored by {row.who} on {_day(row.at_s)}, {end}{reason}", "    ")
    for sentence in look.unread:
        yield from _wrapped(f"not known: {sentence}", "  ")
    if look.ignored and not everything:
        count = len(look.ignored)
        yield f"{count} more {'is' if count == 1 else 'are'} ignored: raidtui advice --all"


def _advice_lines(each: Advice) -> Iterator[str]:
    yield from _wrapped(f"{each.severity.word}: {each.text}", "  ")
    yield from _wrapped(f"    {each.why}", "    ")
    if each.remedy:
        yield from _wrapped(f"    To do: {each.remedy}", "    ")
    if each.order:
        yield f"    Plan:  {shlex.join(('raidtui', *each.order))}"
    yield f"    Code:  {each.code}"


def _day(at_s: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_s))


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
