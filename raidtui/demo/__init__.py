"""A simulated host: a kernel with its /proc and /sys, for ``--demo``, pictures and tests.

``raidtui.demo.demo_host.demo_root`` creates one. Everything above ``host/`` runs on it unchanged.
"""
