"""What happened on a host, from its logs: lines to entries, entries to incidents, and what they point to.

Pure: ``raidtui.watch`` reads with ``raidtui.host.logs``, ``raidtui.jobs`` and ``raidtui.features.bench``.
"""
