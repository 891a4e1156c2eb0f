"""Limits that hold on a busy machine, too: bytes, CPU, memory and ratios, never wall times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.cases import Results
from benchmarks.plans import ABOVE_S, FEW, MANY, SAME, PlanCosts
from benchmarks.programs import HELLO, OURS, WAKER
from benchmarks.rows import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One quantity and its maximum.  `ratio` compares the minima of ours and of hello.

    Otherwise ours is the median, or with `worst` the largest value of all rounds.  What the program `above`
    costs on this machine is added to `most`.
    """

    row: str
    what: str
    case: str
    field: str
    most: float
    ratio: bool = False
    worst: bool = False
    above: str = ""


LIMITS = (
    Limit(
        row="first-frame", what="the first true frame", case="start", field="expect_ms", most=0.25, ratio=True
    ),
    Limit(
        row="start", what="the first answered key", case="answer", field="answered_ms", most=1.1, ratio=True
    ),
    Limit(row="start", what="the settled screen", case="full", field="settled_ms", most=1.1, ratio=True),
    Limit(
        row="start", what="the CPU time of the start", case="full", field="cpu_start_s", most=1.2, ratio=True
    ),
    Limit(row="start", what="blank moments", case="start", field="flash", most=0, worst=True),
    Limit(
        row="idle", what="bytes/s when nothing changes", case="idle", field="idle_bytes_s", most=0, worst=True
    ),
    Limit(
        row="idle",
        what="CPU % when nothing changes",
        case="idle",
        field="idle_cpu_pct",
        most=0.05,
        above=WAKER,
    ),
    Limit(row="resync", what="bytes/s of one resync", case="moving", field="idle_bytes_s", most=1024),
    Limit(
        row="resync", what="CPU % of one resync", case="moving", field="idle_cpu_pct", most=0.3, above=WAKER
    ),
    # Another array chosen is another detail below the list: a dozen lines, not one.
    Limit(row="keys", what="bytes a key", case="keys", field="key_bytes", most=1500),
    Limit(row="memory", what="RSS in MiB", case="idle", field="rss_mib", most=40),
)


def misses(outcome: Outcome, wanted: Callable[[str], bool]) -> list[str]:
    """Return a sentence for each limit that is exceeded or could not be checked."""
    limits = [limit for limit in LIMITS if wanted(limit.row)]
    found = [text for limit in limits if (text := _miss(outcome.results, limit))]
    found += _plan_misses(outcome.plans) if wanted("plans") else ()
    return [*_unmeasured(outcome.results, limits), *found, *_unfaithful(outcome, wanted)]


def _plan_misses(plans: PlanCosts) -> Iterator[str]:
    """Return what costs more with further devices that it does not concern, by the minima."""
    if not plans.ran:
        yield f"plans: not measured: {plans.why_not}."
        return
    for what in ("stop", "rename", "stop shown"):
        if (ratio := plans.ratio(what, min)) > SAME:
            yield f"plans: {what} takes {ratio:.2f} times as long with {MANY} devices, at most {SAME:g}."
    for many, count in ((False, FEW), (True, MANY)):
        if (above_s := plans.above_s(many, min)) > ABOVE_S:
            yield (
                f"plans: plan create of {count} devices takes {above_s:.2f} s more than mdadm --examine of"
                f" them, at most {ABOVE_S:g}."
            )


def _unmeasured(results: Results, limits: list[Limit]) -> Iterator[str]:
    """Return a sentence for each case without a value for a limit."""
    absent: dict[tuple[str, str], list[str]] = {}
    for limit in limits:
        for program in (OURS, HELLO) if limit.ratio else (OURS,):
            if results.spread(limit.case, program, limit.field) is None:
                absent.setdefault((limit.case, program), []).append(limit.what)
    for (case, program), whats in absent.items():
        yield f"{case}: {', '.join(whats)}: not measured for {program}: {results.why_not(case, program)}."


def _miss(results: Results, limit: Limit) -> str:
    """Return what exceeds the limit; empty if nothing does, or if it could not be measured."""
    ours = results.spread(limit.case, OURS, limit.field)
    if ours is None:
        return ""
    if not limit.ratio:
        values = [getattr(run, limit.field) for run in results.of(limit.case, OURS)]
        value = max(values) if limit.worst else ours.median
        own = results.spread(limit.case, limit.above, limit.field)
        most = limit.most + (own.median if own is not None else 0)
        over = f"{limit.row}: {limit.what}: {value:.3g}, at most {limit.most:g}"
        over += f" above the {limit.above}'s {own.median:.3g}." if own is not None else "."
        return "" if value <= most else over
    hello = results.spread(limit.case, HELLO, limit.field)
    if hello is None or not hello.least:
        return ""
    ratio = ours.least / hello.least
    if ratio <= limit.most:
        return ""
    return (
        f"{limit.row}: {limit.what} takes {ratio:.2f} times what hello takes"
        f" ({ours.least:.3g} against {hello.least:.3g}), at most {limit.most:g}."
    )


def _unfaithful(outcome: Outcome, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Return what no figure shows: a screen that does not follow, a broken terminal, unanswered keys."""
    results = outcome.results
    if wanted("resync") and any(not run.screen_moved for run in results.of("moving", OURS)):
        yield "resync: the screen did not follow the resync, so its bytes and CPU mean nothing."
    for case in dict.fromkeys(case for case, name in results.runs if name == OURS):
        runs = results.of(case, OURS)
        left = sorted({word for run in runs for word in run.modes_left})
        if left:
            yield f"{case}: the terminal was left with: {', '.join(left)}."
        if any(not run.termios_restored for run in runs):
            yield f"{case}: the terminal's line settings were not restored."
        if any(run.exit_code != 0 for run in runs):
            codes = sorted({str(run.exit_code) for run in runs if run.exit_code != 0})
            yield f"{case}: q did not end raidtui with status 0 but {', '.join(codes)} (None: it stayed)."
        if any(run.keys_answered == 0 for run in runs):
            yield f"{case}: no key changed the screen."
    if wanted("big") and outcome.refresh.ran and not outcome.refresh.seen:
        yield "big: a refresh did not see the one array that had changed, or saw a change where none was."
