"""``raidtui bench run`` and ``sweep``: the options as a request."""

from __future__ import annotations

import argparse
from typing import Any

from raidtui.bench.ask import Request, sweep_values
from raidtui.bench.typed import Typed, TypedError, request_of_typed
from raidtui.command.bench_option import OptionError
from raidtui.command.device_names import kernel_name
from raidtui.host.roots.root import Root

_SAME = (
    *("preset", "rw", "bs", "size", "depth", "jobs", "engine", "distribution", "directory", "write"),
    *("trim", "steady", "note"),
)
_NUMBERS = ("runtime", "ramp", "read_percent", "cool", "precondition", "repeats")


def request_of(root: Root, arguments: argparse.Namespace) -> Request:
    """Return what was asked for.

    Raises:
        OptionError: an option cannot be read.
    """
    if arguments.rw and arguments.preset:
        raise OptionError("a preset says what it does: leave --rw out")
    if arguments.rw and not arguments.size:
        raise OptionError("--rw wants a size: --size=500m")
    sweep = arguments.order == "sweep"
    if sweep and not arguments.scratch and (arguments.chunk or arguments.layout):
        raise OptionError("--chunk and --layout want arrays to be made: give devices with --scratch")
    given: dict[str, Any] = {name: getattr(arguments, name) for name in _SAME}
    for name in _NUMBERS:
        number = getattr(arguments, name)
        given[name] = "" if number is None else str(number)
    typed = Typed(
        **given,
        **(_of_sweep(root, arguments) if sweep else {}),
        job=str(arguments.job) if arguments.job else "",
        direct=not arguments.no_direct,
        quiet_check=not arguments.no_quiet_check,
        device=kernel_name(root, arguments.device) if arguments.device else "",
        confirm=tuple(arguments.confirm),
    )
    try:
        return request_of_typed(typed)
    except TypedError as error:
        raise OptionError(f"--{error.option.replace('_', '-')}={error}") from error


def _of_sweep(root: Root, arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "scratch": tuple(kernel_name(root, word) for word in arguments.scratch),
        "level": arguments.level,
        "layout": arguments.layout,
        "chunk": arguments.chunk,
        "member_size": str(arguments.member_size),
        "knob": tuple(_knob(text) for text in arguments.knob),
        "grouped": arguments.grouped,
    }


def _knob(text: str) -> tuple[str, str]:
    name, separator, values = text.partition("=")
    if not separator or not sweep_values(values):
        raise OptionError(f"--knob={text} has no values: give it as NAME=VALUE,VALUE")
    return name, values
