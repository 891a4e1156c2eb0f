"""Benchmarks with fio: asked for, run, kept, compared and reported.

``request`` and ``offer`` turn what is asked for into a schedule of runs, or say why it cannot be run.
``forms`` asks for it on a screen, ``run`` carries it out, ``results`` keeps and compares what was measured,
``report`` writes it to files. A sweep changes the host through plans alone, carried out by ``raidtui.jobs``.
"""
