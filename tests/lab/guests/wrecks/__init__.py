"""Wrecks: arrays that do not start, each made by the same commands every time, with what is true of it.

``wreck`` is what a wreck is; ``lost``, ``stale`` and ``odd`` are the table; ``making`` makes them in a guest
and proves their truth on overlays.
"""
