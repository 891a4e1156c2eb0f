"""Benchmarks with fio: requests, runs, results, comparisons and reports.

``request`` and ``offer`` turn a request into a schedule of runs, or refuse it.
``forms`` are its forms on the screen, ``run`` carries it out, ``results`` keeps and compares the results,
``report`` writes it to files. A sweep changes the host through plans alone, carried out by ``raidtui.jobs``.
"""
