"""What happened on a host, from its logs: lines to entries, entries to incidents, and what they point to.

Pure: ``raidtui.session`` reads with ``raidtui.host.logs``, ``raidtui.jobs`` and ``raidtui.bench``.
"""
