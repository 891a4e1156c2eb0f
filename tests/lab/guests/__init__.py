"""Guests with real md arrays, and what is run in them.

``guest`` is what all guests have in common, on ``link`` (this end of the line) and ``agent`` (the guest's);
``uml`` and ``qemu`` start one kind each. ``arrays``, ``jobs``, ``benches``, ``console`` and ``watching`` act
in a guest for a test; ``inside`` holds the programs that run there.
"""
