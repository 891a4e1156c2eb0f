"""The verbs of ``raidtui plan`` for caches: cache-flush, cache-detach."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.command.device_names import kernel_name
from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.knob import KnobScope
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the verbs.

    Args:
        verb: returns the parser of a verb, of its name and what it does.
    """
    flush = verb("cache-flush", "write back what is dirty on a cache of LVM or bcache")
    detach = verb("cache-detach", "detach a cache of LVM or bcache, after writing back what is dirty")
    for parser in (flush, detach):
        parser.add_argument("cache", metavar="CACHE", help="vg/volume, bcache0, or a path below /dev")
    detach.add_argument(
        "--delete", action="store_true", help="LVM: also delete the volume that the cache is on"
    )


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    """Return the plan of one of these verbs.

    Args:
        reader: the host.
        arguments: of the command line.
        snapshot: the present state.
    """
    from raidtui.features.stack.plan_caches import plan_detach, plan_flush  # noqa: PLC0415  (for this verb)
    from raidtui.monitor.tuning_reader import TuningReader  # noqa: PLC0415  (as above)

    caches = TuningReader(reader).read(snapshot).of(KnobScope.CACHE)
    word = arguments.cache
    names = {word, kernel_name(reader, word)}
    cache = next((each for each in caches if {each.name, each.title} & names), None)
    if cache is None:
        known = ", ".join(each.title for each in caches) or "none"
        return Refusal(
            code=RefusalCode.NOT_FOUND, why=f"there is no cache {word!r}", remedy=f"caches: {known}"
        )
    if arguments.verb == "cache-flush":
        return plan_flush(snapshot, cache)
    return plan_detach(snapshot, cache, deletes=arguments.delete)


VERBS = Verbs(names=frozenset({"cache-flush", "cache-detach"}), add=_add, of_host=_plan)
