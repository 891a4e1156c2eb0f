"""Hosts made up for tests: arrays, disks, knobs and captured texts, as trees in memory."""
