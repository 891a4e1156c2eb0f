"""A host that does not exist: a simulated kernel and its /proc and /sys, for ``--demo``, pictures and tests.

``raidtui.demo.demo_host.demo_root`` makes one. Everything above ``host/`` runs on it unchanged.
"""
