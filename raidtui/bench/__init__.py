"""How fast: fio watched live, sweeps with knobs and scratch arrays, results kept, compared and reported.

It stands on monitor, actions and wear: a sweep changes the host through plans alone, carried out by
``raidtui.jobs``. Nothing here draws.
"""
