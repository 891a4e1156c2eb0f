"""What happened on a host, from its logs: lines to entries, entries to incidents, and what may have caused them.

Pure: what is read comes from ``raidtui.host.logs``, ``raidtui.jobs`` and ``raidtui.bench``, by ``raidtui.session``.
"""
