"""Whatever is written and however time goes: mdstat stays md's, and a sync never goes back."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from raidtui.demo.sim_array import SimSync
from raidtui.model.array_sync import Phase
from tests.demo.scene import DATA, ROOT, SYSTEM, VM, Scene

_ARRAYS = st.sampled_from((DATA, ROOT, VM))
_NUMBERS = st.one_of(st.integers(-10, 5_000_000).map(str), st.sampled_from(("system", "", "x", "4294967295")))
_ACTIONS = st.sampled_from(("idle", "frozen", "check", "repair", "resync", "recover", "reshape", "rubbish"))
_STATES = st.sampled_from(
    ("faulty", "remove", "re-add", "want_replacement", "-want_replacement", "writemostly", "failfast", "x")
)
_DEVICES = st.sampled_from(("sda1", "sda2", "sdb2", "sdc2", *(f"nvme{index}n1p1" for index in range(4))))
_WRITES = st.one_of(
    st.tuples(_ARRAYS.map("{}/sync_action".format), _ACTIONS),
    st.tuples(_ARRAYS.map("{}/sync_speed_min".format), _NUMBERS),
    st.tuples(_ARRAYS.map("{}/sync_speed_max".format), _NUMBERS),
    st.tuples(_ARRAYS.map("{}/sync_min".format), _NUMBERS),
    st.tuples(_ARRAYS.map("{}/sync_max".format), st.one_of(_NUMBERS, st.just("max"))),
    st.tuples(_ARRAYS.map("{}/sync_force_parallel".format), st.sampled_from(("0", "1", "2"))),
    st.tuples(st.sampled_from((f"{SYSTEM}/speed_limit_min", f"{SYSTEM}/speed_limit_max")), _NUMBERS),
    st.builds(lambda base, device, word: (f"{base}/dev-{device}/state", word), _ARRAYS, _DEVICES, _STATES),
)
_MOVES = st.one_of(st.floats(0, 400), _WRITES)


@settings(max_examples=60, deadline=None)
@given(st.lists(_MOVES, max_size=40), st.integers(0, 9))
def test_mdstat_stays_readable_and_syncs_go_forward(moves: list[float | tuple[str, str]], seed: int) -> None:
    scene = Scene(seed=seed)
    seen: dict[str, tuple[SimSync, float]] = {}
    for move in moves:
        if isinstance(move, tuple):
            with contextlib.suppress(OSError):
                scene.reader.take_value(*move)
        else:
            scene.go(move)
        assert scene.mdstat().problems == []
        snapshot = scene.sampler.sample()
        assert snapshot.lacks == ()
        for array in scene.reader.simulated.arrays:
            shown = next(each for each in snapshot.arrays if each.name == array.name)
            assert shown.degraded in {array.degraded, None}
            assert shown.up in {array.up, None}
            if array.sync is None:
                assert shown.sync is None or shown.sync.phase is not Phase.RUNNING
                continue
            before = seen.get(array.name)
            if before is not None and before[0] is array.sync:
                assert array.sync.done_sectors >= before[1]
            assert array.sync.done_sectors <= array.sync.total_sectors
            seen[array.name] = (array.sync, array.sync.done_sectors)
