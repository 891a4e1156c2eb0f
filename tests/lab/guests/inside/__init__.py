"""Programs that run inside a guest, with raidtui imported there."""
