"""``raidtui status``: the same report as the screen's, as sentences, JSON, events or metrics."""
