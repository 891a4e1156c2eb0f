"""Tests of raidtui.monitor."""
