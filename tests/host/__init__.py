"""Tests of raidtui.host."""
