"""Carrying out plans: the only floor that writes to the host, and the journal of its writes."""
