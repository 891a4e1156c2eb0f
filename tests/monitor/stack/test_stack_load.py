"""Load and shares, from counters at several moments."""

from __future__ import annotations

import pytest

from raidtui.monitor.stack.load import MINUTES_S, SECONDS_S, StackMeter, spread_over
from raidtui.monitor.stack.stack_reader import StackReader
from tests.hosts.stack_host import STATUS_FILE, StackHost
from tests.monitor.stack.test_stack_nodes import called

IDLE = (0, 0, 0, 0)


def metered(host: StackHost, *works: tuple[float, dict[str, tuple[int, int, int, int]]]) -> StackMeter:
    """The readings before and after each work."""
    reader = StackReader(host)
    reader.look({})
    for seconds, moved in works:
        host.work(seconds, moved)
        reader.look({})
    return reader.meter


def test_load_of_a_layer() -> None:
    meter = metered(StackHost(), (4.0, {"md20": (40, 8000, 20, 1600)}))
    load = meter.load("md20")
    assert load is not None
    assert (load.reads, load.writes) == (40, 20)
    assert (load.read_bytes_s, load.written_bytes_s) == (8000 * 512 / 4, 1600 * 512 / 4)
    assert (load.read_ms, load.write_ms) == (1.0, 1.0)
    assert load.requests_s == 15.0
    assert load.queue == pytest.approx(0.060 / 4)


def test_no_time_no_load() -> None:
    meter = metered(StackHost())
    assert meter.load("md20") is None
    assert meter.over_s(SECONDS_S) == 0.0


def test_a_device_that_came_again() -> None:
    """Its counters began anew: no load is better than a wrong one."""
    host = StackHost()
    meter = metered(host, (4.0, {"md20": (-100, -8000, 0, 0)}))
    assert meter.load("md20") is None


def test_over_what_volumes_spread() -> None:
    meter = metered(StackHost())
    names = {
        node.title: spread_over(meter.now, node.name) for node in meter.now.nodes.values() if not node.hidden
    }
    assert {name: parts for name, parts in names.items() if len(parts) > 1} == {
        "vc/str": ("md20", "md21"),
        "vc/lin": ("md20", "md21"),
    }
    assert names["vc/slow"] == ("md20",)
    """The cache is none of its parts."""


def test_shares() -> None:
    host = StackHost()
    striped = called(metered(host).now, "vc/str").name
    meter = metered(
        host, (10.0, {striped: (40, 4000, 0, 0), "md20": (30, 3000, 0, 0), "md21": (10, 1000, 0, 0)})
    )
    shares = meter.shares(striped, SECONDS_S)
    assert {name: (each.reads, each.writes, each.total, each.requests) for name, each in shares.items()} == {
        "md20": (0.75, None, 0.75, 0.75),
        "md21": (0.25, None, 0.25, 0.25),
    }
    assert meter.shares(called(meter.now, "vc/lin").name, SECONDS_S) == {}
    """It is idle: the figures of the arrays are not its own."""


def test_seconds_and_minutes() -> None:
    host = StackHost()
    name = called(metered(host).now, "vc/str").name
    first = {name: (9, 900, 0, 0), "md20": (9, 900, 0, 0), "md21": IDLE}
    then = {name: (1, 100, 0, 0), "md20": IDLE, "md21": (1, 100, 0, 0)}
    meter = metered(host, *[(1.0, first)] * 100, *[(1.0, then)] * 10)
    seconds, minutes = meter.shares(name, SECONDS_S), meter.shares(name, MINUTES_S)
    assert seconds["md20"].reads == 0.0
    assert minutes["md20"].reads == pytest.approx(900 * 100 / (900 * 100 + 100 * 10))
    assert meter.over_s(MINUTES_S) == 110.0


def test_readings_are_thinned_out() -> None:
    meter = metered(StackHost(), *[(1.0, {"md20": (1, 1, 0, 0)})] * 420)
    assert len(meter._kept) < 80
    assert MINUTES_S <= meter.over_s(MINUTES_S) < MINUTES_S + 6
    load = meter.load("md20", MINUTES_S)
    assert load is not None
    assert load.reads == load.over_s


def test_a_cache_now() -> None:
    host = StackHost()
    reader = StackReader(host)
    slow = called(reader.look({}).meter.now, "vc/slow")
    assert slow.cache is not None
    assert slow.cache.read_hits is not None
    host.change(STATUS_FILE, f" {slow.cache.read_hits} ", f" {slow.cache.read_hits + 90} ")
    host.work(5.0, {"md20": IDLE})
    delta = reader.look({}).meter.cache(slow.name)
    assert delta is not None
    assert (delta.over_s, delta.hits, delta.misses) == (5.0, 90, 0)


def test_a_cache_whose_table_was_loaded_again() -> None:
    """Its counters go backwards then: measured in the laboratory, 6071 read hits became 3858."""
    host = StackHost()
    reader = StackReader(host)
    slow = called(reader.look({}).meter.now, "vc/slow")
    assert slow.cache is not None
    host.change(STATUS_FILE, f" {slow.cache.read_hits} ", " 3 ")
    host.work(5.0, {"md20": IDLE})
    assert reader.look({}).meter.cache(slow.name) is None
