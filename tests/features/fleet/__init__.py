"""Many hosts by ssh: which ones, what they answer, and raidtui brought to one."""
