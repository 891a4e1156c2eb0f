"""The tests of raidtui, one folder per floor."""
