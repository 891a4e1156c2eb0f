"""Tests of raidtui.model."""
