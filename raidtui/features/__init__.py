"""What raidtui can do, a folder each: its core, its session, its command and its screen."""
