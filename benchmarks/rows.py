"""The rows of the goals table: from what was measured to a line with a verdict."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.cases import Results, Spread
from benchmarks.event import EventDelay
from benchmarks.fio import FioWatched
from benchmarks.plans import ABOVE_S, FEW, MANY, SAME, PlanCosts
from benchmarks.programs import HELLO, OURS, WAKER
from benchmarks.refresh import Refresh

MET, MISSED, NOT_MEASURED = "met", "missed", "not measured"
EVENT_GOAL_MS = 100.0
REFRESH_GOAL_MS = 15.0
FIO_GOAL = 0.98
FORM_GOAL_MS = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All results of a run."""

    results: Results
    refresh: Refresh
    event: EventDelay
    fio: FioWatched
    plans: PlanCosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One printed line."""

    id: str
    what: str
    goal: str
    ours: str
    peers: str = ""
    ratio: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One field of Measurement in one case: its unit and goal, absolute or as a ratio to hello."""

    id: str
    what: str
    case: str
    field: str
    unit: str
    goal: float
    digits: int = 0
    as_ratio: bool = False
    above: str = ""
    """A program whose cost is the machine's own; the goal is for what comes on top."""

    @property
    def goal_text(self) -> str:
        """The goal with its unit."""
        if self.as_ratio:
            return f"<= {self.goal:g} x hello"
        return f"{'' if self.goal == 0 else '<= '}{self.goal:g} {self.unit}"


QUANTITIES = (
    Quantity(
        id="first-frame",
        what="first frame, true state of the arrays",
        case="start",
        field="expect_ms",
        unit="ms",
        goal=20,
    ),
    Quantity(
        id="start",
        what="a key is answered",
        case="answer",
        field="answered_ms",
        unit="ms",
        goal=1.1,
        as_ratio=True,
    ),
    Quantity(
        id="start",
        what="full screen, nothing more comes",
        case="full",
        field="settled_ms",
        unit="ms",
        goal=1.1,
        as_ratio=True,
    ),
    Quantity(
        id="start",
        what="CPU until then",
        case="full",
        field="cpu_start_s",
        unit="s",
        goal=1.2,
        digits=3,
        as_ratio=True,
    ),
    Quantity(id="start", what="blank moments", case="start", field="flash", unit="", goal=0),
    Quantity(
        id="idle", what="nothing changes: output", case="idle", field="idle_bytes_s", unit="B/s", goal=0
    ),
    Quantity(
        id="idle",
        what="nothing changes: CPU",
        case="idle",
        field="idle_cpu_pct",
        unit="%",
        goal=0.05,
        digits=3,
        above=WAKER,
    ),
    Quantity(
        id="idle",
        what="nothing changes: wakeups",
        case="idle",
        field="idle_wakeups_s",
        unit="/s",
        goal=0.5,
        digits=2,
    ),
    Quantity(
        id="resync",
        what="one array resyncs, 80x24: output",
        case="moving",
        field="idle_bytes_s",
        unit="B/s",
        goal=1024,
    ),
    Quantity(
        id="resync",
        what="one array resyncs, 80x24: CPU",
        case="moving",
        field="idle_cpu_pct",
        unit="%",
        goal=0.3,
        digits=3,
        above=WAKER,
    ),
    Quantity(
        id="keys", what="key to change", case="keys", field="key_change_ms", unit="ms", goal=5, digits=1
    ),
    Quantity(id="keys", what="bytes a key", case="keys", field="key_bytes", unit="B", goal=1500),
    Quantity(
        id="dearest key",
        what="bytes of the dearest, 80x24, 9600 baud",
        case="serial",
        field="dearest_key_bytes",
        unit="B",
        goal=2000,
    ),
    Quantity(
        id="dearest key",
        what="bytes of the dearest, 80x24, 256 colours",
        case="pages",
        field="dearest_key_bytes",
        unit="B",
        goal=3000,
    ),
    Quantity(id="quit", what="q to prompt", case="keys", field="quit_ms", unit="ms", goal=20, digits=1),
    Quantity(id="memory", what="memory (RSS)", case="idle", field="rss_mib", unit="MiB", goal=40, digits=1),
    Quantity(id="memory", what="memory (PSS)", case="idle", field="pss_mib", unit="MiB", goal=40, digits=1),
    Quantity(
        id="big", what="512 arrays: settled, 80x24", case="big", field="settled_ms", unit="ms", goal=1000
    ),
    Quantity(
        id="big",
        what="512 arrays: key to change",
        case="big",
        field="key_change_ms",
        unit="ms",
        goal=20,
        digits=1,
    ),
)
ROW_IDS = tuple(dict.fromkeys([quantity.id for quantity in QUANTITIES] + ["event", "fio", "plans"]))


def make_rows(outcome: Outcome, wanted: Callable[[str], bool]) -> list[Row]:
    """Every wanted row, in the order of the goals table."""
    rows = [quantity_row(outcome.results, quantity) for quantity in QUANTITIES if wanted(quantity.id)]
    if wanted("start"):
        rows.append(_restored_row(outcome.results))
    if wanted("big"):
        rows.append(_refresh_row(outcome.refresh))
    if wanted("event"):
        rows.append(_event_row(outcome.event))
    if wanted("fio"):
        rows += [_sandbox_row(outcome.fio), _fio_row(outcome.fio)]
    if wanted("plans"):
        rows += _plan_rows(outcome.plans)
    order = {name: place for place, name in enumerate(ROW_IDS)}
    return sorted(rows, key=lambda row: order[row.id])


def quantity_row(results: Results, quantity: Quantity) -> Row:
    """Our median and minimum, the peers' medians, the ratio to hello, and whether the goal is met."""
    spreads = {
        program: spread
        for program in results.programs(quantity.case)
        if (spread := results.spread(quantity.case, program, quantity.field)) is not None
    }
    ours, hello = spreads.pop(OURS, None), spreads.get(HELLO)
    peers = ", ".join(f"{name} {spread.median:.{quantity.digits}f}" for name, spread in spreads.items())
    if ours is None:
        return Row(
            id=quantity.id,
            what=quantity.what,
            goal=quantity.goal_text,
            ours="-",
            peers=peers,
            verdict=f"{NOT_MEASURED}: see below",
        )
    return Row(
        id=quantity.id,
        what=quantity.what,
        goal=quantity.goal_text,
        ours=f"{ours.median:.{quantity.digits}f} ({ours.least:.{quantity.digits}f}) {quantity.unit}".strip(),
        peers=peers,
        ratio=_ratio_text(ours, hello),
        verdict=_verdict(results, quantity, ours, hello),
    )


def _ratio_text(ours: Spread, hello: Spread | None) -> str:
    if hello is None or not hello.median or not hello.least:
        return ""
    return f"{ours.median / hello.median:.2f} ({ours.least / hello.least:.2f})"


def _verdict(results: Results, quantity: Quantity, ours: Spread, hello: Spread | None) -> str:
    """Return the verdict by the median; a goal that only the fastest round met is marked."""
    if quantity.case == "moving" and not all(run.screen_moved for run in results.of("moving", OURS)):
        return f"{MISSED}: the screen did not follow the resync"
    median, least = ours.median, ours.least
    if quantity.as_ratio:
        if hello is None:
            return f"{NOT_MEASURED}: no hello to compare with"
        median, least = ours.median / hello.median, ours.least / hello.least
    if median <= quantity.goal:
        return MET
    own = results.spread(quantity.case, quantity.above, quantity.field)
    if own is not None and median - own.median <= quantity.goal:
        return f"{MET}, the {quantity.above}'s cost taken off"
    return f"{MET} by the minimum only" if least <= quantity.goal else MISSED


def _restored_row(results: Results) -> Row:
    """Return the row on whether every run restored the terminal."""
    runs = [run for case, name in results.runs if name == OURS for run in results.of(case, name)]
    if not runs:
        return Row(
            id="start",
            what="terminal given back",
            goal="as it was",
            ours="-",
            verdict=f"{NOT_MEASURED}: see below",
        )
    kept = sum(run.restored for run in runs)
    left = sorted({word for run in runs for word in run.modes_left})
    return Row(
        id="start",
        what="terminal given back",
        goal="as it was",
        ours=f"{kept} of {len(runs)} runs",
        verdict=MET if kept == len(runs) else f"{MISSED}: {', '.join(left) or 'line settings'}",
    )


def _refresh_row(refresh: Refresh) -> Row:
    row = {"id": "big", "what": "512 arrays, 1,000 disks: one refresh", "goal": f"<= {REFRESH_GOAL_MS:g} ms"}
    if not refresh.ran or refresh.changed_ms is None or refresh.changed_least_ms is None:
        return Row(**row, ours="-", verdict=f"{NOT_MEASURED}: {refresh.why_not}")
    verdict = MET if refresh.changed_ms <= REFRESH_GOAL_MS else MISSED
    if verdict == MISSED and refresh.changed_least_ms <= REFRESH_GOAL_MS:
        verdict = f"{MET} by the minimum only"
    changed = f"{refresh.changed_ms:.1f} ({refresh.changed_least_ms:.1f}) ms"
    return Row(
        **row,
        ours=f"{changed}; unchanged {refresh.same_ms:.1f} ms",
        peers=f"opening every file {refresh.opening_each_ms:.1f} ms, the first {refresh.first_ms:.0f} ms",
        verdict=verdict if refresh.seen else f"{MISSED}: the change was not seen",
    )


def _event_row(event: EventDelay) -> Row:
    row = {"id": "event", "what": "kernel event on the screen", "goal": f"<= {EVENT_GOAL_MS:g} ms"}
    if not event.ran:
        return Row(**row, ours="-", peers="watch 2000", verdict=f"{NOT_MEASURED}: {event.why_not}")
    ours = f"{event.median_ms:.0f} ({min(event.delays_ms):.0f}) ms, +-{event.uncertainty_ms:.0f}"
    verdict = MET if event.median_ms <= EVENT_GOAL_MS else MISSED
    return Row(**row, ours=ours, peers="watch 2000", verdict=verdict)


def _sandbox_row(fio: FioWatched) -> Row:
    row = {"id": "fio", "what": "fio in the sandbox", "goal": f">= {FIO_GOAL:g} of bare fio"}
    if not fio.ran:
        return Row(**row, ours="-", verdict=f"{NOT_MEASURED}: {fio.why_not}")
    alone, filtered = fio.in_sandbox("sandboxed"), fio.in_sandbox("filtered")
    return Row(
        **row,
        ours=f"{alone[0]:.3f}; by CPU time {alone[1]:.3f}",
        peers=f"bare fio {fio.bare_iops:,.0f} IOPS; a job file's, with calls filtered, {filtered[0]:.3f}",
        verdict=MET if max(alone) >= FIO_GOAL else MISSED,
    )


def _fio_row(fio: FioWatched) -> Row:
    row = {"id": "fio", "what": "fio watched", "goal": f">= {FIO_GOAL:g} of bare fio"}
    if not fio.ran:
        return Row(**row, ours="-", verdict=f"{NOT_MEASURED}: {fio.why_not}")
    ratios = fio.ratios
    verdict = MET if fio.ratio >= FIO_GOAL else MISSED
    if verdict == MISSED and fio.ratio_by_cpu >= FIO_GOAL:
        verdict = f"{MISSED}; kept by CPU time: other load took the rest"
    return Row(
        **row,
        ours=f"{fio.ratio:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}); by CPU time {fio.ratio_by_cpu:.3f}",
        peers=f"bare fio {fio.bare_iops:,.0f} IOPS; watching takes {fio.cpu_pct:.1f} % CPU",
        verdict=verdict,
    )


_SAME = (("stop", "plan stop"), ("rename", "plan rename"), ("stop shown", "T: key to plan"))


def _plan_rows(plans: PlanCosts) -> list[Row]:
    """Return the rows that compare many devices with few."""
    same = f"<= {SAME:g} x with {FEW}"
    if not plans.ran:
        return [
            Row(id="plans", what="plans", goal=same, ours="-", verdict=f"{NOT_MEASURED}: {plans.why_not}")
        ]
    return [
        *(_same_row(plans, what, words, same) for what, words in _SAME),
        *(_create_row(plans, many=many) for many in (False, True)),
        _form_row(plans),
    ]


def _same_row(plans: PlanCosts, what: str, words: str, goal: str) -> Row:
    ratio, least = plans.ratio(what), plans.ratio(what, min)
    verdict = MET if ratio <= SAME else f"{MET} by the minimum only" if least <= SAME else MISSED
    return Row(
        id="plans",
        what=f"{words}, {MANY} devices in the host",
        goal=goal,
        ours=f"{ratio:.2f} ({least:.2f})",
        peers=f"with {FEW}: {_seconds(plans.few_s[what])}, with {MANY}: {_seconds(plans.many_s[what])}",
        verdict=verdict,
    )


def _create_row(plans: PlanCosts, *, many: bool) -> Row:
    above_s, least_s = plans.above_s(many), plans.above_s(many, min)
    found = plans.many_s if many else plans.few_s
    verdict = MET if above_s <= ABOVE_S else f"{MET} by the minimum only" if least_s <= ABOVE_S else MISSED
    return Row(
        id="plans",
        what=f"plan create of {MANY if many else FEW} devices",
        goal=f"<= {ABOVE_S:g} s above mdadm --examine",
        ours=f"{above_s:.2f} ({least_s:.2f}) s above",
        peers=f"mdadm --examine of them {_seconds(found['examine'])}, the plan {_seconds(found['create'])}",
        verdict=verdict,
    )


def _form_row(plans: PlanCosts) -> Row:
    opens_ms = statistics.median(plans.many_s["form opens"]) * 1000
    least_ms = min(plans.many_s["form opens"]) * 1000
    verdict = MET if opens_ms <= FORM_GOAL_MS else MISSED
    if verdict == MISSED and least_ms <= FORM_GOAL_MS:
        verdict = f"{MET} by the minimum only"
    return Row(
        id="plans",
        what=f"A: the form opens, {MANY} devices in the host",
        goal=f"<= {FORM_GOAL_MS:g} ms",
        ours=f"{opens_ms:.0f} ({least_ms:.0f}) ms",
        peers=f"filled after {_seconds(plans.many_s['form filled'])}, with {FEW} after"
        f" {_seconds(plans.few_s['form filled'])}",
        verdict=verdict,
    )


def _seconds(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}) s"
