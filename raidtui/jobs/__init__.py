"""Carrying plans out: the only floor that writes to the host, and the journal of what was written."""
